//! How the budget of a chain of calls splits, and what it costs to have none.

use crate::units::Nanos;

/// What is asked: a chain of calls, each tried several times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The time for all of it, and the timeout of each try where nobody splits it.
    pub end_to_end: Nanos,
    /// What of it the first service needs for itself.
    pub own: Nanos,
    /// What a call usually takes.
    pub median: Nanos,
    /// How many calls follow one another.
    pub depths: Vec<u32>,
    /// How often each is tried at most.
    pub tries: Vec<u32>,
}

/// What comes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainPlan {
    /// One for each number of tries and depth, as they were asked for.
    pub rows: Vec<ChainRow>,
    /// The depth up to which the largest number of tries leaves each the median.
    pub max_depth: u64,
    /// The same if the first service needs twice as much for itself.
    pub twice_own: Sensitivity,
}

/// A depth and a number of tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainRow {
    /// How many calls follow one another.
    pub depth: u32,
    /// How often each is tried at most.
    pub tries: u32,
    /// What all tries take where each has the whole time as its timeout, in nanoseconds.
    pub no_budget_worst_ns: i128,
    /// The timeout of a try that keeps all of them within the time.
    pub allocated_timeout: Nanos,
}

/// What another own share leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sensitivity {
    /// What the first service needs for itself.
    pub own: Nanos,
    /// The timeout of a try at the greatest depth and number of tries that were asked for.
    pub allocated_timeout: Nanos,
    /// The depth up to which the largest number of tries leaves each the median.
    pub max_depth: u64,
}

/// The timeout of one try that keeps `tries` of each of `depth` calls, one after another, and the own
/// share within `end_to_end`; nothing where the own share leaves nothing.
pub fn allocated_timeout(end_to_end: Nanos, own: Nanos, depth: u32, tries: u32) -> Nanos {
    let attempts = i64::try_from(u64::from(depth) * u64::from(tries)).unwrap_or(i64::MAX);
    (end_to_end - own).at_least_zero().div_floor(attempts.max(1))
}

impl Chain {
    /// Splits the time. A median of nothing is left everywhere.
    pub fn plan(&self) -> ChainPlan {
        let of_tries = |&tries| self.depths.iter().map(move |&depth| self.row(depth, tries));
        let own = self.own + self.own;
        let twice_own = Sensitivity {
            own,
            allocated_timeout: self.allocated_at_most(own),
            max_depth: self.max_depth(own),
        };
        ChainPlan {
            rows: self.tries.iter().flat_map(of_tries).collect(),
            max_depth: self.max_depth(self.own),
            twice_own,
        }
    }

    fn row(&self, depth: u32, tries: u32) -> ChainRow {
        let attempts = i128::from(depth) * i128::from(tries);
        let [end_to_end, own] = [self.end_to_end, self.own].map(|it| i128::from(it.as_nanos()));
        ChainRow {
            depth,
            tries,
            no_budget_worst_ns: attempts * end_to_end + own,
            allocated_timeout: allocated_timeout(self.end_to_end, self.own, depth, tries),
        }
    }

    /// As a timeout is rounded down, it is at least the median just where the exact one is.
    fn max_depth(&self, own: Nanos) -> u64 {
        let split = i128::from((self.end_to_end - own).at_least_zero().as_nanos());
        let each = i128::from(self.median.as_nanos()) * i128::from(self.most_tries());
        u64::try_from(split / each.max(1)).unwrap_or(u64::MAX)
    }

    /// The timeout of a try at the greatest depth and number of tries.
    fn allocated_at_most(&self, own: Nanos) -> Nanos {
        allocated_timeout(self.end_to_end, own, self.deepest(), self.most_tries())
    }

    /// The greatest depth that was asked for.
    pub fn deepest(&self) -> u32 {
        self.depths.iter().copied().max().unwrap_or(1)
    }

    /// The largest number of tries that was asked for.
    pub fn most_tries(&self) -> u32 {
        self.tries.iter().copied().max().unwrap_or(1)
    }
}
