//! Calls into one service in the place of the requests that they serve: the budgets as they arrive
//! there.
//!
//! Each hop that enters the service from another, or from nobody who was traced, becomes a request
//! of its own: its root is the server's span (the client's, where no server was traced), its origin
//! the arrival there, its deadline the effective one of the caller (else what the call itself was
//! given), and everything else follows as for any request. Of calls within calls the outermost counts, so that no work is told twice.
//! Clocks, deadlines, verdicts, attempts and findings were settled by the whole trace and stay as
//! they are: a scope chooses among them.

use rustc_hash::FxHashMap;

use super::annotated::{Annotated, layers};
use super::attempt::Attempt;
use super::finding::{is_about_hop, layered};
use super::hop::Hop;
use super::request::Entered;
use super::trace::Trace;
use crate::span::{Interner, Sym};
use crate::tables::FindingCode;

/// A hop that enters the service.
struct Entry {
    /// Its place among the hops.
    hop: usize,
    /// The span that stands for what was asked of the service.
    root: usize,
    entered: Entered,
}

impl Annotated<'_> {
    /// Tells the calls into `service` instead of the requests.
    pub(super) fn narrow(&mut self, service: Sym, strings: &Interner) {
        let Entries { all, of_span } = entries(&self.trace, &self.hops.all, service, strings);
        let first = self.trace.requests.len();
        let depths: Vec<usize> = all.iter().map(|entry| self.hops.all[entry.hop].depth).collect();
        for entry in &all {
            let hop = &self.hops.all[entry.hop];
            // Of a caller without a deadline the grant is all there is, as for a root.
            let granted = || Some((hop.judged_at.0 + hop.grant?.value, hop.judged_at.1));
            let deadline = self.caller_deadline(hop.first).or_else(granted);
            let whole = self.trace.request(hop.first);
            let request = whole.enter(&self.trace, entry.root, deadline, entry.entered);
            self.trace.requests.push(request);
        }
        self.subjects = first..self.trace.requests.len();
        for (request, entry) in self.trace.tree.request_of.iter_mut().zip(&of_span) {
            *request = entry.map_or(*request, |entry| first + entry);
        }
        self.trace.take_in(first);

        for hop in &mut self.hops.all {
            if let Some(entry) = of_span[hop.first] {
                hop.request = first + entry;
                hop.depth -= depths[entry];
            }
        }
        for (number, entry) in all.iter().enumerate() {
            let hop = &mut self.hops.all[entry.hop];
            hop.request = first + number;
            (hop.depth, hop.above) = (0, None);
        }
        self.work.fill(&self.trace, &self.own_time, strings);
        self.retry_layered = layers(&self.trace, &self.calls);
        self.choose_findings();
    }

    /// Findings go with the hop that they are about, else with their span.
    fn choose_findings(&mut self) {
        let hops = self.hops.all.iter().map(|hop| (hop.top, hop.request));
        let hops: FxHashMap<usize, usize> = hops.collect();
        let Trace { tree, requests, .. } = &self.trace;
        self.findings.retain_mut(|finding| {
            let of_span = tree.request_of[finding.span];
            if is_about_hop(finding.code) {
                finding.request = hops.get(&finding.span).copied().unwrap_or(of_span);
                return true;
            }
            finding.request = of_span;
            // The call into the service is its caller's, and so are the layers above it.
            finding.code != FindingCode::RetryLayered
                && (requests[of_span].root != finding.span
                    || !tree.forest.spans[finding.span].kind.sends())
        });
        let layered = layered(self);
        self.findings.extend(layered);
    }

    /// Whether an attempt is one of the request that it is told in, and not the call that this
    /// request is.
    pub(super) fn is_within_request(&self, attempt: &Attempt) -> bool {
        self.trace.request(attempt.span).root != attempt.span
    }
}

/// The calls into a service.
struct Entries {
    all: Vec<Entry>,
    /// By span the one that it serves.
    of_span: Vec<Option<usize>>,
}

/// Finds them from the roots down: hops come in the order of `top_down`.
fn entries(trace: &Trace<'_>, hops: &[Hop], service: Sym, strings: &Interner) -> Entries {
    let mut all = Vec::new();
    let mut of_span: Vec<Option<usize>> = vec![None; trace.len()];
    let mut next = 0;
    for &i in &trace.tree.top_down {
        // What is set already is one of several servers of a client.
        of_span[i] = of_span[i].or_else(|| of_span[trace.link(i)?]);
        let is_within = of_span[i].is_some();
        while let Some(hop) = hops.get(next).filter(|hop| hop.first == i) {
            let caller = hop.caller_service(trace, strings);
            let enters = hop.callee_service(trace, strings) == Some(service);
            if enters && !is_within && caller != Some(service) {
                let root = hop.server.unwrap_or(hop.first);
                let named = trace.span(root);
                let operation = named.route_operation.unwrap_or(named.operation);
                of_span[root] = Some(all.len());
                let entered = Entered { service, operation, caller };
                all.push(Entry { hop: next, root, entered });
            }
            next += 1;
        }
    }
    Entries { all, of_span }
}
