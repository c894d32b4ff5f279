//! `POST /checkout`: 2 s, given by the edge proxy's header. Payments gives the fraud check the
//! full two seconds again and every ledger statement five, whatever is left: in each of them.

use super::orders;
use super::trace::{At, Call, DEADLINE_EXCEEDED, OK, Timeout, Trace};
use super::world::{AUTHORIZE, FRAUD, GET_CART, INSERT_POSTING, SELECT_CART};
use super::{MICRO, MILLI};

/// What one try of the fraud check may take, where payments retries.
const SCORE_TRY: i64 = 400;

/// The root and its deadline.
fn root(trace: &mut Trace) -> (At, i64) {
    let root = trace.request("POST /checkout");
    let key = "http.request.header.x-envoy-expected-rq-timeout-ms";
    let deadline = trace.header_budget(root, key, 2000, None);
    (root, deadline)
}

/// The cart is read, and payments validates what it is asked for. Returns the call of payments
/// and when it asks the fraud check, at least a tenth of a second after the root's start: enough
/// for two seconds to be more than is left.
fn authorize(trace: &mut Trace, root: At) -> (Call, i64) {
    let start = trace.random.micros(2000, 8000);
    let cart = trace.call(root, &GET_CART, start, Timeout::PassOn);
    let begin = trace.start(cart.server) + 600 * MICRO;
    let length = trace.random.latency(8);
    let (_, read) = trace.query(cart.server, &SELECT_CART, begin, length);
    let end = read + trace.random.micros(300, 2000);
    let known = trace.answer(cart, end, OK);
    let call = trace.call(root, &AUTHORIZE, known + 500 * MICRO, Timeout::PassOn);
    let validated = trace.start(call.server) + trace.random.millis(95, 160);
    (call, validated)
}

/// The fraud check is asked, with the full two seconds.
fn score(trace: &mut Trace, payments: Call, start: i64) -> Call {
    let call = trace.post(payments.server, &FRAUD, "POST /score", start);
    trace.texts(call.client, "http.request.header.x-envoy-upstream-rq-timeout-ms", "2000");
    trace.plant("timeout-reset", call.client);
    call
}

/// The fraud check answers at `end`. Returns when payments knows.
fn scored(trace: &mut Trace, call: Call, end: i64) -> i64 {
    let back = end + trace.way();
    trace.respond(call.server, end, 200);
    trace.respond(call.client, back, 200);
    back
}

/// The posting is written, with five seconds. Returns its span and its end.
fn post_to_ledger(trace: &mut Trace, payments: Call, start: i64) -> (At, i64) {
    let length = trace.random.latency(11);
    let (query, end) = trace.query(payments.server, &INSERT_POSTING, start, length);
    trace.int(query, "statement_timeout_ms", 5000);
    trace.plant("overgrant", query);
    (query, end)
}

/// The order is published at `start` and the user hears of it.
fn publish_and_render(trace: &mut Trace, root: At, start: i64, order: orders::Story) -> At {
    let sent = start + trace.random.micros(800, 3000);
    let producer = trace.publish(root, "orders publish", start, sent);
    let end = sent + trace.random.latency(5);
    trace.respond(root, end, 201);
    orders::process(trace, producer, sent, order);
    producer
}

/// A checkout whose payment goes through at once.
fn paid(trace: &mut Trace, order: orders::Story) {
    let (root, _) = root(trace);
    let (payments, validated) = authorize(trace, root);
    let check = score(trace, payments, validated);
    let end = trace.start(check.server) + trace.random.latency(140);
    let known = scored(trace, check, end);
    let (_, posted) = post_to_ledger(trace, payments, known + 700 * MICRO);
    let end = posted + trace.random.micros(500, 4000);
    let back = trace.answer(payments, end, OK);
    publish_and_render(trace, root, back + MILLI, order);
}

