//! A fleet whose every clock and every fault is known: what is found in it is what was planted, and
//! it is certain where the fault is larger than what clocks leave open.

use std::collections::{BTreeMap, BTreeSet};

use dwindle::clocks::{Offsets, Pool};
use dwindle::reconstruct::{Policy, reconstruct};
use dwindle::span::{Flags, Grant, GrantKind, Kind, Outcome, Span, SpanId, Spans, TraceId};
use dwindle::survey::call_bounds;
use dwindle::tables::{Certainty, FindingCode, Tables};
use dwindle::units::{Nanos, UnixNanos};
use proptest::prelude::{prop_assert, proptest};

const MS: i64 = 1_000_000;
const START: i64 = 1_790_000_000_000_000_000;
const DEADLINE: i64 = 1_000 * MS;
const REQUESTS: i64 = 10_000;
/// Every so many requests has a fault.
const FAULTY: i64 = 50;

/// What is wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// Its client leaves, and the server goes on for so long beyond the bound.
    CancelIgnored(i64),
    /// The server counts a second again when so much more was spent than the tolerance.
    Reset(i64),
    /// The server's queue lets it go so long after the deadline.
    StartedExpired(i64),
}

/// A host: how far its clock is ahead, and how long each way to it takes at least.
#[derive(Clone, Copy)]
struct Host {
    name: &'static str,
    ahead: i64,
    away: i64,
}

const EDGE: Host = Host { name: "edge-0", ahead: 7 * MS, away: 0 };
/// The last is far away: its clock is known to no more than a dozen milliseconds.
const API: [Host; 4] = [
    Host { name: "api-0", ahead: -50 * MS, away: MS / 10 },
    Host { name: "api-1", ahead: 50 * MS, away: MS / 10 },
    Host { name: "api-2", ahead: 333_333, away: MS / 5 },
    Host { name: "api-3", ahead: -21 * MS, away: 6 * MS },
];
const STOCK: [Host; 3] = [
    Host { name: "stock-0", ahead: -33 * MS, away: MS / 10 },
    Host { name: "stock-1", ahead: 41 * MS, away: MS / 10 },
    Host { name: "stock-2", ahead: 0, away: MS / 2 },
];

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        i64::try_from((mixed ^ (mixed >> 31)) % u64::try_from(bound).unwrap()).unwrap()
    }
}

/// The fleet, and what was planted in it.
struct Fleet {
    spans: Spans,
    dice: Dice,
    /// By trace: the codes, by how much they hold, and the host of the server.
    planted: BTreeMap<TraceId, (Vec<FindingCode>, i64, &'static str)>,
}

/// When a call was sent, received, answered and done, in true time.
struct Times {
    sent: i64,
    received: i64,
    answered: i64,
    done: i64,
}

impl Fleet {
    fn of_requests(fault_of: impl Fn(i64) -> Fault) -> Self {
        let dice = Dice(20_261_130);
        let mut fleet = Self { spans: Spans::default(), dice, planted: BTreeMap::new() };
        for request in 0..REQUESTS {
            fleet.request(request, fault_of(request));
        }
        fleet
    }

