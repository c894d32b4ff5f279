//! A seeded source of numbers, and the shape of latencies: integers only, no clock.

use super::{MICRO, MILLI};

/// splitmix64: small, and the same on every machine.
pub(crate) struct Random(u64);

/// What a latency is of its median, in thousandths, at evenly spaced ranks: skewed to the right
/// as service times are, and bounded, so that no request slips into a fault by chance.
const SHAPE: [u64; 17] =
    [400, 510, 590, 660, 730, 790, 850, 920, 1000, 1080, 1170, 1270, 1390, 1540, 1750, 2050, 2600];

impl Random {
    /// A source that always tells the same numbers for `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `end` less one.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        // The remainder is below `end`, so it fits.
        usize::try_from(self.next() % end.max(1) as u64).unwrap_or(0)
    }

    /// True `percent` times in a hundred.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// A length in nanoseconds, from `least` to `most` milliseconds, whole microseconds.
    pub(crate) fn millis(&mut self, least: i64, most: i64) -> i64 {
        self.micros(least * 1000, most * 1000)
    }

    /// A length in nanoseconds, from `least` to `most` microseconds.
    pub(crate) fn micros(&mut self, least: i64, most: i64) -> i64 {
        let width = usize::try_from(most - least).unwrap_or(0);
        (least + i64::try_from(self.below(width + 1)).unwrap_or(0)) * MICRO
    }

    /// A latency around `median` milliseconds: 0.4 to 2.6 times it.
    pub(crate) fn latency(&mut self, median: i64) -> i64 {
        let rank = self.below(SHAPE.len() - 1);
        let within = self.next() % 1000;
        let (low, high) = (SHAPE[rank], SHAPE[rank + 1]);
        let millionths = low * 1000 + (high - low) * within;
        median * MILLI / 1_000_000 * i64::try_from(millionths).unwrap_or(0)
    }

    /// Puts `items` into a random order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
