//! What a contract promises of a class, and how it is written (docs/limits.md):
//!
//! ```text
//! limit      = measure [ "(" callee ")" ] [ "." statistic ] comparison value
//! measure    = a ratio, or a column of `requests` or `hops` that has a bad side, without `_ns`
//! callee     = a pattern of the called service's name
//! statistic  = "min" | "p0.1" | "p1" | "p5" | "p10" | "p50" | "p90" | "p95" | "p99" | "p99.9" | "max"
//! comparison = "<=" | "<" | ">=" | ">"
//! value      = a duration; of a ratio a number from 0 to 1, or a percentage
//! ```

use serde::Deserialize;
use serde::de::Deserializer;

use super::Glob;
use crate::config_values::text;
use crate::names::names;
use crate::stats::Quantile;
use crate::tables::{HopRow, Measure, RequestRow, Row};
use crate::units::Nanos;

/// One of them.
#[derive(Clone, Debug)]
pub struct Limit {
    /// As it is written.
    pub text: String,
    /// What it says.
    pub promise: Promise,
    /// The line of the contract file, from 1.
    pub line: usize,
    /// Where it begins in the file.
    pub(super) byte: usize,
}

/// What a limit says.
#[derive(Clone, Debug)]
pub enum Promise {
    /// How long something takes, or how much is left, at a rank of all values.
    Time {
        /// Of what.
        of: TimeOf,
        /// At which rank.
        statistic: Statistic,
        /// On which side of the bound it stays.
        comparison: Comparison,
        /// The bound.
        bound: Nanos,
    },
    /// How many of how many.
    Ratio {
        /// Which ones.
        ratio: Ratio,
        /// At hops to these services only.
        callee: Option<Glob>,
        /// On which side of the bound it stays.
        comparison: Comparison,
        /// The bound.
        bound: f64,
    },
}

/// Whose time a limit is about.
#[derive(Clone, Debug)]
pub enum TimeOf {
    /// Every request.
    Requests(fn(&RequestRow) -> Option<Nanos>),
    /// Every hop to some services.
    Hops(HopMeasure),
}

/// What a row of hops tells of a time.
pub type HopValue = fn(&HopRow) -> Option<Nanos>;

/// A time of hops to some services.
#[derive(Clone, Debug)]
pub struct HopMeasure {
    /// The value in a row.
    pub value: HopValue,
    /// The services.
    pub callee: Glob,
}

/// A rank of all values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The smallest that was seen.
    Min,
    /// A percentile of the population.
    Quantile(Quantile),
    /// The largest that was seen.
    Max,
}

names! {
    /// On which side of its bound a value stays.
    pub enum Comparison {
        /// Not above it.
        AtMost = "<=",
        /// Not below it.
        AtLeast = ">=",
        /// Below it.
        Below = "<",
        /// Above it.
        Above = ">",
    }
}

names! {
    /// How many of how many.
    pub enum Ratio {
        /// Requests that did not complete by their deadline, of those that have one.
        DeadlineMiss = "deadline_miss_ratio",
        /// Requests that did not complete, of all.
        Failure = "failure_ratio",
        /// Requests with late work, of those that have a deadline.
        Late = "late_ratio",
        /// Requests with residual work, of all.
        Residual = "residual_ratio",
        /// Calls that were tried again, of all.
        Retry = "retry_ratio",
        /// Calls that were hedged, of all.
        Hedge = "hedge_ratio",
        /// Retries that began with too little left, of those of which it is known.
        UnfundableRetry = "unfundable_retry_ratio",
        /// Attempts that began with too little left, of those of which it is known.
        UnfundableAttempt = "unfundable_attempt_ratio",
        /// Hops without a grant, of those below the origin.
        Undeclared = "undeclared_ratio",
        /// Hops that were given more than was left, of those whose grant can be judged.
        Overgrant = "overgrant_ratio",
    }
}

impl Ratio {
    /// Whether it is told of requests, and not of calls or hops.
    pub const fn is_of_requests(self) -> bool {
        matches!(self, Self::DeadlineMiss | Self::Failure | Self::Late | Self::Residual)
    }
}

impl Statistic {
    /// All of them, from the smallest value to the largest.
    pub const ALL: [Self; 11] = [
        Self::Min,
        Self::Quantile(Quantile::P0_1),
        Self::Quantile(Quantile::P1),
        Self::Quantile(Quantile::P5),
        Self::Quantile(Quantile::P10),
        Self::Quantile(Quantile::P50),
        Self::Quantile(Quantile::P90),
        Self::Quantile(Quantile::P95),
        Self::Quantile(Quantile::P99),
        Self::Quantile(Quantile::P99_9),
        Self::Max,
    ];

    /// Its name.
    pub fn name(self) -> String {
        match self {
            Self::Min => "min".to_owned(),
            Self::Quantile(quantile) => quantile.to_string(),
            Self::Max => "max".to_owned(),
        }
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = toml::Spanned::<Written>::deserialize(deserializer)?;
        let byte = spanned.span().start;
        let Written { text, promise } = spanned.into_inner();
        Ok(Self { text, promise, line: 0, byte })
    }
}

/// A limit, but for where it stands.
struct Written {
    text: String,
    promise: Promise,
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text(deserializer, "a limit in quotes, such as \"late_work.p99 <= 10ms\"", |text| {
            Ok(Self { text: text.to_owned(), promise: Promise::parse(text)? })
        })
    }
}

