//! A hop with a limit, or without one, and the attempts that were made over it. Lengths are
//! nanoseconds, as floats until they are written down.

use super::dice::Dice;

const MS: f64 = 1e6;

/// What people set.
const ROUND_MS: [f64; 16] = [
    100.0, 150.0, 200.0, 250.0, 300.0, 500.0, 750.0, 1_000.0, 1_500.0, 2_000.0, 3_000.0, 5_000.0,
    8_000.0, 10_000.0, 15_000.0, 30_000.0,
];

/// The 99th percentile of the normal distribution.
const Z99: f64 = 2.326;

/// What decides when attempts of a hop are cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A constant.
    Fixed,
    /// What is left of the request's budget, one for each class.
    FromOrigin,
    /// The same, where a part of the attempts begin at once, so that almost all is left.
    PartAtOnce,
    /// What is left of a budget that counts from when the caller was called.
    FromCaller,
    /// The smaller of a constant and what is left.
    MinOfBoth,
    /// A constant, where the time spent before hardly varies.
    FixedSteady,
    /// What is left, where the time spent before hardly varies.
    PropagatedSteady,
    /// Nothing: people and callers give up at any time.
    Cancelled,
    /// Nothing: the callee fails after a time of its own, in words of deadlines.
    Failing,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Fixed,
        Self::FromOrigin,
        Self::PartAtOnce,
        Self::FromCaller,
        Self::MinOfBoth,
        Self::FixedSteady,
        Self::PropagatedSteady,
        Self::Cancelled,
        Self::Failing,
    ];

    /// Whether there is a constant.
    pub const fn is_timed(self) -> bool {
        matches!(self, Self::Fixed | Self::MinOfBoth | Self::FixedSteady)
    }

    /// Whether nothing limits its attempts.
    pub const fn is_free(self) -> bool {
        matches!(self, Self::Cancelled | Self::Failing)
    }
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Well.
    Ok,
    /// Its limit cut it off.
    TimedOut,
    /// Somebody gave up.
    Cancelled,
}

/// An attempt, one a request.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    /// The class of its request.
    pub class: usize,
    /// From the origin until its caller was called.
    pub upstream: f64,
    /// From then on until it began.
    pub since_caller: f64,
    /// How long it took.
    pub duration: f64,
    /// How it ended.
    pub ended: Ended,
    /// Whether the constant cut it off.
    pub by_constant: bool,
}

/// A hop, and what was planted in it.
#[derive(Clone, Debug)]
pub struct Hop {
    /// What decides.
    pub kind: Kind,
    /// The constant; of other kinds the length of time that they are about.
    pub timeout: f64,
    /// Whether its spans are told in whole milliseconds.
    pub is_rounded: bool,
    /// The attempts that were sampled.
    pub attempts: Vec<Attempt>,
}

/// What makes the attempts of a hop.
struct Making {
    kind: Kind,
    timeout: f64,
    /// By class.
    budgets: Vec<f64>,
    /// The share of attempts that hang.
    hang: f64,
    /// The share of what was cut off that was cut off by something else.
    strays: f64,
    /// Successes: median and deviation of the logarithm.
    success: (f64, f64),
    /// Failures that are nobody's limit, likewise.
    failure: (f64, f64),
    /// Time spent before is spread evenly, and not log-normally.
    is_even: bool,
    /// The share of attempts that begin at once, before which hardly anything is spent.
    at_once: f64,
    /// The share of the time spent that the caller spends itself; `None`: it calls at once.
    own_share: Option<f64>,
}

/// A hop of a kind of which `cut` attempts are cut off. Of those that succeed, which say nothing of
/// limits, no more than `most_succeeded` are made.
pub fn hop(kind: Kind, cut: u64, most_succeeded: u64, dice: &mut Dice) -> Hop {
    let making = Making::new(kind, dice);
    let mut attempts = Vec::new();
    let (mut cut_off, mut succeeded) = (0, 0);
    while cut_off < cut {
        let attempt = making.attempt(dice);
        if attempt.ended != Ended::Ok {
            cut_off += 1;
        } else if succeeded < most_succeeded {
            succeeded += 1;
        } else {
            continue;
        }
        attempts.push(attempt);
    }
    Hop { kind, timeout: making.timeout, is_rounded: dice.happens(0.5), attempts }
}

/// How much later than it is due a timer fires.
fn jitter(timeout: f64, dice: &mut Dice) -> f64 {
    dice.normal().abs() * deviation(timeout)
}

/// The deviation of the jitter of a timeout.
pub fn deviation(timeout: f64) -> f64 {
    0.005 * timeout + 0.3 * MS
}