    fn request(&mut self, number: i64, fault: Fault) {
        let trace = TraceId(0x1234_5678_u128 << 64 | u128::try_from(number + 1).unwrap() << 40);
        let (begin, deadline) = (number * 10 * MS, number * 10 * MS + DEADLINE);
        let api = API[usize::try_from(number / 7).unwrap() % API.len()];
        let stock = STOCK[usize::try_from(number / 5).unwrap() % STOCK.len()];
        let (there, back) = (api.away + self.dice.below(MS), api.away + self.dice.below(MS));
        let spent = match fault {
            // A fiftieth is the tolerance.
            Fault::Reset(beyond) => DEADLINE / 50 + beyond - there + 1,
            _ => 1 + self.dice.below(5 * MS),
        };
        let mut call = Times { sent: begin + spent, received: 0, answered: 0, done: 0 };
        call.received = call.sent + there;
        let waited = match fault {
            Fault::StartedExpired(late) => deadline + late - call.received,
            _ => 0,
        };
        let worked_until = if waited > 0 {
            call.received + waited + 2 * MS
        } else {
            let sent = call.received + self.dice.below(5 * MS);
            self.stock(trace, sent, stock, api, deadline)
        };
        call.answered = worked_until + 1 + self.dice.below(10 * MS);
        call.done = call.answered + back;
        if let Fault::CancelIgnored(beyond) = fault {
            call.done = worked_until + MS;
            call.answered = call.done + 5 * MS + 1 + beyond;
        }
        let end = call.done + 1 + self.dice.below(5 * MS);

        self.add(trace, 1, 0, Kind::Server, "edge", EDGE, (begin, end));
        self.grant(DEADLINE, GrantKind::Remaining);
        let client = self.add(trace, 2, 1, Kind::Client, "edge", EDGE, (call.sent, call.done));
        if matches!(fault, Fault::CancelIgnored(_)) {
            client.outcome = Outcome::DeadlineExceeded;
        }
        // Senders round down, but where the exact number is what is looked at.
        match fault {
            Fault::Reset(_) => {}
            Fault::StartedExpired(_) => self.grant(deadline - call.sent, GrantKind::Remaining),
            _ => self.grant((deadline - call.sent) / MS * MS, GrantKind::Remaining),
        }
        let of_server = (call.received, call.answered);
        let server = self.add(trace, 3, 2, Kind::Server, "api", api, of_server);
        server.waited_inside = Nanos::from_nanos(waited);
        let planted = match fault {
            Fault::None => return,
            Fault::CancelIgnored(beyond) => (vec![FindingCode::CancelIgnored], beyond),
            Fault::StartedExpired(late) => {
                (vec![FindingCode::AdmittedUnfundable, FindingCode::StartedExpired], late)
            }
            Fault::Reset(beyond) => {
                self.grant(DEADLINE, GrantKind::Full);
                (vec![FindingCode::TimeoutReset], beyond)
            }
        };
        self.planted.insert(trace, (planted.0, planted.1, api.name));
    }

    /// The call of `api` to a stock, sent at `sent`; gives when it is done.
    fn stock(&mut self, trace: TraceId, sent: i64, stock: Host, api: Host, deadline: i64) -> i64 {
        let received = sent + stock.away + self.dice.below(MS);
        let answered = received + 1 + self.dice.below(20 * MS);
        let done = answered + stock.away + self.dice.below(MS);
        self.add(trace, 4, 3, Kind::Client, "api", api, (sent, done));
        self.grant((deadline - sent) / MS * MS, GrantKind::Remaining);
        self.add(trace, 5, 4, Kind::Server, "stock", stock, (received, answered));
        done
    }

    #[expect(clippy::too_many_arguments, reason = "a span, told in one line")]
    fn add(
        &mut self,
        trace_id: TraceId,
        id: u64,
        parent: u64,
        kind: Kind,
        service: &str,
        host: Host,
        (from, to): (i64, i64),
    ) -> &mut Span {
        let at = |time: i64| UnixNanos::from_nanos(START + time + host.ahead);
        let Spans { strings, rows } = &mut self.spans;
        rows.push(Span {
            trace_id,
            span_id: SpanId(id),
            parent_span_id: (parent > 0).then_some(SpanId(parent)),
            service: strings.intern(service),
            clock_domain: strings.intern(host.name),
            operation: strings.intern("op"),
            route_operation: None,
            kind,
            start: at(from),
            end: at(to),
            outcome: Outcome::Ok,
            http_status: None,
            grant: None,
            allowance: None,
            allowance_key: None,
            attempt_ordinal: None,
            ordinal_key: None,
            queued_before: Nanos::ZERO,
            queued_key: None,
            waited_inside: Nanos::ZERO,
            target: None,
            peer_service: None,
            split: None,
            stack: None,
            tries_inside: None,
            links: 0,
            weight: None,
            flags: Flags { repeat_safe: true, ..Flags::default() },
        });
        rows.last_mut().unwrap()
    }

