//! A request: its class, contract, origin and deadline (SEMANTICS §5, §10, §13).

use super::Policy;
use super::clock::Clock;
use super::moment::Moment;
use super::trace::Trace;
use super::tree::Tree;
use crate::budget;
use crate::contract::{Contract, Glob};
use crate::forest::Parent;
use crate::span::{Interner, Kind, Outcome, Span, Sym};
use crate::tables::{DeadlineSource, TerminalOutcome};
use crate::units::{Nanos, UnixNanos};

/// Work may go on so long after its caller left, unless a contract says otherwise.
const RESIDUAL_BOUND: Nanos = Nanos::from_millis(5);

/// The least bound that a contract may set.
const RESIDUAL_BOUND_MIN: Nanos = Nanos::from_millis(1);

/// What one root span asked for.
#[derive(Debug)]
pub(super) struct Request<'a> {
    /// Its root.
    pub root: usize,
    /// The contract that matched.
    pub contract: Option<&'a Contract>,
    /// When its time began to run.
    pub origin: UnixNanos,
    /// The span whose clock tells that.
    pub origin_told_by: usize,
    /// D, and whose clock tells it.
    pub deadline: Option<Moment>,
    /// Where D comes from.
    pub deadline_source: DeadlineSource,
    /// How many spans it holds.
    pub spans: usize,
    /// The end of its last span.
    pub last_end: UnixNanos,
    /// The first end of a span that left.
    pub first_left: Option<UnixNanos>,
    /// The span that admitted it: the root, or the first SERVER or CONSUMER below a sending root.
    pub admitting: Option<usize>,
    /// Where it is no root's request but a call into a service: which.
    pub entered: Option<Entered>,
    has_side_effect: bool,
    has_doubt: bool,
}

/// A call into a service, told as a request of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entered {
    /// The service.
    pub service: Sym,
    /// What was asked for.
    pub operation: Sym,
    /// Who called.
    pub caller: Option<Sym>,
}

impl<'a> Request<'a> {
    /// The request of `root`, before its spans are taken in.
    pub(super) fn open(
        trace: &Trace<'a>,
        root: usize,
        strings: &Interner,
        policy: &'a Policy,
    ) -> Self {
        let span = trace.span(root);
        let contract = policy.contracts.iter().find(|contract| matches(contract, span, strings));
        let (origin, told_by) = origin(trace, root);
        let contracted = contract.and_then(|contract| contract.deadline);
        let contracted = contracted.map(|length| (origin + length, told_by));
        let declared = trace.grant(root).map(|(grant, anchor)| (anchor + grant.value, root));
        let is_calibrated = contract.is_some_and(|contract| contract.calibrated);
        let (deadline, deadline_source) = match (contracted, declared) {
            (Some(_), None) if is_calibrated => (contracted, DeadlineSource::Inferred),
            (Some(_), _) if !is_calibrated => (contracted, DeadlineSource::Contract),
            (_, Some(_)) => (declared, DeadlineSource::Declared),
            (_, None) => (None, DeadlineSource::None),
        };
        Self {
            root,
            contract,
            origin,
            origin_told_by: told_by,
            deadline,
            deadline_source,
            spans: 0,
            last_end: trace.end(root),
            first_left: None,
            admitting: (!span.kind.sends()).then_some(root),
            entered: None,
            has_side_effect: false,
            has_doubt: false,
        }
    }

    /// A call within it as a request of its own, by the same contract, before its spans are taken
    /// in: what `root` was asked for, whose caller had time until `deadline`.
    pub(super) fn enter(
        &self,
        trace: &Trace<'a>,
        root: usize,
        deadline: Option<Moment>,
        entered: Entered,
    ) -> Self {
        let (origin, origin_told_by) = if root == self.root {
            (self.origin, self.origin_told_by)
        } else {
            (trace.arrival(root), root)
        };
        let deadline_source = match deadline {
            None => DeadlineSource::None,
            Some(_) if deadline == self.deadline => self.deadline_source,
            Some(_) => DeadlineSource::Declared,
        };
        Self {
            root,
            contract: self.contract,
            origin,
            origin_told_by,
            deadline,
            deadline_source,
            spans: 0,
            last_end: trace.end(root),
            first_left: None,
            admitting: (!trace.span(root).kind.sends()).then_some(root),
            entered: Some(entered),
            // The reserve is that of the whole.
            has_side_effect: self.has_side_effect,
            has_doubt: false,
        }
    }

