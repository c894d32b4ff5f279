//! What replayed requests tell together, by class.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::reason::Reason;
use super::totals::{Amount, Truth};
use super::{Range, Replayed};
use crate::span::{Interner, Sym};
use crate::stats::Quantile;
use crate::units::Nanos;

/// By class.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The classes by name.
    pub classes: BTreeMap<String, ClassReplay>,
}

/// A sum, measured and replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// As measured.
    pub measured: i128,
    /// Replayed, at least.
    pub lo: i128,
    /// Replayed, at most, of what was seen or is added by the policy to what was.
    pub seen: i128,
    /// There may be any amount more that nobody saw.
    pub is_open: bool,
}

/// What a callee has to do for the requests of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CalleeLoad {
    /// Attempts that call it.
    pub attempts: Change,
    /// How long its servers ran, in nanoseconds.
    pub busy_ns: Change,
}

/// One class.
#[derive(Clone, Debug, Default)]
pub struct ClassReplay {
    /// Its requests.
    pub requests: u64,
    /// Those of which everything is told to the nanosecond.
    pub exact: u64,
    /// How many of the others are open for which reason; a request may have several.
    pub reasons: BTreeMap<Reason, u64>,
    /// Requests that are surely faster.
    pub faster: u64,
    /// Requests that are surely slower.
    pub slower: u64,
    /// Requests that take as long as they did.
    pub same: u64,
    /// Requests that ended well.
    pub completed: Change,
    /// Requests that had a deadline, and those that have one.
    pub with_deadline: Change,
    /// Requests that ended well before it.
    pub in_time: Change,
    /// Attempts of calls.
    pub attempts: Change,
    /// Work after the deadline.
    pub late_work_ns: Change,
    /// Work after an ancestor had left.
    pub residual_work_ns: Change,
    /// By callee.
    pub loads: BTreeMap<String, CalleeLoad>,
    latencies: Vec<(Nanos, Range)>,
}

/// A percentile of latency, measured and replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentiles {
    /// Measured.
    pub measured: Nanos,
    /// If all that is open goes well.
    pub optimistic: Nanos,
    /// If all that is open goes badly; `None` where nothing bounds it.
    pub pessimistic: Option<Nanos>,
}

impl Change {
    fn add(&mut self, other: Self) {
        self.measured += other.measured;
        self.lo += other.lo;
        self.seen += other.seen;
        self.is_open |= other.is_open;
    }

    fn of(measured: Amount, replayed: Amount) -> Self {
        Self {
            measured: measured.lo.into(),
            lo: replayed.lo.into(),
            seen: replayed.seen.into(),
            is_open: replayed.is_open,
        }
    }

    fn of_truths(measured: Truth, replayed: Truth) -> Self {
        let count = |is_so: bool| i128::from(is_so);
        Self {
            measured: count(measured.must),
            lo: count(replayed.must),
            seen: count(replayed.may),
            is_open: false,
        }
    }
}

impl Summary {
    /// Adds what another part of the input tells.
    pub fn merge(&mut self, other: Self) {
        for (name, class) in other.classes {
            self.classes.entry(name).or_default().merge(class);
        }
    }
}

/// Gathers the requests of a partition, whose names have the same strings.
#[derive(Debug, Default)]
pub struct Gathering(FxHashMap<Sym, ClassReplay>);

impl Gathering {
    /// Adds a request.
    pub fn add(&mut self, class: Sym, request: &Replayed, strings: &Interner) {
        self.0.entry(class).or_default().add(request, strings);
    }

    /// By the names of the classes.
    pub fn named(self, strings: &Interner) -> Summary {
        let classes = self.0.into_iter();
        let named = classes.map(|(class, replay)| (strings.get(class).to_owned(), replay));
        Summary { classes: named.collect() }
    }
}

