//! Who tries calls again: every number of it, on traces of which each is counted by hand.

use serde_json::{Value, json};

use super::told::{Told, count, of};
use crate::support::made_spans::line;

/// A failed try of a call to `at`.
fn failed(at: &str) -> Value {
    json!({"service.peer.name": at, "server.address": at, "error.type": "unavailable"})
}

/// One that succeeded.
fn answered(at: &str) -> Value {
    json!({"service.peer.name": at, "server.address": at})
}

/// The gateway tries the cart twice, which tries its database three times below the first of these and
/// twice below the second.
fn two_layers() -> String {
    [
        line((1, 1, 0, "gateway", "POST /buy", "server", [0, 1_000]), &json!({})),
        line((1, 2, 1, "gateway", "cart.Cart/Add", "client", [10, 200]), &failed("cart")),
        line((1, 3, 2, "cart", "cart.Cart/Add", "server", [11, 199]), &json!({})),
        line((1, 4, 3, "cart", "INSERT", "client", [20, 60]), &failed("db")),
        line((1, 5, 3, "cart", "INSERT", "client", [70, 100]), &failed("db")),
        line((1, 6, 3, "cart", "INSERT", "client", [110, 190]), &failed("db")),
        line((1, 7, 1, "gateway", "cart.Cart/Add", "client", [300, 500]), &answered("cart")),
        line((1, 8, 7, "cart", "cart.Cart/Add", "server", [301, 499]), &json!({})),
        line((1, 9, 8, "cart", "INSERT", "client", [310, 350]), &failed("db")),
        line((1, 10, 8, "cart", "INSERT", "client", [360, 400]), &answered("db")),
    ]
    .concat()
}

#[test]
fn layers_multiply_and_the_pair_that_retries_is_named() {
    let told = Told::of("retrying-layers", &two_layers(), &[]);
    let upper = told.row("retrying", &[("caller", "gateway"), ("callee", "cart")]);
    let numbers = ["calls", "tries_max", "retries", "retries_inferred", "retries_declared"];
    assert_eq!(numbers.map(|name| count(&upper, name)), [1, 2, 1, 1, 0]);
    assert_eq!(of(&upper, "tries_per_call"), (2, 1));
    let lower = told.row("retrying", &[("caller", "cart"), ("callee", "db")]);
    assert_eq!(numbers.map(|name| count(&lower, name)), [2, 3, 3, 3, 0]);
    assert_eq!((of(&lower, "tries_per_call"), of(&lower, "retried")), ((5, 2), (2, 2)));
    // Without the gateway's retry the database would have been called once; it was tried five times,
    // and might have been six times.
    let path = told.row("retry_layers", &[("path", "gateway → cart → db")]);
    let numbers = ["calls_due", "calls", "tries", "tries_max", "amplification_worst"];
    assert_eq!(numbers.map(|name| count(&path, name)), [1, 2, 5, 3, 6]);
    assert_eq!(of(&path, "amplification_observed"), (5, 1));
    let path = told.row("retry_layers", &[("path", "gateway → cart")]);
    assert_eq!(numbers.map(|name| count(&path, name)), [1, 1, 2, 2, 2]);
    let pair = told.row("retry_pairs", &[("callee", "cart"), ("lower_callee", "db")]);
    assert_eq!(count(&pair, "requests"), 1);
    assert_eq!(told.rows("retry_pairs").len(), 1);
    let notes = told.notes("Who retries");
    assert!(
        notes.contains(
            "gateway → cart · cart.Cart/Add above cart → db · INSERT (in 1 request). Let one"
        ),
        "{notes}"
    );
}

