//! The rows of a conventions file, and how one file is laid over another.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

use super::facts::Fact;
use super::pattern::{NamePattern, Spellings};
use super::reading::Grammar;
use crate::config_error::{ConfigError, parse_toml};
use crate::span::{Kind, Outcome};

/// What kind of number a row gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TimeKind {
    /// Already reduced by the time spent upstream.
    Remaining,
    /// A configured time.
    Full,
    /// An instant.
    Absolute,
    /// The bound of one try: no grant.
    PerTry,
}

/// On which half of a call a row counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Side {
    /// The half that receives.
    Server,
    /// The half that sends.
    Client,
    /// Either.
    #[default]
    Any,
}

impl Side {
    /// Whether a span of `kind` may be of this side; spans without a kind may be of either.
    pub(super) fn is_met_by(self, kind: Kind) -> bool {
        match self {
            Self::Any => true,
            Self::Server => kind.receives() || kind == Kind::Internal,
            Self::Client => kind.sends() || kind == Kind::Internal,
        }
    }
}

/// From when a length counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Anchor {
    /// The span's start: it was measured then.
    Start,
    /// Before any queue: it came with the request.
    #[default]
    Arrival,
}

/// Time that was given, or the bound of one try (B rows).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GrantRow {
    pub(super) id: String,
    pub(super) keys: Vec<Spellings>,
    pub(super) read: Grammar,
    pub(super) kind: TimeKind,
    #[serde(default)]
    pub(super) side: Side,
    #[serde(default)]
    pub(super) anchor: Anchor,
    #[serde(default)]
    pub(super) beside: Vec<Vec<String>>,
    pub(super) single_try: Option<String>,
    pub(super) event: Option<String>,
    #[serde(default)]
    pub(super) heuristic: bool,
}

/// How an attempt number is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OrdinalGrammar {
    /// A whole number.
    #[default]
    Count,
    /// `attempt=` in the request header of AWS SDKs.
    SdkRequest,
}

/// Which try of a call a span is (A rows).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OrdinalRow {
    pub(super) id: String,
    pub(super) keys: Vec<Spellings>,
    #[serde(default)]
    pub(super) read: OrdinalGrammar,
    pub(super) add: i32,
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) attempt: bool,
}

/// How many tries a span hides: under a key, or by events (A9, A10).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TriesRow {
    pub(super) id: String,
    #[serde(default)]
    pub(super) keys: Vec<Spellings>,
    #[serde(default)]
    pub(super) events: Vec<NamePattern>,
    pub(super) add: i32,
    #[serde(default)]
    pub(super) failures: bool,
    #[serde(default)]
    pub(super) beside: Vec<String>,
    #[serde(default)]
    pub(super) heuristic: bool,
}

/// What made a span (L rows).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StackRow {
    pub(super) id: String,
    pub(super) keys: Vec<Spellings>,
    #[serde(default)]
    pub(super) is: Vec<NamePattern>,
    pub(super) stack: Option<String>,
}

impl StackRow {
    /// What made a span that has such a value under one of the keys.
    pub(super) fn stack_of<'a>(&'a self, value: &'a str) -> Option<&'a str> {
        let is_known = self.is.is_empty() || self.is.iter().any(|known| known.matches(value));
        is_known.then(|| self.stack.as_deref().unwrap_or(value))
    }

    /// A key and a value that tell `stack`.
    pub(super) fn telling(&self, stack: &str) -> Option<(&str, String)> {
        let key = self.keys.first()?.0.first()?;
        let mut values = self.is.iter().map(|known| known.with_star(""));
        let value = match &self.stack {
            Some(own) => (own == stack).then(|| values.next().unwrap_or_default()),
            None => values.find(|value| value == stack),
        };
        Some((key, value?))
    }
}

/// How a sampler says how many requests a span stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SamplingGrammar {
    /// The `ot` member of a trace state.
    TraceState,
    /// So many.
    OneIn,
    /// The probability with which it was kept.
    Probability,
    /// The type of a sampler of Jaeger's, whose parameter stands beside it.
    Jaeger,
}

/// How many requests a span stands for (S rows).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SamplingRow {
    pub(super) id: String,
    pub(super) keys: Vec<Spellings>,
    pub(super) read: SamplingGrammar,
    #[serde(default)]
    pub(super) times: Vec<String>,
}

/// The parameter of a sampler of Jaeger's, which stands beside its type.
pub(super) const JAEGER_PARAM: &str = "sampler.param";

impl SamplingRow {
    /// The keys that are read with those of the row.
    pub(super) fn beside(&self) -> impl Iterator<Item = &str> {
        let param = (self.read == SamplingGrammar::Jaeger).then_some(JAEGER_PARAM);
        self.times.iter().map(String::as_str).chain(param)
    }
}

/// What is only there where traces were chosen once their outcome was known (T rows).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChosenRow {
    pub(super) id: String,
    pub(super) keys: Vec<Spellings>,
    pub(super) by: String,
}

/// What a span's name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum NameMeaning {
    /// The span only waits.
    Wait,
    /// One try of a call.
    Attempt,
    /// The same, with its number in place of the star.
    NumberedAttempt,
    /// The sending half of a call.
    Client,
    /// The receiving half.
    Server,
}

/// What a span's name says (Q2, A7).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NameRow {
    pub(super) id: String,
    pub(super) names: Vec<NamePattern>,
    pub(super) means: NameMeaning,
}

/// Time in a queue before the span (Q1, Q3, Q5).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QueueRow {
    pub(super) id: String,
    #[serde(default)]
    pub(super) keys: Vec<Spellings>,
    #[serde(default)]
    pub(super) events: Vec<String>,
    #[serde(default)]
    pub(super) read: Grammar,
}

