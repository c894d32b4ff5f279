//! The rows of a waterfall: what is said of each hop, and what its bar shows.

use std::collections::BTreeMap;

use super::fold::{self, LeftOut, Shown, What};
use super::request::Request;
use super::tree::{Node, Tree};
use crate::distributions::AllowanceSource;
use crate::report::text::{self, millis};
use crate::report::waterfall::{Bar, Mark, Stroke, Waterfall};
use crate::report::words;
use crate::span::{GrantKind, Outcome, Sym};
use crate::tables::{
    AttemptKind, AttemptRow, Category, DeadlineSource, FindingCode, FindingRow, Funding, HopRow,
    OutlineSpan, OwnStretch, Verdict,
};
use crate::units::Nanos;

/// A way in that took less than this part of a request's time is not told.
const SHORT_WAY: i64 = 100;

/// The waterfall of a request.
pub(super) fn waterfall(request: &Request<'_>, tree: &Tree<'_>, all: bool) -> Waterfall {
    let rows = fold::shown(tree, all);
    let whole = tree.last_end();
    let rows = rows.iter().map(|row| bar(request, tree, row, whole)).collect();
    let row = request.row;
    Waterfall {
        rows,
        deadline: row.budget_at_origin_ns,
        is_deadline_inferred: row.deadline_source == DeadlineSource::Inferred,
    }
}

fn bar(request: &Request<'_>, tree: &Tree<'_>, shown: &Shown, whole: Nanos) -> Bar {
    let nodes = |numbers: &[usize]| numbers.iter().map(|&at| &tree.nodes[at]).collect::<Vec<_>>();
    let mut bar = match &shown.what {
        What::One { node, is_far } => one(request, &tree.nodes[*node], *is_far, whole),
        What::Alike { nodes: numbers, holding } => alike(request, &nodes(numbers), *holding),
    };
    bar.details.extend(left_out(shown.left_out));
    Bar { level: shown.level, ..bar }
}

fn one(request: &Request<'_>, node: &Node<'_>, is_far: bool, whole: Nanos) -> Bar {
    let far = if is_far { "⋮ " } else { "" };
    let entered = node.hop.and_then(|hop| hop.elapsed_at_send_ns.or(hop.elapsed_at_receive_ns));
    Bar {
        at: Some(entered.unwrap_or(node.first.start)),
        left: node.hop.and_then(left),
        given: node.hop.and_then(|hop| hop.granted_ns),
        label: format!("{far}{}", name(request, node)),
        strokes: strokes(node),
        details: details(request, node, whole),
        findings: node.findings.iter().copied().map(found).collect(),
        ..Bar::default()
    }
}

/// What the caller had left when it sent, else when the server received.
fn left(hop: &HopRow) -> Option<Nanos> {
    hop.remaining_at_send_ns.or(hop.remaining_at_receive_ns)
}

/// A hop by its callee; a span that is none by its name alone, since it is its caller's.
pub(super) fn name(request: &Request<'_>, node: &Node<'_>) -> String {
    match node.hop {
        // What called is told where no row above tells it, or nothing tells what was called.
        Some(hop) if hop.depth == 0 || hop.callee_service.is_none() => {
            let caller = hop.caller_service.map(|name| request.text(name));
            let caller = caller.map(|name| format!("{} → ", words::named(Some(name))));
            caller.unwrap_or_default() + &hop_name(request, hop)
        }
        Some(hop) => hop_name(request, hop),
        None => words::named(Some(request.text(node.first.operation))).to_owned(),
    }
}

/// The callee, if anything names it, and what was asked of it.
pub(super) fn hop_name(request: &Request<'_>, hop: &HopRow) -> String {
    let operation = words::named(Some(request.text(hop.operation)));
    match hop.callee_service {
        Some(callee) => format!("{} · {operation}", words::named(Some(request.text(callee)))),
        None => operation.to_owned(),
    }
}

