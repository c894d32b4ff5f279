-- How requests ended, by class and where their deadline comes from.
--
-- inputs: requests
-- columns:
--   request_class: the class
--   terminal_outcome: completed, failed, rejected, cancelled, deadline_exceeded or indeterminate
--   deadline_source: contract, declared or none
--   requests: how many ended so
--   share: of all requests of the class
--   in_time: how many completed by their deadline
--   with_residual_work: after how many work went on for callers who had left
--   max_elapsed_ns: the longest
WITH classes AS (
  SELECT request_class, count(*) AS requests
  FROM requests
  GROUP BY request_class
)
SELECT
  r.request_class AS request_class,
  r.terminal_outcome AS terminal_outcome,
  r.deadline_source AS deadline_source,
  count(*) AS requests,
  cast(count(*) AS double) / nullif(cast(max(c.requests) AS double), 0) AS share,
  count(*) FILTER (WHERE r.completed_before_deadline) AS in_time,
  count(*) FILTER (WHERE r.residual_work_after_cancel_ns > 0) AS with_residual_work,
  max(r.elapsed_ns) AS max_elapsed_ns
FROM requests AS r
LEFT JOIN classes AS c ON c.request_class = r.request_class
GROUP BY r.request_class, r.terminal_outcome, r.deadline_source
ORDER BY
  request_class ASC NULLS FIRST,
  requests DESC NULLS LAST,
  terminal_outcome ASC NULLS FIRST,
  deadline_source ASC NULLS FIRST
