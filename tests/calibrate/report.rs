//! What reports show of timeouts and needs that nothing declares, and that they say what rests on them.

use std::fs;

use dwindle::calibrate::{
    Atom, Calibration, CallLimit, ClassLimit, Decile, Funding, Judged, Limit, Measured, Rule,
};
use dwindle::distributions::{Call, Estimate, Summary};
use dwindle::exemplars::Exemplars;
use dwindle::report::{self, Format, Options, RunFacts};
use dwindle::stats::{Proportion, Quantile};
use dwindle::units::Nanos;
use proptest::prelude::*;
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::support::command::{run, scratch};
use crate::support::harmless;
use crate::support::made_tables::{Shape, partition};

fn ms(millis: i64) -> Nanos {
    Nanos::from_millis(millis)
}

fn atom(millis: i64, count: usize) -> Atom {
    let value = ms(millis);
    let (lo, hi) = (value - ms(1), value + ms(1));
    Atom { value, lo, hi, count, round: (millis % 10 == 0).then_some(value) }
}

fn measured(quantile: Quantile, millis: i64, n: usize) -> Measured {
    let (lo, hi) = (Some(ms(millis - 2)), Some(ms(millis + 3)));
    Measured {
        quantile,
        estimate: Estimate { value: ms(millis), lo, hi, is_approximate: false },
        n,
    }
}

fn call(caller: &str, callee: &str, operation: &str) -> CallLimit {
    CallLimit {
        call: Call {
            caller: Some(caller.into()),
            callee: Some(callee.into()),
            operation: operation.into(),
        },
        attempts: 1_200,
        limit: Limit { cut: 0, atoms: Vec::new(), few: Vec::new(), longest: ms(812) },
        unheard: 0,
        answered: 0,
        judged: Judged {
            rule: Rule::NotEnoughEvidence,
            n: 0,
            log_ratio: None,
            constant: None,
            budget: None,
        },
        outlasting: Proportion::default(),
        same_elsewhere: 0,
        succeeded: (7, 1),
        allowance: None,
        break_even: None,
        funding: Funding::default(),
    }
}

fn cut(call: CallLimit, cut: u64, atoms: Vec<Atom>, judged: (Rule, f64)) -> CallLimit {
    let constant = atoms.first().map(|atom| atom.value);
    let n = usize::try_from(cut).unwrap();
    let (rule, ratio) = judged;
    CallLimit {
        limit: Limit { cut, atoms, ..call.limit },
        judged: Judged { rule, n, log_ratio: Some(ratio), constant, budget: None },
        ..call
    }
}

fn class(name: &str, requests: u64, limit: Limit) -> ClassLimit {
    let (service, operation) = name.split_once(' ').unwrap();
    ClassLimit {
        class: name.into(),
        service: service.into(),
        operation: operation.into(),
        requests,
        limit,
        outlasting: Proportion::default(),
        cut_with: None,
        masked: (0, None),
        declared: (0, None),
        returned: 3,
        reserve: None,
    }
}

