//! Which attempts fit: step by step, and as what was spent before or the allowance grows.

use serde_json::{Value, json};

use super::SCHEMA_VERSION;
use crate::plan::amplification::{Amplification, Clock, Course, Layers};
use crate::plan::retries::{Discontinuity, Reason, Retries, RetryPlan, Step, SweepPoint};
use crate::plan::sweep::Sweep;
use crate::report::json::exact;
use crate::report::model::{Block, Cell, Column, Report, Row, Section, Table};
use crate::report::text;
use crate::units::Nanos;

/// What is told.
#[derive(Debug)]
pub struct Told<'a> {
    /// What was asked.
    pub retries: &'a Retries,
    /// Over which time spent before the first attempt, where somebody asked.
    pub elapsed_sweep: Option<Sweep>,
    /// Over which allowances, where somebody asked.
    pub allowance_sweep: Option<Sweep>,
    /// Layers of retries around retries, where somebody asked for them.
    pub layers: Option<&'a Layers>,
    /// Version and commit of the program.
    pub version: &'a str,
}

/// So many rows of a table people read.
const ROWS: usize = 15;

/// A table with all rows for programs, and for people with those around `here`.
fn with_rows(table: Table, rows: Vec<Row>, here: usize, is_for_programs: bool) -> Option<Table> {
    if is_for_programs {
        return table.with_all(rows);
    }
    let all = rows.len();
    let first = here.saturating_sub(ROWS / 2).min(all.saturating_sub(ROWS));
    table.with_some_of(all, rows.into_iter().skip(first).take(ROWS).collect())
}

impl Told<'_> {
    fn courses(&self) -> Option<(&[u32], Vec<Course>)> {
        let layers = self.layers?;
        let amplification = Amplification { layers, retries: self.retries };
        Some((layers.maxima(), amplification.courses()))
    }
}

/// The report; programs get every point of the sweeps, people where the number falls.
pub fn report(told: &Told<'_>, is_for_programs: bool) -> Report {
    let plan = told.retries.plan();
    let mut blocks = vec![Block::Note(headline(told.retries, &plan))];
    blocks.extend(refusal(told.retries, &plan).map(Block::Note));
    blocks.push(Block::Note("Times in ms, to their last digit.".to_owned()));
    blocks.extend(steps(told.retries, &plan, is_for_programs).map(Block::Table));
    let swept = [Swept::elapsed(told, &plan), Swept::allowance(told, &plan)];
    blocks.extend(swept.iter().filter_map(|swept| swept.limits(is_for_programs)).map(Block::Table));
    if is_for_programs {
        blocks.extend(swept.iter().filter_map(Swept::all_points).map(Block::Table));
    }
    if let Some((layers, courses)) = told.courses() {
        blocks.push(Block::Note(amplified(plan.available, layers, &courses)));
        blocks.extend(layers_table(layers, &courses).map(Block::Table));
    }
    if !is_for_programs {
        let points = text::counted(swept.iter().map(|it| it.points.len() as u64).sum(), "point");
        blocks.push(Block::Note(format!("csv and json have the {points} of both sweeps.")));
    }
    let section = Section { title: "Retries".to_owned(), class: None, blocks };
    let title = "Which attempts fit";
    Report { title, version: told.version.to_owned(), sections: vec![section] }
}

