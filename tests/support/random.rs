//! Random traces and policies. Times are mostly small whole milliseconds, so that spans often
//! begin and end together; names are few, so that spans often look alike.

use std::fmt;

use dwindle::contract::{CallTerms, Contract, Glob, Match, RetryPolicy};
use dwindle::reconstruct::Policy;
use dwindle::span::{
    Flags, Grant, GrantKind, Interner, Kind, Outcome, Span, SpanId, Spans, Target, TraceId,
};
use dwindle::units::{Nanos, UnixNanos};
use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;

/// One millisecond.
pub(crate) const MS: i64 = 1_000_000;
/// When every trace starts.
const START: i64 = 1_788_600_000_000_000_000;
/// How many services and hosts there are.
const NAMES: u8 = 4;

/// Which span a span names as its parent.
#[derive(Clone, Copy, Debug)]
enum Parent {
    /// One of those before it, counted backwards.
    Earlier(u8),
    /// That of one of those before it, counted backwards: another try of the same thing. The
    /// root is not tried again: what is beside it is below it.
    Beside(u8),
    /// One of all; this closes cycles.
    Any(u8),
    /// One that is not there.
    Absent,
    /// None.
    Nobody,
}

/// How much a grant is.
#[derive(Clone, Copy, Debug)]
enum Amount {
    /// So many nanoseconds.
    Fixed(i64),
    /// What is left of the nearest grant above, and so many nanoseconds.
    Left(i64),
}

/// A span before it has a place in a trace.
#[derive(Clone, Debug)]
struct Draft {
    parent: Parent,
    /// Its kind; `None` for the one that suits its parent.
    kind: Option<Kind>,
    /// Its service; `None` for its parent's.
    service: Option<u8>,
    /// Its host; `None` for its service's.
    host: Option<u8>,
    /// It starts that long after its parent did, or after the sibling before it ended.
    start: i64,
    after_sibling: bool,
    duration: i64,
    name: u8,
    /// Its name is only a method, and the route is known.
    has_route: bool,
    outcome: Outcome,
    http_status: Option<u16>,
    grant: Option<(Amount, GrantKind, bool)>,
    allowance: Option<i64>,
    ordinal: Option<i32>,
    queued: i64,
    waited: i64,
    target: Option<u8>,
    flags: Flags,
    /// It carries the id of the span before it.
    is_duplicate: bool,
}

/// A span in its place: plain data, so that it can be shuffled, moved and printed.
#[derive(Clone)]
pub(crate) struct Placed {
    trace: u128,
    id: u64,
    parent: Option<u64>,
    draft: Draft,
    kind: Kind,
    service: u8,
    pub(crate) host: u8,
    pub(crate) start: i64,
    duration: i64,
    grant: Option<(i64, GrantKind, bool)>,
}

impl fmt::Debug for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let draft = &self.draft;
        let from = self.start - START;
        write!(f, "\n  {:x}/{:x} <- {:x?}", self.trace, self.id, self.parent)?;
        write!(f, " {from}..{} {:?}", from + self.duration, self.kind)?;
        write!(f, " s{} h{} op{} {}", self.service, self.host, draft.name, draft.has_route)?;
        write!(f, " {} {:?} grant {:?}", draft.outcome.name(), draft.http_status, self.grant)?;
        write!(f, " allowance {:?} ordinal {:?}", draft.allowance, draft.ordinal)?;
        write!(f, " queued {} waited {}", draft.queued, draft.waited)?;
        write!(f, " target {:?} {:?}", draft.target, draft.flags)
    }
}

/// Mostly whole milliseconds below `most`, some with odd nanoseconds.
fn length(most: i64) -> impl Strategy<Value = i64> {
    prop_oneof![
        8 => (0..=most).prop_map(|millis| millis * MS),
        1 => 0..=most * MS,
        1 => Just(0),
    ]
}

/// Nothing, or now and then some milliseconds.
fn rare_length(most: i64) -> impl Strategy<Value = i64> {
    prop_oneof![8 => Just(0), 2 => length(most)]
}

