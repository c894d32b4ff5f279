//! Calls and their attempts, and whether each attempt could be funded (SEMANTICS §7).

use std::collections::BTreeMap;

use super::Context;
use super::deadline::Deadlines;
use super::numbers::Numbers;
use super::terms::Allowance;
use super::trace::{Trace, is_attempt};
use crate::budget;
use crate::span::{Outcome, Span, SpanId, Sym, Target};
use crate::tables::{AttemptKind, Funding};
use crate::units::{Nanos, UnixNanos};

/// One try of a call.
#[derive(Debug)]
pub(super) struct Attempt {
    /// Its CLIENT span.
    pub span: usize,
    /// What it is within its call.
    pub kind: AttemptKind,
    /// The declared number, else the position.
    pub ordinal: i32,
    /// From the end of the attempt before it; `None` for the first.
    pub backoff: Option<Nanos>,
    /// What its parent had left when it began.
    pub remaining: Option<Nanos>,
    /// What one attempt needs.
    pub allowance: Option<Nanos>,
    /// What said so.
    pub allowance_key: Option<Sym>,
    /// Other attempts told what it needs.
    pub is_measured: bool,
    /// Whether that was left.
    pub funding: Funding,
    /// Its call.
    call: usize,
}

/// All calls of a trace, by parent from the roots down and in order below each.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// By call, those of one in order.
    attempts: Vec<Attempt>,
    /// A retry says so whose first attempt is not there.
    pub attempts_missing: bool,
    /// The calls, as far as their attempts were taken.
    open: Vec<Call>,
    /// The tries below one parent, and the group of each.
    tries: Vec<(usize, Option<usize>)>,
    groups: Vec<Group>,
    group_numbers: Numbers<GroupKey>,
}

impl Calls {
    /// Finds the calls below every span.
    pub(super) fn fill(
        &mut self,
        trace: &Trace<'_>,
        deadlines: &Deadlines,
        context: Context<'_, '_>,
    ) {
        self.attempts.clear();
        self.attempts_missing = false;
        self.open.clear();
        let mut below = Below {
            trace,
            deadlines,
            context,
            found: self,
            of_call_span: None,
            redirected: BTreeMap::new(),
        };
        for &parent in &trace.tree.top_down {
            below.take_all(parent);
        }
        self.attempts.sort_by_key(|attempt| attempt.call);
    }

    /// The attempts of each call.
    pub(super) fn calls(&self) -> impl Iterator<Item = &[Attempt]> {
        self.attempts.chunk_by(|one, other| one.call == other.call)
    }
}

/// What tells the calls below one parent apart.
type GroupKey = (Sym, Sym, Option<Target>);

fn group_key(span: &Span) -> GroupKey {
    (span.service, span.operation, span.target)
}

/// Tries of one parent that are alike.
#[derive(Debug, Default)]
struct Group {
    /// Some span carries an ordinal.
    is_numbered: bool,
    last_call: Option<usize>,
}

/// A call, as far as its attempts were taken.
#[derive(Debug)]
struct Call {
    last: usize,
    attempts: i32,
}

/// The calls of a trace, while its tries are taken by parent, and in order below each.
struct Below<'t, 'a> {
    trace: &'t Trace<'a>,
    deadlines: &'t Deadlines,
    context: Context<'t, 't>,
    found: &'t mut Calls,
    /// The one call of the attempts below a call span.
    of_call_span: Option<usize>,
    /// Calls whose last attempt ended as a redirect or challenge, by that end.
    redirected: BTreeMap<(UnixNanos, UnixNanos, SpanId), usize>,
}

impl Below<'_, '_> {
    /// Takes the tries below `parent`.
    fn take_all(&mut self, parent: usize) {
        self.of_call_span = None;
        self.redirected.clear();
        self.found.group_numbers.clear();
        self.found.groups.clear();
        let mut tries = std::mem::take(&mut self.found.tries);
        tries.clear();
        for &i in self.trace.children.of(parent).iter().filter(|&&i| self.trace.is_try(i)) {
            tries.push((i, self.group(parent, i)));
        }
        for &(i, group) in &tries {
            self.take(i, group);
        }
        self.found.tries = tries;
    }

    /// The group of try `i`; `None` for an attempt that a call span holds.
    fn group(&mut self, parent: usize, i: usize) -> Option<usize> {
        let span = self.trace.span(i);
        if self.trace.is_call_span(parent) && is_attempt(span) {
            return None;
        }
        let Calls { groups, group_numbers, .. } = &mut *self.found;
        let number = group_numbers.of(group_key(span));
        if number == groups.len() {
            groups.push(Group::default());
        }
        groups[number].is_numbered |= span.attempt_ordinal.is_some();
        Some(number)
    }

    fn take(&mut self, i: usize, group: Option<usize>) {
        let later = self.trace.span(i).attempt_ordinal.is_some_and(|ordinal| ordinal > 1);
        let joins = match group.map(|group| &self.found.groups[group]) {
            None => self.of_call_span,
            Some(group) if group.is_numbered => {
                if later {
                    group.last_call.or_else(|| self.redirected_by(i))
                } else {
                    None
                }
            }
            Some(group) => group.last_call.filter(|&call| self.follows(call, i)),
        };
        self.found.attempts_missing |= joins.is_none() && later;
        let call = self.append(joins, i);
        match group {
            None => self.of_call_span = Some(call),
            Some(group) => self.found.groups[group].last_call = Some(call),
        }
    }

