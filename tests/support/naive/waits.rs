//! Waits inside spans, and when execution began (SEMANTICS §2, §6).

use super::intervals::{Interval, clip};
use super::{MS, Trace};

impl Trace<'_> {
    /// Until when a wait span waits.
    pub(super) fn waiting_end(&self, wait: usize) -> i64 {
        let node = &self.nodes[wait];
        let first = node.children.iter().map(|&child| self.nodes[child].start).min();
        first.map_or(node.end, |first| first.clamp(node.start, node.end))
    }

    /// When a span waited, by its own events and by its wait spans.
    pub(super) fn waits(&self, span: usize) -> Vec<Interval> {
        let node = &self.nodes[span];
        let mut waits = vec![(node.start, node.start + node.span.waited_inside.as_nanos())];
        for &child in &node.children {
            if self.nodes[child].is_wait {
                waits.push((self.nodes[child].start, self.waiting_end(child)));
            }
        }
        clip(&waits, (node.start, node.end))
    }

    /// When a span began to execute.
    pub(super) fn execution_start(&self, span: usize) -> i64 {
        let node = &self.nodes[span];
        let mut begun = if node.is_wait { self.waiting_end(span) } else { node.start };
        let mut waits = self.waits(span);
        waits.sort_unstable();
        for (from, to) in waits {
            if from <= begun + MS {
                begun = begun.max(to);
            }
        }
        begun
    }
}
