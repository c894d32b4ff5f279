//! Lengths of time as plain lists of intervals.

/// From the first, to the second; empty unless the first is earlier.
pub(super) type Interval = (i64, i64);

/// The parts of `intervals` within `bounds`.
pub(super) fn clip(intervals: &[Interval], bounds: Interval) -> Vec<Interval> {
    let clipped = intervals.iter().map(|&(from, to)| (from.max(bounds.0), to.min(bounds.1)));
    clipped.filter(|&(from, to)| from < to).collect()
}

/// The parts of `intervals` that no interval of `cuts` covers.
pub(super) fn minus(intervals: &[Interval], cuts: &[Interval]) -> Vec<Interval> {
    let Some(((from, to), others)) = cuts.split_first() else { return intervals.to_vec() };
    let mut left = Vec::new();
    for &(start, end) in intervals {
        if from < to && *from < end && start < *to {
            left.push((start, *from));
            left.push((*to, end));
        } else {
            left.push((start, end));
        }
    }
    left.retain(|&(start, end)| start < end);
    minus(&left, others)
}

/// The length of intervals that do not overlap.
pub(super) fn length(intervals: &[Interval]) -> i64 {
    intervals.iter().map(|&(from, to)| (to - from).max(0)).sum()
}

/// The length of what any of them covers.
pub(super) fn union_length(intervals: &[Interval]) -> i64 {
    let Some((first, others)) = intervals.split_first() else { return 0 };
    length(&minus(&[*first], others)) + union_length(others)
}

/// The length of what lies after an instant.
pub(super) fn length_after(intervals: &[Interval], instant: i64) -> i64 {
    length(&clip(intervals, (instant, i64::MAX)))
}
