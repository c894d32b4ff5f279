//! Who is called, and what for: target identity, peer, operation, side effects (SEMANTICS §2, §6).

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use super::facts::Fact;
use super::index::Found;
use super::raw::Value;
use super::reading::text_of;
use crate::span::Kind;

/// Between the parts of a target identity; no attribute holds it.
const SEPARATOR: char = '\u{1f}';
/// What stands for any IP address, which reports must not show.
const ANY_IP: &str = "ip";

pub(super) const HTTP_METHODS: &[&str] =
    &["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY"];
pub(super) const HTTP_SIDE_EFFECTS: &[&str] = &["POST", "PUT", "PATCH", "DELETE"];
pub(super) const HTTP_UNREPEATABLE: &[&str] = &["POST", "PATCH"];
const DATABASE_SIDE_EFFECTS: &[&str] =
    &["INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "UPSERT"];

/// A fact as text.
fn text<'a>(found: &Found<'a>, fact: Fact) -> Option<Cow<'a, str>> {
    found.fact(fact).and_then(text_of)
}

/// The first of several facts that is there.
fn first_text<'a>(found: &Found<'a>, facts: &[Fact]) -> Option<Cow<'a, str>> {
    facts.iter().find_map(|&fact| text(found, fact))
}

/// What tells one call from another of the same name, in one text; old and new spellings of the
/// same thing give the same.
pub(super) fn target(found: &Found<'_>) -> Option<String> {
    let mut identity = String::new();
    let mut add = |class: &str, value: Option<Cow<'_, str>>| {
        let Some(value) = value else { return };
        if !identity.is_empty() {
            identity.push(SEPARATOR);
        }
        identity.push_str(class);
        identity.push('=');
        identity.push_str(&value);
    };
    add("address", first_text(found, &[Fact::ServerAddress, Fact::PeerAddress]));
    add("port", text(found, Fact::ServerPort));
    add("peer", first_text(found, &[Fact::PeerService, Fact::UpstreamCluster]));
    add("rpc", rpc_method(found));
    add("method", text(found, Fact::HttpMethod));
    add("url", text(found, Fact::Url).or_else(|| path_and_query(found)));
    add("query", text(found, Fact::QueryText));
    add("destination", text(found, Fact::Destination));
    (!identity.is_empty()).then_some(identity)
}

/// `Service/Method`, whether the method's attribute holds all of it or a service stands beside it.
fn rpc_method<'a>(found: &Found<'a>) -> Option<Cow<'a, str>> {
    let service = text(found, Fact::RpcService);
    let Some(method) = text(found, Fact::RpcMethod) else { return service };
    let method = method.strip_prefix('/').map(|rest| Cow::Owned(rest.to_owned())).unwrap_or(method);
    match service {
        Some(service) if !method.contains('/') => Some(Cow::Owned(format!("{service}/{method}"))),
        _ => Some(method),
    }
}

/// What stands after the host in a URL.
fn path_and_query<'a>(found: &Found<'a>) -> Option<Cow<'a, str>> {
    let path = text(found, Fact::UrlPath)?;
    match text(found, Fact::UrlQuery) {
        Some(query) if !path.contains('?') => Some(Cow::Owned(format!("{path}?{query}"))),
        _ => Some(path),
    }
}

/// The other end as a client names it.
pub(super) fn peer_service<'a>(found: &Found<'a>) -> Option<Cow<'a, str>> {
    let named = [Fact::PeerService, Fact::DatabaseSystem, Fact::MessagingSystem];
    first_text(found, &named)
        .or_else(|| text(found, Fact::ServerAddress).map(without_ip))
        .or_else(|| text(found, Fact::RpcService))
}

/// The address, unless it is a number.
fn without_ip(address: Cow<'_, str>) -> Cow<'_, str> {
    let bare = address.trim_start_matches('[').trim_end_matches(']');
    if bare.parse::<IpAddr>().is_ok() || address.parse::<SocketAddr>().is_ok() {
        return Cow::Borrowed(ANY_IP);
    }
    address
}

/// `METHOD ROUTE`, where the name is only an HTTP method and the route is known.
pub(super) fn route_operation(name: &str, found: &Found<'_>) -> Option<String> {
    let route = text(found, Fact::HttpRoute)?;
    HTTP_METHODS.contains(&name).then(|| format!("{name} {route}"))
}

/// Whether a span changes something at the other end, and whether it may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effect {
    /// It changes something.
    pub(super) is_side_effect: bool,
    /// It may be sent again without harm.
    pub(super) is_repeat_safe: bool,
}

/// What a span of `kind` does to the other end.
pub(super) fn effect(kind: Kind, found: &Found<'_>) -> Effect {
    let is_client = kind == Kind::Client;
    let method = text(found, Fact::HttpMethod).filter(|_| is_client);
    let is_method = |methods| method.as_deref().is_some_and(|method| is_one_of(method, methods));
    let http_effect = is_method(HTTP_SIDE_EFFECTS);
    let database_effect = is_client && changes_database(found);
    let is_side_effect = kind == Kind::Producer || database_effect || http_effect;
    let is_repeat_safe = !is_side_effect
        || (http_effect && !is_method(HTTP_UNREPEATABLE))
        || found.fact(Fact::IdempotencyKey).is_some();
    Effect { is_side_effect, is_repeat_safe }
}

/// By the operation, or where none is named by the first word of the statement.
fn changes_database(found: &Found<'_>) -> bool {
    let operation = first_text(found, &[Fact::DatabaseOperation, Fact::QueryText]);
    operation.is_some_and(|operation| {
        let mut words = operation.split_whitespace();
        let first = words.next().unwrap_or_default();
        // A batch of one kind of statement is called `BATCH INSERT`.
        let verb = if first.eq_ignore_ascii_case("BATCH") { words.next() } else { Some(first) };
        verb.is_some_and(|verb| is_one_of(verb, DATABASE_SIDE_EFFECTS))
    })
}

/// Whether `word` is one of `words`, whatever its case.
fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Whether the span is a proxy's.
pub(super) fn is_proxy(found: &Found<'_>) -> bool {
    found.fact(Fact::Proxy).is_some()
        || matches!(found.fact(Fact::Component), Some(Value::Text(text)) if text == "proxy")
}
