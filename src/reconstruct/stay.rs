//! What `graveyard-first` needs to know of a hop (SEMANTICS §11).

use super::annotated::Annotated;
use super::claim::{Claim, certainty};
use super::hop::Hop;
use crate::tables::{ExpiredWork, Stay};
use crate::units::UnixNanos;

/// A hop that waited, or began after its deadline. `row` is its place among the rows.
pub(super) fn stay(of: &Annotated<'_>, hop: &Hop, row: usize) -> Option<Stay> {
    let trace = &of.trace;
    let (server, begun) = hop.server.zip(hop.begun)?;
    let deadline = of.caller_deadline(server).filter(|_| !of.work.long_lived[server])?;
    let arrived = trace.arrival(server);
    let expired = of.worked_after(server, begun).and_then(|worked| {
        let claims = [Claim::not_before(begun, deadline), worked];
        claims.iter().all(|claim| claim.holds()).then(|| ExpiredWork {
            until: of.work.below[server].last_work.map_or(begun.0, |(last, _)| last),
            evidence: of.evidence_of_deadline(deadline, server),
            certainty: certainty(&claims, &trace.clock),
        })
    });
    if arrived >= begun.0 && expired.is_none() {
        return None;
    }
    let offset = trace.clock.chosen(server);
    let own = |instant: UnixNanos| instant + offset;
    let may_be_earlier = trace.clock.may_shrink(server, deadline.1);
    Some(Stay {
        hop: row,
        service: trace.span(server).service,
        clock_domain: trace.span(server).clock_domain,
        arrived: own(arrived),
        begun: own(begun.0),
        deadline: own(deadline.0),
        deadline_earliest: may_be_earlier.map(|earlier| own(deadline.0) - earlier),
        weight: trace.weight(),
        expired: expired.map(|work| ExpiredWork { until: own(work.until), ..work }),
    })
}
