//! Durations as they are drawn: integers only, the same for the same seed on any machine.

use super::scenario::{Durations, Regime, Scenario};
use crate::units::Nanos;

/// Durations of a regime, from their beginning.
#[derive(Debug)]
pub(super) struct Draws<'s> {
    sources: Vec<Source<'s>>,
    /// By service: whence its durations come.
    source_of: Vec<usize>,
}

#[derive(Debug)]
struct Source<'s> {
    durations: &'s Durations,
    /// How many were drawn.
    drawn: usize,
    random: SplitMix,
}

impl<'s> Draws<'s> {
    /// Those of a regime.
    pub(super) fn of(scenario: &'s Scenario, regime: &'s Regime) -> Self {
        let all = std::iter::once(&regime.durations);
        let all = all.chain(regime.services.iter().map(|(_, durations)| durations));
        // Each source has numbers of its own, so that none hangs on how often others are asked.
        let mut seeds = SplitMix(scenario.seed);
        let sources = all
            .map(|durations| Source { durations, drawn: 0, random: SplitMix(seeds.next()) })
            .collect();
        let source_of = scenario.services.iter().map(|service| {
            let own = regime.services.iter().position(|(name, _)| *name == service.name);
            own.map_or(0, |own| own + 1)
        });
        Self { sources, source_of: source_of.collect() }
    }

    /// The next duration of a service.
    pub(super) fn next(&mut self, service: usize) -> Nanos {
        self.sources[self.source_of[service]].next()
    }
}

impl Source<'_> {
    fn next(&mut self) -> Nanos {
        let drawn = self.drawn;
        self.drawn = drawn.wrapping_add(1);
        match self.durations {
            Durations::Cycle(all) => {
                let place = drawn.checked_rem(all.len());
                place.and_then(|place| all.get(place)).copied().unwrap_or_default()
            }
            Durations::Between(least, most) => {
                let width = (*most - *least).as_nanos().unsigned_abs();
                let more = self.random.below(width.saturating_add(1));
                *least + Nanos::from_nanos(i64::try_from(more).unwrap_or(i64::MAX))
            }
            Durations::Pick(all) => {
                let total = all.iter().map(|(_, weight)| u64::from(*weight)).sum();
                let mut left = self.random.below(total);
                let picked = all.iter().find(|(_, weight)| {
                    let is_it = left < u64::from(*weight);
                    left = left.saturating_sub(u64::from(*weight));
                    is_it
                });
                picked.map(|(duration, _)| *duration).unwrap_or_default()
            }
        }
    }
}

/// `SplitMix64`, as Steele, Lea and Flood give it.
#[derive(Debug)]
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; the numbers are alike but for a bias of less than `bound` in 2^64.
    fn below(&mut self, bound: u64) -> u64 {
        let scaled = (u128::from(self.next()) * u128::from(bound)) >> 64;
        u64::try_from(scaled).unwrap_or(0)
    }
}
