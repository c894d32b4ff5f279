//! What pictures show, before anybody draws it: made of the same samples as the tables beside them.

mod burn_down;
mod facts;
mod graph;
mod shapes;
mod stack;
mod work;

pub use burn_down::Stage;
pub use facts::Fact;
pub use graph::{Edge, Graph, Node};
pub use shapes::{Shape, Shapes};
pub use stack::{Part, Stack};
pub use work::Work;

use super::model::Block;
use crate::distributions::{ClassSummary, Sorted, Summary};
use crate::stats::Quantile;
use crate::units::Nanos;

/// So many rows or stages of a picture can be told apart.
const MOST: usize = 24;

/// A picture with its title and how to read it.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its heading.
    pub title: &'static str,
    /// How to read it.
    pub caption: &'static str,
    /// What it shows.
    pub drawing: Drawing,
}

/// What a picture shows.
#[derive(Clone, Debug)]
pub enum Drawing {
    /// The few numbers that sum it all up.
    Facts(Vec<Fact>),
    /// The budget along the path.
    BurnDown(Vec<Stage>),
    /// A whole and its parts.
    Stack(Stack),
    /// Distributions above each other on one scale.
    Shapes(Shapes),
    /// Late and residual work.
    Work(Vec<Work>),
    /// Who calls whom.
    Graph(Graph),
}

/// The numbers that sum up the whole report.
pub(super) fn of_all(summary: &Summary) -> Block {
    Block::Figure(Figure {
        title: "At a glance",
        caption: "",
        drawing: Drawing::Facts(facts::of(summary)),
    })
}

/// The pictures of a class, as far as there is anything to draw.
pub(super) fn of_class(class: &ClassSummary) -> Vec<Block> {
    let figures = [
        burn_down::figure(class),
        stack::figure(class),
        shapes::remaining(class),
        shapes::attempts(class),
        work::figure(class),
        graph::figure(class),
    ];
    figures.into_iter().flatten().map(Block::Figure).collect()
}

/// A percentile, where the sample bounds it.
fn bounded(values: &Sorted, quantile: Quantile) -> Option<Nanos> {
    let estimate = values.quantile(quantile).filter(|_| values.len() >= quantile.least_sample());
    estimate.map(|estimate| estimate.value)
}
