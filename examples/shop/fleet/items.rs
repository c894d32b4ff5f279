//! `GET /items/{id}`: 800 ms, given by the edge proxy's header.

use super::trace::{At, CANCELLED, Call, DEADLINE_EXCEEDED, OK, Timeout, Trace, UNAVAILABLE};
use super::world::{GET_ITEM, LEVEL, QUOTE, SELECT_ITEM};
use super::{MICRO, MILLI};

/// What a quote may take, in milliseconds: the storefront's configuration.
const QUOTE_TIMEOUT: i64 = 300;
/// What one try of a quote may take where the storefront retries.
const QUOTE_TRY: i64 = 150;

/// The root and its deadline; some waited a little at the load balancer.
fn root(trace: &mut Trace) -> (At, i64) {
    let root = trace.request("GET /items/{id}");
    let queued = trace.random.chance(30).then(|| trace.random.millis(0, 25));
    let deadline = budget(trace, root, queued);
    (root, deadline)
}

fn budget(trace: &mut Trace, root: At, queued: Option<i64>) -> i64 {
    trace.header_budget(root, "http.request.header.x-envoy-expected-rq-timeout-ms", 800, queued)
}

/// The item is read in time. Returns when the storefront has it.
fn get_item(trace: &mut Trace, root: At, start: i64) -> i64 {
    let call = trace.call(root, &GET_ITEM, start, Timeout::PassOn);
    let begin = trace.start(call.server) + trace.random.micros(300, 2500);
    let length = trace.random.latency(9);
    let (_, read) = trace.query(call.server, &SELECT_ITEM, begin, length);
    let end = read + trace.random.micros(200, 3000);
    trace.answer(call, end, OK)
}

/// The callee of a quote prices the item. Returns when the storefront has the quote.
fn price(trace: &mut Trace, call: Call) -> i64 {
    let begin = trace.start(call.server) + trace.random.latency(4);
    let level = trace.call(call.server, &LEVEL, begin, Timeout::PassOn);
    let counted = trace.start(level.server) + trace.random.latency(6);
    let known = trace.answer(level, counted, OK);
    let end = known + trace.random.micros(400, 5000);
    trace.answer(call, end, OK)
}

/// The storefront renders and answers.
fn render(trace: &mut Trace, root: At, start: i64) {
    let end = start + trace.random.latency(4);
    trace.respond(root, end, 200);
}

/// Where the storefront's own work before its first call ends.
fn routed(trace: &mut Trace) -> i64 {
    trace.random.micros(600, 4000)
}

/// Nothing is wrong.
pub(crate) fn fine(trace: &mut Trace) {
    let (root, _) = root(trace);
    let start = routed(trace);
    let item = get_item(trace, root, start);
    let call = trace.call(root, &QUOTE, item + 300 * MICRO, Timeout::Fixed(QUOTE_TIMEOUT));
    let priced = price(trace, call);
    render(trace, root, priced);
}

/// The connection pool of the storefront needs a moment to pick a backend; honest.
pub(crate) fn picked_slowly(trace: &mut Trace) {
    let (root, _) = root(trace);
    let start = routed(trace);
    let picked = trace.random.millis(4, 20);
    let way_in = picked + trace.way();
    let call = trace.call_slowly(root, &GET_ITEM, start, way_in, Timeout::Nothing);
    trace.event(call.client, "Delayed LB pick complete", start + picked);
    let end = trace.start(call.server) + trace.random.latency(12);
    let item = trace.answer(call, end, OK);
    render(trace, root, item);
}

/// A quote is refused once and asked for again, with enough left.
pub(crate) fn quoted_again(trace: &mut Trace) {
    let (root, _) = root(trace);
    let start = routed(trace);
    let item = get_item(trace, root, start);
    let first = quote_try(trace, root, item + 300 * MICRO);
    let end = trace.start(first.server) + trace.random.millis(3, 20);
    let refused = trace.answer(first, end, UNAVAILABLE);
    let backoff = trace.random.millis(20, 40);
    let second = quote_try(trace, root, refused + backoff);
    let priced = price(trace, second);
    render(trace, root, priced);
}

/// One try of a quote, with the whole per-try timeout whatever is left.
fn quote_try(trace: &mut Trace, root: At, start: i64) -> Call {
    let call = trace.call(root, &QUOTE, start, Timeout::Fixed(QUOTE_TRY));
    trace.int(call.client, "deadline.attempt_timeout_ms", QUOTE_TRY);
    call
}

/// A quote that hangs in the stock service until its try times out; everybody stops at once.
fn hang(trace: &mut Trace, call: Call) -> i64 {
    let left = trace.start(call.client) + QUOTE_TRY * MILLI;
    let begin = trace.start(call.server) + trace.random.millis(2, 5);
    let level = trace.call(call.server, &LEVEL, begin, Timeout::PassOn);
    let stopped = (left + 300 * MICRO, DEADLINE_EXCEEDED);
    trace.ended(level, stopped, (left + 900 * MICRO, DEADLINE_EXCEEDED));
    trace.ended(call, (left, DEADLINE_EXCEEDED), (left + 800 * MICRO, DEADLINE_EXCEEDED));
    left
}

