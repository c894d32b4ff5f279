//! What is known of all spans together before any trace is rebuilt: mergeable, and the same in
//! whatever order they come.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clocks::{CallBounds, Pool};
use crate::forest::{Forest, Parent};
use crate::span::{Kind, Span, Spans};
use crate::units::UnixNanos;

/// Facts of all spans.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Distinct traces.
    pub traces: u64,
    /// First start and last end, each on its own clock.
    pub window: Option<(UnixNanos, UnixNanos)>,
    /// CLIENT spans.
    pub clients: u64,
    /// CLIENT spans that ended without a word (SEMANTICS §2).
    pub wordless_clients: u64,
    /// Span links, which are counted and not followed.
    pub span_links: u64,
    /// Who chose traces once their outcome was known, and how often they say so.
    pub chosen_by: BTreeMap<String, u64>,
}

/// Surveys a partition of whole traces, sorted.
pub fn survey(spans: &Spans) -> Facts {
    let mut facts = Facts { traces: spans.traces().count() as u64, ..Facts::default() };
    for span in &spans.rows {
        facts.window = wider(facts.window, Some((span.start, span.end)));
        facts.clients += u64::from(span.kind == Kind::Client);
        facts.wordless_clients += u64::from(span.flags.is_wordless);
        facts.span_links += u64::from(span.links);
    }
    facts
}

/// What the calls of a partition of whole traces, sorted, say of the offsets between the clocks of
/// hosts.
pub fn call_bounds(spans: &Spans) -> Pool {
    let mut calls = CallBounds::default();
    let mut forest = Forest::default();
    for trace in spans.traces() {
        if trace.windows(2).all(|pair| pair[0].clock_domain == pair[1].clock_domain) {
            continue;
        }
        forest.fill(trace.iter());
        for (child, parent) in forest.spans.iter().zip(&forest.parents) {
            let Parent::Of(parent) = *parent else { continue };
            let parent = forest.spans[parent];
            // A service may run on many hosts: its name alone is one clock in one trace at best.
            let is_host = |span: &Span| span.clock_domain != span.service;
            if parent.clock_domain != child.clock_domain && is_host(parent) && is_host(child) {
                calls.add(parent, child);
            }
        }
    }
    let mut pool = Pool::default();
    pool.add(&spans.strings, calls);
    pool
}

impl Facts {
    /// Whether somebody chose traces once their outcome was known.
    pub fn are_chosen(&self) -> bool {
        !self.chosen_by.is_empty()
    }

    /// Adds those of another partition.
    pub fn merge(&mut self, other: &Self) {
        self.traces += other.traces;
        self.window = wider(self.window, other.window);
        self.clients += other.clients;
        self.wordless_clients += other.wordless_clients;
        self.span_links += other.span_links;
    }
}

type Window = Option<(UnixNanos, UnixNanos)>;

fn wider(one: Window, other: Window) -> Window {
    match (one, other) {
        (Some((start, end)), Some((other_start, other_end))) => {
            Some((start.min(other_start), end.max(other_end)))
        }
        (one, other) => one.or(other),
    }
}
