//! The contract that a calibration comes to: what holds in it, and what is only said.

use dwindle::calibrate::{
    Atom, Calibration, CallLimit, ClassLimit, CutWith, Funding, Judged, Limit, Measured, Rule,
    contract_text,
};
use dwindle::contract::ContractFile;
use dwindle::distributions::{Call, Estimate};
use dwindle::stats::{Proportion, Quantile};
use dwindle::units::Nanos;
use proptest::prelude::*;

use crate::support::harmless;

fn ms(millis: i64) -> Nanos {
    Nanos::from_millis(millis)
}

fn us(micros: i64) -> Nanos {
    Nanos::from_nanos(micros * 1_000)
}

fn measured(quantile: Quantile, value: Nanos, n: usize) -> Measured {
    let estimate = Estimate {
        value,
        lo: Some(value - us(100)),
        hi: Some(value + us(100)),
        is_approximate: false,
    };
    Measured { quantile, estimate, n }
}

/// 40 of 1,200 attempts cut off at 250 ms, of which nothing else is known.
fn call() -> CallLimit {
    let atom = Atom {
        value: us(250_200),
        lo: us(249_800),
        hi: us(250_600),
        count: 38,
        round: Some(ms(250)),
    };
    CallLimit {
        call: Call {
            caller: Some("orders".into()),
            callee: Some("stock".into()),
            operation: "Reserve".into(),
        },
        attempts: 1_200,
        limit: Limit { cut: 40, atoms: vec![atom], few: Vec::new(), longest: ms(256) },
        unheard: 0,
        answered: 0,
        judged: Judged {
            rule: Rule::NotEnoughEvidence,
            n: 40,
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

fn judged(rule: Rule) -> CallLimit {
    let judged =
        Judged { rule, n: 40, log_ratio: Some(6.4), constant: Some(us(250_200)), budget: None };
    CallLimit { judged, same_elsewhere: 2, ..call() }
}

/// 500 requests, of which nothing is known.
fn class() -> ClassLimit {
    ClassLimit {
        class: "web GET /list".into(),
        service: "web".into(),
        operation: "GET /list".into(),
        requests: 500,
        limit: Limit { cut: 0, atoms: Vec::new(), few: Vec::new(), longest: ms(812) },
        outlasting: Proportion { part: 0, whole: 469 },
        cut_with: None,
        masked: (0, None),
        declared: (0, None),
        returned: 3,
        reserve: None,
    }
}

/// 30 requests cut off at two seconds.
fn cut_class() -> ClassLimit {
    let atom =
        Atom { value: ms(2_001), lo: ms(1_998), hi: ms(2_003), count: 30, round: Some(ms(2_000)) };
    let limit = Limit { cut: 31, atoms: vec![atom], few: Vec::new(), longest: ms(2_020) };
    ClassLimit { limit, ..class() }
}

fn text_of(classes: Vec<ClassLimit>, calls: Vec<CallLimit>) -> String {
    contract_text(&Calibration { classes, calls, is_sampled: false })
}

/// The text, and what holds in it.
fn written(classes: Vec<ClassLimit>, calls: Vec<CallLimit>) -> (String, ContractFile) {
    let text = text_of(classes, calls);
    let file =
        ContractFile::parse("written", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (text, file)
}

#[test]
fn a_contract_says_what_each_value_rests_on() {
    let needs = CallLimit {
        succeeded: (1_160, 3),
        allowance: Some(measured(Quantile::P95, us(81_234), 1_160)),
        break_even: Some(measured(Quantile::P5, us(4_128), 1_160)),
        ..judged(Rule::Fixed)
    };
    let (returned, reserve) = (470, Some(measured(Quantile::P95, us(12_345), 470)));
    let other = ClassLimit { class: "web GET /other".into(), ..class() };
    let (text, _) =
        written(vec![ClassLimit { returned, reserve, ..cut_class() }, other], vec![needs, call()]);
    insta::assert_snapshot!("written", text);
}

#[test]
fn only_what_is_a_constant_becomes_a_timeout() {
    let timeout = |call: CallLimit| {
        let (text, file) = written(vec![], vec![call]);
        let held = file.calls.first().map(|call| (call.timeout, call.propagates, call.calibrated));
        (held, text.contains("\n#timeout = \"250ms\"\n"))
    };
    assert_eq!(timeout(judged(Rule::Fixed)), (Some((Some(ms(250)), false, true)), false));
    assert_eq!(timeout(judged(Rule::MinOfBoth)), (Some((Some(ms(250)), true, true)), false));
    assert_eq!(timeout(judged(Rule::NotEnoughEvidence)), (None, true));
    assert_eq!(timeout(judged(Rule::Propagated)), (None, false));
}

#[test]
fn a_value_without_a_round_number_has_no_more_digits_than_its_interval_allows() {
    let mut call = judged(Rule::Fixed);
    let atom =
        Atom { value: us(137_214), lo: us(136_900), hi: us(137_400), count: 38, round: None };
    call.limit.atoms = vec![atom];
    call.judged.constant = Some(us(137_214));
    let (_, file) = written(vec![], vec![call]);
    assert_eq!(file.calls[0].timeout, Some(ms(137)));
}

#[test]
fn allowances_are_rounded_up_and_break_even_down() {
    let call = CallLimit {
        allowance: Some(measured(Quantile::P95, Nanos::from_nanos(81_234_567), 60)),
        break_even: Some(measured(Quantile::P5, Nanos::from_nanos(4_128_999), 60)),
        ..call()
    };
    let (_, file) = written(vec![], vec![call]);
    assert_eq!(file.calls[0].attempt_allowance, Some(us(81_300)));
    assert_eq!(file.calls[0].break_even, Some(us(4_120)));
    assert_eq!(file.calls[0].timeout, None);
}

#[test]
fn a_deadline_is_told_only_where_requests_themselves_end_at_it() {
    let deadline = |class: ClassLimit| {
        let (text, file) = written(vec![class], vec![]);
        (file.contracts[0].deadline, text.contains("\n#deadline = \"2s\"\n"))
    };
    assert_eq!(deadline(cut_class()), (Some(ms(2_000)), false));
    // What they waited for was cut off after a constant.
    let cut_with = Some(CutWith { call: call().call, is_constant: true, requests: 28 });
    assert_eq!(deadline(ClassLimit { cut_with, ..cut_class() }), (None, true));
    // Two of a hundred took longer and were answered.
    let longer = |part, whole| Proportion { part, whole };
    assert_eq!(deadline(ClassLimit { outlasting: longer(10, 469), ..cut_class() }), (None, true));
    // The same of a sample of the others.
    let of_sample = |part| {
        let outlasting = longer(part, 8_192);
        deadline(ClassLimit { requests: 1_000_000, outlasting, ..cut_class() }).0
    };
    assert_eq!((of_sample(60), of_sample(100)), (Some(ms(2_000)), None));
    let mut few = cut_class();
    few.limit.atoms[0].count = 9;
    assert_eq!(deadline(few), (None, true));
    // Some declare one: that is no deadline of those that do not.
    let declared = (10, Some((ms(700), ms(700))));
    assert_eq!(deadline(ClassLimit { declared, ..cut_class() }), (None, false));
}

#[test]
fn declared_deadlines_are_told_and_hold_where_all_are_alike() {
    let declared = |count, least, most| {
        let class = ClassLimit { declared: (count, Some((least, most))), ..class() };
        let (text, file) = written(vec![class], vec![]);
        (file.contracts[0].deadline, text.replace("\n# ", " "))
    };
    assert_eq!(declared(500, ms(796), ms(800)).0, Some(ms(800)));
    let (deadline, text) = declared(500, ms(500), ms(800));
    assert_eq!(deadline, None);
    assert!(
        text.contains("Of 500 requests all declare a deadline: from 500ms to 800ms."),
        "{text}"
    );
    let (deadline, text) = declared(20, ms(800), ms(800));
    assert_eq!(deadline, None);
    assert!(text.contains("Of 500 requests 20 declare a deadline: 800ms."), "{text}");
}

#[test]
fn a_reserve_that_no_deadline_leaves_room_for_is_only_said() {
    let reserve = |value, class: ClassLimit| {
        let reserve = Some(measured(Quantile::P95, value, 40));
        let (text, file) = written(vec![ClassLimit { reserve, ..class }], vec![]);
        (file.contracts[0].return_reserve, text.contains("\n#return_reserve = "))
    };
    assert_eq!(reserve(ms(12), cut_class()), (ms(12), false));
    assert_eq!(reserve(ms(2_000), cut_class()), (Nanos::ZERO, true));
    let declared = (3, Some((ms(10), ms(900))));
    assert_eq!(reserve(ms(12), ClassLimit { declared, ..class() }), (Nanos::ZERO, true));
}

#[test]
fn few_that_were_cut_off_are_told_one_by_one() {
    let told = |durations: &[Nanos]| {
        let mut few = call();
        few.limit.atoms.clear();
        few.limit.cut = durations.len() as u64;
        few.limit.few = durations.to_vec();
        text_of(vec![], vec![few]).replace("\n# ", " ")
    };
    let one = told(&[us(15_000_906)]);
    assert!(one.contains("was cut off, after 15.0009s: just above 15s; one says little."), "{one}");
    let two = told(&[us(250_100), us(251_900)]);
    assert!(two.contains("250.1ms and 251.9ms: all just above 250ms; 2 say little."), "{two}");
    let apart = told(&[us(32_553), us(32_753), us(38_661)]);
    assert!(apart.contains("and 38.661ms: at no one value; 3 say little."), "{apart}");
    let before = told(&[us(14_999_000)]);
    assert!(before.contains("was cut off, after 14.999s: one says little."), "{before}");
}

#[test]
fn who_calls_nobody_knows_whom_speaks_for_no_one_else() {
    let needs = |callee: Option<&str>, allowance| CallLimit {
        call: Call { callee: callee.map(Into::into), ..call().call },
        allowance: Some(measured(Quantile::P95, allowance, 60)),
        ..call()
    };
    let (_, alone) = written(vec![], vec![needs(None, ms(50))]);
    assert_eq!(alone.calls[0].attempt_allowance, Some(ms(50)));
    assert!(alone.calls[0].callee.is_none());
    let (_, beside) = written(vec![], vec![needs(None, ms(50)), needs(Some("stock"), ms(80))]);
    assert_eq!(beside.calls.len(), 1);
    assert_eq!(beside.calls[0].attempt_allowance, Some(ms(80)));
}

#[test]
fn what_is_proposed_can_be_taken_by_removing_the_mark() {
    let blank = ClassLimit { class: " ".into(), ..cut_class() };
    let text = text_of(vec![cut_class(), blank], vec![call()]);
    let taken: Vec<&str> = text
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(proposed) if !proposed.starts_with(' ') => proposed,
            _ => line,
        })
        .filter(|line| *line != "name = \" \"")
        .collect();
    let named =
        taken.join("\n").replacen("[[contract]]\nmatch", "[[contract]]\nname = \"x\"\nmatch", 1);
    let file = ContractFile::parse("taken", &named).unwrap();
    assert_eq!((file.contracts.len(), file.calls.len()), (2, 1));
    assert_eq!(file.calls[0].timeout, Some(ms(250)));
}

#[test]
fn sampling_is_told() {
    let sampled = Calibration { is_sampled: true, ..Calibration::default() };
    assert!(contract_text(&sampled).contains("sampling"));
    assert!(!contract_text(&Calibration::default()).contains("sampling"));
}

/// Names such as nobody should use.
fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        proptest::sample::select(harmless::hostile_names()),
        "[\\*\\?\\[\\]!\"'\\\\#=\n\r\t\u{0}\u{7f}\u{85}\u{202e}\u{feff}a-c{}-]{0,12}",
    ]
}

