-- The five slowest requests of each class, and what took most of their time.
--
-- inputs: requests, segments
-- columns:
--   request_class: the class
--   place: 1 is the slowest
--   trace_id: the trace, for dwindle explain
--   root_span_id: the root span
--   elapsed_ns: from the origin to the root's end
--   budget_ns: the budget at the origin; null where no deadline is known
--   terminal_outcome: how it ended
--   queue_ns: queue time on the consumption path
--   retries: attempts that are retries
--   late_work_ns: work after the deadline; null where no deadline is known
--   most_service: who spent most on the consumption path
--   most_category: on what
--   most_ns: how long
WITH ranked AS (
  SELECT
    request_class,
    trace_id,
    root_span_id,
    elapsed_ns,
    budget_at_origin_ns,
    terminal_outcome,
    queue_ns,
    retry_count,
    late_work_ns,
    row_number() OVER (
      PARTITION BY request_class
      ORDER BY elapsed_ns DESC NULLS LAST, trace_id ASC NULLS FIRST, root_span_id ASC NULLS FIRST
    ) AS place
  FROM requests
),
slowest AS (
  SELECT
    request_class,
    trace_id,
    root_span_id,
    elapsed_ns,
    budget_at_origin_ns,
    terminal_outcome,
    queue_ns,
    retry_count,
    late_work_ns,
    place
  FROM ranked
  WHERE place <= 5
),
spent AS (
  SELECT
    g.trace_id AS trace_id,
    g.root_span_id AS root_span_id,
    g.service AS service,
    g.category AS category,
    cast(sum(g.duration_ns) AS bigint) AS spent_ns
  FROM segments AS g
  JOIN slowest AS s ON s.trace_id = g.trace_id AND s.root_span_id = g.root_span_id
  GROUP BY g.trace_id, g.root_span_id, g.service, g.category
),
most AS (
  SELECT
    trace_id,
    root_span_id,
    service,
    category,
    spent_ns,
    row_number() OVER (
      PARTITION BY trace_id, root_span_id
      ORDER BY spent_ns DESC NULLS LAST, service ASC NULLS FIRST, category ASC NULLS FIRST
    ) AS place
  FROM spent
)
SELECT
  s.request_class AS request_class,
  s.place AS place,
  s.trace_id AS trace_id,
  s.root_span_id AS root_span_id,
  s.elapsed_ns AS elapsed_ns,
  s.budget_at_origin_ns AS budget_ns,
  s.terminal_outcome AS terminal_outcome,
  s.queue_ns AS queue_ns,
  s.retry_count AS retries,
  s.late_work_ns AS late_work_ns,
  m.service AS most_service,
  m.category AS most_category,
  m.spent_ns AS most_ns
FROM slowest AS s
LEFT JOIN most AS m
  ON m.trace_id = s.trace_id AND m.root_span_id = s.root_span_id AND m.place = 1
ORDER BY request_class ASC NULLS FIRST, place ASC NULLS FIRST
