//! The six questions of a contract, answered in words for one request. Every number is one of the
//! tables, or a difference of two.

use std::collections::BTreeMap;

use super::bars::{funding, hop_name, time};
use super::request::Request;
use super::tree::{Node, Tree};
use crate::report::text::{count, counted, percent};
use crate::report::words;
use crate::span::Sym;
use crate::tables::{
    AttemptRow, Category, DeadlineSource, FindingCode, FindingRow, HopRow, SegmentRow, Verdict,
};
use crate::units::Nanos;

/// A question and what is to be said to it, point by point.
pub(super) struct Answer {
    /// Its name for machines.
    pub(super) id: &'static str,
    pub(super) question: &'static str,
    pub(super) points: Vec<String>,
}

/// So many examples are told of one thing.
const MOST: usize = 6;

/// All six.
pub(super) fn answers(request: &Request<'_>, tree: &Tree<'_>) -> Vec<Answer> {
    let answer = |id, question, points| Answer { id, question, points };
    vec![
        answer("deadline_source", "Who set the deadline?", who_set_it(request)),
        answer("budget", "What was left at each stage?", stages(request)),
        answer("time", "Where did the time go?", spent(request)),
        answer("retries", "Which layer tried again?", tried_again(request)),
        answer(
            "after",
            "What went on after the deadline, or after a caller had left?",
            went_on(request, tree),
        ),
        answer("stopped", "What shows that work stopped?", stopped(request, tree)),
    ]
}

/// How the request ended, where most of its time went, and what is wrong with it: three lines.
pub(super) fn summary(request: &Request<'_>) -> Vec<String> {
    let row = request.row;
    let ended = row.terminal_outcome.name().replace('_', " ");
    let elapsed = time(row.elapsed_ns);
    let end = match row.budget_at_origin_ns {
        None => format!("{ended} after {elapsed} ms; no deadline is known."),
        Some(budget) => {
            let left = budget - row.elapsed_ns;
            let how = if left < Nanos::ZERO {
                format!("{} ms too late", time(-left))
            } else {
                format!("{} ms left", time(left))
            };
            format!("{ended} after {elapsed} of {} ms: {how}.", time(budget))
        }
    };
    let mut lines = vec![first_upper(&end)];
    let mut segments = request.segments.clone();
    segments.sort_by_key(|segment| std::cmp::Reverse(segment.duration_ns));
    let most: Vec<String> =
        segments.iter().take(3).map(|segment| share(request, segment)).collect();
    if !most.is_empty() {
        lines.push(format!("Most of it: {}.", most.join(" · ")));
    }
    let mut codes: BTreeMap<_, usize> = BTreeMap::new();
    for finding in &request.findings {
        *codes.entry(finding.code).or_default() += 1;
    }
    let codes: Vec<String> = codes
        .into_iter()
        .map(|(code, times)| match times {
            1 => code.name().to_owned(),
            _ => format!("{} × {}", count(times as u64), code.name()),
        })
        .collect();
    lines.push(match codes.as_slice() {
        [] => "No findings.".to_owned(),
        codes => format!("Findings: {}.", codes.join(" · ")),
    });
    lines
}

fn first_upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn share(request: &Request<'_>, segment: &SegmentRow) -> String {
    let nanos = |length: Nanos| i128::from(length.as_nanos());
    format!(
        "{}, {} {} ms ({})",
        place(request, segment),
        category(segment.category),
        time(segment.duration_ns),
        percent(nanos(segment.duration_ns), nanos(request.row.elapsed_ns))
    )
}

fn place(request: &Request<'_>, segment: &SegmentRow) -> String {
    let name = |name| words::named(Some(request.text(name)));
    format!("{} · {}", name(segment.service), name(segment.operation))
}

const fn category(category: Category) -> &'static str {
    match category {
        Category::Queue => "in a queue",
        Category::Backoff => "between tries",
        Category::Network => "on the way",
        Category::Downstream => "in a callee not traced",
        Category::Local => "at work",
    }
}

fn who_set_it(request: &Request<'_>) -> Vec<String> {
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
    let key = request.text(hop.grant_key?);
    Some(format!("{} ms by {key} ({})", time(hop.granted_ns?), hop.grant_kind?.name()))
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
    let mut verdicts: BTreeMap<Verdict, u64> = BTreeMap::new();
    for hop in below.iter().filter(|hop| hop.granted_ns.is_some()) {
        *verdicts.entry(hop.verdict).or_default() += 1;
    }
    let told: u64 = verdicts.values().sum();
    let verdicts: Vec<String> = verdicts
        .into_iter()
        .map(|(verdict, times)| format!("{} {}", count(times), verdict.name().replace('_', " ")))
        .collect();
    let hops = counted(below.len() as u64, "hop");
    match verdicts.as_slice() {
        _ if below.is_empty() => None,
        [] => Some(format!("None of the {hops} below it carries a grant.")),
        verdicts => Some(format!(
            "{} of {hops} below it carry a grant: {}.",
            count(told),
            verdicts.join(", ")
        )),
    }
}

fn stages(request: &Request<'_>) -> Vec<String> {
    let row = request.row;
    let Some(budget) = row.budget_at_origin_ns else {
        return vec![format!(
            "Without a deadline nothing is known of what was left; {} ms passed.",
            time(row.elapsed_ns)
        )];
    };
    let mut points = vec![format!("origin: {} ms", time(budget))];
    let mut stage = |name: &str, left: Option<Nanos>| {
        let left = left.map_or_else(|| "not known".to_owned(), |left| format!("{} ms", time(left)));
        points.push(format!("{name}: {left}"));
    };
    stage("admission", row.budget_at_admission_ns);
    stage("start of execution", row.budget_at_start_ns);
    match row.downstream_budget_sent_ns {
        Some(sent) => stage("sent on, at most", Some(sent)),
        None => points.push("sent on: no grant was seen".to_owned()),
    }
    let left = budget - row.elapsed_ns;
    points.push(format!("return: {} ms, after {} ms", time(left), time(row.elapsed_ns)));
    points
}

