//! Help tells units, defaults and an example, for each verb.

use crate::support::command::run;

#[test]
fn help_of_each_verb_tells_what_it_does_and_gives_an_example() {
    let verbs = [
        "report",
        "query",
        "findings",
        "calibrate",
        "check",
        "diff",
        "explain",
        "rules",
        "analyze",
        "cluster",
        "inspect",
        "extract",
        "plan",
        "schema",
        "completions",
        "man",
    ];
    for verb in verbs {
        let help = run(&[verb, "--help"]);
        assert_eq!(help.code, 0);
        assert!(help.out.contains("Example"), "{verb} has no example:\n{}", help.out);
        insta::assert_snapshot!(format!("help-{verb}"), help.out);
    }
    insta::assert_snapshot!("help", run(&["--help"]).out);
    for plan in ["chain", "emit", "model", "retries"] {
        let help = run(&["plan", plan, "--help"]);
        assert!(help.out.contains("Example"), "plan {plan} has no example:\n{}", help.out);
        insta::assert_snapshot!(format!("help-plan-{plan}"), help.out);
    }
}

#[test]
fn version_names_version_and_commit() {
    let version = run(&["--version"]).out;
    let mut words = version.split_whitespace();
    assert_eq!(words.next(), Some("dwindle"));
    assert_eq!(words.next(), Some(env!("CARGO_PKG_VERSION")));
    assert!(words.next().is_some_and(|commit| commit.starts_with('(')), "{version}");
}

#[test]
fn schema_tells_every_column_of_every_table() {
    let text = run(&["schema", "--width", "100"]).out;
    let json: serde_json::Value =
        serde_json::from_str(&run(&["schema", "--format", "json"]).out).unwrap();
    for table in json["tables"].as_array().unwrap() {
        for column in table["columns"].as_array().unwrap() {
            let name = column["name"].as_str().unwrap();
            assert!(text.contains(name), "{name} is not told");
            assert!(!column["doc"].as_str().unwrap().is_empty(), "{name} has no doc");
        }
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100));
    insta::assert_snapshot!("schema", text);
}
