//! Who calls whom: services in columns by depth, calls as curves. Each call arrives at a place of its
//! own, where what is said of it has room.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::scale::{float, px};
use super::{WIDTH, ms, short};
use crate::report::model::{Edge, Graph};
use crate::report::text;

/// The room that a call takes where it arrives: two lines.
const PORT: f64 = 32.0;
/// Between boxes.
const GAP: f64 = 22.0;
const TOP: f64 = 14.0;
/// A box is as wide as its column allows, but not wider.
const WIDEST: f64 = 170.0;
const LETTER: f64 = 7.6;

#[derive(Clone, Copy)]
struct Place {
    x: f64,
    y: f64,
}

/// The boxes, and where each call leaves and arrives.
struct Plan {
    /// The upper left corner of each box, and its height.
    boxes: Vec<(Place, f64)>,
    width: f64,
    height: f64,
    calls: Vec<Call>,
}

/// A call as it is drawn.
struct Call {
    from: Place,
    to: Place,
    /// How deep it dips on its way back to the left, or within a service.
    below: Option<f64>,
}

pub(super) fn draw(graph: &Graph) -> Markup {
    let plan = plan(graph);
    let busiest = graph.edges.iter().map(|edge| edge.calls).max().unwrap_or(1);
    let calls = || graph.edges.iter().zip(&plan.calls);
    html! {
        svg viewBox={ "0 0 " (px(WIDTH)) " " (px(plan.height)) } role="img" aria-label=(said(graph)) {
            @for (edge, call) in calls() {
                path.call.reset[is_wrong(edge)] d=(path(call)) stroke-width=(px(stroke(edge, busiest))) {
                    title { (words(graph, edge)) }
                }
            }
            @for (node, (place, height)) in graph.nodes.iter().zip(&plan.boxes) {
                g {
                    title { (short(&node.label, 120)) }
                    rect.node x=(px(place.x)) y=(px(place.y)) width=(px(plan.width)) height=(px(*height)) rx="5" {}
                    text.label x=(px(place.x + plan.width / 2.0)) y=(px(place.y + height / 2.0 + 4.0)) text-anchor="middle" {
                        (short(&node.label, columns(plan.width)))
                    }
                }
            }
            // Last, so that no curve crosses what is said.
            @for (edge, call) in calls() { (label(edge, call)) }
        }
        @if graph.left_out > 0 {
            p.rest { "and " (text::count(graph.left_out as u64)) " more edges between services" }
        }
    }
}

fn plan(graph: &Graph) -> Plan {
    let depth = |node: usize| graph.nodes.get(node).map_or(0, |node| node.depth);
    let is_forth = |edge: &Edge| depth(edge.from) < depth(edge.to);
    let mut arriving: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, edge) in graph.edges.iter().enumerate().filter(|(_, edge)| is_forth(edge)) {
        arriving.entry(edge.to).or_default().push(index);
    }
    let deepest = graph.nodes.iter().map(|node| node.depth).max().unwrap_or(0).max(1);
    let column = (WIDTH - 20.0) / float(i128::from(deepest) + 1);
    let width = (column * 0.42).min(WIDEST);
    let step = (WIDTH - 20.0 - width) / float(i128::from(deepest));
    let mut filled: BTreeMap<i32, f64> = BTreeMap::new();
    let mut place = |(index, depth): (usize, i32)| {
        let height = PORT * float(arriving.get(&index).map_or(1, Vec::len) as i128);
        let y = filled.entry(depth).or_insert(TOP);
        let corner = Place { x: 10.0 + step * float(i128::from(depth)), y: *y };
        *y += height + GAP;
        (corner, height)
    };
    let depths = graph.nodes.iter().map(|node| node.depth).enumerate();
    let boxes: Vec<(Place, f64)> = depths.map(&mut place).collect();
    let mut height = filled.values().copied().fold(TOP, f64::max);
    let calls = graph.edges.iter().enumerate().map(|(index, edge)| {
        let port = arriving.get(&edge.to).and_then(|all| all.iter().position(|it| *it == index));
        let ((from, from_height), (to, _)) = (boxes[edge.from], boxes[edge.to]);
        let from = Place { x: from.x + width, y: from.y + from_height / 2.0 };
        let below = port.is_none().then(|| {
            height += PORT;
            height - PORT / 2.0
        });
        let to = Place { x: to.x, y: to.y + PORT * (0.5 + float(port.unwrap_or(0) as i128)) };
        Call { from, to, below }
    });
    let calls = calls.collect();
    Plan { boxes, width, height: height + 6.0, calls }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a width in pixels is a small number above zero"
)]
fn columns(room: f64) -> usize {
    (room / LETTER) as usize
}

fn stroke(edge: &Edge, busiest: u64) -> f64 {
    1.2 + 5.0 * (float(i128::from(edge.calls)) / float(i128::from(busiest.max(1)))).sqrt()
}

fn path(Call { from, to, below }: &Call) -> String {
    let curve = |a: Place, b: Place, end: Place| {
        format!("C{} {} {} {} {} {}", px(a.x), px(a.y), px(b.x), px(b.y), px(end.x), px(end.y))
    };
    let begin = format!("M{} {} ", px(from.x), px(from.y));
    let at = |x: f64, y: f64| Place { x, y };
    let Some(below) = *below else {
        let middle = f64::midpoint(from.x, to.x);
        return begin + &curve(at(middle, from.y), at(middle, to.y), *to);
    };
    let turn = at(f64::midpoint(from.x, to.x), below);
    let out = curve(at(from.x + 40.0, from.y), at(from.x + 40.0, below), turn);
    begin + &out + " " + &curve(at(to.x - 40.0, below), at(to.x - 40.0, to.y), *to)
}

fn is_wrong(edge: &Edge) -> bool {
    edge.resets + edge.overgrants > 0
}

/// What is said of a call: where it arrives, or where it dips.
fn label(edge: &Edge, Call { from, to, below }: &Call) -> Markup {
    let (x, y, anchor) = match *below {
        None => (to.x - 8.0, to.y, "end"),
        Some(below) => (f64::midpoint(from.x, to.x), below, "middle"),
    };
    html! {
        text.tick.halo x=(px(x)) y=(px(y - 4.0)) text-anchor=(anchor) { (text::count(edge.calls)) }
        @if is_wrong(edge) {
            text.tick.halo.bad x=(px(x)) y=(px(y + 13.0)) text-anchor=(anchor) { (wrongs(edge)) }
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
