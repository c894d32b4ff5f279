-- Where requests wait: time in queues, by hop.
--
-- inputs: distributions, hops
-- columns:
--   request_class: the class
--   depth: how many hops stand above
--   caller_service: who called; null where nothing did
--   callee_service: who was called; null where nothing names it
--   operation: what for
--   hops: how many hops there are
--   queued: how many of them waited
--   queue_ns: how long, in total
--   max_queue_ns: the longest
--   began_expired: hops that waited until nothing was left
--   queue_n: of how many hops the percentiles are
--   queue_p50_ns: the median of the wait, of all hops; null of too few
--   queue_p50_lo_ns: the lower end of its 95 % interval
--   queue_p50_hi_ns: the upper end
--   queue_p95_ns: the 95th percentile; null of too few
--   queue_p95_lo_ns: the lower end of its 95 % interval
--   queue_p95_hi_ns: the upper end
--   queue_p99_ns: the 99th percentile; null of too few
--   queue_p99_lo_ns: the lower end of its 95 % interval
--   queue_p99_hi_ns: the upper end
WITH waited AS (
  SELECT
    request_class,
    depth,
    caller_service,
    callee_service,
    operation,
    count(*) AS hops,
    count(*) FILTER (WHERE queue_ns > 0) AS queued,
    cast(sum(queue_ns) AS bigint) AS queue_ns,
    max(queue_ns) AS max_queue_ns,
    count(*) FILTER (WHERE queue_ns > 0 AND remaining_at_start_ns <= 0) AS began_expired
  FROM hops
  GROUP BY request_class, depth, caller_service, callee_service, operation
  HAVING max(queue_ns) > 0
)
SELECT
  w.request_class AS request_class,
  w.depth AS depth,
  w.caller_service AS caller_service,
  w.callee_service AS callee_service,
  w.operation AS operation,
  w.hops AS hops,
  w.queued AS queued,
  w.queue_ns AS queue_ns,
  w.max_queue_ns AS max_queue_ns,
  w.began_expired AS began_expired,
  coalesce(d.n, 0) AS queue_n,
  d.p50_ns AS queue_p50_ns,
  d.p50_lo_ns AS queue_p50_lo_ns,
  d.p50_hi_ns AS queue_p50_hi_ns,
  d.p95_ns AS queue_p95_ns,
  d.p95_lo_ns AS queue_p95_lo_ns,
  d.p95_hi_ns AS queue_p95_hi_ns,
  d.p99_ns AS queue_p99_ns,
  d.p99_lo_ns AS queue_p99_lo_ns,
  d.p99_hi_ns AS queue_p99_hi_ns
FROM waited AS w
LEFT JOIN distributions AS d
  ON d.scope = 'hop' AND d.measure = 'queue_ns'
  AND (d.request_class IS NOT DISTINCT FROM w.request_class)
  AND (d.depth IS NOT DISTINCT FROM w.depth)
  AND (d.caller_service IS NOT DISTINCT FROM w.caller_service)
  AND (d.callee_service IS NOT DISTINCT FROM w.callee_service)
  AND (d.operation IS NOT DISTINCT FROM w.operation)
ORDER BY
  request_class ASC NULLS FIRST,
  queue_ns DESC NULLS LAST,
  depth ASC NULLS FIRST,
  caller_service ASC NULLS FIRST,
  callee_service ASC NULLS FIRST,
  operation ASC NULLS FIRST
