//! Whose work was late or for nobody: that of a hop's subtree less that of the hops below it.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::class::Name;
use super::merge::merged;
use super::names::Names;
use crate::span::SpanId;
use crate::tables::HopRow;
use crate::units::Nanos;

merged! {
    /// Work that helped nobody, of one service.
    pub struct WastedWork {
        /// After the deadline.
        pub late_ns: i128,
        /// After a caller had left.
        pub residual_ns: i128,
    }
}

/// Adds what the hops of one request did late or for nobody, by service.
pub(super) fn add(
    hops: &[HopRow],
    names: &mut Names<'_>,
    wasted: &mut BTreeMap<Option<Name>, WastedWork>,
) {
    let of = |hop: &HopRow| (hop.late_work_ns.unwrap_or_default(), hop.residual_work_ns);
    if hops.iter().all(|hop| of(hop) == (Nanos::ZERO, Nanos::ZERO)) {
        return;
    }
    let mut below: FxHashMap<SpanId, (Nanos, Nanos)> = FxHashMap::default();
    for hop in hops {
        if let Some(caller) = hop.caller_hop_id {
            let ((late, residual), below) = (of(hop), below.entry(caller).or_default());
            *below = (below.0 + late, below.1 + residual);
        }
    }
    for hop in hops {
        let (late, residual) = of(hop);
        let (late_below, residual_below) = below.get(&hop.hop_id).copied().unwrap_or_default();
        let own = |all: Nanos, below: Nanos| i128::from((all - below).as_nanos().max(0));
        let (late_ns, residual_ns) = (own(late, late_below), own(residual, residual_below));
        if late_ns > 0 || residual_ns > 0 {
            let sums =
                wasted.entry(hop.callee_service.map(|callee| names.get(callee))).or_default();
            sums.late_ns += late_ns;
            sums.residual_ns += residual_ns;
        }
    }
}
