-- Hops that were given the full timeout again, or otherwise more than was left.
--
-- inputs: findings, hops
-- columns:
--   request_class: the class
--   code: timeout-reset for the full timeout again, else overgrant
--   depth: how many hops stand above
--   caller_service: who called; null where nothing did
--   callee_service: who was called; null where nothing names it
--   operation: what for
--   grant_key: the attribute that said how much was given
--   hops: how many hops
--   possible: how many of them for some clock offsets only
--   min_granted_ns: what they were given, at least
--   max_granted_ns: at most
--   min_excess_ns: how much more than was left, at least
--   max_excess_ns: at most
--   wasted_ns: late and residual work below them, in total
SELECT
  f.request_class AS request_class,
  f.code AS code,
  h.depth AS depth,
  h.caller_service AS caller_service,
  h.callee_service AS callee_service,
  h.operation AS operation,
  h.grant_key AS grant_key,
  count(*) AS hops,
  count(*) FILTER (WHERE f.certainty = 'possible') AS possible,
  min(h.granted_ns) AS min_granted_ns,
  max(h.granted_ns) AS max_granted_ns,
  min(f.excess_ns) AS min_excess_ns,
  max(f.excess_ns) AS max_excess_ns,
  cast(sum(f.wasted_ns) AS bigint) AS wasted_ns
FROM findings AS f
JOIN hops AS h ON h.trace_id = f.trace_id AND h.hop_id = f.span_id
WHERE f.code IN ('timeout-reset', 'overgrant')
GROUP BY
  f.request_class, f.code, h.depth, h.caller_service, h.callee_service, h.operation, h.grant_key
ORDER BY
  request_class ASC NULLS FIRST,
  wasted_ns DESC NULLS LAST,
  hops DESC NULLS LAST,
  code ASC NULLS FIRST,
  depth ASC NULLS FIRST,
  caller_service ASC NULLS FIRST,
  callee_service ASC NULLS FIRST,
  operation ASC NULLS FIRST,
  grant_key ASC NULLS FIRST
