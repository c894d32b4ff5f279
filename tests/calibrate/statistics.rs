//! Where durations pile up, and what decides it: one fact a test, then the rates over many hops.

use dwindle::calibrate::{Atom, Cut, Judged, Rule, Since, atoms, rule};
use dwindle::span::Outcome;
use dwindle::units::Nanos;
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};

use crate::support::planted::dice::Dice;
use crate::support::planted::rates::Rates;

const MS: f64 = 1e6;

/// A length of so many milliseconds.
#[expect(clippy::cast_possible_truncation, reason = "some seconds")]
fn ms(millis: f64) -> Nanos {
    Nanos::from_nanos((millis * MS) as i64)
}

fn sorted(millis: impl IntoIterator<Item = f64>) -> Vec<Nanos> {
    let mut lengths: Vec<Nanos> = millis.into_iter().map(ms).collect();
    lengths.sort_unstable();
    lengths
}

/// What a timer of that many milliseconds cuts off: a little late, never early.
fn late(timeout: f64, dice: &mut Dice) -> f64 {
    timeout + dice.normal().abs() * (0.005 * timeout + 0.3)
}

fn holds(atom: &Atom, millis: f64) -> bool {
    (atom.lo..=atom.hi).contains(&ms(millis))
}

#[test]
fn a_timer_that_fires_late_is_an_atom_whose_interval_holds_it() {
    let mut dice = Dice::new(1);
    let found = atoms(&sorted((0..40).map(|_| late(1_737.0, &mut dice))));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(holds(&found[0], 1_737.0), "{found:?}");
    assert!(found[0].count >= 38 && found[0].value >= ms(1_737.0), "{found:?}");
    // 1,737 is no number that people think of.
    assert_eq!(found[0].round, None);
}

#[test]
fn the_timeouts_of_client_and_mesh_are_two_atoms_the_larger_pile_first() {
    let mut dice = Dice::new(2);
    let cut = [2_000.0; 60].into_iter().chain([15_000.0; 25]);
    let found = atoms(&sorted(cut.map(|timeout| late(timeout, &mut dice))));
    let round: Vec<_> = found.iter().map(|atom| atom.round).collect();
    assert_eq!(round, [Some(ms(2_000.0)), Some(ms(15_000.0))], "{found:?}");
}

#[test]
fn durations_that_rise_and_fall_smoothly_have_no_atom() {
    let mut dice = Dice::new(3);
    for sigma in [0.05, 0.1, 0.3, 1.0] {
        let spread = sorted((0..2_000).map(|_| dice.log_normal(800.0, sigma)));
        assert_eq!(atoms(&spread), [], "of deviation {sigma}");
    }
}

#[test]
fn what_is_spread_evenly_up_to_an_edge_has_no_atom() {
    let mut dice = Dice::new(4);
    assert_eq!(atoms(&sorted((0..2_000).map(|_| dice.between(300.0, 1_000.0)))), []);
}

#[test]
fn four_of_a_kind_are_no_atom_and_eight_are() {
    let alike = |count: u32| sorted((0..count).map(|at| 500.0 + f64::from(at) * 0.1));
    assert_eq!(atoms(&alike(4)), []);
    assert_eq!(atoms(&alike(8)).len(), 1);
}

#[test]
fn what_fails_at_once_has_no_atom_however_often_it_does() {
    assert_eq!(atoms(&sorted((0..500).map(|at| 0.1 + f64::from(at) * 0.001))), []);
}

#[test]
fn strays_just_before_a_pile_do_not_move_where_it_begins() {
    let mut dice = Dice::new(5);
    let strays = [988.0, 993.5];
    let pile: Vec<f64> = (0..60).map(|_| late(1_000.0, &mut dice)).collect();
    let found = atoms(&sorted(strays.into_iter().chain(pile)));
    assert!(found[0].value >= ms(1_000.0) && holds(&found[0], 1_000.0), "{found:?}");
    assert_eq!(found[0].round, Some(ms(1_000.0)));
}

#[test]
fn times_in_whole_milliseconds_widen_the_interval_by_one() {
    let found = atoms(&sorted([250.0; 30]));
    let edges = (found[0].lo, found[0].hi);
    // All 30 took as long, but for what truncation hides: up to a millisecond either way.
    assert_eq!(edges, (ms(249.0) + Nanos::from_nanos(1), ms(251.0) - Nanos::from_nanos(1)));
    let exact = sorted([250.000_001; 30]);
    assert_eq!((atoms(&exact)[0].lo, atoms(&exact)[0].hi), (exact[0], exact[0]));
}

#[test]
fn only_a_number_that_people_set_is_round() {
    let round = |millis: f64| atoms(&sorted([millis; 30]))[0].round;
    assert_eq!(round(512.0), None);
    assert_eq!(round(500.0), Some(ms(500.0)));
    assert_eq!(round(7_500.0), Some(ms(7_500.0)));
    assert_eq!(round(120_000.0), Some(ms(120_000.0)));
    assert_eq!(round(30_000.0), Some(ms(30_000.0)));
}

