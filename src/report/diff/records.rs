//! A comparison for programs: a record a line, the same in JSON and CSV (docs/diff.md tells the
//! fields). Times are whole nanoseconds, shares parts of one.

use serde::Serialize;

use super::{SCHEMA_VERSION, Told, words};
use crate::diff::{About, ClassDiff, Line, Numbers, Part, Percentile};
use crate::distributions::{Call, Name, Place};
use crate::report::RunFacts;
use crate::tables::spreadsheet::harmless;
use crate::units::Nanos;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    version: &'a str,
    base: SideRead<'a>,
    head: SideRead<'a>,
    judged: usize,
    lines: Vec<Record>,
}

#[derive(Serialize)]
struct SideRead<'a> {
    inputs: &'a [String],
    spans_read: u64,
    spans_rejected: u64,
    traces: u64,
}

/// A line. What does not apply is null, in CSV empty.
#[derive(Clone, Default, Serialize)]
struct Record {
    class: String,
    kind: &'static str,
    measure: &'static str,
    statistic: String,
    depth: Option<i32>,
    caller: Option<String>,
    callee: Option<String>,
    operation: Option<String>,
    finding_id: Option<String>,
    presence: &'static str,
    unit: &'static str,
    base: Option<Number>,
    base_lo: Option<Number>,
    base_hi: Option<Number>,
    base_n: Option<u64>,
    base_effective_n: Option<u64>,
    base_wasted_ns: Option<i64>,
    head: Option<Number>,
    head_lo: Option<Number>,
    head_hi: Option<Number>,
    head_n: Option<u64>,
    head_effective_n: Option<u64>,
    head_wasted_ns: Option<i64>,
    shift: Option<Number>,
    shift_lo: Option<Number>,
    shift_hi: Option<Number>,
    p: Option<f64>,
    corrected_p: Option<f64>,
    mark: &'static str,
    needs_requests: Option<u64>,
}

/// A time, a count or a part of one.
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
enum Number {
    Whole(i64),
    Real(f64),
}

