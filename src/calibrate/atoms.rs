//! Where durations pile up: an excess of them in a narrow window over those around it.
//!
//! A timer fires when it is due or a little later, never before. So what it cuts off begins to pile up
//! at its value and thins out soon. A window begins at each duration and is as wide as a
//! [`WIDTH`]th of it and a millisecond; what lies [`AROUND`] windows to either side says how many it
//! would hold anyway. Densities that rise and fall smoothly, with a spread of a twentieth and more, never
//! hold more than [`FACTOR`] times that.

use crate::stats::{float, upper_binomial};
use crate::units::Nanos;

const MS: i64 = 1_000_000;

/// A window is as wide as its beginning divided by this, and a millisecond.
const WIDTH: i64 = 50;

/// So many windows to either side are compared with it.
const AROUND: i64 = 5;

/// What is dense by no more than that factor is no pile.
const FACTOR: f64 = 2.0;

/// In at most that share of the calls without a pile one is seen.
const ALPHA: f64 = 0.005;

/// The same for one side of a window, where each is looked at by itself.
const ALPHA_OF_SIDE: f64 = 0.01;

/// Fewer are no pile.
const LEAST: usize = 5;

/// Below it the millisecond of jitter is a large part, and what fails at once piles up.
const SHORTEST: i64 = 10 * MS;

/// More limits than that nobody sets on one call.
const MOST: usize = 4;

/// A beginning is as plausible as the best where it is less likely by no more than this (natural
/// logarithm of a hundred).
const PLAUSIBLE: f64 = 4.605;

/// A round number in a wider interval, by its share of the interval's end, may be there by chance.
const NARROW: i64 = 33;

/// What durations may be multiples of, the coarsest first.
const UNITS: [i64; 2] = [MS, 1_000];

/// Digits with which people write lengths of time, in any power of ten.
pub(super) const ROUND: [i64; 10] = [10, 15, 20, 25, 30, 40, 50, 60, 75, 80];

/// A length of time after which something is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atom {
    /// The length: jitter only delays, so that it lies where the pile begins.
    pub value: Nanos,
    /// With 95 % confidence it is no shorter.
    pub lo: Nanos,
    /// With 95 % confidence it is no longer.
    pub hi: Nanos,
    /// How many durations pile up there.
    pub count: usize,
    /// The round number that the interval holds, if it does.
    pub round: Option<Nanos>,
}

impl Atom {
    /// What was set, most likely: the round number, else where the pile begins.
    pub fn likely(&self) -> Nanos {
        self.round.unwrap_or(self.value)
    }
}

/// The atoms among `durations`, which are in order; the largest pile first.
pub fn atoms(durations: &[Nanos]) -> Vec<Atom> {
    let mut field = Field::of(durations);
    let mut found = Vec::new();
    while found.len() < MOST
        && let Some(window) = field.pile()
    {
        found.push(field.atom(window));
        field.remove(window);
    }
    found
}

/// The middle of the values that lie closest together: within a window as atoms have. Of no value there
/// is none.
pub(super) fn densest(values: &[Nanos]) -> Option<Nanos> {
    let field = Field::of(values);
    let most = field.windows().max_by_key(|window| (window.count(), -window.first))?;
    Some(Nanos::from_nanos(field.at(usize::midpoint(most.from, most.to))))
}

/// Durations that may pile up.
struct Field {
    /// In order.
    values: Vec<i64>,
    /// What all are multiples of.
    unit: i64,
    /// Stretches that were looked at and taken out.
    gone: Vec<(i64, i64)>,
}

/// A window that begins at a value: the values from `from` to before `to`.
#[derive(Clone, Copy)]
struct Window {
    first: i64,
    from: usize,
    to: usize,
    /// How wide it is, as far as values can lie in it.
    width: i64,
}

impl Window {
    const fn count(&self) -> usize {
        self.to - self.from
    }

    /// Where the window ends.
    const fn end(&self) -> i64 {
        self.first.saturating_add(self.width)
    }
}

/// What lies beside a window: how many values, and how wide that is.
#[derive(Clone, Copy)]
struct Side {
    count: usize,
    width: i64,
}

