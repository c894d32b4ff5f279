//! Vectors that are filled anew for each trace, so that their memory is used again: what a
//! partition of small traces would cost most is asking for memory.

/// Puts `len` times the same value in the place of what the vector held.
pub(super) fn reset<T: Clone>(values: &mut Vec<T>, len: usize, value: T) {
    values.clear();
    values.resize(len, value);
}

/// Puts `new` values in the place of those that the vector held.
pub(super) fn refill<T>(values: &mut Vec<T>, new: impl Iterator<Item = T>) {
    values.clear();
    values.extend(new);
}

/// Takes the leading ones of `things` that are wanted.
pub(super) fn take_leading<'t, T>(things: &mut &'t [T], is_wanted: impl Fn(&T) -> bool) -> &'t [T] {
    let wanted = things.iter().take_while(|thing| is_wanted(thing)).count();
    let (taken, rest) = things.split_at(wanted);
    *things = rest;
    taken
}
