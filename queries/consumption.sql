-- Where the budget went: own time on the consumption path, by service and category.
--
-- inputs: distributions, requests, segments
-- columns:
--   request_class: the class
--   service: whose own time it is
--   category: what it was spent on: queue, backoff, network, downstream or local
--   requests: requests that spent any
--   spent_ns: how long, in total
--   max_ns: the most that one request spent
--   of_elapsed: the share of what had passed in all requests of the class
--   of_budget: the share of their budgets; null unless every request of the class has one
--   spent_n: of how many requests the percentiles are
--   spent_p50_ns: the median of what a request spent, zero if nothing; null of too few
--   spent_p50_lo_ns: the lower end of its 95 % interval
--   spent_p50_hi_ns: the upper end
--   spent_p99_ns: the 99th percentile; null of too few
--   spent_p99_lo_ns: the lower end of its 95 % interval
--   spent_p99_hi_ns: the upper end
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
),
consumed AS (
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
)
SELECT
  n.request_class AS request_class,
  n.service AS service,
  n.category AS category,
  n.requests AS requests,
  n.spent_ns AS spent_ns,
  n.max_ns AS max_ns,
  n.of_elapsed AS of_elapsed,
  n.of_budget AS of_budget,
  coalesce(d.n, 0) AS spent_n,
  d.p50_ns AS spent_p50_ns,
  d.p50_lo_ns AS spent_p50_lo_ns,
  d.p50_hi_ns AS spent_p50_hi_ns,
  d.p99_ns AS spent_p99_ns,
  d.p99_lo_ns AS spent_p99_lo_ns,
  d.p99_hi_ns AS spent_p99_hi_ns
FROM consumed AS n
LEFT JOIN distributions AS d
  ON d.scope = 'segment' AND d.measure = 'duration_ns'
  AND (d.request_class IS NOT DISTINCT FROM n.request_class)
  AND (d.service IS NOT DISTINCT FROM n.service)
  AND (d.category IS NOT DISTINCT FROM n.category)
ORDER BY
  request_class ASC NULLS FIRST,
  spent_ns DESC NULLS LAST,
  service ASC NULLS FIRST,
  category ASC NULLS FIRST
