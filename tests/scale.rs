//! Deep and wide traces are traces like others. What they cost is told by `benches/scale`.

use std::collections::BTreeMap;

use dwindle::clocks::Offsets;
use dwindle::contract::Contract;
use dwindle::reconstruct::{Policy, reconstruct};
use dwindle::tables::Tables;
use dwindle::units::Nanos;

use crate::support::shapes::SHAPES;

const SPANS: i64 = 100_000;

/// On a thread with the stack that worker threads get: recursion over spans would overflow it.
fn reconstructed(shape: &'static crate::support::shapes::Shape) -> Tables {
    let deadline = Nanos::from_millis(SPANS / 2);
    let contract = Contract::deadline_only("all".to_owned(), None, deadline);
    let policy = Policy { contracts: vec![contract], ..Policy::default() };
    let worker =
        std::thread::spawn(move || reconstruct((shape.make)(SPANS), &policy, &Offsets::default()));
    worker.join().unwrap()
}

#[test]
fn a_hundred_thousand_spans_of_any_shape_are_one_request_whose_segments_sum() {
    for shape in SHAPES {
        let tables = reconstructed(shape);
        let hard = format!("{}, hard on {}", shape.name, shape.hard_on);
        assert_eq!(tables.requests.len(), 1, "{hard}");
        let request = &tables.requests[0];
        let distinct = match shape.name {
            "duplicates" => SPANS / 2 + 1,
            _ => SPANS,
        };
        assert_eq!(i64::from(request.spans), distinct, "{}", shape.name);
        let sum: Nanos = tables.segments.iter().map(|row| row.duration_ns).sum();
        assert_eq!(sum, request.duration_ns, "{}", shape.name);
    }
}

#[test]
fn a_hundred_thousand_retries_are_one_call() {
    let shape = SHAPES.iter().find(|shape| shape.name == "retries").unwrap();
    let tables = reconstructed(shape);
    let mut calls: BTreeMap<_, usize> = BTreeMap::new();
    for row in &tables.attempts {
        *calls.entry(row.call_id).or_default() += 1;
    }
    assert_eq!(calls.into_values().collect::<Vec<_>>(), [100_000 - 1]);
}
