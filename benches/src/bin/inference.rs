//! How often what is inferred of hops is right, on fleets with planted truth: `inference [FLEETS]`.
//! Exits with 1 where a rate does not hold that must (docs/inference.md).

use std::process::ExitCode;

use planted::rates::Rates;

#[path = "../../../tests/support/planted/mod.rs"]
mod planted;

/// Of 27 hops each.
const FLEETS: u64 = 150;
/// Attempts that succeed say nothing of limits: more of them only take time.
const MOST_SUCCEEDED: u64 = 400;
const SEED: u64 = 1;

fn main() -> ExitCode {
    let given = std::env::args().nth(1).map(|fleets| fleets.parse());
    let Ok(fleets) = given.unwrap_or(Ok(FLEETS)) else {
        eprintln!("usage: inference [FLEETS]");
        return ExitCode::from(2);
    };
    let rates = Rates::of_fleets(fleets, MOST_SUCCEEDED, SEED);
    print!("{rates}");
    let broken = rates.broken();
    broken.iter().for_each(|rate| println!("does not hold: {rate}"));
    ExitCode::from(u8::from(!broken.is_empty()))
}
