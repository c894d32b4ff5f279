//! Who is called, and what for: target identity, peer, operation, side effects (SEMANTICS §2, §6).

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use twox_hash::XxHash64;

use super::facts::Fact;
use super::found::Found;
use super::raw::Value;
use super::reading::text_of;
use crate::span::{Kind, Target};

/// A number of 64 bits in text is no longer: 19 digits and a sign.
const MAX_DECIMAL: usize = 20;
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

/// What tells one call from another of the same name; old and new spellings of the same thing give
/// the same.
pub(super) fn target(found: &Found<'_>) -> Option<Target> {
    let mut identity = Identity::default();
    identity.add(Class::Address, first_text(found, &[Fact::ServerAddress, Fact::PeerAddress]));
    identity.add_value(Class::Port, found.fact(Fact::ServerPort));
    identity.add(Class::Peer, first_text(found, &[Fact::PeerService, Fact::UpstreamCluster]));
    let (service, method) = (text(found, Fact::RpcService), text(found, Fact::RpcMethod));
    identity.add_rpc(service.as_deref(), method.as_deref());
    identity.add(Class::HttpMethod, text(found, Fact::HttpMethod));
    match text(found, Fact::Url) {
        Some(url) => identity.add_url(&url, None),
        None => {
            if let Some(path) = text(found, Fact::UrlPath) {
                identity.add_url(&path, text(found, Fact::UrlQuery));
            }
        }
    }
    identity.add(Class::Query, text(found, Fact::QueryText));
    identity.add(Class::Destination, text(found, Fact::Destination));
    identity.is_told.then(|| Target::new(identity.hash))
}

/// What a part of a target is.
#[derive(Clone, Copy)]
enum Class {
    Address,
    Port,
    Peer,
    RpcService,
    RpcMethod,
    HttpMethod,
    Url,
    UrlQuery,
    Query,
    Destination,
}

/// The parts of a target as far as they are known, hashed one after another: the hash of those
/// before seeds that of the next.
#[derive(Default)]
struct Identity {
    hash: u64,
    is_told: bool,
}

impl Identity {
    /// Adds a part that is of `class`.
    fn write(&mut self, class: Class, text: &[u8]) {
        self.hash = XxHash64::oneshot(self.hash ^ class as u64, text);
        self.is_told = true;
    }

    /// Adds a part, if it is told.
    fn add(&mut self, class: Class, text: Option<Cow<'_, str>>) {
        if let Some(text) = text {
            self.write(class, text.as_bytes());
        }
    }

    /// Adds a part that is often a number.
    fn add_value(&mut self, class: Class, value: Option<&Value<'_>>) {
        match value {
            Some(&Value::Int(number)) => self.write(class, decimal(number, &mut [0; MAX_DECIMAL])),
            value => self.add(class, value.and_then(text_of)),
        }
    }

    /// Adds `Service/Method`, whether the method's attribute holds all of it or a service stands
    /// beside it.
    fn add_rpc(&mut self, service: Option<&str>, method: Option<&str>) {
        let method = method.map(|method| method.strip_prefix('/').unwrap_or(method));
        let (service, method) = match (service, method) {
            (service, Some(method)) if !method.contains('/') => (service, method),
            (_, Some(all)) | (Some(all), None) => match all.rsplit_once('/') {
                Some((service, method)) => (Some(service), method),
                None => (None, all),
            },
            (None, None) => return,
        };
        self.add(Class::RpcService, service.map(Cow::Borrowed));
        self.write(Class::RpcMethod, method.as_bytes());
    }

    /// Adds a URL, or what stands after the host in one, perhaps with its query told by itself.
    fn add_url(&mut self, url: &str, query: Option<Cow<'_, str>>) {
        let (path, query) = match url.split_once('?') {
            Some((path, query)) => (path, Some(Cow::Borrowed(query))),
            None => (url, query),
        };
        self.write(Class::Url, path.as_bytes());
        self.add(Class::UrlQuery, query);
    }
}

/// `number` as text writes it, at the end of `room`.
fn decimal(number: i64, room: &mut [u8; MAX_DECIMAL]) -> &[u8] {
    let mut left = number.unsigned_abs();
    let mut start = room.len();
    for (at, place) in room.iter_mut().enumerate().rev() {
        if left == 0 && at + 1 < MAX_DECIMAL {
            if number < 0 {
                *place = b'-';
                start = at;
            }
            break;
        }
        *place = b'0' + u8::try_from(left % 10).unwrap_or_default();
        left /= 10;
        start = at;
    }
    room.get(start..).unwrap_or_default()
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
    // Most are names, which is told at once.
    if !bare.starts_with(|c: char| c.is_ascii_digit()) && !bare.contains(':') {
        return address;
    }
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
