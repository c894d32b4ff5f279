//! Effective and known deadlines of every span (SEMANTICS §5).

use super::memory::reset;
use super::moment::Moment;
use super::trace::Trace;
use crate::budget;

/// The deadlines of the spans of a trace, on its one clock.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    /// The earlier of the caller's effective deadline and the span's own.
    pub effective: Vec<Option<Moment>>,
    /// What the span's own process could know.
    pub known: Vec<Option<Moment>>,
}

impl Deadlines {
    /// One pass from the roots down.
    pub(super) fn fill(&mut self, trace: &Trace<'_>) {
        let Self { effective, known } = self;
        reset(effective, trace.len(), None);
        reset(known, trace.len(), None);
        for &i in &trace.tree.top_down {
            let own = trace.grant(i).map(|(grant, anchor)| (anchor + grant.value, i));
            let Some(parent) = trace.link(i) else {
                let deadline = trace.request(i).deadline;
                effective[i] = budget::earlier(deadline, own);
                known[i] = deadline;
                continue;
            };
            effective[i] = budget::earlier(effective[parent], own);
            known[i] = own.or_else(|| told_by_client(trace, i)).or(known[parent]);
        }
    }
}

/// A server counts the grant of its client from its own receipt.
fn told_by_client(trace: &Trace<'_>, i: usize) -> Option<Moment> {
    let client = trace.parent(i).filter(|&parent| trace.is_client(parent))?;
    let grant = trace.own_grant(client).filter(|_| trace.is_server(i))?;
    Some((trace.arrival(i) + grant.value, i))
}
