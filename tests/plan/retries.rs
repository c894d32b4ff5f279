//! Which attempts fit.

use dwindle::plan::amplification::{Amplification, Clock, Course, Layers};
use dwindle::plan::retries::{Reason, Retries};
use dwindle::units::Nanos;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{json, plan, refused};

const MS: i64 = 1_000_000;

fn ms(millis: i64) -> Nanos {
    Nanos::from_millis(millis)
}

fn defaults() -> Retries {
    Retries {
        deadline: ms(1_000),
        elapsed: ms(230),
        reserve: ms(80),
        attempt: ms(150),
        backoff: vec![ms(100), ms(200)],
        max_attempts: 3,
    }
}

/// An attempt is admitted only if used + preceding backoff + full allowance <= available.
fn by_the_plain_formula(retries: &Retries) -> u32 {
    let available = (retries.deadline - retries.elapsed - retries.reserve).as_nanos().max(0);
    let (mut used, mut admitted) = (0, 0);
    while admitted < retries.max_attempts {
        let index = (admitted as usize).saturating_sub(1).min(retries.backoff.len().max(1) - 1);
        let wait = retries.backoff.get(index).filter(|_| admitted > 0);
        let needed = wait.map_or(0, |wait| wait.as_nanos()) + retries.attempt.as_nanos();
        if used + needed > available {
            break;
        }
        used += needed;
        admitted += 1;
    }
    admitted
}

#[test]
fn of_690_ms_two_attempts_use_400_and_the_third_would_need_750() {
    let told = json(&["retries"]);
    let number = |name: &str| told[name].as_i64().unwrap();
    assert_eq!(number("available_ns"), 690 * MS);
    assert_eq!(number("attempts_admitted"), 2);
    assert_eq!(number("used_ns"), 400 * MS);
    assert_eq!(number("unused_ns"), 290 * MS);
    let step = |attempt: i64, backoff: i64, before: i64, after: i64, reason: &str| {
        json!({
            "attempt": attempt,
            "backoff_ns": backoff * MS,
            "allowance_ns": 150 * MS,
            "used_before_ns": before * MS,
            "used_after_ns": after * MS,
            "admitted": reason == "admitted",
            "reason": reason,
        })
    };
    let steps = json!([
        step(1, 0, 0, 150, "admitted"),
        step(2, 100, 150, 400, "admitted"),
        step(3, 200, 400, 750, "allowance_exceeds_available"),
    ]);
    assert_eq!(told["steps"], steps);
    let people = plan(&["retries"]).out;
    assert!(people.contains("would need 750 ms of 690"), "{people}");
}

#[test]
fn the_discontinuities_of_both_sweeps_are_named() {
    let told = json(&["retries"]);
    let limits = |measure: &str, lengths: [i64; 3]| -> Value {
        let limit = |(index, length): (usize, i64)| json!({ "attempts": index + 1, (measure): length * MS });
        lengths.into_iter().enumerate().map(limit).collect()
    };
    assert_eq!(told["elapsed_discontinuities"], limits("elapsed_ns", [770, 520, 170]));
    assert_eq!(told["allowance_discontinuities"], limits("allowance_ns", [690, 295, 130]));
}

#[test]
fn a_sweep_tells_every_point_with_both_ends() {
    let told = json(&["retries", "--elapsed-sweep", "120ms..920ms/50ms"]);
    let points = told["elapsed_sweep"].as_array().unwrap();
    let admitted: Vec<i64> =
        points.iter().map(|it| it["attempts_admitted"].as_i64().unwrap()).collect();
    assert_eq!(admitted, [3, 3, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 0, 0, 0]);
    assert_eq!(points[1]["elapsed_ns"], 170 * MS);
    assert_eq!(points.last().unwrap()["elapsed_ns"], 920 * MS);
    let whole = json(&["retries"]);
    let of = |name: &str| whole[name].as_array().unwrap().clone();
    assert_eq!(of("elapsed_sweep").len(), 21);
    assert_eq!(of("elapsed_sweep").last().unwrap()["elapsed_ns"], 1_000 * MS);
    // Up to what is available, and not from nothing.
    assert_eq!(of("allowance_sweep").first().unwrap()["allowance_ns"], 50 * MS);
    assert_eq!(of("allowance_sweep").last().unwrap()["allowance_ns"], 650 * MS);
}