/// Two tries time out and the third begins with less left than a try needs; it is given the
/// whole try again. Every other one is lucky.
pub(crate) fn third_try(trace: &mut Trace) {
    let (root, deadline) = root(trace);
    let start = routed(trace);
    // The item is slow today, which is what brings the tries to the end of the budget.
    let third = deadline - trace.random.millis(75, 105);
    let backoffs = [trace.random.millis(25, 35), trace.random.millis(35, 45)];
    let first = third - 2 * QUOTE_TRY * MILLI - backoffs[0] - backoffs[1];
    let call = trace.call(root, &GET_ITEM, start, Timeout::PassOn);
    let back = first - 300 * MICRO;
    let served = back - trace.way();
    let begin = trace.start(call.server) + 400 * MICRO;
    trace.query(call.server, &SELECT_ITEM, begin, served - begin - 700 * MICRO);
    trace.ended(call, (back, OK), (served, OK));

    let try_1 = quote_try(trace, root, first);
    let left = hang(trace, try_1);
    let try_2 = quote_try(trace, root, left + backoffs[0]);
    hang(trace, try_2);
    let try_3 = quote_try(trace, root, third);
    trace.plant("timeout-reset", try_3.client);
    trace.plant("retry-unfundable", try_3.client);
    if trace.random.chance(50) {
        let priced = price(trace, try_3);
        render(trace, root, priced);
    } else {
        let left = hang(trace, try_3);
        trace.respond(root, left + 2 * MILLI, 504);
    }
}

/// An old build of the storefront gives each quote a second, more than the request has.
pub(crate) fn old_build(trace: &mut Trace) {
    let (root, _) = root(trace);
    let start = routed(trace);
    let item = get_item(trace, root, start);
    let call = trace.call(root, &QUOTE, item + 300 * MICRO, Timeout::Fixed(1000));
    trace.plant("overgrant", call.client);
    let priced = price(trace, call);
    render(trace, root, priced);
}

/// The way into the catalog is slow; what it passes on is more than is left, and honest.
pub(crate) fn slow_way_in(trace: &mut Trace) {
    let (root, deadline) = root(trace);
    let start = routed(trace);
    let way_in = trace.random.millis(40, 60);
    let call = trace.call_slowly(root, &GET_ITEM, start, way_in, Timeout::PassOn);
    // The client's interceptor notes what it sends, so the wire is not mistaken for generosity.
    trace.int(call.client, "deadline.remaining_ms", (deadline - start) / MILLI);
    let begin = trace.start(call.server) + trace.random.latency(4);
    let level = trace.call(call.server, &LEVEL, begin, Timeout::PassOn);
    let counted = trace.start(level.server) + trace.random.latency(6);
    let known = trace.answer(level, counted, OK);
    let end = known + trace.random.micros(400, 3000);
    let item = trace.answer(call, end, OK);
    render(trace, root, item);
}

/// The storefront has left at the deadline and says so.
fn left_at(trace: &mut Trace, root: At, deadline: i64) -> (i64, i64) {
    trace.respond(root, deadline + 2 * MILLI, 504);
    (deadline + 200 * MICRO, DEADLINE_EXCEEDED)
}

/// The catalog waits for a database connection until after the deadline, and then does it all.
pub(crate) fn pool_exhausted(trace: &mut Trace) {
    let (root, deadline) = root(trace);
    let start = routed(trace);
    let call = trace.call(root, &GET_ITEM, start, Timeout::PassOn);
    let connected = deadline + trace.random.millis(15, 80);
    trace.inside(call.server, "pool.waiting", trace.start(call.server), connected);
    let length = trace.random.latency(9);
    let (query, read) = trace.query(call.server, &SELECT_ITEM, connected + 400 * MICRO, length);
    let end = read + trace.random.millis(10, 40);
    let left = left_at(trace, root, deadline);
    trace.ended(call, left, (end, OK));
    for code in ["admitted-unfundable", "started-expired", "ran-after-queue-cancel"] {
        trace.plant(code, call.client);
    }
    trace.plant("cancel-ignored", call.client);
    trace.plant("attempt-unfundable", query);
}

/// The same wait, but what comes out of it is thrown away.
pub(crate) fn pool_dropped(trace: &mut Trace) {
    let (root, deadline) = root(trace);
    let start = routed(trace);
    let call = trace.call(root, &GET_ITEM, start, Timeout::PassOn);
    let dropped = deadline + trace.random.millis(12, 60);
    trace.inside(call.server, "pool.waiting", trace.start(call.server), dropped);
    let left = left_at(trace, root, deadline);
    trace.ended(call, left, (dropped, DEADLINE_EXCEEDED));
    trace.plant("admitted-unfundable", call.client);
}