/// The same for programs.
pub fn json(told: &Told<'_>) -> Value {
    let retries = told.retries;
    let plan = retries.plan();
    let step = |step: &Step| {
        json!({
            "attempt": step.attempt,
            "backoff_ns": step.backoff.as_nanos(),
            "allowance_ns": step.allowance.as_nanos(),
            "used_before_ns": exact(Some(step.used_before_ns)),
            "used_after_ns": exact(Some(step.used_after_ns)),
            "admitted": step.reason == Reason::Admitted,
            "reason": step.reason.name(),
        })
    };
    let [elapsed, allowance] = [Swept::elapsed(told, &plan), Swept::allowance(told, &plan)];
    json!({
        "schema_version": SCHEMA_VERSION,
        "version": told.version,
        "question": {
            "deadline_ns": retries.deadline.as_nanos(),
            "elapsed_ns": retries.elapsed.as_nanos(),
            "reserve_ns": retries.reserve.as_nanos(),
            "attempt_ns": retries.attempt.as_nanos(),
            "backoff_ns": retries.backoff.iter().map(|wait| wait.as_nanos()).collect::<Vec<_>>(),
            "max_attempts": retries.max_attempts,
        },
        "available_ns": plan.available.as_nanos(),
        "attempts_admitted": plan.attempts_admitted,
        "used_ns": plan.used.as_nanos(),
        "unused_ns": plan.unused.as_nanos(),
        "steps": plan.steps.iter().map(step).collect::<Vec<_>>(),
        "elapsed_sweep": elapsed.json_points(),
        "elapsed_discontinuities": elapsed.json_limits(),
        "allowance_sweep": allowance.json_points(),
        "allowance_discontinuities": allowance.json_limits(),
        "amplification": told.courses().map(|(layers, courses)| json_courses(layers, &courses)),
    })
}

fn ms(length: Nanos) -> String {
    text::exact_millis(i128::from(length.as_nanos()))
}

fn exact_time(length: Nanos) -> Cell {
    Cell::ExactTime(i128::from(length.as_nanos()))
}

fn headline(retries: &Retries, plan: &RetryPlan) -> String {
    let Retries { deadline, elapsed, reserve, .. } = retries;
    let spent = format!(
        "Of {} ms {} are spent and {} kept back: {} are available.",
        ms(*deadline),
        ms(*elapsed),
        ms(*reserve),
        ms(plan.available)
    );
    match plan.attempts_admitted {
        0 => format!("{spent} No attempt fits."),
        1 => format!(
            "{spent} 1 attempt fits; it uses {} and leaves {}.",
            ms(plan.used),
            ms(plan.unused)
        ),
        admitted => format!(
            "{spent} {} fit; with the waits between them they use {} and leave {}.",
            text::counted(admitted.into(), "attempt"),
            ms(plan.used),
            ms(plan.unused)
        ),
    }
}

/// Which constraint refuses the first attempt that is not made.
fn refusal(retries: &Retries, plan: &RetryPlan) -> Option<String> {
    let refused = plan.steps.last()?;
    let attempt = text::count(refused.attempt.into());
    let needed = text::exact_millis(refused.used_after_ns);
    let available = ms(plan.available);
    Some(match refused.reason {
        Reason::Admitted => return None,
        Reason::MaxAttempts => format!(
            "Attempt {attempt} would fit, as it needs {needed} ms of {available}, but at \
             most {} may be made.",
            text::count(retries.max_attempts.into())
        ),
        Reason::AllowanceExceedsAvailable => {
            let most = text::count(retries.max_attempts.into());
            let ceiling = if refused.attempt <= retries.max_attempts {
                format!("; the maximum of {most} is a ceiling, not a permission")
            } else {
                format!("; the maximum of {most} refuses it too")
            };
            let late = retries.elapsed - retries.deadline;
            let passed = if late > Nanos::ZERO {
                format!(" The deadline passed {} ms before the first.", ms(late))
            } else {
                String::new()
            };
            format!("Attempt {attempt} would need {needed} ms of {available}{ceiling}.{passed}")
        }
    })
}

