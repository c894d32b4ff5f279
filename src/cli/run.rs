//! One run: read, survey, reconstruct partition by partition on all cores, in the order of the
//! traces.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::input::{Clocks, Inputs, Rules};
use super::memory::MemoryFlag;
use super::output::{self, Fatal};
use super::progress::ProgressLine;
use super::selection::Subject;
use crate::calibrate::{Calibration, Chosen, Observed, contract_text};
use crate::clocks::{Offsets, Pool};
use crate::contract::{Contract, ContractFile};
use crate::graveyard::Graveyard;
use crate::ingest::{Ingested, Partitions, Settings, scatter};
use crate::reconstruct::{Outlined, Policy, observe, reconstruct};
use crate::span::Spans;
use crate::survey::{Facts, call_bounds, survey};
use crate::tables::Tables;
use crate::units::Nanos;

/// What is known besides the rows.
#[derive(Debug)]
pub(super) struct Run {
    /// What reading showed; its partitions are spent.
    pub ingested: Ingested<()>,
    /// What all spans know together.
    pub facts: Facts,
    /// The digest of the contracts.
    pub contracts: String,
    /// The service whose calls were told in the place of requests.
    pub scope: Option<String>,
    /// The attributes by which classes were split.
    pub split_by: Vec<String>,
    /// The contract that the traces themselves come to, where none was given.
    pub calibrated: Option<String>,
    /// The findings that need several traces, and the hops that they are about, which were handed
    /// out before.
    pub graveyard: Tables,
}

/// What reading and looking at all spans showed.
pub(super) struct Read {
    pub ingested: Ingested<()>,
    pub facts: Facts,
    pub policy: Policy,
    pub calibrated: Option<String>,
}

impl Read {
    /// The same as a run. Says on standard error which contracts matched no request, as `matched`
    /// names them: a pattern with a slip in it would otherwise look like traces without deadlines.
    pub(super) fn ended(
        self,
        subject: &Subject,
        matched: &BTreeSet<String>,
        graveyard: Tables,
    ) -> Run {
        let Self { ingested, facts, policy, calibrated } = self;
        // Of a scope contracts may have matched requests that never came there.
        let is_unmatched = |it: &&Contract| !it.calibrated && !matched.contains(&it.name);
        let unmatched = policy.contracts.iter().filter(is_unmatched);
        for contract in unmatched.filter(|_| policy.scope.is_none()) {
            let pattern = contract.matches.operation.as_ref();
            let pattern =
                pattern.map_or_else(String::new, |glob| format!(" ('{}')", glob.as_str()));
            let name = &contract.name;
            output::note(&format!("warning: {name}{pattern} matches the name of no root span"));
        }
        Run {
            ingested,
            facts,
            contracts: Contract::digest(&policy.contracts, policy.calls.all()),
            scope: policy.scope,
            split_by: subject.split_by().to_vec(),
            calibrated,
            graveyard,
        }
    }
}

/// Reads `inputs` and hands what `rebuild` makes of some partitions at a time to `take`, in the order
/// of the traces.
pub(super) fn read<T: Send>(
    inputs: &Inputs,
    rules: &Rules,
    memory: &MemoryFlag,
    subject: &Subject,
    rebuild: impl Fn(Spans, &Policy, &Offsets) -> T + Sync,
    mut take: impl FnMut(Vec<T>) -> Result<(), Fatal>,
) -> Result<Read, Fatal> {
    let policy = Policy { scope: subject.scope(), ..rules.policy()? };
    inputs.start_threads();
    let conventions = inputs.conventions()?.splitting_by(subject.split_keys()?);
    let progress = ProgressLine::new(inputs.quiet);
    let settings = Settings { conventions: &conventions, limits: inputs.limits() };
    let scattered = scatter(&inputs.paths, settings, &memory.memory(), &progress)?;
    let (mut partitions, ingested) = scattered.replace(());
    let chosen_by = conventions.chosen_by(&ingested.seen);
    let mut facts = Facts { chosen_by, ..Facts::default() };
    let mut pool = Pool::default();
    let look = |spans: &Spans| {
        (survey(spans), (rules.clock() == Clocks::Pooled).then(|| call_bounds(spans)))
    };
    partitions.look_at_all(look, |(surveyed, calls)| {
        facts.merge(&surveyed);
        pool.merge(&calls.unwrap_or_default());
    })?;
    let offsets = pool.offsets();
    let mut policy = policy;
    let mut calibrated = None;
    if rules.calibrates() {
        let text = contract_text(&observe_all(&mut partitions, &policy, &offsets)?);
        let file = ContractFile::parse("what was calibrated", &text)
            .map_err(|error| Fatal::Config { flag: "--contract", error })?;
        // A reserve is what people want to keep; that others took as long is no reason to blame any. A
        // class of which no more is known is judged as if nothing were.
        let unreserved = |contract| Contract { return_reserve: Nanos::ZERO, ..contract };
        let contracts = file.contracts.into_iter().filter(|it| it.deadline.is_some());
        let contracts: Vec<Contract> = contracts.map(unreserved).collect();
        let holds = !file.calls.is_empty() || !contracts.is_empty();
        policy.contracts.extend(contracts);
        policy.calls = file.calls.into();
        calibrated = holds.then_some(text);
    }
    loop {
        let group = partitions.next_group(|spans| rebuild(spans, &policy, &offsets))?;
        if group.is_empty() {
            break;
        }
        take(group)?;
    }
    drop(progress);
    Ok(Read { ingested, facts, policy, calibrated })
}

/// What the traces themselves say of limits and of what attempts need, before any is judged.
pub(super) fn observe_all(
    partitions: &mut Partitions,
    policy: &Policy,
    offsets: &Offsets,
) -> Result<Calibration, Fatal> {
    let whole = &Policy { scope: None, outlined: Outlined::None, ..policy.clone() };
    let mut observed = Observed::default();
    let look = |spans: &Spans| {
        let mut of_partition = Observed::default();
        of_partition.add(&observe(spans, whole, offsets));
        of_partition
    };
    partitions.look_at_all(look, |of_partition| observed.merge(of_partition))?;
    Ok(observed.calibrate(Chosen::default()))
}

/// Reads `inputs` and hands the tables of some partitions at a time to `take`, in the order of the
/// traces.
pub(super) fn run(
    inputs: &Inputs,
    rules: &Rules,
    memory: &MemoryFlag,
    subject: &Subject,
    mut take: impl FnMut(Vec<Tables>) -> Result<(), Fatal>,
) -> Result<Run, Fatal> {
    let mut matched = BTreeSet::new();
    let mut graveyard = Graveyard::default();
    let read = read(inputs, rules, memory, subject, reconstruct, |group: Vec<Tables>| {
        for tables in &group {
            graveyard.add(tables);
            let names: FxHashSet<_> =
                tables.requests.iter().filter_map(|row| row.contract).collect();
            matched.extend(names.into_iter().map(|name| tables.strings.get(name).to_owned()));
        }
        take(group)
    })?;
    Ok(read.ended(subject, &matched, graveyard.findings()))
}
