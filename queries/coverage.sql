-- How much of the evidence is there: deadlines, grants, callees, allowances and sampling.
--
-- inputs: requests, hops, attempts
-- columns:
--   evidence: deadlines of requests, grants of hops below the origin, callee spans of calls,
--     allowances of attempts, sampling probabilities of requests; what was inferred or measured
--     stands by itself
--   have: how many have it
--   whole: of how many
--   share: that part of them; null of none
WITH counted AS (
  SELECT
    1 AS place,
    'deadlines' AS evidence,
    count(*) FILTER (WHERE deadline_source NOT IN ('none', 'inferred')) AS have,
    count(*) AS whole
  FROM requests
  UNION ALL
  SELECT
    2 AS place,
    'inferred_deadlines' AS evidence,
    count(*) FILTER (WHERE deadline_source = 'inferred') AS have,
    count(*) AS whole
  FROM requests
  UNION ALL
  SELECT
    3 AS place,
    'grants' AS evidence,
    count(*) FILTER (WHERE grant_kind <> 'inferred') AS have,
    count(*) AS whole
  FROM hops
  WHERE verdict <> 'origin'
  UNION ALL
  SELECT
    4 AS place,
    'inferred_timeouts' AS evidence,
    count(*) FILTER (WHERE grant_kind = 'inferred') AS have,
    count(*) AS whole
  FROM hops
  WHERE verdict <> 'origin'
  UNION ALL
  SELECT
    5 AS place,
    'callee_spans' AS evidence,
    count(server_span_id) AS have,
    count(*) AS whole
  FROM hops
  WHERE client_span_id IS NOT NULL
  UNION ALL
  SELECT
    6 AS place,
    'allowances' AS evidence,
    count(*) FILTER (WHERE allowance_key <> 'measured') AS have,
    count(*) AS whole
  FROM attempts
  UNION ALL
  SELECT
    7 AS place,
    'measured_allowances' AS evidence,
    count(*) FILTER (WHERE allowance_key = 'measured') AS have,
    count(*) AS whole
  FROM attempts
  UNION ALL
  SELECT
    8 AS place,
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
