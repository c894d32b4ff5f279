//! What the traces cannot tell of one request.

use std::collections::{BTreeMap, BTreeSet};

use super::bars::time;
use super::request::Request;
use crate::report::text::{count, counted};
use crate::report::{RunFacts, words};
use crate::tables::{BlindSpot, Verdict};
use crate::units::Nanos;

/// Point by point; never empty.
pub(super) fn unknown(request: &Request<'_>, facts: &RunFacts) -> Vec<String> {
    let mut points: Vec<String> = request
        .row
        .blind_spots
        .iter()
        .map(|spot| format!("{}: {}", spot.name(), words::blind_spot(spot)))
        .collect();
    points.extend(clocks(request));
    points.extend(coverage(request));
    if facts.spans_rejected > 0 {
        points.push(format!(
            "{} of the inputs could not be used, perhaps some of this request: dwindle report \
             tells why",
            counted(facts.spans_rejected, "span")
        ));
    }
    if points.is_empty() {
        points.push("nothing is known to be missing".to_owned());
    }
    points
}

/// Between which offsets the clock of each callee lies.
fn clocks(request: &Request<'_>) -> Vec<String> {
    let mut clocks: BTreeMap<&str, BTreeSet<(Nanos, Nanos)>> = BTreeMap::new();
    for hop in &request.hops {
        let callee = words::named(hop.callee_service.map(|name| request.text(name)));
        if let Some(interval) = hop.clock_lo_ns.zip(hop.clock_hi_ns).filter(|(lo, hi)| lo < hi) {
            clocks.entry(callee).or_default().insert(interval);
        }
    }
    let told = |(callee, intervals): (&str, BTreeSet<(Nanos, Nanos)>)| {
        let intervals = intervals
            .into_iter()
            .map(|(lo, hi)| format!("between {} and {} ms", time(lo), time(hi)));
        let intervals: Vec<String> = intervals.collect();
        format!(
            "the clock of {callee} may be off by {}: times across it are no more exact",
            intervals.join(", or ")
        )
    };
    let mut points: Vec<String> = clocks.into_iter().map(told).collect();
    let is_corrected = request.row.blind_spots.contains(BlindSpot::ClockSkewCorrected);
    if points.is_empty() && is_corrected {
        points.push("how far the clocks may be off still is not told for any hop".to_owned());
    }
    points
}

fn coverage(request: &Request<'_>) -> Vec<String> {
    let below = request.hops.iter().filter(|hop| hop.verdict != Verdict::Origin);
    let below: Vec<_> = below.collect();
    let silent = below.iter().filter(|hop| hop.granted_ns.is_none()).count();
    let mut points = Vec::new();
    if silent > 0 {
        points.push(format!(
            "{} of {} below the origin carry no grant: what these callees were told is not known",
            count(silent as u64),
            counted(below.len() as u64, "hop")
        ));
    }
    let unseen = request.unseen();
    let callees: BTreeSet<&str> = unseen
        .iter()
        .map(|hop| request.text(hop.callee_service.unwrap_or(hop.operation)))
        .collect();
    if !unseen.is_empty() {
        let names: Vec<&str> = callees.iter().copied().take(6).collect();
        let more = if callees.len() > names.len() { ", …" } else { "" };
        points.push(format!(
            "{} to what was not traced ({}{more}): what happened there is not known",
            counted(unseen.len() as u64, "call"),
            names.join(", ")
        ));
    }
    let without = request.attempts.iter().filter(|attempt| attempt.allowance_ns.is_none()).count();
    if without > 0 {
        points.push(format!(
            "{} of {} say nothing of how long one may take, so whether enough was left for them \
             is not known",
            count(without as u64),
            counted(request.attempts.len() as u64, "attempt")
        ));
    }
    points
}
