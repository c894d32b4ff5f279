//! A stand-in for the resolver, so that readers compile and can be tested before it is there.

pub mod raw;

use std::collections::BTreeMap;

use crate::span::{Interner, Kind, Outcome, Span, Sym};
use crate::units::Nanos;

/// The conventions in force.
#[derive(Debug, Default)]
pub struct Conventions {}

/// A conventions file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("conventions cannot be read")]
pub struct ConventionsError;

/// What a resource says, resolved once.
#[derive(Clone, Copy, Debug)]
pub struct Resource {
    service: Sym,
}

/// How often a convention key was met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyCount {
    /// The rule that names it.
    pub rule: String,
    /// How often.
    pub count: u64,
    /// How many of these did not parse.
    pub unparsed: u64,
}

/// Which convention keys were met how often, and which values did not parse.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// By key.
    pub keys: BTreeMap<String, KeyCount>,
}

impl Seen {
    /// Adds what another part of the input showed.
    pub fn merge(&mut self, other: Self) {
        for (key, count) in other.keys {
            let entry = self.keys.entry(key).or_default();
            entry.rule = count.rule;
            entry.count += count.count;
            entry.unparsed += count.unparsed;
        }
    }
}

impl Conventions {
    /// The embedded ones.
    pub fn embedded() -> Result<Self, ConventionsError> {
        Ok(Self {})
    }

    /// The embedded ones, extended or overridden by a file.
    pub fn with_file(_file: &str, _text: &str) -> Result<Self, ConventionsError> {
        Ok(Self {})
    }

    /// Service and clock domain of a resource.
    pub fn resource<'a>(
        &self,
        attributes: &[raw::Attribute<'a>],
        strings: &mut Interner,
    ) -> Resource {
        let service = attributes.iter().find_map(|(key, value)| match value {
            raw::Value::Text(text) if key == "service.name" => Some(text.as_ref()),
            _ => None,
        });
        Resource { service: strings.intern(service.unwrap_or_default()) }
    }

    /// A span as admitted.
    pub fn resolve(
        &self,
        raw: &raw::RawSpan<'_>,
        resource: &Resource,
        strings: &mut Interner,
        seen: &mut Seen,
    ) -> Span {
        for (key, value) in &raw.attributes {
            if key == "deadline.remaining_ms" {
                let entry = seen.keys.entry(key.to_string()).or_default();
                entry.rule = "own".to_owned();
                entry.count += 1;
                entry.unparsed += u64::from(!matches!(value, raw::Value::Int(_)));
            }
        }
        let is_error = raw.status == raw::Status::Error;
        Span {
            trace_id: raw.trace_id,
            span_id: raw.span_id,
            parent_span_id: raw.parent_span_id,
            service: resource.service,
            clock_domain: resource.service,
            operation: strings.intern(&raw.name),
            route_operation: None,
            kind: if raw.kind == Kind::Internal { Kind::Internal } else { raw.kind },
            start: raw.start,
            end: raw.end.max(raw.start),
            outcome: if is_error { Outcome::Error } else { Outcome::Ok },
            http_status: None,
            grant: None,
            allowance: None,
            attempt_ordinal: None,
            queued_before: Nanos::ZERO,
            waited_inside: Nanos::ZERO,
            target: None,
            peer_service: None,
            links: raw.links,
            flags: crate::span::Flags {
                has_error_status: is_error,
                negative_duration: raw.end < raw.start,
                ..Default::default()
            },
        }
    }
}
