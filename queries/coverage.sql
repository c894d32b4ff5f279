-- How much of the evidence is there: deadlines, grants, callees, allowances and sampling.
--
-- inputs: requests, hops, attempts
-- columns:
--   evidence: deadlines of requests, grants of hops below the origin, callee spans of calls,
--     allowances of attempts, sampling probabilities of requests
--   have: how many have it
--   whole: of how many
--   share: that part of them; null of none
WITH counted AS (
  SELECT
    1 AS place,
    'deadlines' AS evidence,
    count(*) FILTER (WHERE deadline_source <> 'none') AS have,
    count(*) AS whole
  FROM requests
  UNION ALL
  SELECT
    2 AS place,
    'grants' AS evidence,
    count(granted_ns) AS have,
    count(*) AS whole
  FROM hops
  WHERE verdict <> 'origin'
  UNION ALL
  SELECT
    3 AS place,
    'callee_spans' AS evidence,
    count(server_span_id) AS have,
    count(*) AS whole
  FROM hops
  WHERE client_span_id IS NOT NULL
  UNION ALL
  SELECT
    4 AS place,
    'allowances' AS evidence,
    count(allowance_ns) AS have,
    count(*) AS whole
  FROM attempts
  UNION ALL
  SELECT
    5 AS place,
    'sampling' AS evidence,
    count(weight) AS have,
    count(*) AS whole
  FROM requests
)
SELECT
  evidence,
  have,
  whole,
  cast(have AS double) / nullif(cast(whole AS double), 0) AS share
FROM counted
ORDER BY place ASC NULLS FIRST
