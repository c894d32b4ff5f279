-- Every try of every call: how it ended, and what was left when it began.
--
-- inputs: attempts, distributions
-- columns:
--   request_class: the class
--   caller_service: who tried; null where it has no name
--   callee_service: who was called; null where nothing names it
--   operation: what for
--   ordinal: the declared number of the try, else its position; 1 is the first
--   attempts: how many there are
--   failed: how many did not end well
--   retries: how many are retries
--   hedges: how many are hedges
--   resends: how many follow a redirect or an authorization challenge
--   funded: how many began with enough left
--   unfundable: how many began with less left than one needs
--   expired: how many began with nothing left
--   funding_unknown: of how many that cannot be told
--   min_remaining_ns: the least that was left when one began
--   min_allowance_ns: the smallest allowance of one attempt
--   max_allowance_ns: the largest
--   backoff_ns: time since the try before, in total
--   duration_ns: how long they took, in total
--   max_duration_ns: the longest
--   remaining_n: of how many is known what was left when they began
--   remaining_p1_ns: the 1st percentile of what was left when one began; null of too few
--   remaining_p1_lo_ns: the lower end of its 95 % interval
--   remaining_p1_hi_ns: the upper end
--   remaining_p5_ns: the 5th percentile; null of too few
--   remaining_p5_lo_ns: the lower end of its 95 % interval
--   remaining_p5_hi_ns: the upper end
--   remaining_p50_ns: the median; null of too few
--   remaining_p50_lo_ns: the lower end of its 95 % interval
--   remaining_p50_hi_ns: the upper end
--   backoff_n: of how many is known when the try before ended
--   backoff_p50_ns: the median of the time since the try before; null of too few
--   backoff_p50_lo_ns: the lower end of its 95 % interval
--   backoff_p50_hi_ns: the upper end
--   duration_n: of how many durations are told
--   duration_p50_ns: the median of how long one took; null of too few
--   duration_p50_lo_ns: the lower end of its 95 % interval
--   duration_p50_hi_ns: the upper end
WITH tried AS (
  SELECT
    request_class,
    caller_service,
    callee_service,
    operation,
    ordinal,
    count(*) AS attempts,
    count(*) FILTER (WHERE outcome <> 'ok') AS failed,
    count(*) FILTER (WHERE kind = 'retry') AS retries,
    count(*) FILTER (WHERE kind = 'hedge') AS hedges,
    count(*) FILTER (WHERE kind = 'resend') AS resends,
    count(*) FILTER (WHERE funding = 'funded') AS funded,
    count(*) FILTER (WHERE funding = 'unfundable') AS unfundable,
    count(*) FILTER (WHERE funding = 'expired') AS expired,
    count(*) FILTER (WHERE funding = 'unknown') AS funding_unknown,
    min(remaining_at_start_ns) AS min_remaining_ns,
    min(allowance_ns) AS min_allowance_ns,
    max(allowance_ns) AS max_allowance_ns,
    cast(sum(backoff_ns) AS bigint) AS backoff_ns,
    cast(sum(duration_ns) AS bigint) AS duration_ns,
    max(duration_ns) AS max_duration_ns
  FROM attempts
  GROUP BY request_class, caller_service, callee_service, operation, ordinal
)
SELECT
  t.request_class AS request_class,
  t.caller_service AS caller_service,
  t.callee_service AS callee_service,
  t.operation AS operation,
  t.ordinal AS ordinal,
  t.attempts AS attempts,
  t.failed AS failed,
  t.retries AS retries,
  t.hedges AS hedges,
  t.resends AS resends,
  t.funded AS funded,
  t.unfundable AS unfundable,
  t.expired AS expired,
  t.funding_unknown AS funding_unknown,
  t.min_remaining_ns AS min_remaining_ns,
  t.min_allowance_ns AS min_allowance_ns,
  t.max_allowance_ns AS max_allowance_ns,
  t.backoff_ns AS backoff_ns,
  t.duration_ns AS duration_ns,
  t.max_duration_ns AS max_duration_ns,
  coalesce(r.n, 0) AS remaining_n,
  r.p1_ns AS remaining_p1_ns,
  r.p1_lo_ns AS remaining_p1_lo_ns,
  r.p1_hi_ns AS remaining_p1_hi_ns,
  r.p5_ns AS remaining_p5_ns,
  r.p5_lo_ns AS remaining_p5_lo_ns,
  r.p5_hi_ns AS remaining_p5_hi_ns,
  r.p50_ns AS remaining_p50_ns,
  r.p50_lo_ns AS remaining_p50_lo_ns,
  r.p50_hi_ns AS remaining_p50_hi_ns,
  coalesce(b.n, 0) AS backoff_n,
  b.p50_ns AS backoff_p50_ns,
  b.p50_lo_ns AS backoff_p50_lo_ns,
  b.p50_hi_ns AS backoff_p50_hi_ns,
  coalesce(d.n, 0) AS duration_n,
  d.p50_ns AS duration_p50_ns,
  d.p50_lo_ns AS duration_p50_lo_ns,
  d.p50_hi_ns AS duration_p50_hi_ns
FROM tried AS t
LEFT JOIN distributions AS r
  ON r.scope = 'attempt' AND r.measure = 'remaining_at_start_ns'
  AND (r.request_class IS NOT DISTINCT FROM t.request_class)
  AND (r.caller_service IS NOT DISTINCT FROM t.caller_service)
  AND (r.callee_service IS NOT DISTINCT FROM t.callee_service)
  AND (r.operation IS NOT DISTINCT FROM t.operation)
  AND (r.ordinal IS NOT DISTINCT FROM t.ordinal)
LEFT JOIN distributions AS b
  ON b.scope = 'attempt' AND b.measure = 'backoff_ns'
  AND (b.request_class IS NOT DISTINCT FROM t.request_class)
  AND (b.caller_service IS NOT DISTINCT FROM t.caller_service)
  AND (b.callee_service IS NOT DISTINCT FROM t.callee_service)
  AND (b.operation IS NOT DISTINCT FROM t.operation)
  AND (b.ordinal IS NOT DISTINCT FROM t.ordinal)
LEFT JOIN distributions AS d
  ON d.scope = 'attempt' AND d.measure = 'duration_ns'
  AND (d.request_class IS NOT DISTINCT FROM t.request_class)
  AND (d.caller_service IS NOT DISTINCT FROM t.caller_service)
  AND (d.callee_service IS NOT DISTINCT FROM t.callee_service)
  AND (d.operation IS NOT DISTINCT FROM t.operation)
  AND (d.ordinal IS NOT DISTINCT FROM t.ordinal)
ORDER BY
  request_class ASC NULLS FIRST,
  caller_service ASC NULLS FIRST,
  callee_service ASC NULLS FIRST,
  operation ASC NULLS FIRST,
  ordinal ASC NULLS FIRST