    /// The call whose last attempt ended latest, by the start of `i`, as a redirect or challenge:
    /// a redirect changes the target.
    fn redirected_by(&self, i: usize) -> Option<usize> {
        let by = (self.trace.start(i), UnixNanos::MAX, SpanId(u64::MAX));
        self.redirected.range(..=by).next_back().map(|(_, &call)| call)
    }

    /// Without ordinals: whether `i` is a retry of `call`, or hedges its last attempt.
    fn follows(&self, call: usize, i: usize) -> bool {
        let (trace, span) = (self.trace, self.trace.span(i));
        if span.target.is_none() && !span.flags.has_rpc {
            return false;
        }
        let last = self.found.open[call].last;
        if trace.start(i) >= trace.end(last) {
            return failed_retryably(trace.outcome(last), trace.span(last));
        }
        let outcomes = (trace.outcome(last), trace.outcome(i));
        matches!(outcomes, (Outcome::Ok, Outcome::Cancelled) | (Outcome::Cancelled, Outcome::Ok))
    }

    /// What try `i` needs: what its span declares, else what is known of such calls, or of all that its
    /// service makes for such requests; what was measured counts last.
    fn allowance(&self, i: usize) -> Allowance {
        let (span, marks) = (self.trace.span(i), self.context.marks);
        let known = self.trace.terms(i).allowance;
        let given = known.filter(|known| known.key != Some(marks.measured));
        let by_class = || {
            let service = span.service;
            let allowance = self.trace.request(i).allowance(service, self.context.strings);
            allowance.map(|length| Allowance { length: Some(length), key: Some(marks.contract) })
        };
        match span.allowance {
            Some(length) => Allowance { length: Some(length), key: span.allowance_key },
            None => given.or_else(by_class).or(known).unwrap_or_default(),
        }
    }

    /// Appends try `i` to the call that it joins, else to a new one. Gives the call.
    fn append(&mut self, joins: Option<usize>, i: usize) -> usize {
        let (trace, span) = (self.trace, self.trace.span(i));
        let before = joins.map(|call| self.found.open[call].last);
        let Allowance { length: allowance, key: allowance_key } = self.allowance(i);
        let open = &mut self.found.open;
        let call = joins.unwrap_or_else(|| {
            open.push(Call { last: i, attempts: 0 });
            open.len() - 1
        });
        let of_call = &mut open[call];
        of_call.last = i;
        of_call.attempts = of_call.attempts.saturating_add(1);
        let later = span.attempt_ordinal.is_some_and(|ordinal| ordinal > 1);
        let kind = match before {
            None if later => AttemptKind::Retry,
            None => AttemptKind::Initial,
            Some(before) if trace.start(i) < trace.end(before) => AttemptKind::Hedge,
            Some(before) if was_redirected(trace.span(before)) => AttemptKind::Resend,
            Some(_) => AttemptKind::Retry,
        };
        let request = trace.request(i);
        let deadline = trace.link(i).and_then(|parent| self.deadlines.effective[parent]);
        let remaining = deadline.map(|(deadline, _)| deadline - trace.start(i));
        self.found.attempts.push(Attempt {
            span: i,
            kind,
            ordinal: span.attempt_ordinal.unwrap_or(of_call.attempts),
            backoff: before.map(|before| (trace.start(i) - trace.end(before)).at_least_zero()),
            remaining,
            allowance,
            allowance_key,
            is_measured: allowance_key == Some(self.context.marks.measured),
            funding: funding(remaining, allowance, request.reserve()),
            call,
        });
        let end_key = |i: usize| (trace.end(i), trace.start(i), trace.span(i).span_id);
        if let Some(before) = before {
            self.redirected.remove(&end_key(before));
        }
        if was_redirected(span) {
            self.redirected.insert(end_key(i), call);
        }
        call
    }
}

/// A redirect or an authorization challenge: what follows is sent again, not retried.
fn was_redirected(span: &Span) -> bool {
    matches!(span.http_status, Some(301 | 302 | 303 | 307 | 308 | 401 | 407))
}

fn failed_retryably(outcome: Outcome, span: &Span) -> bool {
    match outcome {
        Outcome::Ok => false,
        Outcome::Error => !span.http_status.is_some_and(|status| (400..500).contains(&status)),
        Outcome::Rejected | Outcome::Cancelled | Outcome::DeadlineExceeded => true,
    }
}

fn funding(remaining: Option<Nanos>, allowance: Option<Nanos>, reserve: Nanos) -> Funding {
    match (remaining, allowance) {
        (Some(remaining), _) if remaining <= Nanos::ZERO => Funding::Expired,
        (None, _) | (_, None) => Funding::Unknown,
        (Some(remaining), Some(allowance)) => {
            if budget::available(remaining, reserve) >= allowance {
                Funding::Funded
            } else {
                Funding::Unfundable
            }
        }
    }
}
