//! The resolver alone against the exact tables of fixtures/cases.

use std::collections::HashMap;
use std::path::Path;

use dwindle::conventions::raw::{Attribute, RawEvent, RawSpan, Status, Value};
use dwindle::conventions::{Conventions, Tally};
use dwindle::span::{Interner, Kind, Span, SpanId, TraceId};
use dwindle::units::UnixNanos;
use serde_json::{Deserializer, Value as Json};

fn attributes(json: &Json) -> Vec<Attribute<'_>> {
    let entries = json.get("attributes").and_then(Json::as_array).into_iter().flatten();
    entries.map(|entry| (entry["key"].as_str().unwrap().into(), value(&entry["value"]))).collect()
}

fn value(json: &Json) -> Value<'_> {
    let (kind, value) = json.as_object().unwrap().iter().next().unwrap();
    match kind.as_str() {
        "stringValue" => Value::Text(value.as_str().unwrap().into()),
        "intValue" => Value::Int(integer(value)),
        "doubleValue" => Value::Double(value.as_f64().unwrap()),
        "boolValue" => Value::Bool(value.as_bool().unwrap()),
        "arrayValue" => {
            Value::List(value["values"].as_array().unwrap().iter().map(self::value).collect())
        }
        other => panic!("{other}"),
    }
}

fn integer(json: &Json) -> i64 {
    json.as_i64().or_else(|| json.as_str()?.parse().ok()).unwrap_or(0)
}

fn id(json: &Json) -> u64 {
    u64::from_str_radix(json.as_str().unwrap(), 16).unwrap()
}

fn raw_span(json: &Json) -> RawSpan<'_> {
    let status = &json["status"];
    RawSpan {
        trace_id: TraceId(u128::from_str_radix(json["traceId"].as_str().unwrap(), 16).unwrap()),
        span_id: SpanId(id(&json["spanId"])),
        parent_span_id: None,
        name: json["name"].as_str().unwrap().into(),
        kind: match integer(&json["kind"]) {
            2 => Kind::Server,
            3 => Kind::Client,
            4 => Kind::Producer,
            5 => Kind::Consumer,
            _ => Kind::Internal,
        },
        start: UnixNanos::from_nanos(integer(&json["startTimeUnixNano"])),
        end: UnixNanos::from_nanos(integer(&json["endTimeUnixNano"])),
        status: match integer(&status["code"]) {
            1 => Status::Ok,
            2 => Status::Error,
            _ => Status::Unset,
        },
        status_message: status["message"].as_str().unwrap_or_default().into(),
        attributes: attributes(json),
        events: json["events"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|event| RawEvent {
                name: event["name"].as_str().unwrap().into(),
                time: Some(UnixNanos::from_nanos(integer(&event["timeUnixNano"]))),
                attributes: attributes(event),
            })
            .collect(),
        links: 0,
        trace_state: "".into(),
        may_share_id: false,
    }
}

type Spans = HashMap<(TraceId, SpanId), Span>;

fn resolve_all(documents: &[Json], strings: &mut Interner) -> Spans {
    let conventions = Conventions::embedded().unwrap();
    let mut tally = Tally::default();
    let mut spans = HashMap::new();
    let all = documents.iter().flat_map(|document| document["resourceSpans"].as_array().unwrap());
    for resource_spans in all {
        let resource = conventions.resource(&attributes(&resource_spans["resource"]), strings);
        for json in resource_spans["scopeSpans"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|scope| scope["spans"].as_array().unwrap())
        {
            let span = conventions.resolve(&raw_span(json), &resource, strings, &mut tally);
            // Of duplicates the smallest stays.
            let known: &mut Span =
                spans.entry((span.trace_id, span.span_id)).or_insert_with(|| span.clone());
            if span.content_order(known, strings).is_lt() {
                *known = span;
            }
        }
    }
    let seen = tally.into_seen();
    assert!(seen.keys.values().all(|count| count.unparsed == 0), "{seen:?}");
    spans
}

/// A hop's grant, key, kind and outcome are the client's, else the server's, in the file that
/// holds the exact tables.
#[test]
fn grants_and_outcomes_of_hops_are_those_of_the_cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
    let mut grants = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let Some(case) = name.strip_suffix(".expected.json") else { continue };
        let documents = |name: &str| -> Vec<Json> {
            let bytes = std::fs::read(path.with_file_name(name)).unwrap();
            Deserializer::from_slice(&bytes).into_iter().map(Result::unwrap).collect()
        };
        let mut strings = Interner::default();
        let spans = resolve_all(&documents(&format!("{case}.json")), &mut strings);
        let expected = documents(&name).remove(0);
        for hop in expected["hops"].as_array().unwrap() {
            let trace =
                TraceId(u128::from_str_radix(hop["trace_id"].as_str().unwrap(), 16).unwrap());
            let half = |column: &str| {
                let id = SpanId(u64::from_str_radix(hop[column].as_str()?, 16).unwrap());
                Some(&spans[&(trace, id)])
            };
            let (client, server) = (half("client_span_id"), half("server_span_id"));
            let at = format!("{case} {}", hop["hop_id"]);
            let first = client.or(server).unwrap();
            if !first.flags.is_wordless {
                assert_eq!(hop["outcome"], first.outcome.name(), "{at}");
            }
            // A call span hands its grant to an attempt that has none: reconstruction's business.
            if client.is_some_and(|client| client.flags.is_attempt && client.grant.is_none()) {
                continue;
            }
            let grant = client.and_then(|s| s.grant).or(server.and_then(|s| s.grant));
            let Some(grant) = grant else {
                assert_eq!(hop["granted_ns"], Json::Null, "{at}");
                continue;
            };
            grants += 1;
            assert_eq!(hop["granted_ns"], grant.value.as_nanos(), "{at}");
            assert_eq!(hop["grant_key"], strings.get(grant.key), "{at}");
            assert_eq!(hop["grant_kind"], grant.kind.name(), "{at}");
        }
    }
    assert!(500 < grants, "{grants}");
}
