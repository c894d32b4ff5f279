-- What is wrong where: findings by code and hop, those that waste most first.
--
-- inputs: distributions, findings, hops
-- columns:
--   request_class: the class
--   code: what is wrong
--   depth: how many hops stand above; null where it is not about a hop
--   caller_service: who called; null where nothing did, or it is not about a hop
--   callee_service: who was called; null where nothing names it, or it is not about a hop
--   operation: what for
--   findings: how often
--   traces: in how many traces
--   possible: how many of them hold only for some clock offsets
--   inferred: how many of them rest on durations alone
--   min_excess_ns: by how much, at least
--   max_excess_ns: at most
--   wasted_ns: late and residual work that they explain, in total; null where none can tell
--   excess_n: of how many the percentile is
--   excess_p50_ns: the median of by how much; null of too few
--   excess_p50_lo_ns: the lower end of its 95 % interval
--   excess_p50_hi_ns: the upper end
WITH halves AS (
  SELECT trace_id, hop_id AS span_id, depth, caller_service, callee_service, operation,
    hop_id, elapsed_at_send_ns, elapsed_at_receive_ns
  FROM hops
  UNION ALL
  SELECT trace_id, client_span_id AS span_id, depth, caller_service, callee_service, operation,
    hop_id, elapsed_at_send_ns, elapsed_at_receive_ns
  FROM hops
  WHERE client_span_id <> hop_id
  UNION ALL
  SELECT trace_id, server_span_id AS span_id, depth, caller_service, callee_service, operation,
    hop_id, elapsed_at_send_ns, elapsed_at_receive_ns
  FROM hops
  WHERE server_span_id <> hop_id
),
numbered AS (
  SELECT
    trace_id,
    span_id,
    depth,
    caller_service,
    callee_service,
    operation,
    row_number() OVER (
      PARTITION BY trace_id, span_id
      ORDER BY
        depth ASC NULLS LAST,
        elapsed_at_send_ns ASC NULLS LAST,
        elapsed_at_receive_ns ASC NULLS LAST,
        hop_id ASC NULLS LAST
    ) AS place
  FROM halves
),
placed AS (
  SELECT
    f.request_class AS request_class,
    f.trace_id AS trace_id,
    f.root_span_id AS root_span_id,
    f.code AS code,
    p.depth AS depth,
    p.caller_service AS caller_service,
    p.callee_service AS callee_service,
    p.operation AS operation,
    f.excess_ns AS excess_ns,
    f.wasted_ns AS wasted_ns,
    f.evidence AS evidence,
    f.certainty AS certainty
  FROM findings AS f
  LEFT JOIN numbered AS p ON p.trace_id = f.trace_id AND p.span_id = f.span_id AND p.place = 1
),
found AS (
  SELECT
    request_class,
    code,
    depth,
    caller_service,
    callee_service,
    operation,
    count(*) AS findings,
    count(DISTINCT trace_id) AS traces,
    count(*) FILTER (WHERE certainty = 'possible') AS possible,
    count(*) FILTER (WHERE evidence = 'inferred') AS inferred,
    min(excess_ns) AS min_excess_ns,
    max(excess_ns) AS max_excess_ns,
    cast(sum(wasted_ns) AS bigint) AS wasted_ns
  FROM placed
  GROUP BY request_class, code, depth, caller_service, callee_service, operation
)
SELECT
  n.request_class AS request_class,
  n.code AS code,
  n.depth AS depth,
  n.caller_service AS caller_service,
  n.callee_service AS callee_service,
  n.operation AS operation,
  n.findings AS findings,
  n.traces AS traces,
  n.possible AS possible,
  n.inferred AS inferred,
  n.min_excess_ns AS min_excess_ns,
  n.max_excess_ns AS max_excess_ns,
  n.wasted_ns AS wasted_ns,
  coalesce(d.n, 0) AS excess_n,
  d.p50_ns AS excess_p50_ns,
  d.p50_lo_ns AS excess_p50_lo_ns,
  d.p50_hi_ns AS excess_p50_hi_ns
FROM found AS n
LEFT JOIN distributions AS d
  ON d.scope = 'finding' AND d.measure = 'excess_ns'
  AND (d.request_class IS NOT DISTINCT FROM n.request_class)
  AND (d.code IS NOT DISTINCT FROM n.code)
  AND (d.depth IS NOT DISTINCT FROM n.depth)
  AND (d.caller_service IS NOT DISTINCT FROM n.caller_service)
  AND (d.callee_service IS NOT DISTINCT FROM n.callee_service)
  AND (d.operation IS NOT DISTINCT FROM n.operation)
ORDER BY
  request_class ASC NULLS FIRST,
  wasted_ns DESC NULLS LAST,
  findings DESC NULLS LAST,
  code ASC NULLS FIRST,
  depth ASC NULLS FIRST,
  caller_service ASC NULLS FIRST,
  callee_service ASC NULLS FIRST,
  operation ASC NULLS FIRST
