//! Plans from measurements for programs: a record a line, the same in JSON and CSV (docs/planning.md
//! tells the fields). Times are whole nanoseconds, shares parts of one.

use serde::Serialize;
use serde_json::Number;

use crate::distributions::{Call, Estimate, Name, Ordered};
use crate::plan::measured::{Portion, Settled};
use crate::report::RunFacts;
use crate::report::plan::SCHEMA_VERSION;
use crate::stats::Quantile;
use crate::tables::spreadsheet::harmless;
use crate::units::Nanos;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    version: &'a str,
    inputs: &'a [String],
    spans_read: u64,
    spans_rejected: u64,
    traces: u64,
    lines: Vec<Record>,
}

/// A line. What does not apply is null, in CSV empty.
#[derive(Clone, Default, Serialize)]
pub(super) struct Record {
    class: String,
    caller: Option<String>,
    callee: Option<String>,
    operation: Option<String>,
    kind: &'static str,
    measure: &'static str,
    statistic: String,
    attempts: Option<u32>,
    depth: Option<u32>,
    allowance_ns: Option<i64>,
    value: Option<Number>,
    unit: &'static str,
    lo: Option<Number>,
    hi: Option<Number>,
    part: Option<u64>,
    n: Option<u64>,
    effective_n: Option<u64>,
    source: Option<&'static str>,
}

/// JSON.
pub(super) fn json(facts: &RunFacts, lines: Vec<Record>) -> String {
    let document = Document {
        schema_version: SCHEMA_VERSION,
        version: &facts.version,
        inputs: &facts.inputs,
        spans_read: facts.spans_read,
        spans_rejected: facts.spans_rejected,
        traces: facts.traces,
        lines,
    };
    // Writing to memory does not fail.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

/// CSV.
pub(super) fn csv(lines: Vec<Record>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let safe = |name: Option<String>| name.map(|name| harmless(&name).into_owned());
    for line in lines {
        let line = Record {
            class: harmless(&line.class).into_owned(),
            caller: safe(line.caller),
            callee: safe(line.callee),
            operation: safe(line.operation),
            ..line
        };
        // Writing to memory does not fail; if it did the text would end early.
        let _ = writer.serialize(line);
    }
    writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

impl Record {
    /// A line about a class.
    pub(super) fn of_class(class: &Name) -> Self {
        Self { class: class.to_string(), ..Self::default() }
    }

    /// A line about its calls.
    pub(super) fn of_call(class: &Name, call: &Call) -> Self {
        let text = |name: &Option<Name>| name.as_deref().map(str::to_owned);
        Self {
            caller: text(&call.caller),
            callee: text(&call.callee),
            operation: Some(call.operation.to_string()),
            ..Self::of_class(class)
        }
    }

    /// The same about so many attempts.
    pub(super) fn attempts(&self, attempts: u32) -> Self {
        Self { attempts: Some(attempts), ..self.clone() }
    }

    /// The same about calls one below another.
    pub(super) fn depth(&self, depth: u32) -> Self {
        Self { depth: Some(depth), ..self.clone() }
    }

    /// The same about attempts with an allowance.
    pub(super) fn allowance(&self, allowance: Nanos) -> Self {
        Self { allowance_ns: Some(allowance.as_nanos()), ..self.clone() }
    }

    /// How many there are.
    pub(super) fn count(&self, measure: &'static str, count: usize) -> Self {
        let value = Some(Number::from(count as u64));
        Self { kind: "count", measure, value, unit: "count", ..self.clone() }
    }

    /// A number that follows from others.
    pub(super) fn row(
        &self,
        measure: &'static str,
        unit: &'static str,
        value: Option<Number>,
    ) -> Self {
        Self { kind: "row", measure, value, unit, ..self.clone() }
    }

    /// That a class cannot be told of, for want of something.
    pub(super) fn missing(&self, what: &'static str) -> Self {
        Self { kind: "missing", measure: what, ..self.clone() }
    }

    /// What a plan goes by, which may be several values.
    pub(super) fn policy<T>(
        &self,
        measure: &'static str,
        unit: &'static str,
        settled: &Settled<T>,
        numbers: impl Fn(&T) -> Vec<Number>,
    ) -> Vec<Self> {
        let line = |(place, value): (usize, Number)| Self {
            kind: "policy",
            measure,
            statistic: place.to_string(),
            value: Some(value),
            unit,
            n: settled.n.map(|n| n as u64),
            source: Some(settled.source.name()),
            ..self.clone()
        };
        (1..).zip(numbers(&settled.value)).map(line).collect()
    }

    /// A share with its interval.
    pub(super) fn share(&self, measure: &'static str, portion: &Portion) -> Self {
        let is_known = portion.proportion.whole > 0;
        let real = |part: f64| Number::from_f64(part).filter(|_| is_known);
        let (lo, hi) = portion.interval;
        Self {
            kind: "share",
            measure,
            value: real(portion.proportion.ratio()),
            unit: "ratio",
            lo: real(lo),
            hi: real(hi),
            part: Some(portion.proportion.part),
            n: Some(portion.proportion.whole),
            effective_n: Some(portion.effective),
            ..self.clone()
        }
    }

    /// The same under another kind.
    pub(super) fn of_kind(self, kind: &'static str) -> Self {
        Self { kind, ..self }
    }

    /// One percentile of as many values as a share is of.
    pub(super) fn estimate(
        &self,
        measure: &'static str,
        quantile: Quantile,
        estimate: Option<Estimate>,
        portion: &Portion,
    ) -> Self {
        let end = |end: Option<Nanos>| end.map(whole);
        Self {
            kind: "distribution",
            measure,
            statistic: quantile.to_string(),
            value: estimate.map(|estimate| whole(estimate.value)),
            unit: "ns",
            lo: end(estimate.and_then(|estimate| estimate.lo)),
            hi: end(estimate.and_then(|estimate| estimate.hi)),
            n: Some(portion.proportion.whole),
            effective_n: Some(portion.effective),
            ..self.clone()
        }
    }

    /// The least, the percentiles and the largest of some values.
    pub(super) fn distribution(&self, measure: &'static str, values: &Ordered) -> Vec<Self> {
        let line = |statistic: &str, value: Option<Nanos>| Self {
            kind: "distribution",
            measure,
            statistic: statistic.to_owned(),
            value: value.map(whole),
            unit: "ns",
            n: Some(values.len() as u64),
            effective_n: Some(values.effective() as u64),
            ..self.clone()
        };
        let percentile = |quantile: Quantile| {
            let estimate = values.quantile(quantile);
            let end = |end: Option<Nanos>| end.map(whole);
            Self {
                lo: end(estimate.and_then(|estimate| estimate.lo)),
                hi: end(estimate.and_then(|estimate| estimate.hi)),
                ..line(&quantile.to_string(), estimate.map(|estimate| estimate.value))
            }
        };
        let mut lines = vec![line("min", values.min())];
        lines.extend(Quantile::ALL.map(percentile));
        lines.push(line("max", values.max()));
        lines
    }
}

/// A length in nanoseconds.
pub(super) fn whole(length: Nanos) -> Number {
    Number::from(length.as_nanos())
}
