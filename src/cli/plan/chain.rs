//! `dwindle plan chain`: how the time of a chain splits.

use std::collections::BTreeSet;

use super::form::Form;
use super::from::From;
use crate::cli::output::Fatal;
use crate::cli::{exit, manifest};
use crate::plan::chain::Chain;
use crate::plan::measured::Asked;
use crate::report::plan::chain::{json, report};
use crate::units::Nanos;

/// Split the time of a chain of calls over its depth and tries.
///
/// Without a budget each try of each step may take the whole time: depth x tries x end-to-end + own.
/// Allocated, a try may take (end-to-end - own) / (depth x tries), rounded down. Told is too how deep a
/// chain may be so that each try is still left what a call usually takes.
///
/// With --from what no flag says is taken from what was measured, class by class, and told is for which
/// share of these very requests a try, at their own depth, has as long as a call takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dwindle plan chain
  dwindle plan chain --end-to-end 1s --own 50ms --median 30ms --depth 2,4,8 --tries 1,2
  dwindle plan chain --from traces/ --tries 1,2")]
pub(super) struct Args {
    /// The time for all of it, and the timeout of each try where nobody splits it [default: 200ms]
    #[arg(long, allow_hyphen_values = true, value_name = "DURATION", value_parser = Nanos::parse)]
    end_to_end: Option<Nanos>,

    /// What of it the first service needs for itself [default: 20ms]
    #[arg(long, allow_hyphen_values = true, value_name = "DURATION", value_parser = Nanos::parse)]
    own: Option<Nanos>,

    /// What a call usually takes [default: 8ms]
    #[arg(long, allow_hyphen_values = true, value_name = "DURATION", value_parser = Nanos::parse)]
    median: Option<Nanos>,

    /// How many calls follow one another [default: 1,2,3,4]
    #[arg(long, allow_hyphen_values = true, value_name = "N,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    depth: Option<Vec<u32>>,

    /// How often each is tried at most [default: 1,3]
    #[arg(long, allow_hyphen_values = true, value_name = "N,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    tries: Option<Vec<u32>>,

    #[command(flatten)]
    form: Form,

    #[command(flatten)]
    from: From,
}

impl Args {
    /// What is asked, where nothing was measured.
    fn chain(&self) -> Chain {
        let or = |given: Option<Nanos>, millis| given.unwrap_or(Nanos::from_millis(millis));
        Chain {
            end_to_end: or(self.end_to_end, 200),
            own: or(self.own, 20),
            median: or(self.median, 8),
            depths: in_order(self.depth.as_deref().unwrap_or(&[1, 2, 3, 4])),
            tries: in_order(self.tries.as_deref().unwrap_or(&[1, 3])),
        }
    }

    /// What is asked of requests that were measured, which tell what is not given.
    fn asked(&self) -> Asked {
        Asked {
            end_to_end: self.end_to_end,
            own: self.own,
            median: self.median,
            depths: self.depth.as_deref().map(in_order),
            tries: self.tries.as_deref().map(in_order),
        }
    }
}

/// Each is told once, the least first.
fn in_order(list: &[u32]) -> Vec<u32> {
    list.iter().copied().collect::<BTreeSet<_>>().into_iter().collect()
}

/// More rows than this nobody reads.
const MAX_ROWS: usize = 10_000;

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    let chain = args.chain();
    let is_all =
        |own: Option<Nanos>, all: Option<Nanos>| own.zip(all).is_some_and(|(own, all)| own >= all);
    let is_own_all = if args.from.is_given() {
        is_all(args.own, args.end_to_end)
    } else {
        is_all(Some(chain.own), Some(chain.end_to_end))
    };
    let nothing = Nanos::ZERO;
    let wrong = [
        (chain.end_to_end == nothing, "--end-to-end: expected more than nothing"),
        (is_own_all, "--own: expected less than --end-to-end"),
        (chain.median == nothing, "--median: expected more than nothing"),
        (
            chain.depths.len().saturating_mul(chain.tries.len()) > MAX_ROWS,
            "--depth, --tries: expected at most 10000 pairs of a depth and a number of tries",
        ),
    ];
    if let Some((_, message)) = wrong.into_iter().find(|(is_wrong, _)| *is_wrong) {
        return Err(Fatal::Usage(message.to_owned()));
    }
    if args.from.is_given() {
        return args.from.chain(&args.asked(), &args.form);
    }
    let version = manifest::VERSION;
    args.form.print(&[], |_| report(&chain, version), || json(&chain, version))?;
    Ok(exit::DONE)
}
