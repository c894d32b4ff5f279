//! Calls into one service as requests of their own.
//!
//! The numbers of one are those of a trace that begins there: what lies below the server's span is cut
//! out, the deadline set by a contract, and the second implementation asked. Verdicts and findings rest
//! on what is above as well, and must be those of the whole trace.

use std::collections::{BTreeMap, BTreeSet};

use dwindle::clocks::Offsets;
use dwindle::contract::Contract;
use dwindle::reconstruct::{Policy, reconstruct};
use dwindle::span::{Kind, Span, SpanId, Spans, TraceId};
use dwindle::units::Nanos;
use proptest::prelude::{prop_assert, prop_assert_eq};
use proptest::proptest;
use serde_json::{Value, json};

use crate::support::command::{run, scratch};
use crate::support::naive;
use crate::support::random::{admitted, any_traces, policy};
use crate::support::tables::{Json, json_tables};

/// The columns that count from the origin of the request that they are told in.
const SHIFTED: [&str; 3] = ["elapsed_at_send_ns", "elapsed_at_receive_ns", "elapsed_at_start_ns"];

fn tables(spans: &Spans, policy: &Policy) -> Json {
    json_tables(std::iter::once(reconstruct(spans.clone(), policy, &Offsets::default())))
}

fn scoped(policy: &Policy, service: &str) -> Policy {
    Policy { scope: Some(service.to_owned()), ..policy.clone() }
}

fn number(row: &Value, column: &str) -> i64 {
    row[column].as_i64().unwrap_or_else(|| panic!("{column} of {row}"))
}

/// The hops of a trace that enter a service, told by the tables of whole requests.
fn entries<'t>(whole: &'t Json, service: &str) -> Vec<&'t Value> {
    let hops: BTreeMap<(String, String), &Value> = whole["hops"]
        .iter()
        .map(|hop| ((hop["trace_id"].to_string(), hop["hop_id"].to_string()), hop))
        .collect();
    let above = |hop: &Value| {
        let key = (hop["trace_id"].to_string(), hop["caller_hop_id"].to_string());
        hops.get(&key).copied()
    };
    let enters = |hop: &Value| enters(hop, service);
    let is_outermost = |hop: &&&Value| {
        let mut at = above(hop);
        while let Some(hop) = at {
            if enters(hop) {
                return false;
            }
            at = above(hop);
        }
        true
    };
    let all: Vec<&Value> = whole["hops"].iter().filter(|hop| enters(hop)).collect();
    all.iter().filter(is_outermost).copied().collect()
}

fn enters(hop: &Value, service: &str) -> bool {
    hop["callee_service"] == service && hop["caller_service"] != service
}

/// Those of some requests whose roots stand above the root of one.
/// Of several records with one id the raw spans do not tell which was kept, so nothing is said there.
fn lies_below<'t>(spans: &Spans, request: &Value, all: &'t [Value]) -> Vec<&'t Value> {
    let parent_of = |id: &str| {
        let is_it = |span: &&Span| {
            span.span_id.to_string() == id && span.trace_id.to_string() == request["trace_id"]
        };
        spans.rows.iter().find(is_it)?.parent_span_id.map(|parent| parent.to_string())
    };
    let ids: BTreeSet<_> = spans.rows.iter().map(|span| (span.trace_id, span.span_id)).collect();
    if ids.len() < spans.rows.len() {
        return Vec::new();
    }
    let mut above = Vec::new();
    let mut at = request["root_span_id"].as_str().and_then(parent_of);
    for _ in 0..=spans.rows.len() {
        let Some(id) = at else { return above };
        above.extend(all.iter().filter(|other| {
            other["trace_id"] == request["trace_id"]
                && other["root_span_id"] == id.as_str()
                && other["root_span_id"] != request["root_span_id"]
        }));
        at = parent_of(&id);
    }
    // A cycle, which is cut somewhere.
    Vec::new()
}

/// The root span of the whole request that a call is of.
fn whole_of(whole: &Json, request: &Value) -> Value {
    let hop = whole["hops"].iter().find(|hop| {
        hop["trace_id"] == request["trace_id"] && *root_of(hop) == request["root_span_id"]
    });
    hop.unwrap()["root_span_id"].clone()
}

/// What a hop that enters stands for: its server, else its client.
fn root_of(hop: &Value) -> &Value {
    if hop["server_span_id"].is_null() { &hop["client_span_id"] } else { &hop["server_span_id"] }
}

