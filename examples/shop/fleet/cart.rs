//! `POST /cart`: 600 ms, given by the edge proxy's header, captured with underscores.

use super::trace::{At, CANCELLED, Call, DEADLINE_EXCEEDED, OK, Timeout, Trace, UNAVAILABLE};
use super::world::{ADD_LINE, INSERT_LINE, RESERVE};
use super::{MICRO, MILLI};

/// The root and its deadline.
fn root(trace: &mut Trace) -> (At, i64) {
    let root = trace.request("POST /cart");
    let key = "http.request.header.x_envoy_expected_rq_timeout_ms";
    let deadline = trace.header_budget(root, key, 600, None);
    (root, deadline)
}

/// The line is added.
fn add(trace: &mut Trace, root: At, start: i64) -> Call {
    trace.call(root, &ADD_LINE, start, Timeout::PassOn)
}

/// Stock is reserved within `cart`, `answered` so. Returns when the cart knows.
fn reserve(trace: &mut Trace, cart: Call, start: i64, code: i64) -> i64 {
    let call = trace.call(cart.server, &RESERVE, start, Timeout::PassOn);
    let end = trace.start(call.server) + trace.random.latency(8);
    trace.answer(call, end, code)
}

/// The line is stored and the cart answers. Returns when the storefront knows.
fn store(trace: &mut Trace, cart: Call, start: i64) -> i64 {
    let length = trace.random.latency(7);
    let (_, stored) = trace.query(cart.server, &INSERT_LINE, start + 300 * MICRO, length);
    let end = stored + trace.random.micros(200, 2000);
    trace.answer(cart, end, OK)
}

fn render(trace: &mut Trace, root: At, start: i64) {
    let end = start + trace.random.latency(3);
    trace.respond(root, end, 201);
}

/// Nothing is wrong; some wait a moment for a connection.
pub(crate) fn fine(trace: &mut Trace) {
    let (root, _) = root(trace);
    let start = trace.random.micros(600, 3000);
    let cart = add(trace, root, start);
    let mut begin = trace.start(cart.server) + 200 * MICRO;
    if trace.random.chance(25) {
        let connected = begin + trace.random.latency(9);
        trace.inside(cart.server, "pool.waiting", begin, connected);
        begin = connected;
    }
    let asked = begin + trace.random.micros(500, 2500);
    let reserved = reserve(trace, cart, asked, OK);
    let stored = store(trace, cart, reserved);
    render(trace, root, stored);
}

/// The stock service is unavailable; the cart retries, and the storefront retries the cart.
pub(crate) fn retried_twice_over(trace: &mut Trace) {
    let (root, _) = root(trace);
    trace.plant("retry-layered", root);
    let start = trace.random.micros(600, 3000);
    let first = add(trace, root, start);
    let asked = trace.start(first.server) + 700 * MICRO;
    let refused = reserve(trace, first, asked, UNAVAILABLE);
    let backoff = trace.random.millis(10, 20);
    let refused = reserve(trace, first, refused + backoff, UNAVAILABLE);
    let failed = trace.answer(first, refused + 500 * MICRO, UNAVAILABLE);

    let backoff = trace.random.millis(20, 30);
    let second = add(trace, root, failed + backoff);
    let asked = trace.start(second.server) + 700 * MICRO;
    let refused = reserve(trace, second, asked, UNAVAILABLE);
    let backoff = trace.random.millis(10, 20);
    let reserved = reserve(trace, second, refused + backoff, OK);
    let stored = store(trace, second, reserved);
    render(trace, root, stored);
}

/// The user goes away while the cart waits for a connection; the cart then does the work.
pub(crate) fn ran_after_leaving(trace: &mut Trace) {
    let (root, _) = root(trace);
    let start = trace.random.micros(600, 3000);
    let cart = add(trace, root, start);
    let left = trace.random.millis(150, 250);
    let connected = left + trace.random.millis(40, 120);
    trace.inside(cart.server, "pool.waiting", trace.start(cart.server), connected);
    let length = trace.random.latency(7);
    let (_, stored) = trace.query(cart.server, &INSERT_LINE, connected + 500 * MICRO, length);
    let end = stored + trace.random.millis(10, 25);
    trace.ended(cart, (left, CANCELLED), (end, OK));
    trace.respond(root, left + 2 * MILLI, 499);
    trace.plant("ran-after-queue-cancel", cart.client);
    trace.plant("cancel-ignored", cart.client);
}

/// A reservation waits in the stock service's queue until everybody has left, and is then made.
pub(crate) fn queued_past_deadline(trace: &mut Trace) {
    let (root, deadline) = root(trace);
    let start = trace.random.micros(600, 3000);
    let cart = add(trace, root, start);
    let asked = trace.start(cart.server) + 800 * MICRO;
    let queued = (deadline - asked) / MILLI + 1 + trace.random.millis(20, 90) / MILLI;
    let way_in = trace.way() + queued * MILLI;
    let call = trace.call_slowly(cart.server, &RESERVE, asked, way_in, Timeout::PassOn);
    trace.int(call.server, "deadline.queue_ms", queued);
    let end = trace.start(call.server) + trace.random.millis(15, 40);
    trace.ended(call, (deadline + 500 * MICRO, DEADLINE_EXCEEDED), (end, OK));
    let left = (deadline + 200 * MICRO, DEADLINE_EXCEEDED);
    trace.ended(cart, left, (deadline + MILLI, DEADLINE_EXCEEDED));
    trace.respond(root, deadline + 2 * MILLI, 504);
    for code in ["admitted-unfundable", "started-expired", "ran-after-queue-cancel"] {
        trace.plant(code, call.client);
    }
    trace.plant("cancel-ignored", call.client);
}