#[test]
fn a_round_number_in_a_wide_interval_is_there_by_chance() {
    // Six that differ by 2 %: where the pile begins is known to a tenth.
    let found = atoms(&sorted([500.0, 502.1, 504.3, 506.2, 508.9, 509.7]));
    let atom = &found[0];
    assert!(holds(atom, 500.0) && atom.hi - atom.lo > ms(20.0), "{found:?}");
    assert_eq!(atom.round, None);
}

#[test]
fn nothing_and_absurd_lengths_are_no_reason_to_fail() {
    assert_eq!(atoms(&[]), []);
    let absurd = [Nanos::MAX; 100];
    let least = [Nanos::from_nanos(i64::MIN); 100];
    assert!(atoms(&absurd).len() <= 1 && atoms(&least).is_empty());
}

/// An attempt that was cut off: how long it took, what was spent since the origin, and since its caller
/// was called, in milliseconds.
fn cut(duration: f64, elapsed: f64, since_caller: f64, class: &str) -> Cut {
    Cut {
        duration: ms(duration),
        elapsed: ms(elapsed),
        since_caller: Some(ms(since_caller)),
        class: class.into(),
        outcome: Outcome::DeadlineExceeded,
        went_on: None,
        by_others: false,
    }
}

fn judged(cuts: &[Cut]) -> Judged {
    let mut durations: Vec<Nanos> = cuts.iter().map(|cut| cut.duration).collect();
    durations.sort_unstable();
    rule(&cuts.iter().collect::<Vec<_>>(), &atoms(&durations))
}

/// So many attempts, each limited by what `limit` makes of what was spent since the origin and since
/// the caller was called.
fn limited(count: usize, seed: u64, limit: impl Fn(f64, f64) -> f64) -> Vec<Cut> {
    let mut dice = Dice::new(seed);
    let one = |_| {
        let since_caller = dice.between(1.0, 200.0);
        let elapsed = since_caller + dice.between(5.0, 400.0);
        cut(late(limit(elapsed, since_caller), &mut dice), elapsed, since_caller, "all")
    };
    (0..count).map(one).collect()
}

#[test]
fn a_constant_is_fixed_whatever_was_spent_before() {
    let judged = judged(&limited(30, 1, |_, _| 750.0));
    assert_eq!((judged.rule, judged.n), (Rule::Fixed, 30));
    assert_eq!((judged.constant, judged.budget), (Some(ms(750.0)), None));
    assert!(judged.log_ratio.is_some_and(|ratio| ratio > 10.0), "{judged:?}");
}

#[test]
fn what_is_left_since_the_origin_is_propagated() {
    let judged = judged(&limited(30, 2, |elapsed, _| 1_000.0 - elapsed));
    assert_eq!((judged.rule, judged.constant), (Rule::Propagated, None));
    let (since, budget) = judged.budget.unwrap();
    assert_eq!(since, Since::Origin);
    assert!((ms(990.0)..ms(1_010.0)).contains(&budget.unwrap()), "{budget:?}");
}

#[test]
fn what_is_left_since_the_caller_was_called_is_propagated_too() {
    let judged = judged(&limited(30, 3, |_, since_caller| 800.0 - since_caller));
    assert_eq!((judged.rule, judged.constant), (Rule::Propagated, None));
    assert_eq!(judged.budget.unwrap().0, Since::CallerCalled);
}

#[test]
fn the_smaller_of_a_constant_and_what_is_left_is_both() {
    let judged = judged(&limited(60, 4, |elapsed, _| (1_000.0 - elapsed).min(700.0)));
    assert_eq!(judged.rule, Rule::MinOfBoth);
    let constant = judged.constant.unwrap();
    assert!((ms(699.0)..ms(702.0)).contains(&constant), "{constant:?}");
    assert_eq!(judged.budget.unwrap().0, Since::Origin);
}

#[test]
fn what_is_left_is_no_constant_where_many_attempts_begin_at_once() {
    for (seed, one_in) in (20..30).flat_map(|seed| [(seed, 2), (seed, 3), (seed, 10)]) {
        let mut dice = Dice::new(seed);
        let one = |number| {
            let is_at_once = number % one_in == 0;
            let spent = if is_at_once { dice.between(0.0, 4.0) } else { dice.between(10.0, 600.0) };
            cut(late(1_000.0, &mut dice) - spent, spent, spent, "all")
        };
        let judged = judged(&(0..60).map(one).collect::<Vec<Cut>>());
        assert_eq!((judged.rule, judged.constant), (Rule::Propagated, None), "one in {one_in}");
    }
}

