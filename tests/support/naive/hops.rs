//! Hops and verdicts (SEMANTICS §6).

use serde_json::{Value, json};

use super::intervals::{Interval, union_length};
use super::request::Request;

/// One call from a caller to a callee, or either half.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Hop {
    pub(super) client: Option<usize>,
    pub(super) server: Option<usize>,
    /// The client, else the server.
    pub(super) first: usize,
    /// The server, else the client.
    pub(super) last: usize,
    /// The span that it is called after and whose subtree is its own: the first half, or the
    /// server where the client has several.
    pub(super) top: usize,
}

/// A grant as a hop was given it.
#[derive(Clone, Copy)]
pub(super) struct Given {
    pub(super) value: i64,
    /// The span that carries it.
    holder: usize,
    /// It was handed down by the call span.
    handed: bool,
}

impl Request<'_, '_> {
    pub(super) fn find_hops(&mut self) {
        for &span in &self.spans {
            let node = &self.trace.nodes[span];
            let is_root = span == self.root;
            if node.opens_hop() || is_root && node.sends() && !node.is_wait {
                let servers = self.trace.in_order(node.servers.clone());
                let several = servers.len() > 1;
                for &server in &servers {
                    let top = if several { server } else { span };
                    let (client, last) = (Some(span), server);
                    self.hops.push(Hop { client, server: Some(server), first: span, last, top });
                }
                if servers.is_empty() {
                    let client = Some(span);
                    self.hops.push(Hop {
                        client,
                        server: None,
                        first: span,
                        last: span,
                        top: span,
                    });
                }
            } else if is_root || node.is_server && !self.is_paired(span) {
                let server = Some(span);
                self.hops.push(Hop { client: None, server, first: span, last: span, top: span });
            }
        }
    }

    fn is_paired(&self, server: usize) -> bool {
        let node = &self.trace.nodes[server];
        node.up.is_some_and(|up| self.trace.nodes[up].servers.contains(&server))
    }

    /// The span right above a hop.
    pub(super) fn parent(&self, hop: Hop) -> Option<usize> {
        self.trace.nodes[hop.first].up
    }

    /// The span that made the call: the parent, or what lies above the call spans.
    pub(super) fn caller(&self, hop: Hop) -> Option<usize> {
        let parent = self.parent(hop)?;
        let above = [vec![parent], self.trace.ancestors(parent)].concat();
        above.into_iter().find(|&span| !self.trace.nodes[span].is_call_span)
    }

    /// The hop of which the nearest span above is a half.
    pub(super) fn hop_above(&self, hop: Hop) -> Option<Hop> {
        let holding = |span: usize| {
            let as_server = self.hops.iter().find(|hop| hop.server == Some(span));
            as_server.or_else(|| self.hops.iter().find(|hop| hop.client == Some(span)))
        };
        let above = self.trace.ancestors(hop.first);
        above.into_iter().find_map(holding).copied()
    }

    pub(super) fn depth(&self, hop: Hop) -> i32 {
        self.hop_above(hop).map_or(0, |above| self.depth(above) + 1)
    }

    pub(super) fn is_origin(&self, hop: Hop) -> bool {
        hop.first == self.root
    }

    pub(super) fn given(&self, hop: Hop) -> Option<Given> {
        let value = |span: usize| self.trace.nodes[span].grant;
        let own = |holder: usize| value(holder).map(|value| Given { value, holder, handed: false });
        let by_client = hop.client.and_then(own).map(|given| self.within(given));
        let by_server = hop.server.and_then(own);
        by_client.or_else(|| self.handed_down(hop)).or(by_server)
    }

    /// The same, no longer than what is left where that is known to be passed on.
    fn within(&self, given: Given) -> Given {
        let node = &self.trace.nodes[given.holder];
        match (node.timed, self.effective_deadline(node.up)) {
            (Some(terms), Some(deadline)) if terms.propagates => {
                Given { value: given.value.min((deadline - node.start).max(0)), ..given }
            }
            _ => given,
        }
    }

    /// The grant of the call span, where this is its first attempt.
    fn handed_down(&self, hop: Hop) -> Option<Given> {
        let holder = self.parent(hop)?;
        let node = &self.trace.nodes[holder];
        let is_attempt = self.trace.nodes[hop.first].span.flags.is_attempt;
        let is_first = self.calls.iter().any(|call| call[0].span == hop.first);
        let value = node.grant.filter(|_| node.is_call_span && is_attempt && is_first)?;
        Some(Given { value, holder, handed: true })
    }

