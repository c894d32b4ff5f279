//! Conventions that a person writes: what they replace, what they add, and what is wrong with them.

use dwindle::conventions::{Conventions, ConventionsError, Tally};
use dwindle::span::Kind::{Client, Server};
use dwindle::span::{Interner, Outcome};

use crate::support::raw_span::{Build, attribute, resolve, resolve_by, span};

const MS: i64 = 1_000_000;

fn with(text: &str) -> Conventions {
    Conventions::embedded().unwrap().with_file("mine.toml", text).unwrap()
}

fn error(text: &str) -> ConventionsError {
    Conventions::embedded().unwrap().with_file("mine.toml", text).unwrap_err()
}

#[test]
fn a_new_row_comes_before_those_of_the_program() {
    let conventions = with(
        r#"
        [[grant]]
        id = "B0"
        keys = ["shop.budget~left"]
        read = "us"
        kind = "remaining"
        side = "server"
        anchor = "start"
        "#,
    );
    let raw = span(Server).with("deadline.remaining_ms", 9).with("shop.budget_left", 7_000);
    let grant = resolve_by(&conventions, &raw).grant().unwrap();
    assert_eq!(grant, (7 * MS, "remaining", "shop.budget_left".to_owned(), true));
    assert_eq!(resolve(&raw).grant().unwrap().0, 9 * MS);
    let on_client = span(Client).with("shop.budget-left", 7_000);
    assert_eq!(resolve_by(&conventions, &on_client).grant(), None);
}

#[test]
fn a_row_of_a_known_id_replaces_all_of_that_id_in_their_place() {
    let conventions = with(
        r#"
        [[grant]]
        id = "B2"
        keys = ["shop.timeout"]
        read = "go_duration"
        kind = "full"
        "#,
    );
    let granted = |raw| resolve_by(&conventions, &raw).grant().map(|grant| grant.0);
    assert_eq!(granted(span(Server).with("grpc.timeout", "5m")), None);
    let raw = span(Server).with("shop.timeout", "6ms").with("rpc.request.timeout", "7ms");
    assert_eq!(granted(raw), Some(6 * MS));
    let raw = span(Server).with("shop.timeout", "6ms").with("received_deadline_ms", 8);
    assert_eq!(granted(raw), Some(8 * MS));
}

#[test]
fn a_row_without_keys_switches_off() {
    let conventions = with("[[grant]]\nid = \"B8\"\nkeys = []\nread = \"ms\"\nkind = \"full\"\n");
    let raw = span(Client).with("max_time_ms", 5);
    assert_eq!(resolve_by(&conventions, &raw).grant(), None);
}

#[test]
fn numbers_of_a_kind_absolute_are_epoch_times() {
    let conventions = with(
        "[[grant]]\nid = \"B0\"\nkeys = [\"shop.deadline_ms\"]\nread = \"ms\"\nkind = \"absolute\"\n",
    );
    let raw = span(Client).with("shop.deadline_ms", 1_788_600_000_250_i64);
    let grant = resolve_by(&conventions, &raw).grant().unwrap();
    assert_eq!((grant.0, grant.1), (250 * MS, "absolute"));
}

#[test]
fn every_section_can_be_extended() {
    let conventions = with(
        r#"
        [[ordinal]]
        id = "mine"
        keys = ["shop.try"]
        add = 1

        [[queue]]
        id = "mine"
        keys = ["shop.queued_s"]
        read = "s"

        [[name]]
        id = "mine"
        names = ["wait for *"]
        means = "wait"

        [[inside]]
        id = "mine"
        events = ["lock taken"]

        [[outcome]]
        id = "mine"
        keys = ["shop.gave_up"]
        is = ["yes"]
        means = "cancelled"

        [[fact]]
        fact = "peer_service"
        keys = ["shop.peer"]
        "#,
    );
    let raw = span(Client)
        .name("wait for stock")
        .with("shop.try", 1)
        .with("shop.queued_s", 0.5)
        .with("shop.gave_up", "YES")
        .with("shop.peer", "stock")
        .with("peer.service", "not asked")
        .event("lock taken", 3 * MS);
    let resolved = resolve_by(&conventions, &raw);
    assert_eq!(resolved.span.attempt_ordinal, Some(2));
    assert_eq!(resolved.span.queued_before.as_nanos(), 500 * MS);
    assert!(resolved.span.flags.is_wait);
    assert_eq!(resolved.span.waited_inside.as_nanos(), 3 * MS);
    assert_eq!(resolved.span.outcome, Outcome::Cancelled);
    assert_eq!(resolved.peer_service(), Some("stock"));
}

