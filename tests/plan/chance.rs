//! Random numbers that a seed repeats.

use dwindle::units::Nanos;

/// Where they come from.
pub(super) struct Chance(u64);

impl Chance {
    /// Those of a seed.
    pub(super) fn of(seed: u64) -> Self {
        let mut chance = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            chance.next();
        }
        chance
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(super) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }

    pub(super) fn one_in(&mut self, of: u64) -> bool {
        self.next().is_multiple_of(of)
    }

    /// A length in TOML: mostly whole milliseconds, so that instants fall together.
    pub(super) fn length(&mut self, least_ms: u64, most_ms: u64) -> String {
        let ms = self.between(least_ms, most_ms);
        if self.one_in(3) {
            format!("\"{}ns\"", ms * 1_000_000 + self.between(0, 999_999))
        } else {
            format!("\"{ms}ms\"")
        }
    }

    pub(super) fn lengths(&mut self, count: u64, least_ms: u64, most_ms: u64) -> String {
        let all: Vec<String> = (0..count).map(|_| self.length(least_ms, most_ms)).collect();
        format!("[{}]", all.join(", "))
    }

    /// A length, mostly of whole milliseconds.
    pub(super) fn nanos(&mut self, least_ms: u64, most_ms: u64) -> Nanos {
        Nanos::parse(self.length(least_ms, most_ms).trim_matches('"')).unwrap()
    }
}
