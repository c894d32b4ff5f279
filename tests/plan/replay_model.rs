//! Bounds of replay against the model, which knows what another policy would have done.

use std::collections::BTreeMap;

use dwindle::clocks::Offsets;
use dwindle::contract::Contract;
use dwindle::conventions::Conventions;
use dwindle::ingest::ingest_stream;
use dwindle::plan::model::{Configuration, Durations, Model, Regime, Run, Scenario, Service};
use dwindle::plan::policy::{CallPolicy, Policy};
use dwindle::plan::replay::{Amount, Range, Replay, Replayed, Truth};
use dwindle::reconstruct::{self, courses};
use dwindle::units::Nanos;

use super::chance::Chance;

/// A service without transit: under `propagate` each hop would know a little less than was left.
fn service(number: u64, arms: Vec<Vec<String>>, own: Option<Nanos>) -> Service {
    Service { name: format!("s{number}"), own, transit: Nanos::ZERO, arms }
}

/// Flat and nested topologies with durations that hang on nothing but where they are needed.
fn scenario(chance: &mut Chance, seed: u64) -> Scenario {
    let threshold = chance.between(40, 300);
    let services = chance.between(2, 5);
    let services = (0..services).map(|number| {
        let is_nested = number + 1 < services && (number == 0 || chance.one_in(2));
        let arms = if is_nested { chance.between(1, 2) } else { 0 };
        let arms = (0..arms).map(|_| {
            let steps = 0..chance.between(1, 2);
            steps.map(|_| format!("s{}", chance.between(number + 1, services - 1))).collect()
        });
        let arms = arms.collect();
        let own = (number == 0).then(|| chance.nanos(0, threshold / 8));
        service(number, arms, own)
    });
    let services = services.collect();
    let durations = match chance.between(0, 1) {
        0 => Durations::Between(Nanos::from_millis(1), chance.nanos(2, threshold / 2)),
        _ => Durations::Pick(vec![(chance.nanos(1, 20), 4), (chance.nanos(20, 2 * threshold), 1)]),
    };
    Scenario {
        name: "random".to_owned(),
        seed,
        requests: 4,
        threshold: Nanos::from_millis(i64::try_from(threshold).unwrap()),
        base_per_s: None,
        services,
        regimes: vec![Regime { name: "any".to_owned(), durations, services: Vec::new() }],
        configurations: vec![measured(configuration(chance, "measured", threshold))],
    }
}

fn configuration(chance: &mut Chance, name: &str, threshold: u64) -> Configuration {
    let waits = chance.between(0, 2);
    Configuration {
        name: name.to_owned(),
        timeout: chance.nanos(5, threshold + 50),
        max_attempts: u32::try_from(chance.between(1, 3)).unwrap(),
        backoff: (0..waits).map(|_| chance.nanos(0, 20)).collect(),
        retry_budget: None,
        propagate: chance.one_in(2),
        stop_on_cancel: chance.one_in(2),
        reject_unfundable: chance.one_in(4),
        return_reserve: Some(chance.nanos(0, threshold / 4)),
        hedge_after: chance.one_in(3).then(|| chance.nanos(1, threshold / 3)),
        calls: Vec::new(),
    }
}

/// A call that was refused before its first attempt leaves no trace: its caller is taken to have failed of
/// itself. So the measured policy refuses none.
fn measured(configuration: Configuration) -> Configuration {
    let hedge_after = configuration.hedge_after.filter(|after| *after < configuration.timeout);
    Configuration { propagate: false, reject_unfundable: false, hedge_after, ..configuration }
}

/// What of `measured` is done otherwise, sometimes nothing.
fn other(chance: &mut Chance, measured: &Configuration, threshold: u64) -> Configuration {
    let new = configuration(chance, "other", threshold);
    let old = measured.clone();
    // A policy file says nothing of hedges: calls are hedged that were, after the same time.
    if let Some(after) = old.hedge_after {
        let timeout = if new.timeout > after { new.timeout } else { old.timeout };
        let (name, propagate) = (new.name, new.propagate);
        return Configuration {
            name,
            timeout,
            propagate,
            stop_on_cancel: new.stop_on_cancel,
            ..old
        };
    }
    Configuration {
        name: new.name,
        timeout: if chance.one_in(2) { new.timeout } else { old.timeout },
        max_attempts: if chance.one_in(2) { new.max_attempts } else { old.max_attempts },
        backoff: if chance.one_in(2) { new.backoff } else { old.backoff },
        propagate: new.propagate,
        stop_on_cancel: if chance.one_in(2) { new.stop_on_cancel } else { old.stop_on_cancel },
        reject_unfundable: new.reject_unfundable,
        return_reserve: if chance.one_in(2) { new.return_reserve } else { old.return_reserve },
        ..old
    }
}

