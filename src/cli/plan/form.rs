//! How a plan is printed.

use serde_json::Value;

use crate::cli::input::one_of;
use crate::cli::origin;
use crate::cli::output::{self, Fatal, Page};
use crate::report::{Format, Report};

/// How a plan is printed.
#[derive(Debug, clap::Args)]
pub(super) struct Form {
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "terminal", value_parser = one_of(Format::ALL, Format::name))]
    pub(super) format: Format,

    #[command(flatten)]
    pub(super) page: Page,
}

impl Form {
    /// Prints a report, of which programs may want more, or the same as JSON. `files` are those that
    /// were read.
    pub(super) fn print(
        &self,
        files: &[String],
        report: impl FnOnce(bool) -> Report,
        json: impl FnOnce() -> Value,
    ) -> Result<(), Fatal> {
        let rendered =
            |report: Report| report.render(self.format, self.page.width(), self.page.is_coloured());
        output::print(&match self.format {
            Format::Json => format!("{:#}\n", json()),
            Format::Html => rendered(report(false).made_by(&origin::of(files)?)),
            Format::Csv => rendered(report(true)),
            Format::Terminal | Format::Markdown => rendered(report(false)),
        })
    }
}
