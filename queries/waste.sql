-- What wastes most, over all classes: findings by code and call.
--
-- inputs: findings, hops
-- columns:
--   code: what is wrong
--   caller_service: who called; null where nothing did, or it is not about a hop
--   callee_service: who was called; null where nothing names it, or it is not about a hop
--   operation: what for; null where it is not about a hop
--   findings: how often
--   classes: in how many request classes
--   wasted_ns: late and residual work that they explain, in total; null where none can tell
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
)
SELECT
  code,
  caller_service,
  callee_service,
  operation,
  count(*) AS findings,
  count(DISTINCT request_class) AS classes,
  cast(sum(wasted_ns) AS bigint) AS wasted_ns
FROM placed
GROUP BY code, caller_service, callee_service, operation
ORDER BY
  wasted_ns DESC NULLS LAST,
  findings DESC NULLS LAST,
  code ASC NULLS FIRST,
  caller_service ASC NULLS FIRST,
  callee_service ASC NULLS FIRST,
  operation ASC NULLS FIRST
