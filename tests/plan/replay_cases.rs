//! Replays worked out by hand. Times in ms from the request's origin.

use dwindle::clocks::Offsets;
use dwindle::contract::Contract;
use dwindle::plan::policy::Policy;
use dwindle::plan::replay::{Amount, Range, Reason, Replay, Replayed, Truth};
use dwindle::reconstruct::{self, courses};
use dwindle::span::Outcome::{self, DeadlineExceeded, Error, Ok as Well};
use dwindle::span::{Kind, Spans};
use dwindle::units::Nanos;

use super::made::{Made, spans};

/// A span: its id, its parent (0: none), service, kind, start, end and outcome.
type Drawn<'a> = (u64, u64, &'a str, Kind, i64, i64, Outcome);

const ROOT: (u64, u64, &str, Kind) = (1, 0, "gateway", Kind::Server);

fn root<'a>(end: i64, outcome: Outcome) -> Drawn<'a> {
    (ROOT.0, ROOT.1, ROOT.2, ROOT.3, 0, end, outcome)
}

/// A call of the root: the service that it calls names it.
const fn call(id: u64, [start, end]: [i64; 2], outcome: Outcome) -> Drawn<'static> {
    (id, 1, "gateway", Kind::Client, start, end, outcome)
}

const fn server(id: u64, of: u64, [start, end]: [i64; 2]) -> Drawn<'static> {
    (id, of, "payment", Kind::Server, start, end, Well)
}

