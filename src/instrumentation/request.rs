//! What the traces lack of one request, and how much of its time is undecided for that.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Explained;
use super::gap::{Gap, Missing, Way};
use crate::distributions::{Name, Names};
use crate::span::{GrantKind, Interner, Outcome, SpanId, Sym};
use crate::tables::{
    AttemptKind, AttemptRow, BlindSpot, Category, DeadlineSource, HopRow, RequestRow, SegmentRow,
    Verdict,
};
use crate::units::Nanos;

/// Databases, caches and brokers as conventions call them: these write no spans, and nobody can make
/// them.
const SYSTEMS: [&str; 40] = [
    "activemq",
    "aws.dynamodb",
    "aws_sqs",
    "azure.cosmosdb",
    "cassandra",
    "clickhouse",
    "cockroachdb",
    "couchbase",
    "couchdb",
    "db2",
    "dynamodb",
    "elasticsearch",
    "eventhubs",
    "gcp.spanner",
    "gcp_pubsub",
    "h2",
    "hbase",
    "influxdb",
    "jms",
    "kafka",
    "mariadb",
    "memcached",
    "microsoft.sql_server",
    "mongodb",
    "mssql",
    "mysql",
    "neo4j",
    "opensearch",
    "oracle",
    "oracle.db",
    "postgresql",
    "pulsar",
    "rabbitmq",
    "redis",
    "redshift",
    "rocketmq",
    "servicebus",
    "spanner",
    "sqlite",
    "trino",
];

/// The rows of one request.
pub(super) struct Request<'t> {
    pub(super) row: &'t RequestRow,
    pub(super) hops: &'t [HopRow],
    pub(super) attempts: &'t [AttemptRow],
    pub(super) segments: &'t [SegmentRow],
    pub(super) strings: &'t Interner,
}

/// What is undecided at one service, and the hops that would tell it.
#[derive(Default)]
struct Undecided<'t> {
    time: Nanos,
    hops: Vec<&'t HopRow>,
}

type Gaps<'t> = FxHashMap<(Missing, Option<Sym>), Undecided<'t>>;

impl<'t> Request<'t> {
    /// Adds the request to those of its class.
    pub(super) fn add_to(&self, class: &mut Explained, names: &mut Names<'_>) {
        let row = self.row;
        class.requests += 1;
        class.elapsed_ns += wide(row.elapsed_ns);
        class.downstream_ns += wide(self.spent(|segment| segment.category == Category::Downstream));
        class.network_ns += wide(self.spent(|segment| segment.category == Category::Network));
        class.orphaned += u64::from(row.blind_spots.contains(BlindSpot::Orphans));
        self.add_hops(class);
        let mut gaps = Gaps::default();
        self.find_deadline(&mut gaps);
        class.systems_ns += wide(self.find_callees(&mut gaps));
        self.find_grants(&mut gaps);
        self.find_queues(&mut gaps);
        self.find_ordinals(&mut gaps);
        self.find_clock(&mut gaps);
        for ((missing, service), undecided) in gaps {
            let time = undecided.time.min(row.elapsed_ns).at_least_zero();
            if time == Nanos::ZERO {
                continue;
            }
            let gap = Gap { missing, service: service.map(|service| names.get(service)) };
            let seen = class.gaps.entry(gap).or_default();
            seen.requests += 1;
            seen.undecided_ns += wide(time);
            for hop in undecided.hops {
                let stack: Option<Name> = hop.stack.map(|stack| names.get(stack));
                *seen.stacks.entry(stack).or_default() += 1;
                let way = Way::of(self.strings.get(hop.operation));
                *seen.ways.entry(way).or_default() += 1;
            }
        }
    }

    /// The time on the path that was spent so.
    fn spent(&self, is_wanted: impl Fn(&SegmentRow) -> bool) -> Nanos {
        self.segments.iter().filter(|row| is_wanted(row)).map(|row| row.duration_ns).sum()
    }

