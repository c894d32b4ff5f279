//! Values of as many spans as memory is given for: all of them, or a sample that is the same in whatever
//! order they come.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash64;

use crate::span::{SpanId, TraceId};

/// Values of spans, at most so many: those whose ids have the smallest hashes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sampled<T> {
    most: usize,
    seen: u64,
    kept: BinaryHeap<Kept<T>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept<T> {
    key: (u64, TraceId, SpanId),
    value: T,
}

impl<T> PartialEq for Kept<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<T> Eq for Kept<T> {}

impl<T> PartialOrd for Kept<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Kept<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl<T> Sampled<T> {
    /// No values yet, and at most so many.
    pub const fn new(most: usize) -> Self {
        Self { most, seen: 0, kept: BinaryHeap::new() }
    }

    /// Adds the value of a span.
    pub fn push(&mut self, trace: TraceId, span: SpanId, value: T) {
        self.seen += 1;
        let mut id = [0; 24];
        let (of_trace, of_span) = id.split_at_mut(16);
        of_trace.copy_from_slice(&trace.0.to_le_bytes());
        of_span.copy_from_slice(&span.0.to_le_bytes());
        let key = (XxHash64::oneshot(0, &id), trace, span);
        if self.kept.len() < self.most {
            self.kept.push(Kept { key, value });
        } else if let Some(mut largest) = self.kept.peek_mut()
            && key < largest.key
        {
            *largest = Kept { key, value };
        }
    }

    /// Adds what another holds.
    pub fn merge(&mut self, other: Self) {
        self.seen += other.seen;
        self.kept.extend(other.kept);
        while self.kept.len() > self.most {
            self.kept.pop();
        }
    }

    /// How many values there were.
    pub const fn seen(&self) -> u64 {
        self.seen
    }

    /// How many are kept.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Those that are kept with the number of their trace, in the order of traces and spans.
    pub fn by_trace(&self) -> Vec<(u32, &T)> {
        let mut kept: Vec<&Kept<T>> = self.kept.iter().collect();
        kept.sort_unstable_by_key(|kept| (kept.key.1, kept.key.2));
        let mut number = 0;
        let mut before = None;
        let numbered = kept.into_iter().map(|kept| {
            if before.is_some_and(|before| before != kept.key.1) {
                number += 1;
            }
            before = Some(kept.key.1);
            (number, &kept.value)
        });
        numbered.collect()
    }
}