fn steps(retries: &Retries, plan: &RetryPlan, is_for_programs: bool) -> Option<Table> {
    let row = |step: &Step| {
        let verdict = match step.reason {
            Reason::Admitted => "admitted".to_owned(),
            Reason::AllowanceExceedsAvailable => {
                let needed = text::exact_millis(step.used_after_ns);
                format!("refused: {needed} of {}", ms(plan.available))
            }
            Reason::MaxAttempts => {
                format!("refused: at most {}", text::count(retries.max_attempts.into()))
            }
        };
        let mut cells = vec![exact_time(step.backoff), exact_time(step.allowance)];
        cells.extend([step.used_before_ns, step.used_after_ns].map(Cell::ExactTime));
        cells.push(Cell::Text(verdict));
        let mut row = Row::new("attempt", &step.attempt.to_string(), cells);
        row.keys.push(("reason", Some(step.reason.name().to_owned())));
        row
    };
    let columns = vec![
        Column::new("backoff", "backoff_ns", ""),
        Column::new("allowance", "allowance_ns", ""),
        Column::new("used before", "used_before_ns", "").ranked(1),
        Column::new("used after", "used_after_ns", ""),
        Column::name(""),
    ];
    let title = "Step by step; of the refused what it would need".to_owned();
    let table = Table { id: "steps", title, head: "attempt", columns, ..Table::default() };
    let rows: Vec<Row> = plan.steps.iter().map(row).collect();
    let refused = rows.len();
    with_rows(table, rows, refused, is_for_programs)
}

/// One length that grows, and how many attempts fit.
struct Swept {
    ids: [&'static str; 2],
    name: &'static str,
    measure: &'static str,
    asked: Option<Sweep>,
    points: Vec<SweepPoint>,
    /// Least attempts first.
    limits: Vec<Discontinuity>,
    /// How many fit where it is now, and what it is.
    now: (u32, Nanos),
}

impl Swept {
    fn elapsed(told: &Told<'_>, plan: &RetryPlan) -> Self {
        let sweep = told.elapsed_sweep.unwrap_or_else(|| Sweep::up_to(told.retries.deadline));
        Self {
            ids: ["elapsed_discontinuities", "elapsed_sweep"],
            name: "elapsed",
            measure: "elapsed_ns",
            asked: told.elapsed_sweep,
            points: told.retries.elapsed_sweep(sweep),
            limits: told.retries.elapsed_discontinuities(),
            now: (plan.attempts_admitted, told.retries.elapsed),
        }
    }

    fn allowance(told: &Told<'_>, plan: &RetryPlan) -> Self {
        let usual = || Sweep::up_to(plan.available).after_start();
        let sweep = told.allowance_sweep.unwrap_or_else(usual);
        Self {
            ids: ["allowance_discontinuities", "allowance_sweep"],
            name: "allowance",
            measure: "allowance_ns",
            asked: told.allowance_sweep,
            points: told.retries.allowance_sweep(sweep),
            limits: told.retries.allowance_discontinuities(),
            now: (plan.attempts_admitted, told.retries.attempt),
        }
    }

    /// Up to which length each number of attempts fits; people read of those that the sweep meets, if
    /// they asked for one.
    fn limits(&self, is_for_programs: bool) -> Option<Table> {
        let (now, length) = self.now;
        let row = |attempts: u32, up_to: Cell| {
            let here = if attempts == now { format!("← {}", ms(length)) } else { String::new() };
            Row::new("attempts", &attempts.to_string(), vec![up_to, Cell::Text(here)])
        };
        let is_told = |beyond, up_to| {
            is_for_programs || self.asked.is_none_or(|sweep| sweep.meets(beyond, up_to))
        };
        let mut beyond = None;
        let mut rows: Vec<Row> = Vec::new();
        let mut here = 0;
        for limit in self.limits.iter().rev() {
            if is_told(beyond, Some(limit.at)) {
                rows.push(row(limit.attempts, exact_time(limit.at)));
                here += usize::from(limit.attempts > now);
            }
            beyond = Some(limit.at);
        }
        if !is_for_programs && is_told(beyond, None) {
            let more = if beyond.is_some() { "more" } else { "any" };
            rows.push(row(0, Cell::Text(more.to_owned())));
        }
        let columns = vec![
            Column::new(&format!("{} up to", self.name), self.measure, ""),
            Column::name("now"),
        ];
        let title = format!("Attempts that fit, by {}", self.name);
        let head = "attempts";
        let table = Table { id: self.ids[0], title, head, columns, ..Table::default() };
        with_rows(table, rows, here, is_for_programs)
    }

