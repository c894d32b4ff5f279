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
    let grpc = "rpc.grpc.request.metadata.grpc-timeout";
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
        "record how much time fraud is given (rpc.grpc.request.metadata.grpc-timeout)",
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

/// What is undecided without the spans of each service, in ms.
fn untraced_ms(told: &Told) -> Vec<(String, i64)> {
    let rows = told.rows("record_next");
    let rows = rows.iter().filter(|row| row["missing"] == "callee_span");
    let told = |row: &Value| {
        let service = row["service"].as_str().unwrap().to_owned();
        (service, count(row, "undecided_ns_share") / MS)
    };
    let mut all: Vec<(String, i64)> = rows.map(told).collect();
    all.sort();
    all
}

/// A `GET` that is not traced at the other end.
fn get(id: u64, parent: u64, from: &str, to: &str, times: [u64; 2]) -> String {
    line((1, id, parent, from, "GET", "client", times), &json!({"service.peer.name": to}))
}

#[test]
fn clients_that_call_all_their_spans_alike_leave_to_each_callee_its_own_time() {
    let spans = [
        line((1, 1, 0, "web", "GET /", "server", [0, 1_000]), &json!({})),
        get(2, 1, "web", "fast", [5, 15]),
        get(3, 1, "web", "slow", [20, 800]),
        line((1, 4, 1, "web", "GET", "client", [805, 985]), &json!({"db.system": "redis"})),
        line((1, 5, 1, "web", "GET", "client", [990, 999]), &json!({})),
    ];
    let told = Told::of("record-alike", &spans.concat(), &[]);
    assert_eq!(untraced_ms(&told), [("fast".to_owned(), 10), ("slow".to_owned(), 780)]);
    let row = &told.rows("explained")[0];
    let times = ["downstream_ns_sum", "systems_ns_sum"];
    assert_eq!(times.map(|name| count(row, name) / MS), [979, 180]);
    let nameless = told.row("record_next", &[("missing", "callee_name")]);
    assert_eq!(count(&nameless, "undecided_ns_share") / MS, 9);
}

#[test]
fn of_calls_at_one_time_that_is_told_which_the_path_went_through() {
    // The short one ends first; of the long ones the last to end was waited for, and before that one
    // began the other; the caller had given up when the last was answered.
    let server = ("web", "GET /", "server");
    let spans = [
        line((1, 1, 0, server.0, server.1, server.2, [0, 1_000]), &json!({})),
        get(2, 1, "web", "short", [100, 150]),
        get(3, 1, "web", "before", [100, 700]),
        get(4, 1, "web", "last", [400, 900]),
        get(5, 1, "web", "left", [950, 3_000]),
        // Beside a call that is traced and took longer nobody waits for it.
        line((1, 6, 1, "web", "POST", "client", [10, 98]), &json!({"service.peer.name": "shop"})),
        line((1, 7, 6, "shop", "POST /", "server", [11, 97]), &json!({})),
        get(8, 1, "web", "beside", [10, 90]),
    ];
    let told = Told::of("record-beside", &spans.concat(), &[]);
    let own = |service: &str, time| (service.to_owned(), time);
    let path = [own("before", 250), own("last", 500), own("left", 50), own("short", 50)];
    assert_eq!(untraced_ms(&told), path);
    assert_eq!(count(&told.rows("explained")[0], "downstream_ns_sum") / MS, 850);
}

#[test]
fn parts_that_cannot_be_told_sum_to_the_whole() {
    // The inner work covers only a part of each call, and who was waited for there is not seen.
    let spans = [
        line((1, 1, 0, "web", "GET /", "server", [0, 100]), &json!({})),
        line((1, 2, 1, "web", "one", "internal", [0, 50]), &json!({})),
        line((1, 3, 1, "web", "two", "internal", [20, 100]), &json!({})),
        get(4, 2, "web", "a", [5, 45]),
        get(5, 3, "web", "b", [30, 90]),
        get(6, 3, "web", "c", [91, 94]),
    ];
    let told = Told::of("record-parts", &spans.concat(), &[]);
    let rows = told.rows("record_next");
    let rows = rows.iter().filter(|row| row["missing"] == "callee_span");
    let parts: i64 = rows.map(|row| count(row, "undecided_ns_share")).sum();
    assert_eq!(parts, count(&told.rows("explained")[0], "downstream_ns_sum"));
}

