//! What the traces lack of one request, and how much of its time is undecided for that.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Explained;
use super::gap::{Gap, Missing, Way};
use super::untraced::{Untraced, wide};
use crate::distributions::{Name, Names};
use crate::span::{GrantKind, Interner, Outcome, SpanId, Sym};
use crate::tables::{
    AttemptKind, AttemptRow, BlindSpot, Category, DeadlineSource, HopRow, Races, RequestRow,
    SegmentRow, Verdict,
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
    pub(super) races: &'t Races,
    pub(super) strings: &'t Interner,
}

/// What is undecided at one service.
#[derive(Default)]
struct Undecided {
    time: Nanos,
    /// What makes the spans that would tell it, and what the hops that these are of are called.
    told_by: Vec<(Option<Sym>, Sym)>,
}

type Gaps = FxHashMap<(Missing, Option<Sym>), Undecided>;

impl Request<'_> {
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
        // In whatever order they come: each adds to its own.
        let gaps: Vec<_> = gaps.into_iter().collect();
        for ((missing, service), undecided) in gaps {
            let time = undecided.time.min(row.elapsed_ns).at_least_zero();
            if time == Nanos::ZERO {
                continue;
            }
            let gap = Gap { missing, service: service.map(|service| names.get(service)) };
            let seen = class.gaps.entry(gap).or_default();
            seen.requests += 1;
            seen.undecided_ns += wide(time);
            for (stack, operation) in undecided.told_by {
                let stack: Option<Name> = stack.map(|stack| names.get(stack));
                *seen.stacks.entry(stack).or_default() += 1;
                let way = Way::of(self.strings.get(operation));
                *seen.ways.entry(way).or_default() += 1;
            }
        }
    }

    /// The time on the path that was spent so.
    fn spent(&self, is_wanted: impl Fn(&SegmentRow) -> bool) -> Nanos {
        self.segments.iter().filter(|row| is_wanted(row)).map(|row| row.duration_ns).sum()
    }

    fn called(&self) -> impl Iterator<Item = &HopRow> {
        self.hops.iter().filter(|hop| hop.verdict != Verdict::Origin)
    }

    /// Counts hops, and those whose caller had gone.
    fn add_hops(&self, class: &mut Explained) {
        let lost = self.attempts.iter().filter(|row| self.races.is_lost(row));
        let lost: FxHashSet<SpanId> = lost.map(|row| row.span_id).collect();
        for hop in self.called() {
            class.hops += 1;
            class.granted += u64::from(is_granted(hop));
            let is_cut = matches!(hop.outcome, Outcome::DeadlineExceeded | Outcome::Cancelled);
            let client = hop.client_span_id.filter(|client| is_cut && !lost.contains(client));
            if client.is_none() {
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
    fn find_deadline(&self, gaps: &mut Gaps) {
        let source = self.row.deadline_source;
        if matches!(source, DeadlineSource::None | DeadlineSource::Inferred) {
            let undecided =
                gaps.entry((Missing::Deadline, Some(self.row.root_service))).or_default();
            undecided.time = self.row.elapsed_ns;
            let origin = self.hops.iter().filter(|hop| hop.verdict == Verdict::Origin);
            undecided.told_by.extend(origin.map(callee));
        }
    }

    /// Time on the path in calls of which only the client half is there. Gives what of it was spent at
    /// systems that write no spans.
    fn find_callees(&self, gaps: &mut Gaps) -> Nanos {
        let calls = Untraced::of(self.hops, self.attempts);
        let mut at_systems = Nanos::ZERO;
        for row in self.segments.iter().filter(|row| row.category == Category::Downstream) {
            for part in calls.split(row.service, row.operation, row.duration_ns) {
                let key = match part.callee {
                    Some(callee) if SYSTEMS.contains(&self.strings.get(callee)) => {
                        at_systems += part.time;
                        continue;
                    }
                    Some(callee) => (Missing::CalleeSpan, Some(callee)),
                    None => (Missing::CalleeName, Some(row.service)),
                };
                let undecided = gaps.entry(key).or_default();
                undecided.time += part.time;
                undecided.told_by.push((part.stack, row.operation));
            }
        }
        at_systems
    }

    /// A service's own time on the path, where a call came without saying how much there is.
    fn find_grants(&self, gaps: &mut Gaps) {
        let ungranted = |hop: &&HopRow| hop.server_span_id.is_some() && !is_granted(hop);
        for hop in self.called().filter(ungranted) {
            if let Some(service) = hop.callee_service {
                let undecided = gaps.entry((Missing::Grant, Some(service))).or_default();
                undecided.told_by.push(callee(hop));
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
    fn find_queues(&self, gaps: &mut Gaps) {
        let network = self.spent(|row| row.category == Category::Network);
        for hop in self.called().filter(|hop| hop.queue_key.is_none()) {
            if let (Some(service), Some(transit)) = (hop.callee_service, hop.transit_ns) {
                let undecided = gaps.entry((Missing::Queue, Some(service))).or_default();
                undecided.time = (undecided.time + transit.at_least_zero()).min(network);
                undecided.told_by.push(callee(hop));
            }
        }
    }

    /// The time of attempts that are taken for retries because of when they began.
    fn find_ordinals(&self, gaps: &mut Gaps) {
        let is_inferred =
            |row: &&AttemptRow| row.kind == AttemptKind::Retry && row.ordinal_key.is_none();
        let mut inferred = self.attempts.iter().filter(is_inferred).peekable();
        if inferred.peek().is_none() {
            return;
        }
        let by_id: FxHashMap<SpanId, &HopRow> =
            self.hops.iter().map(|hop| (hop.hop_id, hop)).collect();
        let of_client = self.hops.iter().filter_map(|hop| Some((hop.client_span_id?, hop)));
        let by_client: FxHashMap<SpanId, &HopRow> = of_client.collect();
        for row in inferred {
            let hop = by_client.get(&row.span_id).copied();
            // Whoever tries again tells it: of the hop with both halves the stack is that of its callee,
            // and its caller is the callee of the hop above.
            let caller = hop.and_then(|hop| match hop.server_span_id {
                None => Some(hop),
                Some(_) => by_id.get(&hop.caller_hop_id?).copied(),
            });
            let undecided = gaps.entry((Missing::Ordinal, row.caller_service)).or_default();
            undecided.time += row.duration_ns;
            undecided.told_by.push((caller.and_then(|hop| hop.stack), row.operation));
        }
    }

    /// Late work of which clocks leave open whether it was late.
    fn find_clock(&self, gaps: &mut Gaps) {
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
            undecided.told_by.push(callee(widest));
        }
    }
}

/// Whether a span says how much time a hop was given: what durations show is recorded nowhere.
fn is_granted(hop: &HopRow) -> bool {
    hop.grant_kind.is_some_and(|kind| kind != GrantKind::Inferred)
}

/// The callee of a hop as what tells something of it.
fn callee(hop: &HopRow) -> (Option<Sym>, Sym) {
    (hop.stack, hop.operation)
}
