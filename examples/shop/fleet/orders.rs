//! `orders process`: what the warehouse does with a published order. A request of its own, with
//! a deadline only where the contract gives it one.

use super::trace::{At, CONSUMER, Trace};
use super::world::{FULFILMENT, INSERT_SHIPMENT};
use super::{MICRO, MILLI};

/// How long the carrier is waited for.
const LABEL_TRY: i64 = 500;

/// What happens to an order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Story {
    /// It is shipped.
    Fine,
    /// The carrier is busy and asked again.
    Refused,
    /// The carrier does not answer and is asked again, without an idempotency key.
    Blind,
    /// It waits in the topic for more than the five seconds of the contract.
    Late,
}

/// An order that was published by `producer` until `sent` is processed.
pub(crate) fn process(trace: &mut Trace, producer: At, sent: i64, story: Story) {
    let waited = match story {
        Story::Late => trace.random.millis(5500, 9000),
        _ => trace.random.millis(20, 60) + trace.random.latency(120),
    };
    let received = sent + waited;
    let root = trace.root(&FULFILMENT, Some(producer), (CONSUMER, "orders process", received));
    trace.messaging(root, "process");
    trace.int(root, "kafka.record.queue_time_ms", waited / MILLI);
    let length = trace.random.latency(8);
    let begin = received + trace.random.micros(500, 2000);
    let (query, stored) = trace.query(root, &INSERT_SHIPMENT, begin, length);
    let label = trace.post_outside(root, "carrier", "POST /labels", stored + 400 * MICRO);
    if story == Story::Late {
        trace.plant_by_contract("admitted-unfundable", root);
        trace.plant_by_contract("started-expired", root);
        for late in [query, label] {
            trace.plant_by_contract("attempt-unfundable", late);
            trace.plant_by_contract("side-effect-late", late);
        }
    }
    let printed = match story {
        Story::Fine | Story::Late => printed(trace, label),
        Story::Refused => {
            let refused = trace.start(label) + trace.random.latency(20);
            trace.respond(label, refused, 503);
            again(trace, root, refused).1
        }
        Story::Blind => {
            let left = trace.start(label) + LABEL_TRY * MILLI;
            trace.gives_up(label, left);
            let (second, printed) = again(trace, root, left);
            trace.plant("blind-retry", second);
            printed
        }
    };
    let end = printed + trace.random.micros(500, 4000);
    trace.end(root, end);
}

/// The carrier prints a label. Returns when.
fn printed(trace: &mut Trace, label: At) -> i64 {
    let end = trace.start(label) + trace.random.latency(90);
    trace.respond(label, end, 201);
    end
}

/// The carrier is asked a second time. Returns the span and when the label is printed.
fn again(trace: &mut Trace, root: At, failed: i64) -> (At, i64) {
    let backoff = trace.random.millis(80, 120);
    let label = trace.post_outside(root, "carrier", "POST /labels", failed + backoff);
    trace.int(label, "http.request.resend_count", 1);
    let end = printed(trace, label);
    (label, end)
}
