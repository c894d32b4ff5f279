//! Who calls whom: services in columns by depth, calls as curves.

use maud::{Markup, html};

use super::scale::{float, px};
use super::{WIDTH, ms, short};
use crate::report::model::{Edge, Graph};
use crate::report::text;

const BOX: f64 = 26.0;
const ROW: f64 = 62.0;
const TOP: f64 = 14.0;
/// A box is as wide as its column allows, but not wider.
const WIDEST: f64 = 170.0;
const LETTER: f64 = 7.6;

/// Where a box stands.
#[derive(Clone, Copy)]
struct Place {
    x: f64,
    y: f64,
}

/// The boxes.
struct Plan {
    places: Vec<Place>,
    width: f64,
    height: f64,
}

pub(super) fn draw(graph: &Graph) -> Markup {
    let plan = plan(graph);
    let busiest = graph.edges.iter().map(|edge| edge.calls).max().unwrap_or(1);
    html! {
        svg viewBox={ "0 0 " (px(WIDTH)) " " (px(plan.height)) } role="img" aria-label=(said(graph)) {
            @for edge in &graph.edges { (self::edge(graph, edge, &plan, busiest)) }
            @for (node, place) in graph.nodes.iter().zip(&plan.places) {
                g {
                    title { (short(&node.label, 120)) }
                    rect.node x=(px(place.x)) y=(px(place.y)) width=(px(plan.width)) height=(px(BOX)) rx="5" {}
                    text.label x=(px(place.x + plan.width / 2.0)) y=(px(place.y + 17.0)) text-anchor="middle" {
                        (short(&node.label, columns(plan.width)))
                    }
                }
            }
            // Last, so that no curve crosses what is said.
            @for edge in &graph.edges { (label(edge, &plan)) }
        }
        @if graph.left_out > 0 {
            p.rest { "and " (text::count(graph.left_out as u64)) " more edges between services" }
        }
    }
}

/// Columns by depth, boxes below each other.
fn plan(graph: &Graph) -> Plan {
    let deepest = graph.nodes.iter().map(|node| node.depth).max().unwrap_or(0).max(1);
    let column = (WIDTH - 20.0) / float(i128::from(deepest) + 1);
    let width = (column * 0.62).min(WIDEST);
    let step = (WIDTH - 20.0 - width) / float(i128::from(deepest));
    let mut filled = std::collections::BTreeMap::new();
    let places: Vec<Place> = graph
        .nodes
        .iter()
        .map(|node| {
            let row: &mut i128 = filled.entry(node.depth).or_default();
            let place = Place {
                x: 10.0 + step * float(i128::from(node.depth)),
                // A little lower from column to column, so that no curve runs behind a box.
                y: TOP + ROW * float(*row) + 12.0 * float(i128::from(node.depth) % 2),
            };
            *row += 1;
            place
        })
        .collect();
    let rows = filled.values().copied().max().unwrap_or(1);
    Plan { places, width, height: TOP + ROW * float(rows) + 16.0 }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a width in pixels is a small number above zero"
)]
fn columns(room: f64) -> usize {
    (room / LETTER) as usize
}

/// Where a call leaves and arrives.
fn ends(edge: &Edge, plan: &Plan) -> Option<(Place, Place)> {
    let (from, to) = (plan.places.get(edge.from)?, plan.places.get(edge.to)?);
    let middle = BOX / 2.0;
    let leaves = Place { x: from.x + plan.width, y: from.y + middle };
    Some((leaves, Place { x: to.x, y: to.y + middle }))
}

fn edge(graph: &Graph, edge: &Edge, plan: &Plan, busiest: u64) -> Markup {
    let Some((from, to)) = ends(edge, plan) else { return html! {} };
    let share = float(i128::from(edge.calls)) / float(i128::from(busiest.max(1)));
    let width = 1.2 + 5.0 * share.sqrt();
    // Calls back to the left, or within a service, go around below.
    let path = if to.x > from.x {
        let middle = f64::midpoint(from.x, to.x);
        format!(
            "M{} {} C{} {} {} {} {} {}",
            px(from.x),
            px(from.y),
            px(middle),
            px(from.y),
            px(middle),
            px(to.y),
            px(to.x),
            px(to.y)
        )
    } else {
        let below = from.y.max(to.y) + 34.0;
        format!(
            "M{} {} C{} {} {} {} {} {}",
            px(from.x),
            px(from.y),
            px(from.x + 40.0),
            px(below),
            px(to.x - 40.0),
            px(below),
            px(to.x),
            px(to.y)
        )
    };
    html! {
        path.call.reset[is_wrong(edge)] d=(path) stroke-width=(px(width)) {
            title { (words(graph, edge)) }
        }
    }
}

fn is_wrong(edge: &Edge) -> bool {
    edge.resets + edge.overgrants > 0
}

fn label(edge: &Edge, plan: &Plan) -> Markup {
    let Some((from, to)) = ends(edge, plan) else { return html! {} };
    // Where it arrives: there curves lie apart.
    let (x, y, anchor) = if to.x > from.x {
        (to.x - 8.0, to.y, "end")
    } else {
        (f64::midpoint(from.x, to.x), from.y.max(to.y) + 30.0, "middle")
    };
    html! {
        text.tick.halo x=(px(x)) y=(px(y - 6.0)) text-anchor=(anchor) { (text::count(edge.calls)) }
        @if is_wrong(edge) {
            text.tick.halo.bad x=(px(x)) y=(px(y + 15.0)) text-anchor=(anchor) { (wrongs(edge)) }
        }
    }
}

/// What is wrong with an edge.
fn wrongs(edge: &Edge) -> String {
    let counted = |count: u64, noun: &str| (count > 0).then(|| text::counted(count, noun));
    let parts = [
        counted(edge.resets, "reset"),
        counted(edge.overgrants, "overgrant"),
        edge.wasted_ns.filter(|wasted| *wasted > 0).map(|wasted| format!("{} wasted", ms(wasted))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn words(graph: &Graph, edge: &Edge) -> String {
    let name = |node: usize| graph.nodes.get(node).map_or("", |node| &node.label);
    let wrongs = wrongs(edge);
    format!(
        "{} → {}: {}{}{wrongs}",
        short(name(edge.from), 80),
        short(name(edge.to), 80),
        text::counted(edge.calls, "call"),
        if wrongs.is_empty() { "" } else { ", " }
    )
}

fn said(graph: &Graph) -> String {
    graph.edges.iter().map(|edge| words(graph, edge)).collect::<Vec<_>>().join("; ")
}