#[test]
fn a_maximum_is_a_ceiling_and_each_refusal_says_which_constraint() {
    let last = |args: &[&str]| {
        let told = json(&[&["retries"], args].concat());
        told["steps"].as_array().unwrap().last().unwrap().clone()
    };
    // The second would fit, and may not be made.
    let refused = last(&["--max-attempts", "1"]);
    assert_eq!((&refused["attempt"], &refused["reason"]), (&json!(2), &json!("max_attempts")));
    assert_eq!(refused["used_after_ns"], 400 * MS);
    // Both refuse the third: the budget is named.
    let refused = last(&["--max-attempts", "2"]);
    let reason = json!("allowance_exceeds_available");
    assert_eq!((&refused["attempt"], &refused["reason"]), (&json!(3), &reason));
    // A hundred may be made, two fit.
    let refused = last(&["--max-attempts", "100"]);
    assert_eq!((&refused["attempt"], &refused["reason"]), (&json!(3), &reason));
    let people = plan(&["retries", "--max-attempts", "1"]).out;
    assert!(people.contains("Attempt 2 would fit") && people.contains("at most 1 may"), "{people}");
}

#[test]
fn after_the_deadline_nothing_fits_and_people_are_told() {
    let told = json(&["retries", "--elapsed", "1200ms"]);
    assert_eq!((&told["available_ns"], &told["attempts_admitted"]), (&json!(0), &json!(0)));
    assert_eq!(told["allowance_sweep"], json!([]));
    let people = plan(&["retries", "--elapsed", "1200ms"]).out;
    assert!(people.contains("passed 200 ms before"), "{people}");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let wrong: &[(&[&str], &str)] = &[
        (&["--attempt", "0ms"], "--attempt"),
        (&["--deadline", "0s"], "--deadline"),
        (&["--reserve", "1s"], "--reserve"),
        (&["--max-attempts", "0"], "--max-attempts"),
        (&["--max-attempts", "1000000"], "--max-attempts"),
        (&["--elapsed-sweep", "0ms..1s/1us"], "at most 10000 points; these are 1000001"),
        (&["--elapsed-sweep", "0ms..1s/0ms"], "step"),
        (&["--elapsed-sweep", "1s..0ms/1ms"], "FROM"),
        (&["--elapsed-sweep", "0ms-1s"], "FROM..TO/STEP"),
        (&["--allowance-sweep", "0ms..1s/50ms"], "--allowance-sweep"),
        (&["--amplification", "1000,1000,2"], "product"),
        (&["--amplification", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"], "layers"),
        (&["--amplification", "3,0"], "most attempts"),
        (&["--backoff", ""], "--backoff"),
        (&["--attempt", "-5ms"], "expected a duration"),
        (&["--backoff", "-5ms,1ms"], "expected a duration"),
        (&["--max-attempts", "-1"], "-1 is not in 1..=1000"),
        (&["--elapsed-sweep", "-1ms..1s/1ms"], "expected a duration"),
    ];
    for (args, said) in wrong {
        let error = refused(&[&["retries"], *args].concat());
        assert!(error.contains(said), "{args:?}: {error}");
    }
}

/// Lengths near what 64 bits hold are counted exactly, and attempts that people mean in jest fast.
#[test]
fn the_longest_lengths_and_the_most_attempts_neither_overflow_nor_hang() {
    let retries = Retries {
        deadline: Nanos::MAX,
        elapsed: Nanos::ZERO,
        reserve: Nanos::ZERO,
        attempt: Nanos::from_nanos(i64::MAX / 2),
        backoff: vec![Nanos::MAX],
        max_attempts: u32::MAX,
    };
    assert_eq!(retries.admitted(retries.available()), 1);
    let plan = retries.plan();
    assert_eq!(plan.steps.last().unwrap().reason, Reason::AllowanceExceedsAvailable);
    let tiny = Retries { attempt: Nanos::from_nanos(1), backoff: Vec::new(), ..retries };
    assert_eq!(tiny.admitted(Nanos::MAX), u32::MAX);
    assert_eq!(tiny.admitted(Nanos::from_nanos(1_000_000)), 1_000_000);
    let longest = format!("{}ns", i64::MAX);
    let told =
        json(&["retries", "--deadline", &longest, "--attempt", &longest, "--backoff", &longest]);
    assert_eq!(told["attempts_admitted"], 0);
    let told = json(&["retries", "--deadline", &longest, "--amplification", "3,3"]);
    assert_eq!(told["attempts_admitted"], 3);
}

/// What 64 bits cannot hold is told as text, and people read all of it.
#[test]
fn what_an_attempt_would_need_is_exact_however_long() {
    let deadline = format!("{}ns", i64::MAX);
    let args = ["retries", "--deadline", &deadline, "--attempt", "5000000000000000000ns"];
    let args = [&args[..], &["--backoff", "0ms", "--elapsed", "0ms", "--reserve", "0ns"]].concat();
    let told = json(&args);
    assert_eq!(told["steps"][1]["used_before_ns"], 5_000_000_000_000_000_000_i64);
    assert_eq!(told["steps"][1]["used_after_ns"], "10000000000000000000");
    let people = plan(&args).out;
    assert!(
        people.contains("would need 10,000,000,000,000 ms of 9,223,372,036,854.775807"),
        "{people}"
    );
    let csv = plan(&[&args[..], &["--format", "csv"]].concat()).out;
    assert!(csv.contains("used_after_ns,,10000000000000000000,ns"), "{csv}");
}

#[test]
fn many_attempts_are_told_in_groups_of_digits() {
    let args = ["retries", "--max-attempts", "1000", "--attempt", "1us", "--backoff", "0ms"];
    let people = plan(&args).out;
    assert!(people.contains("Attempt 1,001 would fit"), "{people}");
    assert!(people.contains("at most 1,000 may be made"), "{people}");
    assert!(people.contains("refused: at most 1,000"), "{people}");
}

#[test]
fn layers_stay_apart_at_40_columns() {
    let people = plan(&["retries", "--amplification", "3,3,3", "--width", "40"]).out;
    for layer in ["layer 1", "layer 2", "layer 3"] {
        assert!(people.contains(layer), "{layer} in {people}");
    }
}

fn courses(layers: &str, retries: &Retries) -> Vec<Course> {
    let layers = Layers::parse(layers).unwrap();
    Amplification { layers: &layers, retries }.courses()
}

#[test]
fn three_layers_of_three_make_27_attempts_which_a_shared_deadline_cuts_to_3() {
    let [none, shared, restarted] = courses("3,3,3", &defaults()).try_into().unwrap();
    // 27 × 150 ms, and (1 + 3 + 9) × 300 ms of waits.
    assert_eq!(
        (none.clock, none.attempts, none.ends_ns),
        (Clock::None, vec![3, 9, 27], 7_950_000_000)
    );
    // 150, then 100 + 150 by the last layer, whose third would end at 750; then 100 + 150 by the layer above.
    let course = (shared.attempts, shared.late, shared.ends_ns);
    assert_eq!(course, (vec![1, 2, 3], 0, 650_000_000));
    // The layer above retries at 400, and the last one then counts its 690 from 500 on.
    let course = (restarted.attempts, restarted.late, restarted.ends_ns);
    assert_eq!(course, (vec![1, 2, 4], 1, 900_000_000));
    let told = json(&["retries", "--amplification", "3,3,3"]);
    assert_eq!(told["amplification"]["worst_case"], 27);
    let leaves = |index: usize| told["amplification"]["courses"][index]["leaf_attempts"].clone();
    assert_eq!([leaves(0), leaves(1), leaves(2)], [json!(27), json!(3), json!(4)]);
}

proptest! {
    /// Without a deadline all attempts are made, one after another; with a shared one none ends late.
    #[test]
    fn layers_multiply_and_a_shared_deadline_holds(
        retries in any_retries(),
        layers in proptest::collection::vec(1..5_u32, 1..5),
    ) {
        let text: Vec<String> = layers.iter().map(ToString::to_string).collect();
        let [none, shared, restarted] = courses(&text.join(","), &retries).try_into().unwrap();
        let (mut calls, mut waits) = (1, 0);
        for (begun, most) in none.attempts.iter().zip(&layers) {
            let pauses = (2..=*most).map(|attempt| retries.backoff_before(attempt).as_nanos());
            waits += calls * i128::from(pauses.sum::<i64>());
            calls *= i128::from(*most);
            prop_assert_eq!(i128::from(*begun), calls);
        }
        prop_assert_eq!(none.ends_ns, calls * i128::from(retries.attempt.as_nanos()) + waits);
        prop_assert_eq!(shared.late, 0);
        prop_assert!(shared.ends_ns <= i128::from(retries.available().as_nanos()));
        // A shared clock is never ahead of one that was restarted.
        prop_assert!(shared.attempts.last() <= restarted.attempts.last());
        prop_assert!(restarted.attempts.last() <= none.attempts.last());
    }
}

/// One layer is the plan itself.
#[test]
fn a_single_layer_begins_what_the_plan_admits() {
    for elapsed in (0..1_000).step_by(10) {
        let retries = Retries { elapsed: ms(elapsed), ..defaults() };
        let admitted = u64::from(retries.plan().attempts_admitted);
        let courses = courses("3", &retries);
        assert_eq!(
            courses.iter().map(|it| it.attempts[0]).collect::<Vec<_>>(),
            [3, admitted, admitted]
        );
    }
}

#[test]
fn people_read_it_at_80_and_120_columns_and_programs_as_csv() {
    let args = ["retries", "--amplification", "3,3,3"];
    for width in ["80", "120"] {
        let text = plan(&[&args[..], &["--width", width]].concat()).out;
        assert!(text.lines().all(|line| line.chars().count() <= width.parse().unwrap()), "{text}");
        insta::assert_snapshot!(format!("retries-{width}"), without_commit(&text));
    }
    let csv =
        plan(&[&args[..], &["--format", "csv", "--elapsed-sweep", "0s..1s/500ms"]].concat()).out;
    insta::assert_snapshot!("retries-csv", csv);
    let html = plan(&[&args[..], &["--format", "html"]].concat()).out;
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("plan retries --amplification"));
    assert!(plan(&["retries", "--format", "markdown"]).out.contains("| 770 |"));
}

/// The first line names the commit.
pub(super) fn without_commit(text: &str) -> String {
    let (_, rest) = text.split_once('\n').unwrap();
    rest.to_owned()
}

/// The sweeps' discontinuities hold against the formula as the issue writes it.
fn any_retries() -> impl Strategy<Value = Retries> {
    let length = |most: i64| (0..most).prop_map(Nanos::from_nanos);
    let backoff = proptest::collection::vec(length(80), 0..5);
    (1..2_000_i64, length(2_500), 0..1_000_i64, 1..300_i64, backoff, 1..12_u32).prop_map(
        |(deadline, elapsed, reserve, attempt, backoff, max_attempts)| Retries {
            deadline: Nanos::from_nanos(deadline),
            elapsed,
            reserve: Nanos::from_nanos(reserve % deadline),
            attempt: Nanos::from_nanos(attempt),
            backoff,
            max_attempts,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_admitted_is_what_the_plain_formula_admits(retries in any_retries()) {
        let plan = retries.plan();
        prop_assert_eq!(plan.attempts_admitted, by_the_plain_formula(&retries));
        prop_assert_eq!(plan.used + plan.unused, plan.available);
        let (refused, admitted) = plan.steps.split_last().unwrap();
        prop_assert!(refused.reason != Reason::Admitted);
        prop_assert!(admitted.iter().all(|step| step.reason == Reason::Admitted));
        prop_assert_eq!(admitted.len(), plan.attempts_admitted as usize);
        let fits = refused.used_after_ns <= i128::from(plan.available.as_nanos());
        prop_assert_eq!(refused.reason == Reason::MaxAttempts, fits);
    }

    #[test]
    fn discontinuities_are_where_the_plain_formula_falls(retries in any_retries()) {
        let one = Nanos::from_nanos(1);
        let elapsed = |elapsed| by_the_plain_formula(&Retries { elapsed, ..retries.clone() });
        let limits = retries.elapsed_discontinuities();
        for limit in &limits {
            prop_assert!(elapsed(limit.at) >= limit.attempts);
            prop_assert!(elapsed(limit.at + one) < limit.attempts);
        }
        prop_assert_eq!(limits.len(), elapsed(Nanos::ZERO) as usize);
        let allowance = |attempt| by_the_plain_formula(&Retries { attempt, ..retries.clone() });
        let limits = retries.allowance_discontinuities();
        for limit in &limits {
            prop_assert!(allowance(limit.at) >= limit.attempts);
            prop_assert!(allowance(limit.at + one) < limit.attempts);
        }
        prop_assert_eq!(limits.len(), allowance(one) as usize);
    }
}
