-- What hops were given, by what attribute, compared with what was left.
--
-- inputs: hops
-- columns:
--   request_class: the class
--   depth: how many hops stand above
--   caller_service: who called; null where nothing did
--   callee_service: who was called; null where nothing names it
--   operation: what for
--   grant_key: the attribute that said so; null where none did
--   grant_kind: full for a configured timeout, remaining or absolute for what was passed on
--   verdict: the grant compared with what the caller had left
--   hops: how many hops
--   min_granted_ns: the smallest grant
--   max_granted_ns: the largest
--   max_overgrant_ns: by how much a grant exceeds what was left, at most
SELECT
  request_class,
  depth,
  caller_service,
  callee_service,
  operation,
  grant_key,
  grant_kind,
  verdict,
  count(*) AS hops,
  min(granted_ns) AS min_granted_ns,
  max(granted_ns) AS max_granted_ns,
  max(overgrant_ns) AS max_overgrant_ns
FROM hops
WHERE verdict <> 'origin'
GROUP BY
  request_class, depth, caller_service, callee_service, operation, grant_key, grant_kind, verdict
ORDER BY
  request_class ASC NULLS FIRST,
  depth ASC NULLS FIRST,
  caller_service ASC NULLS FIRST,
  callee_service ASC NULLS FIRST,
  operation ASC NULLS FIRST,
  hops DESC NULLS LAST,
  verdict ASC NULLS FIRST,
  grant_key ASC NULLS FIRST,
  grant_kind ASC NULLS FIRST