/// The database is slow; at the deadline everybody stops.
pub(crate) fn timed_out(trace: &mut Trace) {
    let (root, deadline) = root(trace);
    let start = routed(trace);
    let call = trace.call(root, &GET_ITEM, start, Timeout::PassOn);
    let begin = trace.start(call.server) + trace.random.micros(300, 2500);
    let stopped = deadline + 700 * MICRO;
    let (query, _) = trace.query(call.server, &SELECT_ITEM, begin, stopped - begin);
    trace.fails(query, "canceling statement due to statement timeout");
    let left = left_at(trace, root, deadline);
    trace.ended(call, left, (deadline + MILLI, DEADLINE_EXCEEDED));
}

/// The catalog does not notice that its caller has left.
pub(crate) fn catalog_goes_on(trace: &mut Trace) {
    let (root, deadline) = root(trace);
    let start = routed(trace);
    let call = trace.call(root, &GET_ITEM, start, Timeout::PassOn);
    let begin = trace.start(call.server) + trace.random.micros(300, 2500);
    let length = trace.random.latency(120);
    trace.query(call.server, &SELECT_ITEM, begin, length);
    let end = deadline + trace.random.millis(60, 250);
    let left = left_at(trace, root, deadline);
    trace.ended(call, left, (end, OK));
    trace.plant("cancel-ignored", call.client);
}

/// The user goes away while pricing asks for the stock level. Returns the root, the quote, the
/// level and when the storefront let go of the quote.
fn user_leaves(trace: &mut Trace) -> (Call, Call, i64) {
    let (root, _) = root(trace);
    let start = routed(trace);
    let item = get_item(trace, root, start);
    let quote = trace.call(root, &QUOTE, item + 300 * MICRO, Timeout::Fixed(QUOTE_TIMEOUT));
    let begin = trace.start(quote.server) + trace.random.latency(4);
    let level = trace.call(quote.server, &LEVEL, begin, Timeout::PassOn);
    let left = trace.start(level.server) + trace.random.millis(40, 90);
    trace.respond(root, left + 2 * MILLI, 499);
    (quote, level, left)
}

/// Pricing stops, but the stock service is not told.
pub(crate) fn cancel_dropped(trace: &mut Trace) {
    let (quote, level, left) = user_leaves(trace);
    trace.ended(quote, (left, CANCELLED), (left + MILLI, CANCELLED));
    let end = left + trace.random.millis(60, 140);
    trace.answer(level, end, OK);
    trace.plant("cancel-dropped", level.client);
}

/// Everybody stops.
pub(crate) fn cancelled(trace: &mut Trace) {
    let (quote, level, left) = user_leaves(trace);
    trace.ended(level, (left + 600 * MICRO, CANCELLED), (left + 1200 * MICRO, CANCELLED));
    trace.ended(quote, (left, CANCELLED), (left + 1500 * MICRO, CANCELLED));
}

/// No backend of the catalog is ready until after the deadline; the call carries no timeout.
pub(crate) fn no_backend(trace: &mut Trace) {
    let (root, deadline) = root(trace);
    let start = routed(trace);
    let picked = deadline + trace.random.millis(20, 60);
    let way_in = picked - start + trace.way();
    let call = trace.call_slowly(root, &GET_ITEM, start, way_in, Timeout::Nothing);
    trace.event(call.client, "Delayed LB pick complete", picked);
    trace.plant("started-expired", call.client);
    let item = late_item(trace, call);
    render(trace, root, item);
}

/// The catalog reads the item, after the deadline. Returns when the storefront has it.
fn late_item(trace: &mut Trace, call: Call) -> i64 {
    let begin = trace.start(call.server) + 500 * MICRO;
    let length = trace.random.latency(9);
    let (query, read) = trace.query(call.server, &SELECT_ITEM, begin, length);
    trace.plant("attempt-unfundable", query);
    let end = read + trace.random.micros(200, 3000);
    trace.answer(call, end, OK)
}

/// The request waited at the load balancer until its budget was gone.
fn stale_root(trace: &mut Trace) -> At {
    let root = trace.request("GET /items/{id}");
    let queued = trace.random.millis(840, 1200);
    budget(trace, root, Some(queued));
    trace.plant("admitted-unfundable", root);
    trace.plant("started-expired", root);
    root
}

/// ... and is served all the same.
pub(crate) fn stale_and_served(trace: &mut Trace) {
    let root = stale_root(trace);
    let start = routed(trace);
    let call = trace.call(root, &GET_ITEM, start, Timeout::Fixed(300));
    for code in ["overgrant", "attempt-unfundable", "started-expired"] {
        trace.plant(code, call.client);
    }
    let item = late_item(trace, call);
    render(trace, root, item);
}

/// ... and is refused at once.
pub(crate) fn stale_and_shed(trace: &mut Trace) {
    let root = stale_root(trace);
    let end = trace.random.micros(300, 1500);
    trace.respond(root, end, 503);
}
