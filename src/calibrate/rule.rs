//! Whether attempts are cut off after a constant time or when what was left is used up.
//!
//! An attempt that a constant cuts off takes as long whatever was spent before it; one that ends with
//! what was left takes the shorter, the more was spent. Each rule says how long every attempt should
//! have taken; how well it does is a likelihood, and the rules are compared by these
//! ([`super::likelihood`]).

use super::atoms::{Atom, atoms, densest};
use super::likelihood::{Fit, Model, Try, unlimited};
use super::observed::Cut;
use std::f64::consts::LN_10;

use crate::names::names;

use crate::units::Nanos;

/// Of fewer attempts nothing is told.
const LEAST: usize = 10;

/// A rule is told where it is a hundred times as likely as any other.
const CONVINCING: f64 = 2.0;

/// Both limits of a rule that has two must have cut off one attempt in twenty, or it is no case of both:
/// one limit explains the attempts as well.
const ONE_IN: usize = 20;

/// For it to be told both must have cut off that many. Where one cut off fewer, neither is the other
/// limit told for the only one.
const LEAST_OF_EACH: usize = 3;

/// More attempts than that are thinned out: they tell no more.
const MOST: usize = 512;

/// Of a class with fewer attempts nobody knows the budget.
const LEAST_OF_CLASS: usize = 3;

/// So many of the largest piles may be constants.
const CONSTANTS: usize = 3;

names! {
    /// What decides when attempts of a call are cut off.
    pub enum Rule {
        /// A constant of its own, whatever was left.
        Fixed = "fixed",
        /// What was left.
        Propagated = "propagated",
        /// The smaller of the two.
        MinOfBoth = "min of both",
        /// The attempts that were seen do not tell.
        NotEnoughEvidence = "not enough evidence",
    }
}

/// From when a budget counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// From the origin of the request.
    Origin,
    /// From when the caller was called.
    CallerCalled,
}

/// What attempts that were cut off say of the rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The rule.
    pub rule: Rule,
    /// Of how many attempts.
    pub n: usize,
    /// The decimal logarithm of how many times as likely they are under that rule as under the next;
    /// `None` where too few were seen to ask.
    pub log_ratio: Option<f64>,
    /// The constant, where there is one.
    pub constant: Option<Nanos>,
    /// The budget of which they had what was left, where the rule has one: from when it counts, and how
    /// long it is where it is one for all classes.
    pub budget: Option<(Since, Option<Nanos>)>,
}

/// Judges attempts that were cut off, whose durations pile up at `piles`.
pub fn rule(cuts: &[&Cut], piles: &[Atom]) -> Judged {
    let n = cuts.len();
    let refused = |log_ratio| Judged {
        rule: Rule::NotEnoughEvidence,
        n,
        log_ratio,
        constant: None,
        budget: None,
    };
    if n < LEAST {
        return refused(None);
    }
    let seen = Seen::of(cuts);
    let views = seen.views();
    let constants = seen.constants(piles);
    let mut fits = seen.fixed(&constants);
    for view in &views {
        fits.extend(seen.propagated(view));
        fits.extend(seen.min_of_both(view, &constants));
    }
    fits.retain(|told| told.is_case(seen.cuts.len()));
    fits.sort_by(|a, b| b.fit.evidence.total_cmp(&a.fit.evidence));
    let Some(best) = fits.first() else { return refused(None) };
    let others = fits.iter().filter(|told| told.rule != best.rule).map(|told| told.fit.evidence);
    let next = others.fold(unlimited(&seen.tries()), f64::max);
    let ratio = (best.fit.evidence - next) / LN_10;
    // Where nothing piles up there is no constant, whatever explains the durations best; and what was
    // left does not decide where most attempts ended otherwise.
    let is_there = match best.rule {
        Rule::Propagated => 2 * best.fit.by_budget >= seen.cuts.len(),
        Rule::MinOfBoth => !piles.is_empty() && best.of_rarer() >= LEAST_OF_EACH,
        _ => !piles.is_empty(),
    };
    if ratio < CONVINCING || views.is_empty() || !is_there {
        return refused(Some(ratio));
    }
    Judged {
        rule: best.rule,
        n,
        log_ratio: Some(ratio),
        constant: best.constant,
        budget: best.since.map(|since| (since, seen.budget(since, &best.fit))),
    }
}

/// How well a rule tells the attempts.
struct Told {
    rule: Rule,
    fit: Fit,
    constant: Option<Nanos>,
    since: Option<Since>,
}

impl Told {
    /// Whether the rule, of so many attempts, says more than one limit alone.
    fn is_case(&self, attempts: usize) -> bool {
        self.rule != Rule::MinOfBoth || self.of_rarer() >= attempts.div_ceil(ONE_IN)
    }

