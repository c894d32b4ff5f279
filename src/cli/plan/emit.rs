//! `dwindle plan emit`: a policy as configuration of others.

use super::retries::Question;
use crate::cli::exit;
use crate::cli::input::{self, one_of};
use crate::cli::output::{self, Fatal};
use crate::plan::emit::{Emitted, Target, Wanted};
use crate::plan::policy::{Policy, Share};
use crate::units::Nanos;

/// Write a policy as configuration to paste.
///
/// The policy is that of a file (TOML, docs/planning.md) or that of the flags of plan retries, for calls to
/// one callee. What the format cannot say is told: in comments, and for JSON, which has none, on standard
/// error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dwindle plan emit --as envoy --callee cart --attempt 150ms --max-attempts 3 --retry-budget 0.3
  dwindle plan emit --as grpc --policy policy.toml --callee cart
  dwindle plan emit --as contract --policy policy.toml > contract.toml")]
pub(super) struct Args {
    /// For whom: gRPC clients (service config), Envoy (route and cluster), dwindle (contract)
    #[arg(long = "as", value_name = "TARGET", value_parser = one_of(Target::ALL, Target::name))]
    target: Target,

    /// A policy (TOML) in place of the flags below
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["deadline", "elapsed", "reserve", "attempt", "backoff", "max_attempts", "retry_budget"]
    )]
    policy: Option<String>,

    /// The service that is called; of a policy file all that it names, where it is not given
    #[arg(long, value_name = "NAME", required_unless_present = "policy", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    callee: Option<String>,

    /// The calls may be made twice, so that those that timed out are tried again too
    #[arg(long)]
    repeat_safe: bool,

    /// Retries per first try at most
    #[arg(long, allow_hyphen_values = true, value_name = "SHARE", value_parser = Share::parse)]
    retry_budget: Option<Share>,

    #[command(flatten)]
    question: Question,
}

impl Args {
    /// The policy, and what is spent before its calls, which a file does not tell.
    fn policy(&self) -> Result<(Policy, Option<Nanos>), Fatal> {
        if let Some(file) = &self.policy {
            let policy = Policy::parse(file, &input::read("--policy", file)?);
            let wrong = |error| Fatal::Config { flag: "--policy", error };
            return Ok((policy.map_err(wrong)?, None));
        }
        let retries = self.question.retries()?;
        let policy = retries.as_policy(self.callee.as_deref(), self.retry_budget);
        Ok((policy, Some(retries.elapsed)))
    }
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    let (policy, elapsed) = args.policy()?;
    let wanted = Wanted {
        policy: &policy,
        elapsed,
        callee: args.callee.as_deref(),
        is_repeat_safe: args.repeat_safe,
    };
    let Emitted { text, unsaid } = wanted.emit(args.target).map_err(Fatal::Usage)?;
    output::print(&text)?;
    for unsaid in unsaid {
        output::note(&format!("note: {unsaid}"));
    }
    Ok(exit::DONE)
}