/// Nothing but the two configured timeouts is wrong.
pub(crate) fn fine(trace: &mut Trace) {
    paid(trace, orders::Story::Fine);
}

/// ... and the carrier is asked twice after it refused.
pub(crate) fn carrier_refused(trace: &mut Trace) {
    paid(trace, orders::Story::Refused);
}

/// ... and the carrier is asked again although the first label may have been printed.
pub(crate) fn carrier_blind(trace: &mut Trace) {
    paid(trace, orders::Story::Blind);
}

/// ... and the order lies in the topic for longer than the contract allows.
pub(crate) fn order_late(trace: &mut Trace) {
    paid(trace, orders::Story::Late);
}

/// The fraud check does not answer and is asked again; `key` says whether it may be.
fn score_again(trace: &mut Trace, key: Option<&str>) {
    let (root, _) = root(trace);
    let (payments, validated) = authorize(trace, root);
    let first = score(trace, payments, validated);
    let left = validated + SCORE_TRY * MILLI;
    trace.gives_up(first.client, left);
    trace.respond(first.server, left + 1200 * MICRO, 499);
    let backoff = trace.random.millis(40, 60);
    let second = score(trace, payments, left + backoff);
    trace.int(second.client, "http.request.resend_count", 1);
    for call in [first, second] {
        let allowance = "http.request.header.x-envoy-upstream-rq-per-try-timeout-ms";
        trace.texts(call.client, allowance, &SCORE_TRY.to_string());
        if let Some(key) = key {
            trace.texts(call.client, "http.request.header.idempotency-key", key);
        }
    }
    if key.is_none() {
        trace.plant("blind-retry", second.client);
    }
    let end = trace.start(second.server) + trace.random.latency(130);
    let known = scored(trace, second, end);
    let (_, posted) = post_to_ledger(trace, payments, known + 700 * MICRO);
    let end = posted + trace.random.micros(500, 4000);
    let back = trace.answer(payments, end, OK);
    publish_and_render(trace, root, back + MILLI, orders::Story::Fine);
}

/// A second score may count twice.
pub(crate) fn scored_blindly(trace: &mut Trace) {
    score_again(trace, None);
}

/// The idempotency key makes the second score harmless.
pub(crate) fn scored_with_key(trace: &mut Trace) {
    score_again(trace, Some("score-of-this-order"));
}

/// The fraud check takes its two seconds; the storefront leaves, and the user is charged for a
/// checkout that failed.
pub(crate) fn charged_after_leaving(trace: &mut Trace) {
    let (root, deadline) = root(trace);
    let (payments, validated) = authorize(trace, root);
    let check = score(trace, payments, validated);
    let end = deadline + trace.random.millis(20, 80);
    let known = scored(trace, check, end);
    let (query, posted) = post_to_ledger(trace, payments, known + 700 * MICRO);
    trace.plant("attempt-unfundable", query);
    trace.plant("side-effect-late", query);
    let end = posted + trace.random.millis(10, 30);
    trace.ended(payments, (deadline + 200 * MICRO, DEADLINE_EXCEEDED), (end, OK));
    trace.plant("cancel-ignored", payments.client);
    trace.respond(root, deadline + 2 * MILLI, 504);
}

/// The payment comes back just in time, and the order is published after the deadline.
pub(crate) fn published_late(trace: &mut Trace) {
    let (root, deadline) = root(trace);
    let (payments, validated) = authorize(trace, root);
    let check = score(trace, payments, validated);
    let end = deadline - trace.random.millis(150, 190);
    let known = scored(trace, check, end);
    let (_, posted) = post_to_ledger(trace, payments, known + 700 * MICRO);
    let end = posted + trace.random.micros(500, 4000);
    trace.answer(payments, end, OK);
    let receipt = deadline + trace.random.millis(20, 80);
    let producer = publish_and_render(trace, root, receipt, orders::Story::Fine);
    trace.plant("side-effect-late", producer);
}