#[test]
fn errors_name_file_line_key_and_what_was_expected() {
    let grant = |lines: &str| format!("\n[[grant]]\nid = \"B0\"\n{lines}");
    let rest = "keys = [\"a\"]\nkind = \"full\"\n";
    let cases = [
        (grant(&format!("{rest}read = \"sec\"")), 6, Some("read"), "unknown variant `sec`"),
        (grant("keys = [\n  \"a\",\n  \"{b\",\n]"), 4, Some("keys"), "expected `}` after `{`"),
        (grant("keys = [\"{}\"]"), 4, Some("keys"), "expected a key"),
        (grant("keys = \"a\""), 4, Some("keys"), "expected a sequence"),
        (grant("kees = [\"a\"]"), 4, Some("kees"), "unknown field `kees`"),
        (grant("keys = [\"a\"]\nread = \"ms\""), 2, None, "missing field `kind`"),
        (
            "[[name]]\nid = \"x\"\nnames = [\"a*b*\"]\nmeans = \"wait\"".to_owned(),
            3,
            Some("names"),
            "at most one `*`",
        ),
        (
            "[[outcome]]\nid = \"x\"\nkeys = [\"a\"]\nmeans = \"late\"".to_owned(),
            4,
            Some("means"),
            "expected one of ok, error, rejected, cancelled, deadline_exceeded",
        ),
        ("[[fact]]\nfact = \"colour\"\nkeys = []".to_owned(), 2, Some("fact"), "unknown variant"),
        ("[[budget]]\nid = \"x\"".to_owned(), 1, None, "unknown field `budget`"),
        ("[[grant]\n".to_owned(), 1, None, ""),
    ];
    for (text, line, key, message) in cases {
        let error = error(&text);
        assert_eq!((error.file.as_str(), error.line), ("mine.toml", line), "{text}\n{error}");
        assert_eq!(error.key.as_deref(), key, "{text}\n{error}");
        assert!(error.message.contains(message), "{text}\n{error}");
    }
}

#[test]
fn an_absurd_pattern_is_refused() {
    let keys = "{a|b|c|d|e|f|g|h}".repeat(12);
    let text = format!("[[noted]]\nid = \"x\"\nkeys = [\"{keys}\"]");
    assert!(error(&text).message.contains("more than 1000 keys"));
}

#[test]
fn keys_met_are_counted_with_the_rows_that_name_them() {
    let resolved = resolve(
        &span(Client)
            .with("timeout_ms", 5)
            .with("attempts", 2)
            .with("deadline.queue_ms", "?")
            .with("http.response.status_code", 200)
            .with("server.address", "shop")
            .event("Delayed LB pick complete", 1),
    );
    let keys: Vec<_> = resolved
        .seen
        .keys
        .iter()
        .map(|(key, met)| (key.as_str(), met.rule.as_str(), met.count, met.unparsed))
        .collect();
    let expected = [
        ("attempts", "A9", 1, 0),
        ("deadline.queue_ms", "own", 1, 1),
        ("event Delayed LB pick complete", "Q7", 1, 0),
        ("http.response.status_code", "O4", 1, 0),
        ("timeout_ms", "B6, B8, B10", 1, 0),
    ];
    assert_eq!(keys, expected);
}

#[test]
fn what_was_seen_adds_up_in_any_order() {
    let conventions = Conventions::embedded().unwrap();
    let seen_on = |keys: &[&'static str]| {
        let mut tally = Tally::default();
        let mut strings = Interner::default();
        let resource = conventions.resource(&[attribute("service.name", "shop")], &mut strings);
        for key in keys {
            let raw = span(Server).with(key, "x");
            conventions.resolve(&raw, &resource, &mut strings, &mut tally);
        }
        tally.into_seen()
    };
    let (one, other) = (["grpc.timeout", "retry.count"], ["grpc.timeout", "error.type"]);
    let merged = |first: &[&'static str], second: &[&'static str]| {
        let mut seen = seen_on(first);
        seen.merge(seen_on(second));
        seen
    };
    assert_eq!(merged(&one, &other), merged(&other, &one));
    assert_eq!(merged(&one, &other), seen_on(&[one, other].concat()));
    assert_eq!(merged(&one, &other).keys["grpc.timeout"].unparsed, 2);
}

#[test]
fn a_value_for_which_several_rows_ask_fails_once() {
    let conventions = Conventions::embedded().unwrap().heuristics(true);
    let raw = span(Client).with("timeout_ms", "soon").with("deadline_updated", true);
    let resolved = resolve_by(&conventions, &raw.with("attempts", 1));
    assert_eq!(resolved.unparsed("timeout_ms"), 1);
}
