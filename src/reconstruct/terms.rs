//! What contracts know of calls beyond what their spans declare ([`CallTerms`]).

use rustc_hash::FxHashMap;

use super::Context;
use super::memory::reset;
use super::tree::Tree;
use crate::contract::CallTerms;
use crate::span::{Grant, GrantKind, Interner, Kind, Sym};
use crate::units::Nanos;

/// Names of what says something that no attribute does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    /// A contract.
    pub contract: Sym,
    /// Durations of attempts that succeeded.
    pub measured: Sym,
    /// Durations of attempts that did not.
    inferred: Sym,
    /// The row of the conventions for that.
    rule: Sym,
}

/// What is known of calls of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// How long the caller waits for an attempt.
    pub grant: Option<Grant>,
    /// Where less is left, no longer than that.
    pub propagates: bool,
    /// What one attempt needs.
    pub allowance: Option<Allowance>,
}

/// What one attempt needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Allowance {
    /// How long.
    pub length: Option<Nanos>,
    /// What says so.
    pub key: Option<Sym>,
}

/// What is known of the calls of a trace.
#[derive(Debug, Default)]
pub(super) struct Terms {
    /// By span; empty where nothing is known of any call.
    of_span: Vec<Known>,
    /// By caller, callee and name, since calls come again and again.
    of_call: FxHashMap<(Sym, Option<Sym>, Sym), Known>,
}

impl Marks {
    pub(super) fn of(strings: &mut Interner) -> Self {
        Self {
            contract: strings.intern("contract"),
            measured: strings.intern("measured"),
            inferred: strings.intern("inferred"),
            rule: strings.intern("B12"),
        }
    }
}

impl Terms {
    /// Looks up the calls of a trace, in the place of those of another of the same partition. `servers`
    /// tells those of a span that is an attempt, if it is one.
    pub(super) fn fill<S: Iterator<Item = usize>>(
        &mut self,
        tree: &Tree<'_>,
        context: Context<'_, '_>,
        servers: impl Fn(usize) -> Option<S>,
    ) {
        self.of_span.clear();
        if context.policy.calls.is_empty() {
            return;
        }
        let spans = &tree.forest.spans;
        reset(&mut self.of_span, spans.len(), Known::default());
        let named = |sym: &Sym| !context.strings.get(*sym).is_empty();
        for (i, span) in spans.iter().enumerate() {
            let is_one = span.kind == Kind::Client && !span.flags.is_wait;
            let Some(servers) = servers(i).filter(|_| is_one) else { continue };
            let mut callee = None;
            let mut is_granted = false;
            for server in servers {
                callee = callee.or(Some(spans[server].service).filter(named));
                is_granted |= spans[server].grant.is_some();
            }
            let callee = callee.or(span.peer_service);
            let key = (span.service, callee, span.operation);
            let known = self.of_call.entry(key).or_insert_with(|| look_up(key, context));
            // What a callee says that it was given goes before what is known of others.
            let grant = known.grant.filter(|_| !is_granted);
            self.of_span[i] = Known { grant, ..*known };
        }
    }

    /// What is known of span `i` as an attempt.
    pub(super) fn of(&self, i: usize) -> Known {
        self.of_span.get(i).copied().unwrap_or_default()
    }
}

fn look_up(
    (caller, callee, operation): (Sym, Option<Sym>, Sym),
    context: Context<'_, '_>,
) -> Known {
    let Context { strings, policy, marks, .. } = context;
    let text = |sym| strings.get(sym);
    let matching = policy.calls.matching(text(caller), callee.map(text), text(operation));
    // Of whom nobody knows whom it calls, only what holds for all that it may call is known.
    let only = |of: fn(&CallTerms) -> Option<Nanos>| {
        let mut saying = matching.iter().copied().filter(|terms| of(terms).is_some());
        let first = saying.next()?;
        let is_sure = callee.is_some() || first.callee.is_none() || saying.next().is_none();
        is_sure.then_some(first)
    };
    let timed = only(|terms| terms.timeout);
    let grant = timed.and_then(|terms| {
        let (kind, key, rule) = if terms.calibrated {
            (GrantKind::Inferred, marks.inferred, marks.rule)
        } else {
            (GrantKind::Full, marks.contract, marks.contract)
        };
        Some(Grant { value: terms.timeout?, kind, key, rule, from_start: true })
    });
    // Of attempts that begin with less than most need many succeed: what is measured blames only those
    // that began with less than almost all need.
    let allowance = only(|terms| terms.attempt_allowance).map(|terms| Allowance {
        length: terms.break_even.filter(|_| terms.calibrated).or(terms.attempt_allowance),
        key: Some(if terms.calibrated { marks.measured } else { marks.contract }),
    });
    Known { grant, propagates: timed.is_some_and(|terms| terms.propagates), allowance }
}
