//! Requests as OTLP traces, with what a careful fleet would tell: what each callee was given, which
//! attempt it is, and how each ended.

use serde_json::Value as Json;

use super::calls::operation;
use super::execution::{Attempt, Call, Served};
use super::{Request, Run};
use crate::conventions::raw::{Attribute, RawSpan, Status, Value};
use crate::extract::{ExtractError, document as document_of};
use crate::ingest::WrittenSpan;
use crate::span::{Kind, Outcome, SpanId, TraceId};
use crate::units::{Nanos, UnixNanos};

/// When each run begins: the first instant of 2026.
const EPOCH_NS: i64 = 1_767_225_600_000_000_000;

/// All traces of the model have this on the left of their ids: "model" in ASCII.
const TRACE_ID_LEFT: u128 = 0x006d_6f64_656c;

/// There is one clock.
const HOST: &str = "logical-clock";

/// The trace of a request.
pub(super) fn document(request: &Request<'_>) -> Result<Json, ExtractError> {
    let mut writing = Writing {
        run: request.run,
        trace_id: trace_id(request),
        start: start(request),
        spans: Vec::new(),
    };
    let threshold = milliseconds("deadline.remaining_ms", request.run.model.scenario.threshold);
    writing.server(&request.served, request.run.name(), None, vec![threshold]);
    document_of(&writing.spans)
}

/// The id of a request's trace.
pub(super) fn trace_id(request: &Request<'_>) -> TraceId {
    let (run, number) = (u128::from(request.run.number), u128::from(request.number));
    TraceId((TRACE_ID_LEFT << 64) | (run << 32) | number)
}

/// The id of a numbered span.
pub(super) fn span_id(number: u64) -> SpanId {
    SpanId(number)
}

/// When a request starts: evenly, at the rate at which requests come in, else one a second.
fn start(request: &Request<'_>) -> UnixNanos {
    const MILLIONTHS_AND_NANOS: i128 = 1_000_000_000_000_000;
    let before = i128::from(request.number) - 1;
    let rate =
        request.run.model.scenario.base_per_s.map_or(0, |rate| i128::from(rate.millionths()));
    let elapsed = (before * MILLIONTHS_AND_NANOS).checked_div(rate);
    let elapsed = elapsed.unwrap_or(before * 1_000_000_000);
    UnixNanos::from_nanos(EPOCH_NS) + Nanos::from_nanos(i64::try_from(elapsed).unwrap_or(i64::MAX))
}

struct Writing<'r> {
    run: &'r Run<'r>,
    trace_id: TraceId,
    start: UnixNanos,
    spans: Vec<WrittenSpan>,
}

impl Writing<'_> {
    /// A service at work, and all below it.
    fn server(
        &mut self,
        served: &Served,
        name: String,
        parent: Option<u64>,
        mut attributes: Vec<Attribute<'static>>,
    ) {
        let status = match served.outcome {
            Outcome::Ok => 200,
            Outcome::Cancelled => 499,
            _ => 500,
        };
        attributes.push(method());
        attributes.push(("http.response.status_code".into(), Value::Int(status)));
        let times = (served.start, served.end);
        let half = (Kind::Server, served.outcome, served.service);
        self.push((served.id, parent), name, half, times, attributes);
        for call in &served.calls {
            for (number, attempt) in (1..).zip(&call.attempts) {
                self.attempt(served, call, attempt, number);
            }
        }
    }

    fn attempt(&mut self, caller: &Served, call: &Call, attempt: &Attempt, ordinal: i64) {
        let Call { callee, arm, step, .. } = *call;
        let callee = &self.run.model.scenario.services[callee].name;
        let mut attributes = vec![
            method(),
            ("server.address".into(), Value::Text(callee.clone().into())),
            ("url.path".into(), Value::Text(format!("/{callee}/{arm}.{step}").into())),
        ];
        attributes.push(match attempt.outcome {
            Outcome::Ok => ("http.response.status_code".into(), Value::Int(200)),
            Outcome::DeadlineExceeded => ("error.type".into(), Value::Text("timeout".into())),
            Outcome::Cancelled => ("error.type".into(), Value::Text("cancelled".into())),
            _ => ("http.response.status_code".into(), Value::Int(500)),
        });
        if ordinal > 1 {
            attributes.push(("http.request.resend_count".into(), Value::Int(ordinal - 1)));
        }
        // A timeout that is not reduced by what was spent tells the callee nothing of its caller's.
        attributes.push(if self.run.configuration.propagate {
            milliseconds("deadline.remaining_ms", attempt.grant)
        } else {
            milliseconds("http.request.header.x-request-timeout-ms", attempt.grant)
        });
        attributes.push(milliseconds("deadline.attempt_timeout_ms", call.timeout));
        let name = operation(arm, step);
        let ids = (attempt.id, Some(caller.id));
        let half = (Kind::Client, attempt.outcome, caller.service);
        self.push(ids, name.clone(), half, (attempt.start, attempt.end), attributes);
        if let Some(served) = &attempt.served {
            self.server(served, name, Some(attempt.id), Vec::new());
        }
    }

    fn push(
        &mut self,
        (id, parent): (u64, Option<u64>),
        name: String,
        (kind, outcome, service): (Kind, Outcome, usize),
        (start, end): (Nanos, Nanos),
        attributes: Vec<Attribute<'static>>,
    ) {
        let raw = RawSpan {
            trace_id: self.trace_id,
            span_id: span_id(id),
            parent_span_id: parent.map(span_id),
            name: name.into(),
            kind,
            start: self.start + start,
            end: self.start + end,
            status: if outcome == Outcome::Ok { Status::Unset } else { Status::Error },
            status_message: "".into(),
            attributes,
            events: Vec::new(),
            links: 0,
            trace_state: "".into(),
            may_share_id: false,
        };
        let service = self.run.model.scenario.services[service].name.clone();
        let resource = vec![
            ("service.name".into(), Value::Text(service.into())),
            ("host.name".into(), Value::Text(HOST.into())),
        ];
        self.spans.push(WrittenSpan { raw, resource });
    }
}

fn method() -> Attribute<'static> {
    ("http.request.method".into(), Value::Text("GET".into()))
}

/// Milliseconds, exact to the nanosecond.
fn milliseconds(key: &'static str, length: Nanos) -> Attribute<'static> {
    let nanos = length.as_nanos();
    let (whole, part) = (nanos / 1_000_000, nanos % 1_000_000);
    let text = format!("{whole}.{part:06}");
    let text = text.trim_end_matches('0').trim_end_matches('.').to_owned();
    (key.into(), Value::Text(text.into()))
}