    /// What the caller had left, in truth and as far as it could know, at the grant's anchor.
    pub(super) fn left_at_anchor(&self, hop: Hop) -> Option<(i64, i64)> {
        let given = self.given(hop);
        let caller = match given {
            Some(given) if given.handed => self.trace.nodes[given.holder].up,
            _ => self.parent(hop),
        };
        let start = self.trace.nodes[hop.first].start;
        let anchor = given.map_or(start, |given| self.anchor(given.holder));
        let effective = self.effective_deadline(caller)?;
        let known = self.known_deadline(caller)?;
        Some((effective - anchor, known - anchor))
    }

    pub(super) fn verdict(&self, hop: Hop) -> &'static str {
        if self.is_origin(hop) {
            return "origin";
        }
        let left = self.left_at_anchor(hop);
        let Some(given) = self.given(hop) else {
            let expired = left.is_some_and(|(left, _)| left <= 0);
            return if expired { "expired" } else { "undeclared" };
        };
        let Some((left, known)) = left else { return "no_caller_deadline" };
        let grant = given.value;
        let tolerance = self.tolerance(grant);
        if grant > left.max(0) + tolerance {
            if grant <= known + tolerance {
                return if self.is_below_a_liar(hop) { "inherited" } else { "stretched" };
            }
            return if self.repeats_earlier(hop, grant) { "reset" } else { "overgrant" };
        }
        if left <= 0 {
            "expired"
        } else if grant > left - self.reserve + tolerance {
            "reserve_invading"
        } else if grant >= left - self.reserve - tolerance {
            "propagated"
        } else {
            "tightened"
        }
    }

    /// Whether the nearest hop above that has a grant was given too much by somebody.
    fn is_below_a_liar(&self, hop: Hop) -> bool {
        match self.hop_above(hop) {
            None => false,
            Some(above) if self.given(above).is_none() => self.is_below_a_liar(above),
            Some(above) => ["reset", "overgrant", "inherited"].contains(&self.verdict(above)),
        }
    }

    /// Whether a grant equals an earlier allowance.
    fn repeats_earlier(&self, hop: Hop, grant: i64) -> bool {
        let caller = self.caller(hop);
        let start = self.trace.nodes[hop.first].start;
        let mut earlier: Vec<i64> =
            self.deadline.iter().map(|deadline| deadline - self.origin).collect();
        if let Some(caller) = caller {
            let above = [vec![caller], self.trace.ancestors(caller)].concat();
            earlier.extend(above.iter().filter_map(|&span| self.trace.nodes[span].grant));
        }
        let opened_before = |other: &&Hop| {
            caller.is_some()
                && self.caller(**other) == caller
                && self.trace.nodes[other.first].start < start
        };
        let beside = self.hops.iter().filter(opened_before);
        earlier.extend(beside.filter_map(|&other| self.given(other)).map(|given| given.value));
        earlier.iter().any(|&earlier| (grant - earlier).abs() <= self.tolerance(earlier))
    }

    pub(super) fn overgrant(&self, hop: Hop) -> Option<i64> {
        let (left, _) = self.left_at_anchor(hop)?;
        Some((self.given(hop)?.value - left.max(0)).max(0))
    }

    /// Time in queues and waiting for connections.
    pub(super) fn queue(&self, hop: Hop) -> i64 {
        let mut waits = Vec::new();
        for span in [hop.client, hop.server].into_iter().flatten() {
            waits.extend(self.trace.waits(span));
            if span == self.root {
                waits.extend(self.attached_waits());
            }
        }
        let queued = |span: Option<usize>| span.map_or(0, |span| self.trace.nodes[span].queued);
        let before = if self.is_origin(hop) {
            let own = self.trace.nodes[self.root].start - self.origin;
            own + queued(hop.client.and(hop.server))
        } else {
            queued(hop.server)
        };
        union_length(&waits) + before
    }

    /// Wait spans whose parent is not there; they lie inside nothing.
    fn attached_waits(&self) -> Vec<Interval> {
        let attached = |span: &usize| {
            let node = &self.trace.nodes[*span];
            node.attached && node.is_wait
        };
        let waits = self.spans.iter().copied().filter(attached);
        waits.map(|span| (self.trace.nodes[span].start, self.trace.waiting_end(span))).collect()
    }

    pub(super) fn peer_service(&self, client: usize) -> Option<&str> {
        let peer = self.trace.nodes[client].span.peer_service;
        peer.map(|peer| self.trace.strings.get(peer))
    }

    pub(super) fn caller_service(&self, hop: Hop) -> Option<&str> {
        let span = hop.client.or_else(|| self.parent(hop))?;
        Some(self.trace.nodes[span].service)
    }

    pub(super) fn hop_rows(&self) -> Vec<Value> {
        self.hops.iter().map(|&hop| self.hop_row(hop)).collect()
    }

    /// What tells the time in a queue before the callee; of a root without one, before the root.
    fn queue_key(&self, hop: Hop) -> Option<&str> {
        let is_root = self.parent(hop).is_none();
        let callee = if is_root { hop.server.or(Some(hop.first)) } else { hop.server };
        let key = self.trace.nodes[callee?].span.queued_key;
        key.map(|key| self.trace.strings.get(key))
    }

    fn hop_row(&self, hop: Hop) -> Value {
        let nodes = &self.trace.nodes;
        let start = |half: Option<usize>| half.map(|span| nodes[span].start);
        let deadline = self.effective_deadline(self.parent(hop));
        let left_at = |instant: Option<i64>| Some(deadline? - instant?);
        let elapsed_at = |instant: Option<i64>| instant.map(|instant| instant - self.origin);
        let (sent, received) = (start(hop.client), start(hop.server));
        let begun = hop.server.map(|server| self.trace.execution_start(server));
        let given = self.given(hop);
        let grant = given.and_then(|given| nodes[given.holder].span.grant);
        let timed = given.and_then(|given| nodes[given.holder].timed);
        let told = timed.map(|terms| {
            if terms.calibrated {
                ("inferred", "inferred", "B12")
            } else {
                ("contract", "full", "contract")
            }
        });
        let text = |sym| self.trace.strings.get(sym);
        let callee = match hop.server {
            Some(server) => Some(nodes[server].service),
            None => self.peer_service(hop.first),
        };
        let first = &nodes[hop.first];
        let halves = [hop.client, hop.server];
        let is_proxy = halves.iter().flatten().any(|&span| nodes[span].span.flags.is_proxy);
        let transit = sent.zip(received).map(|(sent, received)| received - sent);
        self.row(json!({
            "hop_id": self.id(Some(hop.top)),
            "client_span_id": self.id(hop.client),
            "server_span_id": self.id(hop.server),
            "caller_service": self.caller_service(hop),
            "callee_service": callee,
            "operation": nodes[hop.last].name,
            "depth": self.depth(hop),
            "elapsed_at_send_ns": elapsed_at(sent),
            "elapsed_at_receive_ns": elapsed_at(received),
            "remaining_at_send_ns": left_at(sent),
            "remaining_at_receive_ns": left_at(received),
            "available_ns": left_at(sent.or(received)).map(|left| self.available(left)),
            "granted_ns": given.map(|given| given.value),
            "grant_key": grant.map(|grant| text(grant.key)).or(told.map(|told| told.0)),
            "grant_kind": grant.map(|grant| grant.kind.name()).or(told.map(|told| told.1)),
            "grant_rule": grant.map(|grant| text(grant.rule)).or(told.map(|told| told.2)),
            "verdict": self.verdict(hop),
            "overgrant_ns": self.overgrant(hop),
            "transit_ns": transit,
            "queue_ns": self.queue(hop),
            "queue_key": self.queue_key(hop),
            "remaining_at_start_ns": left_at(begun),
            "duration_ns": first.end - first.start,
            "outcome": first.outcome.name(),
            "callee_outcome": hop.server.map(|server| nodes[server].outcome.name()),
            "return_ns": hop.client.zip(hop.server).map(|(client, server)| {
                nodes[client].end - nodes[server].end
            }),
            "late_work_ns": self.late_work(hop.top),
            "residual_work_ns": self.residual_work(hop.top),
            "late_wait_ns": self.late_wait(hop.top),
            "residual_wait_ns": self.residual_wait(hop.top),
            "proxy": is_proxy,
        }))
    }
}
