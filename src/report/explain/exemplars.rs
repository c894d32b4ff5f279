//! The requests that stand for a class, drawn.

use super::bars::waterfall;
use super::request::Request;
use super::summary::summary;
use super::tree::Tree;
use crate::exemplars::{Exemplars, Why};
use crate::report::model::Block;

/// A heading and a waterfall for each exemplar of a class.
pub(in crate::report) fn exemplars(class: &str, exemplars: &Exemplars) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (reasons, root, tables) in exemplars.of_class(class) {
        let requests = Request::all(tables);
        let Some(request) = requests.iter().find(|request| request.row.root_span_id == root) else {
            continue;
        };
        if blocks.is_empty() {
            blocks.push(Block::Heading("Requests that stand for others"));
        }
        let reasons: Vec<&str> = reasons.into_iter().map(words).collect();
        blocks.push(Block::Note(format!(
            "Trace {} ({}). {}",
            request.row.trace_id,
            reasons.join(", "),
            summary(request).join(" ")
        )));
        blocks.push(Block::Waterfall(waterfall(request, &Tree::of(request), false)));
    }
    blocks
}

const fn words(why: Why) -> &'static str {
    match why {
        Why::Slowest => "slowest",
        Why::MostWasted => "wasted most",
        Why::First => "one at random",
    }
}