impl Promise {
    /// Reads a limit.
    ///
    /// # Errors
    /// Says what was expected where.
    pub fn parse(text: &str) -> Result<Self, String> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (measure, rest) = split(text.trim(), is_word);
        if measure.is_empty() {
            return Err("expected a limit such as \"late_work.p99 <= 10ms\"".to_owned());
        }
        let (callee, rest) = callee(measure, rest.trim_start())?;
        let (statistic, rest) = match rest.trim_start().strip_prefix('.') {
            Some(rest) => {
                let (name, rest) = split(rest.trim_start(), |c| is_word(c) || c == '.');
                (Some(name), rest)
            }
            None => (None, rest),
        };
        let (comparison, value) = comparison(measure, rest.trim_start())?;
        let value = value.trim();
        if let Some(ratio) = Ratio::from_name(measure) {
            return match (statistic, &callee) {
                (Some(_), _) => Err(format!("{measure} is one number: expected no statistic")),
                (_, Some(_)) if ratio.is_of_requests() => {
                    Err(format!("{measure} is of requests: expected no service in parentheses"))
                }
                _ => Ok(Self::Ratio { ratio, callee, comparison, bound: share(value)? }),
            };
        }
        let of = TimeOf::find(measure, callee)?;
        let statistic = self::statistic(measure, statistic)?;
        let bound =
            Nanos::parse(value).map_err(|error| format!("after {}: {error}", comparison.name()))?;
        Ok(Self::Time { of, statistic, comparison, bound })
    }
}

impl TimeOf {
    /// The measure of that name: of hops where services are named, else of requests.
    fn find(name: &str, callee: Option<Glob>) -> Result<Self, String> {
        let of_requests = find::<RequestRow>(name);
        let of_hops = hop_value(name);
        match (callee, of_requests, of_hops) {
            (Some(callee), _, Some(value)) => Ok(Self::Hops(HopMeasure { value, callee })),
            (None, Some(measure), _) => Ok(Self::Requests(measure.value)),
            (Some(_), Some(_), None) => {
                Err(format!("{name} is of requests: expected no service in parentheses"))
            }
            (None, None, Some(_)) => {
                Err(format!("{name} is of hops: expected a service, as in {name}(payment)"))
            }
            (_, None, None) => Err(unknown(name)),
        }
    }
}

/// The leading characters of a kind, and the rest.
fn split(text: &str, is_part: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !is_part(c)).unwrap_or(text.len()))
}

fn callee<'t>(measure: &str, rest: &'t str) -> Result<(Option<Glob>, &'t str), String> {
    let Some(inside) = rest.strip_prefix('(') else { return Ok((None, rest)) };
    let (callee, rest) = inside
        .split_once(')')
        .ok_or_else(|| format!("expected a closing parenthesis after {measure}(SERVICE"))?;
    match callee.trim() {
        "" => Err(format!("expected the name of a service within {measure}()")),
        callee => Ok((Some(Glob::new(callee)?), rest)),
    }
}

fn comparison<'t>(measure: &str, rest: &'t str) -> Result<(Comparison, &'t str), String> {
    // Those of two characters come first.
    let found = Comparison::ALL.iter().find_map(|&comparison| {
        rest.strip_prefix(comparison.name()).map(|value| (comparison, value))
    });
    found.ok_or_else(|| {
        format!("expected one of <= < >= > after {measure}, its service and its statistic")
    })
}

fn statistic(measure: &str, name: Option<&str>) -> Result<Statistic, String> {
    let all = || Statistic::ALL.map(Statistic::name).join(", ");
    let Some(name) = name else {
        return Err(format!("expected a statistic after {measure}: one of {}", all()));
    };
    let found = Statistic::ALL.into_iter().find(|statistic| statistic.name() == name);
    found.ok_or_else(|| format!("{name:?} is no statistic: expected one of {}", all()))
}

/// A number from 0 to 1, or a percentage.
fn share(value: &str) -> Result<f64, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let share = match value.strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => number(value),
    };
    share
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "expected a ratio from 0 to 1, such as 0.01 or 1%".to_owned())
}

fn find<R: Row>(name: &str) -> Option<&'static Measure<R>> {
    R::MEASURES.iter().find(|measure| named(measure) == name)
}

/// A measure's name in limits.
fn named<R>(measure: &Measure<R>) -> &'static str {
    measure.column.trim_end_matches("_ns")
}

/// What was left, or had passed, when a hop was sent, else received.
const AT_HOP: [(&str, HopValue); 2] = [
    ("remaining_at_hop", |row| row.remaining_at_send_ns.or(row.remaining_at_receive_ns)),
    ("elapsed_at_hop", |row| row.elapsed_at_send_ns.or(row.elapsed_at_receive_ns)),
];

fn hop_value(name: &str) -> Option<HopValue> {
    let at_hop = AT_HOP.iter().find(|(at_hop, _)| *at_hop == name).map(|(_, value)| *value);
    at_hop.or_else(|| find::<HopRow>(name).map(|measure| measure.value))
}

fn unknown(name: &str) -> String {
    let requests: Vec<&str> = RequestRow::MEASURES.iter().map(named).collect();
    let at_hop = AT_HOP.iter().map(|(name, _)| *name);
    let hops: Vec<&str> = at_hop.chain(HopRow::MEASURES.iter().map(named)).collect();
    let ratios: Vec<&str> = Ratio::ALL.iter().map(|ratio| ratio.name()).collect();
    format!(
        "{name:?} is no measure: expected one of requests ({}), of hops ({}), or a ratio ({})",
        requests.join(", "),
        hops.join(", "),
        ratios.join(", "),
    )
}