fn kind() -> impl Strategy<Value = Kind> {
    select(vec![Kind::Internal, Kind::Server, Kind::Client, Kind::Producer, Kind::Consumer])
}

fn parent(is_tidy: bool) -> impl Strategy<Value = Parent> {
    let rare = u32::from(!is_tidy);
    prop_oneof![
        20 => (0..3_u8).prop_map(Parent::Earlier),
        20 => any::<u8>().prop_map(Parent::Earlier),
        16 => (0..3_u8).prop_map(Parent::Beside),
        rare => any::<u8>().prop_map(Parent::Any),
        2 * rare => Just(Parent::Absent),
        rare => Just(Parent::Nobody),
    ]
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![3 => Just(Outcome::Ok), 2 => select(Outcome::ALL)]
}

fn grant() -> impl Strategy<Value = Option<(Amount, GrantKind, bool)>> {
    let amount = prop_oneof![
        select(vec![0, 5 * MS, 20 * MS, 50 * MS, 51 * MS, 100 * MS, 500 * MS, 7])
            .prop_map(Amount::Fixed),
        select(vec![0, 0, 0, -MS, MS, 4 * MS, 5 * MS, 6 * MS, -20 * MS, 20 * MS, 1])
            .prop_map(Amount::Left),
    ];
    option::weighted(0.4, (amount, select(GrantKind::ALL), any::<bool>()))
}

fn flags() -> impl Strategy<Value = Flags> {
    let rare = || weighted(0.12);
    (
        rare(),
        rare(),
        rare(),
        any::<bool>(),
        rare(),
        (weighted(0.25), any::<bool>(), weighted(0.02), weighted(0.02)),
    )
        .prop_map(
            |(
                is_wait,
                is_attempt,
                is_wordless,
                has_http_method,
                has_rpc,
                (side_effect, again, odd, moved),
            )| {
                let repeat_safe = !side_effect || again;
                Flags {
                    is_wait,
                    is_attempt,
                    has_rpc,
                    has_http_method,
                    is_wordless,
                    side_effect,
                    repeat_safe,
                    negative_duration: odd,
                    clock_adjusted: moved,
                    ..Flags::default()
                }
            },
        )
}

/// A draft; a tidy one belongs to a trace that is one tree.
fn draft(is_tidy: bool) -> impl Strategy<Value = Draft> {
    let place = (parent(is_tidy), option::weighted(0.3, kind()), option::weighted(0.3, 0..NAMES));
    let host = option::weighted(0.1, 0..NAMES);
    let start = prop_oneof![9 => length(20), 1 => (-10_i64..0).prop_map(|millis| millis * MS)];
    let time = (start, any::<bool>(), prop_oneof![4 => length(40), 1 => length(300)]);
    let status = option::weighted(0.3, select(vec![200, 301, 404, 401, 503]));
    let result = (0..3_u8, outcome(), status, weighted(0.1));
    let attempt = (
        option::weighted(0.2, select(vec![5 * MS, 20 * MS, 50 * MS])),
        option::weighted(0.15, 1..=3_i32),
        option::weighted(0.6, 0..2_u8),
    );
    let queue = (rare_length(30), rare_length(30));
    let rest = (flags(), weighted(if is_tidy { 0.0 } else { 0.02 }));
    (place, host, time, result, grant(), attempt, queue, rest).prop_map(
        |(place, host, time, result, grant, attempt, queue, rest)| Draft {
            parent: place.0,
            kind: place.1,
            service: place.2,
            host,
            start: time.0,
            after_sibling: time.1,
            duration: time.2,
            name: result.0,
            outcome: result.1,
            http_status: result.2,
            has_route: result.3,
            grant,
            allowance: attempt.0,
            ordinal: attempt.1,
            queued: queue.0,
            waited: queue.1,
            target: attempt.2,
            flags: rest.0,
            is_duplicate: rest.1,
        },
    )
}

