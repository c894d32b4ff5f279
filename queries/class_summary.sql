-- How each request class fares: deadlines met, retries, late and residual work.
--
-- inputs: distributions, findings, requests
-- columns:
--   request_class: the class
--   requests: how many there are
--   with_deadline: how many of them have a deadline
--   least_budget_ns: the smallest budget at the origin; null without a deadline
--   largest_budget_ns: the largest
--   completed: how many completed, in time or not
--   completed_in_time: how many completed by their deadline
--   total_elapsed_ns: what had passed at their root's end, all requests together
--   max_elapsed_ns: the longest
--   total_queue_ns: queue time on the consumption path, likewise
--   retries: attempts that are retries
--   hedges: attempts that are hedges
--   unfunded_attempts: attempts that began with less left than one needs, or with nothing
--   layered_requests: requests that two layers retried
--   overgiven: hops that were given more than was left
--   late_requests: requests with late work
--   total_late_work_ns: work after the deadline, likewise; null without a deadline
--   residual_requests: requests with residual work
--   total_residual_work_ns: work after an ancestor had left, likewise
--   elapsed_n: of how many requests the percentiles are
--   elapsed_p50_ns: the median of what had passed at the root's end; null of too few
--   elapsed_p50_lo_ns: the lower end of its 95 % interval
--   elapsed_p50_hi_ns: the upper end
--   elapsed_p99_ns: the 99th percentile; null of too few
--   elapsed_p99_lo_ns: the lower end of its 95 % interval
--   elapsed_p99_hi_ns: the upper end
--   queue_n: of how many requests
--   queue_p99_ns: the 99th percentile of queue time on the consumption path; null of too few
--   queue_p99_lo_ns: the lower end of its 95 % interval
--   queue_p99_hi_ns: the upper end
--   late_work_n: of how many requests with a deadline
--   late_work_p99_ns: the 99th percentile of work after the deadline; null of too few
--   late_work_p99_lo_ns: the lower end of its 95 % interval
--   late_work_p99_hi_ns: the upper end
--   residual_work_n: of how many requests
--   residual_work_p99_ns: the 99th percentile of work after an ancestor had left; null of too few
--   residual_work_p99_lo_ns: the lower end of its 95 % interval
--   residual_work_p99_hi_ns: the upper end
WITH overgiven AS (
  SELECT request_class, count(*) AS overgiven
  FROM findings
  WHERE code IN ('timeout-reset', 'overgrant')
  GROUP BY request_class
),
classes AS (
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
)
SELECT
  c.request_class AS request_class,
  c.requests AS requests,
  c.with_deadline AS with_deadline,
  c.least_budget_ns AS least_budget_ns,
  c.largest_budget_ns AS largest_budget_ns,
  c.completed AS completed,
  c.completed_in_time AS completed_in_time,
  c.elapsed_ns AS total_elapsed_ns,
  c.max_elapsed_ns AS max_elapsed_ns,
  c.queue_ns AS total_queue_ns,
  c.retries AS retries,
  c.hedges AS hedges,
  c.unfunded_attempts AS unfunded_attempts,
  c.layered_requests AS layered_requests,
  c.overgiven AS overgiven,
  c.late_requests AS late_requests,
  c.late_work_ns AS total_late_work_ns,
  c.residual_requests AS residual_requests,
  c.residual_work_ns AS total_residual_work_ns,
  coalesce(e.n, 0) AS elapsed_n,
  e.p50_ns AS elapsed_p50_ns,
  e.p50_lo_ns AS elapsed_p50_lo_ns,
  e.p50_hi_ns AS elapsed_p50_hi_ns,
  e.p99_ns AS elapsed_p99_ns,
  e.p99_lo_ns AS elapsed_p99_lo_ns,
  e.p99_hi_ns AS elapsed_p99_hi_ns,
  coalesce(q.n, 0) AS queue_n,
  q.p99_ns AS queue_p99_ns,
  q.p99_lo_ns AS queue_p99_lo_ns,
  q.p99_hi_ns AS queue_p99_hi_ns,
  coalesce(l.n, 0) AS late_work_n,
  l.p99_ns AS late_work_p99_ns,
  l.p99_lo_ns AS late_work_p99_lo_ns,
  l.p99_hi_ns AS late_work_p99_hi_ns,
  coalesce(w.n, 0) AS residual_work_n,
  w.p99_ns AS residual_work_p99_ns,
  w.p99_lo_ns AS residual_work_p99_lo_ns,
  w.p99_hi_ns AS residual_work_p99_hi_ns
FROM classes AS c
LEFT JOIN distributions AS e
  ON e.scope = 'request' AND e.measure = 'elapsed_ns'
  AND (e.request_class IS NOT DISTINCT FROM c.request_class)
LEFT JOIN distributions AS q
  ON q.scope = 'request' AND q.measure = 'queue_ns'
  AND (q.request_class IS NOT DISTINCT FROM c.request_class)
LEFT JOIN distributions AS l
  ON l.scope = 'request' AND l.measure = 'late_work_ns'
  AND (l.request_class IS NOT DISTINCT FROM c.request_class)
LEFT JOIN distributions AS w
  ON w.scope = 'request' AND w.measure = 'residual_work_after_cancel_ns'
  AND (w.request_class IS NOT DISTINCT FROM c.request_class)
ORDER BY requests DESC NULLS LAST, request_class ASC NULLS FIRST
