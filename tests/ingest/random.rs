//! What has to hold for any input: the two OTLP readers and the reference agree, damage never
//! panics or loses count, and JSON is what `serde_json` says it is.

use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::test_runner::Config;
use prost::Message;

use super::corpus;
use super::reference::{
    AnyValues, Event, KeyValue, KeyValues, Link, Span, Status, TracesData, Value, attribute, span,
    to_json, traces,
};
use super::support::{Folder, everything, problems, read, spans, try_read};

/// Keys that conventions name, and some that they do not.
const KEYS: &[&str] = &[
    "deadline.remaining_ms",
    "deadline.queue_ms",
    "grpc.timeout",
    "rpc.grpc.request.metadata.grpc-timeout",
    "http.request.header.x-envoy-expected-rq-timeout-ms",
    "http.response.status_code",
    "http.status_code",
    "http.request.method",
    "http.request.resend_count",
    "rpc.grpc.status_code",
    "error.type",
    "server.address",
    "server.port",
    "peer.service",
    "component",
    "something.else",
    "",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        prop_oneof![Just("80m"), Just("504"), Just("POST"), Just("1.5"), Just("\u{e9}\"\\\u{1}")]
            .prop_map(|text| Value::Text(text.to_owned())),
        any::<bool>().prop_map(Value::Bool),
        prop_oneof![any::<i64>(), 0..1000_i64].prop_map(Value::Int),
        any::<f64>().prop_map(Value::Double),
        Just(Value::Map(KeyValues { values: Vec::new() })),
        Just(Value::Bytes(vec![1, 2, 3])),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        proptest::collection::vec(inner, 0..3).prop_map(|values| {
            let value = |value| super::reference::AnyValue { value: Some(value) };
            Value::Array(AnyValues { values: values.into_iter().map(value).collect() })
        })
    })
}

fn attributes() -> impl Strategy<Value = Vec<KeyValue>> {
    let pair = (0..KEYS.len(), value()).prop_map(|(key, value)| attribute(KEYS[key], value));
    proptest::collection::vec(pair, 0..5)
}

fn any_span() -> impl Strategy<Value = Span> {
    let time = || 1_700_000_000_000_000_000..1_700_000_000_000_000_100_u64;
    let ids = (1..5_u128, 1..9_u64, 0..9_u64, 0..6_i32, 0..3_i32);
    let event = (time(), attributes()).prop_map(|(time_unix_nano, attributes)| Event {
        time_unix_nano,
        name: "Delayed LB pick complete".to_owned(),
        attributes,
    });
    let parts = (attributes(), proptest::collection::vec(event, 0..2), 0..3_usize);
    (ids, time(), time(), parts).prop_map(|(ids, start, end, (attributes, events, links))| {
        let (trace, id, parent, kind, code) = ids;
        Span {
            trace_id: (trace << 80 | trace << 60).to_be_bytes().to_vec(),
            kind,
            start_time_unix_nano: start,
            end_time_unix_nano: end,
            attributes,
            events,
            links: vec![Link::default(); links],
            status: (code > 0).then(|| Status { message: "timed out".to_owned(), code }),
            ..span(id, parent)
        }
    })
}

fn any_message() -> impl Strategy<Value = TracesData> {
    let of_service = (0..3, proptest::collection::vec(any_span(), 0..6))
        .prop_map(|(service, spans)| traces(&format!("service-{service}"), spans).resource_spans);
    proptest::collection::vec(of_service, 1..4)
        .prop_map(|all| TracesData { resource_spans: all.concat() })
}

