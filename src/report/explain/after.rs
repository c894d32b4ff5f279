//! What went on after the deadline of a request, or after callers had left, and what shows that it
//! stopped.

use std::cmp::Reverse;

use super::answers::{MOST, more};
use super::bars::{hop_name, time};
use super::request::Request;
use super::tree::{Node, Tree};
use crate::report::text::counted;
use crate::report::words;
use crate::tables::{FindingCode, FindingRow, HopRow};
use crate::units::Nanos;

pub(super) fn went_on(request: &Request<'_>, tree: &Tree<'_>) -> Vec<String> {
    let row = request.row;
    let range = match (row.late_work_min_ns, row.late_work_max_ns) {
        (Some(least), Some(most)) if least < most => {
            format!(" ({} to {} by what clocks leave open)", time(least), time(most))
        }
        _ => String::new(),
    };
    let mut points = vec![match (row.late_wall_ns, row.late_work_ns, row.late_wait_ns) {
        (Some(Nanos::ZERO), ..) => "After the deadline nothing: every span had ended.".to_owned(),
        (Some(wall), Some(work), Some(wait)) => format!(
            "After the deadline: work {} ms{range}, calls open to what was not traced {} ms; the last \
             span ended {} ms after it.",
            time(work),
            time(wait),
            time(wall)
        ),
        _ => "No deadline is known, so nothing is called late.".to_owned(),
    }];
    points.push(match row.cancellation_observed_ns {
        None => "No caller left before its callee had answered.".to_owned(),
        Some(left) => {
            let (work, wait) = (row.residual_work_after_cancel_ns, row.residual_wait_ns);
            let then = if work == Nanos::ZERO && wait == Nanos::ZERO {
                "nothing was seen to go on for it or for others that left".to_owned()
            } else {
                format!(
                    "after callers had left: work {} ms, calls open to what was not traced {} ms",
                    time(work),
                    time(wait)
                )
            };
            format!("The first that gave up did so at {} ms; {then}.", time(left))
        }
    });
    let wasted = wasted_by_hop(tree);
    points.extend(wasted.iter().take(MOST).map(|(hop, own)| own.told(&hop_name(request, hop))));
    points.extend(more(wasted.len(), "hop"));
    points
}

/// What a hop did in vain, without the hops below it.
#[derive(Clone, Copy, Default)]
struct Wasted {
    late_work: Nanos,
    late_wait: Nanos,
    residual_work: Nanos,
    residual_wait: Nanos,
}

impl Wasted {
    fn of(hop: &HopRow) -> Self {
        Self {
            late_work: hop.late_work_ns.unwrap_or_default(),
            late_wait: hop.late_wait_ns.unwrap_or_default(),
            residual_work: hop.residual_work_ns,
            residual_wait: hop.residual_wait_ns,
        }
    }

    fn less(self, other: Self) -> Self {
        Self {
            late_work: self.late_work - other.late_work,
            late_wait: self.late_wait - other.late_wait,
            residual_work: self.residual_work - other.residual_work,
            residual_wait: self.residual_wait - other.residual_wait,
        }
    }

    /// The lengths by name.
    const fn lengths(&self) -> [(&'static str, Nanos); 4] {
        [
            ("late work", self.late_work),
            ("late open calls", self.late_wait),
            ("residual work", self.residual_work),
            ("residual open calls", self.residual_wait),
        ]
    }

    fn most(&self) -> Nanos {
        self.lengths().map(|(_, length)| length).into_iter().max().unwrap_or_default()
    }

    /// What there was of it.
    fn told(&self, hop: &str) -> String {
        let lengths = self.lengths().into_iter().filter(|(_, length)| *length > Nanos::ZERO);
        let parts: Vec<String> =
            lengths.map(|(what, length)| format!("{what} {} ms", time(length))).collect();
        format!("{hop}: {}", parts.join(", "))
    }
}

/// The hops that did something in vain themselves, the most first.
fn wasted_by_hop<'t>(tree: &Tree<'t>) -> Vec<(&'t HopRow, Wasted)> {
    let mut own: Vec<Wasted> =
        tree.nodes.iter().map(|node| node.hop.map_or_else(Wasted::default, Wasted::of)).collect();
    // By node the nearest hop above it.
    let mut nearest: Vec<Option<usize>> = vec![None; tree.nodes.len()];
    for &at in &tree.top_down {
        let Some(parent) = tree.parent(at) else { continue };
        let above = if tree.nodes[parent].hop.is_some() { Some(parent) } else { nearest[parent] };
        nearest[at] = above;
        if let Some((above, hop)) = above.zip(tree.nodes[at].hop) {
            own[above] = own[above].less(Wasted::of(hop));
        }
    }
    let hops = tree.nodes.iter().zip(own).filter_map(|(node, own)| Some((node.hop?, own)));
    let mut hops: Vec<_> = hops.filter(|(_, own)| own.most() > Nanos::ZERO).collect();
    hops.sort_by_key(|(_, own)| Reverse(own.most()));
    hops
}

pub(super) fn stopped(request: &Request<'_>, tree: &Tree<'_>) -> Vec<String> {
    let left: Vec<&Node<'_>> = tree
        .top_down
        .iter()
        .map(|&at| &tree.nodes[at])
        .filter(|node| node.first.kind.sends() && node.first.outcome.left())
        .collect();
    let mut points: Vec<String> =
        left.iter().take(MOST).map(|node| after_leaving(request, node)).collect();
    points.extend(more(left.len(), "call that was given up"));
    let last = request.spans.iter().max_by_key(|span| (span.end, span.span_id));
    points.extend(last.map(|last| {
        let name = |name| words::named(Some(request.text(name)));
        format!(
            "The last span to end is {} · {}, at {} ms: no span of the request shows work after \
             that.",
            name(last.service),
            name(last.operation),
            time(last.end)
        )
    }));
    let open = request.unseen().len();
    if open > 0 {
        points.push(format!(
            "{} to what was not traced: nothing shows when that stopped.",
            counted(open as u64, "call")
        ));
    }
    points
}

/// What the callee of a call that was given up did then.
fn after_leaving(request: &Request<'_>, node: &Node<'_>) -> String {
    let Some(hop) = node.hop else {
        return format!("a call was given up at {} ms", time(node.first.end));
    };
    let caller = words::named(hop.caller_service.map(|name| request.text(name)));
    let gave_up =
        format!("{caller} gave up {} at {} ms", hop_name(request, hop), time(node.first.end));
    let Some(server) = node.second else {
        return format!("{gave_up}; its callee was not traced, nothing shows that it stopped");
    };
    let later = server.end - node.first.end;
    let when = if later > Nanos::ZERO {
        format!("{} ms later", time(later))
    } else {
        format!("{} ms before that", time(-later))
    };
    let is_ignored = |finding: &&FindingRow| finding.code == FindingCode::CancelIgnored;
    let so = if node.findings.iter().any(is_ignored) { ": it went on" } else { "" };
    format!("{gave_up}; its callee ended at {} ms, {when}{so}", time(server.end))
}
