//! Bounds hold the truth: made-up services are run by one policy, traced, replayed by another, and run
//! by that one too.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use dwindle::clocks::Offsets;
use dwindle::contract::Contract;
use dwindle::plan::policy::Policy;
use dwindle::plan::replay::{Amount, Load, Range, Replay, Replayed, Truth};
use dwindle::reconstruct::{self, courses};
use dwindle::span::{Kind, Outcome, Spans};
use dwindle::units::Nanos;
use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, Strategy, any, prop_assert, prop_assume, prop_oneof};
use proptest::test_runner::Config as ProptestConfig;
use proptest::{option, proptest};

use super::made::{Made, spans};

const MS: i64 = 1_000_000;

/// What a service does when it is asked.
#[derive(Clone, Debug)]
struct Node {
    steps: Vec<Step>,
    fails: bool,
}

#[derive(Clone, Debug)]
enum Step {
    Local(i64),
    Call(Call),
    /// Two calls at once; both are waited for.
    Both(Call, Call),
}

/// A call: what each try of it meets, up to three.
#[derive(Clone, Debug)]
struct Call {
    callee: usize,
    /// Its caller goes on without it.
    is_optional: bool,
    tries: Vec<Try>,
}

#[derive(Clone, Debug)]
struct Try {
    way_in: i64,
    /// No longer than the way in.
    way_back: i64,
    node: Node,
}

const CALLEES: usize = 3;

/// What became of a call; the worst comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    Well,
    Failed,
    /// It was not made, and its caller says that there was no time.
    Refused,
}

/// How all services call.
#[derive(Clone, Debug)]
struct System {
    deadline: Option<i64>,
    reserve: i64,
    propagate: bool,
    stop: bool,
    reject: bool,
    timeouts: [Option<i64>; CALLEES],
    max_attempts: usize,
    backoff: i64,
}

/// Which of its rules a policy states; the others stay as they were.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is stated or not")]
struct Stated {
    deadline: bool,
    propagate: bool,
    stop: bool,
    reject: bool,
    timeouts: [bool; CALLEES],
}

struct Run<'s> {
    system: &'s System,
    spans: Vec<Row>,
    ids: u64,
    /// Some call was not made, and its caller did not fail for that alone: no span tells of it.
    is_silent: bool,
}

