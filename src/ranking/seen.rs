//! What there was to judge by: where nothing is found because nothing could be seen, that is no
//! good news.

use super::Ranking;
use crate::distributions::{Names, merged};
use crate::tables::{AttemptKind, DeadlineSource, Tables, Verdict};

merged! {
    /// What the traces of a class hold of the evidence that findings rest on.
    pub struct Seen {
        /// Requests.
        pub requests: u64,
        /// Those that have a deadline.
        pub with_deadline: u64,
        /// Those in which a caller left.
        pub left: u64,
        /// Hops below the origin.
        pub hops: u64,
        /// Those of them that say what they were granted.
        pub granted: u64,
        /// Hops that waited in a queue, as far as anything says so.
        pub queued: u64,
        /// Hops with a callee span.
        pub served: u64,
        /// Attempts.
        pub attempts: u64,
        /// Those that say what one needs.
        pub with_allowance: u64,
        /// Those that are retries.
        pub retries: u64,
        /// Those that are hedges.
        pub hedges: u64,
    }
}

impl Ranking {
    /// Counts what there is to judge by.
    pub(super) fn see(&mut self, tables: &Tables) {
        let mut names = Names::of(&tables.strings);
        for row in &tables.requests {
            let seen = self.classes.entry(names.get(row.request_class)).or_default();
            seen.requests += 1;
            seen.with_deadline += u64::from(row.deadline_source != DeadlineSource::None);
            seen.left += u64::from(row.cancellation_observed_ns.is_some());
        }
        for row in &tables.hops {
            let seen = self.classes.entry(names.get(row.request_class)).or_default();
            let below_origin = row.verdict != Verdict::Origin;
            seen.hops += u64::from(below_origin);
            seen.granted += u64::from(below_origin && row.granted_ns.is_some());
            seen.queued += u64::from(row.queue_ns.as_nanos() > 0 || row.queue_key.is_some());
            seen.served += u64::from(row.server_span_id.is_some());
        }
        for row in &tables.attempts {
            let seen = self.classes.entry(names.get(row.request_class)).or_default();
            seen.attempts += 1;
            seen.with_allowance += u64::from(row.allowance_ns.is_some());
            seen.retries += u64::from(row.kind == AttemptKind::Retry);
            seen.hedges += u64::from(row.kind == AttemptKind::Hedge);
        }
    }
}
