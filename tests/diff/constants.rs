//! Tests, corrections and what more they need, against numbers that scipy 1.17 gives.

use dwindle::stats::{Family, Proportion, Quantile, Test};

fn close(found: f64, expected: f64, relative: f64) {
    assert!((found / expected - 1.0).abs() <= relative, "{found:e} is not {expected:e}");
}

/// Ranks of two samples, equal ones the mean of theirs, twice and around their mean.
fn ranks(base: &[f64], head: &[f64]) -> [Vec<f64>; 2] {
    let all = [base, head].concat();
    let count = |is: &dyn Fn(f64) -> bool| {
        f64::from(u32::try_from(all.iter().filter(|it| is(**it)).count()).unwrap())
    };
    let rank = |value: &f64| {
        let (less, not_more) = (count(&|it| it < *value), count(&|it| it <= *value));
        less + not_more - count(&|_| true)
    };
    [base.iter().map(rank).collect(), head.iter().map(rank).collect()]
}

fn mann_whitney(base: &[f64], head: &[f64]) -> Test {
    let [base, head] = ranks(base, head);
    Test::of(&base, &head).unwrap()
}

/// (i·37) mod 97 and (i·53 + 11) mod 101 + ½ + `shift`: no two are the same.
fn mixed(base: u32, head: u32, shift: f64) -> [Vec<f64>; 2] {
    [
        (0..base).map(|i| f64::from(i * 37 % 97)).collect(),
        (0..head).map(|i| f64::from((i * 53 + 11) % 101) + 0.5 + shift).collect(),
    ]
}

/// mannwhitneyu(head, base, alternative='two-sided', method='exact').pvalue
#[test]
fn ranks_are_tested_as_mann_and_whitney_do() {
    let base = [1.5, 2.1, 3.3, 4.8, 5.2, 6.7, 7.1, 8.9];
    let head = [4.1, 5.9, 6.1, 7.7, 8.2, 9.4, 10.3, 11.0];
    let few = mann_whitney(&base, &head);
    close(few.p, 0.049_883_449_883_449_88, 1e-12);
    // 2 / C(16, 8)
    close(few.least_p, 2.0 / 12_870.0, 1e-9);
    for (base, head, shift, expected) in [
        (40, 50, 12.0, 0.029_979_140_102_604_357),
        (40, 50, 45.0, 4.407_087_106_564_811e-10),
        (12, 60, 40.0, 1.943_307_486_483_898_3e-05),
    ] {
        let [base, head] = mixed(base, head, shift);
        close(mann_whitney(&base, &head).p, expected, 0.01);
    }
}

/// Twice the smaller of hypergeom(n0 + n1, k0 + k1, n1).cdf(k1) and .sf(k1 - 1), at most 1.
#[test]
fn shares_are_tested_as_fisher_does() {
    for (base, head, expected) in [
        ((3, 200), (12, 180), 0.018_513_328_979_426_72),
        ((0, 50), (5, 60), 0.089_246_573_794_547_62),
        ((120, 4_000), (190, 4_100), 0.000_150_391_619_107_033_86),
        ((1, 30), (0, 1_000), 0.058_252_427_184_466_014),
        ((5, 400), (60, 400), 6.416_474_306_608_717e-14),
    ] {
        let scores =
            |(part, whole): (usize, usize)| [vec![1.0; part], vec![0.0; whole - part]].concat();
        let test = Test::of(&scores(base), &scores(head)).unwrap();
        close(test.p, expected, 1e-9);
    }
}

fn repeated(parts: &[(f64, usize)]) -> Vec<f64> {
    parts.iter().flat_map(|&(score, times)| vec![score; times]).collect()
}

