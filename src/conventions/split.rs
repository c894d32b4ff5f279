//! Attributes that a user names to split request classes by: `service.version`, for one.
//!
//! They are the only attributes whose values are told, since somebody asked for them by name.

use std::fmt::Write;

use super::raw::Attribute;
use super::reading::text_of;
use crate::span::{Interner, Sym};

/// A longer value is cut: it tells a class, and is no place for a document.
const MAX_CHARS: usize = 64;

/// The keys by which classes are split, in the order in which they are told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SplitKeys(Vec<String>);

/// The values of some keys, in their order.
pub(super) type SplitValues = [Option<Sym>; SplitKeys::MOST];

impl SplitKeys {
    /// So many may be named.
    pub const MOST: usize = 4;

    /// These keys, each once; `None` where they are too many.
    pub fn new(keys: impl IntoIterator<Item = String>) -> Option<Self> {
        let mut own = Vec::new();
        for key in keys {
            if !own.contains(&key) {
                own.push(key);
            }
        }
        (own.len() <= Self::MOST).then_some(Self(own))
    }

    /// Whether `key` is one of them.
    #[inline]
    pub(super) fn has(&self, key: &[u8]) -> bool {
        self.0.iter().any(|own| own.as_bytes() == key)
    }

    /// What some attributes say.
    pub(super) fn values(
        &self,
        attributes: &[Attribute<'_>],
        strings: &mut Interner,
    ) -> SplitValues {
        let mut values = SplitValues::default();
        for (key, value) in self.0.iter().zip(&mut values) {
            let told = attributes.iter().find(|(name, _)| *name == **key);
            let told = told.and_then(|(_, value)| text_of(value));
            *value = told.map(|told| {
                let mut chars = told.chars();
                let short: String = chars.by_ref().take(MAX_CHARS).collect();
                let cut = if chars.next().is_some() { "…" } else { "" };
                strings.intern(&(short + cut))
            });
        }
        values
    }

    /// What a span is told apart by: what its resource says, else it itself, as Zipkin's spans do,
    /// which have no resource. `None` where nothing was asked for.
    pub(super) fn of_span(
        &self,
        of_resource: &SplitValues,
        attributes: &[Attribute<'_>],
        strings: &mut Interner,
    ) -> Option<Sym> {
        if self.0.is_empty() {
            return None;
        }
        let own = self.values(attributes, strings);
        let mut split = String::new();
        for ((key, of_resource), own) in self.0.iter().zip(of_resource).zip(own) {
            let separator = if split.is_empty() { "" } else { ", " };
            // Writing to a string cannot fail.
            let _ = match of_resource.or(own) {
                Some(value) => write!(split, "{separator}{key}={}", strings.get(value)),
                None => write!(split, "{separator}{key} not set"),
            };
        }
        Some(strings.intern(&split))
    }
}
