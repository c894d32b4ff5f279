//! Expired work beside waiting work, over several traces: compared with every pair looked at.

use dwindle::graveyard::Graveyard;
use dwindle::span::{SpanId, Sym, TraceId};
use dwindle::tables::{Certainty, Evidence, ExpiredWork, HopRow, Stay, Tables};
use dwindle::units::{Nanos, UnixNanos};
use proptest::collection::vec;
use proptest::prelude::{Strategy, prop_assert_eq, proptest};

use crate::support::case_tables;

/// A stay in small numbers: when it came, how long it waited, how long it worked, and when it was
/// due.
#[derive(Clone, Copy, Debug)]
struct Small {
    arrived: i64,
    waited: i64,
    worked: i64,
    due: i64,
    /// The deadline may be so much earlier; unknown, where negative.
    earlier: i64,
    service: usize,
}

impl Small {
    fn begun(self) -> i64 {
        self.arrived + self.waited
    }

    fn is_expired(self) -> bool {
        self.begun() >= self.due && self.worked > 0
    }
}

fn any_small() -> impl Strategy<Value = Small> {
    (0..30_i64, 0..10_i64, 0..10_i64, 0..40_i64, -1..5_i64, 0..2_usize).prop_map(
        |(arrived, waited, worked, due, earlier, service)| Small {
            arrived,
            waited,
            worked,
            due,
            earlier,
            service,
        },
    )
}

/// By stay: how long the longest overlap with a waiting one is, and whether that one surely had
/// time left; of several such the surest is enough.
fn naive(stays: &[Small]) -> Vec<(u128, i64)> {
    let mut found = Vec::new();
    for (number, late) in stays.iter().enumerate().filter(|(_, late)| late.is_expired()) {
        let overlap = |one: &Small| {
            let from = one.arrived.max(late.begun());
            let length = one.begun().min(late.begun() + late.worked) - from;
            (one.service == late.service && one.waited > 0 && one.due > from).then_some(length)
        };
        let longest = stays.iter().filter_map(overlap).max().unwrap_or(0);
        if longest > 0 {
            found.push((u128::try_from(number).unwrap(), longest));
        }
    }
    found
}

fn tables(numbered: &[(usize, Small)]) -> Tables {
    let row: HopRow = case_tables::load("propagated-and-tightened").hops[0].clone();
    let mut tables = Tables::default();
    let names: [Sym; 3] = ["cart", "stock", "node"].map(|name| tables.strings.intern(name));
    let at = UnixNanos::from_nanos;
    for &(number, small) in numbered {
        let trace_id = TraceId(u128::try_from(number).unwrap());
        let mut hop = HopRow { trace_id, hop_id: SpanId(1), ..row.clone() };
        dwindle::tables::Row::renumber(&mut hop, &mut |_| names[0]);
        let expired = small.is_expired().then_some(ExpiredWork {
            until: at(small.begun() + small.worked),
            evidence: Evidence::Declared,
            certainty: Certainty::Certain,
        });
        tables.stays.push(Stay {
            hop: tables.hops.len(),
            service: names[small.service],
            clock_domain: names[2],
            arrived: at(small.arrived),
            begun: at(small.begun()),
            deadline: at(small.due),
            deadline_earliest: (small.earlier >= 0).then(|| at(small.due - small.earlier)),
            weight: None,
            expired,
        });
        tables.hops.push(hop);
    }
    tables
}

proptest! {
    #[test]
    fn of_each_expired_hop_the_longest_wait_beside_it_is_found_in_any_order_of_partitions(
        stays in vec(any_small(), 0..40),
        cut in 0..40_usize,
    ) {
        let numbered: Vec<(usize, Small)> = stays.iter().copied().enumerate().collect();
        let (one, other) = numbered.split_at(cut.min(numbered.len()));
        let found = |parts: [&[(usize, Small)]; 2]| {
            let mut graveyard = Graveyard::default();
            for part in parts {
                graveyard.add(&tables(part));
            }
            let rows = graveyard.findings().findings;
            let told = |row: &dwindle::tables::FindingRow| {
                (row.trace_id.0, row.excess_ns.as_nanos(), row.certainty)
            };
            rows.iter().map(told).collect::<Vec<_>>()
        };
        let there = found([one, other]);
        let lengths: Vec<_> = there.iter().map(|&(trace, length, _)| (trace, length)).collect();
        prop_assert_eq!(lengths, naive(&stays));
        prop_assert_eq!(there, found([other, one]));
    }
}

#[test]
fn the_waste_of_expired_work_is_told_by_its_first_finding_alone() {
    let late = Small { arrived: 0, waited: 2, worked: 5, due: 1, earlier: 0, service: 0 };
    let waiting = Small { arrived: 1, waited: 5, worked: 1, due: 20, earlier: 0, service: 0 };
    let mut graveyard = Graveyard::default();
    graveyard.add(&tables(&[(0, late), (1, waiting)]));
    let found = graveyard.findings();
    assert_eq!(found.hops.len(), 1);
    assert_eq!(found.findings[0].wasted_ns, Some(Nanos::ZERO));
}
