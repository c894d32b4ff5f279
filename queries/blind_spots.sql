-- What the traces cannot tell, and of how many requests.
--
-- inputs: requests
-- columns:
--   request_class: the class
--   blind_spot: what cannot be told
--   requests: of how many requests
--   share: of all requests of the class
WITH spots AS (
  SELECT request_class, unnest(blind_spots) AS blind_spot
  FROM requests
),
classes AS (
  SELECT request_class, count(*) AS requests
  FROM requests
  GROUP BY request_class
)
SELECT
  s.request_class AS request_class,
  s.blind_spot AS blind_spot,
  count(*) AS requests,
  cast(count(*) AS double) / nullif(cast(max(c.requests) AS double), 0) AS share
FROM spots AS s
LEFT JOIN classes AS c ON c.request_class = s.request_class
GROUP BY s.request_class, s.blind_spot
ORDER BY request_class ASC NULLS FIRST, blind_spot ASC NULLS FIRST
