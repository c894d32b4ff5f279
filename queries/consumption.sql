-- Where the budget went: own time on the consumption path, by service and category.
--
-- inputs: requests, segments
-- columns:
--   request_class: the class
--   service: whose own time it is
--   category: what it was spent on: queue, backoff, network, downstream or local
--   requests: requests that spent any
--   spent_ns: how long, in total
--   max_ns: the most that one request spent
--   of_elapsed: the share of what had passed in all requests of the class
--   of_budget: the share of their budgets; null unless every request of the class has one
WITH spent AS (
  SELECT
    request_class,
    trace_id,
    root_span_id,
    service,
    category,
    cast(sum(duration_ns) AS bigint) AS spent_ns
  FROM segments
  GROUP BY request_class, trace_id, root_span_id, service, category
),
classes AS (
  SELECT
    request_class,
    cast(sum(elapsed_ns) AS bigint) AS elapsed_ns,
    CASE
      WHEN count(budget_at_origin_ns) = count(*) THEN cast(sum(budget_at_origin_ns) AS bigint)
    END AS budget_ns
  FROM requests
  GROUP BY request_class
)
SELECT
  s.request_class AS request_class,
  s.service AS service,
  s.category AS category,
  count(*) AS requests,
  cast(sum(s.spent_ns) AS bigint) AS spent_ns,
  max(s.spent_ns) AS max_ns,
  cast(sum(s.spent_ns) AS double) / nullif(cast(max(c.elapsed_ns) AS double), 0) AS of_elapsed,
  cast(sum(s.spent_ns) AS double) / nullif(cast(max(c.budget_ns) AS double), 0) AS of_budget
FROM spent AS s
LEFT JOIN classes AS c ON c.request_class = s.request_class
GROUP BY s.request_class, s.service, s.category
ORDER BY
  request_class ASC NULLS FIRST,
  spent_ns DESC NULLS LAST,
  service ASC NULLS FIRST,
  category ASC NULLS FIRST