/// JSON.
pub(super) fn json(told: &Told<'_>) -> String {
    let document = Document {
        schema_version: SCHEMA_VERSION,
        version: &told.head.version,
        base: inputs(told.base),
        head: inputs(told.head),
        judged: told.diff.judged,
        lines: records(told),
    };
    // Writing to memory does not fail.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

/// CSV.
pub(super) fn csv(told: &Told<'_>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let safe = |name: Option<String>| name.map(|name| harmless(&name).into_owned());
    for record in records(told) {
        let record = Record {
            class: harmless(&record.class).into_owned(),
            caller: safe(record.caller),
            callee: safe(record.callee),
            operation: safe(record.operation),
            ..record
        };
        // Writing to memory does not fail; if it did the text would end early.
        let _ = writer.serialize(record);
    }
    writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

fn inputs(facts: &RunFacts) -> SideRead<'_> {
    SideRead {
        inputs: &facts.inputs,
        spans_read: facts.spans_read,
        spans_rejected: facts.spans_rejected,
        traces: facts.traces,
    }
}

fn records(told: &Told<'_>) -> Vec<Record> {
    let diff = told.diff;
    let requests = |presence| {
        move |(name, requests): &(Name, u64)| {
            let count = (*requests > 0).then(|| i64::try_from(*requests).unwrap_or(i64::MAX));
            let count = count.map(Number::Whole);
            Record {
                class: name.to_string(),
                kind: "class",
                measure: "requests",
                presence,
                unit: "count",
                base: count.filter(|_| presence == "gone"),
                head: count.filter(|_| presence == "new"),
                ..Record::default()
            }
        }
    };
    let mut records: Vec<Record> = diff.new.iter().map(requests("new")).collect();
    records.extend(diff.gone.iter().map(requests("gone")));
    for (name, class) in &diff.classes {
        records.extend(class.lines.iter().map(|line| record(name, class, line)));
        for (presence, hops) in [("new", &class.new_hops), ("gone", &class.gone_hops)] {
            records.extend(hops.iter().map(|place| Record {
                class: name.to_string(),
                kind: "hop",
                presence,
                ..at(place)
            }));
        }
    }
    records
}

fn at(place: &Place) -> Record {
    Record { depth: Some(place.depth), ..of(&place.call) }
}

fn of(call: &Call) -> Record {
    let text = |name: &Option<Name>| name.as_deref().map(str::to_owned);
    Record {
        caller: text(&call.caller),
        callee: text(&call.callee),
        operation: Some(call.operation.to_string()),
        ..Record::default()
    }
}

fn record(name: &Name, class: &ClassDiff, line: &Line) -> Record {
    let about = match &line.about {
        About::Rate(rate) => Record { kind: "rate", measure: rate.name(), ..Record::default() },
        About::Measure(measure, quantile) => Record {
            kind: "measure",
            measure: measure.name(),
            statistic: quantile.to_string(),
            ..Record::default()
        },
        About::Remaining(place, quantile) => Record {
            kind: "hop",
            measure: "remaining_at_entry_ns",
            statistic: quantile.to_string(),
            ..at(place)
        },
        About::Elapsed(place, quantile) => Record {
            kind: "hop",
            measure: "elapsed_at_entry_ns",
            statistic: quantile.to_string(),
            ..at(place)
        },
        About::Finding((code, call)) => Record {
            kind: "finding",
            measure: code.name(),
            finding_id: Some(words::finding_id(name, &line.about)),
            ..call.as_ref().map(of).unwrap_or_default()
        },
    };
    let record = match &line.numbers {
        Numbers::Times { base, head, shift } => {
            let [of_base, of_head, shift_ends] =
                [&base.estimate, &head.estimate, shift].map(|estimate| {
                    [Some(estimate.value), estimate.lo, estimate.hi].map(|end| end.map(whole))
                });
            numbers(about, "ns", of_base, of_head, shift_ends).counted(base, head)
        }
        Numbers::Shares { base, head, shift: (shift, lo, hi) } => {
            let ends = |part: &Part| {
                let (lo, hi) = part.interval;
                [part.proportion.ratio(), lo, hi].map(|end| Some(Number::Real(end)))
            };
            let shift = [*shift, *lo, *hi].map(|end| Some(Number::Real(end)));
            numbers(about, "ratio", ends(base), ends(head), shift).of_requests(base, head)
        }
    };
    Record {
        class: name.to_string(),
        p: line.test.map(|test| test.p),
        corrected_p: line.corrected_p,
        mark: line.mark.name(),
        needs_requests: line.growth.map(|growth| words::more(growth, class.requests)),
        ..record
    }
}

fn numbers(
    about: Record,
    unit: &'static str,
    [base, base_lo, base_hi]: [Option<Number>; 3],
    [head, head_lo, head_hi]: [Option<Number>; 3],
    [shift, shift_lo, shift_hi]: [Option<Number>; 3],
) -> Record {
    Record {
        presence: "both",
        unit,
        base,
        base_lo,
        base_hi,
        head,
        head_lo,
        head_hi,
        shift,
        shift_lo,
        shift_hi,
        ..about
    }
}

impl Record {
    fn counted(self, base: &Percentile, head: &Percentile) -> Self {
        let count = |number: usize| u64::try_from(number).ok();
        Self {
            base_n: count(base.n),
            base_effective_n: count(base.effective),
            head_n: count(head.n),
            head_effective_n: count(head.effective),
            ..self
        }
    }

    fn of_requests(self, base: &Part, head: &Part) -> Self {
        let narrow = |sum: Option<i128>| sum.map(|sum| i64::try_from(sum).unwrap_or(i64::MAX));
        let is_finding = self.kind == "finding";
        Self {
            presence: match (base.proportion.part, head.proportion.part) {
                (0, _) if is_finding => "new",
                (_, 0) if is_finding => "gone",
                _ => "both",
            },
            base_n: Some(base.proportion.whole),
            head_n: Some(head.proportion.whole),
            base_wasted_ns: narrow(base.wasted_ns),
            head_wasted_ns: narrow(head.wasted_ns),
            ..self
        }
    }
}

fn whole(length: Nanos) -> Number {
    Number::Whole(length.as_nanos())
}