    fn called(&self) -> impl Iterator<Item = &'t HopRow> {
        self.hops.iter().filter(|hop| hop.verdict != Verdict::Origin)
    }

    /// Counts hops, and those whose caller had gone.
    fn add_hops(&self, class: &mut Explained) {
        let hedges = self.attempts.iter().filter(|row| row.kind == AttemptKind::Hedge);
        let raced: FxHashSet<SpanId> = hedges.map(|row| row.call_id).collect();
        let of_race = self.attempts.iter().filter(|row| raced.contains(&row.call_id));
        let of_race: FxHashSet<SpanId> = of_race.map(|row| row.span_id).collect();
        for hop in self.called() {
            class.hops += 1;
            class.granted += u64::from(is_granted(hop));
            // Whoever loses a race was cut off because another had answered.
            let lost = hop.client_span_id.is_some_and(|client| of_race.contains(&client));
            let is_cut = match hop.outcome {
                Outcome::DeadlineExceeded => true,
                Outcome::Cancelled => !lost,
                Outcome::Ok | Outcome::Error | Outcome::Rejected => false,
            };
            if hop.client_span_id.is_none() || !is_cut {
                continue;
            }
            match hop.return_ns {
                None => {
                    class.dark += 1;
                    class.dark_ns += wide(hop.duration_ns);
                }
                Some(back) if back < Nanos::ZERO => {
                    class.open += 1;
                    class.open_ns -= wide(back);
                }
                Some(_) => {}
            }
        }
    }

    /// Where no span says how much time there is, nothing of the request can be compared with that.
    fn find_deadline(&self, gaps: &mut Gaps<'t>) {
        let source = self.row.deadline_source;
        if matches!(source, DeadlineSource::None | DeadlineSource::Inferred) {
            let undecided =
                gaps.entry((Missing::Deadline, Some(self.row.root_service))).or_default();
            undecided.time = self.row.elapsed_ns;
            undecided.hops.extend(self.hops.iter().filter(|hop| hop.verdict == Verdict::Origin));
        }
    }

    /// Time on the path in calls of which only the client half is there. Gives what of it was spent at
    /// systems that write no spans.
    fn find_callees(&self, gaps: &mut Gaps<'t>) -> Nanos {
        let unseen = self.called().filter(|hop| hop.server_span_id.is_none());
        let mut calls: FxHashMap<(Option<Sym>, Sym), &HopRow> = FxHashMap::default();
        for hop in unseen.filter(|hop| hop.client_span_id.is_some()) {
            let known = calls.entry((hop.caller_service, hop.operation)).or_insert(hop);
            if known.callee_service.is_none() {
                *known = hop;
            }
        }
        let mut at_systems = Nanos::ZERO;
        for row in self.segments.iter().filter(|row| row.category == Category::Downstream) {
            let hop = calls.get(&(Some(row.service), row.operation)).copied();
            let key = match hop.and_then(|hop| hop.callee_service) {
                Some(callee) if SYSTEMS.contains(&self.strings.get(callee)) => {
                    at_systems += row.duration_ns;
                    continue;
                }
                Some(callee) => (Missing::CalleeSpan, Some(callee)),
                None => (Missing::CalleeName, Some(row.service)),
            };
            let undecided = gaps.entry(key).or_default();
            undecided.time += row.duration_ns;
            undecided.hops.extend(hop);
        }
        at_systems
    }

    /// A service's own time on the path, where a call came without saying how much there is.
    fn find_grants(&self, gaps: &mut Gaps<'t>) {
        let ungranted = |hop: &&HopRow| hop.server_span_id.is_some() && !is_granted(hop);
        for hop in self.called().filter(ungranted) {
            if let Some(service) = hop.callee_service {
                let undecided = gaps.entry((Missing::Grant, Some(service))).or_default();
                undecided.hops.push(hop);
            }
        }
        let is_own =
            |row: &&SegmentRow| matches!(row.category, Category::Local | Category::Backoff);
        for row in self.segments.iter().filter(is_own) {
            if let Some(undecided) = gaps.get_mut(&(Missing::Grant, Some(row.service))) {
                undecided.time += row.duration_ns;
            }
        }
    }

    /// Time on the way to a service, which bounds what of it was spent in a queue before it.
    fn find_queues(&self, gaps: &mut Gaps<'t>) {
        let network = self.spent(|row| row.category == Category::Network);
        for hop in self.called().filter(|hop| hop.queue_key.is_none()) {
            if let (Some(service), Some(transit)) = (hop.callee_service, hop.transit_ns) {
                let undecided = gaps.entry((Missing::Queue, Some(service))).or_default();
                undecided.time = (undecided.time + transit.at_least_zero()).min(network);
                undecided.hops.push(hop);
            }
        }
    }

    /// The time of attempts that are taken for retries because of when they began.
    fn find_ordinals(&self, gaps: &mut Gaps<'t>) {
        let is_inferred =
            |row: &&AttemptRow| row.kind == AttemptKind::Retry && row.ordinal_key.is_none();
        let mut hops: FxHashMap<SpanId, &HopRow> = FxHashMap::default();
        for row in self.attempts.iter().filter(is_inferred) {
            if hops.is_empty() {
                let of_client = |hop: &'t HopRow| Some((hop.client_span_id?, hop));
                hops = self.hops.iter().filter_map(of_client).collect();
            }
            let undecided = gaps.entry((Missing::Ordinal, row.caller_service)).or_default();
            undecided.time += row.duration_ns;
            undecided.hops.extend(hops.get(&row.span_id));
        }
    }

    /// Late work of which clocks leave open whether it was late.
    fn find_clock(&self, gaps: &mut Gaps<'t>) {
        let bounds = self.row.late_work_max_ns.zip(self.row.late_work_min_ns);
        let Some(open) =
            bounds.map(|(most, least)| most - least).filter(|open| *open > Nanos::ZERO)
        else {
            return;
        };
        let width = |hop: &&HopRow| {
            let bounds = hop.clock_hi_ns.zip(hop.clock_lo_ns);
            bounds.map_or(Nanos::MAX, |(most, least)| most - least)
        };
        let served = self.called().filter(|hop| hop.server_span_id.is_some());
        if let Some(widest) = served.max_by_key(width) {
            let undecided = gaps.entry((Missing::Clock, widest.callee_service)).or_default();
            undecided.time = open;
            undecided.hops.push(widest);
        }
    }
}

/// Whether a span says how much time a hop was given: what durations show is recorded nowhere.
fn is_granted(hop: &HopRow) -> bool {
    hop.grant_kind.is_some_and(|kind| kind != GrantKind::Inferred)
}

fn wide(length: Nanos) -> i128 {
    i128::from(length.as_nanos())
}