fn alike(request: &Request<'_>, nodes: &[&Node<'_>], holding: usize) -> Bar {
    let hops = || nodes.iter().filter_map(|node| node.hop);
    let total: Nanos = nodes.iter().map(|node| node.duration()).sum();
    let longest = nodes.iter().map(|node| node.duration()).max().unwrap_or_default();
    let queued: Nanos = hops().map(|hop| hop.queue_ns).sum();
    let mut details =
        vec![format!("together {}", time(total)), format!("the longest {}", time(longest))];
    if queued > Nanos::ZERO {
        details.push(format!("queued {}", time(queued)));
    }
    if hops().any(|hop| hop.grant_kind == Some(GrantKind::Inferred)) {
        details.push("timeouts inferred".to_owned());
    }
    let below = holding.saturating_sub(nodes.len());
    if below > 0 {
        details.push(format!("{} more below them", text::count(below as u64)));
    }
    let first = nodes.first();
    let mut flagged: BTreeMap<FindingCode, (u64, Nanos)> = BTreeMap::new();
    for finding in nodes.iter().flat_map(|node| &node.findings) {
        let (times, most) = flagged.entry(finding.code).or_default();
        (*times, *most) = (*times + 1, finding.excess_ns.max(*most));
    }
    let flagged = flagged.into_iter().map(|(code, (times, most))| {
        let by = if most == Nanos::ZERO {
            String::new()
        } else {
            format!(", by {} at most", time(most))
        };
        format!("{} × {}{by}: {}", text::count(times), code.name(), words::finding(code))
    });
    Bar {
        findings: flagged.collect(),
        at: first.map(|node| node.first.start),
        left: hops().filter_map(left).min(),
        given: hops().filter_map(|hop| hop.granted_ns).max(),
        label: format!(
            "{} × {}",
            text::count(nodes.len() as u64),
            first.map(|node| name(request, node)).unwrap_or_default()
        ),
        strokes: nodes.iter().flat_map(|node| strokes(node)).collect(),
        details,
        ..Bar::default()
    }
}

fn left_out(of: LeftOut) -> Option<String> {
    let spans = text::counted(of.nodes as u64, "span");
    let flagged = match of.flagged {
        0 => String::new(),
        flagged => format!(", {} with findings", text::count(flagged as u64)),
    };
    (of.nodes > 0).then(|| format!("{spans} more below it{flagged}"))
}

/// What the spans of a node did when.
fn strokes(node: &Node<'_>) -> Vec<Stroke> {
    let mut strokes = Vec::new();
    for (index, span) in node.spans().enumerate() {
        // What the callee does is drawn in place of its caller's waiting.
        let callee = node.second.filter(|_| index == 0).map(|second| (second.start, second.end));
        let mut at = span.start;
        for own in &span.own {
            waiting(&mut strokes, (at, own.from), callee);
            own_time(&mut strokes, span, own);
            at = at.max(own.to);
        }
        waiting(&mut strokes, (at, span.end), callee);
        if span.start == span.end {
            strokes.push(Stroke { from: span.start, to: span.end, mark: Mark::Waiting });
        }
    }
    strokes
}

/// A stretch of waiting, but for the part that is drawn otherwise.
fn waiting(strokes: &mut Vec<Stroke>, of: (Nanos, Nanos), but: Option<(Nanos, Nanos)>) {
    let (begin, end) = but.unwrap_or((of.1, of.1));
    for (from, to) in [(of.0, of.1.min(begin)), (of.0.max(end), of.1)] {
        if from < to {
            strokes.push(Stroke { from, to, mark: Mark::Waiting });
        }
    }
}

/// A stretch of own time, cut where it becomes late or residual.
fn own_time(strokes: &mut Vec<Stroke>, span: &OutlineSpan, own: &OwnStretch) {
    let mark = match own.category {
        Category::Queue => Mark::Queue,
        Category::Backoff => Mark::Backoff,
        Category::Downstream if span.counts(own) => Mark::OpenCall,
        Category::Local if span.counts(own) => Mark::Work,
        Category::Network | Category::Downstream | Category::Local => Mark::Waiting,
    };
    let after = |from: Option<Nanos>| {
        let from = from.filter(|_| span.counts(own));
        from.unwrap_or(own.to).clamp(own.from, own.to)
    };
    let (late, residual) = (after(span.late_from), after(span.residual_from));
    let parts = [
        (own.from, late.min(residual), mark),
        (late, residual, Mark::Late),
        (residual, own.to, Mark::Residual),
    ];
    let parts = parts.into_iter().filter(|(from, to, _)| from < to);
    strokes.extend(parts.map(|(from, to, mark)| Stroke { from, to, mark }));
}

fn details(request: &Request<'_>, node: &Node<'_>, whole: Nanos) -> Vec<String> {
    let mut details = node.hop.map_or_else(Vec::new, |hop| of_hop(request, hop, whole));
    details.extend(node.attempt.and_then(|attempt| of_attempt(request, attempt)));
    if node.first.outcome != Outcome::Ok {
        details.push(format!("ended {}", node.first.outcome.name().replace('_', " ")));
    }
    if let Some(second) = node.second.filter(|second| second.outcome != node.first.outcome) {
        details.push(format!("its server ended {}", second.outcome.name().replace('_', " ")));
    }
    if node.first.is_attached {
        details.push("its parent was not traced".to_owned());
    }
    details
}

