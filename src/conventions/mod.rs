//! What exporters' attributes mean (SEMANTICS §2): the keys as data in `conventions.toml`, and the
//! resolver that turns a span as written into a span as understood and says which key spoke.
//!
//! Knows nothing of wire formats, traces or budgets: one span at a time.

mod default_timeouts;
mod facts;
mod found;
mod identity;
mod index;
mod instant;
mod key_table;
mod neutral;
mod outcome;
mod pattern;
pub mod raw;
mod reading;
mod resolve;
mod rows;
mod sampling;
mod seen;
mod split;

use std::collections::BTreeMap;

use crate::span::{Interner, Sym};

pub use crate::config_error::ConfigError as ConventionsError;
pub use default_timeouts::{DefaultTimeout, default_timeout};
pub use instant::parse as parse_instant;
pub use neutral::{Named, Rename};
pub use resolve::tells_of_moved_times;
pub(crate) use sampling::member_of as member_of_trace_state;
pub use seen::{KeyCount, Seen, Tally};

use index::{Index, Place};
use raw::{Attribute, KeyPlace};
use reading::text_of;
use rows::Rows;
pub use split::SplitKeys;
use split::SplitValues;

/// The rows that come with the program.
const EMBEDDED: &str = include_str!("conventions.toml");
/// Resource attributes that tell whose clock a span was timed by; the first present counts. The last
/// two are tags that Jaeger's clients put on processes.
const CLOCK_KEYS: [&str; 6] =
    ["k8s.node.name", "host.id", "host.name", "service.instance.id", "hostname", "ip"];

/// The resource attribute that names a service.
const SERVICE_KEY: &str = "service.name";

/// What carries attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// What made spans.
    Resource,
    /// A span.
    Span,
    /// Something that happened within a span.
    Event,
    /// What several spans were made with.
    Scope,
}

/// Whether anything depends on an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted<'c> {
    /// Nothing does.
    No,
    /// Something does.
    Yes,
    /// Something does, and the conventions write its key in the same way: here it is, known to be
    /// text, and where they have it.
    As(&'c str, KeyPlace),
}

/// Which attributes mean what.
#[derive(Clone, Debug)]
pub struct Conventions {
    rows: Rows,
    index: Index,
    heuristics: bool,
    split: SplitKeys,
}

/// What a resource says of all its spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// `service.name`; empty where there is none.
    pub service: Sym,
    /// `key=value` of the attribute that tells the clock, or the service.
    pub clock_domain: Sym,
    /// The values by which classes are split, as far as it tells them.
    split: SplitValues,
    /// What made its spans, and how early the row that says so is tried.
    stack: Option<(Place, Sym)>,
    /// Its number among those of its record that are kept whole; `None` where none are.
    pub number: Option<usize>,
}

impl Conventions {
    /// The conventions that come with the program.
    ///
    /// # Errors
    /// None in a program that was tested; the embedded file is read like any other.
    pub fn embedded() -> Result<Self, ConventionsError> {
        let rows = Rows::parse("conventions.toml", EMBEDDED)?;
        let index = Index::new(rows.clone());
        Ok(Self { index, rows, heuristics: false, split: SplitKeys::default() })
    }

    /// These conventions with the rows of a file laid over them: rows of the same id are replaced,
    /// others come first.
    ///
    /// # Errors
    /// The first trouble in `text`, with `file`, line and key.
    pub fn with_file(self, file: &str, text: &str) -> Result<Self, ConventionsError> {
        let rows = self.rows.overlaid(&Rows::parse(file, text)?);
        Ok(Self { index: Index::new(rows.clone()), rows, ..self })
    }

    /// Whether generic names (B10) count as grants; they do not unless asked for.
    #[must_use]
    pub fn heuristics(self, on: bool) -> Self {
        Self { heuristics: on, ..self }
    }

    /// Who chose traces once their outcome was known, by what was met of theirs, and how often it was.
    pub fn chosen_by(&self, seen: &Seen) -> BTreeMap<String, u64> {
        let mut chosen = BTreeMap::new();
        for row in &self.rows.chosen {
            let met = |count: &&KeyCount| index::names_row(&count.rule, &row.id);
            let count = seen.keys.values().filter(met).map(|met| met.count).sum::<u64>();
            if count > 0 {
                *chosen.entry(row.by.clone()).or_default() += count;
            }
        }
        chosen
    }

    /// Attributes whose values split request classes; there are none unless asked for.
    #[must_use]
    pub fn splitting_by(self, keys: SplitKeys) -> Self {
        Self { split: keys, ..self }
    }

    /// Whether anything depends on the attribute `key` of `carrier`.
    #[inline]
    pub fn wanted(&self, carrier: Carrier, key: &[u8]) -> Wanted<'_> {
        let is_wanted = match carrier {
            Carrier::Span => match self.index.wanted(key) {
                Wanted::No => self.split.has(key),
                wanted => return wanted,
            },
            Carrier::Event => self.index.reads_in_event(key),
            Carrier::Scope => self.index.is_known(key),
            Carrier::Resource => {
                let is_clock = |clock: &str| clock.as_bytes() == key;
                key == SERVICE_KEY.as_bytes()
                    || CLOCK_KEYS.into_iter().any(is_clock)
                    || !self.index.stack_places(key).is_empty()
                    || self.split.has(key)
            }
        };
        if is_wanted { Wanted::Yes } else { Wanted::No }
    }

    /// Counts what is known of the attributes of a scope: it tells nothing of any one span.
    pub fn scope(&self, attributes: &[Attribute<'_>], tally: &mut Tally) {
        for (key, value) in attributes {
            self.index.count(key, value, tally);
        }
    }

    /// What the attributes of a resource say of its spans.
    pub fn resource(&self, attributes: &[Attribute<'_>], strings: &mut Interner) -> Resource {
        let value_of = |key: &str| {
            attributes.iter().find(|(name, _)| *name == *key).and_then(|(_, value)| text_of(value))
        };
        let service = strings.intern(&value_of(SERVICE_KEY).unwrap_or_default());
        let clock = CLOCK_KEYS.iter().find_map(|key| Some(format!("{key}={}", value_of(key)?)));
        let clock_domain = clock.map_or(service, |clock| strings.intern(&clock));
        Resource {
            service,
            clock_domain,
            split: self.split.values(attributes, strings),
            stack: self.stack_of_resource(attributes, strings),
            number: None,
        }
    }
}
