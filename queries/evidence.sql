-- The evidence record of every request: what was left at each step, what was done, how it ended.
--
-- inputs: requests
-- columns:
--   trace_id: the trace
--   root_span_id: the root span
--   request_class: the class
--   duration_ns: root end less root start
--   budget_at_origin_ns: deadline less origin; null where no deadline is known
--   budget_at_admission_ns: what was left when the admitting span started
--   queue_ns: queue time on the consumption path
--   budget_at_start_ns: what was left when it began to execute
--   local_execution_ns: the admitting service's own time on the path
--   downstream_budget_sent_ns: the largest grant that it sent on; null where it sent none
--   retry_count: attempts that are retries
--   hedge_count: attempts that are hedges
--   unfundable_attempts: attempts that began with less left than one needs, or with nothing
--   retry_layered: whether two layers retried
--   cancellation_observed_ns: first end of a span that left, from the origin; null where none did
--   residual_work_after_cancel_ns: work after an ancestor had left
--   return_reserve_used_ns: from the last child's end to the admitting span's
--   terminal_outcome: how it ended
--   completed_before_deadline: whether it completed in time; null where no deadline is known
--   late_work_ns: work after the deadline; null where no deadline is known
--   late_wait_ns: calls open after the deadline whose other end was not traced
--   late_wall_ns: from the deadline to the last span's end
--   residual_wait_ns: calls open after an ancestor had left whose other end was not traced
--   blind_spots: what its trace cannot tell
SELECT
  trace_id,
  root_span_id,
  request_class,
  duration_ns,
  budget_at_origin_ns,
  budget_at_admission_ns,
  queue_ns,
  budget_at_start_ns,
  local_execution_ns,
  downstream_budget_sent_ns,
  retry_count,
  hedge_count,
  unfundable_attempts,
  retry_layered,
  cancellation_observed_ns,
  residual_work_after_cancel_ns,
  return_reserve_used_ns,
  terminal_outcome,
  completed_before_deadline,
  late_work_ns,
  late_wait_ns,
  late_wall_ns,
  residual_wait_ns,
  blind_spots
FROM requests
ORDER BY request_class ASC NULLS FIRST, trace_id ASC NULLS FIRST, root_span_id ASC NULLS FIRST
