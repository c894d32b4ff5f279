//! A policy as configuration of others.

use std::fs;

use dwindle::contract::ContractFile;
use dwindle::plan::policy::Policy;
use dwindle::units::Nanos;
use serde_json::{Value, json};

use super::{plan, refused};
use crate::support::command::scratch;

const POLICY: &str = r#"
deadline = "1s"
return_reserve = "80ms"
propagate = true
stop_on_cancel = true

[[call]]
caller = "storefront"
callee = "cart"
operation = "shop.Cart/GetCart"
timeout = "150ms"
max_attempts = 7
backoff = ["100ms", "150ms", "900ms"]
retry_budget = 0.125

[[call]]
callee = "payments"
operation = "POST /pay"
timeout = "2500us"
max_attempts = 1
"#;

/// A file of that text, and where it is.
fn file(name: &str, text: &str) -> String {
    let path = scratch(name).join("policy.toml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn grpc_clients_get_a_service_config_and_people_what_it_does_not_say() {
    let args = ["emit", "--as", "grpc", "--callee", "cart", "--retry-budget", "0.3"];
    let ran = plan(&args);
    let config: Value = serde_json::from_str(&ran.out).unwrap();
    let expected = json!({
        "methodConfig": [{
            "name": [{}],
            "timeout": "0.690s",
            "retryPolicy": {
                "maxAttempts": 3,
                "initialBackoff": "0.100s",
                "maxBackoff": "0.200s",
                "backoffMultiplier": 2,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        }],
        "retryThrottling": { "maxTokens": 10, "tokenRatio": 0.3 },
    });
    assert_eq!(config, expected);
    for unsaid in ["150 ms were meant", "reject_unfundable", "UNAVAILABLE", "token bucket"] {
        assert!(ran.err.contains(unsaid), "{unsaid} in {}", ran.err);
    }
}

#[test]
fn waits_that_grow_otherwise_and_more_attempts_than_clients_make_are_told() {
    let policy = file("emit-grpc", POLICY);
    let ran = plan(&["emit", "--as", "grpc", "--policy", &policy, "--callee", "cart"]);
    let config: Value = serde_json::from_str(&ran.out).unwrap();
    let method = &config["methodConfig"][0];
    assert_eq!(method["name"], json!([{ "service": "shop.Cart", "method": "GetCart" }]));
    assert_eq!(method["retryPolicy"]["backoffMultiplier"], 1.5);
    assert_eq!(method["retryPolicy"]["maxBackoff"], "0.900s");
    let unsaid = [
        "100 ms, 150 ms, 900 ms, 900 ms were meant; clients wait 100 ms, 150 ms, 225 ms, 337.5 ms",
        "5 attempts at most",
        "propagate",
        "stop_on_cancel",
        "only clients in \"storefront\"",
    ];
    for unsaid in unsaid {
        assert!(ran.err.contains(unsaid), "{unsaid} in {}", ran.err);
    }
    // A call without retries is cut off by its own timeout, and may have no retry policy.
    let ran = plan(&["emit", "--as", "grpc", "--policy", &policy, "--callee", "payments"]);
    let config: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(config["methodConfig"], json!([{ "name": [{}], "timeout": "0.002500s" }]));
    assert!(ran.err.contains("\"POST /pay\" names no gRPC method"), "{}", ran.err);
    let error = refused(&["emit", "--as", "grpc", "--policy", &policy]);
    assert!(error.contains("--callee cart or payments"), "{error}");
}

#[test]
fn envoy_gets_a_route_and_a_cluster_with_what_they_do_not_say() {
    let args = ["emit", "--as", "envoy", "--callee", "cart", "--retry-budget", "0.3"];
    insta::assert_snapshot!("envoy", plan(&args).out);
    let safe = plan(&[&args[..], &["--repeat-safe"]].concat()).out;
    assert!(safe.contains("retry_on: connect-failure,refused-stream,gateway-error"), "{safe}");
    let policy = file("emit-envoy", POLICY);
    let ran = plan(&["emit", "--as", "envoy", "--policy", &policy]);
    insta::assert_snapshot!("envoy-policy", ran.out);
    assert_eq!(ran.err, "", "comments tell it");
}

#[test]
fn a_contract_reads_back_to_the_same_values() {
    let text = plan(&["emit", "--as", "contract", "--callee", "cart", "--retry-budget", "0.3"]).out;
    insta::assert_snapshot!("contract", text);
    let read = |text: &str| ContractFile::parse("contract.toml", text).unwrap().contracts.remove(0);
    let contract = read(&text);
    let ms = Nanos::from_millis;
    assert_eq!((contract.deadline, contract.return_reserve), (Some(ms(1_000)), ms(80)));
    let retry = contract.retry.unwrap();
    assert_eq!((retry.max_attempts, retry.attempt_allowance), (Some(3), Some(ms(150))));
    assert_eq!((retry.backoff, retry.budget_ratio), (vec![ms(100), ms(200)], Some(0.3)));

    let policy = file("emit-contract", POLICY);
    let text = plan(&["emit", "--as", "contract", "--policy", &policy, "--callee", "cart"]).out;
    let retry = read(&text).retry.unwrap();
    let call = Policy::parse("policy.toml", POLICY).unwrap().call.remove(0);
    assert_eq!(
        (retry.owner.as_deref(), retry.max_attempts),
        (Some("storefront"), call.max_attempts)
    );
    assert_eq!((retry.attempt_allowance, Some(retry.backoff)), (call.timeout, call.backoff));
    assert_eq!(retry.budget_ratio, Some(0.125));
    // Of all calls of the policy the others are told, not dropped.
    let text = plan(&["emit", "--as", "contract", "--policy", &policy]).out;
    assert!(text.contains("callee \"payments\""), "{text}");
}

#[test]
fn what_is_written_without_retries_says_so() {
    let of_call = |keys: &str| {
        let text =
            format!("deadline = \"1s\"\n[[call]]\ncallee = \"cart\"\ntimeout = \"9ms\"\n{keys}");
        plan(&["emit", "--as", "grpc", "--policy", &file("emit-without", &text)])
    };
    let unsaid = [
        ("", "max_attempts of callee \"cart\": the policy has none"),
        ("max_attempts = 3\nretry_budget = 0", "retry_budget of callee \"cart\": none"),
    ];
    for (keys, unsaid) in unsaid {
        let ran = of_call(keys);
        let config: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(config, json!({ "methodConfig": [{ "name": [{}], "timeout": "0.009s" }] }));
        assert!(ran.err.contains(unsaid), "{unsaid} in {}", ran.err);
    }
    assert!(!of_call("max_attempts = 1").err.contains("retr"));
}

/// Scenario: two calls of one server whose operations share a beginning.
/// Guarantee: each gets what the policy says, or nothing is written.
#[test]
fn calls_that_a_format_cannot_tell_apart_are_refused_and_none_is_written_twice() {
    let of = |operations: &[&str]| {
        let call =
            |operation: &&str| format!("[[call]]\noperation = \"{operation}\"\nmax_attempts = 2\n");
        file("emit-apart", &operations.iter().map(call).collect::<String>())
    };
    let emit = |target: &'static str, policy: &str| {
        ["emit", "--as", target, "--callee", "cart", "--policy", policy].map(str::to_owned)
    };
    let names = |operations: &[&str]| {
        let args = emit("grpc", &of(operations));
        let ran = plan(&args.each_ref().map(String::as_str));
        let config: Value = serde_json::from_str(&ran.out).unwrap();
        let methods = config["methodConfig"].as_array().unwrap();
        (methods.iter().map(|it| it["name"][0].clone()).collect::<Value>(), ran.err)
    };
    let matches = |operations: &[&str]| {
        let args = emit("envoy", &of(operations));
        let out = plan(&args.each_ref().map(String::as_str)).out;
        let routes = out.lines().filter_map(|line| line.strip_prefix("- match: "));
        routes.map(str::to_owned).collect::<Vec<_>>()
    };
    let refused_by = |target, operations: &[&str]| {
        let args = emit(target, &of(operations));
        let error = refused(&args.each_ref().map(String::as_str));
        let is_named = |name: &&str| error.contains(&format!("operation \"{name}\""));
        assert!(operations.iter().all(is_named), "{error}");
    };
    let get_all = ["shop.Cart/Get*", "*"];
    refused_by("grpc", &get_all);
    assert_eq!(matches(&get_all), [r#"{ prefix: "/shop.Cart/Get" }"#, r#"{ prefix: "/" }"#]);
    let service_all = ["shop.Cart/GetCart", "shop.Cart/*", "*"];
    let service = json!({ "service": "shop.Cart" });
    let expected = json!([{ "service": "shop.Cart", "method": "GetCart" }, service, {}]);
    assert_eq!(names(&service_all).0, expected);
    assert_eq!(matches(&service_all).len(), 3);
    // All methods that begin so would be given to the service, which is named more closely.
    refused_by("grpc", &["shop.Cart/Get*", "shop.Cart/*"]);
    let (apart, _) = names(&["shop.Cart/Get*", "shop.Orders/*"]);
    assert_eq!(apart, json!([{}, { "service": "shop.Orders" }]));
    refused_by("envoy", &["POST /pay", "*"]);
    refused_by("envoy", &["shop.*/Get*", "shop.Orders/*"]);
    // In a policy the first holds; a client would take the closer name.
    let (first, said) = names(&["*", "shop.Cart/GetCart"]);
    assert_eq!(first, json!([{}]));
    assert!(said.contains("operation \"shop.Cart/GetCart\": never holds"), "{said}");
    assert_eq!(matches(&["*", "shop.Cart/GetCart"]), [r#"{ prefix: "/" }"#]);
    // Callers differ, and neither format knows them.
    let callers = "[[call]]\ncaller = \"a\"\nmax_attempts = 2\n[[call]]\ncaller = \"b\"\n";
    let policy = file("emit-callers", callers);
    for target in ["grpc", "envoy"] {
        let error = refused(&["emit", "--as", target, "--callee", "cart", "--policy", &policy]);
        assert!(error.contains("caller \"a\"; and caller \"b\""), "{error}");
    }
}

/// gRFC A6: a failure takes its token first, and a retry needs more than half of them.
#[test]
fn of_a_burst_of_failures_grpc_clients_try_four_again() {
    let ran = plan(&["emit", "--as", "grpc", "--callee", "cart", "--retry-budget", "0.3"]);
    let (mut tokens, mut tried_again) = (10, 0);
    for _ in 0..10 {
        tokens -= 1;
        tried_again += i32::from(tokens > 5);
    }
    assert!(ran.err.contains(&format!("the first {tried_again} are tried again")), "{}", ran.err);
}

#[test]
fn all_formats_tell_what_they_are_part_of_and_what_does_not_fit() {
    let of = |target| plan(&["emit", "--as", target, "--callee", "cart", "--attempt", "700ms"]);
    let said = of("grpc").err;
    assert!(said.contains("no attempt fits into 690 ms"), "{said}");
    let text = of("envoy").out;
    assert!(text.contains("no attempt fits into 690 ms"), "{text}");
    assert!(text.contains("a fragment to merge"), "{text}");
    let text = of("contract").out;
    assert!(text.contains("no match, so that check puts all requests of all classes"), "{text}");
}

/// Odd lengths, and names that would end a text or a comment.
#[test]
fn names_and_lengths_stay_what_they_are() {
    let name = "a\"b\\c\n# [*] \u{7f}\u{2028}é";
    let args =
        ["--callee", name, "--deadline", "1234567ns", "--reserve", "1001us", "--elapsed", "0s"];
    let args = [&args[..], &["--attempt", "1ns", "--backoff", "0ms,90061001000000ns"]].concat();
    let text = plan(&[&["emit", "--as", "contract"], &args[..]].concat()).out;
    let contract = ContractFile::parse("contract.toml", &text).unwrap().contracts.remove(0);
    let nanos = Nanos::from_nanos;
    assert_eq!(contract.deadline, Some(nanos(1_234_567)));
    assert_eq!(contract.return_reserve, nanos(1_001_000));
    let retry = contract.retry.unwrap();
    assert_eq!(retry.attempt_allowance, Some(nanos(1)));
    assert_eq!(retry.backoff, [nanos(0), nanos(90_061_001_000_000)]);
    assert!(
        text.lines().all(|line| line.starts_with(['#', '[']) || line.contains(" = ")),
        "{text}"
    );
    let grpc = plan(&[&["emit", "--as", "grpc"], &args[..]].concat());
    let config: Value = serde_json::from_str(&grpc.out).unwrap();
    assert_eq!(config["methodConfig"][0]["timeout"], "0.000233567s");
    // Envoy takes a timeout below a millisecond for none.
    let error = refused(&[&["emit", "--as", "envoy"], &args[..]].concat());
    assert!(error.contains("counts in milliseconds"), "{error}");
    let envoy = plan(&["emit", "--as", "envoy", "--callee", name]).out;
    assert!(envoy.contains(r#"cluster: "a\"b\\c\n# [*] \u007f\u2028é""#), "{envoy}");
}

#[test]
fn what_cannot_be_written_is_refused() {
    let policy = file("emit-refused", "deadline = \"1s\"\n[[call]]\ncallee = \"pay*\"\n");
    let wrong: &[(&[&str], &str)] = &[
        (&["--as", "envoy"], "--callee"),
        (&["--as", "nginx", "--callee", "cart"], "grpc, envoy, contract"),
        (&["--as", "grpc", "--policy", &policy, "--attempt", "1s"], "cannot be used with"),
        (&["--as", "envoy", "--policy", &policy], "give it by --callee"),
        (&["--as", "envoy", "--policy", &policy, "--callee", "cart"], "calls to cart"),
        (&["--as", "envoy", "--policy", "no-such-file"], "no-such-file"),
        (&["--as", "grpc", "--callee", "cart", "--elapsed", "2s"], "nothing of the deadline"),
        (&["--as", "grpc", "--callee", "cart", "--retry-budget", "half"], "a number such as 0.3"),
        (&["--as", "grpc", "--callee", "cart", "--attempt", "0s"], "--attempt"),
    ];
    for (args, said) in wrong {
        let error = refused(&[&["emit"], *args].concat());
        assert!(error.contains(said), "{args:?}: {error}");
    }
}

/// docs/planning.md shows a policy file and commands.
#[test]
fn what_the_document_shows_can_be_read_and_run() {
    let document = fs::read_to_string("docs/planning.md").unwrap();
    let (_, after) = document.split_once("\n## A policy as configuration").unwrap();
    let (_, after) = after.split_once("```toml\n").unwrap();
    let policy = Policy::parse("policy.toml", after.split("```").next().unwrap()).unwrap();
    assert_eq!(policy.call[0].max_attempts, Some(3));
    let lines = document.lines().filter_map(|line| line.strip_prefix("dwindle plan "));
    let is_alone = |line: &&str| {
        ["retries", "chain", "emit"].contains(&line.split(' ').next().unwrap())
            && !line.contains("--policy")
            && !line.contains("--from")
    };
    let lines: Vec<&str> = lines.filter(is_alone).collect();
    assert!(lines.len() >= 3, "{lines:?}");
    for line in lines {
        plan(&line.split(' ').collect::<Vec<_>>());
    }
}
