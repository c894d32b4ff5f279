//! A verdict as workflow commands of GitHub Actions: an annotation of the contract file for each
//! trouble, and the verdict as a line of the log.

use super::super::overview::losses;
use super::super::text::visible;
use super::troubles::{Level, of_suppressions, troubles, untold};
use super::{Told, words};

/// Writes a verdict.
pub(super) fn render(told: &Told<'_>) -> String {
    let mut lines = Vec::new();
    for trouble in troubles(told) {
        let file = told.contract_file.map_or_else(String::new, |file| {
            format!("file={},line={},", property(file), trouble.line)
        });
        lines.push(format!(
            "::{} {file}title={}::{}",
            command(trouble.level),
            property(&trouble.title),
            data(&trouble.message),
        ));
    }
    let file =
        told.contract_file.map_or_else(String::new, |file| format!(" file={}", property(file)));
    let remark = |command: &str, text: &str| format!("::{command}{file}::{}", data(text));
    lines.extend(losses(told.facts).iter().map(|text| remark("warning", text)));
    lines.extend(of_suppressions(told).iter().map(|text| remark("warning", text)));
    lines.extend(untold(told).iter().map(|text| remark("notice", text)));
    lines.push(data(&format!("dwindle check: {}", words::conclusion(told))));
    lines.join("\n") + "\n"
}

const fn command(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    }
}

/// A message, which goes on to the end of its line.
fn data(text: &str) -> String {
    visible(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property, which ends at a comma or a colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
