//! Trace states: where each format has them, what sampling they tell, and who chose the traces.

use dwindle::conventions::Conventions;
use dwindle::stats::Weight;
use prost::Message;

use super::reference::{KeyValue, ResourceSpans, Scope, ScopeSpans, Span, TracesData};
use super::support::{Folder, everything, read};

const STATE: &str = "vendor=secret,ot=th:e6666666666668;rv:ffffffffffffff";

const SPAN_JSON: &str = r#"{"trace_id":"5b8efff798038103d269b633813fc60c","span_id":"a1","trace_state":"STATE","name":"GET","start_unix_ns":1700000000000000000,"end_unix_ns":1700000000250000000}"#;

const OTLP_COMPACT: &str = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"00000000000000a1","traceState":"STATE","parentSpanId":"","name":"GET","kind":2,"startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000250000000"}]}]}]}"#;

const CLICKHOUSE: &str = r#"{"Timestamp":"2026-08-06 23:53:45.569257300","TraceId":"5b8efff798038103d269b633813fc60c","SpanId":"00000000000000a1","ParentSpanId":"","TraceState":"STATE","SpanName":"GET","SpanKind":"Server","ServiceName":"shop","Duration":250000001}"#;

const JAEGER: &str = r#"{"data":[{"traceID":"5b8efff798038103d269b633813fc60c","spans":[{"traceID":"5b8efff798038103d269b633813fc60c","spanID":"a1","operationName":"GET","references":[],"startTime":1700000000000000,"duration":250000,"tags":[{"key":"w3c.tracestate","type":"string","value":"STATE"}],"processID":"p1"}],"processes":{"p1":{"serviceName":"shop"}}}]}"#;

/// The weights of all spans in a file.
fn weights(bytes: &[u8]) -> Vec<Option<f64>> {
    let folder = Folder::new();
    let read = read(&[&folder.write("traces", bytes)]);
    let rows = read.partitions.iter().flat_map(|partition| &partition.rows);
    rows.map(|span| span.weight.map(Weight::requests)).collect()
}

fn protobuf(scope: Option<Scope>) -> Vec<u8> {
    let span = Span {
        trace_id: vec![0x5b; 16],
        span_id: vec![0xa1; 8],
        trace_state: STATE.to_owned(),
        name: "GET".to_owned(),
        start_time_unix_nano: 1_700_000_000_000_000_000,
        end_time_unix_nano: 1_700_000_000_250_000_000,
        ..Span::default()
    };
    let scope_spans = vec![ScopeSpans { scope, spans: vec![span], ..ScopeSpans::default() }];
    let resource_spans = vec![ResourceSpans { scope_spans, ..ResourceSpans::default() }];
    TracesData { resource_spans }.encode_to_vec()
}

#[test]
fn every_format_that_has_a_trace_state_tells_the_sampling() {
    for text in [SPAN_JSON, OTLP_COMPACT, CLICKHOUSE, JAEGER] {
        let text = text.replace("STATE", STATE);
        assert_eq!(weights(text.as_bytes()), [Some(10.0)], "{text}");
        // However it is spaced, and escaped.
        let escaped = text.replace("ot=th", "ot=\\u0074h").replace("\":", "\" : ");
        assert_eq!(weights(escaped.as_bytes()), [Some(10.0)], "{escaped}");
        // Unknown is not 1.
        assert_eq!(weights(text.replace("ot=", "to=").as_bytes()), [None], "{text}");
    }
    assert_eq!(weights(&protobuf(None)), [Some(10.0)]);
}

#[test]
fn what_others_put_into_a_trace_state_is_not_kept() {
    let folder = Folder::new();
    let file = folder.write("traces.json", OTLP_COMPACT.replace("STATE", STATE));
    let told = everything(&read(&[&file])).join("\n");
    assert!(!told.contains("secret"), "{told}");
}

#[test]
fn who_chose_traces_is_told_by_spans_and_scopes() {
    let attributes = r#","attributes":[{"key":"tailsampling.policy","value":{"stringValue":"p"}}]"#;
    let on_scope = OTLP_COMPACT
        .replace(r#"[{"spans""#, &format!(r#"[{{"scope":{{"name":"x"{attributes}}},"spans""#));
    let on_span = OTLP_COMPACT.replace(r#""}]}]}]}"#, &format!(r#""{attributes}}}]}}]}}]}}"#));
    let in_protobuf = protobuf(Some(Scope {
        name: "x".to_owned(),
        attributes: vec![KeyValue { key: "tailsampling.policy".to_owned(), value: None }],
        ..Scope::default()
    }));
    let conventions = Conventions::embedded().unwrap();
    let folder = Folder::new();
    for (name, bytes) in
        [("scope", on_scope.into_bytes()), ("span", on_span.into_bytes()), ("proto", in_protobuf)]
    {
        let chosen = conventions.chosen_by(&read(&[&folder.write(name, bytes)]).seen);
        let told: Vec<_> = chosen.into_iter().collect();
        assert_eq!(told, [("the collector's tail_sampling processor".to_owned(), 1)], "{name}");
    }
}
