//! Contracts: request classes and their budgets, matched to root spans (SEMANTICS §13), what they
//! promise, and which findings are suppressed for a while.

mod call_terms;
mod limit;
mod suppression;

use glob::Pattern;
use serde::Deserialize;
use serde::de::Deserializer;
use twox_hash::XxHash64;

pub use crate::config_error::ConfigError as ContractError;
use crate::config_error::{self, Lines};
use crate::config_values::{
    duration, durations, optional_count, optional_duration, optional_ratio, text,
};
use crate::units::Nanos;
pub use call_terms::{CallTerms, Calls};
pub use limit::{Comparison, HopMeasure, HopValue, Limit, Promise, Ratio, Statistic, TimeOf};
pub use suppression::Suppression;

/// What a class of requests is promised, and what is known of its calls.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Contract {
    /// Its name, unique within a file.
    pub name: String,
    /// The class that matching requests get; `SERVICE OPERATION` of the root where there is none.
    pub request_class: Option<String>,
    /// Which root spans it is about.
    #[serde(rename = "match")]
    pub matches: Match,
    /// From the origin to the instant after which the result is of no use.
    #[serde(deserialize_with = "optional_duration")]
    pub deadline: Option<Nanos>,
    /// Kept back for assembling and sending the result.
    #[serde(deserialize_with = "duration")]
    pub return_reserve: Nanos,
    /// Kept back as well where the request holds a side effect.
    #[serde(deserialize_with = "duration")]
    pub reconciliation_reserve: Nanos,
    /// How long work may go on after its caller left.
    #[serde(deserialize_with = "optional_duration")]
    pub residual_bound: Option<Nanos>,
    /// Services meant to go on after the caller left.
    pub detached: Vec<Glob>,
    /// Operations (name, or method and route) that rightly outlast any budget.
    pub long_lived: Vec<Glob>,
    /// What `check` judges.
    pub limits: Vec<Limit>,
    /// Who retries, and how.
    pub retry: Option<RetryPolicy>,
    /// Kept and printed.
    pub queue_policy: Option<String>,
    /// Kept and printed.
    pub owner: Option<String>,
    /// Its deadline was taken from traces: it counts for requests that declare none, and is told as
    /// inferred.
    pub calibrated: bool,
    /// The line of the file on which it begins, from 1; 0 of one that no file holds.
    #[serde(skip)]
    pub line: usize,
}

/// Globs on the root span; what is absent matches everything.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Match {
    /// On its service.
    pub service: Option<Glob>,
    /// On its name, or on its method and route.
    pub operation: Option<Glob>,
}

/// Who retries calls of a class, and how.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetryPolicy {
    /// The service that may; every one where absent.
    pub owner: Option<String>,
    /// How often at most, the first try included.
    #[serde(deserialize_with = "optional_count")]
    pub max_attempts: Option<u32>,
    /// What one attempt needs.
    #[serde(deserialize_with = "optional_duration")]
    pub attempt_allowance: Option<Nanos>,
    /// The waits between attempts.
    #[serde(deserialize_with = "durations")]
    pub backoff: Vec<Nanos>,
    /// Retries per first try at most.
    #[serde(deserialize_with = "optional_ratio")]
    pub budget_ratio: Option<f64>,
}

/// A shell-like pattern: `*` any text (slashes too), `?` one character, `[...]` one of a set.
#[derive(Clone, Debug)]
pub struct Glob(Pattern);

impl Glob {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn new(pattern: &str) -> Result<Self, String> {
        Pattern::new(pattern).map(Self).map_err(|error| format!("bad pattern: {}", error.msg))
    }

    /// A pattern that only `text` matches.
    pub fn literal(text: &str) -> Self {
        let escaped = Pattern::escape(text);
        // What is escaped has nothing in it that could be wrong.
        Self(Pattern::new(&escaped).unwrap_or_default())
    }