impl Run<'_> {
    fn id(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }

    /// A service that was asked at an instant and has time until another. Gives its end, and whether it
    /// was well.
    fn serve(
        &mut self,
        node: &Node,
        (id, parent, service): (u64, u64, String),
        start: i64,
        until: Option<i64>,
        place: &str,
    ) -> (i64, bool) {
        let mut at = start;
        let mut outcome = Outcome::Ok;
        let has_failed = Cell::new(false);
        for (number, step) in node.steps.iter().enumerate() {
            let call = |run: &mut Self, call: &Call, arm: &str| {
                let caller = (id, service.as_str());
                let place = format!("{place}{number}{arm}");
                let (end, answer) = run.call(call, caller, at, until, &place);
                has_failed.set(has_failed.get() || answer == Answer::Failed);
                (end, if call.is_optional { Answer::Well } else { answer })
            };
            let (end, answer) = match step {
                Step::Local(length) => (at + length, Answer::Well),
                Step::Call(one) => call(self, one, "a"),
                Step::Both(one, other) => {
                    let (one, other) = (call(self, one, "a"), call(self, other, "b"));
                    self.is_silent |= (one.1 == Answer::Refused) != (other.1 == Answer::Refused);
                    (one.0.max(other.0), one.1.max(other.1))
                }
            };
            at = end;
            self.is_silent |= answer == Answer::Refused && has_failed.get();
            outcome = match answer {
                Answer::Well => Outcome::Ok,
                Answer::Failed => Outcome::Error,
                Answer::Refused => Outcome::DeadlineExceeded,
            };
            if answer != Answer::Well {
                break;
            }
        }
        if outcome == Outcome::Ok && node.fails {
            outcome = Outcome::Error;
        }
        let is_well = outcome == Outcome::Ok;
        let name = format!("serve{place}");
        self.spans.push((id, parent, service, name, Kind::Server, [start, at], outcome));
        (at, is_well)
    }

    fn call(
        &mut self,
        call: &Call,
        (parent, service): (u64, &str),
        start: i64,
        until: Option<i64>,
        place: &str,
    ) -> (i64, Answer) {
        let system = self.system;
        let timeout = system.timeouts[call.callee];
        let mut ended = start;
        for (number, attempt) in call.tries.iter().take(system.max_attempts).enumerate() {
            let start = if number == 0 { ended } else { ended + system.backoff };
            let left = until.map_or(i64::MAX, |until| until - system.reserve - start);
            let needed = if system.reject { timeout.unwrap_or(1) } else { 1 };
            if (system.reject || system.propagate) && left < needed {
                self.is_silent |= call.is_optional && number == 0;
                return (ended, if number == 0 { Answer::Refused } else { Answer::Failed });
            }
            let limit = timeout.unwrap_or(i64::MAX);
            let limit = if system.propagate { limit.min(left) } else { limit };
            let own = timeout.map(|timeout| start + timeout);
            // What was passed on is less the reserve: the callee knows no more.
            let given = until.map(|it| if system.propagate { it - system.reserve } else { it });
            let below = given.into_iter().chain(own).min();
            let (id, server) = (self.id(), self.id());
            let before = self.spans.len();
            let callee = (server, id, format!("s{}", call.callee));
            let received = start + attempt.way_in;
            let place_of_try = format!("{place}{number}");
            let (served, is_ok) = self.serve(&attempt.node, callee, received, below, &place_of_try);
            let natural = served + attempt.way_back - start;
            let (end, outcome) = if natural <= limit {
                (start + natural, if is_ok { Outcome::Ok } else { Outcome::Error })
            } else {
                (start + limit, Outcome::DeadlineExceeded)
            };
            if outcome == Outcome::DeadlineExceeded && system.stop {
                let below = self.spans.split_off(before);
                self.spans.extend(below.into_iter().filter_map(|span| stopped(span, end)));
            }
            let name = format!("s{}/{place}", call.callee);
            self.spans.push((
                id,
                parent,
                service.to_owned(),
                name,
                Kind::Client,
                [start, end],
                outcome,
            ));
            ended = end;
            if outcome == Outcome::Ok {
                return (end, Answer::Well);
            }
        }
        (ended, Answer::Failed)
    }
}

type Row = (u64, u64, String, String, Kind, [i64; 2], Outcome);

fn stopped(mut span: Row, at: i64) -> Option<Row> {
    if span.5[1] > at {
        span.5[1] = at;
        span.6 = Outcome::Cancelled;
    }
    (span.5[0] < at).then_some(span)
}

/// What is traced.
struct Traced {
    spans: Spans,
    /// It tells of each call that was not made.
    tells_all: bool,
    /// Each call has its server.
    reaches_all: bool,
}

fn traced(node: &Node, system: &System) -> Traced {
    let mut run = Run { system, spans: Vec::new(), ids: 1, is_silent: false };
    run.serve(node, (1, 0, "gateway".to_owned()), 0, system.deadline, "");
    let mut clients = run.spans.iter().filter(|span| span.4 == Kind::Client);
    let reaches_all = clients.all(|client| run.spans.iter().any(|span| span.1 == client.0));
    let spans = spans(run.spans.iter().map(|span| {
        let (id, parent, service, name, kind, [start, end], outcome) = span;
        let (start, end, outcome) = (*start, *end, *outcome);
        Made { id: *id, parent: *parent, service, name, kind: *kind, start, end, outcome }
    }));
    Traced { spans, tells_all: !run.is_silent, reaches_all }
}

