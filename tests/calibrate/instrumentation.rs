//! What to record next: what is missing is planted, named, added, and then something else is next.

use dwindle::instrumentation::{Missing, Way, advice, rules};
use dwindle::span::Kind::{Client, Server};
use serde_json::{Value, json};

use super::told::{Told, count, of};
use crate::support::made_spans::line;
use crate::support::raw_span::{Build, START_NS, resolve, span};

const MS: i64 = 1_000_000;

/// The gateway calls payment at 100 ms, which asks the fraud service from 200 to 800 ms; of that one
/// the spans are as told.
fn asks_fraud(server_of_fraud: Option<&Value>) -> String {
    let pay = json!({"deadline.remaining_ms": 890, "service.peer.name": "payment"});
    let ask = json!({"service.peer.name": "fraud"});
    let mut spans = vec![
        line((1, 1, 0, "gateway", "POST /pay", "server", [0, 1_000]), &json!({})),
        line((1, 2, 1, "gateway", "shop.Payment/Pay", "client", [100, 900]), &pay),
        line((1, 3, 2, "payment", "shop.Payment/Pay", "server", [110, 890]), &json!({})),
        line((1, 4, 3, "payment", "shop.Fraud/Ask", "client", [200, 800]), &ask),
    ];
    spans.extend(server_of_fraud.map(|attributes| {
        line((1, 5, 4, "fraud", "shop.Fraud/Ask", "server", [210, 790]), attributes)
    }));
    spans.concat().replace(
        "\"host.name\":\"one-host\"",
        "\"host.name\":\"one-host\",\"telemetry.sdk.language\":\"java\"",
    )
}

/// What would decide most, where, and how much.
fn next(told: &Told) -> (String, String, String, i64) {
    let rows = told.rows("record_next");
    let first = &rows[0];
    let text = |key: &str| first[key].as_str().unwrap().to_owned();
    let decides = count(first, "undecided_ns_share") / MS;
    (text("missing"), text("service"), text("attribute"), decides)
}

#[test]
fn what_is_missing_is_named_and_once_it_is_there_the_next_is() {
    let with_deadline = ["--deadline", "1s"];
    let told = |name: &str, spans: &str| Told::of(name, spans, &with_deadline);
    let explained = |told: &Told| of(&told.rows("explained")[0], "explained_ns_share");

    // Nobody knows what the fraud service did for 600 ms.
    let blind = told("record-blind", &asks_fraud(None));
    assert_eq!(explained(&blind), (400 * MS, 1_000 * MS));
    assert_eq!(next(&blind), ("callee_span".into(), "fraud".into(), "server span".into(), 600));

    // Its span explains all of the time, and leaves open how much of it the service was given.
    let seen = told("record-seen", &asks_fraud(Some(&json!({}))));
    assert_eq!(explained(&seen), (1_000 * MS, 1_000 * MS));
    let grpc = "rpc.request.metadata.grpc-timeout";
    assert_eq!(next(&seen), ("grant".into(), "fraud".into(), grpc.into(), 580));
    let row = told("record-row", &asks_fraud(Some(&json!({})))).rows("record_next")[0].clone();
    assert_eq!((&row["stack"], &row["way"]), (&json!("java"), &json!("grpc")));

    // With that attribute only the way to the services is left, of which some may be queues.
    let granted = told("record-granted", &asks_fraud(Some(&json!({grpc: "600m"}))));
    let (missing, _, attribute, decides) = next(&granted);
    assert_eq!((&*missing, &*attribute, decides), ("queue", "deadline.queue_ms", 10));
    assert_eq!(count(&granted.rows("explained")[0], "hops_granted"), 2);

    // Nothing of that can be compared with a deadline that nobody tells.
    let unbounded = Told::of("record-unbounded", &asks_fraud(None), &[]);
    let deadline = ("deadline".into(), "gateway".into(), "deadline.remaining_ms".into(), 1_000);
    assert_eq!(next(&unbounded), deadline);
}

#[test]
fn the_sentence_names_attribute_setting_and_runner_up() {
    let told = Told::of("record-words", &asks_fraud(Some(&json!({}))), &["--deadline", "1s"]);
    let notes = told.notes("What to record next");
    for words in [
        "gateway POST /pay: record how much time fraud is given (rpc.request.metadata.grpc-timeout)",
        "58.0 % of what had passed, 580 ms a request",
        "otel.instrumentation.grpc.capture-metadata.server.request=grpc-timeout",
        "Next: how long requests queue before fraud (deadline.queue_ms), 1.0 %.",
    ] {
        assert!(notes.contains(words), "{words} in {notes}");
    }
}

