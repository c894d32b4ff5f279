//! `dwindle plan chain`: how the time of a chain splits.

use std::collections::BTreeSet;

use super::form::Form;
use crate::cli::output::Fatal;
use crate::cli::{exit, manifest};
use crate::plan::chain::Chain;
use crate::report::plan::chain::{json, report};
use crate::units::Nanos;

/// Split the time of a chain of calls over its depth and tries.
///
/// Without a budget each try of each step may take the whole time: depth x tries x end-to-end + own.
/// Allocated, a try may take (end-to-end - own) / (depth x tries), rounded down. Told is too how deep a
/// chain may be so that each try is still left what a call usually takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dwindle plan chain
  dwindle plan chain --end-to-end 1s --own 50ms --median 30ms --depth 2,4,8 --tries 1,2")]
pub(super) struct Args {
    /// The time for all of it, and the timeout of each try where nobody splits it
    #[arg(long, value_name = "DURATION", default_value = "200ms", value_parser = Nanos::parse)]
    end_to_end: Nanos,

    /// What of it the first service needs for itself
    #[arg(long, value_name = "DURATION", default_value = "20ms", value_parser = Nanos::parse)]
    own: Nanos,

    /// What a call usually takes
    #[arg(long, value_name = "DURATION", default_value = "8ms", value_parser = Nanos::parse)]
    median: Nanos,

    /// How many calls follow one another
    #[arg(long, value_name = "N,...", default_value = "1,2,3,4", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    depth: Vec<u32>,

    /// How often each is tried at most
    #[arg(long, value_name = "N,...", default_value = "1,3", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    tries: Vec<u32>,

    #[command(flatten)]
    form: Form,
}

/// More rows than this nobody reads.
const MAX_ROWS: usize = 10_000;

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    let Args { end_to_end, own, median, depth, tries, form } = args;
    let wrong = [
        (*own >= *end_to_end, "--own: expected less than --end-to-end"),
        (*median == Nanos::ZERO, "--median: expected more than nothing"),
        (
            depth.len().saturating_mul(tries.len()) > MAX_ROWS,
            "--depth, --tries: expected at most 10000 pairs of a depth and a number of tries",
        ),
    ];
    if let Some((_, message)) = wrong.into_iter().find(|(is_wrong, _)| *is_wrong) {
        return Err(Fatal::Usage(message.to_owned()));
    }
    // Each is told once, the least first.
    let told = |list: &[u32]| list.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    let chain = Chain {
        end_to_end: *end_to_end,
        own: *own,
        median: *median,
        depths: told(depth),
        tries: told(tries),
    };
    let version = manifest::VERSION;
    form.print(&[], |_| report(&chain, version), || json(&chain, version))?;
    Ok(exit::DONE)
}
