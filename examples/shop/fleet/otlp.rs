//! Spans as a collector's file exporter writes them: a line for every batch of one host's spans.

use serde_json::{Value, json};

use super::trace::{Span, Trace};
use super::world::{FILES, Host, Service};

/// How many spans a host collects before it sends them.
const BATCH: usize = 48;
/// Of each file, the line that the collector sent twice, since the first answer was lost.
const SENT_TWICE: usize = 7;

/// A finished span, waiting for its batch.
pub(crate) struct Exported {
    /// By what it is ordered: when it ended, and its id.
    ended: (i64, u64),
    /// Who exports it.
    service: &'static Service,
    /// From where.
    host: &'static Host,
    /// The span as OTLP JSON.
    span: Value,
}

/// The spans of `trace` as their hosts' clocks saw them.
pub(crate) fn export(trace: &Trace) -> Vec<Exported> {
    let exported = |span: &Span| Exported {
        ended: (trace.began + span.end, span.id),
        service: span.service,
        host: span.host,
        span: span_json(trace, span),
    };
    trace.spans.iter().map(exported).collect()
}

/// One span on the clock of its host.
fn span_json(trace: &Trace, span: &Span) -> Value {
    let on_host = |instant: i64| (trace.began + instant + span.host.ahead).to_string();
    let mut json = json!({
        "traceId": format!("{:032x}", trace.id),
        "spanId": format!("{:016x}", span.id),
        "parentSpanId": span.parent.map_or_else(String::new, |id| format!("{id:016x}")),
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": on_host(span.start),
        "endTimeUnixNano": on_host(span.end),
        "attributes": span.attributes,
    });
    if !span.events.is_empty() {
        let event =
            |&(name, at): &(&str, i64)| json!({ "timeUnixNano": on_host(at), "name": name });
        json["events"] = span.events.iter().map(event).collect();
    }
    json["status"] = match span.error {
        Some("") => json!({ "code": 2 }),
        Some(message) => json!({ "code": 2, "message": message }),
        None => json!({}),
    };
    json
}

/// The files, as names and lines.
pub(crate) fn files(mut spans: Vec<Exported>) -> Vec<(&'static str, String)> {
    spans.sort_by_key(|span| span.ended);
    let mut writers: Vec<Writer> = FILES.iter().map(|_| Writer::default()).collect();
    for span in spans {
        writers[span.service.file].add(span);
    }
    FILES.into_iter().zip(writers.into_iter().map(Writer::finish)).collect()
}

/// One file while it is written.
#[derive(Default)]
struct Writer {
    /// What was sent.
    lines: Vec<String>,
    /// Hosts and what they have not sent yet, in the order of their first span.
    waiting: Vec<(&'static Service, &'static Host, Vec<Value>)>,
}

impl Writer {
    /// A host finishes a span, and sends its batch where that is full.
    fn add(&mut self, exported: Exported) {
        let Exported { service, host, span, .. } = exported;
        let known = self.waiting.iter().position(|&(_, other, _)| other.name == host.name);
        let place = known.unwrap_or_else(|| {
            self.waiting.push((service, host, Vec::new()));
            self.waiting.len() - 1
        });
        let batch = &mut self.waiting[place].2;
        batch.push(span);
        if batch.len() == BATCH {
            let spans = std::mem::take(batch);
            self.send(service, host, &spans);
        }
    }

    /// One export request is one line.
    fn send(&mut self, service: &Service, host: &Host, spans: &[Value]) {
        let text =
            |key: &str, value: &str| json!({ "key": key, "value": { "stringValue": value } });
        let resource = [text("service.name", service.name), text(service.host_key, host.name)];
        let request = json!({
            "resourceSpans": [{
                "resource": { "attributes": resource },
                "scopeSpans": [{ "scope": { "name": service.scope }, "spans": spans }],
            }],
        });
        let line = request.to_string();
        if self.lines.len() == SENT_TWICE {
            self.lines.push(line.clone());
        }
        self.lines.push(line);
    }

    /// Everybody sends what is left.
    fn finish(mut self) -> String {
        for (service, host, spans) in std::mem::take(&mut self.waiting) {
            if !spans.is_empty() {
                self.send(service, host, &spans);
            }
        }
        self.lines.join("\n") + "\n"
    }
}