fn policy_of(system: &System, stated: &Stated) -> String {
    let mut text = String::new();
    let mut say = |is_stated: bool, key: &str, value: String| {
        if is_stated {
            writeln!(text, "{key} = {value}").unwrap();
        }
    };
    if let Some(deadline) = system.deadline {
        say(stated.deadline, "deadline", format!("\"{deadline}ns\""));
    }
    say(stated.deadline, "return_reserve", format!("\"{}ns\"", system.reserve));
    say(stated.propagate, "propagate", system.propagate.to_string());
    say(stated.stop, "stop_on_cancel", system.stop.to_string());
    say(stated.reject, "reject_unfundable", system.reject.to_string());
    for callee in 0..CALLEES {
        say(true, "[[call]]\n# one", String::new());
        say(true, "operation", format!("\"s{callee}/*\""));
        if let Some(timeout) = system.timeouts[callee] {
            say(stated.timeouts[callee], "timeout", format!("\"{timeout}ns\""));
        }
        say(true, "max_attempts", system.max_attempts.to_string());
        say(true, "backoff", format!("[\"{}ns\"]", system.backoff));
    }
    text
}

fn replay(spans: Spans, deadline: Option<i64>, policy: &str) -> (Replayed, BTreeMap<String, Load>) {
    let contract = Contract { deadline: deadline.map(Nanos::from_nanos), ..Contract::default() };
    let rules = reconstruct::Policy { contracts: vec![contract], ..Default::default() };
    let policy = Policy::parse("policy", policy).unwrap();
    let mut told = None;
    courses(spans, &rules, &Offsets::default(), |course, strings| {
        let replayed = Replay::new(&policy).run(course, strings);
        let loads = replayed.replayed.loads.values();
        let loads = loads.map(|(name, load)| (strings.get(*name).to_owned(), *load)).collect();
        told = Some((replayed, loads));
    });
    told.unwrap()
}

fn has(bounds: Range, truth: Range) -> bool {
    bounds.lo <= truth.lo && bounds.hi.is_none_or(|hi| truth.lo <= hi)
}

fn holds(bounds: Amount, truth: Amount) -> bool {
    bounds.lo <= truth.lo && (bounds.is_open || truth.lo <= bounds.seen)
}

fn agrees(bounds: Truth, truth: Truth) -> bool {
    (!bounds.must || truth.must) && (!truth.must || bounds.may)
}

fn length(most: i64) -> impl Strategy<Value = i64> {
    (0..=most).prop_map(|millis| millis * MS)
}

fn node(depth: u32) -> BoxedStrategy<Node> {
    let fails = proptest::bool::weighted(0.15);
    let step = if depth == 0 {
        length(20).prop_map(Step::Local).boxed()
    } else {
        prop_oneof![
            length(20).prop_map(Step::Local),
            call(depth).prop_map(Step::Call),
            call(depth).prop_map(Step::Call),
            (call(depth), call(depth)).prop_map(|(one, other)| Step::Both(one, other)),
        ]
        .boxed()
    };
    (vec(step, 1..4), fails).prop_map(|(steps, fails)| Node { steps, fails }).boxed()
}

fn call(depth: u32) -> impl Strategy<Value = Call> {
    let attempt = (0..4_i64, 0..4_i64, node(depth - 1)).prop_map(|(one, other, node)| Try {
        way_in: one.max(other) * MS,
        way_back: one.min(other) * MS,
        node,
    });
    (0..CALLEES, proptest::bool::weighted(0.3), vec(attempt, 3))
        .prop_map(|(callee, is_optional, tries)| Call { callee, is_optional, tries })
}

fn system() -> impl Strategy<Value = System> {
    let timeout = || option::weighted(0.6, (1..40_i64).prop_map(|millis| millis * MS));
    (
        option::weighted(0.7, (5..120_i64).prop_map(|millis| millis * MS)),
        prop_oneof![2 => Just(0), 1 => Just(3 * MS)],
        (any::<bool>(), any::<bool>(), any::<bool>()),
        [timeout(), timeout(), timeout()],
        1..=3_usize,
        length(10),
    )
        .prop_map(|(deadline, reserve, flags, timeouts, max_attempts, backoff)| System {
            reserve: if deadline.is_some() { reserve } else { 0 },
            deadline,
            propagate: flags.0,
            stop: flags.1,
            reject: flags.2,
            timeouts,
            max_attempts,
            backoff,
        })
}