    /// The only text that matches, if there is only one.
    pub fn as_literal(&self) -> Option<String> {
        let mut literal = String::new();
        let mut rest = self.as_str();
        while let Some(c) = rest.chars().next() {
            // Such as `[*]`, which is what escaping makes of a star.
            let one = rest.strip_prefix('[').and_then(|rest| {
                let c = rest.chars().next().filter(|c| *c != '!')?;
                Some((c, rest.strip_prefix(c)?.strip_prefix(']')?))
            });
            match (one, c) {
                (Some((c, after)), _) => {
                    literal.push(c);
                    rest = after;
                }
                (None, '*' | '?' | '[') => return None,
                (None, c) => {
                    literal.push(c);
                    rest = rest.get(c.len_utf8()..).unwrap_or_default();
                }
            }
        }
        Some(literal)
    }

    /// Whether the whole of `text` matches.
    pub fn matches(&self, text: &str) -> bool {
        self.0.matches(text)
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl<'de> Deserialize<'de> for Glob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text(deserializer, "a pattern in quotes, such as \"GET /items/*\"", Self::new)
    }
}

/// What a contract file holds.
#[derive(Clone, Debug, Default)]
pub struct ContractFile {
    /// The contracts, in the order in which they are tried.
    pub contracts: Vec<Contract>,
    /// What is known of calls, in the order in which it is looked for.
    pub calls: Vec<CallTerms>,
    /// Findings that do not fail a check for a while.
    pub suppressions: Vec<Suppression>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parsed {
    #[serde(default)]
    contract: Vec<toml::Spanned<Contract>>,
    #[serde(default)]
    call: Vec<toml::Spanned<CallTerms>>,
    #[serde(default)]
    suppress: Vec<toml::Spanned<Suppression>>,
}

impl ContractFile {
    /// Reads a file.
    ///
    /// # Errors
    /// Unknown keys, bad durations, patterns and limits, a contract without a name, two of one name,
    /// values that cannot be meant.
    pub fn parse(file: &str, text: &str) -> Result<Self, ContractError> {
        let parsed: Parsed = config_error::parse_toml(file, text)?;
        let lines = Lines::of(text);
        let mut contracts: Vec<Contract> = Vec::new();
        for spanned in parsed.contract {
            let start = spanned.span().start;
            let mut contract = spanned.into_inner();
            let error_at = |key: &str, message: String| {
                // Of a key within another: after that one.
                let (outer, inner) = key.split_once('.').unwrap_or((key, key));
                let of_table = || text.get(start..)?.find(&format!("[contract.{outer}]"));
                let outer = config_error::key_after(text, start, outer)
                    .or_else(|| of_table().map(|at| start + at))
                    .unwrap_or(start);
                let byte = config_error::key_after(text, outer, inner).unwrap_or(outer);
                ContractError::at_byte(file, text, byte, Some(inner.to_owned()), message)
            };
            if let Some((key, message)) = contract.contradiction() {
                return Err(error_at(key, message.to_owned()));
            }
            if contracts.iter().any(|other| other.name == contract.name) {
                let message = format!("two contracts are called {:?}", contract.name);
                return Err(error_at("name", message));
            }
            contract.line = lines.at(start);
            for limit in &mut contract.limits {
                limit.line = lines.at(limit.byte);
            }
            contracts.push(contract);
        }
        let calls = parsed.call.into_iter().map(|spanned| {
            let start = spanned.span().start;
            let terms = CallTerms { line: lines.at(start), ..spanned.into_inner() };
            match terms.contradiction() {
                None => Ok(terms),
                Some((key, message)) => {
                    let byte = config_error::key_after(text, start, key).unwrap_or(start);
                    let key = Some(key.to_owned());
                    Err(ContractError::at_byte(file, text, byte, key, message.to_owned()))
                }
            }
        });
        let calls = calls.collect::<Result<_, _>>()?;
        let suppressions = Suppression::numbered(parsed.suppress, file, text)?;
        Ok(Self { contracts, calls, suppressions })
    }

