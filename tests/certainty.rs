//! What is certain holds wherever the clocks may stand: each finding is looked for again with the
//! other clock moved through its interval, and taken as read.

use std::collections::BTreeSet;

use dwindle::clocks::{Interval, Offsets};
use dwindle::reconstruct::reconstruct;
use dwindle::span::{SpanId, Spans, Sym};
use dwindle::tables::{BlindSpot, Certainty, FindingCode, FindingRow, RequestRow, Tables};
use dwindle::units::Nanos;
use proptest::prelude::{ProptestConfig, prop_assert, prop_assume, proptest};

use crate::support::naive;
use crate::support::random::{MS, admitted, policy, two_clocks};

/// Further than this no end of an interval is tried.
const FAR: Nanos = Nanos::from_nanos(300 * MS);

/// The first of the codes that exclude one another, of which another may stand in its place where
/// clocks stand elsewhere: the hop went on, got too much, could not be funded all the same.
fn family(code: FindingCode) -> FindingCode {
    match code {
        FindingCode::CancelDropped => FindingCode::CancelIgnored,
        FindingCode::Overgrant | FindingCode::ReserveInvaded => FindingCode::TimeoutReset,
        FindingCode::HedgeUnfundable | FindingCode::AttemptUnfundable => {
            FindingCode::RetryUnfundable
        }
        code => code,
    }
}

fn found(tables: &Tables) -> BTreeSet<(FindingCode, SpanId)> {
    tables.findings.iter().map(|row| (family(row.code), row.span_id)).collect()
}

/// The same spans on one clock, those of `other` moved back by `offset`.
fn on_one_clock(spans: &Spans, root: Sym, offset: Nanos) -> Spans {
    let mut spans = spans.clone();
    for span in spans.rows.iter_mut().filter(|span| span.clock_domain != root) {
        span.clock_domain = root;
        span.start = span.start - offset;
        span.end = span.end - offset;
    }
    spans
}

/// Instants to try: both ends and some between, or far away where there is no end.
fn points(interval: Interval, at: i64) -> [Nanos; 4] {
    let chosen = interval.chosen();
    let lo = interval.lo.unwrap_or(chosen - FAR);
    let hi = interval.hi.unwrap_or(chosen + FAR);
    let between = lo + Nanos::from_nanos((hi - lo).as_nanos() / 100 * at);
    [lo, hi, chosen, between]
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 1 << 20, ..ProptestConfig::default() })]

    #[test]
    fn what_is_certain_holds_wherever_the_other_clock_may_stand(
        placed in two_clocks(),
        policy in policy(),
        at in 0_i64..100,
    ) {
        let mut spans = admitted(&placed);
        for span in &mut spans.rows {
            // Whether one left hangs on the clocks itself.
            span.flags.is_wordless = false;
        }
        let bounds = naive::clock_bounds(&spans);
        prop_assume!(bounds.len() == 1);
        let root = spans.rows[0].clock_domain;
        let (_, lo, hi) = bounds[0];
        let interval = Interval { lo: lo.map(Nanos::from_nanos), hi: hi.map(Nanos::from_nanos) };
        let tables = reconstruct(spans.clone(), &policy, &Offsets::default());
        let conflict = |row: &RequestRow| {
            row.blind_spots.contains(BlindSpot::ClockConflict)
        };
        prop_assume!(!tables.requests.iter().any(conflict));
        for offset in points(interval, at) {
            let moved = on_one_clock(&spans, root, offset);
            let there = found(&reconstruct(moved, &policy, &Offsets::default()));
            let is_sure = |row: &&FindingRow| {
                // Which span admits a request whose root sends hangs on the order of its servers.
                row.certainty == Certainty::Certain && row.code != FindingCode::ReserveConsumed
            };
            for row in tables.findings.iter().filter(is_sure) {
                prop_assert!(
                    there.contains(&(family(row.code), row.span_id)),
                    "{:?} not at {:?} of {:?}", row, offset, interval
                );
            }
        }
    }
}
