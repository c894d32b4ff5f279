//! One trace explained: each request of it as a waterfall, the six questions of a contract
//! answered, and what cannot be told. All numbers are those of the tables.

mod after;
mod answers;
mod bars;
mod deadline;
mod exemplars;
mod fold;
mod json;
mod request;
mod summary;
mod tree;
mod unknown;

use super::model::{Block, Report, Section};
use super::{RunFacts, calibration, text, words};
use crate::distributions::AllowanceSource;
use crate::span::GrantKind;
use crate::tables::{AttemptRow, DeadlineSource, Funding, Tables};
use answers::answers;
use bars::waterfall;
pub(super) use exemplars::exemplars;
pub use json::explanation_json;
use request::Request;
use summary::summary;
use tree::Tree;
use unknown::unknown;

/// So many requests of one trace are told one by one.
const MOST_REQUESTS: usize = 20;

/// Explains the trace of which `tables` hold the rows, and the outline. `all`: nothing that is
/// alike is told together, and nothing left out.
pub fn explanation(tables: &Tables, facts: &RunFacts, all: bool) -> Report {
    let requests = Request::all(tables);
    let most = if all { usize::MAX } else { MOST_REQUESTS };
    let mut sections = vec![of_trace(tables, facts, requests.len(), most)];
    sections.extend(requests.iter().take(most).map(|request| of_request(request, facts, all)));
    Report { version: facts.version.clone(), sections, ..Report::default() }
}

fn of_trace(tables: &Tables, facts: &RunFacts, requests: usize, most: usize) -> Section {
    let mut blocks = Vec::new();
    if let Some(first) = tables.requests.first() {
        let spans = tables.outline.len() as u64;
        let rest = match requests.saturating_sub(most) {
            0 => String::new(),
            left_out => format!(", of which {} are left out (--all)", text::count(left_out as u64)),
        };
        blocks.push(Block::Note(format!(
            "Trace {}: {}{rest} · {} · from {}. Times in ms, counted from the origin of each \
             request.",
            first.trace_id,
            text::counted(requests as u64, "request"),
            text::counted(spans, "span"),
            text::instant(first.start_unix_ns)
        )));
        if rests_on_durations(tables) {
            blocks.extend(calibration::judged_by(facts, None).map(Block::Note));
        }
    }
    Section { title: "Trace".to_owned(), class: None, blocks }
}

/// Whether anything in the trace is judged by what durations alone tell.
fn rests_on_durations(tables: &Tables) -> bool {
    let is_measured = |row: &AttemptRow| {
        let source = AllowanceSource::of(row, &tables.strings);
        row.funding == Funding::Unfundable && source == Some(AllowanceSource::Measured)
    };
    tables.requests.iter().any(|row| row.deadline_source == DeadlineSource::Inferred)
        || tables.hops.iter().any(|row| row.grant_kind == Some(GrantKind::Inferred))
        || tables.attempts.iter().any(is_measured)
}

fn of_request(request: &Request<'_>, facts: &RunFacts, all: bool) -> Section {
    let tree = Tree::of(request);
    let name = |name| words::named(Some(request.text(name)));
    let title = format!("{} {}", name(request.row.root_service), name(request.row.root_operation));
    let mut blocks: Vec<Block> = summary(request).into_iter().map(Block::Note).collect();
    blocks.push(Block::Waterfall(waterfall(request, &tree, all)));
    for answer in answers(request, &tree) {
        blocks.push(Block::Heading(answer.question));
        blocks.push(Block::List(answer.points));
    }
    blocks.push(Block::Heading("What can the trace not tell?"));
    blocks.push(Block::List(unknown(request, facts)));
    let class = request.text(request.row.request_class).to_owned();
    Section { title, class: Some(class), blocks }
}