fn stated() -> impl Strategy<Value = Stated> {
    let many =
        (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<[bool; CALLEES]>());
    many.prop_map(|(deadline, propagate, stop, reject, timeouts)| Stated {
        deadline,
        propagate,
        stop,
        reject,
        timeouts,
    })
}

/// The second system as far as the policy states it, else the first. What spans cannot tell, and
/// docs/planning.md says so, is stated: that limits are passed on and how.
fn settle(was: &System, mut is: System, mut stated: Stated) -> (System, Stated) {
    stated.propagate |= was.propagate || was.reject;
    stated.reject |= was.reject;
    // An allowance that no span declares is known from the policy alone.
    stated.deadline |= was.reserve > 0;
    if was.propagate || was.reject || is.propagate || is.reject {
        stated.timeouts = [true; CALLEES];
    }
    if !stated.deadline || is.deadline.is_none() {
        (is.deadline, is.reserve) = (was.deadline, if stated.deadline { is.reserve } else { 0 });
    }
    is.propagate = if stated.propagate { is.propagate } else { was.propagate };
    is.stop = if stated.stop { is.stop } else { was.stop };
    is.reject = if stated.reject { is.reject } else { was.reject };
    for callee in 0..CALLEES {
        let stays = !stated.timeouts[callee] || is.timeouts[callee].is_none();
        if stays {
            is.timeouts[callee] = was.timeouts[callee];
        }
    }
    (is, stated)
}

proptest! {
    // A fifth is thrown away, since their spans do not tell of all that was not done.
    #![proptest_config(ProptestConfig { max_global_rejects: 1 << 20, ..ProptestConfig::default() })]

    #[test]
    fn bounds_hold_what_the_other_policy_does(
        node in node(2),
        was in system(),
        other in system(),
        stated in stated(),
    ) {
        let (is, stated) = settle(&was, other, stated);
        let policy = policy_of(&is, &stated);
        let (measured, other) = (traced(&node, &was), traced(&node, &is));
        prop_assume!(measured.tells_all);
        // Where no server is traced a callee is as busy as its call is long: another measure.
        let is_like = measured.reaches_all && other.reaches_all;
        let (told, told_loads) = replay(measured.spans, was.deadline, &policy);
        let (truth, loads) = replay(other.spans, is.deadline, "");
        let (bounds, truth) = (&told.replayed, &truth.measured);
        let mut wrong = Vec::new();
        let mut check = |is_so: bool, what: &str| {
            if !is_so {
                wrong.push(what.to_owned());
            }
        };
        check(has(bounds.latency, truth.latency), "latency");
        check(agrees(bounds.completed, truth.completed), "completed");
        if let (Some(bounds), Some(truth)) = (bounds.in_time, truth.in_time) {
            check(agrees(bounds, truth), "in time");
        }
        check(holds(bounds.attempts, truth.attempts), "attempts");
        // A backoff that is cut short before its retry looks like work in traces.
        let waits = is.backoff * truth.attempts.lo;
        let with_waits = |amount: Amount| Amount { seen: amount.seen + waits, ..amount };
        if let (Some(bounds), Some(truth)) = (bounds.late_work, truth.late_work) {
            check(holds(with_waits(bounds), truth), "late work");
        }
        check(holds(with_waits(bounds.residual_work), truth.residual_work), "residual work");
        for (callee, bounds) in &told_loads {
            let truth = loads.get(callee).copied().unwrap_or_default();
            check(holds(bounds.attempts, truth.attempts), "attempts of a callee");
            check(!is_like || holds(bounds.busy, truth.busy), "busy time of a callee");
        }
        prop_assert!(
            wrong.is_empty(),
            "{wrong:?}\n{bounds:?}\n{truth:?}\n{:?}\n{policy}",
            told.reasons
        );
    }
}
