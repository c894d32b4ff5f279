//! Tables made by hand: a small fleet with planted trouble, of any size, from a seed. Not what
//! reconstruction would give, but consistent where a report can see it.

use dwindle::span::{GrantKind, Interner, Outcome, SpanId, TraceId};
use dwindle::tables::{
    AttemptKind, AttemptRow, BlindSpot, BlindSpots, Category, Certainty, DeadlineSource, Evidence,
    FindingCode, FindingRow, Funding, HopRow, RequestRow, SegmentRow, Tables, TerminalOutcome,
    Verdict,
};
use dwindle::units::{Nanos, UnixNanos};

/// The names of a class's parts.
#[derive(Clone)]
pub struct Shape {
    /// The class.
    pub class: String,
    /// The service at the root.
    pub root: String,
    /// The service that it calls.
    pub callee: String,
    /// What it calls it for.
    pub operation: String,
    /// From the origin, if there is a deadline.
    pub deadline: Option<Nanos>,
}

impl Shape {
    /// A checkout with a deadline of a second.
    pub fn checkout() -> Self {
        Self {
            class: "checkout".to_owned(),
            root: "gateway".to_owned(),
            callee: "payment".to_owned(),
            operation: "payment.Charge".to_owned(),
            deadline: Some(Nanos::from_seconds(1)),
        }
    }

    /// The same without a deadline.
    pub fn without_deadline(self) -> Self {
        Self { deadline: None, ..self }
    }

    /// The same under another class name.
    pub fn named(self, class: &str) -> Self {
        Self { class: class.to_owned(), ..self }
    }
}

/// A source of numbers that is the same everywhere (`SplitMix64`).
struct Random(u64);

impl Random {
    /// A number in 0..below.
    fn below(&mut self, below: u64) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        i64::try_from((mixed ^ (mixed >> 31)) % below).expect("small")
    }

    /// A length up to so many milliseconds, small ones more often.
    fn up_to_millis(&mut self, millis: u64) -> Nanos {
        let most = self.below(millis * 1_000) + 1;
        Nanos::from_nanos(1_000 * self.below(most.unsigned_abs()))
    }
}

/// A partition of `requests` requests of one shape.
pub fn partition(shape: &Shape, requests: u64, seed: u64) -> Tables {
    let mut tables = Tables::default();
    let mut random = Random(seed);
    for index in 0..requests {
        let trace = TraceId((u128::from(seed) << 64) | u128::from(index + 1));
        Maker { tables: &mut tables, shape, trace, index }.request(&mut random);
    }
    tables
}

struct Maker<'a> {
    tables: &'a mut Tables,
    shape: &'a Shape,
    trace: TraceId,
    index: u64,
}

const ROOT: SpanId = SpanId(1);
const FIRST: SpanId = SpanId(2);
const SECOND: SpanId = SpanId(3);
const START: i64 = 1_700_000_000_000_000_000;

