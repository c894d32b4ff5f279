//! Sides made by hand: requests with several measures, ties and zeros, of which a trace may hold
//! several that are alike, from a seed.

use dwindle::diff::Side;
use dwindle::span::{SpanId, TraceId};
use dwindle::tables::{FindingCode, Tables, TerminalOutcome};
use dwindle::units::Nanos;

use crate::support::made_tables::{Shape, partition};

/// A source of numbers that is the same everywhere (`SplitMix64`).
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to 1.
    pub fn uniform(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).unwrap()) / f64::from(u32::MAX)
    }

    pub fn is(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// Standard normal.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().max(1e-12).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// What is different about a side.
#[derive(Clone, Copy)]
pub struct Plant {
    /// Times of all requests are longer by this factor.
    pub factor: f64,
    /// So many requests of a hundred ..
    pub slow_percent: f64,
    /// .. take so many times as long.
    pub slow_factor: f64,
    /// So many requests of a hundred fail.
    pub failed_percent: f64,
}

/// Nothing is.
pub const NOTHING: Plant =
    Plant { factor: 1.0, slow_percent: 2.0, slow_factor: 4.0, failed_percent: 2.0 };

/// What every request is made from.
pub struct Mould(Tables);

impl Mould {
    /// A request with two hops, one of which was tried again.
    pub fn new() -> Self {
        Self(partition(&Shape::checkout(), 1, 1))
    }

    /// A side of so many requests. One trace in eight holds four.
    pub fn side(&self, requests: usize, plant: Plant, random: &mut Random) -> Side {
        let mut tables = Tables { strings: self.0.strings.clone(), ..Tables::default() };
        let mut trace = 0;
        while tables.requests.len() < requests {
            trace += 1;
            let of_trace = random.normal();
            let count = if random.is(0.125) { 4 } else { 1 };
            for root in 1..=count {
                self.request(
                    &mut tables,
                    TraceId(trace),
                    SpanId(root << 8),
                    of_trace,
                    plant,
                    random,
                );
            }
        }
        let mut side = Side::default();
        side.add(&tables);
        side
    }

    fn request(
        &self,
        tables: &mut Tables,
        trace: TraceId,
        root: SpanId,
        of_trace: f64,
        plant: Plant,
        random: &mut Random,
    ) {
        let deadline = 300.0;
        let spread = 0.4 * of_trace + 0.2 * random.normal();
        let slow = if random.is(plant.slow_percent / 100.0) { plant.slow_factor } else { 1.0 };
        let elapsed = 80.0 * plant.factor * slow * spread.exp();
        let late = (elapsed - deadline).max(0.0);
        let mut row = self.0.requests[0].clone();
        row.trace_id = trace;
        row.root_span_id = root;
        // Whole milliseconds: many are equal.
        row.elapsed_ns = Nanos::from_nanos(millis(elapsed.round()));
        row.queue_ns = Nanos::from_nanos(if random.is(0.7) { 0 } else { millis(elapsed / 10.0) });
        row.local_execution_ns = Nanos::from_nanos(millis(10.0 * random.uniform()));
        row.budget_at_origin_ns = Some(Nanos::from_nanos(millis(deadline)));
        row.late_work_ns = Some(Nanos::from_nanos(millis(late)));
        row.late_wall_ns = row.late_work_ns;
        row.completed_before_deadline = Some(late == 0.0);
        row.terminal_outcome = if random.is(plant.failed_percent / 100.0) {
            TerminalOutcome::Failed
        } else {
            TerminalOutcome::Completed
        };
        row.retry_count = i32::from(random.is(0.1));
        let tries = row.retry_count + 1;
        tables.requests.push(row);
        for attempt in 0..tries {
            let mut hop = self.0.hops[1].clone();
            hop.trace_id = trace;
            hop.root_span_id = root;
            hop.hop_id = SpanId(root.0 + 2 + u64::try_from(attempt).unwrap());
            let left = deadline - elapsed * 0.3 * f64::from(attempt + 1);
            hop.remaining_at_send_ns = Some(Nanos::from_nanos(millis(left)));
            if random.is(0.03) {
                let mut finding = self.0.findings[0].clone();
                finding.trace_id = trace;
                finding.root_span_id = root;
                finding.span_id = hop.hop_id;
                finding.code = FindingCode::CancelIgnored;
                tables.findings.push(finding);
            }
            tables.hops.push(hop);
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "some milliseconds")]
fn millis(millis: f64) -> i64 {
    (millis * 1e6) as i64
}
