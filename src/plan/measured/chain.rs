//! How the budgets of requests split over the calls that they really made.

use std::collections::BTreeSet;

use super::class::{Class, Request};
use super::portion::Portion;
use super::settled::{Settled, Source, median, p95};
use crate::distributions::{Ordered, Values};
use crate::names::names;
use crate::plan::chain::{Chain, allocated_timeout};
use crate::units::Nanos;

/// What is asked: what is absent is taken from what was measured.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// In place of each request's own deadline.
    pub end_to_end: Option<Nanos>,
    /// What the admitting service needs for itself.
    pub own: Option<Nanos>,
    /// What a call usually takes.
    pub median: Option<Nanos>,
    /// How many calls follow one another.
    pub depths: Option<Vec<u32>>,
    /// How often each is tried at most.
    pub tries: Option<Vec<u32>>,
}

names! {
    /// What is missing to split the budget of a class.
    pub enum Missing {
        /// No request has a deadline.
        Deadline = "deadline",
        /// No request calls anybody.
        Calls = "calls",
        /// No attempt that called nothing further succeeded.
        Duration = "duration",
    }
}

/// How the budget of a class splits.
#[derive(Clone, Debug)]
pub struct ClassChain {
    /// The time for all of it: of the requests the median.
    pub end_to_end: Settled<Nanos>,
    /// What the admitting service needs for itself: of the requests the median.
    pub own: Settled<Nanos>,
    /// What a call that calls nothing further takes, the median of those that succeeded.
    pub median: Settled<Nanos>,
    /// The p95 of the same, where there are enough of them.
    pub p95: Option<Settled<Nanos>>,
    /// How many calls follow one another: as many as in any request.
    pub depths: Settled<Vec<u32>>,
    /// How often each is tried: once, and as often as any was.
    pub tries: Settled<Vec<u32>>,
    /// What these ask.
    pub chain: Chain,
    /// The budget of each request split, by number of tries.
    pub allocated: Vec<Allocated>,
    /// Requests left out: they have no deadline.
    pub unbounded: usize,
    /// Requests left out: they call nobody.
    pub alone: usize,
}

/// What each request leaves for a try, at its own depth.
#[derive(Clone, Debug)]
pub struct Allocated {
    /// How often each call is tried at most.
    pub tries: u32,
    /// The timeout of a try.
    pub timeout: Ordered,
    /// The requests for which it is not below the median of such calls.
    pub leaves_median: Portion,
    /// The requests for which it is not below their p95.
    pub leaves_p95: Option<Portion>,
}

impl Asked {
    /// The answer for a class.
    ///
    /// # Errors
    /// What is missing.
    pub fn class(&self, class: &Class) -> Result<ClassChain, Missing> {
        let end_to_end = Settled::found(self.end_to_end, || median(&class.deadline));
        let depths = Settled::found(self.depths.clone(), || depths(class)).ok_or(Missing::Calls)?;
        let end_to_end = end_to_end.ok_or(Missing::Deadline)?;
        let own = Settled::found(self.own, || median(&class.own)).ok_or(Missing::Calls)?;
        let usual =
            Settled::found(self.median, || median(&class.leaves)).ok_or(Missing::Duration)?;
        let tries = Settled::found(self.tries.clone(), || tries(class)).ok_or(Missing::Calls)?;
        let chain = Chain {
            end_to_end: end_to_end.value,
            own: own.value,
            median: usual.value,
            depths: depths.value.clone(),
            tries: tries.value.clone(),
        };
        let calling = || class.requests.iter().filter(|request| request.depth > 0);
        let bounded: Vec<(&Request, Nanos)> = calling()
            .filter_map(|request| Some((request, self.end_to_end.or(request.deadline)?)))
            .collect();
        let p95 = p95(&class.leaves);
        let allocated =
            |&tries| self.allocated(&bounded, tries, usual.value, p95.as_ref().map(|it| it.value));
        Ok(ClassChain {
            chain,
            allocated: tries.value.iter().map(allocated).collect(),
            unbounded: calling().count() - bounded.len(),
            alone: class.requests.len() - calling().count(),
            end_to_end,
            own,
            median: usual,
            p95,
            depths,
            tries,
        })
    }

    fn allocated(
        &self,
        requests: &[(&Request, Nanos)],
        tries: u32,
        median: Nanos,
        p95: Option<Nanos>,
    ) -> Allocated {
        let traces: Vec<u32> = requests.iter().map(|(request, _)| request.trace).collect();
        let mut timeouts = Values::default();
        for (request, end_to_end) in requests {
            let own = self.own.unwrap_or(request.own);
            let timeout = allocated_timeout(*end_to_end, own, request.depth, tries);
            timeouts.push(request.trace, timeout);
        }
        let leaves = |length: Nanos| {
            let leaving = timeouts.iter().filter(|(_, timeout)| *timeout >= length.as_nanos());
            Portion::of(leaving.count(), &traces)
        };
        Allocated {
            tries,
            timeout: timeouts.ordered(),
            leaves_median: leaves(median),
            leaves_p95: p95.map(leaves),
        }
    }
}

/// The depths that requests have.
fn depths(class: &Class) -> Option<Settled<Vec<u32>>> {
    let depths = class.depths().into_iter().filter(|(depth, _)| *depth > 0);
    let (value, counts): (Vec<u32>, Vec<usize>) = depths.unzip();
    let settled = Settled { value, source: Source::Measured, n: Some(counts.into_iter().sum()) };
    (!settled.value.is_empty()).then_some(settled)
}

/// One, and the most tries of one call.
fn tries(class: &Class) -> Option<Settled<Vec<u32>>> {
    let most = class.calls.values().map(|calls| calls.tries.most).max()?;
    let value = BTreeSet::from([1, most.max(1)]).into_iter().collect();
    let n = class.calls.values().map(super::Calls::len).sum();
    Some(Settled { value, source: Source::Measured, n: Some(n) })
}
