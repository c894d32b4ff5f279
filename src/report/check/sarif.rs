//! A verdict as SARIF 2.1.0: a result for each trouble, at the contract's line, with the finding's id
//! as its fingerprint, so that code scanning follows it from run to run.

use serde_json::{Value, json};

use super::super::overview::losses;
use super::super::text::visible;
use super::super::words as all_words;
use super::troubles::{Level, NO_EVIDENCE, Trouble, of_suppressions, troubles, untold};
use super::{Told, words};
use crate::rules;
use crate::tables::FindingCode;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The name of our fingerprints, with the version of how they are made.
const FINGERPRINT: &str = "dwindleFindingId/v1";

/// Writes a verdict.
pub(super) fn render(told: &Told<'_>) -> String {
    let rules = all_rules();
    let results: Vec<Value> =
        troubles(told).iter().map(|trouble| result(told, trouble, &rules)).collect();
    let untold = untold(told).into_iter().map(|text| (Level::Note, text));
    let ended = losses(told.facts).into_iter().chain(of_suppressions(told));
    let ended = ended.map(|text| (Level::Warning, text));
    let notifications: Vec<Value> = untold
        .chain(ended)
        .map(|(level, text)| json!({"level": name(level), "message": {"text": visible(&text)}}))
        .collect();
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "dwindle",
                "version": told.facts.version,
                "rules": rules.iter().map(|(id, text)| rule(id, text)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": true,
                "exitCodeDescription": words::conclusion(told),
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    });
    format!("{document:#}\n")
}

const fn name(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    }
}

/// What may be broken, and what that means.
fn all_rules() -> Vec<(&'static str, &'static str)> {
    let codes = FindingCode::ALL.iter().map(|&code| (code.name(), all_words::finding(code)));
    let others = [
        ("limit", "a limit of the contract is broken"),
        ("retry", "a rule of the contract for retries is broken"),
        (NO_EVIDENCE, "the traces cannot tell"),
    ];
    codes.chain(others).collect()
}

fn rule(id: &str, text: &str) -> Value {
    let code = FindingCode::from_name(id).map(rules::rule);
    let (full, help) = match &code {
        Some(rule) => (rule.why, format!("{}\n\n{}", rule.when, rule.fix)),
        None => (text, text.to_owned()),
    };
    json!({
        "id": id,
        "shortDescription": {"text": text},
        "fullDescription": {"text": full},
        "help": {"text": help, "markdown": help},
        "defaultConfiguration": {"level": "error"},
    })
}

fn result(told: &Told<'_>, trouble: &Trouble<'_>, rules: &[(&str, &str)]) -> Value {
    let index = rules.iter().position(|(id, _)| *id == trouble.rule);
    let mut location = json!({});
    if let Some(file) = told.contract_file {
        location["physicalLocation"] = json!({
            "artifactLocation": {"uri": uri(file)},
            "region": {"startLine": trouble.line},
        });
    }
    if let Some(place) = &trouble.place {
        location["logicalLocations"] = json!([{"fullyQualifiedName": visible(place)}]);
    }
    let mut result = json!({
        "ruleId": trouble.rule,
        "ruleIndex": index,
        "level": name(trouble.level),
        "message": {"text": visible(&trouble.message)},
        "locations": [location],
        "partialFingerprints": {FINGERPRINT: trouble.id.to_string()},
    });
    if !told.rulings.baseline.is_empty() {
        result["baselineState"] = json!(if trouble.is_known { "unchanged" } else { "new" });
    }
    if let Some(suppression) = trouble.suppression {
        result["suppressions"] = json!([{
            "kind": "external",
            "status": "accepted",
            "justification": visible(&suppression.reason),
        }]);
    }
    result
}

/// A path as a reference, relative where it is.
fn uri(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let written = |byte: u8| match byte {
        byte if is_plain(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    let uri: String = path.bytes().map(written).collect();
    if path.starts_with('/') { format!("file://{uri}") } else { uri }
}
