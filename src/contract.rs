//! Contracts: request classes and their budgets, matched to root spans (SEMANTICS §13).

use glob::Pattern;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

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

/// What is wrong with a contract file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {key}{message}", key = key.as_ref().map_or_else(String::new, |key| format!("key `{key}`: ")))]
pub struct ContractError {
    /// The file as it was named.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The key, if the trouble is at one.
    pub key: Option<String>,
    /// What was expected.
    pub message: String,
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
        let error_at = |byte: usize, key: Option<String>, message: String| ContractError {
            file: file.to_owned(),
            line: text.as_bytes().iter().take(byte).filter(|&&b| b == b'\n').count() + 1,
            key,
            message,
        };
        let parsed: ContractFile = toml::from_str(text).map_err(|error| {
            let byte = error.span().map_or(0, |span| span.start);
            error_at(byte, key_at(text, byte), error.message().to_owned())
        })?;
        let mut contracts: Vec<Self> = Vec::new();
        for spanned in parsed.contract {
            let byte = spanned.span().start;
            let contract = spanned.into_inner();
            let key = Some("name".to_owned());
            if contract.name.is_empty() {
                return Err(error_at(byte, key, "every [[contract]] needs a name".to_owned()));
            }
            if contracts.iter().any(|other| other.name == contract.name) {
                let message = format!("two contracts are called {:?}", contract.name);
                return Err(error_at(byte, key, message));
            }
            contracts.push(contract);
        }
        Ok(contracts)
    }

    /// A contract that only sets a deadline, for all requests or for those whose root span's
    /// operation (or `service operation`) matches.
    pub fn deadline_only(name: String, operation: Option<Glob>, deadline: Nanos) -> Self {
        let matches = Match { service: None, operation };
        Self { name, matches, deadline: Some(deadline), ..Self::default() }
    }
}

/// The key whose value, or whose own name, stands at `byte`.
fn key_at(text: &str, byte: usize) -> Option<String> {
    let start = text.get(..byte)?.rfind('\n').map_or(0, |newline| newline + 1);
    let end = text.get(byte..)?.find('\n').map_or(text.len(), |newline| byte + newline);
    let is_key = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let before = text.get(start..byte)?;
    let at = text.get(byte..end)?;
    // The error stands on the key itself, or somewhere right of its equals sign.
    let own = at.split(|c| !is_key(c)).next().filter(|word| !word.is_empty());
    if let Some(word) = own
        && at.get(word.len()..)?.trim_start().starts_with('=')
    {
        return Some(word.to_owned());
    }
    let (left, _) = before.rsplit_once('=')?;
    left.trim_end().rsplit(|c| !is_key(c)).next().filter(|word| !word.is_empty()).map(str::to_owned)
}
