//! Who set the deadline of a request, and who set it anew.

use std::collections::BTreeMap;

use super::answers::{MOST, more};
use super::bars::{hop_name, time};
use super::request::Request;
use crate::report::text::{count, counted};
use crate::report::words;
use crate::span::GrantKind;
use crate::tables::{DeadlineSource, HopRow, Verdict};
use crate::units::Nanos;

pub(super) fn who_set_it(request: &Request<'_>) -> Vec<String> {
    let row = request.row;
    let declared = request.root_hop().and_then(|hop| given(request, hop));
    let budget = row.budget_at_origin_ns.map(time).unwrap_or_default();
    let contract = row.contract.map(|name| request.text(name)).unwrap_or_default();
    let mut points = match row.deadline_source {
        DeadlineSource::Contract => {
            let by = if contract.starts_with("--") {
                format!("The flag {contract}")
            } else {
                format!("The contract {contract}")
            };
            let class = request.text(row.request_class);
            let mut points = vec![format!("{by} sets {budget} ms for the class {class}.")];
            points.extend(declared.map(|given| {
                format!("The root span itself says that it was given {given}; the contract counts.")
            }));
            points
        }
        DeadlineSource::Declared => {
            let given = declared.unwrap_or_default();
            vec![format!(
                "The root span says that it was given {given}: {budget} ms from the origin."
            )]
        }
        DeadlineSource::Inferred => {
            let class = request.text(row.request_class);
            vec![format!(
                "Nothing that was traced: {budget} ms are inferred, the time after which requests of \
                 the class {class} are cut off; dwindle calibrate tells how many of them."
            )]
        }
        DeadlineSource::None => vec![format!(
            "Nothing that was traced: no attribute of the root span says how much time it was \
             given; {}.",
            words::SET_ONE
        )],
    };
    points.extend(passed_on(request));
    let anew: Vec<&HopRow> = request.hops.iter().copied().filter(|hop| is_anew(hop)).collect();
    points.extend(anew.iter().take(MOST).map(|hop| set_anew(request, hop)));
    points.extend(more(anew.len(), "hop"));
    points
}

/// How much a hop was given, by what.
fn given(request: &Request<'_>, hop: &HopRow) -> Option<String> {
    let granted = time(hop.granted_ns?);
    Some(match hop.grant_kind? {
        GrantKind::Inferred => format!(
            "{granted} ms (inferred: attempts of its kind are cut off after that long; dwindle \
             calibrate tells how many)"
        ),
        kind => format!(
            "{granted} ms by {} ({})",
            words::grant_key(request.text(hop.grant_key?)),
            kind.name()
        ),
    })
}

fn is_anew(hop: &HopRow) -> bool {
    use Verdict::{NoCallerDeadline, Overgrant, ReserveInvading, Reset};
    matches!(hop.verdict, Reset | Overgrant | ReserveInvading | NoCallerDeadline)
}

fn set_anew(request: &Request<'_>, hop: &HopRow) -> String {
    let caller = words::named(hop.caller_service.map(|name| request.text(name)));
    let given = given(request, hop).unwrap_or_default();
    let excess = match hop.overgrant_ns {
        Some(excess) if excess > Nanos::ZERO => {
            format!(", {} ms more than was left", time(excess))
        }
        _ => String::new(),
    };
    let verdict = hop.verdict.name().replace('_', " ");
    format!("{caller} gave {} {given}: {verdict}{excess}.", hop_name(request, hop))
}

/// What the hops below the origin were told.
fn passed_on(request: &Request<'_>) -> Option<String> {
    let below: Vec<&HopRow> =
        request.hops.iter().copied().filter(|hop| hop.verdict != Verdict::Origin).collect();
    let is_inferred = |hop: &&HopRow| hop.grant_kind == Some(GrantKind::Inferred);
    let granted: Vec<&HopRow> =
        below.iter().copied().filter(|hop| hop.granted_ns.is_some()).collect();
    let (inferred, seen): (Vec<&HopRow>, Vec<&HopRow>) = granted.into_iter().partition(is_inferred);
    let hops = counted(below.len() as u64, "hop");
    let told = match (below.len(), seen.len()) {
        (0, _) => return None,
        (1, 0) => "No grant was seen at the hop below it.".to_owned(),
        (_, 0) => format!("No grant was seen at any of the {hops} below it."),
        (_, told) => format!(
            "Grants were seen at {} of {hops} below it: {}.",
            count(told as u64),
            verdicts(&seen)
        ),
    };
    Some(match inferred.len() as u64 {
        0 => told,
        some => {
            format!("{told} Timeouts are inferred at {}: {}.", count(some), verdicts(&inferred))
        }
    })
}

/// How often each verdict stands on some hops.
fn verdicts(hops: &[&HopRow]) -> String {
    let mut verdicts: BTreeMap<Verdict, u64> = BTreeMap::new();
    for hop in hops {
        *verdicts.entry(hop.verdict).or_default() += 1;
    }
    let told = |(verdict, times): (Verdict, u64)| {
        format!("{} {}", count(times), verdict.name().replace('_', " "))
    };
    verdicts.into_iter().map(told).collect::<Vec<_>>().join(", ")
}