impl ClassReplay {
    fn add(&mut self, request: &Replayed, strings: &Interner) {
        let Replayed { measured, replayed, reasons } = request;
        let (was, is) = (measured.latency.lo, replayed.latency);
        self.requests += 1;
        if replayed.is_exact() {
            self.exact += 1;
        } else {
            for reason in reasons.iter() {
                *self.reasons.entry(reason).or_default() += 1;
            }
        }
        self.faster += u64::from(is.hi.is_some_and(|hi| hi < was));
        self.slower += u64::from(is.lo > was);
        self.same += u64::from(is == Range::exactly(was));
        self.latencies.push((was, is));
        self.completed.add(Change::of_truths(measured.completed, replayed.completed));
        let has = |truth: Option<Truth>| {
            let has = truth.is_some();
            Truth { must: has, may: has }
        };
        self.with_deadline.add(Change::of_truths(has(measured.in_time), has(replayed.in_time)));
        let in_time = |truth: Option<Truth>| truth.unwrap_or_default();
        self.in_time.add(Change::of_truths(in_time(measured.in_time), in_time(replayed.in_time)));
        self.attempts.add(Change::of(measured.attempts, replayed.attempts));
        let late = [measured.late_work, replayed.late_work].map(Option::unwrap_or_default);
        self.late_work_ns.add(Change::of(late[0], late[1]));
        self.residual_work_ns.add(Change::of(measured.residual_work, replayed.residual_work));
        for (callee, (name, is)) in &replayed.loads {
            let Some((_, was)) = measured.loads.get(callee) else { continue };
            let name = strings.get(*name);
            if !self.loads.contains_key(name) {
                self.loads.insert(name.to_owned(), CalleeLoad::default());
            }
            if let Some(load) = self.loads.get_mut(name) {
                load.attempts.add(Change::of(was.attempts, is.attempts));
                load.busy_ns.add(Change::of(was.busy, is.busy));
            }
        }
        self.open_loads();
    }

    /// Attempts that nobody saw may call anybody.
    fn open_loads(&mut self) {
        if self.attempts.is_open {
            for load in self.loads.values_mut() {
                load.attempts.is_open = true;
                load.busy_ns.is_open = true;
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.requests += other.requests;
        self.exact += other.exact;
        for (reason, count) in other.reasons {
            *self.reasons.entry(reason).or_default() += count;
        }
        self.faster += other.faster;
        self.slower += other.slower;
        self.same += other.same;
        self.completed.add(other.completed);
        self.with_deadline.add(other.with_deadline);
        self.in_time.add(other.in_time);
        self.attempts.add(other.attempts);
        self.late_work_ns.add(other.late_work_ns);
        self.residual_work_ns.add(other.residual_work_ns);
        for (name, load) in other.loads {
            let all = self.loads.entry(name).or_default();
            all.attempts.add(load.attempts);
            all.busy_ns.add(load.busy_ns);
        }
        self.latencies.extend(other.latencies);
        self.open_loads();
    }

    /// Requests of which it is open whether they are faster or slower.
    pub fn undecided(&self) -> u64 {
        self.requests - self.faster - self.slower - self.same
    }

    /// A percentile of latency; `None` of too few requests to tell.
    pub fn latency(&self, quantile: Quantile) -> Option<Percentiles> {
        let n = self.latencies.len();
        let place = quantile.rank(n).filter(|_| n >= quantile.least_sample())? - 1;
        let of = |pick: fn(&(Nanos, Range)) -> Option<Nanos>| {
            let all = self.latencies.iter().map(|it| Ended::of(pick(it)));
            let mut all: Vec<Ended> = all.collect();
            let (_, found, _) = all.select_nth_unstable(place);
            found.0.1
        };
        Some(Percentiles {
            measured: of(|it| Some(it.0))?,
            optimistic: of(|it| Some(it.1.lo))?,
            pessimistic: of(|it| it.1.hi),
        })
    }

    /// The median of how much longer requests take, and its 95 % interval; the ends of both are open
    /// as far as the requests' are. `None` of too few requests to tell.
    pub fn median_difference(&self) -> Option<(Range, Range)> {
        let n = self.latencies.len();
        let median = Quantile::P50;
        let ranks = median.interval(n);
        let (rank, lo, hi) = (median.rank(n)?, ranks.lo?, ranks.hi?);
        let sorted = |pick: fn(&(Nanos, Range)) -> Option<Nanos>| {
            let mut all: Vec<Ended> = self.latencies.iter().map(|it| Ended::of(pick(it))).collect();
            all.sort_unstable();
            all
        };
        let least = sorted(|it| Some(it.1.lo - it.0));
        let most = sorted(|it| it.1.hi.map(|hi| hi - it.0));
        let at = |all: &[Ended], rank: usize| all.get(rank - 1).and_then(|it| it.0.1);
        let range = |lo: usize, hi: usize| Some(Range { lo: at(&least, lo)?, hi: at(&most, hi) });
        Some((range(rank, rank)?, range(lo, hi)?))
    }
}

/// A length, those without an end last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ended((bool, Option<Nanos>));

impl Ended {
    fn of(length: Option<Nanos>) -> Self {
        Self((length.is_none(), length))
    }
}
