//! `GET /search`: 1.5 s, noted by the storefront itself; slow catalogs are hedged.

use super::trace::{At, CANCELLED, Call, OK, Timeout, Trace};
use super::world::{LEVEL, QUOTE_MANY, SEARCH, SEARCH_INDEX};
use super::{MICRO, MILLI};

/// What quotes for a page may take, in milliseconds.
const QUOTES_TIMEOUT: i64 = 400;
/// What one try of a search needs, where the storefront says so.
const SEARCH_TRY: i64 = 400;

/// The root and its deadline.
fn root(trace: &mut Trace) -> (At, i64) {
    let root = trace.request("GET /search");
    let deadline = trace.own_budget(root, 1500);
    (root, deadline)
}

/// The index is asked within `call`, until `end` at the latest.
fn ask_index(trace: &mut Trace, call: Call, end: i64) -> At {
    let begin = trace.start(call.server) + trace.random.micros(300, 2000);
    trace.query(call.server, &SEARCH_INDEX, begin, end - begin).0
}

/// The catalog answers at `end`, shortly after the index. Returns when the storefront knows.
fn found(trace: &mut Trace, call: Call, end: i64) -> i64 {
    let ranked = trace.random.micros(500, 4000);
    ask_index(trace, call, end - ranked);
    trace.answer(call, end, OK)
}

/// The page is priced and sent.
fn price_and_render(trace: &mut Trace, root: At, start: i64) {
    let call = trace.call(root, &QUOTE_MANY, start + 400 * MICRO, Timeout::Fixed(QUOTES_TIMEOUT));
    let end = trace.start(call.server) + trace.random.latency(25);
    let priced = trace.answer(call, end, OK);
    render(trace, root, priced);
}

/// The page is sent.
fn render(trace: &mut Trace, root: At, start: i64) {
    let end = start + trace.random.latency(8);
    trace.respond(root, end, 200);
}

/// Nothing is wrong.
pub(crate) fn fine(trace: &mut Trace) {
    let (root, _) = root(trace);
    let start = trace.random.micros(800, 5000);
    let call = trace.call(root, &SEARCH, start, Timeout::PassOn);
    let end = trace.start(call.server) + trace.random.latency(110);
    let page = found(trace, call, end);
    price_and_render(trace, root, page);
}

/// A second try of the search beside the first, which wins. Returns both and when the winner's
/// answer was there.
fn hedged(trace: &mut Trace, root: At, start: i64) -> (Call, Call, i64) {
    let slow = trace.call(root, &SEARCH, start, Timeout::PassOn);
    let hedge = start + trace.random.millis(150, 170);
    let fast = trace.call(root, &SEARCH, hedge, Timeout::PassOn);
    let end = trace.start(fast.server) + trace.random.millis(40, 90);
    let won = found(trace, fast, end);
    (slow, fast, won)
}

/// The loser is cancelled and stops.
fn loser_stops(trace: &mut Trace, slow: Call, won: i64) {
    let query = ask_index(trace, slow, won + 700 * MICRO);
    trace.fails(query, "context canceled");
    trace.ended(slow, (won + 300 * MICRO, CANCELLED), (won + MILLI, CANCELLED));
}

/// A hedge as it should be.
pub(crate) fn hedge_cancelled(trace: &mut Trace) {
    let (root, _) = root(trace);
    let start = trace.random.micros(800, 5000);
    let (slow, _, won) = hedged(trace, root, start);
    loser_stops(trace, slow, won);
    price_and_render(trace, root, won);
}

/// The loser is cancelled and its server goes on.
pub(crate) fn hedge_ignored(trace: &mut Trace) {
    let (root, _) = root(trace);
    let start = trace.random.micros(800, 5000);
    let (slow, _, won) = hedged(trace, root, start);
    ask_index(trace, slow, won - 5 * MILLI);
    let end = won + trace.random.millis(120, 400);
    trace.ended(slow, (won + 300 * MICRO, CANCELLED), (end, OK));
    trace.plant("hedge-not-cancelled", slow.client);
    trace.plant("cancel-ignored", slow.client);
    price_and_render(trace, root, won);
}

/// The loser is only cancelled when the page is done; it stops then.
pub(crate) fn hedge_lingers(trace: &mut Trace) {
    let (root, _) = root(trace);
    let start = trace.random.micros(800, 5000);
    let (slow, _, won) = hedged(trace, root, start);
    let left = won + trace.random.millis(40, 150);
    ask_index(trace, slow, left - 2 * MILLI);
    trace.ended(slow, (left, CANCELLED), (left + 800 * MICRO, CANCELLED));
    trace.plant("hedge-not-cancelled", slow.client);
    price_and_render(trace, root, won);
}

/// The query was rewritten for so long that the hedge begins with less than a try needs.
pub(crate) fn hedge_too_late(trace: &mut Trace) {
    let (root, deadline) = root(trace);
    let start = deadline - trace.random.millis(480, 510);
    trace.inside(root, "rewrite query", 900 * MICRO, start - 300 * MICRO);
    let (slow, fast, won) = hedged(trace, root, start);
    loser_stops(trace, slow, won);
    for call in [slow, fast] {
        trace.int(call.client, "deadline.attempt_timeout_ms", SEARCH_TRY);
    }
    trace.plant("hedge-unfundable", fast.client);
    render(trace, root, won);
}

/// A configured timeout of three seconds: the search is waited for until after the deadline, and
/// the page is priced for nobody.
pub(crate) fn priced_for_nobody(trace: &mut Trace) {
    let (root, deadline) = root(trace);
    let start = trace.random.micros(800, 5000);
    let call = trace.call(root, &SEARCH, start, Timeout::Fixed(3000));
    trace.plant("overgrant", call.client);
    let end = deadline + trace.random.millis(20, 200);
    let page = found(trace, call, end);

    let quotes = trace.call(root, &QUOTE_MANY, page + 400 * MICRO, Timeout::Fixed(QUOTES_TIMEOUT));
    for code in ["overgrant", "attempt-unfundable", "started-expired"] {
        trace.plant(code, quotes.client);
    }
    let begin = trace.start(quotes.server) + trace.random.latency(4);
    let level = trace.call(quotes.server, &LEVEL, begin, Timeout::PassOn);
    for code in ["attempt-unfundable", "started-expired"] {
        trace.plant(code, level.client);
    }
    let counted = trace.start(level.server) + trace.random.latency(6);
    let known = trace.answer(level, counted, OK);
    let end = known + trace.random.micros(400, 5000);
    let priced = trace.answer(quotes, end, OK);
    render(trace, root, priced);
}