/// The kind that a child of another mostly has.
fn suitable(parent: Kind) -> Kind {
    match parent {
        Kind::Client => Kind::Server,
        Kind::Producer => Kind::Consumer,
        Kind::Internal | Kind::Server | Kind::Consumer => Kind::Client,
    }
}

/// The spans before one, and when the grants above each end.
#[derive(Default)]
struct Trace {
    placed: Vec<Placed>,
    until: Vec<Option<i64>>,
}

/// Puts drafts in their places, on the true clock.
fn place(trace: u128, drafts: Vec<Draft>) -> Vec<Placed> {
    let count = drafts.len();
    let mut so_far = Trace::default();
    for draft in drafts {
        so_far.place(trace, draft, count);
    }
    so_far.placed
}

/// Ids that are in another order than the spans.
fn id(place: usize) -> u64 {
    u64::try_from(place * 37 % 101 + 1).unwrap_or(0)
}

impl Trace {
    fn place(&mut self, trace: u128, mut draft: Draft, count: usize) {
        let place = self.placed.len();
        let backwards = |pick: u8| (place > 0).then(|| place - 1 - usize::from(pick) % place);
        let twin = match draft.parent {
            Parent::Beside(pick) => backwards(pick).map(|twin| self.placed[twin].clone()),
            _ => None,
        };
        let twin = twin.filter(|twin| twin.parent.is_some());
        let parent = match (draft.parent, &twin) {
            (_, Some(twin)) => twin.parent,
            (Parent::Earlier(pick) | Parent::Beside(pick), None) => backwards(pick).map(id),
            (Parent::Any(pick), None) => Some(id(usize::from(pick) % count)),
            (Parent::Absent, None) => Some(1_000),
            (Parent::Nobody, None) => None,
        };
        let above = self.placed.iter().position(|other| Some(other.id) == parent);
        let base = self.base(&draft, parent, above, twin.as_ref());
        let above_kind = above.map(|above| self.placed[above].kind);
        let mut kind = draft.kind.unwrap_or(above_kind.map_or(Kind::Server, suitable));
        let mut service =
            draft.service.unwrap_or(above.map_or(0, |above| {
                (self.placed[above].service + u8::from(kind.receives())) % NAMES
            }));
        if let Some(twin) = &twin {
            (kind, service) = (twin.kind, twin.service);
            draft.name = twin.draft.name;
            draft.target = twin.draft.target;
            draft.flags.is_attempt = twin.draft.flags.is_attempt;
        }
        if draft.flags.is_attempt {
            kind = Kind::Client;
        }
        let start = base + draft.start;
        let until_above = above.and_then(|above| self.until[above]);
        let grant = draft.grant.and_then(|(amount, kind, from_start)| {
            let value = match amount {
                Amount::Fixed(value) => value,
                Amount::Left(more) => until_above? - start + more,
            };
            Some((value.max(0), kind, from_start))
        });
        self.until.push(grant.map(|(value, ..)| start + value).or(until_above));
        let own_id = if draft.is_duplicate { place.saturating_sub(1) } else { place };
        self.placed.push(Placed {
            trace,
            id: id(own_id),
            parent,
            kind,
            service,
            host: draft.host.unwrap_or(service),
            start,
            duration: draft.duration,
            grant,
            draft,
        });
    }

    /// What a span's start counts from.
    fn base(
        &self,
        draft: &Draft,
        parent: Option<u64>,
        above: Option<usize>,
        twin: Option<&Placed>,
    ) -> i64 {
        let sibling = self.placed.iter().rev().find(|other| other.parent == parent);
        match twin.or(sibling) {
            Some(before) if draft.after_sibling => before.start + before.duration,
            _ => match (twin, above) {
                (Some(twin), _) => twin.start,
                (None, Some(above)) => self.placed[above].start,
                (None, None) => START,
            },
        }
    }
}

/// Moves every span of a host.
pub(crate) fn shift(spans: &mut [Placed], host: u8, amount: i64) {
    for span in spans.iter_mut().filter(|span| span.host == host) {
        span.start += amount;
    }
}