    /// A digest of all that it says that tables depend on: what was analyzed by another is told by it.
    pub fn digest(&self) -> String {
        Contract::digest(&self.contracts, &self.calls)
    }
}

impl Contract {
    /// Reads the contracts of a file, in its order, which is the order in which they are tried.
    ///
    /// # Errors
    /// Those of [`ContractFile::parse`].
    pub fn parse_file(file: &str, text: &str) -> Result<Vec<Self>, ContractError> {
        ContractFile::parse(file, text).map(|file| file.contracts)
    }

    /// A digest of all that `contracts` and `calls` say that tables depend on: what was analyzed by
    /// others is told by it.
    pub fn digest(contracts: &[Self], calls: &[CallTerms]) -> String {
        let said = |contract: &Self| {
            let Self { name, request_class, matches, deadline, return_reserve, .. } = contract;
            let Self { reconciliation_reserve, residual_bound, detached, long_lived, .. } =
                contract;
            let retry = contract.retry.as_ref();
            let retry = retry.map(|retry| (&retry.owner, retry.attempt_allowance));
            let times = (deadline, return_reserve, reconciliation_reserve, residual_bound);
            let calibrated = contract.calibrated;
            let what = (name, request_class, matches, times, detached, long_lived, retry);
            format!("{what:?}{calibrated}")
        };
        let said_of_calls = |terms: &CallTerms| {
            let CallTerms { caller, callee, operation, timeout, propagates, .. } = terms;
            let CallTerms { attempt_allowance, break_even, calibrated, .. } = terms;
            let times = (timeout, propagates, attempt_allowance, break_even);
            format!("{:?}", (caller, callee, operation, times, calibrated))
        };
        let said = contracts.iter().map(said).chain(calls.iter().map(said_of_calls));
        let said: Vec<String> = said.collect();
        format!("{:016x}", XxHash64::oneshot(0, said.join("\n").as_bytes()))
    }

    /// A value that reads well and cannot be meant: its key, and what was expected.
    fn contradiction(&self) -> Option<(&'static str, &'static str)> {
        let is_blank = |text: &Option<String>| text.as_ref().is_some_and(|it| it.trim().is_empty());
        let nothing = Some(Nanos::ZERO);
        let not_below = |reserve: Nanos| self.deadline.is_some_and(|deadline| reserve >= deadline);
        let retry = self.retry.as_ref();
        let ratio = retry.and_then(|retry| retry.budget_ratio);
        let wrong = [
            (self.name.trim().is_empty(), "name", "every [[contract]] needs a name"),
            (is_blank(&self.request_class), "request_class", "expected a name, or no such key"),
            (self.deadline == nothing, "deadline", "a deadline of nothing cannot be met"),
            (not_below(self.return_reserve), "return_reserve", "expected less than the deadline"),
            (
                not_below(self.return_reserve + self.reconciliation_reserve),
                "reconciliation_reserve",
                "expected less, with the return_reserve, than the deadline",
            ),
            (
                retry.is_some_and(|retry| is_blank(&retry.owner)),
                "retry.owner",
                "expected an owner that is the name of a service, or no such key",
            ),
            (
                retry.is_some_and(|retry| retry.max_attempts == Some(0)),
                "retry.max_attempts",
                "expected max_attempts of 1 or more: the first try counts",
            ),
            (
                retry.is_some_and(|retry| retry.attempt_allowance == nothing),
                "retry.attempt_allowance",
                "expected an attempt_allowance of more than nothing",
            ),
            (
                ratio.is_some_and(|ratio| !(ratio.is_finite() && ratio >= 0.0)),
                "retry.budget_ratio",
                "expected a budget_ratio of 0 or more: retries per first try",
            ),
            (is_blank(&self.owner), "owner", "expected a name, or no such key"),
            (is_blank(&self.queue_policy), "queue_policy", "expected a sentence, or no such key"),
        ];
        wrong.into_iter().find(|(is_wrong, ..)| *is_wrong).map(|(_, key, expected)| (key, expected))
    }

    /// A contract that only sets a deadline, for all requests or for those whose root span's
    /// operation matches.
    pub fn deadline_only(name: String, operation: Option<Glob>, deadline: Nanos) -> Self {
        let matches = Match { service: None, operation };
        Self { name, matches, deadline: Some(deadline), ..Self::default() }
    }
}
