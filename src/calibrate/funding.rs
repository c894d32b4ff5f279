//! How often attempts pay by what was left when they began: how often they succeed no later than that.

use super::observed::{Began, CallObserved};
use crate::stats::Proportion;
use crate::units::Nanos;

/// So many parts of about as many attempts each.
const PARTS: usize = 10;

/// Those pay almost never of which no more than this share do, even at the upper end of its
/// interval.
const ALMOST_NEVER: f64 = 0.05;

/// What was left, and what came of it.
#[derive(Clone, Debug, Default)]
pub struct Funding {
    /// Of all that had a deadline, how many paid.
    pub all: Proportion,
    /// By what was left, a tenth of the attempts that are kept each; fewer where several had the same.
    pub deciles: Vec<Decile>,
    /// The least budget from which on attempts pay: of those that began with less almost none
    /// did. Of no decile below it more than one in twenty did, and of all of them together no
    /// more, even at the upper end of the exact 95 % interval; so that it takes 72 that failed, and
    /// more where some did not. `None` where the attempts do not show one.
    pub break_even: Option<Nanos>,
    /// Of those kept that began with less left than the measured allowance, how many paid; `None` where
    /// none was measured.
    pub with_less_than_allowance: Option<Proportion>,
    /// The same of those that began with less left than the measured break-even, by which they are
    /// judged.
    pub with_less_than_break_even: Option<Proportion>,
}

impl Funding {
    /// How many attempts are kept, of which all but the whole is told.
    pub fn kept(&self) -> u64 {
        self.deciles.iter().fold(0, |kept, decile| kept.saturating_add(decile.paid.whole))
    }
}

/// The attempts that began with about as much left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decile {
    /// The least that was left.
    pub from: Nanos,
    /// The most.
    pub to: Nanos,
    /// How many of how many paid.
    pub paid: Proportion,
}

/// What the attempts of a call say.
pub fn funding(of: &CallObserved) -> Funding {
    let mut began: Vec<Began> = of.began.by_trace().into_iter().map(|(_, &began)| began).collect();
    began.sort_unstable_by_key(|began| began.available);
    let deciles = deciles(&began);
    let break_even = break_even(&deciles);
    let all = Proportion { part: of.paid, whole: of.began.seen() };
    Funding { all, deciles, break_even, ..Funding::default() }
}

/// Of the attempts that began with less left than `needed`, those that paid.
pub(super) fn with_less(of: &CallObserved, needed: Nanos) -> Proportion {
    let mut less = Proportion::default();
    for (_, began) in of.began.by_trace().into_iter().filter(|(_, it)| it.available < needed) {
        less.part += u64::from(began.paid);
        less.whole += 1;
    }
    less
}

/// Parts of attempts in the order of what was left; those with the same stand together.
fn deciles(began: &[Began]) -> Vec<Decile> {
    let mut deciles = Vec::new();
    let mut rest = began;
    for part in 1..=PARTS {
        let taken = began.len() - rest.len();
        let wanted = (began.len() * part / PARTS).saturating_sub(taken);
        let Some(last) = wanted.checked_sub(1).and_then(|last| rest.get(last)) else { continue };
        let end = rest.partition_point(|began| began.available <= last.available);
        let (these, others) = rest.split_at(end);
        let Some(first) = these.first() else { continue };
        let paid = these.iter().filter(|began| began.paid).count() as u64;
        deciles.push(Decile {
            from: first.available,
            to: last.available,
            paid: Proportion { part: paid, whole: these.len() as u64 },
        });
        rest = others;
    }
    deciles
}

fn break_even(deciles: &[Decile]) -> Option<Nanos> {
    let mut below = Proportion::default();
    for decile in deciles {
        if decile.paid.ratio() > ALMOST_NEVER {
            return (below.interval().1 <= ALMOST_NEVER).then_some(decile.from);
        }
        below.part += decile.paid.part;
        below.whole += decile.paid.whole;
    }
    // Where almost none paid at all nothing tells from where on they would.
    None
}
