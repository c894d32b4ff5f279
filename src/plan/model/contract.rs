//! The contract by which the traces of a run are read: the same deadline, reserve and timeout.

use std::fmt::Write;

use super::Run;
use super::calls::CallRules;
use crate::plan::emit::duration;

/// The `[[contract]]` of a run. Names hold nothing that would end a text or match more than itself.
pub(super) fn of(run: &Run<'_>) -> String {
    let (scenario, configuration) = (run.model.scenario, run.configuration);
    let rules = CallRules::of(scenario, &run.model.topology, configuration);
    let name = run.name();
    let mut told = format!(
        "[[contract]]\nname = \"{name}\"\nrequest_class = \"{name}\"\n\
         match = {{ operation = \"{name}\" }}\ndeadline = \"{}\"\nreturn_reserve = \"{}\"\n",
        duration(scenario.threshold),
        duration(scenario.reserve(configuration)),
    );
    let mut retry = Vec::new();
    if let Some(root) = scenario.services.first().filter(|_| !run.model.topology.is_nested()) {
        retry.push(format!("owner = \"{}\"", root.name));
    }
    retry.push(format!("max_attempts = {}", rules.most_tries()));
    retry.push(format!("attempt_allowance = \"{}\"", duration(configuration.timeout)));
    if !configuration.backoff.is_empty() {
        let waits = configuration.backoff.iter().map(|wait| format!("\"{}\"", duration(*wait)));
        retry.push(format!("backoff = [{}]", waits.collect::<Vec<_>>().join(", ")));
    }
    if let Some(budget) = configuration.retry_budget {
        retry.push(format!("budget_ratio = {}", budget.decimal()));
    }
    // Writing to memory does not fail.
    let _ = writeln!(told, "retry = {{ {} }}", retry.join(", "));
    told
}
