//! What is told of many values: percentiles, weighted ones, and the shapes that pictures draw.

use dwindle::distributions::{Atom, Histogram, Sample};
use dwindle::stats::{Quantile, Weight};
use dwindle::units::Nanos;
use proptest::collection::vec;
use proptest::prelude::{prop_assert_eq, proptest};
use serde_json::{Value, json};

use crate::support::command::{run, scratch};
use crate::support::made_spans::line;

fn shape(values: &[i64], from: i64, to: i64, bins: usize) -> Histogram {
    let mut sample = Sample::default();
    for &value in values {
        sample.push(Nanos::from_nanos(value));
    }
    let nanos = Nanos::from_nanos;
    Histogram::new(&sample.sorted(), nanos(from), nanos(to), bins)
}

#[test]
fn bins_have_round_edges_and_hold_every_value_once() {
    let values = [-7, -1, 0, 0, 3, 19, 20, 39];
    let shape = shape(&values, -7, 39, 5);
    assert_eq!((shape.from.as_nanos(), shape.width.as_nanos()), (-10, 10));
    assert_eq!(shape.bins, [2, 3, 1, 1, 1]);
    assert_eq!(shape.bins.iter().sum::<u64>(), values.len() as u64);
}

#[test]
fn a_timeout_that_many_share_is_an_atom_and_in_no_bin() {
    let mut values: Vec<i64> = (0..95).collect();
    values.extend([200; 5]);
    let shape = shape(&values, 0, 200, 10);
    assert_eq!(shape.atoms, [Atom { value: Nanos::from_nanos(200), count: 5 }]);
    assert_eq!(shape.bins.iter().sum::<u64>(), 95);
}

#[test]
fn nothing_and_all_the_same_have_a_shape_too() {
    assert_eq!(shape(&[], 0, 0, 10).largest(), 0);
    assert_eq!(shape(&[5], 5, 5, 10).bins, [1]);
}

#[test]
fn values_as_far_apart_as_can_be_have_a_shape() {
    let (least, most) = (i64::MIN + 1, i64::MAX);
    assert!(shape(&[least, most], least, most, 2).largest() <= 2);
}