    fn all_points(&self) -> Option<Table> {
        let row = |point: &SweepPoint| {
            let at = point.at.as_nanos().to_string();
            Row::new(self.measure, &at, vec![Cell::Count(point.attempts_admitted.into())])
        };
        let columns = vec![Column::new("attempts", "attempts_admitted", "")];
        Table { id: self.ids[1], head: self.name, columns, ..Table::default() }
            .with_all(self.points.iter().map(row).collect())
    }

    fn json_points(&self) -> Vec<Value> {
        let point = |point: &SweepPoint| {
            json!({
                (self.measure): point.at.as_nanos(),
                "attempts_admitted": point.attempts_admitted,
            })
        };
        self.points.iter().map(point).collect()
    }

    fn json_limits(&self) -> Vec<Value> {
        let limit = |limit: &Discontinuity| json!({ "attempts": limit.attempts, (self.measure): limit.at.as_nanos() });
        self.limits.iter().map(limit).collect()
    }
}

/// How many leaf attempts there are by a clock.
fn leaves(courses: &[Course], clock: Clock) -> u64 {
    let course = courses.iter().find(|course| course.clock == clock);
    course.and_then(|course| course.attempts.last()).copied().unwrap_or(0)
}

fn amplified(available: Nanos, layers: &[u32], courses: &[Course]) -> String {
    let tries: Vec<String> = layers.iter().map(|&most| text::count(most.into())).collect();
    let restarted = courses.iter().find(|course| course.clock == Clock::Restarted);
    let available_ns = i128::from(available.as_nanos());
    let late_ns = restarted.map_or(0, |course| course.ends_ns - available_ns);
    let end = if late_ns > 0 {
        format!(
            "the first layer gives up {} ms after what was available",
            text::exact_millis(late_ns)
        )
    } else {
        "the first layer gives up within what was available".to_owned()
    };
    format!(
        "Layers that each try up to {} times, retries around retries: up to {} for one request. A \
         shared deadline lets {} of them begin. Where every layer restarts the clock {} begin, and \
         {end}.",
        tries.join(", "),
        text::counted(leaves(courses, Clock::None), "attempt"),
        text::count(leaves(courses, Clock::Shared)),
        text::count(leaves(courses, Clock::Restarted)),
    )
}

fn layers_table(layers: &[u32], courses: &[Course]) -> Option<Table> {
    let count = |of: &dyn Fn(&Course) -> u64| courses.iter().map(of).map(Cell::Count).collect();
    // How often each tries is told above; a longer label would be cut where pages are narrow.
    let layer = |place: usize| {
        let cells = count(&|course| course.attempts.get(place).copied().unwrap_or(0));
        let number = (place + 1).to_string();
        let label = format!("layer {number}");
        Row { measure: "attempts", ..Row::new("layer", &number, cells).labelled(&label) }
    };
    let mut rows: Vec<Row> = (0..layers.len()).map(layer).collect();
    let whole = |label: &str, measure, cells| Row {
        label: label.to_owned(),
        measure,
        cells,
        ..Row::default()
    };
    let ends = courses.iter().map(|course| Cell::ExactTime(course.ends_ns)).collect();
    rows.push(whole("of the last layer's late", "late_attempts", count(&|course| course.late)));
    rows.push(whole("the first layer gives up at", "ends_ns", ends));
    let column = |clock: &Clock| {
        let title = clock.name().replace('_', " ").replace(" at each layer", "");
        Column::new(&title, "", clock.name())
    };
    let title = "Attempts that layers begin, the outermost first, by what they go by".to_owned();
    let columns = Clock::ALL.iter().map(column).collect();
    Table { id: "amplification", title, head: "attempts", columns, ..Table::default() }
        .with_all(rows)
}

fn json_courses(layers: &[u32], courses: &[Course]) -> Value {
    let course = |course: &Course| {
        json!({
            "clock": course.clock.name(),
            "attempts": course.attempts,
            "leaf_attempts": course.attempts.last(),
            "late_attempts": course.late,
            "ends_ns": exact(Some(course.ends_ns)),
        })
    };
    json!({
        "layers": layers,
        "worst_case": leaves(courses, Clock::None),
        "courses": courses.iter().map(course).collect::<Vec<_>>(),
    })
}
