//! What is to be seen at once of a request.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::bars::time;
use super::request::Request;
use crate::report::text::{count, percent};
use crate::tables::{Category, SegmentRow};
use crate::units::Nanos;

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
            let source = request.if_inferred();
            format!("{ended} after {elapsed} of {} ms{source}: {how}.", time(budget))
        }
    };
    let mut lines = vec![first_upper(&end)];
    let mut segments = request.segments.clone();
    segments.sort_by_key(|segment| Reverse(segment.duration_ns));
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
        request.place(segment),
        category(segment.category),
        time(segment.duration_ns),
        percent(nanos(segment.duration_ns), nanos(request.row.elapsed_ns))
    )
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