#[test]
fn hedges_that_nobody_won_are_dark() {
    let dark = |name: &str, statuses: [i64; 2]| {
        let attempt = |number: usize| {
            json!({"service.peer.name": "search", "server.address": "search",
                PREVIOUS: number, "rpc.grpc.status_code": statuses[number]})
        };
        let spans = [
            line((1, 1, 0, "web", "GET /", "server", [0, 600]), &json!({})),
            line((1, 2, 1, "web", "search", "client", [5, 505]), &attempt(0)),
            line((1, 3, 1, "web", "search", "client", [205, 505]), &attempt(1)),
        ];
        let told = Told::of(name, &spans.concat(), &[]);
        assert_eq!(count(&told.row("retrying", &[("operation", "search")]), "hedges"), 1);
        let row = told.rows("explained")[0].clone();
        (count(&row, "dark_calls"), count(&row, "dark_ns_sum") / MS)
    };
    let (answered, cancelled) = (0, 1);
    assert_eq!(dark("record-nobody-won", [cancelled, cancelled]), (2, 800));
    assert_eq!(dark("record-hedge-won", [cancelled, answered]), (0, 0));
}

#[test]
fn the_caller_tells_which_try_it_is() {
    let of = |language: &str, line: String| {
        let resource =
            format!("\"host.name\":\"one-host\",\"telemetry.sdk.language\":\"{language}\"");
        line.replace("\"host.name\":\"one-host\"", &resource)
    };
    let advised = |name: &str, caller: &str, callee: Option<&str>| {
        let failed = json!({"service.peer.name": "cart", "server.address": "cart",
            "rpc.grpc.status_code": 14});
        let client = |id, times, attributes: &Value| {
            of(caller, line((1, id, 1, "web", "shop.Cart/Get", "client", times), attributes))
        };
        let mut spans = vec![
            of(caller, line((1, 1, 0, "web", "GET /", "server", [0, 1_000]), &json!({}))),
            client(2, [5, 400], &failed),
            client(3, [410, 990], &json!({"service.peer.name": "cart", "server.address": "cart"})),
        ];
        for (id, client, times) in [(4, 2, [6, 399]), (5, 3, [411, 989])] {
            let server = (1, id, client, "cart", "shop.Cart/Get", "server", times);
            spans.extend(callee.map(|callee| of(callee, line(server, &json!({})))));
        }
        let told = Told::of(name, &spans.concat(), &[]);
        let row = told.row("record_next", &[("missing", "ordinal")]);
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        assert_eq!((text("service"), text("attribute")), ("web".into(), PREVIOUS.into()));
        (text("stack"), text("setting"))
    };
    let (stack, setting) = advised("record-go-java", "go", Some("java"));
    assert!(stack == "go" && setting.contains("grpc/stats/opentelemetry"), "{setting}");
    let (stack, setting) = advised("record-java-go", "java", Some("go"));
    assert!(stack == "java" && setting.contains("GrpcOpenTelemetry"), "{setting}");
    let (stack, setting) = advised("record-java", "java", None);
    assert!(stack == "java" && setting.contains("GrpcOpenTelemetry"), "{setting}");
    // Nothing writes it there: the name is still that of remote procedures, and not that of HTTP.
    let (stack, setting) = advised("record-rust", "rust", Some("java"));
    assert!(stack == "rust" && setting.contains("0 for the first"), "{setting}");
}

/// How many tries of a remote procedure came before.
const PREVIOUS: &str = "previous-rpc-attempts";

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
    // Without it the proxy tells the timeout of its own route, and not what the caller gave.
    assert!(setting(Way::Http, "envoy").contains("respect_expected_rq_timeout: true"));
    // Of what nothing is known the project's own attribute is advised.
    assert_eq!(advice(Missing::Grant, Way::Unknown, None).attribute, "deadline.remaining_ms");
}

#[test]
fn attributes_are_advised_as_they_are_written_by_default() {
    let attribute = |missing, way, stack| advice(missing, way, Some(stack)).attribute;
    let java = attribute(Missing::Grant, Way::Grpc, "java");
    assert_eq!(java, "rpc.grpc.request.metadata.grpc-timeout");
    let expected = |stack| attribute(Missing::Grant, Way::Http, stack);
    let underscored = "http.request.header.x_envoy_expected_rq_timeout_ms";
    assert_eq!(["nodejs", "python", "ruby"].map(expected), [underscored; 3]);
    let dashed = "http.request.header.x-envoy-expected-rq-timeout-ms";
    assert_eq!(["java", "dotnet", "envoy"].map(expected), [dashed; 3]);
    let queue = attribute(Missing::Queue, Way::Http, "nodejs");
    assert_eq!(queue, "http.request.header.x_request_start");
}

#[test]
fn the_section_at_80_columns() {
    insta::assert_snapshot!(super::told::section("What to record next", 80));
}

#[test]
fn the_section_at_120_columns() {
    insta::assert_snapshot!(super::told::section("What to record next", 120));
}