#[test]
fn time_in_the_dark_is_told() {
    let timed_out = json!({"service.peer.name": "slow", "error.type": "timeout"});
    let spans = [
        line((1, 1, 0, "gateway", "GET /", "server", [0, 1_000]), &json!({})),
        line((1, 2, 1, "gateway", "dark", "client", [10, 310]), &timed_out),
        line((1, 3, 1, "gateway", "open", "client", [400, 600]), &timed_out),
        line((1, 4, 3, "slow", "open", "server", [401, 675]), &json!({})),
        line((1, 5, 99, "lost", "lost", "internal", [700, 710]), &json!({})),
        line((1, 6, 1, "gateway", "SELECT", "client", [750, 760]), &json!({"db.system": "mysql"})),
    ];
    let told = Told::of("record-dark", &spans.concat(), &[]);
    let row = &told.rows("explained")[0];
    let counts = ["requests", "dark_calls", "open_calls", "orphaned"];
    assert_eq!(counts.map(|name| count(row, name)), [1; 4]);
    let times = ["dark_ns_sum", "open_ns_sum", "downstream_ns_sum", "systems_ns_sum"];
    assert_eq!(times.map(|name| count(row, name) / MS), [300, 75, 310, 10]);
    // Nobody can make a database write spans.
    let spans_of = |row: &Value| row["missing"] == "callee_span" && row["service"] == "mysql";
    assert!(!told.rows("record_next").iter().any(spans_of));
}

#[test]
fn the_name_of_a_span_tells_how_it_was_asked() {
    let names = [
        ("GET /orders", "http"),
        ("/orders/new", "http"),
        ("shop.example:9080/productpage", "http"),
        ("shop.Cart/Get", "grpc"),
        ("/shop.Cart/Get", "grpc"),
        ("Recv.shop.Cart.Get", "grpc"),
        ("orders process", "messaging"),
        ("receive orders", "messaging"),
        ("nightly", "unknown"),
    ];
    let root = |(number, (name, _)): (u64, &(&str, &str))| {
        line((number, 1, 0, "shop", name, "server", [0, 10]), &json!({}))
    };
    let spans: String = (1..).zip(&names).map(root).collect();
    let told = Told::of("record-ways", &spans, &[]);
    for (name, way) in names {
        let row = told.row("record_next", &[("class", &format!("shop {name}"))]);
        assert_eq!(row["way"], way, "{name}");
    }
}

#[test]
fn whatever_is_advised_is_understood() {
    let is_read = |missing: Missing, key: &'static str| match missing {
        Missing::Grant | Missing::Deadline => {
            let value = if key.ends_with("timeout") { "100m" } else { "100" };
            resolve(&span(Server).with(key, value)).grant().is_some()
        }
        Missing::Queue => {
            let ago = (START_NS / MS - 100).to_string();
            let value = if key.ends_with("start") { ago } else { "100".to_owned() };
            resolve(&span(Server).with(key, value)).span.queued_before.as_nanos() == 100 * MS
        }
        Missing::Ordinal => resolve(&span(Client).with(key, 1)).span.attempt_ordinal == Some(2),
        Missing::CalleeName => resolve(&span(Client).with(key, "db")).peer_service() == Some("db"),
        Missing::CalleeSpan => key == "server span",
        Missing::Clock => key == "host.id",
    };
    for rule in rules() {
        assert!(is_read(rule.missing, rule.advice.attribute), "{rule:?}");
    }
    for &missing in Missing::ALL {
        for &way in Way::ALL {
            assert!(is_read(missing, advice(missing, way, Some("cobol")).attribute), "{missing:?}");
        }
    }
}

#[test]
fn each_stack_gets_its_own_setting() {
    let setting = |way, stack| advice(Missing::Grant, way, Some(stack)).setting;
    assert!(setting(Way::Grpc, "go").contains("ctx.Deadline()"));
    assert!(setting(Way::Grpc, "nodejs").contains("getDeadline"));
    assert!(setting(Way::Http, "python").contains("HTTP_CAPTURE_HEADERS_SERVER_REQUEST"));
    assert!(setting(Way::Http, "dotnet").contains("ASPNETCORE"));
    assert!(setting(Way::Http, "envoy").contains("custom_tags"));
    // Of what nothing is known the project's own attribute is advised.
    assert_eq!(advice(Missing::Grant, Way::Unknown, None).attribute, "deadline.remaining_ms");
}

#[test]
fn the_section_at_80_columns() {
    insta::assert_snapshot!(super::told::section("What to record next", 80));
}

#[test]
fn the_section_at_120_columns() {
    insta::assert_snapshot!(super::told::section("What to record next", 120));
}