fn services(spans: &Spans) -> BTreeSet<&str> {
    spans.rows.iter().map(|span| spans.strings.get(span.service)).collect()
}

proptest! {
    #[test]
    fn each_call_that_enters_is_a_request_with_what_its_caller_had_left(
        spans in any_traces(),
        policy in policy(),
    ) {
        let spans = admitted(&spans);
        let whole = tables(&spans, &policy);
        for service in services(&spans) {
            let told = tables(&spans, &scoped(&policy, service));
            let wanted = entries(&whole, service);
            // Tables stand what hangs on a client beside its server below that server's hop: by
            // spans there may be more calls, and each enters, within no other of its request.
            prop_assert!(told["requests"].len() >= wanted.len());
            for request in &told["requests"] {
                let its = whole["hops"].iter().find(|hop| {
                    hop["trace_id"] == request["trace_id"]
                        && *root_of(hop) == request["root_span_id"]
                        && enters(hop, service)
                });
                prop_assert!(its.is_some(), "{} enters nothing", request);
                let above = lies_below(&spans, request, &told["requests"]);
                let is_cut = |above: &Value| whole_of(&whole, above) != whole_of(&whole, request);
                prop_assert!(above.iter().all(|above| is_cut(above)), "{} lies below", request);
            }
            for hop in wanted {
                let request = told["requests"].iter().find(|row| {
                    row["trace_id"] == hop["trace_id"] && row["root_span_id"] == *root_of(hop)
                });
                let Some(request) = request else {
                    prop_assert!(false, "no request of {}", hop);
                    continue;
                };
                // Nobody called a root: its request is the whole.
                if hop["root_span_id"] == *root_of(hop) {
                    let same = |row: &&Value| row["root_span_id"] == request["root_span_id"]
                        && row["trace_id"] == request["trace_id"];
                    let mut of_root = whole["requests"].iter().find(same).unwrap().clone();
                    of_root["request_class"] = request["request_class"].clone();
                    prop_assert_eq!(&of_root, request);
                    continue;
                }
                // Of a caller without a deadline the grant counts.
                let left = &hop["remaining_at_receive_ns"];
                if !left.is_null() {
                    prop_assert_eq!(&request["budget_at_admission_ns"], left);
                    prop_assert_eq!(
                        &request["budget_at_start_ns"],
                        &hop["remaining_at_start_ns"]
                    );
                }
                if hop["server_span_id"].is_null() && !hop["remaining_at_send_ns"].is_null() {
                    let queued = number(request, "elapsed_ns") - number(request, "duration_ns");
                    let left = number(hop, "remaining_at_send_ns") + queued;
                    prop_assert_eq!(number(request, "budget_at_origin_ns"), left);
                }
            }
        }
    }

    #[test]
    fn hops_attempts_and_findings_below_are_those_of_the_whole_trace(
        spans in any_traces(),
        policy in policy(),
    ) {
        let spans = admitted(&spans);
        let whole = tables(&spans, &policy);
        let rebased = |row: &Value| -> Value {
            let mut row = row.clone();
            for column in [
                "request_class", "root_span_id", "depth", "caller_hop_id", "late_work_ns",
                "late_work_min_ns", "late_work_max_ns", "late_wait_ns",
            ] {
                row[column] = Value::Null;
            }
            for column in SHIFTED {
                row[column] = json!(row[column].is_null());
            }
            row
        };
        for service in services(&spans) {
            let told = tables(&spans, &scoped(&policy, service));
            for (table, id) in [("hops", "hop_id"), ("attempts", "span_id")] {
                let mut shifts: BTreeMap<String, i64> = BTreeMap::new();
                for row in &told[table] {
                    let same = |other: &&Value| {
                        other["trace_id"] == row["trace_id"] && other[id] == row[id]
                    };
                    let Some(other) = whole[table].iter().find(same) else {
                        prop_assert!(false, "{} is not in the whole", row);
                        continue;
                    };
                    // The origin of a request is no call, wherever it is told.
                    prop_assert_eq!(rebased(row), rebased(other));
                    let key = format!("{} {}", row["trace_id"], row["root_span_id"]);
                    for column in SHIFTED.iter().filter(|column| row[**column].is_i64()) {
                        let shift = number(other, column) - number(row, column);
                        prop_assert_eq!(*shifts.entry(key.clone()).or_insert(shift), shift);
                    }
                }
            }
            for row in told["findings"].iter().filter(|row| row["code"] != "retry-layered") {
                let same = |other: &&Value| {
                    ["trace_id", "span_id", "code", "excess_ns", "certainty", "evidence"]
                        .iter()
                        .all(|column| other[*column] == row[*column])
                };
                prop_assert!(whole["findings"].iter().any(|other| same(&other)), "{}", row);
            }
        }
    }

    #[test]
    fn a_call_has_the_numbers_of_a_trace_that_begins_with_it(spans in any_traces()) {
        let mut spans = admitted(&spans);
        let clock = spans.strings.intern("one clock");
        for span in &mut spans.rows {
            span.clock_domain = clock;
            // What a client was given bounds all below it, and would be cut off.
            span.grant = span.grant.filter(|_| !span.kind.sends());
        }
        for service in services(&spans) {
            let told = tables(&spans, &scoped(&Policy::default(), service));
            for request in &told["requests"] {
                let Some(cut) = cut(&spans, request) else { continue };
                let expected = naive::tables(&cut, &contract_of(request));
                let told = told_of(&told, request);
                let expected = told_of(&expected, request);
                let differing: Vec<_> =
                    expected.iter().filter(|line| !told.contains(*line)).collect();
                let extra: Vec<_> = told.iter().filter(|line| !expected.contains(*line)).collect();
                prop_assert!(
                    differing.is_empty() && extra.is_empty(),
                    "{}: expected {:?}, found {:?}", request, differing, extra
                );
            }
        }
    }
}