    /// How many the limit cut off that cut off fewer.
    fn of_rarer(&self) -> usize {
        self.fit.by_constant.min(self.fit.by_budget)
    }
}

/// Attempts as they are compared, in an order of their own.
struct Seen<'c> {
    cuts: Vec<&'c Cut>,
}

/// What may be the constant.
#[derive(Clone, Copy)]
struct Constant {
    /// Around where attempts lie that it cut off.
    centre: Nanos,
    /// What was most likely set.
    likely: Nanos,
}

/// What was spent before attempts, by one clock, and which budget each had.
struct View {
    since: Since,
    /// `None` where it is not known.
    spent: Vec<Option<Nanos>>,
    /// The number of the budget; `None` where it is nobody's.
    budget_of: Vec<Option<usize>>,
    /// How many budgets there are.
    budgets: usize,
}

impl<'c> Seen<'c> {
    fn of(cuts: &[&'c Cut]) -> Self {
        let mut cuts = cuts.to_vec();
        cuts.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
        let step = cuts.len().div_ceil(MOST).max(1);
        Self { cuts: cuts.into_iter().step_by(step).collect() }
    }

    /// The budgets that attempts may have had: by both clocks, one for all and one for each class. None
    /// where about the same was spent before each attempt of a class: then all rules say the same. The
    /// caller's clock is not asked where that holds for it alone: what it would tell is a constant.
    fn views(&self) -> Vec<View> {
        let elapsed: Vec<_> = self.cuts.iter().map(|cut| Some(cut.elapsed)).collect();
        let since_caller: Vec<_> = self.cuts.iter().map(|cut| cut.since_caller).collect();
        let origin = self.views_by(Since::Origin, elapsed);
        if !origin.last().is_some_and(|view| self.varies(view)) {
            return Vec::new();
        }
        let mut caller = self.views_by(Since::CallerCalled, since_caller);
        caller.retain(|view| self.varies(view));
        origin.into_iter().chain(caller).collect()
    }

    /// One budget for all, and where there are several classes one for each.
    fn views_by(&self, since: Since, spent: Vec<Option<Nanos>>) -> Vec<View> {
        let budget_of = spent.iter().map(|spent| spent.map(|_| 0)).collect();
        let by_class = self.by_class(since, spent.clone());
        let for_all = View { since, spent, budget_of, budgets: 1 };
        [Some(for_all), by_class].into_iter().flatten().collect()
    }

    /// A budget for each class, where there are several.
    fn by_class(&self, since: Since, spent: Vec<Option<Nanos>>) -> Option<View> {
        let mut classes: Vec<&str> = self.cuts.iter().map(|cut| &*cut.class).collect();
        classes.sort_unstable();
        let known: Vec<&str> = classes
            .chunk_by(|a, b| a == b)
            .filter(|same| same.len() >= LEAST_OF_CLASS)
            .filter_map(|same| same.first().copied())
            .collect();
        let budget_of =
            self.cuts.iter().map(|cut| known.binary_search(&&*cut.class).ok()).collect();
        let budgets = known.len();
        (budgets > 1).then_some(View { since, spent, budget_of, budgets })
    }

    /// Whether what was spent differs by more than jitter does: the middle four fifths of it, of one
    /// budget, by more than a hundredth of how long the attempts took, and a millisecond.
    fn varies(&self, view: &View) -> bool {
        let median = self.cuts.get(self.cuts.len() / 2).map_or(Nanos::ZERO, |cut| cut.duration);
        let least = median.div_floor(100) + Nanos::from_millis(1);
        view.by_budget(view.spent.iter().copied()).iter().any(|spent| {
            let tenth = spent.len() / 10;
            let ends = (spent.get(tenth), spent.iter().rev().nth(tenth));
            matches!(ends, (Some(&lo), Some(&hi)) if hi - lo > least)
        })
    }

    /// What may be the constant: the atoms, or where durations lie closest together.
    fn constants(&self, piles: &[Atom]) -> Vec<Constant> {
        let durations: Vec<Nanos> = self.cuts.iter().map(|cut| cut.duration).collect();
        if piles.is_empty() {
            // What a constant cuts off takes longest of all that is cut off.
            let longest = durations.last().map_or(Nanos::ZERO, |&it| it - it.div_floor(50));
            let from = durations.partition_point(|&it| it < longest);
            let last = durations.get(from..).and_then(densest);
            let likely = [densest(&durations), last].into_iter().flatten();
            return likely.map(|centre| Constant { centre, likely: centre }).collect();
        }
        let constant = |atom: &Atom| {
            let from = durations.partition_point(|&it| it < atom.value);
            let centre = durations.get(from..).and_then(densest).unwrap_or(atom.value);
            Constant { centre, likely: atom.likely() }
        };
        piles.iter().take(CONSTANTS).map(constant).collect()
    }

    fn tries(&self) -> Vec<Try> {
        self.cuts.iter().map(|cut| Try::of(cut.duration)).collect()
    }

    /// Constants alone: the largest pile, all of them, or one for each class: that is what is left of a
    /// budget of which nothing is spent.
    fn fixed(&self, constants: &[Constant]) -> Vec<Told> {
        let constant = constants.first().map(|constant| constant.likely);
        let told = |fit| Told { rule: Rule::Fixed, fit, constant, since: None };
        let several = (1..=constants.len()).filter_map(|count| constants.get(..count));
        let models = several.map(|constants| Model {
            constants: constants.iter().map(|constant| constant.centre).collect(),
            budgets: Vec::new(),
        });
        let mut fits: Vec<Told> = models.map(|model| told(model.fit(&self.tries()))).collect();
        let unspent = self.by_class(Since::Origin, vec![Some(Nanos::ZERO); self.cuts.len()]);
        fits.extend(unspent.and_then(|view| self.propagated(&view)).map(|left| told(left.fit)));
        fits
    }

    /// What was left alone.
    fn propagated(&self, view: &View) -> Option<Told> {
        let budgets = self.budgets(view, Nanos::MAX)?;
        let fit = self.fit_view(view, &Model { constants: Vec::new(), budgets });
        Some(Told { rule: Rule::Propagated, fit, constant: None, since: Some(view.since) })
    }

    /// Each of the constants, or what was left where that was less.
    fn min_of_both(&self, view: &View, constants: &[Constant]) -> Vec<Told> {
        let told = |&Constant { centre, likely }: &Constant| {
            // What took as long as the constant was cut off by it; the others by what was left.
            let below = centre - centre.div_floor(100) - Nanos::from_millis(1);
            let budgets = self.budgets(view, below)?;
            let fit = self.fit_view(view, &Model { constants: vec![centre], budgets });
            let (rule, since) = (Rule::MinOfBoth, Some(view.since));
            Some(Told { rule, fit, constant: Some(likely), since })
        };
        constants.iter().filter_map(told).collect()
    }

    fn fit_view(&self, view: &View, model: &Model) -> Fit {
        let seen = self.cuts.iter().zip(view.spent.iter().zip(&view.budget_of));
        let tries = seen.map(|(cut, (&spent, &budget))| Try {
            spent: spent.unwrap_or(Nanos::ZERO),
            budget,
            ..Try::of(cut.duration)
        });
        model.fit(&tries.collect::<Vec<Try>>())
    }

    /// Where duration and what was spent before add up to about the same, of attempts that took less
    /// than `below`. `None` where no budget has any.
    fn budgets(&self, view: &View, below: Nanos) -> Option<Vec<Option<Nanos>>> {
        let took_less = self.cuts.iter().map(|cut| Some(cut.duration).filter(|&it| it < below));
        let sum = |(took, spent): (Option<Nanos>, &Option<Nanos>)| Some(took? + (*spent)?);
        let sums = view.by_budget(took_less.zip(&view.spent).map(sum));
        let budgets: Vec<Option<Nanos>> = sums.iter().map(|sums| densest(sums)).collect();
        budgets.iter().any(Option::is_some).then_some(budgets)
    }

    /// The budget, where it is one for all: around where sums lie, the value where they pile up.
    fn budget(&self, since: Since, fit: &Fit) -> Option<Nanos> {
        let &[about] = fit.budgets.as_slice() else { return None };
        let sum = |cut: &&Cut| match since {
            Since::Origin => Some(cut.duration + cut.elapsed),
            Since::CallerCalled => Some(cut.duration + cut.since_caller?),
        };
        let mut sums: Vec<Nanos> = self.cuts.iter().filter_map(sum).collect();
        sums.sort_unstable();
        let near = about - about.div_floor(50)..=about + about.div_floor(50);
        let mut piles = atoms(&sums).into_iter().map(|atom| atom.likely());
        Some(piles.find(|value| near.contains(value)).unwrap_or(about))
    }
}

impl View {
    /// Values by budget, in order; without those that are unknown or nobody's.
    fn by_budget(&self, values: impl Iterator<Item = Option<Nanos>>) -> Vec<Vec<Nanos>> {
        let mut of_budget: Vec<Vec<Nanos>> = vec![Vec::new(); self.budgets];
        for (value, &budget) in values.zip(&self.budget_of) {
            let of = budget.and_then(|budget| of_budget.get_mut(budget));
            if let (Some(value), Some(of)) = (value, of) {
                of.push(value);
            }
        }
        for values in &mut of_budget {
            values.sort_unstable();
        }
        of_budget
    }
}

/// Attempts in an order that no input has a hand in.
fn key(cut: &Cut) -> (Nanos, Nanos, Option<Nanos>, &str) {
    (cut.duration, cut.elapsed, cut.since_caller, &cut.class)
}