/// A fleet of which durations tell about all that they can.
fn calibration() -> Calibration {
    let deciles = (1..=10).map(|part| Decile {
        from: ms(part * 20),
        to: ms(part * 20 + 19),
        paid: Proportion { part: if part < 3 { 0 } else { 118 }, whole: 120 },
    });
    let funded = CallLimit {
        succeeded: (944, 2),
        allowance: Some(measured(Quantile::P95, 74, 944)),
        break_even: Some(measured(Quantile::P5, 11, 944)),
        funding: Funding {
            deciles: deciles.collect(),
            break_even: Some(ms(60)),
            all: Proportion { part: 944, whole: 1_200 },
            with_less_than_allowance: Some(Proportion { part: 90, whole: 320 }),
            with_less_than_break_even: Some(Proportion { part: 0, whole: 31 }),
        },
        ..call("orders", "stock", "Reserve")
    };
    let two = vec![atom(250, 61), atom(1_003, 17)];
    let few = Limit { cut: 3, few: vec![ms(31), ms(46), ms(90)], ..call("", "", "").limit };
    let calls = vec![
        CallLimit { same_elsewhere: 2, ..cut(funded, 83, two, (Rule::Fixed, 14.27)) },
        CallLimit { limit: few, ..call("orders", "mail", "Send") },
        cut(call("web", "orders", "POST /orders"), 44, vec![atom(800, 40)], (Rule::MinOfBoth, 6.1)),
        cut(call("web", "search", "GET /find"), 51, Vec::new(), (Rule::Propagated, 9.0)),
        call("stock", "db", "SELECT items"),
        CallLimit {
            limit: Limit { longest: ms(4_100), ..call("", "", "").limit },
            ..call("stock", "db", "UPDATE items")
        },
    ];
    let limit = |cut, atoms| Limit { cut, atoms, few: Vec::new(), longest: ms(2_020) };
    let classes = vec![
        class("web GET /list", 500, limit(0, Vec::new())),
        class("web POST /orders", 900, limit(31, vec![atom(2_000, 30)])),
        ClassLimit {
            declared: (40, Some((ms(300), ms(900)))),
            ..class("web POST /pay", 60, limit(5, Vec::new()))
        },
    ];
    Calibration { classes, calls, is_sampled: false }
}

fn facts(is_judged: bool) -> RunFacts {
    RunFacts {
        version: "0.0.0 (test)".to_owned(),
        calibrated: is_judged.then(String::new),
        ..RunFacts::default()
    }
}

fn told(calibration: &Calibration, format: Format, width: usize) -> String {
    let mut summary = Summary::default();
    summary.add(&partition(&Shape::checkout(), 40, 1));
    let options = Options::for_format(format);
    let report =
        report::build(&summary, &Exemplars::default(), calibration, &facts(true), &options);
    report.render(format, width, false)
}

/// The lines of the section.
fn section(text: &str) -> String {
    let lines = text.lines().skip_while(|line| !line.contains("What durations tell"));
    let own = lines.take_while(|line| !line.contains("What this rests on"));
    own.collect::<Vec<_>>().join("\n")
}

#[test]
fn timeouts_and_needs_at_80_columns() {
    insta::assert_snapshot!(section(&told(&calibration(), Format::Terminal, 80)));
}

#[test]
fn timeouts_and_needs_at_120_columns() {
    insta::assert_snapshot!(section(&told(&calibration(), Format::Terminal, 120)));
}

#[test]
fn timeouts_and_needs_in_markdown() {
    let text = told(&calibration(), Format::Markdown, 0);
    harmless::markdown(&text);
    insta::assert_snapshot!(section(&text));
}

