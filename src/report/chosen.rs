//! Whose budgets a report is about, where that is not all requests as they are.

use super::{RunFacts, text};
use crate::units::UnixNanos;

/// What was chosen of the requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The patterns of which their classes match one; all, where there is none.
    pub classes: Vec<String>,
    /// They began then, or later.
    pub since: Option<UnixNanos>,
    /// They began before.
    pub until: Option<UnixNanos>,
    /// How many there are.
    pub requests: u64,
    /// How many were left out.
    pub left_out: u64,
}

/// What the reader has to know of it.
pub(super) fn notes(facts: &RunFacts) -> impl Iterator<Item = String> {
    let scope = facts.scope.as_ref().map(|service| {
        format!(
            "Scope {service}: each call that enters it from another service is told as a request \
             of its own, by caller. Its budget is what that caller had left when the call arrived; \
             elapsed counts from there to the end of what {service} did for it.",
        )
    });
    let split = (!facts.split_by.is_empty())
        .then(|| format!("Classes are split by {}.", facts.split_by.join(", ")));
    scope.into_iter().chain(split).chain(facts.chosen.as_ref().map(words))
}

fn words(chosen: &Chosen) -> String {
    let all = chosen.requests.saturating_add(chosen.left_out);
    let mut parts = Vec::new();
    if !chosen.classes.is_empty() {
        parts.push(format!("of class {}", chosen.classes.join(" or ")));
    }
    parts.extend(chosen.since.map(|since| format!("begun from {} on", text::instant(since))));
    parts.extend(chosen.until.map(|until| format!("begun before {}", text::instant(until))));
    format!(
        "Chosen: {} of {}, {}; {} left out. Traces, spans and what was read are told of the whole \
         input.",
        text::count(chosen.requests),
        text::counted(all, "request"),
        parts.join(", "),
        text::count(chosen.left_out),
    )
}

/// How long requests were counted: the whole of the window, or what was chosen of it.
pub(super) fn counted_for(facts: &RunFacts) -> Option<(UnixNanos, UnixNanos)> {
    let (first, last) = facts.window?;
    let chosen = facts.chosen.as_ref();
    let since = chosen.and_then(|chosen| chosen.since).unwrap_or(first);
    let until = chosen.and_then(|chosen| chosen.until).unwrap_or(last);
    Some((first.max(since), last.min(until)))
}