#[test]
fn a_limit_that_was_hardly_seen_leaves_open_whether_the_other_is_the_only_one() {
    // Of 20 attempts a constant of 700 ms cuts off two, or what is left of 1,000 ms does.
    let of_two = |two: (f64, f64), others: (f64, f64)| {
        let mut dice = Dice::new(31);
        let one = |number| {
            let (lo, hi) = if number < 2 { two } else { others };
            let spent = dice.between(lo, hi);
            let limit = (1_000.0 - spent).min(700.0);
            cut(late(limit, &mut dice), spent, spent, "all")
        };
        judged(&(0..20).map(one).collect::<Vec<Cut>>()).rule
    };
    assert_eq!(of_two((50.0, 200.0), (330.0, 700.0)), Rule::NotEnoughEvidence);
    assert_eq!(of_two((500.0, 700.0), (10.0, 200.0)), Rule::NotEnoughEvidence);
}

#[test]
fn classes_may_have_budgets_of_their_own() {
    let mut cuts = limited(20, 5, |elapsed, _| 1_000.0 - elapsed);
    let mut others = limited(20, 6, |elapsed, _| 3_000.0 - elapsed);
    for cut in &mut others {
        cut.class = "others".into();
    }
    cuts.append(&mut others);
    let judged = judged(&cuts);
    assert_eq!((judged.rule, judged.budget), (Rule::Propagated, Some((Since::Origin, None))));
}

#[test]
fn where_about_the_same_was_spent_before_every_attempt_nothing_is_told() {
    for count in [30, 300, 3_000] {
        let mut dice = Dice::new(7);
        let one = |_| {
            let spent = 20.0 + dice.between(0.0, 1.0);
            cut(late(500.0 - spent, &mut dice), spent, spent, "all")
        };
        let judged = judged(&(0..count).map(one).collect::<Vec<Cut>>());
        assert_eq!(judged.rule, Rule::NotEnoughEvidence, "{judged:?}");
        assert_eq!((judged.constant, judged.budget), (None, None));
    }
}

#[test]
fn of_fewer_than_ten_attempts_nothing_is_told_nor_asked() {
    let few = judged(&limited(9, 8, |_, _| 750.0));
    assert_eq!((few.rule, few.n, few.log_ratio), (Rule::NotEnoughEvidence, 9, None));
    assert_eq!(judged(&limited(10, 8, |_, _| 750.0)).rule, Rule::Fixed);
}

#[test]
fn what_takes_any_time_is_decided_by_no_rule() {
    let mut dice = Dice::new(9);
    let one = |_| {
        let spent = dice.between(5.0, 400.0);
        cut(dice.log_normal(300.0, 0.6), spent, spent, "all")
    };
    let judged = judged(&(0..200).map(one).collect::<Vec<Cut>>());
    assert_eq!(judged.rule, Rule::NotEnoughEvidence, "{judged:?}");
}

#[test]
fn a_rule_is_told_though_one_in_five_was_cut_off_by_something_else() {
    let mut cuts = limited(40, 10, |_, _| 750.0);
    let mut dice = Dice::new(11);
    for stray in cuts.iter_mut().step_by(5) {
        stray.duration = ms(dice.log_between(5.0, 740.0));
    }
    assert_eq!(judged(&cuts).rule, Rule::Fixed);
}

#[test]
fn clocks_that_let_a_caller_begin_before_it_was_called_do_no_harm() {
    let cuts = limited(40, 12, |_, _| 750.0);
    let moved = |cut: &Cut| Cut {
        elapsed: cut.elapsed - ms(300.0),
        since_caller: Some(Nanos::from_nanos(i64::MIN)),
        ..cut.clone()
    };
    assert_eq!(judged(&cuts.iter().map(moved).collect::<Vec<Cut>>()).rule, Rule::Fixed);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_attempts_decides_nothing(
        seed in any::<u64>(),
        timeout in 100.0..30_000.0_f64,
        turned in 0_usize..40,
    ) {
        let mut cuts = limited(40, seed, |elapsed, _| timeout.min(timeout * 1.2 - elapsed).max(1.0));
        let before = judged(&cuts);
        cuts.rotate_left(turned);
        cuts.swap(0, 7);
        prop_assert_eq!(before, judged(&cuts));
    }

    #[test]
    fn atoms_are_intervals_around_values_that_were_seen(
        millis in vec(1_u32..5_000, 0..200),
        is_rounded in any::<bool>(),
    ) {
        let odd = if is_rounded { 0.0 } else { 0.123_457 };
        let durations = sorted(millis.iter().map(|&it| f64::from(it) + odd));
        let found = atoms(&durations);
        for atom in &found {
            prop_assert!(atom.lo <= atom.value && atom.value <= atom.hi, "{:?}", atom);
            prop_assert!(durations.contains(&atom.value) && atom.count <= durations.len());
        }
        prop_assert!(found.len() <= 4);
    }
}

#[test]
fn rates_over_planted_fleets_hold() {
    let rates = Rates::of_fleets(8, 20, 1);
    assert_eq!(rates.broken(), Vec::<String>::new(), "\n{rates}");
    // As many hops as the rates are about were judged, of every kind.
    assert_eq!(rates.sum(|_, _| true).hops, 8 * 27, "\n{rates}");
}
