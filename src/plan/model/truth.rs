//! What the model itself knows of a request, by the names that the tables of `analyze` have. It is
//! accounted here from what was simulated, and shares nothing with what rebuilds traces.

use serde::Serialize;

use super::Request;
use super::execution::{Attempt, Call, Served, after};
use super::traces::{span_id, trace_id};
use crate::budget::{TOLERANCE_FLOOR, available, earlier, is_equal, tolerance};
use crate::span::Outcome;
use crate::tables::{AttemptKind, Funding, TerminalOutcome, Verdict};
use crate::units::Nanos;

/// A request, its hops and its attempts.
#[derive(Clone, Debug, Serialize)]
pub struct Truth {
    /// The request.
    pub request: RequestTruth,
    /// Its hops.
    pub hops: Vec<HopTruth>,
    /// Its attempts.
    pub attempts: Vec<AttemptTruth>,
}

/// Columns of the table `requests`.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "`dwindle schema` tells the columns")]
pub struct RequestTruth {
    pub trace_id: String,
    pub root_span_id: String,
    pub request_class: String,
    pub duration_ns: i64,
    pub budget_at_origin_ns: i64,
    pub downstream_budget_sent_ns: Option<i64>,
    pub retry_count: i32,
    pub hedge_count: i32,
    pub unfundable_attempts: i32,
    pub cancellation_observed_ns: Option<i64>,
    pub residual_work_after_cancel_ns: i64,
    pub residual_wait_ns: i64,
    pub return_reserve_used_ns: Option<i64>,
    pub terminal_outcome: &'static str,
    pub completed_before_deadline: bool,
    pub late_work_ns: i64,
    pub late_wait_ns: i64,
    pub late_wall_ns: i64,
}

/// Columns of the table `hops`.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "`dwindle schema` tells the columns")]
pub struct HopTruth {
    pub trace_id: String,
    pub root_span_id: String,
    pub hop_id: String,
    pub client_span_id: Option<String>,
    pub server_span_id: Option<String>,
    pub caller_service: Option<String>,
    pub callee_service: String,
    pub depth: i32,
    pub elapsed_at_send_ns: Option<i64>,
    pub elapsed_at_receive_ns: Option<i64>,
    pub remaining_at_send_ns: Option<i64>,
    pub remaining_at_receive_ns: Option<i64>,
    pub remaining_at_start_ns: Option<i64>,
    pub available_ns: i64,
    pub granted_ns: i64,
    pub verdict: &'static str,
    pub duration_ns: i64,
    pub outcome: &'static str,
    pub late_work_ns: i64,
    pub late_wait_ns: i64,
    pub residual_work_ns: i64,
    pub residual_wait_ns: i64,
}

/// Columns of the table `attempts`.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "`dwindle schema` tells the columns")]
pub struct AttemptTruth {
    pub trace_id: String,
    pub root_span_id: String,
    pub call_id: String,
    pub span_id: String,
    pub ordinal: i32,
    pub attempts: i32,
    pub kind: &'static str,
    pub elapsed_at_start_ns: i64,
    pub backoff_ns: Option<i64>,
    pub remaining_at_start_ns: i64,
    pub available_at_start_ns: i64,
    pub allowance_ns: i64,
    pub funding: &'static str,
    pub duration_ns: i64,
    pub outcome: &'static str,
}

/// The truth about a request.
pub(super) fn of(request: &Request<'_>) -> Truth {
    let root = &request.served;
    let mut accounting = Accounting {
        request,
        trace_id: trace_id(request).to_string(),
        root_span_id: span_id(root.id).to_string(),
        reserve: request.run.model.scenario.reserve(request.run.configuration),
        hops: Vec::new(),
        attempts: Vec::new(),
        left_first: None,
        last_end: root.end,
    };
    let threshold = request.run.model.scenario.threshold;
    let above = Above { left: None, grants: vec![threshold], is_dishonest: false, depth: 0 };
    let amounts = accounting.served(root, &above);
    accounting.root_hop(root, threshold, amounts);
    accounting.finish(root, threshold, amounts)
}

/// What was done too late, or for nobody.
#[derive(Clone, Copy, Debug, Default)]
struct Amounts {
    late_work: Nanos,
    late_wait: Nanos,
    residual_work: Nanos,
    residual_wait: Nanos,
}

impl Amounts {
    fn add(&mut self, other: Self) {
        self.late_work += other.late_work;
        self.late_wait += other.late_wait;
        self.residual_work += other.residual_work;
        self.residual_wait += other.residual_wait;
    }
}

/// What stands above a service that serves.
#[derive(Debug)]
struct Above {
    /// When the first above it left.
    left: Option<Nanos>,
    /// What was given at each hop above, the request's budget first.
    grants: Vec<Nanos>,
    /// Whether the nearest grant above exceeded what was left.
    is_dishonest: bool,
    depth: i32,
}

struct Accounting<'r> {
    request: &'r Request<'r>,
    trace_id: String,
    root_span_id: String,
    reserve: Nanos,
    hops: Vec<HopTruth>,
    attempts: Vec<AttemptTruth>,
    left_first: Option<Nanos>,
    last_end: Nanos,
}