/// Events up to which the span only waited (Q7).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InsideRow {
    pub(super) id: String,
    pub(super) events: Vec<String>,
}

/// Values that a row waits for; those that are numbers also as such, to compare without a text.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Vec<String>")]
pub(super) struct Expected {
    pub(super) texts: Vec<String>,
    pub(super) numbers: Vec<i64>,
}

impl From<Vec<String>> for Expected {
    fn from(texts: Vec<String>) -> Self {
        let numbers = texts.iter().filter_map(|text| text.parse().ok()).collect();
        Self { texts, numbers }
    }
}

/// A value that tells how the span ended (O1, O3, O4, O7, O8).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OutcomeRow {
    pub(super) id: String,
    #[serde(default)]
    pub(super) keys: Vec<Spellings>,
    #[serde(default)]
    pub(super) events: Vec<String>,
    pub(super) is: Option<Expected>,
    #[serde(default)]
    pub(super) systems: Vec<String>,
    #[serde(deserialize_with = "outcome")]
    pub(super) means: Outcome,
}

/// Exact exception types (O5).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExceptionRow {
    pub(super) id: String,
    pub(super) types: Vec<Spellings>,
    #[serde(deserialize_with = "outcome")]
    pub(super) means: Outcome,
}

/// Words within texts (O6).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WordRow {
    pub(super) id: String,
    pub(super) words: Vec<Spellings>,
    #[serde(deserialize_with = "outcome")]
    pub(super) means: Outcome,
}

/// The keys of a single fact.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FactRow {
    pub(super) fact: Fact,
    pub(super) id: Option<String>,
    pub(super) keys: Vec<Spellings>,
}

/// Keys that are known and counted, but give no number.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NotedRow {
    pub(super) id: String,
    #[serde(default)]
    pub(super) keys: Vec<Spellings>,
    #[serde(default)]
    pub(super) events: Vec<NamePattern>,
}

/// An outcome by its name.
fn outcome<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Outcome, D::Error> {
    let name = String::deserialize(deserializer)?;
    Outcome::from_name(&name).ok_or_else(|| {
        let known: Vec<&str> = Outcome::ALL.iter().map(|outcome| outcome.name()).collect();
        D::Error::custom(format!("expected one of {}", known.join(", ")))
    })
}

/// The rows of one file, or of several laid over one another, by section.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Rows {
    pub(super) grant: Vec<GrantRow>,
    pub(super) ordinal: Vec<OrdinalRow>,
    pub(super) tries: Vec<TriesRow>,
    pub(super) stack: Vec<StackRow>,
    pub(super) name: Vec<NameRow>,
    pub(super) queue: Vec<QueueRow>,
    pub(super) inside: Vec<InsideRow>,
    pub(super) outcome: Vec<OutcomeRow>,
    pub(super) exception: Vec<ExceptionRow>,
    pub(super) word: Vec<WordRow>,
    pub(super) fact: Vec<FactRow>,
    pub(super) noted: Vec<NotedRow>,
    pub(super) sampling: Vec<SamplingRow>,
    pub(super) chosen: Vec<ChosenRow>,
}

impl Rows {
    /// Reads the rows of a file.
    pub(super) fn parse(file: &str, text: &str) -> Result<Self, ConfigError> {
        parse_toml(file, text)
    }

    /// These rows with those of `over` laid over them.
    #[must_use]
    pub(super) fn overlaid(&self, over: &Self) -> Self {
        Self {
            grant: overlay(&self.grant, &over.grant, |a, b| a.id == b.id),
            ordinal: overlay(&self.ordinal, &over.ordinal, |a, b| a.id == b.id),
            tries: overlay(&self.tries, &over.tries, |a, b| a.id == b.id),
            stack: overlay(&self.stack, &over.stack, |a, b| a.id == b.id),
            name: overlay(&self.name, &over.name, |a, b| a.id == b.id),
            queue: overlay(&self.queue, &over.queue, |a, b| a.id == b.id),
            inside: overlay(&self.inside, &over.inside, |a, b| a.id == b.id),
            outcome: overlay(&self.outcome, &over.outcome, |a, b| a.id == b.id),
            exception: overlay(&self.exception, &over.exception, |a, b| a.id == b.id),
            word: overlay(&self.word, &over.word, |a, b| a.id == b.id),
            fact: overlay(&self.fact, &over.fact, |a, b| a.fact == b.fact),
            noted: overlay(&self.noted, &over.noted, |a, b| a.id == b.id),
            sampling: overlay(&self.sampling, &over.sampling, |a, b| a.id == b.id),
            chosen: overlay(&self.chosen, &over.chosen, |a, b| a.id == b.id),
        }
    }
}

/// The rows of `base`, each replaced in its place by all of `over` that are called the same, and
/// before them those of `over` that are new.
fn overlay<Row: Clone>(base: &[Row], over: &[Row], same: impl Fn(&Row, &Row) -> bool) -> Vec<Row> {
    let is_new = |row: &&Row| !base.iter().any(|old| same(old, row));
    let mut rows: Vec<Row> = over.iter().filter(is_new).cloned().collect();
    for (at, old) in base.iter().enumerate() {
        let mut news = over.iter().filter(|row| same(old, row)).peekable();
        if news.peek().is_none() {
            rows.push(old.clone());
        } else if !base.iter().take(at).any(|earlier| same(earlier, old)) {
            rows.extend(news.cloned());
        }
    }
    rows
}
