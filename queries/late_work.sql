-- Who works after the deadline: each callee's own part of late work.
--
-- inputs: hops
-- columns:
--   request_class: the class
--   callee_service: who worked; null where nothing names it
--   operation: what for
--   hops: how many hops there are
--   late_hops: how many of them worked after the deadline, themselves
--   late_work_ns: how long, in total, without the hops below; null without a deadline
--   max_late_work_ns: the most of one hop
--   late_wait_ns: how long its untraced calls were open then, in total; null without a deadline
WITH below AS (
  SELECT
    trace_id,
    caller_hop_id AS hop_id,
    cast(sum(late_work_ns) AS bigint) AS work_ns,
    cast(sum(late_wait_ns) AS bigint) AS wait_ns
  FROM hops
  WHERE caller_hop_id IS NOT NULL
  GROUP BY trace_id, caller_hop_id
),
own AS (
  SELECT
    h.request_class AS request_class,
    h.callee_service AS callee_service,
    h.operation AS operation,
    h.late_work_ns - coalesce(b.work_ns, 0) AS work_ns,
    h.late_wait_ns - coalesce(b.wait_ns, 0) AS wait_ns
  FROM hops AS h
  LEFT JOIN below AS b ON b.trace_id = h.trace_id AND b.hop_id = h.hop_id
)
SELECT
  request_class,
  callee_service,
  operation,
  count(*) AS hops,
  count(*) FILTER (WHERE work_ns > 0) AS late_hops,
  cast(sum(work_ns) AS bigint) AS late_work_ns,
  max(work_ns) AS max_late_work_ns,
  cast(sum(wait_ns) AS bigint) AS late_wait_ns
FROM own
GROUP BY request_class, callee_service, operation
HAVING max(work_ns) > 0 OR max(wait_ns) > 0
ORDER BY
  request_class ASC NULLS FIRST,
  late_work_ns DESC NULLS LAST,
  callee_service ASC NULLS FIRST,
  operation ASC NULLS FIRST
