-- Every try of every call: how it ended, and what was left when it began.
--
-- inputs: attempts
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
ORDER BY
  request_class ASC NULLS FIRST,
  caller_service ASC NULLS FIRST,
  callee_service ASC NULLS FIRST,
  operation ASC NULLS FIRST,
  ordinal ASC NULLS FIRST
