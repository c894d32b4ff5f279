//! Who tries calls again, how often, and what several layers that do so make of one request
//! (docs/inference.md).
//!
//! Fed partition by partition; what is kept grows with who calls whom, and not with the requests.

mod edge;
mod path;
mod request;

use std::cmp::Reverse;
use std::collections::BTreeMap;

pub use edge::{Edge, Told};
pub use path::{Layer, Path};

use crate::distributions::{Call, Merge, Names, merged};
use crate::tables::{Tables, by_request};
use path::Paths;
use request::Request;

/// The most of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Most(pub u64);

impl Merge for Most {
    fn merge_from(&mut self, other: Self) {
        *self = (*self).max(other);
    }
}

merged! {
    /// How often calls were tried.
    pub struct Retrying {
        /// Requests.
        pub requests: u64,
        /// Those in which an attempt of a call with several lies below an attempt of another such call.
        pub layered: u64,
        /// By caller, callee and the name of the caller's span.
        pub edges: BTreeMap<Call, Edge>,
        /// Two calls of which one lies below the other, and in how many requests both were tried again;
        /// the upper one first.
        pub pairs: BTreeMap<(Call, Call), u64>,
        /// By the services along the way.
        pub layers: BTreeMap<Path, Layer>,
    }
}

impl Retrying {
    /// Takes in a partition of whole traces.
    pub fn add(&mut self, tables: &Tables) {
        let mut names = Names::of(&tables.strings);
        let mut paths = Paths::default();
        let mut hops = by_request(&tables.hops, |row| (row.trace_id, row.root_span_id));
        let mut attempts = by_request(&tables.attempts, |row| (row.trace_id, row.root_span_id));
        for row in &tables.requests {
            self.requests += 1;
            self.layered += u64::from(row.retry_layered);
            let key = (row.trace_id, row.root_span_id);
            let hops = hops.remove(&key).unwrap_or_default();
            let request = Request::new(hops, attempts.remove(&key).unwrap_or_default());
            let calls = names.calls_of(request.attempts);
            request.add_edges(&calls, &tables.strings, &mut self.edges);
            request.add_pairs(&calls, &mut self.pairs);
            paths.add(&request, row.root_service);
        }
        self.layers.merge_from(paths.told(&mut names));
    }

    /// The most attempts that one call of the first service on a path may come to at its end: each layer
    /// tries as often as it was ever seen to.
    pub fn worst(&self, path: &Path) -> u64 {
        let layers = (2..=path.0.len()).filter_map(|upto| path.0.get(..upto));
        layers.fold(1, |worst: u64, upto| {
            let layer = self.layers.get(&Path(upto.to_vec()));
            worst.saturating_mul(layer.map_or(1, |layer| layer.most.0.max(1)))
        })
    }

    /// The calls that were tried again, those with most further attempts first.
    pub fn ranked(&self) -> Vec<(&Call, &Edge)> {
        let mut ranked: Vec<_> = self.edges.iter().filter(|(_, edge)| edge.is_notable()).collect();
        ranked.sort_by_key(|(_, edge)| Reverse(edge.extra()));
        ranked
    }
}