fn of_hop(request: &Request<'_>, hop: &HopRow, whole: Nanos) -> Vec<String> {
    let verdict = hop.verdict.name().replace('_', " ");
    let mut details = Vec::new();
    match hop.grant_key.zip(hop.grant_kind) {
        Some((_, GrantKind::Inferred)) => details.push(format!("{verdict}: timeout inferred")),
        Some((key, kind)) => {
            details.push(format!(
                "{verdict}: given by {} ({})",
                key_name(request, key),
                kind.name()
            ));
        }
        // What was given stands empty in the row, which says as much.
        None if matches!(hop.verdict, Verdict::Undeclared | Verdict::Origin) => {}
        None => details.push(verdict),
    }
    let left = |left: Option<Nanos>| {
        left.map_or_else(String::new, |left| format!(" with {} left", time(left)))
    };
    // A short way in says nothing.
    let is_long = |way: Nanos| way > whole.div_floor(SHORT_WAY);
    let received = hop.elapsed_at_receive_ns.filter(|_| hop.transit_ns.is_some_and(is_long));
    if let Some(received) = received {
        details.push(format!(
            "received at {}{}",
            time(received),
            left(hop.remaining_at_receive_ns)
        ));
    }
    if hop.queue_ns > Nanos::ZERO {
        let by =
            hop.queue_key.map_or_else(String::new, |key| format!(" by {}", key_name(request, key)));
        details.push(format!("queued {}{by}", time(hop.queue_ns)));
    }
    if hop.remaining_at_start_ns != hop.remaining_at_receive_ns {
        details.push(format!("begun{}", left(hop.remaining_at_start_ns)));
    }
    details
}

/// An attribute by what is of its own: headers stand under long prefixes.
fn key_name<'t>(request: &Request<'t>, key: Sym) -> &'t str {
    let key = request.text(key);
    let prefixes = ["http.request.header.", "rpc.grpc.request.metadata."];
    prefixes.iter().find_map(|prefix| key.strip_prefix(prefix)).unwrap_or(key)
}

/// A try, unless it was the only one and nothing is known of its funding, or nothing but that it had
/// as much as others need.
fn of_attempt(request: &Request<'_>, attempt: &AttemptRow) -> Option<String> {
    let is_only = attempt.attempts == 1 && attempt.kind == AttemptKind::Initial;
    let is_measured =
        AllowanceSource::of(attempt, request.strings) == Some(AllowanceSource::Measured);
    let is_plain = match attempt.funding {
        Funding::Unknown => true,
        Funding::Funded => is_measured,
        Funding::Unfundable | Funding::Expired => false,
    };
    if is_only && is_plain {
        return None;
    }
    let backoff = attempt.backoff_ns.filter(|backoff| *backoff > Nanos::ZERO);
    let backoff = backoff.map_or_else(String::new, |backoff| format!(" after {}", time(backoff)));
    Some(format!(
        "try {} of {} ({}{backoff}): {}",
        attempt.ordinal,
        attempt.attempts,
        attempt.kind.name(),
        funding(request, attempt)
    ))
}

/// Whether enough was left for a try, and how much it needs.
pub(super) fn funding(request: &Request<'_>, attempt: &AttemptRow) -> String {
    let source = match AllowanceSource::of(attempt, request.strings) {
        Some(AllowanceSource::Measured) => " (measured)",
        _ => "",
    };
    let needs = attempt.allowance_ns.map(|needed| format!("needs {}{source}", time(needed)));
    let has = attempt.available_at_start_ns.map(|left| format!("{} to spend", time(left)));
    let why: Vec<String> = needs.into_iter().chain(has).collect();
    match (attempt.funding, why.is_empty()) {
        (Funding::Unknown, _) | (_, true) => format!("funding {}", attempt.funding.name()),
        (funding, false) => format!("{}, {}", funding.name(), why.join(", ")),
    }
}

/// What is wrong, by how much, and how sure that is.
fn found(finding: &FindingRow) -> String {
    let by = match finding.excess_ns {
        Nanos::ZERO => String::new(),
        excess => format!(" by {}", time(excess)),
    };
    let wasted = finding.wasted_ns.filter(|wasted| *wasted > Nanos::ZERO);
    let wasted =
        wasted.map_or_else(String::new, |wasted| format!(", which wasted {}", time(wasted)));
    format!(
        "{}{by}: {}{wasted} ({}, {})",
        finding.code.name(),
        words::finding(finding.code),
        finding.evidence.name(),
        finding.certainty.name()
    )
}

/// In milliseconds, without the unit.
pub(super) fn time(length: Nanos) -> String {
    millis(i128::from(length.as_nanos()))
}
