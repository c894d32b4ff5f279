//! Contracts: request classes and their budgets, matched to root spans (SEMANTICS §13).

use glob::Pattern;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

use crate::config_error;
pub use crate::config_error::ConfigError as ContractError;
use crate::units::Nanos;

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
    pub limits: Vec<String>,
    /// Who retries, and how.
    pub retry: Option<RetryPolicy>,
    /// Kept and printed.
    pub queue_policy: Option<String>,
    /// Kept and printed.
    pub owner: Option<String>,
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
    pub max_attempts: Option<u32>,
    /// What one attempt needs.
    #[serde(deserialize_with = "optional_duration")]
    pub attempt_allowance: Option<Nanos>,
    /// The waits between attempts.
    #[serde(deserialize_with = "durations")]
    pub backoff: Vec<Nanos>,
    /// Retries per request at most.
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
        Self::new(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Nanos, D::Error> {
    Nanos::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

fn optional_duration<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Nanos>, D::Error> {
    duration(deserializer).map(Some)
}

fn durations<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Nanos>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    texts.iter().map(|text| Nanos::parse(text)).collect::<Result<_, _>>().map_err(D::Error::custom)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ContractFile {
    #[serde(default)]
    contract: Vec<toml::Spanned<Contract>>,
}

impl Contract {
    /// Reads the contracts of a file, in its order, which is the order in which they are tried.
    ///
    /// # Errors
    /// Unknown keys, bad durations and patterns, a contract without a name, two of one name.
    pub fn parse_file(file: &str, text: &str) -> Result<Vec<Self>, ContractError> {
        let parsed: ContractFile = config_error::parse_toml(file, text)?;
        let mut contracts: Vec<Self> = Vec::new();
        for spanned in parsed.contract {
            let byte = spanned.span().start;
            let contract = spanned.into_inner();
            // At the key, or at the start of the contract that lacks it.
            let error_at = |key: &str, message: String| {
                let of_key = text.get(byte..).and_then(|rest| rest.find(&format!("\n{key}")));
                let byte = of_key.map_or(byte, |at| byte + at + 1);
                ContractError::at_byte(file, text, byte, Some(key.to_owned()), message)
            };
            if contract.name.is_empty() {
                let message = "every [[contract]] needs a name".to_owned();
                return Err(ContractError::at_byte(file, text, byte, Some("name".into()), message));
            }
            if let Some((key, message)) = contract.contradiction() {
                return Err(error_at(key, message.to_owned()));
            }
            if contracts.iter().any(|other| other.name == contract.name) {
                return Err(error_at(
                    "name",
                    format!("two contracts are called {:?}", contract.name),
                ));
            }
            contracts.push(contract);
        }
        Ok(contracts)
    }

    /// A value that reads well and cannot be meant: its key, and what was expected.
    fn contradiction(&self) -> Option<(&'static str, &'static str)> {
        let nothing = Some(Nanos::ZERO);
        let allowance = self.retry.as_ref().and_then(|retry| retry.attempt_allowance);
        if self.deadline == nothing {
            Some(("deadline", "a deadline of nothing cannot be met"))
        } else if self.deadline.is_some_and(|deadline| self.return_reserve >= deadline) {
            Some(("return_reserve", "expected less than the deadline"))
        } else if allowance == nothing {
            Some(("retry", "expected an attempt_allowance of more than nothing"))
        } else if self.request_class.as_deref() == Some("") {
            Some(("request_class", "expected a name, or no such key"))
        } else {
            None
        }
    }

    /// A contract that only sets a deadline, for all requests or for those whose root span's
    /// operation matches.
    pub fn deadline_only(name: String, operation: Option<Glob>, deadline: Nanos) -> Self {
        let matches = Match { service: None, operation };
        Self { name, matches, deadline: Some(deadline), ..Self::default() }
    }
}
