-- Who calls whom, and how often for each request.
--
-- inputs: requests, hops
-- columns:
--   caller_service: who calls
--   callee_service: who is called
--   calls: how often
--   per_request: how often for each request
--   failed: how many calls did not end well
--   untraced: how many calls have no span of the callee
WITH everything AS (
  SELECT count(*) AS requests
  FROM requests
)
SELECT
  h.caller_service AS caller_service,
  h.callee_service AS callee_service,
  count(*) AS calls,
  cast(count(*) AS double) / nullif(cast(max(e.requests) AS double), 0) AS per_request,
  count(*) FILTER (WHERE h.outcome <> 'ok') AS failed,
  count(*) FILTER (WHERE h.server_span_id IS NULL) AS untraced
FROM hops AS h
CROSS JOIN everything AS e
WHERE h.caller_service IS NOT NULL AND h.callee_service IS NOT NULL
GROUP BY h.caller_service, h.callee_service
ORDER BY calls DESC NULLS LAST, caller_service ASC NULLS FIRST, callee_service ASC NULLS FIRST