impl Side {
    const fn plus(self, other: Self) -> Self {
        Self { count: self.count + other.count, width: self.width + other.width }
    }

    /// Of all values in a window and beside it the share that lies in the window, if it is denser by
    /// the factor.
    fn share(self, window: Window) -> f64 {
        let dense = FACTOR * approximate(window.width);
        dense / (dense + approximate(self.width))
    }

    /// How many values the window would hold then.
    fn expected(self, window: Window) -> f64 {
        float(window.count() + self.count) * self.share(window)
    }

    /// How likely it would hold as many as it does, or more.
    fn chance(self, window: Window) -> f64 {
        if self.width == 0 {
            return 0.0;
        }
        let all = window.count() + self.count;
        upper_binomial(all, self.share(window), window.count())
    }
}

impl Field {
    fn of(durations: &[Nanos]) -> Self {
        let values: Vec<i64> = durations.iter().map(|duration| duration.as_nanos()).collect();
        let is_multiple = |unit: &&i64| values.iter().all(|value| value % **unit == 0);
        let unit = UNITS.iter().find(is_multiple).copied().unwrap_or(1);
        Self { values, unit, gone: Vec::new() }
    }

    /// The windows at each distinct value that is long enough, in order.
    fn windows(&self) -> impl Iterator<Item = Window> {
        let mut to = 0;
        let begins = self.values.chunk_by(|a, b| a == b).scan(0, |from, same| {
            let begin = (*from, same.first().copied().unwrap_or_default());
            *from += same.len();
            Some(begin)
        });
        begins.filter(|&(_, first)| first >= SHORTEST).map(move |(from, first)| {
            // Both ends count, so that a window holds one more multiple of the unit than it is wide.
            let width = ((first / WIDTH + MS) / self.unit + 1) * self.unit;
            let end = first.saturating_add(width);
            while self.values.get(to).is_some_and(|&value| value < end) {
                to += 1;
            }
            Window { first, from, to, width }
        })
    }

    /// The window with the largest excess of those that hold more than chance and a smooth density put
    /// there.
    fn pile(&self) -> Option<Window> {
        let tried = float(self.windows().count());
        let mut best: Option<(f64, Window)> = None;
        for window in self.windows().filter(|window| window.count() >= LEAST) {
            let sides = self.sides(window);
            let around = sides[0].plus(sides[1]);
            let excess = float(window.count()) - around.expected(window);
            if excess <= best.map_or(0.0, |(most, _)| most) || self.was_looked_at(window) {
                continue;
            }
            // A slope up to an edge is dense on one side only: the window must stand out there too.
            let stands_out = sides.iter().all(|side| side.chance(window) <= ALPHA_OF_SIDE);
            if stands_out && around.chance(window) * tried <= ALPHA {
                best = Some((excess, window));
            }
        }
        best.map(|(_, window)| window)
    }

    /// What lies below a window and above it.
    fn sides(&self, window: Window) -> [Side; 2] {
        let reach = window.width.saturating_mul(AROUND);
        let below = (window.first.saturating_sub(reach).max(0), window.first);
        let above = (window.end(), window.end().saturating_add(reach));
        [below, above].map(|(from, to)| {
            let overlaps = self.gone.iter().map(|&(lo, hi)| (hi.min(to) - lo.max(from)).max(0));
            let gone = overlaps.fold(0, i64::saturating_add);
            Side { count: self.before(to) - self.before(from), width: (to - from - gone).max(0) }
        })
    }

    /// How many values lie before `end`.
    fn before(&self, end: i64) -> usize {
        self.values.partition_point(|&value| value < end)
    }

    fn was_looked_at(&self, window: Window) -> bool {
        self.gone.iter().any(|&(lo, hi)| lo < window.end() && window.first < hi)
    }

    /// Takes a pile out, with its foot and those that came late.
    fn remove(&mut self, window: Window) {
        let from = window.first.saturating_sub(window.width);
        let to = window.end().saturating_add(window.width.saturating_mul(2));
        self.values.retain(|value| !(from..to).contains(value));
        self.gone.push((from, to));
    }

