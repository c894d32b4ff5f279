-- Who works for callers that have left: each callee's own part of residual work.
--
-- inputs: hops
-- columns:
--   request_class: the class
--   callee_service: who worked; null where nothing names it
--   operation: what for
--   hops: how many hops there are
--   residual_hops: how many of them worked after an ancestor had left, themselves
--   residual_work_ns: how long, in total, without the hops below
--   max_residual_work_ns: the most of one hop
--   residual_wait_ns: how long its untraced calls were open then, in total
WITH below AS (
  SELECT
    trace_id,
    caller_hop_id AS hop_id,
    cast(sum(residual_work_ns) AS bigint) AS work_ns,
    cast(sum(residual_wait_ns) AS bigint) AS wait_ns
  FROM hops
  WHERE caller_hop_id IS NOT NULL
  GROUP BY trace_id, caller_hop_id
),
own AS (
  SELECT
    h.request_class AS request_class,
    h.callee_service AS callee_service,
    h.operation AS operation,
    h.residual_work_ns - coalesce(b.work_ns, 0) AS work_ns,
    h.residual_wait_ns - coalesce(b.wait_ns, 0) AS wait_ns
  FROM hops AS h
  LEFT JOIN below AS b ON b.trace_id = h.trace_id AND b.hop_id = h.hop_id
)
SELECT
  request_class,
  callee_service,
  operation,
  count(*) AS hops,
  count(*) FILTER (WHERE work_ns > 0) AS residual_hops,
  cast(sum(work_ns) AS bigint) AS residual_work_ns,
  max(work_ns) AS max_residual_work_ns,
  cast(sum(wait_ns) AS bigint) AS residual_wait_ns
FROM own
GROUP BY request_class, callee_service, operation
HAVING max(work_ns) > 0 OR max(wait_ns) > 0
ORDER BY
  request_class ASC NULLS FIRST,
  residual_work_ns DESC NULLS LAST,
  callee_service ASC NULLS FIRST,
  operation ASC NULLS FIRST
