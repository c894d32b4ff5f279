//! A span as written, made anew from what was understood of it: the same times, numbers and facts
//! under the same keys, other names, and nothing else. So a trace can be shown to strangers.
//!
//! Resolving it again gives the span it was made from, but for names. Values are kept only as far as
//! a grammar reads them; whatever else an outcome, an effect or a target was told from is replaced by
//! the plainest attribute that tells the same.

use super::facts::Fact;
use super::found::Found;
use super::identity::{HTTP_METHODS, HTTP_SIDE_EFFECTS, HTTP_UNREPEATABLE};
use super::index::Index;
use super::outcome::grpc_code;
use super::raw::{Attribute, RawEvent, RawSpan, Value};
use super::reading::{text_of, whole_number};
use super::resolve::TIMES_MOVED;
use super::{CLOCK_KEYS, Conventions, Tally, sampling};
use crate::span::{Interner, Kind, Outcome, Span, Sym};

/// What a name is the name of. Names of one sort that differ are renamed differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Named {
    /// A service, or the other end of a call.
    Service,
    /// A span.
    Operation,
    /// An HTTP route.
    Route,
    /// The host or the instance whose clock timed a span.
    Host,
    /// What a client called.
    Target,
}

/// Gives a new name for an old one, always the same.
pub type Rename<'r> = dyn FnMut(Named, &str) -> String + 'r;

/// Says that a span has any `rpc.*` attribute, where it keeps none by itself.
const ANY_RPC: &str = "rpc.any";

impl Conventions {
    /// The resource of `span` with new names.
    pub fn neutral_resource(
        &self,
        span: &Span,
        strings: &Interner,
        rename: &mut Rename<'_>,
    ) -> Vec<Attribute<'static>> {
        let mut attributes = Vec::new();
        let service = strings.get(span.service);
        if !service.is_empty() {
            attributes.push(text("service.name", rename(Named::Service, service)));
        }
        let clock = strings.get(span.clock_domain).split_once('=');
        if let Some((key, host)) = clock.filter(|(key, _)| CLOCK_KEYS.contains(key))
            && span.clock_domain != span.service
        {
            attributes.push(text(key, rename(Named::Host, host)));
        }
        let stack = span.stack.map(|stack| strings.get(stack));
        let told =
            stack.and_then(|stack| self.index.stacks.iter().find_map(|row| row.telling(stack)));
        attributes.extend(told.map(|(key, value)| text(key, value)));
        attributes
    }

    /// `raw`, which was resolved to `span`, with new names and without anything that nobody reads.
    pub fn neutral(
        &self,
        raw: &RawSpan<'_>,
        span: &Span,
        strings: &Interner,
        rename: &mut Rename<'_>,
    ) -> RawSpan<'static> {
        let mut unused = Tally::default();
        let found = self.index.find(raw, &mut unused);
        let mut kept = Kept { index: &self.index, raw, span, strings, attributes: Vec::new() };
        kept.keep_times();
        kept.keep_tries(&found);
        kept.keep_outcome(&found);
        kept.keep_effect(&found);
        kept.keep_facts(&found);
        kept.keep_ends(&found, rename);
        RawSpan {
            name: self.neutral_name(&raw.name, rename).into(),
            kind: span.kind,
            status_message: "".into(),
            trace_state: span.weight.map(sampling::member_of_weight).unwrap_or_default().into(),
            attributes: kept.attributes,
            events: self.neutral_events(raw),
            may_share_id: false,
            ..*raw
        }
    }

    /// A method alone tells nobody's secret, and lets a route stand for the name.
    fn neutral_name(&self, name: &str, rename: &mut Rename<'_>) -> String {
        if HTTP_METHODS.contains(&name) {
            return name.to_owned();
        }
        self.index.rename(name, |name| rename(Named::Operation, name))
    }

    /// The events that count, with what is read of them.
    fn neutral_events(&self, raw: &RawSpan<'_>) -> Vec<RawEvent<'static>> {
        let used = raw.events.iter().filter(|event| self.index.uses_event(&event.name));
        let bare = |event: &RawEvent<'_>| {
            let attributes = event.attributes.iter().filter_map(|(key, value)| {
                let value = self.index.bare_of_event(&event.name, key, value)?;
                Some((key.to_string().into(), value))
            });
            RawEvent {
                name: event.name.clone().into_owned().into(),
                time: event.time,
                attributes: attributes.collect(),
            }
        };
        used.map(bare).collect()
    }
}