    /// Gives the last span a grant.
    fn grant(&mut self, value: i64, kind: GrantKind) {
        let Spans { strings, rows } = &mut self.spans;
        let key = strings.intern("deadline.remaining_ms");
        let value = Nanos::from_nanos(value);
        rows.last_mut().unwrap().grant =
            Some(Grant { value, kind, key, rule: key, from_start: true });
    }
}

fn pooled(spans: &mut Spans) -> Offsets {
    spans.sort();
    let mut pool = Pool::default();
    pool.merge(&call_bounds(spans));
    pool.offsets()
}

/// Codes by trace.
fn found(tables: &Tables) -> BTreeSet<(TraceId, FindingCode)> {
    tables.findings.iter().map(|row| (row.trace_id, row.code)).collect()
}

#[test]
fn a_clean_fleet_with_skewed_clocks_has_no_finding_certain_or_possible() {
    let mut spans = Fleet::of_requests(|_| Fault::None).spans;
    let offsets = pooled(&mut spans);
    let tables = reconstruct(spans, &Policy::default(), &offsets);
    assert_eq!(tables.requests.len(), usize::try_from(REQUESTS).unwrap());
    assert_eq!(found(&tables), BTreeSet::new());
}

#[test]
fn every_planted_fault_is_found_and_is_certain_where_it_exceeds_what_clocks_leave_open() {
    let mut fleet = Fleet::of_requests(|number| {
        if number % FAULTY != 0 {
            return Fault::None;
        }
        // All kinds and all sizes meet all hosts.
        let fault = number / FAULTY;
        let beyond = (2 + fault % 19) * MS;
        match fault % 3 {
            0 => Fault::CancelIgnored(beyond),
            1 => Fault::Reset(beyond),
            _ => Fault::StartedExpired(beyond),
        }
    });
    let offsets = pooled(&mut fleet.spans);
    let tables = reconstruct(fleet.spans, &Policy::default(), &offsets);
    let planted = fleet
        .planted
        .iter()
        .flat_map(|(&trace, (codes, ..))| codes.iter().map(move |&code| (trace, code)));
    assert_eq!(found(&tables), planted.collect());

    let ahead: BTreeMap<&str, i64> =
        API.iter().map(|host| (host.name, host.ahead - EDGE.ahead)).collect();
    let mut told = BTreeSet::new();
    for finding in &tables.findings {
        let (_, beyond, host) = &fleet.planted[&finding.trace_id];
        let of_hop = |hop: &&dwindle::tables::HopRow| {
            hop.trace_id == finding.trace_id && hop.hop_id == finding.span_id
        };
        let hop = tables.hops.iter().find(of_hop).unwrap();
        // The most that the server's times may have to be moved back against the truth.
        let open = hop.clock_hi_ns.unwrap().as_nanos() - ahead[host];
        let certainty = if *beyond >= open { Certainty::Certain } else { Certainty::Possible };
        assert_eq!(finding.certainty, certainty, "{finding:?}: {beyond} of {open}");
        told.insert((*host == "api-3", certainty.name()));
    }
    // Both are met on the host that is far away.
    let expected = [(false, "certain"), (true, "certain"), (true, "possible")];
    assert_eq!(told, BTreeSet::from(expected));
}

#[test]
fn the_interval_of_every_hop_holds_the_truth() {
    let mut fleet = Fleet::of_requests(|_| Fault::None);
    let offsets = pooled(&mut fleet.spans);
    let tables = reconstruct(fleet.spans, &Policy::default(), &offsets);
    let hosts = API.iter().chain(&STOCK);
    let ahead: Vec<i64> = hosts.map(|host| host.ahead - EDGE.ahead).collect();
    for hop in &tables.hops {
        let (lo, hi) = (hop.clock_lo_ns.unwrap().as_nanos(), hop.clock_hi_ns.unwrap().as_nanos());
        let holds = |&&ahead: &&i64| lo <= ahead && ahead <= hi;
        let holds_one = hop.depth == 0 || ahead.iter().find(holds).is_some();
        assert!(holds_one, "{lo}..{hi} of {hop:?}");
        // Far hosts are 12 ms away and back, near ones 2 ms at most with what each adds.
        assert!(hi - lo <= 16 * MS, "{lo}..{hi} of {hop:?}");
    }
}

/// A fleet of one call after another from the edge to a host, each `there` away, which works for 10 ms:
/// when it is sent, how far the host's clock is ahead then, and whether the client gives up while the
/// host works.
fn calls(name: &'static str, there: i64, calls: &[(i64, i64, bool)]) -> Spans {
    let mut fleet = Fleet { spans: Spans::default(), dice: Dice(1), planted: BTreeMap::new() };
    for (number, &(sent, ahead, is_left)) in calls.iter().enumerate() {
        let host = Host { name, ahead, away: there };
        let trace = TraceId(u128::try_from(number + 1).unwrap());
        let there = if is_left { 40 * MS } else { there };
        let done = if is_left { sent + there } else { sent + 2 * there + 10 * MS };
        fleet.add(trace, 1, 0, Kind::Server, "edge", EDGE, (sent, done));
        let client = fleet.add(trace, 2, 1, Kind::Client, "edge", EDGE, (sent, done));
        if is_left {
            client.outcome = Outcome::DeadlineExceeded;
        }
        let worked = (sent + there, sent + there + 10 * MS);
        fleet.add(trace, 3, 2, Kind::Server, "api", host, worked);
    }
    fleet.spans
}

/// The interval of the last call's host.
fn last_interval(mut spans: Spans) -> (Option<i64>, Option<i64>) {
    let last = spans.rows.iter().map(|span| span.trace_id).max().unwrap();
    let offsets = pooled(&mut spans);
    let tables = reconstruct(spans, &Policy::default(), &offsets);
    let hop = tables.hops.iter().find(|hop| hop.trace_id == last && hop.depth == 1).unwrap();
    (hop.clock_lo_ns.map(Nanos::as_nanos), hop.clock_hi_ns.map(Nanos::as_nanos))
}

#[test]
fn what_was_known_of_a_clock_before_and_after_tightens_what_lies_between() {
    let second = 1_000 * MS;
    let ahead = EDGE.ahead;
    let known = [(0, ahead, false), (30 * second, ahead, false)];
    let (lo, hi) =
        last_interval(calls("api-0", MS, &[known[0], known[1], (15 * second, ahead, true)]));
    // The way in and out takes a millisecond, an answer's slack another, and drift adds one.
    assert!(
        lo.is_some_and(|lo| lo >= -3 * MS) && hi.is_some_and(|hi| hi <= 3 * MS),
        "{lo:?} {hi:?}"
    );
}

#[test]
fn what_was_known_of_a_clock_before_it_was_set_does_not_hold_afterwards() {
    let second = 1_000 * MS;
    let (ahead, set) = (EDGE.ahead, EDGE.ahead + 30 * MS);
    for later in [11, 60, 600] {
        let (lo, hi) = last_interval(calls(
            "api-0",
            MS,
            &[(0, ahead, false), (second, ahead, false), (later * second, set, true)],
        ));
        let holds = lo.is_none_or(|lo| lo <= 30 * MS) && hi.is_none_or(|hi| 30 * MS <= hi);
        assert!(holds, "{lo:?} {hi:?} after {later} s");
    }
}

#[test]
fn services_without_a_host_are_not_one_clock_for_all_traces() {
    let second = 1_000 * MS;
    // Named like the service: its resource tells no host.
    let (lo, hi) = last_interval(calls(
        "api",
        MS,
        &[(0, EDGE.ahead, false), (second, EDGE.ahead + 30 * MS, true)],
    ));
    assert_eq!((lo, hi), (None, Some(70 * MS)));
}

/// A call that its client gives up at the deadline, on a server whose clock is so far ahead, that
/// works on for `late`; and so many others that end well.
fn timed_out(ahead: i64, transit: i64, late: i64, others: i64) -> Spans {
    let api = Host { name: "api", ahead, away: transit };
    let mut fleet = Fleet { spans: Spans::default(), dice: Dice(1), planted: BTreeMap::new() };
    let until = 300 * MS;
    for number in 0..=others {
        let trace = TraceId(u128::try_from(number + 1).unwrap());
        let is_good = number > 0;
        let done = if is_good { until - 50 * MS } else { until };
        let answered = if is_good { done - transit } else { until + late };
        fleet.add(trace, 1, 0, Kind::Server, "edge", EDGE, (0, until));
        fleet.grant(until, GrantKind::Remaining);
        let client = fleet.add(trace, 2, 1, Kind::Client, "edge", EDGE, (5 * MS, done));
        if !is_good {
            client.outcome = Outcome::DeadlineExceeded;
        }
        fleet.add(trace, 3, 2, Kind::Server, "api", api, (5 * MS + transit, answered));
    }
    fleet.spans
}

proptest! {
    #[test]
    fn late_work_of_a_call_that_timed_out_is_never_lost_to_clock_correction(
        ahead in -2_000 * MS..2_000 * MS,
        transit in 0..20 * MS,
        late in 0..500 * MS,
        others in 0_i64..3,
        is_pooled: bool,
    ) {
        let mut spans = timed_out(ahead, transit, late, others);
        let offsets = if is_pooled { pooled(&mut spans) } else { Offsets::default() };
        let tables = reconstruct(spans, &Policy::default(), &offsets);
        let request = tables.requests.iter().find(|row| row.trace_id == TraceId(1)).unwrap();
        let told = |length: Option<Nanos>| length.unwrap().as_nanos();
        // Nothing tells the way in from the clock.
        prop_assert!(told(request.late_work_ns) >= late - transit);
        prop_assert!(request.residual_work_after_cancel_ns.as_nanos() >= late - transit);
        prop_assert!(told(request.late_work_min_ns) <= late, "{:?}", request);
        prop_assert!(late <= told(request.late_work_max_ns), "{:?}", request);
        prop_assert!(request.late_work_min_ns <= request.late_work_ns);
        prop_assert!(request.late_work_ns <= request.late_work_max_ns);
    }
}
