//! Reconstructs one shape of one size. `benches/scale` counts its instructions.

use std::hint::black_box;
use std::process::ExitCode;

use dwindle::clocks::Offsets;
use dwindle::contract::Contract;
use dwindle::reconstruct::{Policy, reconstruct};
use dwindle::span::Spans;
use dwindle::units::Nanos;
use shapes::SHAPES;

#[path = "../../../tests/support/shapes.rs"]
mod shapes;

/// What is counted: a function of its own, so that a profiler can tell it from making the input.
#[inline(never)]
fn measured(spans: Spans, policy: &Policy) -> usize {
    let tables = reconstruct(black_box(spans), black_box(policy), &Offsets::default());
    tables.hops.len() + tables.attempts.len() + tables.segments.len() + tables.findings.len()
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let first = args.next();
    if first.as_deref() == Some("--list") {
        SHAPES.iter().for_each(|shape| println!("{}", shape.name));
        return ExitCode::SUCCESS;
    }
    let shape = first.and_then(|name| SHAPES.iter().find(|shape| shape.name == name));
    let size = args.next().and_then(|size| size.parse().ok());
    let (Some(shape), Some(size)) = (shape, size) else {
        let names: Vec<String> =
            SHAPES.iter().map(|shape| format!("  {}: {}", shape.name, shape.hard_on)).collect();
        eprintln!("usage: scale SHAPE SPANS\n{}", names.join("\n"));
        return ExitCode::from(2);
    };
    let contract = Contract::deadline_only("all".to_owned(), None, Nanos::from_millis(size / 2));
    let policy = Policy { contracts: vec![contract], ..Policy::default() };
    let spans = (shape.make)(size);
    println!("{} {size} spans: {} rows", shape.name, measured(spans, &policy));
    ExitCode::SUCCESS
}
