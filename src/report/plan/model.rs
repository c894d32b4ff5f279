//! What `dwindle plan model` says: a table a regime for people, a record a row for programs.

use serde::Serialize;

use super::SCHEMA_VERSION;
use crate::plan::model::{Row as Outcome, Scenario};
use crate::plan::policy::Share;
use crate::report::model::{Block, Cell, Column, Report, Row, Section, Table};
use crate::report::{Format, Origin, html, markdown, terminal, text};
use crate::tables::spreadsheet::harmless;
use crate::units::Nanos;

/// What the model leaves out.
const LEFT_OUT: &str = "Nothing queues in this model: it has no capacities, and no call takes longer \
    because there are more of them. In a real slowdown the load of retries comes back as longer calls, \
    so that policies which multiply calls fare worse than here.";

/// A scenario that was run.
#[derive(Debug)]
pub struct Told<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// What came of it.
    pub rows: &'a [Outcome],
    /// The command that gives the same.
    pub command: &'a str,
    /// The version of the program.
    pub version: &'a str,
    /// Where the scenario was measured, on what it rests.
    pub rests_on: &'a [String],
    /// How a page of a measured scenario is made.
    pub origin: Option<&'a Origin>,
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    version: &'a str,
    scenario: &'a str,
    seed: u64,
    requests: u32,
    threshold_ns: i64,
    steps: u64,
    base_per_s: Option<f64>,
    unlimited_retry_per_s: Option<f64>,
    rows: Vec<Record<'a>>,
}

/// A configuration in a regime. What is not known is null, in CSV empty.
#[derive(Serialize)]
struct Record<'a> {
    regime: &'a str,
    configuration: &'a str,
    within: u64,
    outside: u64,
    dropped: u64,
    median_ns: i64,
    worst_ns: i64,
    attempts: u64,
    multiplier: f64,
    internal_per_s: Option<f64>,
    unlimited_retry_per_s: Option<f64>,
    late_work_ns: i64,
}

impl Told<'_> {
    /// Writes it down. `width` and `color` are for terminals.
    pub fn render(&self, format: Format, width: usize, color: bool) -> String {
        match format {
            Format::Terminal => terminal::render(&self.report(), width, color),
            Format::Markdown => markdown::render(&self.report()),
            Format::Html => html::render(&match self.origin {
                Some(origin) => self.report().made_by(origin),
                None => self.report(),
            }),
            Format::Csv => self.csv(),
            Format::Json => self.json(),
        }
    }

    fn json(&self) -> String {
        let scenario = self.scenario;
        let document = Document {
            schema_version: SCHEMA_VERSION,
            version: self.version,
            scenario: &scenario.name,
            seed: scenario.seed,
            requests: scenario.requests,
            threshold_ns: scenario.threshold.as_nanos(),
            steps: self.rows.first().map_or(0, |row| row.steps),
            base_per_s: scenario.base_per_s.map(Share::ratio),
            unlimited_retry_per_s: self.unlimited(),
            rows: self.rows.iter().map(record).collect(),
        };
        // Writing to memory does not fail.
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    }

    fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in self.rows {
            let (regime, configuration) = (harmless(&row.regime), harmless(&row.configuration));
            let record = Record { regime: &regime, configuration: &configuration, ..record(row) };
            // Writing to memory does not fail; if it did the text would end early.
            let _ = writer.serialize(record);
        }
        writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
    }

    /// The most calls per second that any configuration allows.
    fn unlimited(&self) -> Option<f64> {
        let all = self.rows.iter().filter_map(Outcome::unlimited_retry_per_s);
        all.max_by(f64::total_cmp)
    }

    fn report(&self) -> Report {
        let scenario = self.scenario;
        let steps = self.rows.first().map_or(0, |row| row.steps);
        let mut told = vec![
            text::counted(scenario.requests.into(), "request"),
            format!("{} each", text::counted(steps, "call")),
            format!("threshold {} ms", millis(scenario.threshold)),
            format!("seed {}", scenario.seed),
        ];
        if let Some(base) = scenario.base_per_s {
            told.push(format!("{} requests/s come in", base.decimal()));
        }
        let mut blocks = vec![Block::Note(format!("{}: {}.", scenario.name, told.join(" · ")))];
        blocks.extend(self.rests_on.iter().cloned().map(Block::Note));
        let regimes = self.rows.chunk_by(|one, next| one.regime == next.regime);
        blocks.extend(regimes.filter_map(table).map(Block::Table));
        let most = self.rows.iter().map(|row| row.most_attempts).max();
        if let Some((most, base)) = most.zip(scenario.base_per_s) {
            let most = text::decimal(u128::from(most) * u128::from(base.millionths()), 6);
            blocks.push(Block::Note(format!(
                "calls/s are those that the requests of a second make of one another; were every call \
                 made as often as it may be there would be {most}."
            )));
        }
        blocks.push(Block::Note(
            "Dropped requests, of which an arm failed, count in median (element n/2 of the sorted) and \
             worst. The multiplier is attempts per call of a run without retries. Late work is what services did after their request's threshold."
                .to_owned(),
        ));
        blocks.push(Block::Note(LEFT_OUT.to_owned()));
        blocks.push(Block::Note(format!("To repeat this run: {}", self.command)));
        let section = Section { title: "Chain model".to_owned(), class: None, blocks };
        Report {
            title: "What a policy does on a logical clock",
            version: self.version.to_owned(),
            sections: vec![section],
        }
    }
}

fn millis(length: Nanos) -> String {
    text::millis(i128::from(length.as_nanos()))
}

fn record(row: &Outcome) -> Record<'_> {
    Record {
        regime: &row.regime,
        configuration: &row.configuration,
        within: row.within,
        outside: row.outside,
        dropped: row.dropped,
        median_ns: row.median.as_nanos(),
        worst_ns: row.worst.as_nanos(),
        attempts: row.attempts,
        multiplier: row.multiplier(),
        internal_per_s: row.internal_per_s(),
        unlimited_retry_per_s: row.unlimited_retry_per_s(),
        late_work_ns: row.late_work.as_nanos(),
    }
}

/// The configurations of a regime.
fn table(rows: &[Outcome]) -> Option<Table> {
    let regime = &rows.first()?.regime;
    let table = Table {
        id: "model",
        title: format!("Regime: {regime} (times in ms)"),
        head: "configuration",
        columns: vec![
            Column::new("within", "within", ""),
            Column::new("outside", "outside", ""),
            Column::new("dropped", "dropped", ""),
            Column::new("median", "median_ns", ""),
            Column::new("worst", "worst_ns", ""),
            Column::new("multiplier", "multiplier", ""),
            Column::new("calls/s", "internal_per_s", ""),
            Column::new("late work", "late_work_ns", "").ranked(1),
        ],
        ..Table::default()
    };
    let row = |row: &Outcome| {
        let tried = row.requests().saturating_mul(row.steps);
        let load = row.base_per_s.map_or(Cell::Absent, |base| {
            let attempts = row.attempts.saturating_mul(base.millionths());
            Cell::Ratio(attempts, row.requests().saturating_mul(1_000_000))
        });
        let cells = vec![
            Cell::Count(row.within),
            Cell::Count(row.outside),
            Cell::Count(row.dropped),
            Cell::Time(row.median),
            Cell::Time(row.worst),
            Cell::Ratio(row.attempts, tried),
            load,
            Cell::Time(row.late_work),
        ];
        Row::new("configuration", &row.configuration, cells)
    };
    table.with_all(rows.iter().map(row).collect())
}