/// The spans of a message as [`spans`] shows them.
fn reference_spans(message: &TracesData) -> Vec<String> {
    let number = |bytes: &[u8]| bytes.iter().fold(0, |n, &byte| n << 8 | u128::from(byte));
    let kinds = ["Internal", "Internal", "Server", "Client", "Producer", "Consumer"];
    let mut lines = Vec::new();
    for of_resource in &message.resource_spans {
        let attributes = of_resource.resource.iter().flat_map(|resource| &resource.attributes);
        let service = attributes
            .filter(|pair| pair.key == "service.name")
            .find_map(|pair| match pair.value.clone()?.value? {
                Value::Text(text) => Some(text),
                _ => None,
            })
            .unwrap_or_default();
        for span in of_resource.scope_spans.iter().flat_map(|scope| &scope.spans) {
            let trace = number(&span.trace_id);
            let (id, parent) = (number(&span.span_id), number(&span.parent_span_id));
            let start = span.start_time_unix_nano;
            let kind = kinds[usize::try_from(span.kind).unwrap()];
            let duration = span.end_time_unix_nano.saturating_sub(start);
            let is_error = span.status.as_ref().is_some_and(|status| status.code == 2);
            let links = span.links.len();
            let line = [
                format!("{trace:x}/{id:x}"),
                if parent > 0 { format!("<{parent:x}") } else { String::new() },
                format!(" {service} {} {kind} {start}+{duration}", span.name),
                if is_error { " error".to_owned() } else { String::new() },
                if links > 0 { format!(" links={links}") } else { String::new() },
            ]
            .concat();
            lines.push(((trace.rotate_left(64), id, start), line));
        }
    }
    lines.sort();
    lines.into_iter().map(|(_, line)| line).collect()
}

#[test]
fn published_protobuf_reads_as_the_reference_decodes_it() {
    for file in corpus::files("otlp-proto/") {
        let message = TracesData::decode(std::fs::read(&file).unwrap().as_slice()).unwrap();
        assert_eq!(spans(&read(&[&file])), reference_spans(&message), "{file}");
    }
}

proptest! {
    #![proptest_config(Config { cases: 100, failure_persistence: None, ..Config::default() })]

    #[test]
    fn protobuf_json_and_the_reference_agree(message in any_message()) {
        let folder = Folder::new();
        let has_spans = !reference_spans(&message).is_empty();
        let protobuf = read(&[&folder.write("a", message.encode_to_vec())]);
        let json = read(&[&folder.write("b", to_json(&message).to_string())]);
        let pretty = format!("{:#}\n", to_json(&message));
        let pretty = read(&[&folder.write("c", pretty)]);
        prop_assert_eq!(spans(&protobuf), reference_spans(&message));
        prop_assert_eq!(everything(&json), everything(&protobuf));
        prop_assert_eq!(everything(&pretty), everything(&protobuf));
        prop_assert_eq!(problems(&json).len(), problems(&protobuf).len());
        prop_assert_eq!(&json.seen, &protobuf.seen);
        assert!(has_spans || everything(&json).is_empty());
    }

    #[test]
    fn damaged_input_is_refused_or_counted(
        message in any_message(),
        is_json in any::<bool>(),
        framing in 0..3,
        damage in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<proptest::sample::Index>(),
    ) {
        let mut bytes = if is_json {
            format!("{}\n", to_json(&message)).into_bytes()
        } else {
            message.encode_to_vec()
        };
        if framing == 1 {
            let length = u32::try_from(bytes.len()).unwrap().to_be_bytes();
            bytes.splice(0..0, length);
        }
        bytes = bytes.repeat(2);
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if framing == 2 {
            bytes.truncate(cut.index(bytes.len()));
        }
        let folder = Folder::new();
        // That read = admitted + rejected is checked within.
        let _ = try_read(&[&folder.write("damaged", bytes)]);
    }

    #[test]
    fn a_line_is_json_where_serde_json_says_so(
        message in any_message(),
        edits in proptest::collection::vec(
            (any::<proptest::sample::Index>(), 0..3, proptest::sample::select(b"{}[]\",:\\u0-9.eEtn \x01a".as_slice())),
            1..3,
        ),
    ) {
        let good = to_json(&message).to_string();
        let mut line = good.clone().into_bytes();
        for (at, edit, byte) in edits {
            let at = at.index(line.len());
            match edit {
                0 => line[at] = byte,
                1 => line.insert(at, byte),
                _ => drop(line.remove(at)),
            }
        }
        let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(&line).is_ok();
        let bytes = [good.as_bytes(), b"\n", &line, b"\n", good.as_bytes()].concat();
        let folder = Folder::new();
        let told = problems(&read(&[&folder.write("lines", bytes)]));
        let is_told = |codes: &[&str]| told.iter().any(|row| codes.iter().any(|code| row.starts_with(code)));
        let is_damaged = is_told(&["record-damaged", "record-cut-off"]);
        // What begins as a number, say, is no message before it is no JSON.
        let is_refused = is_damaged || is_told(&["record-not-otlp"]);
        let is_right = if is_json { !is_damaged } else { is_refused };
        prop_assert!(is_right, "{}", String::from_utf8_lossy(&line));
    }
}
