-- How each request class fares: deadlines met, retries, late and residual work.
--
-- inputs: requests, findings
-- columns:
--   request_class: the class
--   requests: how many there are
--   with_deadline: how many of them have a deadline
--   least_budget_ns: the smallest budget at the origin; null without a deadline
--   largest_budget_ns: the largest
--   completed: how many completed, in time or not
--   completed_in_time: how many completed by their deadline
--   elapsed_ns: what had passed at their root's end, in total
--   max_elapsed_ns: the longest
--   queue_ns: queue time on the consumption path, in total
--   retries: attempts that are retries
--   hedges: attempts that are hedges
--   unfunded_attempts: attempts that began with less left than one needs, or with nothing
--   layered_requests: requests that two layers retried
--   overgiven: hops that were given more than was left
--   late_requests: requests with late work
--   late_work_ns: work after the deadline, in total; null without a deadline
--   residual_requests: requests with residual work
--   residual_work_ns: work after an ancestor had left, in total
WITH overgiven AS (
  SELECT request_class, count(*) AS overgiven
  FROM findings
  WHERE code IN ('timeout-reset', 'overgrant')
  GROUP BY request_class
)
SELECT
  r.request_class AS request_class,
  count(*) AS requests,
  count(*) FILTER (WHERE r.deadline_source <> 'none') AS with_deadline,
  min(r.budget_at_origin_ns) AS least_budget_ns,
  max(r.budget_at_origin_ns) AS largest_budget_ns,
  count(*) FILTER (WHERE r.terminal_outcome = 'completed') AS completed,
  count(*) FILTER (WHERE r.completed_before_deadline) AS completed_in_time,
  cast(sum(r.elapsed_ns) AS bigint) AS elapsed_ns,
  max(r.elapsed_ns) AS max_elapsed_ns,
  cast(sum(r.queue_ns) AS bigint) AS queue_ns,
  cast(sum(r.retry_count) AS bigint) AS retries,
  cast(sum(r.hedge_count) AS bigint) AS hedges,
  cast(sum(r.unfundable_attempts) AS bigint) AS unfunded_attempts,
  count(*) FILTER (WHERE r.retry_layered) AS layered_requests,
  coalesce(max(o.overgiven), 0) AS overgiven,
  count(*) FILTER (WHERE r.late_work_ns > 0) AS late_requests,
  cast(sum(r.late_work_ns) AS bigint) AS late_work_ns,
  count(*) FILTER (WHERE r.residual_work_after_cancel_ns > 0) AS residual_requests,
  cast(sum(r.residual_work_after_cancel_ns) AS bigint) AS residual_work_ns
FROM requests AS r
LEFT JOIN overgiven AS o ON o.request_class = r.request_class
GROUP BY r.request_class
ORDER BY requests DESC NULLS LAST, request_class ASC NULLS FIRST