impl Making {
    fn new(kind: Kind, dice: &mut Dice) -> Self {
        let timeout = if dice.happens(0.5) {
            dice.pick(&ROUND_MS) * MS
        } else {
            dice.log_between(100.0 * MS, 30_000.0 * MS)
        };
        let sigma = dice.between(0.3, 1.0);
        let p99 = timeout * dice.between(0.2, 1.5);
        let classes = 1 + dice.below(3);
        let is_even = dice.happens(0.5);
        let at_once = match kind {
            Kind::PartAtOnce => dice.pick(&[0.1, 0.3, 0.5]),
            Kind::Fixed | Kind::MinOfBoth => dice.pick(&[0.0, 0.1]),
            _ => 0.0,
        };
        let budgets = (0..classes).map(|_| match kind {
            // Of what classes spend before, 30 to 70 % is more than the constant leaves.
            Kind::MinOfBoth => {
                let share = dice.between(0.3, 0.7);
                let spent = if is_even { 0.01 + 0.59 * share } else { log_normal_at(share) };
                timeout / (1.0 - spent)
            }
            _ => timeout * dice.pick(&[1.0, 1.0, 1.5, 2.0, 3.0]),
        });
        Self {
            kind,
            timeout,
            budgets: budgets.collect(),
            hang: dice.log_between(0.01, 0.2),
            strays: dice.pick(&[0.0, 0.02, 0.1]),
            success: (p99 / (Z99 * sigma).exp(), sigma),
            failure: (timeout * dice.between(0.2, 1.0), dice.log_between(0.1, 1.2)),
            is_even,
            at_once,
            own_share: dice.happens(0.7).then(|| dice.between(0.2, 0.9)),
        }
    }

    /// What is spent before, of a budget.
    fn spent(&self, budget: f64, dice: &mut Dice) -> f64 {
        if matches!(self.kind, Kind::FixedSteady | Kind::PropagatedSteady) {
            budget * (0.05 + 0.0002 * dice.unit())
        } else if dice.happens(self.at_once) {
            dice.between(0.1, 4.0) * MS
        } else if self.is_even {
            budget * dice.between(0.01, 0.6)
        } else {
            loop {
                let spent = dice.log_normal(SPENT_MEDIAN, SPENT_SIGMA);
                if spent < 0.9 {
                    return budget * spent;
                }
            }
        }
    }

    fn attempt(&self, dice: &mut Dice) -> Attempt {
        let class = usize::try_from(dice.below(self.budgets.len() as u64)).unwrap_or_default();
        let budget = self.budgets[class];
        let spent = self.spent(budget, dice);
        let since_caller = match (self.kind, self.own_share) {
            (Kind::FromCaller, _) => spent,
            (_, Some(share)) => spent * share * dice.between(0.5, 1.0),
            (_, None) => dice.between(0.1, 1.0) * MS,
        };
        let upstream = match self.kind {
            Kind::FromCaller => self.spent(budget, dice),
            _ => (spent - since_caller).max(0.0),
        };
        let left = budget
            - match self.kind {
                Kind::FromCaller => since_caller,
                _ => upstream + since_caller,
            };
        let limit = match self.kind {
            Kind::Fixed | Kind::FixedSteady => self.timeout,
            Kind::FromOrigin | Kind::PartAtOnce | Kind::FromCaller | Kind::PropagatedSteady => left,
            Kind::MinOfBoth => left.min(self.timeout),
            Kind::Cancelled | Kind::Failing => f64::INFINITY,
        };
        let hangs = dice.happens(self.hang);
        let (median, sigma) = self.success;
        let takes = if hangs { f64::INFINITY } else { dice.log_normal(median, sigma) };
        let (duration, ended) = if self.kind.is_free() {
            self.free(hangs, takes, dice)
        } else if hangs && dice.happens(self.strays) {
            (dice.log_between(5.0 * MS, limit.max(6.0 * MS)), Ended::Cancelled)
        } else if takes < limit {
            (takes, Ended::Ok)
        } else {
            let base = if self.kind == Kind::MinOfBoth { self.timeout } else { limit };
            (limit.max(0.0) + jitter(base, dice), Ended::TimedOut)
        };
        let by_constant = ended == Ended::TimedOut && limit >= self.timeout;
        Attempt { class, upstream, since_caller, duration, ended, by_constant }
    }

    /// An attempt that nothing limits.
    fn free(&self, hangs: bool, takes: f64, dice: &mut Dice) -> (f64, Ended) {
        match self.kind {
            _ if !hangs => (takes, Ended::Ok),
            Kind::Cancelled => (dice.log_between(5.0 * MS, self.timeout), Ended::Cancelled),
            _ => (dice.log_normal(self.failure.0, self.failure.1), Ended::TimedOut),
        }
    }
}

/// Log-normally spent: the median share of the budget, and the deviation of its logarithm.
const SPENT_MEDIAN: f64 = 0.12;
const SPENT_SIGMA: f64 = 0.8;

/// What a share of requests stay below that spend log-normally: a logistic is close enough.
fn log_normal_at(share: f64) -> f64 {
    SPENT_MEDIAN * (SPENT_SIGMA * (share / (1.0 - share)).ln() / 1.7).exp()
}
