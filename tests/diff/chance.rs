//! How often chance is taken for a difference, and how often a difference is seen.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use dwindle::diff::{About, Diff, Line, Numbers, Rate};
use dwindle::distributions::Measure;
use dwindle::stats::Quantile;
use rayon::prelude::*;

use super::made::{Mould, NOTHING, Plant, Random};

fn compared(seed: u64, requests: usize, plant: Plant) -> Diff {
    let mould = Mould::new();
    let mut random = Random(seed);
    let base = mould.side(requests, NOTHING, &mut random);
    let head = mould.side(requests, plant, &mut random);
    Diff::of(&base, &head)
}

/// Scenario: 1,000 pairs of sides that are made alike, with ties, zeros and traces of several requests.
/// Guarantee: at most 65 show any line as different, though each has more than a dozen that could.
#[test]
fn of_a_thousand_pairs_that_are_alike_at_most_65_show_any_difference() {
    let seeds: Vec<u64> = (0..1_000).collect();
    let shown = seeds.par_iter().filter(|&&seed| {
        let requests = 150 + usize::try_from(seed % 200).unwrap();
        let diff = compared(seed, requests, NOTHING);
        assert!(diff.judged >= 10, "only {} lines", diff.judged);
        diff.lines().any(|(_, line)| line.is_different())
    });
    let shown = shown.count();
    assert!(shown <= 65, "{shown} of 1,000");
    assert!(shown >= 10, "{shown} of 1,000: so few that differences must go unseen too");
}

/// Scenario: 300 pairs of sides, of which one has all times half as long again.
/// Guarantee: the interval of a shift holds the true shift in 95 of 100, percentile by percentile.
#[test]
fn intervals_of_shifts_hold_the_true_shift() {
    let slower = Plant { factor: 1.5, ..NOTHING };
    let quantiles = [Quantile::P50, Quantile::P95];
    let shifts = |seed, requests| {
        let diff = compared(seed, requests, slower);
        quantiles.map(|quantile| shift_of(&diff, Measure::Elapsed, quantile))
    };
    let truth = shifts(7, 30_000).map(|(_, shift, _)| shift);
    let seeds: Vec<u64> = (1_000..1_300).collect();
    let holds: Vec<[bool; 2]> = seeds
        .par_iter()
        .map(|&seed| {
            let [median, tail] = shifts(seed, 400);
            let holds = |(lo, _, hi): (i64, i64, i64), truth| lo <= truth && truth <= hi;
            [holds(median, truth[0]), holds(tail, truth[1])]
        })
        .collect();
    for (place, quantile) in quantiles.iter().enumerate() {
        let holds = holds.iter().filter(|holds| holds[place]).count();
        // Two standard deviations below 285.
        assert!(holds >= 278, "{quantile}: {holds} of 300");
    }
}

fn shift_of(diff: &Diff, measure: Measure, quantile: Quantile) -> (i64, i64, i64) {
    let wanted = About::Measure(measure, quantile);
    let (_, line) = diff.lines().find(|(_, line)| line.about == wanted).unwrap();
    let Numbers::Times { shift, .. } = &line.numbers else { panic!("a measure is a time") };
    let nanos = |end: Option<dwindle::units::Nanos>| end.unwrap().as_nanos();
    (nanos(shift.lo), shift.value.as_nanos(), nanos(shift.hi))
}

/// A difference that is planted, and the line that should show it.
type Planted = (&'static str, Plant, fn(&Line) -> bool);

const PLANTED: [Planted; 4] = [
    ("all times 10 % longer: p50 of elapsed", Plant { factor: 1.1, ..NOTHING }, is_median),
    (
        "6 % of requests four times as slow in place of 2 %: outermost percentile of elapsed",
        Plant { slow_percent: 6.0, ..NOTHING },
        is_tail,
    ),
    ("4 % of requests fail in place of 2 %", Plant { failed_percent: 4.0, ..NOTHING }, is_failed),
    ("8 % of requests fail in place of 2 %", Plant { failed_percent: 8.0, ..NOTHING }, is_failed),
];

fn is_median(line: &Line) -> bool {
    line.about == About::Measure(Measure::Elapsed, Quantile::P50)
}

fn is_tail(line: &Line) -> bool {
    matches!(line.about, About::Measure(Measure::Elapsed, _)) && !is_median(line)
}

fn is_failed(line: &Line) -> bool {
    line.about == About::Rate(Rate::Failed)
}

/// Scenario: differences that are planted, at several sizes.
/// Guarantee: docs/diff.md tells how often each is seen.
#[test]
fn how_often_a_planted_difference_is_seen_is_told() {
    const PAIRS: usize = 40;
    let mould = Mould::new();
    let seen = |requests: usize| -> [usize; 4] {
        let pairs: Vec<[bool; 4]> = (0..PAIRS as u64)
            .into_par_iter()
            .map(|seed| {
                let mut random = Random(5_000 + seed);
                let base = mould.side(requests, NOTHING, &mut random);
                PLANTED.map(|(_, plant, is_it)| {
                    let head = mould.side(requests, plant, &mut random);
                    let diff = Diff::of(&base, &head);
                    diff.regressions().any(|(_, line)| is_it(line))
                })
            })
            .collect();
        std::array::from_fn(|place| pairs.iter().filter(|pair| pair[place]).count())
    };
    let sizes = [150, 600, 2_400].map(seen);
    let mut table = "| planted | n = 150 | 600 | 2,400 |\n|---|---:|---:|---:|\n".to_owned();
    for (place, (name, ..)) in PLANTED.iter().enumerate() {
        let percents = sizes.map(|seen| format!("{} %", seen[place] * 100 / PAIRS));
        let _ = writeln!(table, "| {name} | {} |", percents.join(" | "));
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/diff.md");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains(&table), "docs/diff.md should hold\n{table}");
}
