//! How the time of a chain splits.

use dwindle::plan::chain::{Chain, allocated_timeout};
use dwindle::units::Nanos;
use serde_json::{Value, json};

use super::retries::without_commit;
use super::{json, plan, refused};

const MS: i64 = 1_000_000;

/// (depth, tries, worst without a budget, ratio, allocated, ratio to the median) of 200, 20 and 8 ms.
const ROWS: [(u32, u32, i64, f64, i64, f64); 8] = [
    (1, 1, 220, 1.1, 180, 22.5),
    (2, 1, 420, 2.1, 90, 11.25),
    (3, 1, 620, 3.1, 60, 7.5),
    (4, 1, 820, 4.1, 45, 5.625),
    (1, 3, 620, 3.1, 60, 7.5),
    (2, 3, 1_220, 6.1, 30, 3.75),
    (3, 3, 1_820, 9.1, 20, 2.5),
    (4, 3, 2_420, 12.1, 15, 1.875),
];

#[test]
fn of_200_ms_a_chain_may_be_seven_deep() {
    let told = json(&["chain"]);
    let row =
        |(depth, tries, worst, ratio, allocated, to_median): (u32, u32, i64, f64, i64, f64)| {
            json!({
                "depth": depth,
                "tries": tries,
                "no_budget_worst_ns": worst * MS,
                "budget_ratio": ratio,
                "allocated_timeout_ns": allocated * MS,
                "ratio_to_median": to_median,
            })
        };
    assert_eq!(told["rows"], ROWS.into_iter().map(row).collect::<Value>());
    assert_eq!(told["max_depth"], 7);
    let twice = json!({
        "own_ns": 40 * MS,
        "depth": 4,
        "tries": 3,
        "allocated_timeout_ns": 13_333_333,
        "max_depth": 6,
    });
    assert_eq!(told["twice_own"], twice);
}

#[test]
fn people_read_ratios_as_multiples() {
    for width in ["80", "120"] {
        let text = plan(&["chain", "--width", width]).out;
        for ratio in ["×1.1 ", "×12.1 ", "×22.5\n", "×1.88\n"] {
            assert!(text.contains(ratio), "{ratio} in\n{text}");
        }
        insta::assert_snapshot!(format!("chain-{width}"), without_commit(&text));
    }
    insta::assert_snapshot!("chain-csv", plan(&["chain", "--format", "csv", "--depth", "4"]).out);
}

#[test]
fn an_own_share_that_leaves_nothing_when_doubled_is_told() {
    let text = plan(&["chain", "--own", "100ms"]).out;
    assert!(text.contains("Twice the own share (200 ms) leaves nothing"), "{text}");
    assert_eq!(json(&["chain", "--own", "100ms"])["twice_own"]["max_depth"], 0);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let many: Vec<String> = (1..=101).map(|number| number.to_string()).collect();
    let many = many.join(",");
    let wrong: &[(&[&str], &str)] = &[
        (&["--own", "200ms"], "--own"),
        (&["--end-to-end", "0ms"], "--end-to-end: expected more than nothing"),
        (&["--own", "-1ms"], "expected a duration"),
        (&["--tries", "-1"], "-1 is not in 1..=1000000"),
        (&["--median", "0ms"], "--median"),
        (&["--depth", "0"], "--depth"),
        (&["--tries", "1000001"], "--tries"),
        (&["--depth", &many, "--tries", &many], "pairs"),
    ];
    for (args, said) in wrong {
        let error = refused(&[&["chain"], *args].concat());
        assert!(error.contains(said), "{args:?}: {error}");
    }
}

/// What 64 bits cannot hold is told as text, and no timeout is lost to it.
#[test]
fn the_longest_chain_is_exact() {
    let longest = format!("{}ns", i64::MAX);
    let args = ["chain", "--end-to-end", &longest, "--depth", "1000000", "--tries", "1000000"];
    let told = json(&args);
    let worst = i128::from(i64::MAX) * 1_000_000_000_000 + 20_000_000;
    assert_eq!(told["rows"][0]["no_budget_worst_ns"], worst.to_string());
    assert_eq!(
        told["rows"][0]["allocated_timeout_ns"],
        (i64::MAX - 20_000_000) / 1_000_000_000_000
    );
}

/// The greatest depth is the last at which the timeout, as it is rounded down, is at least the median.
#[test]
fn the_greatest_depth_is_the_last_that_leaves_the_median() {
    let nanos = Nanos::from_nanos;
    for (end_to_end, own, median, tries) in
        [(200, 20, 8, 3), (181, 0, 9, 2), (17, 3, 14, 1), (9, 1, 9, 1)]
    {
        let (end_to_end, own, median) = (nanos(end_to_end), nanos(own), nanos(median));
        let chain = Chain { end_to_end, own, median, depths: vec![1], tries: vec![1, tries] };
        let leaves = |depth: &u32| allocated_timeout(end_to_end, own, *depth, tries) >= median;
        let last = (1..=200).take_while(leaves).count() as u64;
        assert_eq!(chain.plan().max_depth, last);
    }
}
