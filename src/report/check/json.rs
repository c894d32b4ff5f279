//! A verdict as JSON: exact, times in nanoseconds.
//!
//! ```json
//! {"schema_version": 1, "version": "…", "contract": "…", "spans_read": 9, "spans_rejected": 0,
//!  "as_of": "2027-01-31",
//!  "verdict": "pass" or "fail", "fail_on": ["possible", …],
//!  "checks": [{"id": "…", "class": "…" or null, "contracts": ["…"], "sort": "case" | "limit" | "retry" | "match",
//!   "number": 3 or null, "name": "…", "outcome": "pass" | "fail" | "no-evidence", "fails": false,
//!   "reason": "…", "findings": ["id", …], "missing": ["queue", …], "measured": {…} or null}],
//!  "findings": [{"id": "…", "code": "…", "class": "…", "caller": "…", "callee": "…",
//!   "operation": "…", "standing": "fails" | "possible" | "known" | "suppressed", "findings": 3,
//!   "certain": 3, "requests": 3, "wasted_ns": 0 or null, "traces": ["…"]}],
//!  "suppressions": [{"id": "…", "reason": "…", "until": "2027-01-31",
//!   "state": "used" | "expired" | "unused"}]}
//! ```
//! `measured` holds `value_ns`, `lo_ns`, `hi_ns` and `n` of a time (null: not bounded), `part`,
//! `whole`, `lo` and `hi` of a ratio. `--baseline` reads the ids of `findings`.

use serde_json::{Value, json};

use super::{SCHEMA_VERSION, Told, words};
use crate::check::{Basis, Check, ClassVerdict, Judged, Kind, Measured};
use crate::units::Nanos;

/// Writes a verdict.
pub(super) fn render(told: &Told<'_>) -> String {
    let checks = told
        .verdict
        .classes
        .iter()
        .flat_map(|class| class.checks.iter().map(move |check| self::check(class, check)));
    let findings = told.verdict.classes.iter().flat_map(|class| &class.findings).map(finding);
    let suppressions = told.verdict.suppressions.iter().map(|used| {
        json!({
            "id": used.suppression.id.to_string(),
            "reason": used.suppression.reason,
            "until": used.suppression.until.to_string(),
            "state": used.state.name(),
        })
    });
    let document = json!({
        "schema_version": SCHEMA_VERSION,
        "version": told.facts.version,
        "contract": told.contract_file,
        "spans_read": told.facts.spans_read,
        "spans_rejected": told.facts.spans_rejected,
        "as_of": told.rulings.as_of.to_string(),
        "verdict": words::verdict(told),
        "fail_on": told.rulings.fail_on.iter().map(|what| what.name()).collect::<Vec<_>>(),
        "checks": checks.collect::<Vec<_>>(),
        "findings": findings.collect::<Vec<_>>(),
        "suppressions": suppressions.collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}

fn check(class: &ClassVerdict<'_>, check: &Check<'_>) -> Value {
    let contracts: Vec<&str> = class.contracts.iter().map(|it| it.name.as_str()).collect();
    let number = match check.kind {
        Kind::Case(case) => case.number,
        Kind::Limit(_) | Kind::Retry(..) | Kind::Match(_) => None,
    };
    let (mut found, mut missing, mut measured) = (Vec::new(), Vec::new(), Value::Null);
    match &check.basis {
        Basis::Findings { found: of_case, missing: lacking } => {
            found = of_case.iter().map(|finding| finding.id.to_string()).collect();
            missing = lacking.iter().map(|need| need.name()).collect();
        }
        Basis::NoRequest => {}
        Basis::Measured(value) => measured = self::measured(value),
        Basis::RetryBudget { share, interval: (lo, hi) } => {
            measured =
                json!({"part": share.part, "whole": share.whole - share.part, "lo": lo, "hi": hi});
        }
        Basis::RetriesByOthers { count, .. } => measured = json!({"part": count}),
        Basis::TriedTooOften { count, most, .. } => {
            measured = json!({"part": count, "value": most});
        }
    }
    json!({
        "id": check.id.to_string(),
        "class": class.is_class.then_some(class.name),
        "contracts": contracts,
        "sort": words::sort(&check.kind),
        "number": number,
        "name": words::title(&check.kind),
        "outcome": check.outcome.name(),
        "fails": check.fails,
        "reason": words::reason(check),
        "findings": found,
        "missing": missing,
        "measured": measured,
    })
}

fn measured(measured: &Measured) -> Value {
    match measured {
        Measured::Time { estimate, n } => {
            let nanos = |length: Option<Nanos>| length.map(Nanos::as_nanos);
            json!({
                "value_ns": nanos(estimate.map(|estimate| estimate.value)),
                "lo_ns": nanos(estimate.and_then(|estimate| estimate.lo)),
                "hi_ns": nanos(estimate.and_then(|estimate| estimate.hi)),
                "n": n,
            })
        }
        Measured::Share { proportion, interval: (lo, hi) } => {
            json!({"part": proportion.part, "whole": proportion.whole, "lo": lo, "hi": hi})
        }
    }
}

fn finding(finding: &Judged<'_>) -> Value {
    let (subject, group) = (finding.subject, finding.group);
    let call = subject.call.as_ref();
    let traces = group.exemplars.iter().map(|exemplar| exemplar.trace_id.to_string());
    json!({
        "id": finding.id.to_string(),
        "code": subject.code.name(),
        "class": &*subject.class,
        "caller": call.and_then(|call| call.caller.as_deref()),
        "callee": call.and_then(|call| call.callee.as_deref()),
        "operation": call.map(|call| &*call.operation),
        "standing": finding.standing.name(),
        "findings": group.findings,
        "certain": group.certain(),
        "requests": group.requests,
        "wasted_ns": super::super::json::exact(group.wasted_ns),
        "traces": traces.collect::<Vec<_>>(),
    })
}