fn text(key: &str, value: impl Into<String>) -> Attribute<'static> {
    (key.to_owned().into(), Value::Text(value.into().into()))
}

/// A key that says enough by being there.
fn mark(key: &str) -> Attribute<'static> {
    text(key, "")
}

/// The attributes that are kept of a span.
struct Kept<'a> {
    index: &'a Index,
    raw: &'a RawSpan<'a>,
    span: &'a Span,
    strings: &'a Interner,
    attributes: Vec<Attribute<'static>>,
}

impl Kept<'_> {
    /// Tells a fact under a key that it is looked for by; by none where it is switched off.
    fn keep_fact(&mut self, fact: Fact, value: Value<'static>) {
        let key = self.index.key_of(fact).map(|key| key.to_owned().into());
        self.attributes.extend(key.map(|key| (key, value)));
    }

    fn has(&self, key: &str) -> bool {
        self.attributes.iter().any(|(name, _)| name.eq_ignore_ascii_case(key))
    }

    /// Where the grant, the bound of a try, its number and the time in a queue were read, and what
    /// has to stand beside the grant.
    fn keep_times(&mut self) {
        let span = self.span;
        let keys = [
            span.grant.map(|grant| grant.key),
            span.allowance_key,
            span.ordinal_key,
            span.queued_key,
        ];
        let is_kept = |key: &str| {
            let mut keys = keys.into_iter().flatten();
            keys.any(|kept: Sym| self.strings.get(kept) == key)
        };
        let kept: Vec<Attribute<'static>> = self
            .raw
            .attributes
            .iter()
            .filter(|(key, _)| is_kept(key))
            .filter_map(|(key, value)| Some((key.to_string().into(), self.index.bare(key, value)?)))
            .collect();
        self.attributes.extend(kept);
        for row in &self.index.grants {
            // How many tries there were decides whether a row counts, kept or not.
            if let Some(tries) = &row.single_try
                && let Some(value) = self.raw.value_of(tries)
                && !self.has(tries)
            {
                let value = whole_number(value).map_or(Value::Bool(true), Value::Int);
                self.attributes.push((tries.clone().into(), value));
            }
            let chosen = span.grant.is_some_and(|grant| self.strings.get(grant.rule) == row.id);
            for group in row.beside.iter().filter(|_| chosen) {
                let beside = group.iter().find(|key| self.raw.value_of(key).is_some());
                if let Some(key) = beside.filter(|key| !self.has(key)) {
                    self.attributes.push(mark(key));
                }
            }
        }
    }

    /// Attributes that tell a try by being there, whatever number they hold; and how many tries there
    /// were, whatever told that.
    fn keep_tries(&mut self, found: &Found<'_>) {
        let plain = self.index.tries.iter().find(|row| row.beside.is_empty() && !row.heuristic);
        let key = plain.and_then(|row| Some((row.keys.first()?.0.first()?, row.add)));
        if let (Some((key, add)), Some(tries)) = (key, self.span.tries_inside) {
            let total = Value::Int(i64::from(tries) - i64::from(add));
            self.attributes.push((key.clone().into(), total));
        }
        for hit in &found.ordinals {
            let row = self.index.ordinals.get(hit.place.row);
            if row.is_some_and(|row| row.attempt) && !self.has(hit.key) {
                self.attributes.push(mark(hit.key));
            }
        }
    }

    /// How it ended.
    fn keep_outcome(&mut self, found: &Found<'_>) {
        let status = found.fact(Fact::GrpcStatus).is_some();
        let unread = found.fact(Fact::HttpStatus).is_some() && self.span.http_status.is_none();
        let is_silent = self.span.outcome == Outcome::Ok && !status && !unread;
        if !is_silent {
            self.keep_fact(Fact::GrpcStatus, Value::Int(grpc_code(self.span.outcome)));
        }
        if let Some(status) = self.span.http_status {
            // As it is written it may be no value that an outcome waits for: then it stands behind
            // one that nobody waits for.
            let written = found.fact(Fact::HttpStatus).and_then(text_of);
            let number = Value::Int(status.into());
            let value = match written {
                Some(text) if text.trim() == status.to_string() => number,
                _ => Value::List(vec![Value::Text("?".into()), number]),
            };
            self.keep_fact(Fact::HttpStatus, value);
        }
    }

    /// What it changes at the other end.
    fn keep_effect(&mut self, found: &Found<'_>) {
        let method = found.fact(Fact::HttpMethod).and_then(text_of);
        let method = method.map(|method| method.to_ascii_uppercase());
        let known = method.as_deref().map(|method| {
            HTTP_METHODS.iter().find(|known| **known == method).copied().unwrap_or("_OTHER")
        });
        if found.fact(Fact::HttpMethod).is_some() {
            let method = known.unwrap_or("_OTHER");
            self.keep_fact(Fact::HttpMethod, Value::Text(method.into()));
        }
        let is_client = self.span.kind == Kind::Client;
        let http_effect =
            is_client && known.is_some_and(|known| HTTP_SIDE_EFFECTS.contains(&known));
        if is_client && self.span.flags.side_effect && !http_effect {
            self.keep_fact(Fact::DatabaseOperation, Value::Text("UPDATE".into()));
        }
        let repeatable =
            http_effect && known.is_some_and(|method| !HTTP_UNREPEATABLE.contains(&method));
        let is_safe = !self.span.flags.side_effect || repeatable;
        if self.span.flags.repeat_safe && !is_safe {
            self.keep_fact(Fact::IdempotencyKey, Value::Bool(true));
        }
    }

    /// The other facts.
    fn keep_facts(&mut self, found: &Found<'_>) {
        if found.fact(Fact::Wait).is_some() && self.span.flags.is_wait {
            self.keep_fact(Fact::Wait, Value::Bool(true));
        }
        if self.span.flags.is_proxy {
            self.keep_fact(Fact::Component, Value::Text("proxy".into()));
        }
        if self.span.flags.has_rpc
            && !self.attributes.iter().any(|(key, _)| key.starts_with("rpc."))
        {
            self.attributes.push(mark(ANY_RPC));
        }
        if self.span.flags.clock_adjusted {
            self.keep_fact(Fact::Warnings, Value::Text(TIMES_MOVED.into()));
        }
    }

    /// The two ends of a call, and its route. The other end is told as a message broker is: a key
    /// that gives a name and is no part of a target.
    fn keep_ends(&mut self, found: &Found<'_>, rename: &mut Rename<'_>) {
        if self.span.route_operation.is_some()
            && let Some(route) = found.fact(Fact::HttpRoute).and_then(text_of)
        {
            self.keep_fact(Fact::HttpRoute, Value::Text(rename(Named::Route, &route).into()));
        }
        if let Some(target) = self.span.target {
            let target = rename(Named::Target, &format!("{:016x}", target.bits()));
            self.keep_fact(Fact::Destination, Value::Text(target.into()));
        }
        if let Some(peer) = self.span.peer_service {
            let peer = rename(Named::Service, self.strings.get(peer));
            self.keep_fact(Fact::MessagingSystem, Value::Text(peer.into()));
        }
    }
}
