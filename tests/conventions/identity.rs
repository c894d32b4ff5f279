//! Who is called, and what for (SEMANTICS §2, §6; conventions §6).

use dwindle::conventions::Conventions;
use dwindle::conventions::raw::{RawSpan, Status};
use dwindle::span::Kind::{self, Client, Internal, Producer, Server};
use dwindle::span::{Interner, Target};
use dwindle::units::UnixNanos;

use crate::support::raw_span::{Build, START_NS, V, attribute, resolve, span};

fn client(attributes: &[(&'static str, &'static str)]) -> RawSpan<'static> {
    attributes.iter().fold(span(Client), |raw, &(key, value)| raw.with(key, value))
}

fn target(attributes: &[(&'static str, &'static str)]) -> Option<Target> {
    resolve(&client(attributes)).span.target
}

#[test]
fn old_and_new_spellings_give_one_target() {
    let same: [(&[_], &[_]); 6] = [
        (
            &[("server.address", "shop"), ("server.port", "80")],
            &[("net.peer.port", "80"), ("net.peer.name", "shop")],
        ),
        (
            &[("http.request.method", "GET"), ("url.full", "u")],
            &[("http.url", "u"), ("http.method", "GET")],
        ),
        (&[("url.path", "/a"), ("url.query", "b=1")], &[("http.target", "/a?b=1")]),
        (
            &[("rpc.method", "shop.Items/Get")],
            &[("rpc.method", "Get"), ("rpc.service", "shop.Items")],
        ),
        (&[("db.query.text", "SELECT 1")], &[("db.statement", "SELECT 1")]),
        (&[("messaging.destination.name", "q")], &[("messaging.destination", "q")]),
    ];
    for (new, old) in same {
        assert!(target(new).is_some());
        assert_eq!(target(new), target(old), "{new:?}");
    }
    assert_eq!(target(&[("rpc.method", "/a.B/C")]), target(&[("rpc.method", "a.B/C")]));
}

#[test]
fn any_part_tells_targets_apart() {
    let base = [
        ("server.address", "a"),
        ("server.port", "1"),
        ("peer.service", "a"),
        ("rpc.service", "a"),
        ("rpc.method", "a"),
        ("http.request.method", "a"),
        ("url.full", "a"),
        ("db.query.text", "a"),
        ("messaging.destination.name", "a"),
    ];
    for changed in 0..base.len() {
        let mut other = base;
        other[changed].1 = "b";
        assert_ne!(target(&base), target(&other), "{}", base[changed].0);
    }
    // What is absent is not what is there under another name.
    assert_ne!(target(&[("server.address", "x")]), target(&[("url.full", "x")]));
    assert_eq!(target(&[("user.id", "x")]), None);
}

#[test]
fn an_address_that_changes_under_a_name_is_no_other_target() {
    let replica =
        |address| target(&[("server.address", "shop"), ("network.peer.address", address)]);
    assert_eq!(replica("10.0.0.1"), replica("10.0.0.2"));
    assert_ne!(
        target(&[("network.peer.address", "10.0.0.1")]),
        target(&[("network.peer.address", "10.0.0.2")])
    );
}

#[test]
fn the_peer_is_the_first_that_is_named() {
    let order = [
        ("service.peer.name", "a"),
        ("peer.service", "b"),
        ("db.system.name", "c"),
        ("db.system", "d"),
        ("messaging.system", "e"),
        ("server.address", "f"),
        ("net.peer.name", "g"),
        ("rpc.service", "h"),
    ];
    for first in 0..order.len() {
        let resolved = resolve(&client(&order[first..]));
        assert_eq!(resolved.peer_service(), Some(order[first].1));
    }
    assert_eq!(resolve(&span(Client)).peer_service(), None);
    assert_eq!(
        resolve(&client(&[("peer.service", ""), ("db.system", "x")])).peer_service(),
        Some("x")
    );
}

#[test]
fn ip_addresses_are_not_shown() {
    for address in ["10.0.0.1", "::1", "[2001:db8::1]", "10.0.0.1:80", "[::1]:80"] {
        let resolved = resolve(&client(&[("server.address", address)]));
        assert_eq!(resolved.peer_service(), Some("ip"), "{address}");
    }
    let named = resolve(&client(&[("net.peer.name", "shop-1.example")]));
    assert_eq!(named.peer_service(), Some("shop-1.example"));
}

fn effect(kind: Kind, attributes: &[(&'static str, &'static str)]) -> (bool, bool) {
    let raw = attributes.iter().fold(span(kind), |raw, &(key, value)| raw.with(key, value));
    let flags = resolve(&raw).span.flags;
    (flags.side_effect, flags.repeat_safe)
}