impl Maker<'_> {
    fn request(&mut self, random: &mut Random) {
        let queue = random.up_to_millis(60);
        let local = random.up_to_millis(40) + Nanos::from_millis(5);
        let tried = random.up_to_millis(700);
        let backoff = Nanos::from_millis(if self.index.is_multiple_of(4) { 100 } else { 0 });
        let again = if backoff > Nanos::ZERO { random.up_to_millis(900) } else { Nanos::ZERO };
        let elapsed = queue + local + tried + backoff + again;
        let late = self.shape.deadline.map(|deadline| (elapsed - deadline).at_least_zero());
        let send = queue + local;
        self.add_request(elapsed, queue, local, late, backoff > Nanos::ZERO);
        self.add_hop(ROOT, None, Nanos::ZERO, elapsed, queue);
        self.add_hop(FIRST, Some(false), send, tried, Nanos::ZERO);
        self.add_attempt(FIRST, send, tried, None);
        if backoff > Nanos::ZERO {
            let start = send + tried + backoff;
            self.add_hop(SECOND, Some(true), start, again, Nanos::ZERO);
            self.add_attempt(SECOND, start, again, Some(backoff));
        }
        let (root, callee) = (self.shape.root.clone(), self.shape.callee.clone());
        self.add_segment(&root, Category::Queue, queue);
        self.add_segment(&root, Category::Backoff, backoff);
        self.add_segment(&root, Category::Local, local);
        self.add_segment(&callee, Category::Local, tried + again);
    }

    fn strings(&mut self) -> &mut Interner {
        &mut self.tables.strings
    }

    fn left(&self, elapsed: Nanos) -> Option<Nanos> {
        self.shape.deadline.map(|deadline| deadline - elapsed)
    }

    fn add_request(
        &mut self,
        elapsed: Nanos,
        queue: Nanos,
        local: Nanos,
        late: Option<Nanos>,
        retried: bool,
    ) {
        let in_time = late.map(|late| late == Nanos::ZERO);
        let mut blind_spots = BlindSpots::default();
        blind_spots.insert_if(self.shape.deadline.is_none(), BlindSpot::NoDeadline);
        blind_spots.insert_if(self.index.is_multiple_of(10), BlindSpot::ClockSkewCorrected);
        let shape = self.shape.clone();
        let class = self.strings().intern(&shape.class);
        let root_service = self.strings().intern(&shape.root);
        let root_operation = self.strings().intern("POST /checkout");
        let row = RequestRow {
            trace_id: self.trace,
            request_class: class,
            root_span_id: ROOT,
            root_service,
            root_operation,
            start_unix_ns: UnixNanos::from_nanos(
                START + i64::try_from(self.index).expect("small") * 20_000_000,
            ),
            spans: if retried { 5 } else { 3 },
            duration_ns: elapsed - queue,
            elapsed_ns: elapsed,
            contract: None,
            deadline_source: match self.shape.deadline {
                Some(_) => DeadlineSource::Contract,
                None => DeadlineSource::None,
            },
            budget_at_origin_ns: self.left(Nanos::ZERO),
            budget_at_admission_ns: self.left(queue),
            queue_ns: queue,
            budget_at_start_ns: self.left(queue),
            local_execution_ns: local,
            downstream_budget_sent_ns: None,
            retry_count: i32::from(retried),
            hedge_count: 0,
            unfundable_attempts: 0,
            retry_layered: false,
            cancellation_observed_ns: None,
            residual_work_after_cancel_ns: Nanos::ZERO,
            return_reserve_used_ns: Some(Nanos::from_millis(2)),
            terminal_outcome: match in_time {
                Some(false) => TerminalOutcome::DeadlineExceeded,
                _ => TerminalOutcome::Completed,
            },
            completed_before_deadline: in_time,
            late_work_ns: late,
            late_work_min_ns: late,
            late_work_max_ns: late,
            late_wait_ns: late.map(|_| Nanos::ZERO),
            residual_wait_ns: Nanos::ZERO,
            late_wall_ns: late,
            weight: None,
            split: None,
            blind_spots,
        };
        self.tables.requests.push(row);
    }

    fn add_hop(
        &mut self,
        id: SpanId,
        reset: Option<bool>,
        send: Nanos,
        duration: Nanos,
        queue: Nanos,
    ) {
        let shape = self.shape.clone();
        let is_root = reset.is_none();
        let left = self.left(send);
        let overgranted = reset == Some(true) && left.is_some();
        let class = self.strings().intern(&shape.class);
        let root = self.strings().intern(&shape.root);
        let callee = self.strings().intern(if is_root { &shape.root } else { &shape.callee });
        let operation =
            self.strings().intern(if is_root { "POST /checkout" } else { &shape.operation });
        let key = self.strings().intern("rpc.timeout");
        let granted =
            reset.map(|reset| if reset { Nanos::from_seconds(1) } else { Nanos::from_millis(900) });
        let late = self.left(send + duration).map(|left| (-left).at_least_zero());
        self.tables.hops.push(HopRow {
            trace_id: self.trace,
            request_class: class,
            root_span_id: ROOT,
            hop_id: id,
            client_span_id: (!is_root).then_some(id),
            server_span_id: (!overgranted).then_some(SpanId(id.0 + 10)),
            caller_hop_id: (!is_root).then_some(ROOT),
            caller_service: (!is_root).then_some(root),
            callee_service: Some(callee),
            operation,
            depth: i32::from(!is_root),
            elapsed_at_send_ns: (!is_root).then_some(send),
            elapsed_at_receive_ns: Some(send),
            remaining_at_send_ns: left.filter(|_| !is_root),
            remaining_at_receive_ns: left,
            available_ns: left.map(Nanos::at_least_zero),
            granted_ns: granted,
            grant_key: granted.map(|_| key),
            grant_kind: granted.map(|_| GrantKind::Full),
            grant_rule: None,
            verdict: match (reset, left) {
                (None, _) => Verdict::Origin,
                (Some(_), None) => Verdict::NoCallerDeadline,
                (Some(true), Some(_)) => Verdict::Reset,
                (Some(false), Some(_)) => Verdict::Propagated,
            },
            overgrant_ns: None,
            transit_ns: None,
            queue_ns: queue,
            queue_key: None,
            remaining_at_start_ns: left,
            duration_ns: duration,
            outcome: Outcome::Ok,
            callee_outcome: (!overgranted).then_some(Outcome::Ok),
            return_ns: None,
            stack: None,
            late_work_ns: late,
            late_work_min_ns: late,
            late_work_max_ns: late,
            residual_work_ns: Nanos::ZERO,
            late_wait_ns: None,
            residual_wait_ns: Nanos::ZERO,
            proxy: false,
            clock_lo_ns: None,
            clock_hi_ns: None,
            split: None,
        });
        if overgranted {
            self.add_finding(FindingCode::TimeoutReset, id, send, late);
        }
        if left < Some(Nanos::from_millis(150)) && left.is_some() && reset == Some(true) {
            self.add_finding(FindingCode::RetryUnfundable, id, Nanos::from_millis(150), None);
        }
    }

    fn add_finding(
        &mut self,
        code: FindingCode,
        span_id: SpanId,
        excess: Nanos,
        wasted: Option<Nanos>,
    ) {
        let class = self.shape.class.clone();
        let request_class = self.strings().intern(&class);
        self.tables.findings.push(FindingRow {
            trace_id: self.trace,
            request_class,
            root_span_id: ROOT,
            code,
            span_id,
            excess_ns: excess,
            wasted_ns: wasted,
            evidence: Evidence::Configured,
            certainty: Certainty::Certain,
        });
    }

    fn add_attempt(&mut self, id: SpanId, start: Nanos, duration: Nanos, backoff: Option<Nanos>) {
        let shape = self.shape.clone();
        let left = self.left(start);
        let allowance = Nanos::from_millis(150);
        let row = AttemptRow {
            trace_id: self.trace,
            request_class: self.strings().intern(&shape.class),
            root_span_id: ROOT,
            call_id: FIRST,
            span_id: id,
            ordinal: if backoff.is_some() { 2 } else { 1 },
            ordinal_key: None,
            attempts: if self.index.is_multiple_of(4) { 2 } else { 1 },
            kind: if backoff.is_some() { AttemptKind::Retry } else { AttemptKind::Initial },
            caller_service: Some(self.strings().intern(&shape.root)),
            callee_service: Some(self.strings().intern(&shape.callee)),
            operation: self.strings().intern(&shape.operation),
            elapsed_at_start_ns: start,
            backoff_ns: backoff,
            remaining_at_start_ns: left,
            available_at_start_ns: left.map(Nanos::at_least_zero),
            allowance_ns: Some(allowance),
            allowance_key: None,
            funding: match left {
                None => Funding::Unknown,
                Some(left) if left <= Nanos::ZERO => Funding::Expired,
                Some(left) if left < allowance => Funding::Unfundable,
                Some(_) => Funding::Funded,
            },
            duration_ns: duration,
            outcome: match backoff {
                None if self.index.is_multiple_of(4) => Outcome::DeadlineExceeded,
                _ => Outcome::Ok,
            },
            tries_inside: None,
        };
        self.tables.attempts.push(row);
    }

    fn add_segment(&mut self, service: &str, category: Category, duration: Nanos) {
        if duration == Nanos::ZERO {
            return;
        }
        let class = self.shape.class.clone();
        let row = SegmentRow {
            trace_id: self.trace,
            request_class: self.strings().intern(&class),
            root_span_id: ROOT,
            service: self.strings().intern(service),
            operation: self.strings().intern("span"),
            category,
            duration_ns: duration,
        };
        self.tables.segments.push(row);
    }
}