/// All assignments of the sums of clusters to sides, counted by dynamic programming over (clusters
/// taken, sum) in whole numbers.
#[test]
fn sums_of_clusters_are_tested_over_all_their_assignments() {
    let base = repeated(&[(0.0, 70), (1.0, 6), (2.0, 3), (4.0, 1)]);
    let head = repeated(&[(0.0, 55), (1.0, 12), (2.0, 8), (3.0, 3), (5.0, 2)]);
    let test = Test::of(&base, &head).unwrap();
    assert!(test.z > 0.0);
    close(test.p, 0.006_826_930_747_214_457, 0.02);
    // Skewed as findings are: a normal distribution of the same variance says 1e-9.
    let base = repeated(&[(0.0, 300), (1.0, 2)]);
    let head = repeated(&[(0.0, 60), (1.0, 5), (3.0, 3)]);
    close(Test::of(&base, &head).unwrap().p, 2.857_979_777_356_794e-05, 0.1);
    let base = repeated(&[(-1.0, 90), (7.0, 4), (15.0, 6)]);
    let head = repeated(&[(-1.0, 97), (7.0, 2), (15.0, 1)]);
    let test = Test::of(&base, &head).unwrap();
    assert!(test.z < 0.0);
    close(test.p, 0.049_658_336_668_444_52, 0.1);
}

#[test]
fn what_is_the_same_throughout_tells_nothing_and_a_side_without_any_is_not_tested() {
    let same = Test::of(&[2.0; 30], &[2.0; 40]).unwrap();
    assert_eq!((same.p.to_bits(), same.least_p.to_bits()), (1_f64.to_bits(), 2_f64.to_bits()));
    assert!(!same.could_differ());
    assert_eq!(same.growth_to_reach(0.05), None);
    assert_eq!(Test::of(&[], &[1.0]), None);
}

/// Holm's p of 0.001, 0.04, 0.03 and 0.005.
#[test]
fn lines_that_could_tell_are_corrected_together_and_others_are_left_out() {
    let test = |p, least_p| Some(Test { p, least_p, z: 1.0 });
    let tests = [
        test(0.001, 0.0),
        test(0.5, 0.2),
        test(0.04, 0.0),
        None,
        test(0.03, 0.0),
        test(0.005, 0.0),
        // Below 0.05 / 4, but not below 0.05 / 5: with it there would be five.
        test(0.02, 0.011),
    ];
    let family = Family::of(&tests);
    assert_eq!(family.size, 4);
    let expected = [Some(0.004), None, Some(0.06), None, Some(0.06), Some(0.015), None];
    for (found, expected) in family.corrected.iter().zip(expected) {
        match (found, expected) {
            (Some(found), Some(expected)) => close(*found, expected, 1e-12),
            (found, expected) => assert_eq!(found.is_some(), expected.is_some()),
        }
    }
}

/// ((norm.isf(0.05 / 2 / 10) + norm.isf(0.2)) / 2) ** 2
#[test]
fn what_more_it_takes_is_told_by_the_usual_formula() {
    let test = Test { p: 0.0455, least_p: 1e-9, z: 2.0 };
    close(test.growth_to_tell(0.005).unwrap(), 3.328_170_830_752_972_3, 1e-9);
    let test = Test { p: 0.5, least_p: 0.01, z: 1.0 };
    // log(0.0005) / log(0.005)
    close(test.growth_to_reach(0.001).unwrap(), 1.434_587_989_676_093_6, 1e-9);
    // One on each side: no number of them is told apart so far, but more may be.
    let one = Test::of(&[1.0], &[2.0]).unwrap();
    close(one.p, 1.0, 1e-12);
    close(one.growth_to_reach(0.05).unwrap(), 5.321_928_094_887_363, 1e-9);
}

#[test]
fn intervals_of_fewer_independent_values_are_wider() {
    let (all, half) = (Quantile::P50.interval_of(100, 100), Quantile::P50.interval_of(100, 50));
    assert_eq!(all, Quantile::P50.interval(100));
    // 18 and 33 of 50.
    assert_eq!((half.lo, half.hi), (Some(35), Some(66)));
    let share = Proportion { part: 10, whole: 100 };
    assert_eq!(share.interval_of(100), share.interval());
    let fewer = Proportion { part: 5, whole: 50 }.interval();
    assert_eq!(share.interval_of(50), fewer);
}