/// A column, the percentile, and the lower and the upper end of its interval.
type Known = (&'static str, Option<i64>, Option<i64>, Option<i64>);

/// Those of 5,000 made values, by scipy 1.x:
/// `numpy.quantile(values, p, method="inverted_cdf")`, and the order statistics at the largest rank r
/// with `binom.cdf(r - 1, n, p) <= 0.025` and at the smallest with `binom.sf(r - 1, n, p) <= 0.025`.
const OF_5000: [Known; 9] = [
    ("p0_1", Some(2_172_000), Some(1_213_000), Some(3_361_000)),
    ("p1", Some(10_585_000), Some(8_127_000), Some(16_228_000)),
    ("p5", Some(46_222_000), Some(40_565_000), Some(53_553_000)),
    ("p10", Some(98_514_000), Some(90_208_000), Some(106_824_000)),
    ("p50", Some(493_803_000), Some(480_511_000), Some(508_712_000)),
    ("p90", Some(905_447_000), Some(896_380_000), Some(912_491_000)),
    ("p95", Some(956_337_000), Some(951_261_000), Some(961_327_000)),
    ("p99", Some(993_074_000), Some(991_306_000), Some(994_644_000)),
    ("p99_9", Some(999_589_000), Some(998_909_000), Some(1_000_629_000)),
];

/// The same of the first 1,200: too few for the outermost.
const OF_1200: [Known; 9] = [
    ("p0_1", None, None, Some(3_009_000)),
    ("p1", Some(15_491_000), Some(5_476_000), Some(19_896_000)),
    ("p5", Some(46_410_000), Some(36_239_000), Some(62_646_000)),
    ("p10", Some(89_705_000), Some(77_174_000), Some(100_605_000)),
    ("p50", Some(508_298_000), Some(480_399_000), Some(536_718_000)),
    ("p90", Some(896_354_000), Some(875_778_000), Some(916_338_000)),
    ("p95", Some(956_387_000), Some(940_203_000), Some(970_000_000)),
    ("p99", Some(993_395_000), Some(988_078_000), Some(996_080_000)),
    ("p99_9", None, Some(996_380_000), None),
];

/// The rows of the table `distributions` for some spans.
fn distributions(name: &str, spans: &str, flags: &[&str]) -> Vec<Value> {
    let dir = scratch(name);
    let (input, out) = (dir.join("spans.jsonl"), dir.join("tables"));
    std::fs::write(&input, spans).unwrap();
    let (input, out) = (input.to_str().unwrap(), out.to_str().unwrap());
    let ran = run(&[&["analyze", input, "--out", out, "--format", "ndjson"], flags].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let text = std::fs::read_to_string(dir.join("tables/distributions.ndjson")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn one<'r>(rows: &'r [Value], scope: &str, measure: &str) -> &'r Value {
    let mut found = rows.iter().filter(|row| row["scope"] == scope && row["measure"] == measure);
    let row = found.next().unwrap_or_else(|| panic!("no row of {scope} {measure}"));
    assert!(found.next().is_none(), "several rows of {scope} {measure}");
    row
}

#[test]
fn percentiles_and_intervals_of_the_table_equal_those_of_scipy() {
    for (n, expected, sum) in
        [(5_000, OF_5000, 2_487_665_325_000_i64), (1_200, OF_1200, 597_255_485_000)]
    {
        let span = |i: u64| {
            let duration = (i * i * 7_919 + i * 104_729) % 1_000_003 * 1_000 + 1_000_000;
            let start = 1_700_000_000_000_000_000_u64;
            let span = json!({
                "trace_id": format!("{i:032x}"), "span_id": "00000000000000a1", "service": "shop",
                "name": "buy", "kind": "server",
                "start_unix_ns": start, "end_unix_ns": start + duration,
            });
            format!("{span}\n")
        };
        let spans: String = (1..=n).map(span).collect();
        for memory in ["1GiB", "256KiB"] {
            let rows = distributions(&format!("scipy-{n}-{memory}"), &spans, &["--memory", memory]);
            let row = one(&rows, "request", "elapsed_ns");
            assert_eq!(row["n"], json!(n));
            assert_eq!(row["sum_ns"], json!(sum));
            for (name, value, lo, hi) in expected {
                let cell = |end: &str| row[format!("{name}{end}_ns")].as_i64();
                assert_eq!([cell(""), cell("_lo"), cell("_hi")], [value, lo, hi], "{name} of {n}");
            }
        }
    }
}

proptest! {
    /// As if each value stood there as often as it weighs.
    #[test]
    fn weighted_percentiles_are_those_of_the_expanded_sample(
        values in vec((-20_i64..40, 1_u32..12), 1..60),
    ) {
        let mut weighted = Sample::default();
        let mut expanded = Vec::new();
        for &(value, weight) in &values {
            weighted.push_weighted(Nanos::from_nanos(value), Weight::new(f64::from(weight)));
            expanded.extend(std::iter::repeat_n(value, weight as usize));
        }
        expanded.sort_unstable();
        let weighted = weighted.sorted();
        for (thousandths, quantile) in [1, 10, 50, 100, 500, 900, 950, 990, 999].into_iter().zip(Quantile::ALL) {
            let rank = (thousandths * expanded.len()).div_ceil(1_000);
            let found = weighted.quantile(quantile).unwrap();
            prop_assert_eq!(found.value.as_nanos(), expanded[rank - 1], "{}", quantile);
            let inside = found.lo.is_none_or(|lo| lo <= found.value)
                && found.hi.is_none_or(|hi| found.value <= hi);
            assert!(inside, "{quantile}: {found:?}");
        }
        let ends = [weighted.min(), weighted.max()].map(|end| end.unwrap().as_nanos());
        prop_assert_eq!(ends, [expanded[0], expanded[expanded.len() - 1]]);
    }

    /// Where all weigh the same, weights change nothing.
    #[test]
    fn equal_weights_are_no_weights(values in vec(-20_i64..40, 1..80), weight in 1_u32..1_000) {
        let (mut weighted, mut plain) = (Sample::default(), Sample::default());
        for &value in &values {
            weighted.push_weighted(Nanos::from_nanos(value), Weight::new(f64::from(weight)));
            plain.push(Nanos::from_nanos(value));
        }
        let (weighted, plain) = (weighted.sorted(), plain.sorted());
        for quantile in Quantile::ALL {
            let (one, other) = (weighted.quantile(quantile).unwrap(), plain.quantile(quantile).unwrap());
            prop_assert_eq!((one.value, one.lo, one.hi), (other.value, other.lo, other.hi));
        }
    }
}

/// A request of so many milliseconds with a call of a tenth of that, kept with a threshold.
fn kept(trace: u64, ms: u64, state: Option<&str>) -> String {
    let with_state = |line: String| {
        let mut span: Value = serde_json::from_str(&line).unwrap();
        span["trace_state"] = json!(state);
        format!("{span}\n")
    };
    let root = line((trace, 1, 0, "shop", "buy", "server", [0, ms]), &json!({}));
    let call =
        line((trace, 2, 1, "shop", "pay", "client", [0, ms / 10]), &json!({"server.address": "a"}));
    with_state(root) + &with_state(call)
}

#[test]
fn percentiles_are_of_the_population_where_every_request_says_what_it_stands_for() {
    // Nine fast requests of ten were dropped, no slow one.
    let fast = (1..=100)
        .map(|trace| kept(trace, 10, Some("vendor=x,ot=th:e6666666666668;rv:ffffffffffffff")));
    let slow = (101..=200).map(|trace| kept(trace, 1_000, Some("ot=th:0")));
    let spans: String = fast.chain(slow).collect();
    for memory in ["1GiB", "64KiB"] {
        let rows = distributions(&format!("weighted-{memory}"), &spans, &["--memory", memory]);
        for (scope, measure, p50, p95) in
            [("request", "elapsed_ns", 10, 1_000), ("attempt", "duration_ns", 1, 100)]
        {
            let row = one(&rows, scope, measure);
            assert_eq!((&row["n"], &row["weighted"]), (&json!(200), &json!(true)), "{row}");
            assert_eq!(row["weight_sum"], json!(1_100.0));
            // 1,100² / (100·10² + 100·1²).
            assert!((row["effective_n"].as_f64().unwrap() - 119.80).abs() < 0.01, "{row}");
            assert_eq!(row["p50_ns"], json!(p50 * 1_000_000));
            assert_eq!(row["p95_ns"], json!(p95 * 1_000_000));
            // The effective sample is too small for it.
            assert_eq!(row["p99_ns"], Value::Null);
        }
    }
}

#[test]
fn one_request_that_does_not_say_leaves_its_class_unweighted() {
    let spans: String = (1..=99).map(|trace| kept(trace, 10, Some("ot=th:c"))).collect();
    let rows = distributions("partly-weighted", &(spans + &kept(100, 10, None)), &[]);
    for row in &rows {
        assert_eq!((&row["weighted"], &row["weight_sum"]), (&json!(false), &Value::Null), "{row}");
    }
    assert_eq!(one(&rows, "request", "elapsed_ns")["n"], json!(100));
}

#[test]
fn requests_that_stand_for_none_are_no_part_of_percentiles() {
    let spans: String = (1..=50).map(|trace| kept(trace, 10, Some("ot=p:2;r:5"))).collect();
    let others: String = (51..=80).map(|trace| kept(trace, 5_000, Some("ot=p:63;r:5"))).collect();
    let rows = distributions("standing-for-none", &(spans + &others), &[]);
    let row = one(&rows, "request", "elapsed_ns");
    assert_eq!((&row["n"], &row["weight_sum"]), (&json!(50), &json!(200.0)), "{row}");
    assert_eq!(row["max_ns"], json!(10_000_000));
    assert_eq!(one(&rows, "attempt", "duration_ns")["n"], json!(50));
}

#[test]
fn where_traces_were_chosen_by_how_they_ended_nothing_is_weighted_and_the_report_says_why() {
    let chosen = |trace: u64| {
        let span = kept(trace, 10, Some("ot=th:c"));
        span.replace("\"attributes\":{", "\"attributes\":{\"tailsampling.policy\":\"errors\",")
    };
    let spans: String = (1..=50).map(chosen).collect();
    let rows = distributions("chosen", &spans, &[]);
    assert!(rows.iter().all(|row| row["weighted"] == json!(false)));
    let input = scratch("chosen-report").join("spans.jsonl");
    std::fs::write(&input, &spans).unwrap();
    let report = run(&["report", input.to_str().unwrap()]).out;
    let report = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        report.contains("chosen once their outcome was known, by the collector's tail_sampling"),
        "{report}"
    );
}