/// The deadline of a request as a contract sets it.
fn contract_of(request: &Value) -> Policy {
    let budget = request["budget_at_origin_ns"].as_i64().map(Nanos::from_nanos);
    let contract = |budget| Contract::deadline_only("cut".to_owned(), None, budget);
    Policy { contracts: budget.map(contract).into_iter().collect(), ..Policy::default() }
}

/// A trace of the spans below the root of a request; none where ids or parents are not plain, or
/// where spans hang there that have lost their parents.
fn cut(spans: &Spans, request: &Value) -> Option<Spans> {
    let hex = |column: &str| u128::from_str_radix(request[column].as_str().unwrap(), 16).unwrap();
    let trace = TraceId(hex("trace_id"));
    let root = SpanId(u64::try_from(hex("root_span_id")).unwrap());
    let all: Vec<&Span> = spans.rows.iter().filter(|span| span.trace_id == trace).collect();
    let by_id: BTreeMap<SpanId, &Span> = all.iter().map(|span| (span.span_id, *span)).collect();
    if by_id.len() != all.len() {
        return None;
    }
    let is_below = |span: &&&Span| {
        let mut at = Some(span.span_id);
        for _ in 0..=all.len() {
            match at {
                Some(id) if id == root => return true,
                Some(id) => at = by_id.get(&id).and_then(|span| span.parent_span_id),
                None => return false,
            }
        }
        false
    };
    let is_plain = |span: &&Span| {
        span.parent_span_id.is_none_or(|parent| by_id.contains_key(&parent))
            && (0..=all.len())
                .try_fold(span.span_id, |id, _| by_id.get(&id)?.parent_span_id)
                .is_none()
    };
    let roots = all.iter().filter(|span| span.parent_span_id.is_none()).count();
    if roots != 1 || !all.iter().all(is_plain) {
        return None;
    }
    // What left above makes work residual, and a wordless client is settled by what is below it.
    let mut above = by_id.get(&root)?.parent_span_id;
    while let Some(span) = above.and_then(|id| by_id.get(&id)) {
        if span.outcome.left() || span.flags.is_wordless {
            return None;
        }
        above = span.parent_span_id;
    }
    // An INTERNAL child of a client may belong to another service; then it is what was called.
    let mut rows: Vec<Span> = all.iter().filter(is_below).map(|span| (*span).clone()).collect();
    let root = rows.iter_mut().find(|span| span.span_id == root)?;
    root.parent_span_id = None;
    if root.kind == Kind::Consumer {
        return None;
    }
    Some(Spans { strings: spans.strings.clone(), rows })
}