impl Accounting<'_> {
    /// A service and all below it.
    fn served(&mut self, served: &Served, above: &Above) -> Amounts {
        self.ended(served.end, served.outcome);
        let threshold = self.request.run.model.scenario.threshold;
        let residual =
            |stretch, left: Option<Nanos>| left.map_or(Nanos::ZERO, |left| after(stretch, left));
        let mut amounts = Amounts {
            late_work: after(served.own(), threshold),
            residual_work: residual(served.own(), above.left),
            ..Amounts::default()
        };
        let left = earlier(above.left, left_at(served.end, served.outcome));
        for call in &served.calls {
            self.tell_attempts(served, call);
            for attempt in &call.attempts {
                self.ended(attempt.end, attempt.outcome);
                let verdict = self.verdict(served, attempt, above);
                let mut below = match &attempt.served {
                    Some(callee) => {
                        let above = Above {
                            left: earlier(left, left_at(attempt.end, attempt.outcome)),
                            grants: [above.grants.as_slice(), &[attempt.grant]].concat(),
                            is_dishonest: matches!(
                                verdict,
                                Verdict::Reset | Verdict::Overgrant | Verdict::Inherited
                            ),
                            depth: above.depth + 1,
                        };
                        self.served(callee, &above)
                    }
                    None => Amounts::default(),
                };
                if attempt.served.is_none() {
                    // Nobody was asked, which the trace of the caller does not tell.
                    let open = (attempt.start, attempt.end);
                    below.late_wait = after(open, threshold);
                    below.residual_wait = residual(open, left);
                }
                self.tell_hop(served, call, attempt, (verdict, above.depth + 1), below);
                amounts.add(below);
            }
        }
        amounts
    }

    fn ended(&mut self, end: Nanos, outcome: Outcome) {
        self.last_end = self.last_end.max(end);
        self.left_first = earlier(self.left_first, left_at(end, outcome));
    }

    /// What was given, compared with what was left (SEMANTICS §6).
    fn verdict(&self, caller: &Served, attempt: &Attempt, above: &Above) -> Verdict {
        let grant = attempt.grant;
        let tolerance = tolerance(grant, TOLERANCE_FLOOR);
        let left = caller.deadline.effective - attempt.start;
        let known = caller.deadline.known - attempt.start;
        if grant > left.at_least_zero() + tolerance {
            // What exceeds what the caller knows of is the whole timeout, the same at all attempts of a call.
            let before = caller.calls.iter().filter_map(|call| call.attempts.first());
            let before = before.filter(|other| other.start < attempt.start);
            let mut allowances =
                above.grants.iter().copied().chain(before.map(|other| other.grant));
            return if grant <= known + tolerance {
                if above.is_dishonest { Verdict::Inherited } else { Verdict::Stretched }
            } else if allowances.any(|allowance| is_equal(grant, allowance, TOLERANCE_FLOOR)) {
                Verdict::Reset
            } else {
                Verdict::Overgrant
            };
        }
        if left <= Nanos::ZERO {
            Verdict::Expired
        } else if grant > left - self.reserve + tolerance {
            Verdict::ReserveInvading
        } else if grant >= left - self.reserve - tolerance {
            Verdict::Propagated
        } else {
            Verdict::Tightened
        }
    }

    fn root_hop(&mut self, root: &Served, threshold: Nanos, amounts: Amounts) {
        self.hops.push(HopTruth {
            trace_id: self.trace_id.clone(),
            root_span_id: self.root_span_id.clone(),
            hop_id: self.root_span_id.clone(),
            client_span_id: None,
            server_span_id: Some(self.root_span_id.clone()),
            caller_service: None,
            callee_service: self.name(root.service),
            depth: 0,
            elapsed_at_send_ns: None,
            elapsed_at_receive_ns: Some(0),
            remaining_at_send_ns: None,
            remaining_at_receive_ns: Some(threshold.as_nanos()),
            remaining_at_start_ns: Some(threshold.as_nanos()),
            available_ns: available(threshold, self.reserve).as_nanos(),
            granted_ns: threshold.as_nanos(),
            verdict: Verdict::Origin.name(),
            duration_ns: root.end.as_nanos(),
            outcome: root.outcome.name(),
            late_work_ns: amounts.late_work.as_nanos(),
            late_wait_ns: amounts.late_wait.as_nanos(),
            residual_work_ns: amounts.residual_work.as_nanos(),
            residual_wait_ns: amounts.residual_wait.as_nanos(),
        });
    }

    fn tell_hop(
        &mut self,
        caller: &Served,
        call: &Call,
        attempt: &Attempt,
        (verdict, depth): (Verdict, i32),
        below: Amounts,
    ) {
        let left_at = |instant: Nanos| caller.deadline.effective - instant;
        let received = attempt.served.as_ref().map(|served| served.start);
        let id = span_id(attempt.id).to_string();
        self.hops.push(HopTruth {
            trace_id: self.trace_id.clone(),
            root_span_id: self.root_span_id.clone(),
            hop_id: id.clone(),
            client_span_id: Some(id),
            server_span_id: attempt.served.as_ref().map(|it| span_id(it.id).to_string()),
            caller_service: Some(self.name(caller.service)),
            callee_service: self.name(call.callee),
            depth,
            elapsed_at_send_ns: Some(attempt.start.as_nanos()),
            elapsed_at_receive_ns: received.map(Nanos::as_nanos),
            remaining_at_send_ns: Some(left_at(attempt.start).as_nanos()),
            remaining_at_receive_ns: received.map(|received| left_at(received).as_nanos()),
            remaining_at_start_ns: received.map(|received| left_at(received).as_nanos()),
            available_ns: available(left_at(attempt.start), self.reserve).as_nanos(),
            granted_ns: attempt.grant.as_nanos(),
            verdict: verdict.name(),
            duration_ns: (attempt.end - attempt.start).as_nanos(),
            outcome: attempt.outcome.name(),
            late_work_ns: below.late_work.as_nanos(),
            late_wait_ns: below.late_wait.as_nanos(),
            residual_work_ns: below.residual_work.as_nanos(),
            residual_wait_ns: below.residual_wait.as_nanos(),
        });
    }

    fn tell_attempts(&mut self, caller: &Served, call: &Call) {
        let Some(first) = call.attempts.first() else { return };
        let allowance = call.timeout;
        let count = i32::try_from(call.attempts.len()).unwrap_or(i32::MAX);
        let mut ended_before: Option<Nanos> = None;
        for (ordinal, attempt) in (1..).zip(&call.attempts) {
            let remaining = caller.deadline.effective - attempt.start;
            let available = available(remaining, self.reserve);
            let funding = if remaining <= Nanos::ZERO {
                Funding::Expired
            } else if available >= allowance {
                Funding::Funded
            } else {
                Funding::Unfundable
            };
            let backoff = ended_before.map(|end| (attempt.start - end).at_least_zero().as_nanos());
            ended_before = Some(attempt.end);
            self.attempts.push(AttemptTruth {
                trace_id: self.trace_id.clone(),
                root_span_id: self.root_span_id.clone(),
                call_id: span_id(first.id).to_string(),
                span_id: span_id(attempt.id).to_string(),
                ordinal,
                attempts: count,
                kind: attempt.kind.name(),
                elapsed_at_start_ns: attempt.start.as_nanos(),
                backoff_ns: backoff,
                remaining_at_start_ns: remaining.as_nanos(),
                available_at_start_ns: available.as_nanos(),
                allowance_ns: allowance.as_nanos(),
                funding: funding.name(),
                duration_ns: (attempt.end - attempt.start).as_nanos(),
                outcome: attempt.outcome.name(),
            });
        }
    }

    fn finish(self, root: &Served, threshold: Nanos, amounts: Amounts) -> Truth {
        let of_root = || root.calls.iter().flat_map(|call| &call.attempts);
        let counted = |is_one: &dyn Fn(&AttemptTruth) -> bool| {
            let count = self.attempts.iter().filter(|attempt| is_one(attempt)).count();
            i32::try_from(count).unwrap_or(i32::MAX)
        };
        let terminal_outcome = match root.outcome {
            Outcome::Ok => TerminalOutcome::Completed,
            _ => TerminalOutcome::Failed,
        };
        let last_child = of_root().map(|attempt| attempt.end).max();
        let request = RequestTruth {
            request_class: self.request.run.name(),
            duration_ns: root.end.as_nanos(),
            budget_at_origin_ns: threshold.as_nanos(),
            downstream_budget_sent_ns: of_root().map(|attempt| attempt.grant.as_nanos()).max(),
            retry_count: counted(&|attempt| attempt.kind == AttemptKind::Retry.name()),
            hedge_count: counted(&|attempt| attempt.kind == AttemptKind::Hedge.name()),
            unfundable_attempts: counted(&|attempt| attempt.funding != Funding::Funded.name()),
            cancellation_observed_ns: self.left_first.map(Nanos::as_nanos),
            residual_work_after_cancel_ns: amounts.residual_work.as_nanos(),
            residual_wait_ns: amounts.residual_wait.as_nanos(),
            return_reserve_used_ns: last_child.map(|last| (root.end - last).as_nanos()),
            terminal_outcome: terminal_outcome.name(),
            completed_before_deadline: root.outcome == Outcome::Ok && root.end <= threshold,
            late_work_ns: amounts.late_work.as_nanos(),
            late_wait_ns: amounts.late_wait.as_nanos(),
            late_wall_ns: (self.last_end - threshold).at_least_zero().as_nanos(),
            trace_id: self.trace_id,
            root_span_id: self.root_span_id,
        };
        Truth { request, hops: self.hops, attempts: self.attempts }
    }

    fn name(&self, service: usize) -> String {
        self.request.run.model.scenario.services[service].name.clone()
    }
}

/// When a caller left, if it did.
fn left_at(end: Nanos, outcome: Outcome) -> Option<Nanos> {
    matches!(outcome, Outcome::DeadlineExceeded | Outcome::Cancelled).then_some(end)
}