#[test]
fn hedges_resends_loops_and_retries_are_kept_apart() {
    let cut = json!({"service.peer.name": "search", "server.address": "search", "error.type": "cancelled"});
    let challenged = json!({"server.address": "auth", "http.request.method": "GET",
        "http.response.status_code": 401});
    let again = json!({"server.address": "auth", "http.request.method": "GET",
        "http.response.status_code": 200, "http.request.resend_count": 1});
    let declared = json!({"service.peer.name": "pay", "server.address": "pay", "http.request.resend_count": 1});
    let client = |id, name, times| (1, id, 1, "gateway", name, "client", times);
    let spans = [
        line((1, 1, 0, "gateway", "GET /", "server", [0, 1_000]), &json!({})),
        line(client(2, "search", [10, 100]), &answered("search")),
        line(client(3, "search", [50, 100]), &cut),
        line(client(4, "auth", [110, 120]), &challenged),
        line(client(5, "auth", [121, 130]), &again),
        line(client(6, "item", [140, 150]), &answered("items")),
        line(client(7, "item", [151, 160]), &answered("items")),
        line(client(8, "item", [161, 170]), &answered("items")),
        line(client(9, "pay", [200, 210]), &failed("pay")),
        line(client(10, "pay", [220, 230]), &declared),
        line((1, 11, 1, "gateway", "PutItem", "client", [300, 400]), &json!({})),
        line((1, 12, 11, "gateway", "Attempt-1", "internal", [301, 340]), &failed("table")),
        line((1, 13, 11, "gateway", "Attempt-2", "internal", [350, 399]), &answered("table")),
        line(client(14, "item", [500, 510]), &failed("items")),
        line(client(15, "item", [520, 530]), &answered("items")),
    ]
    .concat();
    let told = Told::of("retrying-apart", &spans, &[]);
    let names = [
        "calls",
        "retries",
        "retries_declared",
        "retries_named",
        "retries_inferred",
        "hedges",
        "resends",
        "loops",
    ];
    let numbers = |operation: &str| {
        let row = told.row("retrying", &[("operation", operation)]);
        names.map(|name| count(&row, name))
    };
    assert_eq!(numbers("search"), [1, 0, 0, 0, 0, 1, 0, 0]);
    assert_eq!(numbers("auth"), [1, 0, 0, 0, 0, 0, 1, 0]);
    assert_eq!(numbers("pay"), [1, 1, 1, 0, 0, 0, 0, 0]);
    assert_eq!(numbers("Attempt-1"), [1, 1, 0, 1, 0, 0, 0, 0]);
    // Four calls of which the last was tried again: three of them are the loop.
    assert_eq!(numbers("item"), [4, 1, 0, 0, 1, 0, 0, 3]);
    // A hedge or a resend is no try of its own.
    let search = told.row("retrying", &[("operation", "search")]);
    assert_eq!((of(&search, "tries_per_call"), of(&search, "retried")), ((1, 1), (0, 1)));
}

#[test]
fn tries_hidden_in_a_span_count_and_those_with_a_span_do_not_count_twice() {
    let total = |retries: u64| json!({"service.peer.name": "s3", "server.address": "s3", "retry_attempts": retries});
    let spans = [
        line((1, 1, 0, "shop", "GET /", "server", [0, 1_000]), &json!({})),
        line((1, 2, 1, "shop", "S3.Get", "client", [10, 400]), &total(2)),
        line((1, 3, 1, "shop", "S3.Put", "client", [500, 900]), &total(2)),
        line((1, 4, 3, "shop", "PUT", "client", [510, 600]), &failed("s3")),
        line((1, 5, 3, "shop", "PUT", "client", [610, 700]), &failed("s3")),
        line((1, 6, 3, "shop", "PUT", "client", [710, 890]), &answered("s3")),
    ]
    .concat();
    let told = Told::of("retrying-hidden", &spans, &[]);
    let get = told.row("retrying", &[("operation", "S3.Get")]);
    let numbers = ["calls", "retries", "hidden_tries", "tries_max"];
    assert_eq!(numbers.map(|name| count(&get, name)), [1, 0, 2, 3]);
    let put = told.row("retrying", &[("operation", "PUT")]);
    assert_eq!(numbers.map(|name| count(&put, name)), [1, 2, 0, 3]);
    let is_outer = |row: &Value| row["operation"] == "S3.Put";
    assert!(!told.rows("retrying").iter().any(is_outer), "its tries are told by their own spans");
}

#[test]
fn where_nobody_retries_there_is_no_such_section() {
    let spans = [
        line((1, 1, 0, "shop", "GET /", "server", [0, 100]), &json!({})),
        line((1, 2, 1, "shop", "ask", "client", [10, 90]), &answered("other")),
    ];
    let told = Told::of("retrying-none", &spans.concat(), &[]);
    assert!(told.rows("retrying").is_empty() && told.notes("Who retries").is_empty());
}

#[test]
fn the_section_at_80_columns() {
    insta::assert_snapshot!(super::told::section("Who retries", 80));
}

#[test]
fn the_section_at_120_columns() {
    insta::assert_snapshot!(super::told::section("Who retries", 120));
}