    /// What a pile says of where it begins.
    fn atom(&self, window: Window) -> Atom {
        let foot = self.before(window.first.saturating_sub(window.width));
        let middle = self.at(usize::midpoint(window.from, window.to));
        let begins = self.begins(window, foot, middle);
        // Of what is dense first and thins out, half lies before twice the median, evenly at most: so
        // the least of k exceeds the beginning by at most c of twice the median with
        // (1 - c)^k = 5 %. The median counts from the beginning too, hence the denominator.
        let earliest = self.at(begins.earliest);
        let k = float(window.to - begins.earliest);
        let share = 1.0 - (0.05_f64.ln() / k).exp();
        let from_least = approximate(middle - earliest);
        let excess = whole(2.0 * from_least * share / (1.0 - 2.0 * share).max(0.05));
        let lo = earliest.saturating_sub(excess).saturating_sub(self.unit - 1).max(0);
        let hi = self.at(begins.latest).saturating_add(self.unit - 1);
        Atom {
            value: Nanos::from_nanos(self.at(begins.best)),
            lo: Nanos::from_nanos(lo),
            hi: Nanos::from_nanos(hi),
            count: window.to - begins.best,
            round: round(lo, hi).map(Nanos::from_nanos),
        }
    }

    fn at(&self, index: usize) -> i64 {
        self.values.get(index).copied().unwrap_or_default()
    }

    /// Which values from `foot` on may be the first of a pile whose median is `middle`: from there on
    /// values come at a higher rate than before.
    fn begins(&self, window: Window, foot: usize, middle: i64) -> Begins {
        let low = self.at(foot).min(window.first);
        let reach = window.width.saturating_mul(AROUND);
        let before = foot - self.before(low.saturating_sub(reach));
        let stray_rate = (float(before) + 0.5) / approximate(reach);
        let last = self.before(middle.saturating_add(1));
        let likelihood = |first: usize| {
            let value = self.at(first);
            let strays = float(first - foot);
            let piled = float(last - first);
            let within = approximate(middle - value + self.unit);
            strays * stray_rate.ln() - stray_rate * approximate(value - low)
                + piled * (piled / within).ln()
                - piled
        };
        // Half of a pile may not be strays before it.
        let candidates = foot..=usize::midpoint(foot, last.saturating_sub(1)).max(window.from);
        let mut best = (f64::NEG_INFINITY, window.from);
        for first in candidates.clone() {
            let likelihood = likelihood(first);
            if likelihood > best.0 {
                best = (likelihood, first);
            }
        }
        let is_plausible = |&first: &usize| likelihood(first) >= best.0 - PLAUSIBLE;
        Begins {
            best: best.1,
            earliest: candidates.clone().find(is_plausible).unwrap_or(best.1),
            latest: candidates.rev().find(is_plausible).unwrap_or(best.1),
        }
    }
}

/// Which values may be the first of a pile.
struct Begins {
    best: usize,
    earliest: usize,
    latest: usize,
}

/// The only round number from `lo` to `hi`, where these lie close together.
fn round(lo: i64, hi: i64) -> Option<i64> {
    if hi - lo > hi / NARROW {
        return None;
    }
    let powers = (0..=11).map(|power| 10_i64.pow(power) * MS / 100);
    let decimal = powers.flat_map(|power| ROUND.map(|digits| digits * power));
    let minutes = [90, 120, 180, 240, 300, 600, 900, 1_800, 3_600].map(|it| it * 1_000 * MS);
    let mut inside = decimal.chain(minutes).filter(|number| (lo..=hi).contains(number));
    let first = inside.next()?;
    // Some numbers are round in both ways.
    inside.all(|other| other == first).then_some(first)
}

/// A length as a float: close enough for a rate.
#[expect(clippy::cast_precision_loss, reason = "a millionth of a millionth of a rate")]
const fn approximate(length: i64) -> f64 {
    length as f64
}

/// A float as a length, saturating.
#[expect(clippy::cast_possible_truncation, reason = "what does not fit is the longest there is")]
const fn whole(length: f64) -> i64 {
    length as i64
}