/// A trace whose hosts' clocks differ by what `skew` tells.
fn trace(
    id: u128,
    is_tidy: bool,
    spans: usize,
    skew: impl Strategy<Value = i64>,
) -> impl Strategy<Value = Vec<Placed>> {
    let skews = vec(skew, usize::from(NAMES));
    (vec(draft(is_tidy), 1..spans), skews).prop_map(move |(drafts, skews)| {
        let mut spans = place(id, drafts);
        for (host, skew) in (0..NAMES).zip(skews) {
            shift(&mut spans, host, skew);
        }
        spans
    })
}

/// The spans of a trace or two that have all that a trace may have.
pub(crate) fn any_traces() -> impl Strategy<Value = Vec<Placed>> {
    let skew = || {
        prop_oneof![
            6 => Just(0),
            1 => -3..=3_i64,
            1 => (-30..=30_i64).prop_map(|millis| millis * MS),
            1 => -2_000 * MS..=2_000 * MS,
        ]
    };
    let other = option::weighted(0.2, trace(1 << 64, false, 8, skew()));
    (trace(7, false, 24, skew()), other)
        .prop_map(|(one, other)| [one, other.unwrap_or_default()].concat())
}

/// The spans of a trace that is one tree, on two clocks that are near each other. Only a call leads
/// from one to the other, and no wait.
pub(crate) fn two_clocks() -> impl Strategy<Value = Vec<Placed>> {
    let skew = prop_oneof![3 => Just(0), 1 => -30 * MS..30 * MS];
    trace(7, true, 12, skew).prop_map(|mut spans| {
        for place in 0..spans.len() {
            let parent = spans.iter().find(|span| Some(span.id) == spans[place].parent);
            let crosses = parent.is_none_or(|parent| {
                let waits = parent.draft.flags.is_wait || spans[place].draft.flags.is_wait;
                parent.kind.sends() && spans[place].kind.receives() && !waits
            });
            let host = parent.filter(|_| !crosses).map(|parent| parent.host);
            spans[place].host = host.unwrap_or(spans[place].host % 2);
        }
        spans
    })
}

/// The spans of a trace that is one tree, on clocks that are far from each other.
pub(crate) fn skewed_trace() -> impl Strategy<Value = Vec<Placed>> {
    let skew = prop_oneof![9 => -9_000 * MS..-4_000 * MS, 1 => 4_000 * MS..9_000 * MS];
    trace(7, true, 12, skew)
}

/// A policy with a contract or two, or none.
pub(crate) fn policy() -> impl Strategy<Value = Policy> {
    let tolerance = prop_oneof![3 => Just(5 * MS), 1 => Just(0), 1 => Just(MS)];
    let calls = prop_oneof![1 => Just(Vec::new()), 1 => vec(call_terms(), 1..4)];
    (vec(contract(), 0..3), calls, tolerance).prop_map(|(contracts, calls, tolerance)| Policy {
        contracts,
        calls: calls.into(),
        tolerance: Nanos::from_nanos(tolerance),
        ..Policy::default()
    })
}

fn call_terms() -> impl Strategy<Value = CallTerms> {
    let nanos = |length: i64| Nanos::from_nanos(length);
    let glob = |prefix: &'static str, number: Option<u8>| {
        number.and_then(|number| Glob::new(&format!("{prefix}{number}")).ok())
    };
    let whom = (
        option::weighted(0.3, 0..NAMES),
        option::weighted(0.3, 0..NAMES),
        option::weighted(0.2, 0..3_u8),
    );
    let times = (option::of(length(200)), option::of(length(60)), option::of(length(20)));
    (whom, times, any::<bool>(), any::<bool>()).prop_map(
        move |((caller, callee, operation), times, propagates, calibrated)| CallTerms {
            caller: glob("s", caller),
            callee: glob("s", callee),
            operation: glob("op", operation),
            timeout: times.0.map(nanos),
            propagates,
            attempt_allowance: times.1.map(nanos),
            break_even: times.2.map(nanos),
            calibrated,
            line: 0,
        },
    )
}

