//! How often what is inferred of planted hops is right: from spans to verdicts, the whole way.

use std::collections::BTreeMap;
use std::fmt;

use dwindle::calibrate::{Calibration, CallLimit, Chosen, Observed, Rule};
use dwindle::clocks::Pool;
use dwindle::reconstruct::{Policy, observe};
use dwindle::survey::call_bounds;
use dwindle::units::Nanos;

use super::dice::Dice;
use super::hop::{Ended, Hop, Kind, hop};
use super::traces::{Fleet, caller};

/// Attempts that are cut off, from and to: a third of the hops each.
const SIZES: [(u64, u64); 3] = [(12, 40), (40, 140), (140, 400)];

/// A rate that must hold: how many of how many, and how many of a hundred at least or at most.
const RIGHT_PERCENT: usize = 95;
const FALSE_PERCENT: usize = 1;
const WRONG_BELOW_PERCENT: usize = 2;

/// By how many attempts that were cut off were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    /// Fewer than ten.
    Tiny,
    /// 10 to 29.
    Small,
    /// 30 to 99.
    Medium,
    /// 100 and more.
    Large,
}

/// What was inferred of hops of one kind and size.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row {
    /// How many hops.
    pub hops: usize,
    /// Those whose timeout counts: they have one, and it cut off 30 % at least.
    pub timed: usize,
    /// Of these, those whose largest atom tells it to 2 %.
    pub near: usize,
    /// Of these, those that have an atom.
    pub told: usize,
    /// Of these, those whose interval holds it.
    pub covered: usize,
    /// Of all, those that have an atom.
    pub atoms: usize,
    /// The rule is right; where none can be told, refused.
    pub right: usize,
    /// Refused, where one could be told.
    pub refused: usize,
    /// Another rule.
    pub wrong: usize,
}

/// All rows.
#[derive(Clone, Debug, Default)]
pub struct Rates {
    /// By kind and size.
    pub rows: BTreeMap<(Kind, Size), Row>,
}

impl Size {
    const fn of(cut: usize) -> Self {
        match cut {
            0..10 => Self::Tiny,
            10..30 => Self::Small,
            30..100 => Self::Medium,
            _ => Self::Large,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Tiny => "1-9",
            Self::Small => "10-29",
            Self::Medium => "30-99",
            Self::Large => "100+",
        }
    }
}

impl Rates {
    /// Those of so many fleets, of 27 hops each, over each of which no more than so many attempts
    /// succeed.
    pub fn of_fleets(fleets: u64, most_succeeded: u64, seed: u64) -> Self {
        let mut rates = Self::default();
        for fleet in 0..fleets {
            rates.add_fleet(most_succeeded, seed.wrapping_add(fleet));
        }
        rates
    }

    fn add_fleet(&mut self, most_succeeded: u64, seed: u64) {
        let mut dice = Dice::new(seed.wrapping_mul(0x51_7c_c1_b7));
        let planted = Kind::ALL.iter().flat_map(|&kind| SIZES.map(|size| (kind, size)));
        let hops: Vec<Hop> = planted
            .map(|(kind, (from, to))| {
                let cut = from + dice.below(to - from);
                hop(kind, cut, most_succeeded, &mut dice)
            })
            .collect();
        let calibration = calibrated(&hops, &mut dice);
        for (number, hop) in hops.iter().enumerate() {
            let caller = caller(number);
            let is_it = |limit: &&CallLimit| limit.call.caller.as_deref() == Some(&*caller);
            if let Some(limit) = calibration.calls.iter().find(is_it) {
                let key = (hop.kind, Size::of(limit.judged.n));
                self.rows.entry(key).or_default().add(hop, limit);
            }
        }
    }

    /// The sum of the rows of some kinds and sizes.
    pub fn sum(&self, is_meant: impl Fn(Kind, Size) -> bool) -> Row {
        let meant = self.rows.iter().filter(|((kind, size), _)| is_meant(*kind, *size));
        meant.fold(Row::default(), |sum, (_, row)| sum.plus(row))
    }

    /// The rates that must hold and do not.
    pub fn broken(&self) -> Vec<String> {
        let is_enough = |size| size >= Size::Medium;
        let enough = self.sum(|kind, size| kind.is_timed() && is_enough(size));
        let none = self.sum(|kind, _| !kind.has_atom());
        let judged = self.sum(|kind, size| !kind.is_free() && !kind.is_steady() && is_enough(size));
        let few = self.sum(|_, size| !is_enough(size));
        let rates = [
            ("timeouts within 2 %", enough.near, enough.timed, RIGHT_PERCENT, true),
            ("timeouts in their intervals", enough.covered, enough.told, RIGHT_PERCENT, true),
            ("false atoms", none.atoms, none.hops, FALSE_PERCENT, false),
            ("rules that are right", judged.right, judged.hops, RIGHT_PERCENT, true),
            ("errors below 30 attempts", few.wrong, few.hops, WRONG_BELOW_PERCENT, false),
        ];
        let breaks = |&(_, part, whole, percent, is_least): &(_, usize, usize, usize, bool)| {
            if is_least { part * 100 < whole * percent } else { part * 100 > whole * percent }
        };
        let told = |(name, part, whole, percent, is_least): (&str, usize, usize, usize, bool)| {
            let bound = if is_least { "at least" } else { "at most" };
            format!("{name}: {part} of {whole}, must be {bound} {percent} %")
        };
        rates.into_iter().filter(breaks).map(told).collect()
    }
}

