//! The verdict: what holds, what does not, and of what the traces cannot tell.

use std::collections::BTreeSet;

use super::cases::{CASES, Case, Need};
use super::evidence::{Evidence, OfContract};
use super::limits::Measured;
use super::retries::RetryRule;
use super::standing::{FailOn, Judged, Rulings, Standing, SuppressionUse};
use crate::contract::{Contract, Limit, RetryPolicy, Suppression};
use crate::finding_id::FindingId;
use crate::names::names;
use crate::ranking::Seen;
use crate::span::TraceId;
use crate::stats::Proportion;

names! {
    /// What is known of a case or a limit.
    pub enum Outcome {
        /// It goes wrong.
        Fail = "fail",
        /// The traces cannot tell.
        NoEvidence = "no-evidence",
        /// It holds.
        Pass = "pass",
    }
}

/// What the traces say of the contracts.
#[derive(Debug)]
pub struct Verdict<'e> {
    /// By request class; limits of a contract that is about several, or none, stand by themselves.
    pub classes: Vec<ClassVerdict<'e>>,
    /// What became of the suppressions.
    pub suppressions: Vec<SuppressionUse<'e>>,
}

/// What the traces say of one request class.
#[derive(Debug)]
pub struct ClassVerdict<'e> {
    /// Its name, or the contract's.
    pub name: &'e str,
    /// Whether it is a class, and not a contract that is about several or none.
    pub is_class: bool,
    /// Its requests.
    pub requests: u64,
    /// The contracts that it was judged by.
    pub contracts: Vec<&'e Contract>,
    /// What was checked.
    pub checks: Vec<Check<'e>>,
    /// What was found, as it is ranked.
    pub findings: Vec<Judged<'e>>,
}

/// One thing that was checked.
#[derive(Debug)]
pub struct Check<'e> {
    /// Its id, stable from run to run.
    pub id: FindingId,
    /// What it is.
    pub kind: Kind<'e>,
    /// What is known of it.
    pub outcome: Outcome,
    /// Whether that fails the whole.
    pub fails: bool,
    /// What suppresses it, where it would fail.
    pub suppression: Option<&'e Suppression>,
    /// What that rests on.
    pub basis: Basis<'e>,
    /// The line of the contract file to look at, from 1.
    pub line: usize,
}

/// What is checked.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'e> {
    /// A case of the matrix.
    Case(&'static Case),
    /// A limit of a contract.
    Limit(&'e Limit),
    /// A rule for retries.
    Retry(RetryRule, &'e RetryPolicy),
    /// Whether a contract is about any request: told where it is about none.
    Match(&'e Contract),
}

/// What an outcome rests on.
#[derive(Clone, Debug)]
pub enum Basis<'e> {
    /// Findings.
    Findings {
        /// Those of the case.
        found: Vec<Judged<'e>>,
        /// What it cannot be judged without, and is not there.
        missing: Vec<Need>,
    },
    /// That no request matched.
    NoRequest,
    /// A value with its interval.
    Measured(Measured),
    /// Retries by others than their owner.
    RetriesByOthers {
        /// How many.
        count: u64,
        /// Traces with some.
        traces: &'e [TraceId],
    },
    /// Calls that were tried too often.
    TriedTooOften {
        /// How many.
        count: u64,
        /// How often a call was tried at most.
        most: u32,
        /// Traces with some.
        traces: &'e [TraceId],
    },
    /// Retries, and per first try within which interval.
    RetryBudget {
        /// Retries of those and first tries.
        share: Proportion,
        /// Per first try.
        interval: (f64, f64),
    },
}

impl Verdict<'_> {
    /// Whether anything fails.
    pub fn fails(&self) -> bool {
        self.checks().any(|check| check.fails)
    }

    /// All that was checked.
    pub fn checks(&self) -> impl Iterator<Item = &Check<'_>> {
        self.classes.iter().flat_map(|class| &class.checks)
    }
}

impl ClassVerdict<'_> {
    /// How many checks have an outcome, of those that do not fail.
    pub fn count(&self, outcome: Outcome) -> u64 {
        let is_it = |check: &&Check<'_>| check.outcome == outcome && !check.fails;
        self.checks.iter().filter(is_it).count() as u64
    }

    /// Whether anything fails.
    pub fn fails(&self) -> bool {
        self.checks.iter().any(|check| check.fails)
    }
}