#[test]
fn side_effects_and_what_may_be_sent_again() {
    assert_eq!(effect(Producer, &[]), (true, false));
    assert_eq!(effect(Client, &[]), (false, true));
    for (method, expected) in [
        ("GET", (false, true)),
        ("POST", (true, false)),
        ("PATCH", (true, false)),
        ("PUT", (true, true)),
        ("delete", (true, true)),
    ] {
        assert_eq!(effect(Client, &[("http.request.method", method)]), expected, "{method}");
        assert_eq!(effect(Server, &[("http.request.method", method)]), (false, true), "{method}");
    }
    for operation in ["INSERT", "update", "DELETE", "merge", "REPLACE", "UPSERT", "BATCH INSERT"] {
        assert_eq!(
            effect(Client, &[("db.operation.name", operation)]),
            (true, false),
            "{operation}"
        );
        assert_eq!(effect(Internal, &[("db.operation", operation)]), (false, true), "{operation}");
    }
    assert_eq!(effect(Client, &[("db.operation", "SELECT")]), (false, true));
    assert_eq!(effect(Client, &[("db.statement", "insert into t values (1)")]), (true, false));
    let select = [("db.operation", "SELECT"), ("db.statement", "INSERT")];
    assert_eq!(effect(Client, &select), (false, true));
    let key = ("http.request.header.idempotency-key", "7");
    assert_eq!(effect(Client, &[("http.method", "POST"), key]), (true, true));
}

#[test]
fn a_name_that_is_only_a_method_has_its_route() {
    let route = |name, key| {
        let resolved = resolve(&span(Server).name(name).with(key, "/items/:id"));
        resolved.span.route_operation.map(|route| resolved.strings.get(route).to_owned())
    };
    assert_eq!(route("GET", "http.route"), Some("GET /items/:id".to_owned()));
    assert_eq!(route("GET /items/:id", "http.route"), None);
    assert_eq!(route("GET", "url.path"), None);
}

#[test]
fn spans_of_proxies_are_told_by_component_or_the_attributes_of_envoy() {
    let is_proxy = |key, value| resolve(&span(Server).with(key, value)).span.flags.is_proxy;
    assert!(is_proxy("component", "proxy"));
    assert!(is_proxy("upstream_cluster", "items"));
    assert!(is_proxy("upstream_cluster.name", "items"));
    assert!(is_proxy("response_flags", "-"));
    assert!(is_proxy("node_id", "sidecar~1"));
    assert!(!is_proxy("component", "net/http"));
}

#[test]
fn the_clock_is_named_by_the_first_of_four_attributes_else_by_the_service() {
    let conventions = Conventions::embedded().unwrap();
    let clock = |keys: &[&'static str]| {
        let mut strings = Interner::default();
        let attributes: Vec<_> = keys.iter().map(|key| attribute(key, "x")).collect();
        let resource = conventions.resource(&attributes, &mut strings);
        strings.get(resource.clock_domain).to_owned()
    };
    let order = ["service.instance.id", "host.name", "host.id", "k8s.node.name"];
    assert_eq!(clock(&order), "k8s.node.name=x");
    assert_eq!(clock(&order[..3]), "host.id=x");
    assert_eq!(clock(&order[..2]), "host.name=x");
    assert_eq!(clock(&order[..1]), "service.instance.id=x");
    assert_eq!(clock(&["service.name"]), "x");
    assert_eq!(clock(&[]), "");
}

#[test]
fn facts_of_the_span_are_kept() {
    let mut raw = span(Client).with("rpc.anything", 1).with("http.method", "GET");
    raw.end = UnixNanos::from_nanos(START_NS - 1);
    raw.links = 3;
    let span = resolve(&raw.status(Status::Error, "")).span;
    assert!(span.flags.has_rpc && span.flags.has_http_method);
    assert!(span.flags.negative_duration && span.flags.has_error_status);
    assert_eq!((span.end, span.links), (span.start, 3));
}

#[test]
fn keys_are_compared_in_lower_case_and_shown_as_written() {
    let resolved =
        resolve(&span(Server).with("Deadline.Remaining_MS", "?").with("GRPC.Timeout", "1S"));
    assert_eq!(resolved.grant().unwrap().2, "GRPC.Timeout");
    assert_eq!(resolved.unparsed("deadline.remaining_ms"), 1);
}

#[test]
fn of_a_key_that_comes_twice_the_first_counts() {
    let values: [V; 2] = [10.into(), 20.into()];
    let [first, second] = values;
    let raw =
        span(Server).with("deadline.remaining_ms", first).with("deadline.remaining_ms", second);
    assert_eq!(resolve(&raw).grant().unwrap().0, 10_000_000);
}