    /// Takes in span `i` of the request; spans come by aligned (start, id). `may_admit` tells a
    /// server that hangs below the root by real parents.
    pub(super) fn take(&mut self, tree: &Tree<'_>, clock: &Clock, i: usize, may_admit: bool) {
        let (span, end, outcome) = (tree.forest.spans[i], clock.end[i], clock.outcome[i]);
        self.spans += 1;
        self.last_end = self.last_end.max(end);
        if outcome.left() {
            self.first_left = Some(self.first_left.map_or(end, |first| first.min(end)));
        }
        if self.admitting.is_none() && may_admit {
            self.admitting = Some(i);
        }
        self.has_side_effect |= span.flags.side_effect;
        self.has_doubt |= span.flags.side_effect && outcome.left();
    }

    /// D.
    pub(super) fn deadline_at(&self) -> Option<UnixNanos> {
        self.deadline.map(|(deadline, _)| deadline)
    }

    /// D − origin.
    pub(super) fn budget_at_origin(&self) -> Option<Nanos> {
        budget::remaining(self.deadline_at(), self.origin)
    }

    /// Time kept back for the return, and for reconciliation where there is a side effect.
    pub(super) fn reserve(&self) -> Nanos {
        self.contract.map_or(Nanos::ZERO, |contract| {
            let reconciliation = contract.reconciliation_reserve;
            let reconciliation = if self.has_side_effect { reconciliation } else { Nanos::ZERO };
            contract.return_reserve + reconciliation
        })
    }

    /// How long work may go on after its caller left.
    pub(super) fn residual_bound(&self) -> Nanos {
        let bound = self.contract.and_then(|contract| contract.residual_bound);
        bound.map_or(RESIDUAL_BOUND, |bound| bound.max(RESIDUAL_BOUND_MIN))
    }

    /// What one attempt by `service` needs, where the contract says so.
    pub(super) fn allowance(&self, service: Sym, strings: &Interner) -> Option<Nanos> {
        let retry = self.contract?.retry.as_ref()?;
        let owns = retry.owner.as_ref().is_none_or(|owner| owner == strings.get(service));
        retry.attempt_allowance.filter(|_| owns)
    }

    /// Whether `service` is meant to go on after its caller left.
    pub(super) fn is_detached(&self, service: Sym, strings: &Interner) -> bool {
        self.any_glob(|contract| &contract.detached, service, strings)
    }

    /// Whether an operation rightly outlasts any budget.
    pub(super) fn is_long_lived(&self, operation: Sym, strings: &Interner) -> bool {
        self.any_glob(|contract| &contract.long_lived, operation, strings)
    }

    fn any_glob(
        &self,
        globs: impl Fn(&Contract) -> &Vec<Glob>,
        text: Sym,
        strings: &Interner,
    ) -> bool {
        self.contract.is_some_and(|contract| {
            globs(contract).iter().any(|glob| glob.matches(strings.get(text)))
        })
    }

    /// How it ended, by how its root did.
    pub(super) fn terminal_outcome(&self, root: Outcome) -> TerminalOutcome {
        match root {
            outcome if outcome.left() && self.has_doubt => TerminalOutcome::Indeterminate,
            Outcome::Ok => TerminalOutcome::Completed,
            Outcome::Error => TerminalOutcome::Failed,
            Outcome::Rejected => TerminalOutcome::Rejected,
            Outcome::Cancelled => TerminalOutcome::Cancelled,
            Outcome::DeadlineExceeded => TerminalOutcome::DeadlineExceeded,
        }
    }
}

fn matches(contract: &Contract, root: &Span, strings: &Interner) -> bool {
    let fits =
        |glob: &Option<Glob>, text: &str| glob.as_ref().is_none_or(|glob| glob.matches(text));
    // The class of a span that is named by its method alone tells the route: a glob may too.
    let mut names = [Some(root.operation), root.route_operation].into_iter().flatten();
    fits(&contract.matches.service, strings.get(root.service))
        && names.any(|name| fits(&contract.matches.operation, strings.get(name)))
}

/// When the time of a request began to run, and whose clock tells it: when its root arrived; for a
/// message when it was sent.
fn origin(trace: &Trace<'_>, root: usize) -> Moment {
    if trace.span(root).kind == Kind::Consumer
        && let Parent::Of(producer) = trace.tree.forest.parents[root]
        && trace.span(producer).kind == Kind::Producer
    {
        let sent = (trace.start(producer), producer);
        return if trace.start(root) < sent.0 { (trace.start(root), root) } else { sent };
    }
    (trace.arrival(root), root)
}
