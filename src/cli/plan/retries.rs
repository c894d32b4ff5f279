//! `dwindle plan retries`: which attempts fit.

use super::form::Form;
use super::from::From;
use crate::cli::output::Fatal;
use crate::cli::{exit, manifest};
use crate::plan::amplification::Layers;
use crate::plan::measured::Wanted;
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
///
/// With --from what no flag says is taken from what was measured, line of calls by line, and told is for
/// which share of these very requests one, two, ... attempts would have fitted; a --deadline then takes the
/// place of each request's own. Of more than ten attempts the first ten are told.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dwindle plan retries
  dwindle plan retries --deadline 2s --elapsed 400ms --attempt 300ms --backoff 50ms --max-attempts 4
  dwindle plan retries --elapsed-sweep 0ms..1s/10ms --format csv
  dwindle plan retries --amplification 3,3,3
  dwindle plan retries --from traces/ --attempt 150ms --class 'storefront *'")]
pub(super) struct Args {
    #[command(flatten)]
    question: Question,

    /// Over which elapsed time the number of attempts is told [default: 0ms to the deadline in some
    /// twenty steps]
    #[arg(long, allow_hyphen_values = true, value_name = "FROM..TO/STEP", value_parser = Sweep::parse)]
    elapsed_sweep: Option<Sweep>,

    /// Over which allowances it is told [default: up to what is available in some twenty steps]
    #[arg(long, allow_hyphen_values = true, value_name = "FROM..TO/STEP", value_parser = Sweep::parse)]
    allowance_sweep: Option<Sweep>,

    /// Layers of retries around retries, outermost first: how often each tries at most
    #[arg(long, allow_hyphen_values = true, value_name = "N,N...", value_parser = Layers::parse)]
    amplification: Option<Layers>,

    #[command(flatten)]
    form: Form,

    #[command(flatten)]
    from: From,
}

impl Args {
    /// Refuses flags that ask of one request, where there are many.
    fn refuse_with_from(&self) -> Result<(), Fatal> {
        let given = [
            (self.question.elapsed.is_some(), "--elapsed"),
            (self.elapsed_sweep.is_some(), "--elapsed-sweep"),
            (self.amplification.is_some(), "--amplification"),
        ];
        let given = given.into_iter().find_map(|(is_given, flag)| is_given.then_some(flag));
        given.map_or(Ok(()), |flag| {
            Err(Fatal::Usage(format!("{flag} is of one request: with --from each has its own")))
        })
    }
}

/// The deadline and the policy of retries.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Question {
    /// The budget of the request [default: 1000ms]
    #[arg(long, allow_hyphen_values = true, value_name = "DURATION", value_parser = Nanos::parse)]
    deadline: Option<Nanos>,

    /// What of it was spent before the first attempt [default: 230ms]
    #[arg(long, allow_hyphen_values = true, value_name = "DURATION", value_parser = Nanos::parse)]
    elapsed: Option<Nanos>,

    /// What is kept back for assembling and sending the result [default: 80ms]
    #[arg(long, allow_hyphen_values = true, value_name = "DURATION", value_parser = Nanos::parse)]
    reserve: Option<Nanos>,

    /// What one attempt needs: its allowance [default: 150ms]
    #[arg(long, allow_hyphen_values = true, value_name = "DURATION", value_parser = Nanos::parse)]
    attempt: Option<Nanos>,

    /// The waits before further attempts; the last of them holds for all that follow [default:
    /// 100ms,200ms]
    #[arg(long, allow_hyphen_values = true, value_name = "DURATION,...", value_delimiter = ',', value_parser = Nanos::parse)]
    backoff: Option<Vec<Nanos>>,

    /// How many attempts at most, the first included [default: 3]
    #[arg(long, allow_hyphen_values = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    max_attempts: Option<u32>,
}

/// What is asked where nobody says.
fn default_retries() -> Retries {
    Retries {
        deadline: Nanos::from_millis(1_000),
        elapsed: Nanos::from_millis(230),
        reserve: Nanos::from_millis(80),
        attempt: Nanos::from_millis(150),
        backoff: vec![Nanos::from_millis(100), Nanos::from_millis(200)],
        max_attempts: 3,
    }
}

impl Question {
    /// What is asked, where it can be meant.
    pub(super) fn retries(&self) -> Result<Retries, Fatal> {
        let default = default_retries();
        let retries = Retries {
            deadline: self.deadline.unwrap_or(default.deadline),
            elapsed: self.elapsed.unwrap_or(default.elapsed),
            reserve: self.reserve.unwrap_or(default.reserve),
            attempt: self.attempt.unwrap_or(default.attempt),
            backoff: self.backoff.clone().unwrap_or(default.backoff),
            max_attempts: self.max_attempts.unwrap_or(default.max_attempts),
        };
        refuse_senseless(Some(retries.deadline), Some(retries.reserve), Some(retries.attempt))?;
        Ok(retries)
    }

    /// The same of requests that were measured, which tell what is not given.
    fn wanted(&self, allowances: Option<Sweep>) -> Result<Wanted, Fatal> {
        let Self { deadline, reserve, attempt, max_attempts, .. } = *self;
        refuse_senseless(deadline, reserve, attempt)?;
        Ok(Wanted {
            deadline,
            attempt,
            backoff: self.backoff.clone(),
            reserve,
            max_attempts,
            allowances: allowances.map(|sweep| sweep.points().collect()),
            default: default_retries(),
        })
    }
}

/// Refuses what reads well and cannot be meant.
fn refuse_senseless(
    deadline: Option<Nanos>,
    reserve: Option<Nanos>,
    attempt: Option<Nanos>,
) -> Result<(), Fatal> {
    let nothing = Some(Nanos::ZERO);
    let is_all = deadline.zip(reserve).is_some_and(|(deadline, reserve)| reserve >= deadline);
    let wrong = [
        (deadline == nothing, "--deadline: a deadline of nothing cannot be met"),
        (is_all, "--reserve: expected less than the deadline"),
        (attempt == nothing, "--attempt: expected an allowance of more than nothing"),
    ];
    let wrong = wrong.into_iter().find(|(is_wrong, _)| *is_wrong);
    wrong.map_or(Ok(()), |(_, message)| Err(Fatal::Usage(message.to_owned())))
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    if args.allowance_sweep.is_some_and(|sweep| sweep.from() == Nanos::ZERO) {
        return Err(Fatal::Usage(
            "--allowance-sweep: expected FROM of more than nothing".to_owned(),
        ));
    }
    if args.from.is_given() {
        args.refuse_with_from()?;
        return args.from.retries(&args.question.wanted(args.allowance_sweep)?, &args.form);
    }
    let retries = args.question.retries()?;
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