/// All that a configuration says, as a policy.
fn policy(of: &Configuration) -> Policy {
    let call = CallPolicy {
        timeout: Some(of.timeout),
        max_attempts: Some(of.max_attempts),
        backoff: Some(if of.backoff.is_empty() { vec![Nanos::ZERO] } else { of.backoff.clone() }),
        ..CallPolicy::default()
    };
    Policy {
        deadline: None,
        return_reserve: of.return_reserve,
        propagate: Some(of.propagate),
        stop_on_cancel: Some(of.stop_on_cancel),
        reject_unfundable: Some(of.reject_unfundable),
        call: vec![call],
    }
}

/// The requests of a run, by their traces, replayed by a policy.
fn replayed(run: &Run<'_>, policy: &Policy, conventions: &Conventions) -> Vec<Replayed> {
    let rules = reconstruct::Policy {
        contracts: Contract::parse_file("contract.toml", &run.contract()).unwrap(),
        ..reconstruct::Policy::default()
    };
    let documents = run.requests().map(|request| request.document().unwrap().to_string());
    let mut replay = Replay::new(policy);
    let mut told = Vec::new();
    for document in documents {
        let ingested = ingest_stream("traces", document.as_bytes(), conventions, &()).unwrap();
        for spans in ingested.partitions {
            courses(spans, &rules, &Offsets::default(), |course, strings| {
                told.push(replay.run(course, strings));
            });
        }
    }
    told
}

fn holds(range: Range, value: i64) -> bool {
    range.lo.as_nanos() <= value && range.hi.is_none_or(|hi| value <= hi.as_nanos())
}

fn sums(amount: Amount, value: i64) -> bool {
    amount.lo <= value && (amount.is_open || value <= amount.seen)
}

fn may(truth: Truth, is_so: bool) -> bool {
    if is_so { truth.may } else { !truth.must }
}

/// Scenario: random topologies and two policies; the model runs the same requests by both, which meet
/// the same durations. The traces of the first are replayed by the second.
/// Guarantee: what the model did by the second lies within the bounds; and the bounds are points for
/// a good part, so that this says something.
#[test]
fn what_the_other_policy_did_lies_within_the_bounds() {
    let conventions = Conventions::embedded().unwrap();
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 0..1_000 {
        let mut chance = Chance::of(seed);
        let mut scenario = scenario(&mut chance, seed);
        let threshold = u64::try_from(scenario.threshold.as_nanos()).unwrap() / 1_000_000;
        let second = other(&mut chance, &scenario.configurations[0], threshold);
        let policy = policy(&second);
        scenario.configurations.push(second);
        let model = Model::of(&scenario).unwrap();
        let runs = model.runs();
        let told = replayed(&runs[0], &policy, &conventions);
        for (number, (request, told)) in runs[1].requests().zip(&told).enumerate() {
            let truth = request.truth();
            let (is, bounds) = (&truth.request, &told.replayed);
            let is_ok = is.terminal_outcome == "completed";
            let checks = [
                ("latency", holds(bounds.latency, is.duration_ns)),
                ("completed", may(bounds.completed, is_ok)),
                ("in time", may(bounds.in_time.unwrap(), is.completed_before_deadline)),
                ("attempts", sums(bounds.attempts, i64::try_from(truth.attempts.len()).unwrap())),
                ("late", sums(bounds.late_work.unwrap(), is.late_work_ns)),
                ("residual", sums(bounds.residual_work, is.residual_work_after_cancel_ns)),
            ];
            *seen.entry(if told.is_exact() { "exact" } else { "open" }).or_default() += 1;
            let is_other = told.measured != told.replayed;
            *seen.entry(if is_other { "other" } else { "same" }).or_default() += 1;
            for (what, is_within) in checks {
                if !is_within {
                    *kinds.entry(what).or_default() += 1u64;
                    wrong.push(format!(
                        "scenario {seed}, request {number}: {what}: {} {} of {}, {} attempts, late {}, residual {}; {:?} {:?}",
                        is.terminal_outcome, is.duration_ns, is.budget_at_origin_ns, truth.attempts.len(),
                        is.late_work_ns, is.residual_work_after_cancel_ns,
                        (bounds.latency, bounds.completed, bounds.attempts, bounds.late_work, bounds.residual_work),
                        told.reasons.iter().collect::<Vec<_>>()
                    ));
                }
            }
        }
    }
    let count = wrong.len();
    wrong.truncate(8);
    assert!(wrong.is_empty(), "{count} wrong of {seen:?} {kinds:?}\n{}", wrong.join("\n"));
}