#[test]
fn machines_get_every_hop_and_every_decile() {
    let text = told(&calibration(), Format::Csv, 0);
    let own = ["timeouts,", "request_timeouts,", "needs,", "paid_by_left,"];
    let lines = text.lines().filter(|line| own.iter().any(|id| line.starts_with(id)));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_page_shows_deciles_and_no_hop_at_which_nothing_was_cut_off() {
    let text = told(&calibration(), Format::Html, 0);
    let (_, text) = text.split_once("What durations tell").unwrap();
    assert_eq!(text.matches("data-table=\"paid_by_left\"").count(), 1);
    assert!(text.contains("Nothing was cut off at 2 hops") && text.contains("4,100"));
    let (_, timeouts) = text.split_once("data-table=\"timeouts\"").unwrap();
    let (timeouts, _) = timeouts.split_once("</table>").unwrap();
    assert!(timeouts.contains("stock") && !timeouts.contains("SELECT items"));
}

#[test]
fn where_nothing_was_cut_off_one_line_says_so() {
    let nothing = |limit: Limit| Limit { cut: 0, atoms: Vec::new(), few: Vec::new(), ..limit };
    let Calibration { classes, calls, .. } = calibration();
    let calls = calls.into_iter().map(|call| CallLimit { limit: nothing(call.limit), ..call });
    let classes = classes.into_iter().map(|it| ClassLimit { limit: nothing(it.limit), ..it });
    let quiet =
        Calibration { calls: calls.collect(), classes: classes.collect(), is_sampled: false };
    let text = section(&told(&quiet, Format::Terminal, 80));
    assert!(text.contains("No timeout shows: no attempt and no request was cut off"), "{text}");
    assert!(!text.contains("Timeouts that") && !text.contains("Fixed: "), "{text}");
    let json = told(&quiet, Format::Json, 0);
    assert!(json.contains("\"timeouts\"") && json.contains("\"request_timeouts\""));
}

#[test]
fn a_report_by_what_is_declared_says_that_nothing_was_judged_by_durations() {
    let page = |facts: RunFacts| {
        let options = Options::for_format(Format::Terminal);
        let (summary, exemplars) = (Summary::default(), Exemplars::default());
        let report = report::build(&summary, &exemplars, &calibration(), &facts, &options);
        report.render(Format::Terminal, 400, false)
    };
    let report = |is_judged| page(facts(is_judged));
    assert!(report(false).contains("Nothing was judged by it"));
    assert!(report(true).contains("were judged by what of it is sure enough"));
    // Where nothing stood in for anything, the head need not say so.
    assert!(!report(true).contains("No contract was given"));
    // What is told is of those that were chosen, but all had a part in judging them.
    let of_all = "What judged them is told by all requests, what follows by those chosen.";
    assert!(!report(true).contains(of_all));
    let chosen = Some(report::Chosen::default());
    assert!(page(RunFacts { chosen, ..facts(true) }).contains(of_all));
}

#[test]
fn a_report_by_a_contract_that_was_taken_from_traces_says_that_it_counted() {
    let text = by_calibrated("words-of-contract", &["report", "--width", "400"]);
    assert!(!text.contains("Nothing was judged by it"));
    assert!(text.contains("a contract counts that was taken from traces"));
}

fn lengths() -> impl Strategy<Value = Nanos> {
    let odd = prop_oneof![
        Just(i64::MIN),
        Just(i64::MAX),
        Just(0),
        -10_i64..10,
        any::<i64>(),
        0_i64..10_000_000_000
    ];
    odd.prop_map(Nanos::from_nanos)
}

fn ratios() -> impl Strategy<Value = Option<f64>> {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, -3.0, 1e300, 5e-324];
    proptest::option::of(prop_oneof![proptest::sample::select(odd.to_vec()), any::<f64>()])
}

