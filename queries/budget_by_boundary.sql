-- What was left of the budget at every boundary that requests crossed.
--
-- inputs: distributions, hops
-- columns:
--   request_class: the class
--   depth: how many hops stand above
--   caller_service: who called; null where nothing did
--   callee_service: who was called; null where nothing names it
--   operation: what for
--   hops: how many hops crossed it
--   bounded: for how many of them a deadline is known
--   min_remaining_ns: the least that the caller had left at sending, else at receipt
--   expired: hops that nothing was left for when they were sent
--   expired_at_start: hops that nothing was left for when execution began
--   min_available_ns: the least that was left beyond the return reserve
--   min_granted_ns: the smallest grant
--   max_granted_ns: the largest grant
--   send_n: of how many is known what the caller had left at sending; the report takes these first
--   send_p1_ns: the 1st percentile of what the caller had left at sending; null of too few
--   send_p1_lo_ns: the lower end of its 95 % interval
--   send_p1_hi_ns: the upper end
--   send_p5_ns: the 5th percentile; null of too few
--   send_p5_lo_ns: the lower end of its 95 % interval
--   send_p5_hi_ns: the upper end
--   send_p50_ns: the median; null of too few
--   send_p50_lo_ns: the lower end of its 95 % interval
--   send_p50_hi_ns: the upper end
--   receive_n: of how many is known what was left at receipt; the report takes these else
--   receive_p1_ns: the 1st percentile of what was left at receipt; null of too few
--   receive_p1_lo_ns: the lower end of its 95 % interval
--   receive_p1_hi_ns: the upper end
--   receive_p5_ns: the 5th percentile; null of too few
--   receive_p5_lo_ns: the lower end of its 95 % interval
--   receive_p5_hi_ns: the upper end
--   receive_p50_ns: the median; null of too few
--   receive_p50_lo_ns: the lower end of its 95 % interval
--   receive_p50_hi_ns: the upper end
WITH crossed AS (
  SELECT
    request_class,
    depth,
    caller_service,
    callee_service,
    operation,
    count(*) AS hops,
    count(coalesce(remaining_at_send_ns, remaining_at_receive_ns)) AS bounded,
    min(coalesce(remaining_at_send_ns, remaining_at_receive_ns)) AS min_remaining_ns,
    count(*) FILTER (WHERE coalesce(remaining_at_send_ns, remaining_at_receive_ns) <= 0) AS expired,
    count(*) FILTER (WHERE remaining_at_start_ns <= 0) AS expired_at_start,
    min(available_ns) AS min_available_ns,
    min(granted_ns) AS min_granted_ns,
    max(granted_ns) AS max_granted_ns
  FROM hops
  GROUP BY request_class, depth, caller_service, callee_service, operation
)
SELECT
  c.request_class AS request_class,
  c.depth AS depth,
  c.caller_service AS caller_service,
  c.callee_service AS callee_service,
  c.operation AS operation,
  c.hops AS hops,
  c.bounded AS bounded,
  c.min_remaining_ns AS min_remaining_ns,
  c.expired AS expired,
  c.expired_at_start AS expired_at_start,
  c.min_available_ns AS min_available_ns,
  c.min_granted_ns AS min_granted_ns,
  c.max_granted_ns AS max_granted_ns,
  coalesce(s.n, 0) AS send_n,
  s.p1_ns AS send_p1_ns,
  s.p1_lo_ns AS send_p1_lo_ns,
  s.p1_hi_ns AS send_p1_hi_ns,
  s.p5_ns AS send_p5_ns,
  s.p5_lo_ns AS send_p5_lo_ns,
  s.p5_hi_ns AS send_p5_hi_ns,
  s.p50_ns AS send_p50_ns,
  s.p50_lo_ns AS send_p50_lo_ns,
  s.p50_hi_ns AS send_p50_hi_ns,
  coalesce(r.n, 0) AS receive_n,
  r.p1_ns AS receive_p1_ns,
  r.p1_lo_ns AS receive_p1_lo_ns,
  r.p1_hi_ns AS receive_p1_hi_ns,
  r.p5_ns AS receive_p5_ns,
  r.p5_lo_ns AS receive_p5_lo_ns,
  r.p5_hi_ns AS receive_p5_hi_ns,
  r.p50_ns AS receive_p50_ns,
  r.p50_lo_ns AS receive_p50_lo_ns,
  r.p50_hi_ns AS receive_p50_hi_ns
FROM crossed AS c
LEFT JOIN distributions AS s
  ON s.scope = 'hop' AND s.measure = 'remaining_at_send_ns'
  AND (s.request_class IS NOT DISTINCT FROM c.request_class)
  AND (s.depth IS NOT DISTINCT FROM c.depth)
  AND (s.caller_service IS NOT DISTINCT FROM c.caller_service)
  AND (s.callee_service IS NOT DISTINCT FROM c.callee_service)
  AND (s.operation IS NOT DISTINCT FROM c.operation)
LEFT JOIN distributions AS r
  ON r.scope = 'hop' AND r.measure = 'remaining_at_receive_ns'
  AND (r.request_class IS NOT DISTINCT FROM c.request_class)
  AND (r.depth IS NOT DISTINCT FROM c.depth)
  AND (r.caller_service IS NOT DISTINCT FROM c.caller_service)
  AND (r.callee_service IS NOT DISTINCT FROM c.callee_service)
  AND (r.operation IS NOT DISTINCT FROM c.operation)
ORDER BY
  request_class ASC NULLS FIRST,
  depth ASC NULLS FIRST,
  caller_service ASC NULLS FIRST,
  callee_service ASC NULLS FIRST,
  operation ASC NULLS FIRST
