//! `dwindle plan retries`: which attempts fit.

use super::form::Form;
use crate::cli::output::Fatal;
use crate::cli::{exit, manifest};
use crate::plan::amplification::Layers;
use crate::plan::retries::Retries;
use crate::plan::sweep::Sweep;
use crate::report::plan::retries::{Told, json, report};
use crate::units::Nanos;

/// Tell which attempts fit into what is left of a deadline.
///
/// An attempt is made only if what was used, the backoff before it and its whole allowance fit into
/// deadline - elapsed - reserve; the maximum of attempts is a ceiling, not a permission. The first attempt
/// that is refused is told with the constraint that refuses it, and so is up to which elapsed time and
/// which allowance each number of attempts fits. docs/planning.md tells the arithmetic.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dwindle plan retries
  dwindle plan retries --deadline 2s --elapsed 400ms --attempt 300ms --backoff 50ms --max-attempts 4
  dwindle plan retries --elapsed-sweep 0ms..1s/10ms --format csv
  dwindle plan retries --amplification 3,3,3")]
pub(super) struct Args {
    #[command(flatten)]
    question: Question,

    /// Over which elapsed time the number of attempts is told [default: 0ms to the deadline in some
    /// twenty steps]
    #[arg(long, value_name = "FROM..TO/STEP", value_parser = Sweep::parse)]
    elapsed_sweep: Option<Sweep>,

    /// Over which allowances it is told [default: up to what is available in some twenty steps]
    #[arg(long, value_name = "FROM..TO/STEP", value_parser = Sweep::parse)]
    allowance_sweep: Option<Sweep>,

    /// Layers of retries around retries, outermost first: how often each tries at most
    #[arg(long, value_name = "N,N...", value_parser = Layers::parse)]
    amplification: Option<Layers>,

    #[command(flatten)]
    form: Form,
}

/// The deadline and the policy of retries.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Question {
    /// The budget of the request
    #[arg(long, value_name = "DURATION", default_value = "1000ms", value_parser = Nanos::parse)]
    deadline: Nanos,

    /// What of it was spent before the first attempt
    #[arg(long, value_name = "DURATION", default_value = "230ms", value_parser = Nanos::parse)]
    elapsed: Nanos,

    /// What is kept back for assembling and sending the result
    #[arg(long, value_name = "DURATION", default_value = "80ms", value_parser = Nanos::parse)]
    reserve: Nanos,

    /// What one attempt needs: its allowance
    #[arg(long, value_name = "DURATION", default_value = "150ms", value_parser = Nanos::parse)]
    attempt: Nanos,

    /// The waits before further attempts; the last of them holds for all that follow
    #[arg(long, value_name = "DURATION,...", default_value = "100ms,200ms", value_delimiter = ',', value_parser = Nanos::parse)]
    backoff: Vec<Nanos>,

    /// How many attempts at most, the first included
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    max_attempts: u32,
}

impl Question {
    /// What is asked, where it can be meant.
    pub(super) fn retries(&self) -> Result<Retries, Fatal> {
        let wrong = [
            (self.deadline == Nanos::ZERO, "--deadline: a deadline of nothing cannot be met"),
            (self.reserve >= self.deadline, "--reserve: expected less than the deadline"),
            (self.attempt == Nanos::ZERO, "--attempt: expected an allowance of more than nothing"),
        ];
        if let Some((_, message)) = wrong.into_iter().find(|(is_wrong, _)| *is_wrong) {
            return Err(Fatal::Usage(message.to_owned()));
        }
        let Self { deadline, elapsed, reserve, attempt, max_attempts, .. } = *self;
        let backoff = self.backoff.clone();
        Ok(Retries { deadline, elapsed, reserve, attempt, backoff, max_attempts })
    }
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    let retries = args.question.retries()?;
    if args.allowance_sweep.is_some_and(|sweep| sweep.from() == Nanos::ZERO) {
        return Err(Fatal::Usage(
            "--allowance-sweep: expected FROM of more than nothing".to_owned(),
        ));
    }
    let told = Told {
        retries: &retries,
        elapsed_sweep: args.elapsed_sweep,
        allowance_sweep: args.allowance_sweep,
        layers: args.amplification.as_ref(),
        version: manifest::VERSION,
    };
    args.form.print(&[], |is_for_programs| report(&told, is_for_programs), || json(&told))?;
    Ok(exit::DONE)
}