prop_compose! {
    fn odd_call()(
        names in proptest::array::uniform3(".{0,40}"),
        lengths in proptest::collection::vec(lengths(), 12),
        counts in proptest::array::uniform4(any::<u64>()),
        atoms in 0_usize..4,
        rule in 0_usize..4,
        log_ratio in ratios(),
    ) -> CallLimit {
        let [caller, callee, operation] = names;
        let at = |place: usize| lengths[place % lengths.len()];
        let [attempts, cut, part, whole] = counts;
        let of = Proportion { part, whole };
        let atoms = (0..atoms).map(|place| Atom {
            value: at(place), lo: at(place + 1), hi: at(place + 2),
            count: usize::try_from(part).unwrap_or(0), round: Some(at(place + 3)),
        });
        let estimate = Estimate { value: at(5), lo: None, hi: Some(at(6)), is_approximate: true };
        let quantile = |quantile| Some(Measured { quantile, estimate, n: 0 });
        CallLimit {
            call: Call {
                caller: (!caller.is_empty()).then(|| caller.into()),
                callee: (!callee.is_empty()).then(|| callee.into()),
                operation: operation.into(),
            },
            attempts,
            limit: Limit { cut, atoms: atoms.collect(), few: vec![at(7), at(8)], longest: at(9) },
            unheard: whole,
            answered: part,
            judged: Judged { rule: Rule::ALL[rule], n: 0, log_ratio, constant: Some(at(10)), budget: None },
            outlasting: Proportion::default(),
            same_elsewhere: usize::MAX,
            succeeded: (u64::MAX, 0),
            allowance: quantile(Quantile::P99_9),
            break_even: quantile(Quantile::P5),
            funding: Funding {
                deciles: vec![Decile { from: at(11), to: at(0), paid: of }; 3],
                break_even: Some(at(1)),
                all: of,
                with_less_than_allowance: Some(of),
                with_less_than_break_even: Some(Proportion { part: whole, whole: part }),
            },
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn odd_values_break_no_page(calls in proptest::collection::vec(odd_call(), 0..4)) {
        let classes = calls.iter().map(|call| ClassLimit {
            declared: (call.attempts, Some((call.limit.longest, call.limit.longest))),
            ..class("web GET /list", call.answered, call.limit.clone())
        });
        let calibration = Calibration { classes: classes.collect(), calls, is_sampled: false };
        for width in [40, 57, 80, 120, 240] {
            let text = told(&calibration, Format::Terminal, width);
            for line in text.lines() {
                prop_assert!(line.width() <= width, "{} > {width}: {line}", line.width());
            }
        }
        harmless::markdown(&told(&calibration, Format::Markdown, 0));
        serde_json::from_str::<Value>(&told(&calibration, Format::Json, 0)).unwrap();
        for format in [Format::Csv, Format::Html] {
            prop_assert!(!told(&calibration, format, 0).is_empty());
        }
    }
}

/// What was taken from traces, as `calibrate` writes it: of a class of the shop that declares no deadline,
/// and of calls that declare no timeout.
const CALIBRATED: &str = r#"
[[contract]]
name = "fulfilment orders process"
match = { service = "fulfilment", operation = "orders process" }
calibrated = true
deadline = "5s"

[[call]]
caller = "catalog"
callee = "search-index"
calibrated = true
timeout = "300ms"
attempt_allowance = "250ms"
break_even = "20ms"

[[call]]
caller = "fulfilment"
callee = "carrier"
calibrated = true
timeout = "6s"
attempt_allowance = "190ms"
break_even = "100ms"
"#;

/// A run on the shop by what was taken from traces.
fn by_calibrated(name: &str, args: &[&str]) -> String {
    let file = scratch(name).join("calibrated.toml");
    fs::write(&file, CALIBRATED).unwrap();
    let (verb, rest) = args.split_first().unwrap();
    let contract = file.to_str().unwrap();
    let ran = run(&[&[*verb, "fixtures/shop", "--contract", contract], rest].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.out
}

#[test]
fn what_rests_on_inference_says_so_on_every_page() {
    let text = by_calibrated("marks-terminal", &["report", "--width", "80"]);
    for mark in [
        "The deadlines of 12.2 % are inferred.",
        "By an inferred deadline: elapsed, least left (p1), late work/request, overgiven",
        "389 requests · deadline 5,000 ms (inferred) · ",
        "Deadline from: inferred 100 %",
        "Budget on the way in · inferred",
        "Left at each hop, when it was sent (else received) · inferred",
        "Attempts, and what was left when each began · inferred · measured needs",
        "Late and residual work · inferred",
        "Time given to hops, compared with what was left · inferred",
        "Time given to hops, compared with what was left · partly inferred",
        "more with an inferred one",
        "more with an inferred timeout",
        "more with a measured one",
    ] {
        assert!(text.contains(mark), "{mark}");
    }
    for (format, marks) in [
        ("markdown", ["deadline 5,000 ms (inferred)", "Budget on the way in · inferred"]),
        ("html", ["deadline 5,000 ms (inferred)", "the deadline (inferred)"]),
    ] {
        let text = by_calibrated(&format!("marks-{format}"), &["report", "--format", format]);
        for mark in marks {
            assert!(text.contains(mark), "{format}: {mark}");
        }
    }
}

#[test]
fn programs_are_told_which_numbers_rest_on_inference() {
    let text = by_calibrated("marks-json", &["report", "--format", "json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    let class = "fulfilment orders process";
    let rows = |id: &str| -> Vec<Value> {
        let sections = report["sections"].as_array().unwrap().iter();
        let own = sections.filter(|it| it["class"].is_null() || it["class"] == class);
        let tables = own.flat_map(|it| it["tables"].as_array().unwrap());
        let rows = tables.filter(|it| it["id"] == id).flat_map(|it| it["rows"].as_array().unwrap());
        rows.cloned().collect()
    };
    let one = |id: &str, key: &str, value: &str| {
        rows(id).into_iter().find(|row| row[key] == value).unwrap_or_else(|| panic!("{id} {value}"))
    };
    assert!(rows("summary").iter().all(|row| row["class"] != class));
    assert_eq!(one("summary_inferred", "class", class)["inferred_deadline"]["value"], 389);
    assert_eq!(one("deadline_sources", "source", "inferred")["requests"]["value"], 389);
    let grant = one("grants", "callee", "carrier");
    assert_eq!(
        (&grant["grant_kind"], &grant["inferred"]["value"]),
        (&"inferred".into(), &427.into())
    );
    assert_eq!(one("remaining", "callee", "carrier")["left_by_inferred"]["value"], 427);
    assert_eq!(one("attempts", "ordinal", "2")["allowance_source"], "measured");
    for finding in [rows("overgrants"), rows("findings")].concat() {
        assert_eq!(finding["evidence"], "inferred", "{finding}");
    }
    // What nobody declared is no evidence.
    let have = |evidence: &str| one("coverage", "evidence", evidence)["have"]["value"].clone();
    assert_eq!(have("deadlines"), 2_800);
    assert_eq!(have("inferred_deadlines"), 389);
    assert_eq!(
        (have("inferred_timeouts"), have("measured_allowances")),
        (1_141.into(), 1_141.into())
    );
    let plain = run(&["report", "fixtures/shop", "--format", "json", "--declared-only"]).out;
    let plain: Value = serde_json::from_str(&plain).unwrap();
    let of_plain = |evidence: &str| {
        let sections = plain["sections"].as_array().unwrap();
        let tables = sections.iter().flat_map(|it| it["tables"].as_array().unwrap());
        let mut rows = tables.flat_map(|it| it["rows"].as_array().unwrap());
        rows.find(|row| row["evidence"] == evidence).unwrap()["have"]["value"].clone()
    };
    for evidence in ["grants", "allowances"] {
        assert_eq!(have(evidence), of_plain(evidence), "{evidence}");
    }
}

#[test]
fn explain_says_which_limits_are_inferred() {
    let findings = by_calibrated("marks-findings", &["findings", "--format", "json"]);
    let findings: Value = serde_json::from_str(&findings).unwrap();
    let rows = findings["sections"][0]["tables"][0]["rows"].as_array().unwrap();
    let at_carrier = |code: &str| {
        let mut own = rows.iter().filter(|row| row["code"] == code);
        own.find(|row| row["callee"] == "carrier").unwrap()
    };
    let reset = at_carrier("timeout-reset");
    assert_eq!(
        (&reset["evidence"], &reset["grant_keys"]),
        (&"inferred".into(), &"inferred".into())
    );
    let trace = reset["traces"].as_str().unwrap().split(' ').next().unwrap();
    let text = by_calibrated("marks-explain", &["explain", "--trace", trace, "--width", "240"]);
    for mark in [
        " of 5,000 ms (inferred): ",
        "┊ the deadline (inferred)",
        "reset: timeout inferred",
        "Nothing that was traced: 5,000 ms are inferred",
        "origin: 5,000 ms (inferred)",
        "sent on, at most (inferred): 6,000 ms",
        "(measured)",
        "(inferred: attempts of its kind are cut off after that long;",
        "Timeouts are inferred at ",
    ] {
        assert!(text.contains(mark), "{mark}\n{text}");
    }
    assert!(!text.contains("given by inferred"), "no attribute is called so");
}
