//! `dwindle diff`, run as people run it.

use std::fs;

use crate::support::command::{Ran, run, scratch};

const BEFORE: &str = "fixtures/diff/before.jsonl.zst";
const AFTER: &str = "fixtures/diff/after.jsonl.zst";
const OTHER: &str = "fixtures/matrix/06-retry-at-two-adjacent-layers/fails";

/// The command without progress.
fn diff(args: &[&str]) -> Ran {
    run(&[&["diff", "--quiet"], args].concat())
}

fn json(args: &[&str]) -> serde_json::Value {
    let ran = diff(&[args, &["--format", "json"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn an_input_differs_from_itself_in_nothing() {
    let told = json(&[BEFORE, BEFORE]);
    let lines = told["lines"].as_array().unwrap();
    assert!(lines.len() > 50);
    for line in lines {
        assert!(["no-evidence", "too-few", "not-judged"].contains(&line["mark"].as_str().unwrap()));
        assert_eq!(line["base"], line["head"]);
    }
    let ran = diff(&[BEFORE, BEFORE, "--fail-on", "regression"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.contains("Nothing differs"), "{}", ran.out);
}

/// Scenario: checkouts before and after payments got 100 ms slower (fixtures/diff.README.md).
/// Guarantee: that is what is told, at the hops behind it and nowhere else; and it fails the gate.
#[test]
fn what_got_slower_is_told_where_it_did() {
    let told = json(&[BEFORE, AFTER]);
    let lines = told["lines"].as_array().unwrap();
    let marked = |mark: &str| -> Vec<&serde_json::Value> {
        lines.iter().filter(|line| line["mark"] == mark).collect()
    };
    assert!(marked("better").is_empty());
    let worse = marked("worse");
    let median = |line: &serde_json::Value| {
        (line["measure"] == "elapsed_ns" && line["statistic"] == "p50")
            .then(|| [&line["shift_lo"], &line["shift_hi"]].map(|end| end.as_i64().unwrap()))
    };
    let [lo, hi] = worse.iter().find_map(|line| median(line)).unwrap();
    assert!(lo <= 100_000_000 && 100_000_000 <= hi, "[{lo}, {hi}]");
    // Cart is asked before payments is.
    assert!(worse.iter().all(|line| !["cart", "cart-db"].contains(&text(&line["callee"]))));
    assert!(worse.iter().any(|line| text(&line["callee"]) == "fraud"));

    let ran = diff(&[BEFORE, AFTER, "--fail-on", "regression"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("storefront POST /checkout · elapsed p50: "), "{}", ran.err);
    assert_eq!(diff(&[BEFORE, AFTER]).code, 0);
}

fn text(value: &serde_json::Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[test]
fn what_people_read() {
    for width in ["80", "120"] {
        let told = diff(&[BEFORE, AFTER, "--width", width]).out;
        let longest = told.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(width.parse().unwrap()), "{told}");
        insta::assert_snapshot!(format!("diff-{width}"), without_version(&told));
    }
    let markdown = diff(&[BEFORE, OTHER, "--format", "markdown"]).out;
    insta::assert_snapshot!("diff-one-sided", without_version(&markdown));
}

/// Guarantee: docs/diff.md tells every field, JSON and CSV have the same, and a record has no other.
#[test]
fn every_field_is_documented() {
    let page = fs::read_to_string("docs/diff.md").unwrap();
    let csv = diff(&[BEFORE, AFTER, "--format", "csv"]).out;
    let fields: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let told = json(&[BEFORE, AFTER]);
    for line in told["lines"].as_array().unwrap() {
        assert!(line.as_object().unwrap().keys().eq(&fields));
    }
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ")).collect();
    for field in fields {
        // What is told of base is told of head in one row.
        let field = field.replace("head", "base");
        let is_told = |row: &&str| {
            let names = row.split('|').nth(1).unwrap_or_default();
            names.split(',').any(|name| name.trim() == field)
        };
        assert!(rows.iter().any(is_told), "{field} is not told");
    }
    for field in told.as_object().unwrap().keys() {
        assert!(page.contains(&format!("`{field}`")), "{field} is not told");
    }
}

fn without_version(page: &str) -> String {
    page.lines().skip(1).collect::<Vec<_>>().join("\n")
}

/// Scenario: two classes that share nothing; then the other way round.
/// Guarantee: what is new in one is gone in the other, and nothing is compared.
#[test]
fn sides_are_not_mistaken_for_one_another() {
    let presence = |told: &serde_json::Value| -> Vec<(String, String)> {
        let lines = told["lines"].as_array().unwrap();
        let words = |line: &serde_json::Value| {
            (text(&line["presence"]).to_owned(), text(&line["class"]).to_owned())
        };
        lines.iter().map(words).collect()
    };
    let row = |presence: &str, class: &str| (presence.to_owned(), class.to_owned());
    let (orders, checkout, cart) =
        ("fulfilment orders process", "storefront POST /checkout", "gateway POST /cart");
    let forth = presence(&json(&[BEFORE, OTHER]));
    assert_eq!(forth, [row("new", cart), row("gone", orders), row("gone", checkout)]);
    let back = presence(&json(&[OTHER, BEFORE]));
    assert_eq!(back, [row("new", orders), row("new", checkout), row("gone", cart)]);
}

#[test]
fn the_order_of_files_and_the_number_of_threads_change_nothing() {
    let folder = scratch("diff-order");
    let whole = zstd::decode_all(fs::File::open(AFTER).unwrap()).unwrap();
    let lines: Vec<&[u8]> = whole.split_inclusive(|&byte| byte == b'\n').collect();
    let (one, two) = lines.split_at(lines.len() / 2);
    fs::write(folder.join("a"), two.concat()).unwrap();
    fs::write(folder.join("b"), one.concat()).unwrap();
    let copy = folder.to_str().unwrap();
    for format in ["csv", "json"] {
        let run =
            |path, threads| diff(&[BEFORE, path, "--format", format, "--threads", threads]).out;
        assert_eq!(run(AFTER, "1").replace(AFTER, ""), run(copy, "2").replace(copy, ""));
    }
}

#[test]
fn folders_are_compared_as_their_traces_are_and_other_contracts_are_refused() {
    let folder = scratch("diff-folders");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (plain, bounded) = (path("plain"), path("bounded"));
    let analyze = |out: &str, more: &[&str]| {
        let ran = run(&[&["analyze", AFTER, "--out", out, "--quiet"], more].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
    };
    analyze(&plain, &[]);
    analyze(&bounded, &["--deadline", "orders process=5s"]);
    let of_folders = diff(&[BEFORE, &plain, "--format", "csv"]);
    assert_eq!(of_folders.out, diff(&[BEFORE, AFTER, "--format", "csv"]).out);
    let refused = diff(&[&plain, &bounded]);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""));
    assert!(refused.err.contains("different contracts"), "{}", refused.err);
}

/// Scenario: names that are formulas, commands or markup elsewhere.
/// Guarantee: they come out as text.
#[test]
fn hostile_names_come_out_harmless() {
    let folder = scratch("diff-hostile");
    let span = |id: u32, name: &str| {
        serde_json::json!({"resourceSpans": [{"resource": {"attributes": [
            {"key": "service.name", "value": {"stringValue": "=cmd()"}}]}, "scopeSpans": [{"spans": [
            {"traceId": format!("{id:032x}"), "spanId": format!("{id:016x}"), "name": name, "kind": 2,
             "startTimeUnixNano": "1700000000000000000", "endTimeUnixNano": "1700000000100000000"}]}]}]})
        .to_string()
    };
    let write = |file: &str, names: &[&str]| {
        let lines = names.iter().zip(1..).map(|(name, id)| span(id, name) + "\n");
        let path = folder.join(file);
        fs::write(&path, lines.collect::<String>()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let hostile = "\u{1b}[31m|</script>\u{202e}";
    let (base, head) = (write("a", &[hostile, "gone\n::error::"]), write("b", &[hostile, "new"]));
    let csv = diff(&[&base, &head, "--format", "csv"]).out;
    assert!(csv.contains(",rate,") && !csv.lines().any(|line| line.starts_with('=')), "{csv}");
    for format in ["terminal", "markdown"] {
        let told = diff(&[&base, &head, "--format", format]).out;
        assert!(!told.contains(['\u{1b}', '\u{202e}']), "{told}");
        assert!(!told.lines().any(|line| line.trim_start().starts_with("::")), "{told}");
    }
    let markdown = diff(&[&base, &head, "--format", "markdown"]).out;
    assert!(!markdown.contains("</script>"), "{markdown}");
}

/// Scenario: one request a side.
/// Guarantee: it is said that nothing can be told, and about how many more it takes; not that nothing
/// differs.
#[test]
fn too_few_requests_are_said_to_be_too_few() {
    let case = "fixtures/matrix/01-held-in-queue";
    let told = diff(&[&format!("{case}/fails"), &format!("{case}/holds"), "--width", "100"]).out;
    assert!(told.contains("No line has requests enough"), "{told}");
    assert!(!told.contains("Both sides say the same"), "{told}");
    let elapsed = told.lines().find(|line| line.starts_with("elapsed ")).unwrap();
    assert!(elapsed.contains(" few ") && elapsed.ends_with(" more"), "{elapsed}");
}

#[test]
fn two_inputs_are_wanted() {
    assert_eq!(diff(&[BEFORE]).code, 2);
    assert_eq!(diff(&[BEFORE, BEFORE, BEFORE]).code, 2);
    let twice = diff(&["-", "-"]);
    assert_eq!(twice.code, 2);
    assert!(twice.err.contains("one side only"), "{}", twice.err);
}
