-- What was left of the budget at every boundary that requests crossed.
--
-- inputs: hops
-- columns:
--   request_class: the class
--   depth: how many hops stand above
--   caller_service: who called; null where nothing did
--   callee_service: who was called; null where nothing names it
--   operation: what for
--   hops: how many hops crossed it
--   bounded: for how many of them a deadline is known
--   min_remaining_ns: the least that the caller had left at sending, else at receipt
--   median_remaining_ns: the median of what was left (nearest rank)
--   expired: hops that nothing was left for when they were sent
--   expired_at_start: hops that nothing was left for when execution began
--   min_available_ns: the least that was left beyond the return reserve
--   min_granted_ns: the smallest grant
--   max_granted_ns: the largest grant
WITH crossed AS (
  SELECT
    request_class,
    depth,
    caller_service,
    callee_service,
    operation,
    coalesce(remaining_at_send_ns, remaining_at_receive_ns) AS remaining_ns,
    remaining_at_start_ns,
    available_ns,
    granted_ns
  FROM hops
),
ranked AS (
  SELECT
    request_class,
    depth,
    caller_service,
    callee_service,
    operation,
    remaining_ns,
    remaining_at_start_ns,
    available_ns,
    granted_ns,
    row_number() OVER (
      PARTITION BY request_class, depth, caller_service, callee_service, operation
      ORDER BY remaining_ns ASC NULLS LAST
    ) AS place,
    count(remaining_ns) OVER (
      PARTITION BY request_class, depth, caller_service, callee_service, operation
    ) AS bounded
  FROM crossed
)
SELECT
  request_class,
  depth,
  caller_service,
  callee_service,
  operation,
  count(*) AS hops,
  count(remaining_ns) AS bounded,
  min(remaining_ns) AS min_remaining_ns,
  min(CASE WHEN place * 2 >= bounded THEN remaining_ns END) AS median_remaining_ns,
  count(*) FILTER (WHERE remaining_ns <= 0) AS expired,
  count(*) FILTER (WHERE remaining_at_start_ns <= 0) AS expired_at_start,
  min(available_ns) AS min_available_ns,
  min(granted_ns) AS min_granted_ns,
  max(granted_ns) AS max_granted_ns
FROM ranked
GROUP BY request_class, depth, caller_service, callee_service, operation
ORDER BY
  request_class ASC NULLS FIRST,
  depth ASC NULLS FIRST,
  caller_service ASC NULLS FIRST,
  callee_service ASC NULLS FIRST,
  operation ASC NULLS FIRST