/// One request run again.
fn replay(drawn: &[Drawn<'_>], deadline: Option<i64>, policy: &str) -> Replayed {
    let made = drawn.iter().map(|&(id, parent, service, kind, start, end, outcome)| Made {
        id,
        parent,
        service,
        // Attempts of one call have one name; others differ.
        name: if id < 10 { "pay" } else { "ask" },
        kind,
        start: start * MS,
        end: end * MS,
        outcome,
    });
    run(&spans(made), deadline, policy)
}

const MS: i64 = 1_000_000;

fn run(spans: &Spans, deadline: Option<i64>, policy: &str) -> Replayed {
    let contract = Contract { deadline: deadline.map(Nanos::from_millis), ..Contract::default() };
    let rules = reconstruct::Policy { contracts: vec![contract], ..Default::default() };
    let policy = Policy::parse("policy", policy).unwrap();
    let mut told = Vec::new();
    courses(spans.clone(), &rules, &Offsets::default(), |course, strings| {
        told.push(Replay::new(&policy).run(course, strings));
    });
    assert_eq!(told.len(), 1, "one request");
    told.remove(0)
}

fn ms(lo: i64, hi: i64) -> Range {
    Range { lo: Nanos::from_millis(lo), hi: Some(Nanos::from_millis(hi)) }
}

const fn at_least(lo: i64) -> Range {
    Range { lo: Nanos::from_millis(lo), hi: None }
}

const SURELY: Truth = Truth { must: true, may: true };
const MAYBE: Truth = Truth { must: false, may: true };
const NOT: Truth = Truth { must: false, may: false };

fn attempts(told: &Replayed) -> [i64; 2] {
    [told.replayed.attempts.lo, told.replayed.attempts.seen]
}

/// Work of which all was seen.
fn work(lo: i64, seen: i64) -> Amount {
    Amount { lo: lo * MS, seen: seen * MS, is_open: false }
}

/// The call was cut at 200 ms and takes from 200 to 400 now, so that it ends from 250 to 450. It may
/// be answered now, and then nobody saw what the gateway would have done: at once, or however long.
#[test]
fn a_longer_timeout_leaves_open_what_was_cut_short() {
    let drawn = [root(260, Error), call(2, [50, 250], DeadlineExceeded)];
    let told = replay(&drawn, None, "[[call]]\ntimeout = \"400ms\"");
    assert_eq!(told.replayed.latency, at_least(250));
    assert_eq!(told.replayed.completed, MAYBE);
    assert_eq!(attempts(&told), [1, 1]);
    let reasons: Vec<Reason> = told.reasons.iter().collect();
    assert_eq!(reasons, [Reason::Censored, Reason::UnseenReaction]);
    // A gateway that answered without it goes on after it for 10 ms, or sooner.
    let drawn = [root(260, Well), call(2, [50, 250], DeadlineExceeded)];
    let told = replay(&drawn, None, "[[call]]\ntimeout = \"400ms\"");
    assert_eq!(told.replayed.latency, ms(250, 460));
    assert_eq!(told.replayed.completed, SURELY);
}

/// The server went on to 300 by itself. The answer is back from then to 310, since the way in took 10.
/// The 50 ms after 250 are no residual work any more.
#[test]
fn what_the_server_went_on_to_do_is_known() {
    let cut = call(2, [50, 250], DeadlineExceeded);
    let drawn = [root(260, Well), cut, server(3, 2, [60, 300])];
    let told = replay(&drawn, None, "[[call]]\ntimeout = \"400ms\"");
    assert_eq!(told.measured.residual_work, work(50, 50));
    assert_eq!(told.replayed.latency, ms(300, 320));
    assert_eq!(told.replayed.residual_work, work(0, 0));
    // With 20 ms more the server is left at 270, and works on as it did.
    let told = replay(&drawn, None, "[[call]]\ntimeout = \"220ms\"");
    assert_eq!(told.replayed.latency, ms(280, 280));
    assert_eq!(told.replayed.residual_work, work(30, 30));
    assert!(told.is_exact(), "{told:?}");
}

/// The second try is not made: the call fails at 150. The gateway, which was answered, gives up then, or
/// goes on for the 200 ms that it did.
#[test]
fn an_attempt_that_is_taken_away_fails_its_call() {
    let tries = [call(2, [50, 150], Error), call(3, [200, 300], Well)];
    let drawn = [root(500, Well), tries[0], tries[1]];
    let told = replay(&drawn, None, "[[call]]\nmax_attempts = 1");
    assert_eq!(told.replayed.latency, ms(150, 350));
    assert_eq!(told.replayed.completed, MAYBE);
    assert_eq!(attempts(&told), [1, 1]);
    // Where the second failed too nothing changes but that it is not waited for.
    let drawn = [root(500, Error), tries[0], call(3, [200, 300], Error)];
    let told = replay(&drawn, None, "[[call]]\nmax_attempts = 1");
    assert_eq!(told.replayed.latency, ms(350, 350));
    assert_eq!(told.replayed.completed, NOT);
    assert!(told.is_exact(), "{told:?}");
}

/// 50 ms more before the second try move all that follows by 50.
#[test]
fn a_longer_backoff_moves_what_follows() {
    let drawn = [root(500, Well), call(2, [50, 150], Error), call(3, [200, 300], Well)];
    let told = replay(&drawn, None, "[[call]]\nbackoff = [\"100ms\"]");
    assert_eq!(told.replayed.latency, ms(550, 550));
    assert!(told.is_exact(), "{told:?}");
}

/// At 50 the gateway has 150 of its 200 ms left, so the call is cut at 200. The gateway gives up then, or
/// goes on for 20 ms, which are late. The server stops with its caller, or works on to 295, 95 late.
#[test]
fn a_call_gets_no_more_than_its_caller_has_left() {
    let drawn = [root(320, Well), call(2, [50, 300], Well), server(3, 2, [55, 295])];
    let told = replay(&drawn, Some(200), "propagate = true\nstop_on_cancel = true");
    assert_eq!(told.measured.late_work, Some(work(115, 115)));
    assert_eq!(told.replayed.latency, ms(200, 220));
    assert_eq!(told.replayed.late_work, Some(work(0, 20)));
    assert_eq!(told.replayed.residual_work, work(0, 0));
    assert_eq!((told.replayed.completed, told.replayed.in_time), (MAYBE, Some(MAYBE)));
    let told = replay(&drawn, Some(200), "propagate = true\nstop_on_cancel = false");
    assert_eq!(told.replayed.late_work, Some(work(95, 115)));
    assert_eq!(told.replayed.residual_work, work(95, 95));
    // Nobody saw whether it stops.
    let told = replay(&drawn, Some(200), "propagate = true");
    assert_eq!(told.replayed.late_work, Some(work(0, 115)));
    assert_eq!(told.replayed.residual_work, work(0, 95));
    // 30 ms of the 150 are the reserve's.
    let policy = "propagate = true\nreturn_reserve = \"30ms\"\ndeadline = \"200ms\"";
    assert_eq!(replay(&drawn, None, policy).replayed.latency, ms(170, 190));
}

/// The server worked on from 150 to 400, of which 100 ms were late.
#[test]
fn a_callee_that_stops_does_no_residual_work() {
    let cut = call(2, [50, 150], DeadlineExceeded);
    let drawn = [root(160, Error), cut, server(3, 2, [55, 400])];
    let told = replay(&drawn, Some(300), "stop_on_cancel = true");
    assert_eq!(told.measured.late_work, Some(work(100, 100)));
    assert_eq!(told.measured.residual_work, work(250, 250));
    assert_eq!(told.replayed.late_work, Some(work(0, 0)));
    assert_eq!(told.replayed.residual_work, work(0, 0));
    assert_eq!(told.replayed.latency, ms(160, 160));
    let loads: Vec<_> = told.replayed.loads.values().map(|(_, load)| load.busy).collect();
    assert_eq!(loads, [work(95, 95)]);
    assert!(told.is_exact(), "{told:?}");
}

/// The first call was cut at 100 and is cut at 40: all that follows comes 60 earlier.
#[test]
fn a_shorter_timeout_of_a_call_that_failed_moves_what_follows() {
    let drawn = [root(180, Well), call(2, [10, 110], DeadlineExceeded), call(12, [120, 170], Well)];
    let told = replay(&drawn, None, "[[call]]\ntimeout = \"40ms\"\noperation = \"pay\"");
    assert_eq!(told.replayed.latency, ms(120, 120));
    assert!(told.is_exact(), "{told:?}");
}

/// Two calls at once, to 110 and to 150; the later is cut at 70. The gateway gives up then, or waits
/// for the other and goes on for 10 ms, or for the 50 that it went on after that one.
#[test]
fn of_calls_at_once_each_may_be_waited_for() {
    let drawn = [root(160, Well), call(2, [10, 110], Well), call(12, [10, 150], Well)];
    let told = replay(&drawn, None, "[[call]]\ntimeout = \"60ms\"\noperation = \"ask\"");
    assert_eq!(told.replayed.latency, ms(70, 160));
    // Longer than it took is no limit.
    let told = replay(&drawn, None, "[[call]]\ntimeout = \"140ms\"\noperation = \"ask\"");
    assert_eq!(told.replayed.latency, ms(160, 160));
}

/// At 200 there are 100 ms left for an attempt that may need 150: it does not begin, and nobody waits
/// for it, so that the call has failed at 150.
#[test]
fn an_attempt_begins_only_where_all_of_it_is_left() {
    let drawn = [root(360, Well), call(2, [50, 150], Error), call(3, [200, 350], Well)];
    let policy = "reject_unfundable = true\n[[call]]\ntimeout = \"150ms\"";
    let told = replay(&drawn, Some(300), policy);
    assert_eq!(told.replayed.latency, ms(150, 160));
    assert_eq!(attempts(&told), [1, 1]);
    // With 350 ms it is funded to the nanosecond.
    let told = replay(&drawn, Some(350), policy);
    assert_eq!(told.replayed.latency, ms(360, 360));
    assert_eq!(attempts(&told), [2, 2]);
}

/// Two more tries that nobody measured, of 20 ms backoff and 100 each: the call ends from 150, where
/// none is made, to 390. The gateway may give up at once, or goes on for its 10 ms.
#[test]
fn attempts_that_nobody_made_are_bounds() {
    let drawn = [root(160, Well), call(2, [50, 150], Error)];
    let policy = "[[call]]\ntimeout = \"100ms\"\nmax_attempts = 3\nbackoff = [\"20ms\"]";
    let told = replay(&drawn, Some(1_000), policy);
    assert_eq!(told.replayed.latency, ms(150, 400));
    assert_eq!(attempts(&told), [1, 3]);
    // What is left of 300 ms ends them.
    let told = replay(&drawn, Some(300), &format!("propagate = true\n{policy}"));
    assert_eq!(told.replayed.latency, ms(150, 310));
}
