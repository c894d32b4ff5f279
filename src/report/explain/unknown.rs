//! What the traces cannot tell of one request.

use std::collections::BTreeSet;

use super::answers::{MOST, more};
use super::bars::time;
use super::request::Request;
use crate::report::text::{count, counted};
use crate::report::{RunFacts, words};
use crate::span::GrantKind;
use crate::tables::{AttemptRow, Funding, HopRow, Verdict};
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

/// By how much the clock of each callee may differ from the root's, where that is not known.
fn clocks(request: &Request<'_>) -> Vec<String> {
    let mut clocks: BTreeSet<(&str, Option<Nanos>, Option<Nanos>)> = BTreeSet::new();
    for hop in request.hops.iter().filter(|hop| hop.server_span_id.is_some()) {
        let callee = hop.callee_service.map(|name| request.text(name));
        if hop.clock_lo_ns.is_none() || hop.clock_lo_ns != hop.clock_hi_ns {
            clocks.insert((words::named(callee), hop.clock_lo_ns, hop.clock_hi_ns));
        }
    }
    let told = |&(callee, lo, hi): &(&str, Option<Nanos>, Option<Nanos>)| {
        let ahead = match (lo, hi) {
            (Some(lo), Some(hi)) => format!(
                "between {} and {} ms ahead of the root's: times across it are exact to {} ms",
                time(lo),
                time(hi),
                time(hi - lo)
            ),
            (Some(lo), None) => format!("at least {} ms ahead of the root's", time(lo)),
            (None, Some(hi)) => format!("at most {} ms ahead of the root's", time(hi)),
            (None, None) => "ahead of the root's or behind it, nothing says by how much".to_owned(),
        };
        format!("the clock of {callee} is {ahead}")
    };
    let mut points: Vec<String> = clocks.iter().take(MOST).map(told).collect();
    points.extend(more(clocks.len(), "clock"));
    points
}

fn coverage(request: &Request<'_>) -> Vec<String> {
    let below = request.hops.iter().filter(|hop| hop.verdict != Verdict::Origin);
    let below: Vec<_> = below.collect();
    // An inferred timeout was told to nobody.
    let is_inferred = |hop: &HopRow| hop.grant_kind == Some(GrantKind::Inferred);
    let silent = below.iter().filter(|hop| hop.granted_ns.is_none() || is_inferred(hop)).count();
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
    // What had nothing left is known to be unfunded whatever it needs.
    let is_untold = |attempt: &&&AttemptRow| {
        attempt.allowance_ns.is_none() && attempt.funding == Funding::Unknown
    };
    let without = request.attempts.iter().filter(is_untold).count();
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
