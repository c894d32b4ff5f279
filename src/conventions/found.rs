//! What the conventions find on one span.

use super::facts::Fact;
use super::index::{Meaning, Place, Use};
use super::raw::Value;
use crate::units::UnixNanos;

/// Something that a row looks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit<'a> {
    pub(super) place: Place,
    /// The key as the span has it; the event's name for an event.
    pub(super) key: &'a str,
    pub(super) meaning: &'a Meaning,
    pub(super) value: HitValue<'a>,
}

/// What was found there.
#[derive(Clone, Copy, Debug)]
pub(super) enum HitValue<'a> {
    /// A value.
    Attribute(&'a Value<'a>),
    /// An event, and when it happened.
    Event(Option<UnixNanos>),
}

/// All that the conventions find on a span; hits in the order in which they are to be tried.
#[derive(Debug, Default)]
pub(super) struct Found<'a> {
    facts: [Option<(usize, &'a Value<'a>)>; Fact::COUNT],
    pub(super) grants: Vec<Hit<'a>>,
    pub(super) ordinals: Vec<Hit<'a>>,
    pub(super) tries: Vec<Hit<'a>>,
    pub(super) stacks: Vec<Hit<'a>>,
    pub(super) queues: Vec<Hit<'a>>,
    pub(super) outcomes: Vec<Hit<'a>>,
    pub(super) samplings: Vec<Hit<'a>>,
    /// The latest event up to which the span only waited.
    pub(super) waited_until: Option<UnixNanos>,
    /// There is any `rpc.*` attribute.
    pub(super) has_rpc: bool,
}

impl<'a> Found<'a> {
    /// The value of the first key of `fact` that the span has.
    pub(super) fn fact(&self, fact: Fact) -> Option<&'a Value<'a>> {
        self.facts.get(fact as usize).copied().flatten().map(|(_, value)| value)
    }

    /// Notes what was found under `key`.
    pub(super) fn add(
        &mut self,
        found_use: Use,
        key: &'a str,
        meaning: &'a Meaning,
        value: HitValue<'a>,
    ) {
        let hit = |place| Hit { place, key, meaning, value };
        match (found_use, value) {
            (Use::Fact(fact, rank), HitValue::Attribute(value)) => {
                if let Some(slot) = self.facts.get_mut(fact as usize)
                    && slot.is_none_or(|(known, _)| rank < known)
                    && says_something(value)
                {
                    *slot = Some((rank, value));
                }
            }
            (Use::Grant(place), _) => self.grants.push(hit(place)),
            (Use::Ordinal(place), _) => self.ordinals.push(hit(place)),
            (Use::Tries(place), _) => self.tries.push(hit(place)),
            (Use::Stack(place), _) => self.stacks.push(hit(place)),
            (Use::Queue(place), _) => self.queues.push(hit(place)),
            (Use::Outcome(place), _) => self.outcomes.push(hit(place)),
            (Use::Sampling(place), _) => self.samplings.push(hit(place)),
            (Use::WaitUntil, HitValue::Event(time)) => {
                self.waited_until = self.waited_until.max(time);
            }
            (Use::Fact(..), HitValue::Event(_)) | (Use::WaitUntil, HitValue::Attribute(_)) => {}
        }
    }

    /// Puts hits in order. The sorts are stable: of a key that comes twice the first is tried
    /// first, and of several events the earliest.
    pub(super) fn sort(&mut self) {
        self.grants.sort_by_key(|hit| hit.place);
        self.ordinals.sort_by_key(|hit| hit.place);
        self.tries.sort_by_key(|hit| hit.place);
        self.stacks.sort_by_key(|hit| hit.place);
        self.outcomes.sort_by_key(|hit| hit.place);
        self.samplings.sort_by_key(|hit| hit.place);
        self.queues.sort_by_key(|hit| match hit.value {
            HitValue::Event(time) => (hit.place, time),
            HitValue::Attribute(_) => (hit.place, None),
        });
    }
}

/// Whether there is anything to read; an empty text is no value.
fn says_something(value: &Value<'_>) -> bool {
    match value {
        Value::Text(text) => !text.is_empty(),
        Value::List(values) => values
            .first()
            .is_some_and(|first| !matches!(first, Value::List(_)) && says_something(first)),
        Value::Other => false,
        Value::Int(_) | Value::Double(_) | Value::Bool(_) => true,
    }
}
