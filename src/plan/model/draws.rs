//! Durations as they are drawn: integers only, the same for the same seed on any machine.

use super::scenario::{Durations, Regime, Scenario};
use crate::units::Nanos;

/// Durations of a regime. Those of a cycle come in their order, from the beginning. Random ones hang on
/// nothing but the seed and where they are needed, so that all configurations meet the same.
#[derive(Debug)]
pub(super) struct Draws<'s> {
    sources: Vec<Source<'s>>,
    /// By service: whence its durations come.
    source_of: Vec<usize>,
}

#[derive(Debug)]
struct Source<'s> {
    durations: &'s Durations,
    /// How many of a cycle were drawn.
    drawn: usize,
    /// Each source has numbers of its own.
    seed: u64,
}

impl<'s> Draws<'s> {
    /// Those of a regime.
    pub(super) fn of(scenario: &'s Scenario, regime: &'s Regime) -> Self {
        let all = std::iter::once(&regime.durations);
        let all = all.chain(regime.services.iter().map(|(_, durations)| durations));
        let seeds = (0..).map(|number: u64| mix(scenario.seed.wrapping_add(number)));
        let sources =
            all.zip(seeds).map(|(durations, seed)| Source { durations, drawn: 0, seed }).collect();
        let source_of = scenario.services.iter().map(|service| {
            let own = regime.services.iter().position(|(name, _)| *name == service.name);
            own.map_or(0, |own| own + 1)
        });
        Self { sources, source_of: source_of.collect() }
    }

    /// The next duration of a service, which is needed at `spot`.
    pub(super) fn next(&mut self, service: usize, spot: Spot) -> Nanos {
        self.sources[self.source_of[service]].next(spot)
    }
}

impl Source<'_> {
    fn next(&mut self, Spot(spot): Spot) -> Nanos {
        let drawn = self.drawn;
        self.drawn = drawn.wrapping_add(1);
        let random = mix(self.seed ^ spot);
        match self.durations {
            Durations::Cycle(all) => {
                let place = drawn.checked_rem(all.len());
                place.and_then(|place| all.get(place)).copied().unwrap_or_default()
            }
            Durations::Between(least, most) => {
                let width = (*most - *least).as_nanos().unsigned_abs();
                let more = below(random, width.saturating_add(1));
                *least + Nanos::from_nanos(i64::try_from(more).unwrap_or(i64::MAX))
            }
            Durations::Pick(all) => {
                let total = all.iter().map(|(_, weight)| u64::from(*weight)).sum();
                let mut left = below(random, total);
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

/// Where in a run a duration is needed: in which request, and there by which attempt of which call of
/// which attempt above it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot(u64);

impl Spot {
    /// The whole of request `number`.
    pub(super) fn request(number: u64) -> Self {
        Self(mix(number))
    }

    /// The part `number` of it.
    pub(super) fn part(self, number: usize) -> Self {
        let number = u64::try_from(number).unwrap_or(u64::MAX);
        Self(mix(self.0.wrapping_add(GOLDEN.wrapping_mul(number))))
    }
}

/// The step of `SplitMix64`'s counter, from the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number that `SplitMix64`, as Steele, Lea and Flood give it, makes of a counter.
fn mix(counter: u64) -> u64 {
    let mixed = counter.wrapping_add(GOLDEN);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A number below `bound`; the numbers are alike but for a bias of less than `bound` in 2^64.
fn below(random: u64, bound: u64) -> u64 {
    let scaled = (u128::from(random) * u128::from(bound)) >> 64;
    u64::try_from(scaled).unwrap_or(0)
}