fn contract() -> impl Strategy<Value = Contract> {
    let nanos = |length: i64| Nanos::from_nanos(length);
    let glob = |pattern: &str| Glob::new(pattern).ok();
    let service = option::weighted(0.3, 0..NAMES);
    let operation = option::weighted(0.2, 0..3_u8);
    let times = (
        option::of(length(200)),
        rare_length(50),
        rare_length(20),
        option::weighted(0.3, length(20)),
    );
    let outlasting = (option::weighted(0.2, 0..NAMES), option::weighted(0.2, 0..3_u8));
    let prefix = prop_oneof![4 => Just("op"), 1 => Just("GET /")];
    let retry = option::of((option::of(0..NAMES), option::of(length(60))));
    let words = (any::<bool>(), prefix, weighted(0.2));
    (service, operation, times, outlasting, retry, words).prop_map(
        move |(service, operation, times, outlasting, retry, (is_named, prefix, calibrated))| {
            let named = |prefix: &str, number: Option<u8>| {
                number.and_then(|number| glob(&format!("{prefix}{number}")))
            };
            let retry = retry.map(|(owner, allowance)| RetryPolicy {
                owner: owner.map(|owner| format!("s{owner}")),
                attempt_allowance: allowance.map(nanos),
                ..RetryPolicy::default()
            });
            Contract {
                name: "contract".to_owned(),
                request_class: is_named.then(|| "class".to_owned()),
                matches: Match { service: named("s", service), operation: named("op", operation) },
                deadline: times.0.map(nanos),
                return_reserve: nanos(times.1),
                reconciliation_reserve: nanos(times.2),
                residual_bound: times.3.map(nanos),
                detached: named("s", outlasting.0).into_iter().collect(),
                long_lived: named(prefix, outlasting.1).into_iter().collect(),
                retry,
                calibrated,
                ..Contract::default()
            }
        },
    )
}

/// The spans as the crate admits them, in the order given.
pub(crate) fn admitted(placed: &[Placed]) -> Spans {
    let mut spans = Spans::default();
    for span in placed {
        let row = admit(span, &mut spans.strings);
        spans.rows.push(row);
    }
    spans
}

fn admit(placed: &Placed, strings: &mut Interner) -> Span {
    let draft = &placed.draft;
    let is_wordless =
        draft.flags.is_wordless && placed.kind == Kind::Client && draft.outcome == Outcome::Ok;
    let mut name = |prefix: &str, number: u8| strings.intern(&format!("{prefix}{number}"));
    let grant = placed.grant.map(|(value, kind, from_start)| Grant {
        value: Nanos::from_nanos(value),
        kind,
        key: name("key", u8::from(from_start)),
        rule: name("B", u8::from(from_start)),
        from_start,
    });
    Span {
        trace_id: TraceId(placed.trace),
        span_id: SpanId(placed.id),
        parent_span_id: placed.parent.map(SpanId),
        service: name("s", placed.service),
        clock_domain: name("h", placed.host),
        operation: name("op", draft.name),
        route_operation: draft.has_route.then(|| name("GET /", draft.name)),
        kind: placed.kind,
        start: UnixNanos::from_nanos(placed.start),
        end: UnixNanos::from_nanos(placed.start + placed.duration),
        outcome: draft.outcome,
        http_status: draft.http_status,
        grant,
        allowance: draft.allowance.map(Nanos::from_nanos),
        allowance_key: draft.allowance.map(|_| name("allowance", draft.name)),
        attempt_ordinal: draft.ordinal,
        ordinal_key: draft.ordinal.map(|_| name("ordinal", draft.name)),
        queued_before: Nanos::from_nanos(draft.queued),
        queued_key: (draft.queued > 0).then(|| name("queue", draft.name)),
        waited_inside: Nanos::from_nanos(draft.waited),
        target: draft.target.map(|target| Target::new(u64::from(target) + 1)),
        peer_service: draft.target.map(|target| name("peer", target)),
        split: None,
        stack: None,
        tries_inside: None,
        links: 0,
        weight: None,
        flags: Flags { is_wordless, ..draft.flags },
    }
}
