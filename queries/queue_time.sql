-- Where requests wait: time in queues, by hop.
--
-- inputs: hops
-- columns:
--   request_class: the class
--   depth: how many hops stand above
--   caller_service: who called; null where nothing did
--   callee_service: who was called; null where nothing names it
--   operation: what for
--   hops: how many hops there are
--   queued: how many of them waited
--   queue_ns: how long, in total
--   max_queue_ns: the longest
--   began_expired: hops that waited until nothing was left
SELECT
  request_class,
  depth,
  caller_service,
  callee_service,
  operation,
  count(*) AS hops,
  count(*) FILTER (WHERE queue_ns > 0) AS queued,
  cast(sum(queue_ns) AS bigint) AS queue_ns,
  max(queue_ns) AS max_queue_ns,
  count(*) FILTER (WHERE queue_ns > 0 AND remaining_at_start_ns <= 0) AS began_expired
FROM hops
GROUP BY request_class, depth, caller_service, callee_service, operation
HAVING max(queue_ns) > 0
ORDER BY
  request_class ASC NULLS FIRST,
  queue_ns DESC NULLS LAST,
  depth ASC NULLS FIRST,
  caller_service ASC NULLS FIRST,
  callee_service ASC NULLS FIRST,
  operation ASC NULLS FIRST
