//! What a policy would do: `dwindle plan`.

mod chain;
mod chance;
mod emit;
mod made;
mod measured;
mod measured_told;
mod model;
mod model_rules;
mod model_truth;
mod replay;
mod replay_cases;
mod replay_command;
mod replay_model;
mod replay_truth;
mod retries;

use serde_json::Value;

use crate::support::command::{Ran, run};

/// A plan that is printed.
fn plan(args: &[&str]) -> Ran {
    let ran = run(&[&["plan"], args].concat());
    assert_eq!(ran.code, 0, "plan {args:?}: {}", ran.err);
    ran
}

/// A plan as programs read it. docs/output.md names all that is in it.
fn json(args: &[&str]) -> Value {
    let told: Value =
        serde_json::from_str(&plan(&[args, &["--format", "json"]].concat()).out).unwrap();
    assert_eq!(told["schema_version"], 1);
    let document = std::fs::read_to_string("docs/output.md").unwrap();
    let head = format!("\n## JSON and CSV of `plan {}`\n", args[0]);
    let (_, after) = document.split_once(&head).expect("docs/output.md tells of it");
    hold(after.split("\n## ").next().unwrap(), &told);
    told
}

/// All keys of a value are told.
fn hold(section: &str, value: &Value) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            assert!(section.contains(&format!("`{name}`")), "{name} is not told in docs/output.md");
            hold(section, value);
        }),
        Value::Array(values) => values.iter().for_each(|value| hold(section, value)),
        _ => {}
    }
}

/// A plan that cannot be made, and what is said of it.
fn refused(args: &[&str]) -> String {
    let ran = run(&[&["plan"], args].concat());
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "plan {args:?}: {}", ran.err);
    ran.err
}