/// What is told of a request, one line a number, but for what rests on more than the request.
fn told_of(tables: &Json, request: &Value) -> BTreeSet<String> {
    let columns: [(&str, &str, &[&str]); 4] = [
        (
            "requests",
            "root_span_id",
            &[
                "spans",
                "duration_ns",
                "budget_at_origin_ns",
                "budget_at_admission_ns",
                "queue_ns",
                "budget_at_start_ns",
                "local_execution_ns",
                "downstream_budget_sent_ns",
                "retry_count",
                "hedge_count",
                "unfundable_attempts",
                "retry_layered",
                "cancellation_observed_ns",
                "residual_work_after_cancel_ns",
                "residual_wait_ns",
                "return_reserve_used_ns",
                "terminal_outcome",
                "completed_before_deadline",
                "late_work_ns",
                "late_wait_ns",
                "late_wall_ns",
            ],
        ),
        (
            "hops",
            "hop_id",
            &[
                "depth",
                "caller_service",
                "callee_service",
                "operation",
                "elapsed_at_send_ns",
                "elapsed_at_receive_ns",
                "remaining_at_send_ns",
                "remaining_at_receive_ns",
                "granted_ns",
                "transit_ns",
                "queue_ns",
                "remaining_at_start_ns",
                "duration_ns",
                "outcome",
                "late_work_ns",
                "late_wait_ns",
                "residual_work_ns",
                "residual_wait_ns",
            ],
        ),
        (
            "attempts",
            "span_id",
            &[
                "call_id",
                "ordinal",
                "attempts",
                "kind",
                "elapsed_at_start_ns",
                "backoff_ns",
                "remaining_at_start_ns",
                "allowance_ns",
                "funding",
                "duration_ns",
                "outcome",
            ],
        ),
        ("segments", "service", &["operation", "category", "duration_ns"]),
    ];
    let mut lines = BTreeSet::new();
    for (table, id, columns) in columns {
        for row in &tables[table] {
            let is_its = ["trace_id", "root_span_id"].iter().all(|key| row[*key] == request[*key]);
            // The hop that enters has a client's half, and is the origin of the trace cut out.
            if !is_its || (table == "hops" && row["depth"] == 0) {
                continue;
            }
            let told: Vec<String> =
                columns.iter().map(|column| format!("{column}={}", row[*column])).collect();
            lines.insert(format!("{table} {} {}", row[id], told.join(" ")));
        }
    }
    lines
}

const SHOP: &str = "fixtures/shop";

fn analyzed(name: &str, args: &[&str]) -> Vec<Value> {
    let dir = scratch(name);
    let out = dir.to_str().unwrap();
    let ran = run(&[&["analyze", "--format", "ndjson", "--quiet", "--out", out], args].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let text = std::fs::read_to_string(dir.join("requests.ndjson")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn classes_tell_the_caller_and_a_scope_that_nothing_enters_is_warned_of() {
    let rows = analyzed("scope-classes", &[SHOP, "--scope", "service=pricing"]);
    let classes: BTreeSet<&str> =
        rows.iter().map(|row| row["request_class"].as_str().unwrap()).collect();
    insta::assert_snapshot!(classes.into_iter().collect::<Vec<_>>().join("\n"));

    let ran = run(&["report", SHOP, "--scope", "service=nobody"]);
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("no call enters service nobody"), "{}", ran.err);
    let ran = run(&["report", SHOP, "--scope", "payments"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("service=payments"), "{}", ran.err);
}

#[test]
fn a_folder_made_with_a_scope_is_reported_as_its_traces_are_and_takes_no_other() {
    let dir = scratch("scope-folder");
    let out = dir.to_str().unwrap();
    let scope = ["--scope", "service=payments"];
    assert_eq!(run(&[&["analyze", SHOP, "--out", out, "--quiet"][..], &scope].concat()).code, 0);
    let of_folder = run(&["report", out, "--width", "100"]);
    let of_traces =
        run(&[&["report", SHOP, "--width", "100", "--declared-only"][..], &scope].concat());
    assert_eq!((of_folder.code, of_traces.code), (0, 0), "{}{}", of_folder.err, of_traces.err);
    assert!(of_folder.out == of_traces.out, "{}", of_folder.out);
    insta::assert_snapshot!("scope-payments", without_version(&of_traces.out));

    let again = run(&[&["report", out][..], &scope].concat());
    assert_eq!(again.code, 2);
    assert!(again.err.contains("--scope counts when traces are analyzed"), "{}", again.err);
    let contract = "fixtures/shop.contract.toml";
    let judged = run(&["check", out, "--contract", contract]);
    assert_eq!(judged.code, 2);
    assert!(judged.err.contains("whole requests"), "{}", judged.err);
}

/// The first line names the commit.
fn without_version(report: &str) -> &str {
    report.split_once('\n').unwrap().1
}
