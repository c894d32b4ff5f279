-- Who retries in requests that two layers retried, and how often in all.
--
-- inputs: requests, attempts
-- columns:
--   request_class: the class
--   caller_service: who retried; null where it has no name
--   callee_service: who was called; null where nothing names it
--   operation: what for
--   layered_requests: requests of two retrying layers in which this call was tried several times
--   layered_calls: such calls in them
--   layered_attempts: their attempts
--   most_attempts: the most that one call had
--   unfunded: attempts of them that began with less left than one needs, or with nothing
WITH tried_again AS (
  SELECT
    a.request_class AS request_class,
    a.trace_id AS trace_id,
    a.root_span_id AS root_span_id,
    a.caller_service AS caller_service,
    a.callee_service AS callee_service,
    a.operation AS operation,
    a.call_id AS call_id,
    count(*) AS attempts,
    count(*) FILTER (WHERE a.funding IN ('unfundable', 'expired')) AS unfunded
  FROM attempts AS a
  JOIN requests AS r
    ON r.trace_id = a.trace_id AND r.root_span_id = a.root_span_id AND r.retry_layered
  WHERE a.attempts > 1
  GROUP BY
    a.request_class, a.trace_id, a.root_span_id, a.caller_service, a.callee_service, a.operation,
    a.call_id
),
by_request AS (
  SELECT
    request_class,
    trace_id,
    root_span_id,
    caller_service,
    callee_service,
    operation,
    count(*) AS calls,
    cast(sum(attempts) AS bigint) AS attempts,
    max(attempts) AS most_attempts,
    cast(sum(unfunded) AS bigint) AS unfunded
  FROM tried_again
  GROUP BY request_class, trace_id, root_span_id, caller_service, callee_service, operation
)
SELECT
  request_class,
  caller_service,
  callee_service,
  operation,
  count(*) AS layered_requests,
  cast(sum(calls) AS bigint) AS layered_calls,
  cast(sum(attempts) AS bigint) AS layered_attempts,
  max(most_attempts) AS most_attempts,
  cast(sum(unfunded) AS bigint) AS unfunded
FROM by_request
GROUP BY request_class, caller_service, callee_service, operation
ORDER BY
  request_class ASC NULLS FIRST,
  layered_attempts DESC NULLS LAST,
  caller_service ASC NULLS FIRST,
  callee_service ASC NULLS FIRST,
  operation ASC NULLS FIRST