/// Lengths that are likely, and those that are not.
fn lengths() -> impl Strategy<Value = Nanos> {
    prop_oneof![-5_i64..5, 1_i64..20_000_000_000, any::<i64>()].prop_map(Nanos::from_nanos)
}

fn limits() -> impl Strategy<Value = Limit> {
    let atom =
        (lengths(), lengths(), lengths(), any::<bool>()).prop_map(|(value, lo, hi, is_round)| {
            Atom { value, lo, hi, count: 30, round: is_round.then_some(value) }
        });
    let atoms = proptest::collection::vec(atom, 0..3);
    let few = proptest::collection::vec(lengths(), 0..4);
    (atoms, few, lengths()).prop_map(|(atoms, mut few, longest)| {
        few.sort_unstable();
        Limit { cut: 30, atoms, few, longest }
    })
}

fn quantiles() -> impl Strategy<Value = Option<Measured>> {
    proptest::option::of(lengths().prop_map(|value| measured(Quantile::P95, value, 50)))
}

proptest! {
    /// Whatever names and lengths there are, the text is a contract that speaks of these names and of
    /// no others, and obeys none of them.
    #[test]
    fn whatever_is_written_is_read(
        (caller, callee, operation) in (
            proptest::option::of(hostile()),
            proptest::option::of(hostile()),
            hostile(),
        ),
        (limit, rule, constant) in (
            limits(),
            proptest::sample::select(Rule::ALL),
            proptest::option::of(lengths()),
        ),
        (allowance, break_even, reserve) in (quantiles(), quantiles(), quantiles()),
        (service, name) in (hostile(), hostile()),
        declared in proptest::option::of((lengths(), lengths())),
        alike in any::<bool>(),
    ) {
        let of = Call {
            caller: caller.as_deref().map(Into::into),
            callee: callee.as_deref().map(Into::into),
            operation: operation.as_str().into(),
        };
        let judged = Judged { rule, n: 30, log_ratio: Some(f64::INFINITY), constant, budget: None };
        let call = CallLimit {
            call: of.clone(), limit: limit.clone(), judged, allowance, break_even, ..call()
        };
        let class = ClassLimit {
            class: format!("{service} {name}").as_str().into(),
            service: service.as_str().into(),
            operation: name.as_str().into(),
            limit,
            cut_with: Some(CutWith { call: of, is_constant: false, requests: 3 }),
            declared: (500, declared.map(|(one, other)| (one, if alike { one } else { one.max(other) }))),
            reserve,
            ..class()
        };
        let text = text_of(vec![class], vec![call]);
        harmless::plain(&text);
        let file = ContractFile::parse("written", &text);
        prop_assert!(file.is_ok(), "{:?}\n{text}", file.err());
        let file = file.unwrap();
        for terms in &file.calls {
            let caller = caller.as_deref().unwrap_or("");
            prop_assert!(terms.matches(caller, callee.as_deref(), &operation), "{text}");
            let other = format!("{operation}x");
            prop_assert!(!terms.matches(caller, callee.as_deref(), &other), "{text}");
        }
        for contract in &file.contracts {
            prop_assert!(contract.matches.service.as_ref().unwrap().matches(&service), "{text}");
            prop_assert!(contract.matches.operation.as_ref().unwrap().matches(&name), "{text}");
        }
    }
}