fn spent(request: &Request<'_>) -> Vec<String> {
    let parts: [(&str, &[Category]); 4] = [
        ("queued", &[Category::Queue]),
        ("executing", &[Category::Local]),
        ("waiting for callees that were not traced", &[Category::Downstream]),
        ("waiting on the way, and between tries", &[Category::Network, Category::Backoff]),
    ];
    let mut points: Vec<String> =
        parts.into_iter().map(|(name, categories)| spent_on(request, name, categories)).collect();
    points.push(match request.row.return_reserve_used_ns {
        Some(used) => format!("returning, once the last callee had answered: {} ms", time(used)),
        None => "returning: not known, it called nothing that had answered".to_owned(),
    });
    points
}

fn spent_on(request: &Request<'_>, name: &str, categories: &[Category]) -> String {
    let mut segments: Vec<&SegmentRow> = request
        .segments
        .iter()
        .copied()
        .filter(|segment| categories.contains(&segment.category))
        .collect();
    segments.sort_by_key(|segment| std::cmp::Reverse(segment.duration_ns));
    let total: Nanos = segments.iter().map(|segment| segment.duration_ns).sum();
    let nanos = |length: Nanos| i128::from(length.as_nanos());
    let part = percent(nanos(total), nanos(request.row.elapsed_ns));
    let place = |segment: &&SegmentRow| {
        format!("{} {}", place(request, segment), time(segment.duration_ns))
    };
    let places: Vec<String> = segments.iter().take(3).map(place).collect();
    let more = segments.len().saturating_sub(places.len());
    let more = if more > 0 { format!(", and {} more", count(more as u64)) } else { String::new() };
    match places.as_slice() {
        [] => format!("{name}: 0 ms"),
        places => format!("{name}: {} ms ({part}): {}{more}", time(total), places.join(", ")),
    }
}

fn tried_again(request: &Request<'_>) -> Vec<String> {
    let mut calls: BTreeMap<usize, Vec<&AttemptRow>> = BTreeMap::new();
    let mut numbers = BTreeMap::new();
    for &attempt in request.attempts.iter().filter(|attempt| attempt.attempts > 1) {
        let number = numbers.len();
        let number = *numbers.entry(attempt.call_id).or_insert(number);
        calls.entry(number).or_default().push(attempt);
    }
    if calls.is_empty() {
        return vec!["None that was traced: no call was tried twice.".to_owned()];
    }
    let mut points = Vec::new();
    if request.row.retry_layered {
        points.push("Two layers, one below the other: their tries multiply.".to_owned());
    }
    for attempts in calls.values().take(MOST) {
        points.extend(attempts.first().map(|first| call(request, first, attempts)));
    }
    points.extend(more(calls.len(), "call"));
    points
}

fn call(request: &Request<'_>, first: &AttemptRow, attempts: &[&AttemptRow]) -> String {
    let name = |name: Sym| words::named(Some(request.text(name)));
    let callee = first.callee_service.map(|callee| format!("{} · ", name(callee)));
    let tries: Vec<String> = attempts.iter().take(MOST).map(|attempt| one_try(attempt)).collect();
    let more = if attempts.len() > tries.len() { "; …" } else { "" };
    format!(
        "{} called {}{} {} times: {}{more}",
        words::named(first.caller_service.map(|name| request.text(name))),
        callee.unwrap_or_default(),
        name(first.operation),
        first.attempts,
        tries.join("; ")
    )
}

fn one_try(attempt: &AttemptRow) -> String {
    let left = attempt
        .remaining_at_start_ns
        .map_or_else(String::new, |left| format!(" with {} ms left", time(left)));
    let backoff = attempt
        .backoff_ns
        .filter(|backoff| *backoff > Nanos::ZERO)
        .map_or_else(String::new, |backoff| format!(" after {} ms", time(backoff)));
    format!(
        "try {} ({}{backoff}) at {} ms{left} ({}), {} after {} ms",
        attempt.ordinal,
        attempt.kind.name(),
        time(attempt.elapsed_at_start_ns),
        funding(attempt),
        attempt.outcome.name().replace('_', " "),
        time(attempt.duration_ns)
    )
}

fn went_on(request: &Request<'_>, tree: &Tree<'_>) -> Vec<String> {
    let row = request.row;
    let mut points = vec![match (row.late_wall_ns, row.late_work_ns, row.late_wait_ns) {
        (Some(Nanos::ZERO), ..) => "After the deadline nothing: every span had ended.".to_owned(),
        (Some(wall), Some(work), Some(wait)) => format!(
            "After the deadline: work {} ms, calls open to what was not traced {} ms; the last \
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
    hops.sort_by_key(|(_, own)| std::cmp::Reverse(own.most()));
    hops
}

fn stopped(request: &Request<'_>, tree: &Tree<'_>) -> Vec<String> {
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
    let open = unseen(request).len();
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

/// Hops whose other end was not traced.
pub(super) fn unseen<'t>(request: &Request<'t>) -> Vec<&'t HopRow> {
    request.hops.iter().copied().filter(|hop| hop.server_span_id.is_none()).collect()
}

fn more(all: usize, noun: &str) -> Option<String> {
    let left_out = all.saturating_sub(MOST);
    let more = counted(left_out as u64, noun).replacen(' ', " more ", 1);
    (left_out > 0).then(|| format!("and {more}"))
}
