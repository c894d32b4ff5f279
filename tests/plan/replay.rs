//! What holds for every replay.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use dwindle::clocks::Offsets;
use dwindle::plan::policy::Policy;
use dwindle::plan::replay::{Amount, Range, Replay, Replayed, SpanReplayed};
use dwindle::reconstruct::{self, Course, courses, reconstruct};
use dwindle::span::{Interner, Outcome, Spans};
use dwindle::units::Nanos;
use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq};
use proptest::{option, proptest};
use serde_json::Value;

use crate::support::random::{MS, admitted, any_traces, policy as rules};
use crate::support::tables::json_tables;

/// What replay tells of each request and its spans.
fn replayed(
    spans: &Spans,
    rules: &reconstruct::Policy,
    policy: &Policy,
    mut look: impl FnMut(&Course, &Interner, &Replayed, &[SpanReplayed]),
) {
    let mut replay = Replay::new(policy);
    courses(spans.clone(), rules, &Offsets::default(), |course, strings| {
        let told = replay.run(course, strings);
        let of_spans = replay.spans(course, strings);
        look(course, strings, &told, &of_spans);
    });
}

/// What of a replay is other than measured; empty where nothing is.
fn differences(spans: &Spans, rules: &reconstruct::Policy, policy: &Policy) -> Vec<String> {
    let mut told = Vec::new();
    replayed(spans, rules, policy, |course, _, request, of_spans| {
        let root = course.spans[0].span_id;
        if request.measured != request.replayed {
            told.push(format!("{root}: {:?} is {:?}", request.measured, request.replayed));
        }
        for (span, is) in course.spans.iter().zip(of_spans) {
            let is_ok = span.outcome == Outcome::Ok;
            let is_same = is.start == Range::exactly(span.start)
                && is.end == Range::exactly(span.end)
                && (is.is_ok.must, is.is_ok.may) == (is_ok, is_ok)
                && is.is_there.must;
            if !is_same {
                told.push(format!("{span:?} is {is:?}, {:?}", request.reasons));
            }
        }
    });
    told
}

/// The columns of a request that replay tells too.
fn as_measured(row: &Value, busy: i64) -> (Value, Value, Value, Value, i64) {
    (
        row["elapsed_ns"].clone(),
        row["completed_before_deadline"].clone(),
        row["late_work_ns"].clone(),
        row["residual_work_after_cancel_ns"].clone(),
        busy,
    )
}

fn number(range: Range) -> Value {
    Value::from(range.lo.as_nanos())
}

fn lengths() -> impl Strategy<Value = Option<Nanos>> {
    option::of((1..200_i64).prop_map(|millis| Nanos::from_nanos(millis * MS)))
}

/// A policy that may say anything.
fn policies() -> impl Strategy<Value = Policy> {
    let call = (
        option::weighted(0.3, 0..4_u8),
        option::weighted(0.6, 1..60_i64),
        option::weighted(0.5, 1..4_u32),
        option::weighted(0.5, 0..30_i64),
    );
    let flags = (option::of(any::<bool>()), option::of(any::<bool>()), option::of(any::<bool>()));
    (lengths(), option::of(0..1_i64), flags, proptest::collection::vec(call, 0..3)).prop_map(
        |(deadline, reserve, (propagate, stop, reject), calls)| {
            let mut text = String::new();
            let mut say = |key: &str, value: Option<String>| {
                if let Some(value) = value {
                    writeln!(text, "{key} = {value}").unwrap();
                }
            };
            let quoted = |nanos: i64| format!("\"{nanos}ns\"");
            say("deadline", deadline.map(|it| quoted(it.as_nanos())));
            say("return_reserve", reserve.map(|it| quoted(it * 5 * MS / 10)));
            say("propagate", propagate.map(|it| it.to_string()));
            say("stop_on_cancel", stop.map(|it| it.to_string()));
            say("reject_unfundable", reject.map(|it| it.to_string()));
            for (caller, timeout, attempts, backoff) in calls {
                say("[[call]]\n#", Some(String::new()));
                say("caller", caller.map(|it| format!("\"s{it}\"")));
                say("timeout", timeout.map(|it| quoted(it * MS)));
                say("max_attempts", attempts.map(|it| it.to_string()));
                say("backoff", backoff.map(|it| format!("[{}]", quoted(it * MS))));
            }
            Policy::parse("policy", &text).unwrap()
        },
    )
}

