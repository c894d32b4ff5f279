//! `dwindle rules`: what each finding means.

use serde_json::{Value, json};

use super::exit;
use super::input::one_of;
use super::manifest::VERSION;
use super::output::{self, Fatal, Page};
use crate::report::{Format, SCHEMA_VERSION, rule_page, rules_list};
use crate::rules::{PAGE, Rule, rule, rules};
use crate::tables::FindingCode;

/// How it can be printed.
const FORMATS: &[Format] = &[Format::Terminal, Format::Markdown, Format::Json];

/// Tell what a finding means: when it is raised, why it matters, how to fix it.
///
/// Without a code all are listed. The same texts are docs/findings.md.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dwindle rules
  dwindle rules timeout-reset")]
pub(super) struct Args {
    /// Only this one
    #[arg(value_name = "CODE", value_parser = one_of(FindingCode::ALL, FindingCode::name), hide_possible_values = true)]
    code: Option<FindingCode>,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "terminal", value_parser = one_of(FORMATS, Format::name))]
    format: Format,

    #[command(flatten)]
    page: Page,
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    let text = match (args.format, args.code) {
        (Format::Markdown, None) => PAGE.to_owned(),
        (Format::Markdown, Some(code)) => {
            format!("## {}\n\n{}\n", code.name(), rule(code).section)
        }
        (Format::Json, code) => json(code),
        (format, code) => {
            let report = match code {
                Some(code) => rule_page(&rule(code), VERSION),
                None => rules_list(rules(), VERSION),
            };
            report.render(format, args.page.width(), args.page.is_coloured())
        }
    };
    output::print(&text)?;
    Ok(exit::DONE)
}

/// For programs; texts are Markdown.
fn json(code: Option<FindingCode>) -> String {
    let one = |rule: Rule| {
        json!({
            "code": rule.code.name(),
            "short": rule.short,
            "when": rule.when,
            "why": rule.why,
            "fix": rule.fix,
            "certainty": rule.certainty,
            "fixture": rule.fixture,
        })
    };
    let told: Vec<Value> =
        rules().filter(|rule| code.is_none_or(|code| code == rule.code)).map(one).collect();
    format!("{:#}\n", json!({ "schema_version": SCHEMA_VERSION, "rules": told }))
}
