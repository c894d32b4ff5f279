-- Every measure of requests, class by class: its percentiles, each with a 95 % interval.
--
-- inputs: distributions
-- columns:
--   request_class: the class
--   measure: the column of the table requests
--   bad_side: the side on which it hurts
--   weighted: whether the percentiles are those of the population that requests were sampled from
--   n: of how many requests it is known
--   nonzero: how many of them have any
--   sum_ns: their sum; null where it does not fit into 64 bits
--   effective_n: how many requests of equal weight would tell as much; null where not weighted
--   min_ns: the smallest
--   p0_1_ns: the 0.1th percentile; null of too few
--   p0_1_lo_ns: the lower end of its interval
--   p0_1_hi_ns: the upper end
--   p1_ns: the 1st percentile; null of too few
--   p1_lo_ns: the lower end of its interval
--   p1_hi_ns: the upper end
--   p5_ns: the 5th percentile; null of too few
--   p5_lo_ns: the lower end of its interval
--   p5_hi_ns: the upper end
--   p10_ns: the 10th percentile; null of too few
--   p10_lo_ns: the lower end of its interval
--   p10_hi_ns: the upper end
--   p50_ns: the 50th percentile; null of too few
--   p50_lo_ns: the lower end of its interval
--   p50_hi_ns: the upper end
--   p90_ns: the 90th percentile; null of too few
--   p90_lo_ns: the lower end of its interval
--   p90_hi_ns: the upper end
--   p95_ns: the 95th percentile; null of too few
--   p95_lo_ns: the lower end of its interval
--   p95_hi_ns: the upper end
--   p99_ns: the 99th percentile; null of too few
--   p99_lo_ns: the lower end of its interval
--   p99_hi_ns: the upper end
--   p99_9_ns: the 99.9th percentile; null of too few
--   p99_9_lo_ns: the lower end of its interval
--   p99_9_hi_ns: the upper end
--   max_ns: the largest
SELECT
  request_class,
  measure,
  bad_side,
  weighted,
  n,
  nonzero,
  sum_ns,
  effective_n,
  min_ns,
  p0_1_ns,
  p0_1_lo_ns,
  p0_1_hi_ns,
  p1_ns,
  p1_lo_ns,
  p1_hi_ns,
  p5_ns,
  p5_lo_ns,
  p5_hi_ns,
  p10_ns,
  p10_lo_ns,
  p10_hi_ns,
  p50_ns,
  p50_lo_ns,
  p50_hi_ns,
  p90_ns,
  p90_lo_ns,
  p90_hi_ns,
  p95_ns,
  p95_lo_ns,
  p95_hi_ns,
  p99_ns,
  p99_lo_ns,
  p99_hi_ns,
  p99_9_ns,
  p99_9_lo_ns,
  p99_9_hi_ns,
  max_ns
FROM distributions
WHERE scope = 'request'
ORDER BY request_class ASC NULLS FIRST, measure ASC NULLS FIRST