fn holds(amount: Amount) -> bool {
    0 <= amount.lo && amount.lo <= amount.seen
}

fn is_in_order(range: Range) -> bool {
    range.hi.is_none_or(|hi| range.lo <= hi)
}

proptest! {
    #[test]
    fn a_policy_that_says_nothing_changes_nothing(spans in any_traces(), rules in rules()) {
        let told = differences(&admitted(&spans), &rules, &Policy::default());
        prop_assert!(told.is_empty(), "{}", told.join("\n"));
    }

    #[test]
    fn what_replay_calls_measured_is_what_the_tables_say(spans in any_traces(), rules in rules()) {
        let spans = admitted(&spans);
        let tables = reconstruct(spans.clone(), &rules, &Offsets::default());
        let tables = json_tables(std::iter::once(tables));
        let mut of_tables = BTreeMap::new();
        for row in &tables["requests"] {
            let key = (row["trace_id"].to_string(), row["root_span_id"].to_string());
            let is_of = |attempt: &&Value| {
                attempt["trace_id"] == row["trace_id"]
                    && attempt["root_span_id"] == row["root_span_id"]
            };
            let attempts = tables["attempts"].iter().filter(is_of).count();
            of_tables.insert(key, as_measured(row, i64::try_from(attempts).unwrap()));
        }
        let mut of_replay = BTreeMap::new();
        replayed(&spans, &rules, &Policy::default(), |course, _, request, _| {
            let measured = &request.measured;
            let row = (
                number(measured.latency),
                measured.in_time.map_or(Value::Null, |it| Value::from(it.must)),
                measured.late_work.map_or(Value::Null, |it| Value::from(it.lo)),
                Value::from(measured.residual_work.lo),
                measured.attempts.lo,
            );
            let key = (course.trace_id.to_string(), course.spans[0].span_id.to_string());
            let key = (format!("\"{}\"", key.0), format!("\"{}\"", key.1));
            of_replay.insert(key, row);
        });
        prop_assert_eq!(of_tables, of_replay);
    }

    #[test]
    fn a_timeout_beyond_everything_cuts_nothing(spans in any_traces(), rules in rules()) {
        let spans = admitted(&spans);
        let policy = "[[call]]\ntimeout = \"1h\"";
        let policy = Policy::parse("policy", policy).unwrap();
        let mut times_out = false;
        replayed(&spans, &rules, &Policy::default(), |course, _, _, _| {
            // A longer timeout may be more time for all below it.
            let mut spans = course.spans.iter();
            times_out |= spans.any(|span| span.outcome == Outcome::DeadlineExceeded);
        });
        if !times_out {
            let told = differences(&spans, &rules, &policy);
            prop_assert!(told.is_empty(), "{}", told.join("\n"));
        }
    }

    #[test]
    fn bounds_hold_something(spans in any_traces(), rules in rules(), policy in policies()) {
        let mut wrong = Vec::new();
        replayed(&admitted(&spans), &rules, &policy, |_, _, request, of_spans| {
            let is = &request.replayed;
            let loads = is.loads.values().map(|(_, load)| load);
            let truths = [Some(is.completed), is.in_time].into_iter().flatten();
            let is_right = is_in_order(is.latency)
                && holds(is.residual_work)
                && is.late_work.is_none_or(holds)
                && holds(is.attempts)
                && loads.clone().all(|load| holds(load.busy) && holds(load.attempts))
                && truths.clone().all(|truth| truth.may || !truth.must)
                && (request.is_exact() || request.reasons.iter().next().is_some());
            let spans_are = of_spans.iter().all(|span| {
                is_in_order(span.start) && is_in_order(span.end)
                    && (span.is_there.may || !span.is_there.must)
            });
            if !is_right || !spans_are {
                wrong.push(format!("{is:?} {of_spans:?}"));
            }
        });
        prop_assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