impl Row {
    fn add(&mut self, hop: &Hop, limit: &CallLimit) {
        self.hops += 1;
        let cut = hop.attempts.iter().filter(|attempt| attempt.ended != Ended::Ok);
        let by_constant = cut.clone().filter(|attempt| attempt.by_constant).count();
        let atom = limit.limit.atoms.first();
        self.atoms += usize::from(atom.is_some());
        if hop.kind.is_timed() && by_constant * 10 >= cut.count() * 3 {
            self.timed += 1;
            self.told += usize::from(atom.is_some());
            let is_near = |value: f64| (value - hop.timeout).abs() <= 0.02 * hop.timeout;
            self.near += usize::from(atom.is_some_and(|atom| is_near(nanos(atom.likely()))));
            // To the nanosecond.
            let holds = |lo: f64, hi: f64| lo - 1.0 <= hop.timeout && hop.timeout <= hi + 1.0;
            let is_covered = atom.is_some_and(|atom| holds(nanos(atom.lo), nanos(atom.hi)));
            self.covered += usize::from(is_covered);
        }
        let right = hop.kind.rule();
        match limit.judged.rule {
            rule if rule == right => self.right += 1,
            Rule::NotEnoughEvidence => self.refused += 1,
            _ => self.wrong += 1,
        }
    }

    const fn plus(self, other: &Self) -> Self {
        Self {
            hops: self.hops + other.hops,
            timed: self.timed + other.timed,
            near: self.near + other.near,
            told: self.told + other.told,
            covered: self.covered + other.covered,
            atoms: self.atoms + other.atoms,
            right: self.right + other.right,
            refused: self.refused + other.refused,
            wrong: self.wrong + other.wrong,
        }
    }
}

impl Kind {
    /// What there is to tell.
    const fn rule(self) -> Rule {
        match self {
            Self::Fixed => Rule::Fixed,
            Self::FromOrigin | Self::PartAtOnce | Self::FromCaller => Rule::Propagated,
            Self::MinOfBoth => Rule::MinOfBoth,
            _ => Rule::NotEnoughEvidence,
        }
    }

    /// Whether durations pile up: at a constant, or because what is left hardly varies, of all or a part.
    const fn has_atom(self) -> bool {
        self.is_timed() || self.is_steady() || matches!(self, Self::PartAtOnce)
    }

    const fn is_steady(self) -> bool {
        matches!(self, Self::FixedSteady | Self::PropagatedSteady)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::FromOrigin => "propagated from the origin",
            Self::PartAtOnce => "propagated, part at once",
            Self::FromCaller => "propagated from the caller",
            Self::MinOfBoth => "min of both",
            Self::FixedSteady => "fixed, spent the same",
            Self::PropagatedSteady => "propagated, spent the same",
            Self::Cancelled => "none, cancelled",
            Self::Failing => "none, failing",
        }
    }
}

/// Exact enough for what is compared.
#[expect(clippy::cast_precision_loss, reason = "planted lengths are minutes at most")]
fn nanos(length: Nanos) -> f64 {
    length.as_nanos() as f64
}

/// What is inferred of the traces of hops.
fn calibrated(hops: &[Hop], dice: &mut Dice) -> Calibration {
    let spans = Fleet::new(dice).spans(hops);
    let mut pool = Pool::default();
    pool.merge(&call_bounds(&spans));
    let mut observed = Observed::default();
    observed.add(&observe(&spans, &Policy::default(), &pool.offsets()));
    observed.calibrate(Chosen::default())
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<27} {:>6} {:>5}  {:>7} {:>8} {:>6}  {:>6} {:>7} {:>6}",
            "planted", "cut", "hops", "in 2 %", "covered", "atoms", "right", "refused", "wrong"
        )?;
        for ((kind, size), row) in &self.rows {
            let (name, size) = (kind.name(), size.name());
            write!(f, "{name:<27} {size:>6} {:>5}", row.hops)?;
            let near = Percent(row.near, row.timed).to_string();
            let covered = Percent(row.covered, row.told).to_string();
            let atoms = Percent(row.atoms, row.hops).to_string();
            write!(f, "  {near:>7} {covered:>8} {atoms:>6}")?;
            let [right, refused, wrong] =
                [row.right, row.refused, row.wrong].map(|part| Percent(part, row.hops).to_string());
            writeln!(f, "  {right:>6} {refused:>7} {wrong:>6}")?;
        }
        Ok(())
    }
}

/// A part of a whole in percent; of nothing, a dash.
struct Percent(usize, usize);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            0 => f.write_str("–"),
            whole => {
                let tenths = (self.0 * 1_000 + whole / 2) / whole;
                write!(f, "{}.{}", tenths / 10, tenths % 10)
            }
        }
    }
}
