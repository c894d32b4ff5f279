//! How often attempts pay by what was left.

use dwindle::calibrate::{Began, CallObserved, Decile, funding};
use dwindle::span::{SpanId, TraceId};
use dwindle::stats::Proportion;
use dwindle::units::Nanos;

/// Attempts, each with what was left in milliseconds and whether it paid.
fn seen(attempts: impl IntoIterator<Item = (i64, bool)>) -> CallObserved {
    let mut seen = CallObserved::default();
    for (number, (left_ms, paid)) in (1..).zip(attempts) {
        let available = Nanos::from_millis(left_ms);
        seen.began.push(TraceId(number), SpanId(1), Began { available, paid });
    }
    seen
}

fn decile(from_ms: i64, to_ms: i64, part: u64, whole: u64) -> Decile {
    let [from, to] = [from_ms, to_ms].map(Nanos::from_millis);
    Decile { from, to, paid: Proportion { part, whole } }
}

#[test]
fn deciles_hold_as_many_each_and_never_part_equals() {
    let each = funding(&seen((0..100).map(|left| (left, left >= 95))));
    assert_eq!(each.deciles.len(), 10);
    assert_eq!(each.deciles[0], decile(0, 9, 0, 10));
    assert_eq!(each.deciles[9], decile(90, 99, 5, 10));
    let equal = funding(&seen((0..100).map(|number| (if number < 55 { 7 } else { 8 }, true))));
    assert_eq!(equal.deciles, [decile(7, 7, 55, 55), decile(8, 8, 45, 45)]);
    assert_eq!(funding(&seen([])).deciles, []);
    assert_eq!(funding(&seen([(1, true)])).deciles, [decile(1, 1, 1, 1)]);
}

#[test]
fn break_even_is_the_largest_edge_below_which_almost_nothing_pays() {
    // 400 with less than 40 ms of which none succeeds, and the rest all do.
    let sharp = funding(&seen((0..1_000).map(|number| (number / 10, number >= 400))));
    assert_eq!(sharp.break_even, Some(Nanos::from_millis(40)));
    // One in ten does: that is not almost never.
    let blunt = funding(&seen((0..1_000).map(|n| (n / 10, n >= 400 || n % 10 == 0))));
    assert_eq!(blunt.break_even, None);
}

#[test]
fn few_attempts_show_no_break_even() {
    // 40 that failed could do so one time in twelve as well.
    let few = funding(&seen((0..100).map(|number| (number, number >= 40))));
    assert_eq!(few.break_even, None);
    // All failed: nothing tells from where on they would not have.
    assert_eq!(funding(&seen((0..1_000).map(|number| (number, false)))).break_even, None);
}
