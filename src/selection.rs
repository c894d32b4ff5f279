//! Which requests are told: by class, and by when they began.
//!
//! A pure function over tables, from wherever these come: what a request is, and what it is called,
//! was settled before.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::contract::Glob;
use crate::span::{SpanId, Sym, TraceId};
use crate::tables::{HopRow, RequestRow, Tables};
use crate::units::UnixNanos;

/// What a request must be to be told; nothing, where nothing is said.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Its class matches one of these.
    pub classes: Vec<Glob>,
    /// It began then, or later.
    pub since: Option<UnixNanos>,
    /// It began before.
    pub until: Option<UnixNanos>,
}

/// A request: its trace and its root span.
type Request = (TraceId, SpanId);

/// Chooses partition by partition.
#[derive(Debug)]
pub struct Chooser<'s> {
    selection: &'s Selection,
    /// How many were chosen.
    pub chosen: u64,
    /// How many were left out.
    pub left_out: u64,
    /// Those chosen in which something expired stood in a queue: more may be found there once all
    /// traces are known.
    expired: FxHashSet<Request>,
}

impl Selection {
    /// Whether all requests are told.
    pub fn is_all(&self) -> bool {
        self.classes.is_empty() && self.since.is_none() && self.until.is_none()
    }

    /// Whether a request is told.
    pub fn has(&self, class: &str, start: UnixNanos) -> bool {
        self.has_start(start) && self.has_class(class)
    }

    /// Whether a class is told.
    fn has_class(&self, class: &str) -> bool {
        self.classes.is_empty() || self.classes.iter().any(|glob| glob.matches(class))
    }

    /// Whether what began at an instant is told.
    fn has_start(&self, start: UnixNanos) -> bool {
        self.since.is_none_or(|since| since <= start)
            && self.until.is_none_or(|until| start < until)
    }
}

impl<'s> Chooser<'s> {
    /// Nothing chosen yet.
    pub fn new(selection: &'s Selection) -> Self {
        Self { selection, chosen: 0, left_out: 0, expired: FxHashSet::default() }
    }

    /// Keeps the requests of a partition that are told, and their rows in all tables.
    pub fn choose(&mut self, tables: &mut Tables) {
        let all = tables.requests.len() as u64;
        if self.selection.is_all() {
            self.chosen += all;
            return;
        }
        let mut classes: FxHashMap<Sym, bool> = FxHashMap::default();
        let mut is_told = |row: &RequestRow| {
            let has_class = classes
                .entry(row.request_class)
                .or_insert_with(|| self.selection.has_class(tables.strings.get(row.request_class)));
            *has_class && self.selection.has_start(row.start_unix_ns)
        };
        let told = tables.requests.iter().filter(|row| is_told(row));
        let told: FxHashSet<Request> = told.map(|row| (row.trace_id, row.root_span_id)).collect();
        let expired = tables.stays.iter().filter(|stay| stay.expired.is_some());
        let expired = expired.filter_map(|stay| tables.hops.get(stay.hop)).map(of_hop);
        self.expired.extend(expired.filter(|request| told.contains(request)));
        tables.retain_requests(|trace, root| told.contains(&(trace, root)));
        let chosen = tables.requests.len() as u64;
        self.chosen += chosen;
        self.left_out += all - chosen;
    }

    /// The same of findings that rest on several traces, and the hops that they are about; the
    /// requests were chosen before.
    pub fn choose_findings(&self, tables: &mut Tables) {
        if !self.selection.is_all() {
            tables.retain_requests(|trace, root| self.expired.contains(&(trace, root)));
        }
    }
}

fn of_hop(hop: &HopRow) -> Request {
    (hop.trace_id, hop.root_span_id)
}
