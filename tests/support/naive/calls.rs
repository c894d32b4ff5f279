//! Calls and attempts (SEMANTICS §7).

use std::cmp::Reverse;

use dwindle::span::{Kind, Outcome, Target};
use dwindle::units::Nanos;
use serde_json::{Value, json};

use super::request::Request;

/// HTTP statuses after which a client sends again, and not because something failed.
const RESENT_AFTER: [u16; 7] = [301, 302, 303, 307, 308, 401, 407];

/// One try of a call.
#[derive(Clone)]
pub(super) struct Attempt {
    pub(super) span: usize,
    pub(super) kind: &'static str,
    pub(super) backoff: Option<i64>,
}

/// What tells one group of calls from another.
type Group<'a> = (&'a str, &'a str, Option<Target>);

impl<'a> Request<'_, 'a> {
    pub(super) fn find_calls(&mut self) {
        for parent in self.spans.clone() {
            let children = self.trace.in_order(self.trace.nodes[parent].children.clone());
            let tries = |&child: &usize| {
                let node = &self.trace.nodes[child];
                node.kind == Kind::Client && node.opens_hop()
            };
            let children: Vec<usize> = children.into_iter().filter(tries).collect();
            self.find_calls_among(&children);
        }
    }

    /// The calls among the CLIENT children of one parent.
    fn find_calls_among(&mut self, children: &[usize]) {
        let mut calls: Vec<Vec<Attempt>> = Vec::new();
        // Which call each child is in.
        let mut joined: Vec<(usize, usize)> = Vec::new();
        for &child in children {
            let beside = joined.iter().rev().find(|(other, _)| self.is_of_group(*other, child));
            let last = beside.map(|&(_, call)| call);
            let call = self.call_of(child, children, &calls, last).unwrap_or(calls.len());
            if call == calls.len() {
                calls.push(Vec::new());
            }
            let attempt = self.attempt(calls[call].last(), child);
            calls[call].push(attempt);
            joined.push((child, call));
        }
        self.calls.extend(calls);
    }

    /// Which of the calls so far a child joins; `last` is the last of its group.
    fn call_of(
        &self,
        child: usize,
        children: &[usize],
        calls: &[Vec<Attempt>],
        last: Option<usize>,
    ) -> Option<usize> {
        let ordinal = |span: usize| self.trace.nodes[span].span.attempt_ordinal;
        let in_group = children.iter().filter(|&&other| self.is_of_group(other, child));
        let is_declared = in_group.copied().any(|other| ordinal(other).is_some());
        if self.is_of_call_span(child) {
            last
        } else if is_declared {
            let joins = ordinal(child).is_some_and(|ordinal| ordinal > 1);
            last.or_else(|| self.redirected_call(calls, child)).filter(|_| joins)
        } else {
            let another = |&call: &usize| {
                calls[call].last().is_some_and(|previous| self.is_another(previous, child))
            };
            last.filter(another)
        }
    }

    /// Whether a child is one of the attempts under a call span.
    fn is_of_call_span(&self, child: usize) -> bool {
        let node = &self.trace.nodes[child];
        let under_call_span = node.up.is_some_and(|up| self.trace.nodes[up].is_call_span);
        under_call_span && node.span.flags.is_attempt
    }

    /// Whether two children look like tries of the same thing.
    fn is_of_group(&self, one: usize, other: usize) -> bool {
        let is_attempt = self.is_of_call_span(one);
        let is_alike = self.group(one) == self.group(other);
        is_attempt == self.is_of_call_span(other) && (is_attempt || is_alike)
    }

    fn attempt(&mut self, previous: Option<&Attempt>, span: usize) -> Attempt {
        let node = &self.trace.nodes[span];
        let Some(previous) = previous.map(|previous| &self.trace.nodes[previous.span]) else {
            let is_retry = node.span.attempt_ordinal.is_some_and(|ordinal| ordinal > 1);
            self.attempts_missing |= is_retry;
            let kind = if is_retry { "retry" } else { "initial" };
            return Attempt { span, kind, backoff: None };
        };
        if node.start < previous.end {
            return Attempt { span, kind: "hedge", backoff: Some(0) };
        }
        let kind = if is_resent(previous.span.http_status) { "resend" } else { "retry" };
        Attempt { span, kind, backoff: Some(node.start - previous.end) }
    }

    fn group(&self, span: usize) -> Group<'a> {
        let node = &self.trace.nodes[span];
        (node.service, node.name, node.span.target)
    }

    /// The call whose redirect a span may follow.
    fn redirected_call(&self, calls: &[Vec<Attempt>], span: usize) -> Option<usize> {
        let start = self.trace.nodes[span].start;
        let last = |call: usize| calls[call].last().map(|last| &self.trace.nodes[last.span]);
        let redirected = |&call: &usize| {
            last(call).is_some_and(|last| last.end <= start && is_resent(last.span.http_status))
        };
        (0..calls.len())
            .filter(redirected)
            .min_by_key(|&call| last(call).map(|last| (Reverse((last.end, last.start)), last.id)))
    }

    /// Whether a span without declared number is another attempt of the call that `previous`
    /// was the last attempt of.
    fn is_another(&self, previous: &Attempt, span: usize) -> bool {
        let (one, other) = (&self.trace.nodes[previous.span], &self.trace.nodes[span]);
        if other.span.target.is_none() && !other.span.flags.has_rpc {
            return false;
        }
        if other.start >= one.end {
            let is_client_fault = one.span.http_status.is_some_and(|code| code / 100 == 4);
            return match one.outcome {
                Outcome::Ok => false,
                Outcome::Error => !is_client_fault,
                Outcome::Rejected | Outcome::Cancelled | Outcome::DeadlineExceeded => true,
            };
        }
        let outcomes = (one.outcome, other.outcome);
        outcomes == (Outcome::Ok, Outcome::Cancelled)
            || outcomes == (Outcome::Cancelled, Outcome::Ok)
    }

    /// What an attempt's caller had left when it began.
    pub(super) fn remaining_at_start(&self, attempt: usize) -> Option<i64> {
        let node = &self.trace.nodes[attempt];
        self.effective_deadline(node.up).map(|deadline| deadline - node.start)
    }

    /// What one attempt needs.
    pub(super) fn allowance(&self, attempt: usize) -> Option<i64> {
        let node = &self.trace.nodes[attempt];
        let retry = self.contract.and_then(|contract| contract.retry.as_ref());
        let retry =
            retry.filter(|retry| retry.owner.as_deref().is_none_or(|owner| owner == node.service));
        let agreed = retry.and_then(|retry| retry.attempt_allowance);
        let known = self.known_allowance(attempt, false);
        let measured = || self.known_allowance(attempt, true);
        let told = node.span.allowance.or(known).or(agreed).or_else(measured);
        told.map(Nanos::as_nanos)
    }

    /// What is known of such calls, given or measured.
    fn known_allowance(&self, attempt: usize, calibrated: bool) -> Option<Nanos> {
        let terms = self.trace.term(attempt, |terms| terms.attempt_allowance.is_some())?;
        let told = terms.break_even.filter(|_| calibrated).or(terms.attempt_allowance);
        told.filter(|_| terms.calibrated == calibrated)
    }

    /// What tells it.
    fn allowance_key(&self, attempt: usize) -> Option<&str> {
        let key = self.trace.nodes[attempt].span.allowance_key;
        self.allowance(attempt)?;
        let retry = self.contract.and_then(|contract| contract.retry.as_ref());
        let service = self.trace.nodes[attempt].service;
        let is_owner = |owner: &str| owner == service;
        let by_class = retry.is_some_and(|retry| {
            retry.attempt_allowance.is_some() && retry.owner.as_deref().is_none_or(is_owner)
        });
        let is_given = by_class || self.known_allowance(attempt, false).is_some();
        let otherwise = if is_given { "contract" } else { "measured" };
        Some(key.map_or(otherwise, |key| self.trace.strings.get(key)))
    }

    pub(super) fn funding(&self, attempt: usize) -> &'static str {
        let Some(remaining) = self.remaining_at_start(attempt) else { return "unknown" };
        if remaining <= 0 {
            return "expired";
        }
        match self.allowance(attempt) {
            None => "unknown",
            Some(allowance) if self.available(remaining) >= allowance => "funded",
            Some(_) => "unfundable",
        }
    }

    /// Whether an attempt of a call with several lies below an attempt of another such call.
    pub(super) fn is_retry_layered(&self) -> bool {
        let several = || self.calls.iter().filter(|call| call.len() > 1);
        let lies_below = |lower: &Attempt, upper: &Attempt| {
            self.trace.ancestors(lower.span).contains(&upper.span)
        };
        several().any(|upper| {
            several().any(|lower| {
                lower.iter().any(|lower| upper.iter().any(|upper| lies_below(lower, upper)))
            })
        })
    }

    pub(super) fn attempt_rows(&self) -> Vec<Value> {
        let rows = |call: &Vec<Attempt>| {
            let row = |position: usize| self.attempt_row(call, position);
            (0..call.len()).map(row).collect::<Vec<_>>()
        };
        self.calls.iter().flat_map(rows).collect()
    }

    fn attempt_row(&self, call: &[Attempt], position: usize) -> Value {
        let attempt = &call[position];
        let node = &self.trace.nodes[attempt.span];
        let remaining = self.remaining_at_start(attempt.span);
        let position = i32::try_from(position + 1).unwrap_or(i32::MAX);
        self.row(json!({
            "call_id": self.id(Some(call[0].span)),
            "span_id": self.id(Some(attempt.span)),
            "ordinal": node.span.attempt_ordinal.unwrap_or(position),
            "ordinal_key": node.span.ordinal_key.map(|key| self.trace.strings.get(key)),
            "attempts": call.len(),
            "kind": attempt.kind,
            "caller_service": node.service,
            "callee_service": self.callee_service(attempt.span),
            "operation": node.name,
            "elapsed_at_start_ns": node.start - self.origin,
            "backoff_ns": attempt.backoff,
            "remaining_at_start_ns": remaining,
            "available_at_start_ns": remaining.map(|remaining| self.available(remaining)),
            "allowance_ns": self.allowance(attempt.span),
            "allowance_key": self.allowance_key(attempt.span),
            "funding": self.funding(attempt.span),
            "duration_ns": node.end - node.start,
            "outcome": node.outcome.name(),
        }))
    }

    fn callee_service(&self, client: usize) -> Option<&str> {
        let servers = self.trace.in_order(self.trace.nodes[client].servers.clone());
        match servers.first() {
            Some(&server) => Some(self.trace.nodes[server].service),
            None => self.peer_service(client),
        }
    }
}

fn is_resent(status: Option<u16>) -> bool {
    status.is_some_and(|status| RESENT_AFTER.contains(&status))
}