impl Evidence<'_> {
    /// Judges what was gathered.
    pub fn judge<'e>(&'e self, rulings: &'e Rulings) -> Verdict<'e> {
        let mut findings: Vec<Judged<'e>> =
            self.ranking.ranked().into_iter().map(|finding| rulings.judged(finding)).collect();
        findings.sort_by_key(|finding| finding.standing != Standing::Fails);
        let mut classes: Vec<ClassVerdict<'e>> = self
            .ranking
            .classes
            .iter()
            .map(|(name, seen)| self.class(name, seen, &findings, rulings))
            .collect();
        for (contract, of) in self.contracts.iter().zip(&self.of) {
            let checks = contract_checks(contract, of, rulings);
            let only_class = of.classes.first().filter(|_| of.classes.len() == 1);
            let class = only_class.and_then(|name| {
                classes.iter_mut().find(|class| class.is_class && *class.name == **name)
            });
            match class {
                Some(class) => class.checks.extend(checks),
                None if checks.is_empty() => {}
                None => classes.push(ClassVerdict {
                    name: &contract.name,
                    is_class: false,
                    requests: of.requests,
                    contracts: vec![contract],
                    checks,
                    findings: Vec::new(),
                }),
            }
        }
        let found = findings.iter().map(|finding| finding.id);
        let checks = classes.iter().flat_map(|class| &class.checks);
        let suppressed = checks.filter(|check| check.suppression.is_some()).map(|check| check.id);
        let found: BTreeSet<FindingId> = found.chain(suppressed).collect();
        Verdict { classes, suppressions: rulings.uses(&found) }
    }

    fn class<'e>(
        &'e self,
        name: &'e str,
        seen: &Seen,
        findings: &[Judged<'e>],
        rulings: &'e Rulings,
    ) -> ClassVerdict<'e> {
        let contracts = self.contracts.iter().zip(&self.of);
        let contracts: Vec<&Contract> = contracts
            .filter(|(_, of)| of.classes.contains(name))
            .map(|(contract, _)| contract)
            .collect();
        let findings: Vec<Judged<'e>> =
            findings.iter().filter(|finding| *finding.subject.class == *name).copied().collect();
        let line = contracts.first().map_or(1, |contract| contract.line);
        let check = |case: &'static Case| {
            let is_its = |finding: &&Judged<'_>| case.is_of(finding.subject, finding.group);
            let found: Vec<Judged<'e>> = findings.iter().filter(is_its).copied().collect();
            let needs = case.needs.iter().copied();
            let missing: Vec<Need> = needs.filter(|need| !need.is_met(seen)).collect();
            let outcome = if found.iter().any(|finding| finding.standing == Standing::Fails) {
                Outcome::Fail
            } else if found.is_empty() && !missing.is_empty() {
                Outcome::NoEvidence
            } else {
                Outcome::Pass
            };
            let id = FindingId::of(&[Some(name), Some("case"), Some(case.name)]);
            let basis = Basis::Findings { found, missing };
            Check::new(id, Kind::Case(case), (outcome, basis), line, rulings)
        };
        let checks = CASES.iter().map(check).collect();
        ClassVerdict { name, is_class: true, requests: seen.requests, contracts, checks, findings }
    }
}

fn contract_checks<'e>(
    contract: &'e Contract,
    of: &'e OfContract,
    rulings: &'e Rulings,
) -> Vec<Check<'e>> {
    let id =
        |kind: &str, what: &str| FindingId::of(&[Some(&contract.name), Some(kind), Some(what)]);
    let limits = contract.limits.iter().zip(&of.limits).map(|(limit, values)| {
        let (outcome, measured) = values.judge(&limit.promise);
        let judged = (outcome, Basis::Measured(measured));
        Check::new(id("limit", &limit.text), Kind::Limit(limit), judged, limit.line, rulings)
    });
    let retries = contract.retry.iter().flat_map(|policy| {
        let rules = [
            (RetryRule::Owner, policy.owner.is_some()),
            (RetryRule::MaxAttempts, policy.max_attempts.is_some()),
            (RetryRule::BudgetRatio, policy.budget_ratio.is_some()),
        ];
        rules.into_iter().filter(|(_, is_set)| *is_set).map(move |(rule, _)| {
            let judged = (of.retries.judge(rule, policy), of.retries.basis(rule));
            let kind = Kind::Retry(rule, policy);
            Check::new(id("retry", rule.name()), kind, judged, contract.line, rulings)
        })
    });
    // A slip in a pattern would otherwise look like a promise kept.
    let unmatched = (of.requests == 0).then(|| {
        let judged = (Outcome::NoEvidence, Basis::NoRequest);
        Check::new(id("match", ""), Kind::Match(contract), judged, contract.line, rulings)
    });
    unmatched.into_iter().chain(limits).chain(retries).collect()
}

impl<'e> Check<'e> {
    fn new(
        id: FindingId,
        kind: Kind<'e>,
        (outcome, basis): (Outcome, Basis<'e>),
        line: usize,
        rulings: &'e Rulings,
    ) -> Self {
        let would_fail = match outcome {
            Outcome::Pass => false,
            Outcome::Fail => true,
            Outcome::NoEvidence => rulings.fails_on(FailOn::NoEvidence),
        };
        // What a case fails for is suppressed finding by finding.
        let is_excusable = !matches!((kind, outcome), (Kind::Case(_), Outcome::Fail));
        let suppression = rulings.suppression(id).filter(|_| would_fail && is_excusable);
        let fails = would_fail && suppression.is_none();
        Self { id, kind, outcome, fails, suppression, basis, line }
    }
}
