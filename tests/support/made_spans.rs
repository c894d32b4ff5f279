//! Traces made by hand, as span JSON lines: times in milliseconds from their start.

use serde_json::{Value, json};

/// When traces start.
const START_MS: u64 = 1_700_000_000_000;

/// A span: its trace, its id, its parent (0: none), service, name, kind, start and end.
pub type Made<'a> = (u64, u64, u64, &'a str, &'a str, &'a str, [u64; 2]);

/// Its line.
pub fn line(made: Made<'_>, attributes: &Value) -> String {
    let (trace, span, parent, service, name, kind, [start_ms, end_ms]) = made;
    let at = |ms: u64| (START_MS + ms) * 1_000_000;
    let value = json!({
        "trace_id": format!("{trace:032x}"),
        "span_id": format!("{span:016x}"),
        "parent_span_id": (parent > 0).then(|| format!("{parent:016x}")),
        "service": service,
        "name": name,
        "kind": kind,
        "start_unix_ns": at(start_ms),
        "end_unix_ns": at(end_ms),
        "attributes": attributes,
        "resource": {"host.name": "one-host"},
    });
    format!("{value}\n")
}

/// A gateway with 1,000 ms calls payment at 400 ms and grants it so much under a key.
pub fn granting(trace: u64, key: &str, granted_ms: u64) -> String {
    let call = json!({key: granted_ms, "rpc.grpc.status_code": 0});
    [
        line(
            (trace, 1, 0, "gateway", "POST /checkout", "server", [0, 900]),
            &json!({"deadline.remaining_ms": 1_000}),
        ),
        line((trace, 2, 1, "gateway", "pay", "client", [400, 800]), &call),
        line((trace, 3, 2, "payment", "pay.Charge", "server", [401, 799]), &json!({})),
        line((trace, 4, 3, "payment", "ask", "client", [410, 700]), &json!({})),
        line((trace, 5, 4, "fraud", "fraud.Ask", "server", [411, 699]), &json!({})),
    ]
    .concat()
}
