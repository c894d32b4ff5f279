//! The rows turned round: from an attribute's key, an event's name or a span's name to what it
//! means. Built once; each attribute of a span is looked up once.

use rustc_hash::FxHashMap;

use super::facts::Fact;
use super::pattern::{NamePattern, Spellings};
use super::raw::{RawSpan, Value};
use super::rows::{
    ExceptionRow, GrantRow, NameMeaning, OrdinalRow, OutcomeRow, QueueRow, Rows, WordRow,
};
use super::seen::Seen;
use crate::units::UnixNanos;

/// Where a key stands: `rank` orders all keys of a section, `row` is the row that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    rank: usize,
    pub(super) row: usize,
}

/// What a key or an event is looked up for.
#[derive(Clone, Copy, Debug)]
enum Use {
    Fact(Fact, usize),
    Grant(Place),
    Ordinal(Place),
    Queue(Place),
    Outcome(Place),
    WaitUntil,
}

/// All uses of a key or an event.
#[derive(Clone, Debug, Default)]
struct Meaning {
    /// The rules to count it under; empty if it is not counted.
    rule: String,
    uses: Vec<Use>,
}

impl Meaning {
    fn add(&mut self, rule: Option<&str>, found_use: Option<Use>) {
        if let Some(rule) = rule
            && !self.rule.split(", ").any(|known| known == rule)
        {
            if !self.rule.is_empty() {
                self.rule.push_str(", ");
            }
            self.rule.push_str(rule);
        }
        self.uses.extend(found_use);
    }
}

type Meanings = FxHashMap<Box<str>, Meaning>;

/// The conventions, ready for looking up.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    keys: Meanings,
    events: Meanings,
    /// The attributes of events that grant rows ask for, by event name.
    event_keys: FxHashMap<Box<str>, Meanings>,
    names: FxHashMap<Box<str>, NameMeaning>,
    starred_names: Vec<(NamePattern, NameMeaning)>,
    pub(super) grants: Vec<GrantRow>,
    pub(super) ordinals: Vec<OrdinalRow>,
    pub(super) queues: Vec<QueueRow>,
    pub(super) outcomes: Vec<OutcomeRow>,
    pub(super) exceptions: Vec<ExceptionRow>,
    pub(super) words: Vec<WordRow>,
}

/// Something that a row looks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit<'a> {
    pub(super) place: Place,
    /// The key as the span has it; the event's name for an event.
    pub(super) key: &'a str,
    pub(super) value: HitValue<'a>,
}

/// What was found there.
#[derive(Clone, Copy, Debug)]
pub(super) enum HitValue<'a> {
    Attribute(&'a Value<'a>),
    Event(Option<UnixNanos>),
}

/// All that the conventions find on a span; hits in the order in which they are to be tried.
#[derive(Debug, Default)]
pub(super) struct Found<'a> {
    facts: [Option<(usize, &'a Value<'a>)>; Fact::COUNT],
    pub(super) grants: Vec<Hit<'a>>,
    pub(super) ordinals: Vec<Hit<'a>>,
    pub(super) queues: Vec<Hit<'a>>,
    pub(super) outcomes: Vec<Hit<'a>>,
    /// The latest event up to which the span only waited.
    pub(super) waited_until: Option<UnixNanos>,
    pub(super) has_rpc: bool,
}

impl<'a> Found<'a> {
    /// The value of the first key of `fact` that the span has.
    pub(super) fn fact(&self, fact: Fact) -> Option<&'a Value<'a>> {
        self.facts.get(fact as usize).copied().flatten().map(|(_, value)| value)
    }

    fn add(&mut self, found_use: Use, key: &'a str, value: HitValue<'a>) {
        let hit = |place| Hit { place, key, value };
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
            (Use::Queue(place), _) => self.queues.push(hit(place)),
            (Use::Outcome(place), _) => self.outcomes.push(hit(place)),
            (Use::WaitUntil, HitValue::Event(time)) => {
                self.waited_until = self.waited_until.max(time);
            }
            (Use::Fact(..), HitValue::Event(_)) | (Use::WaitUntil, HitValue::Attribute(_)) => {}
        }
    }

    /// Puts hits in order. The sorts are stable: of a key that comes twice the first is tried
    /// first, and of several events the earliest.
    fn sort(&mut self) {
        self.grants.sort_by_key(|hit| hit.place);
        self.ordinals.sort_by_key(|hit| hit.place);
        self.outcomes.sort_by_key(|hit| hit.place);
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
        Value::List(values) => values.first().is_some_and(says_something_single),
        Value::Other => false,
        Value::Int(_) | Value::Double(_) | Value::Bool(_) => true,
    }
}

/// As [`says_something`] for a member of a list, which is no list.
fn says_something_single(value: &Value<'_>) -> bool {
    !matches!(value, Value::List(_) | Value::Other)
        && !matches!(value, Value::Text(text) if text.is_empty())
}

impl Index {
    /// Turns `rows` round.
    pub(super) fn new(rows: Rows) -> Self {
        let mut index = Self::default();
        for row in &rows.fact {
            let spellings = spellings(&row.keys).enumerate();
            for (rank, key) in spellings {
                let found_use = Some(Use::Fact(row.fact, rank));
                index.keys.entry(key.into()).or_default().add(row.id.as_deref(), found_use);
            }
        }
        index.add_grants(&rows.grant);
        let mut places = Places::default();
        for (at, row) in rows.ordinal.iter().enumerate() {
            for key in spellings(&row.keys) {
                add(&mut index.keys, key, &row.id, Some(Use::Ordinal(places.next(at))));
            }
        }
        for (at, row) in rows.queue.iter().enumerate() {
            for key in spellings(&row.keys) {
                add(&mut index.keys, key, &row.id, Some(Use::Queue(places.next(at))));
            }
            // The earliest event counts, whichever it is.
            let place = places.next(at);
            for event in &row.events {
                add(&mut index.events, event, &row.id, Some(Use::Queue(place)));
            }
        }
        for (at, row) in rows.outcome.iter().enumerate() {
            for key in spellings(&row.keys) {
                add(&mut index.keys, key, &row.id, Some(Use::Outcome(places.next(at))));
            }
            for event in &row.events {
                add(&mut index.events, event, &row.id, Some(Use::Outcome(places.next(at))));
            }
        }
        for row in &rows.inside {
            for event in &row.events {
                add(&mut index.events, event, &row.id, Some(Use::WaitUntil));
            }
        }
        for row in &rows.noted {
            for key in spellings(&row.keys) {
                add(&mut index.keys, key, &row.id, None);
            }
            for event in &row.events {
                add(&mut index.events, event, &row.id, None);
            }
        }
        for row in rows.name {
            for pattern in row.names {
                match pattern.exact() {
                    Some(name) => {
                        index.names.entry(name.into()).or_insert(row.means);
                    }
                    None => index.starred_names.push((pattern, row.means)),
                }
            }
        }
        index.grants = rows.grant;
        index.ordinals = rows.ordinal;
        index.queues = rows.queue;
        index.outcomes = rows.outcome;
        index.exceptions = rows.exception;
        index.words = rows.word;
        index
    }

    fn add_grants(&mut self, rows: &[GrantRow]) {
        let mut places = Places::default();
        for (at, row) in rows.iter().enumerate() {
            let keys = match &row.event {
                Some(event) => self.event_keys.entry(event.as_str().into()).or_default(),
                None => &mut self.keys,
            };
            for key in spellings(&row.keys) {
                add(keys, key, &row.id, Some(Use::Grant(places.next(at))));
            }
        }
    }

    /// What the name of a span says of it, and its number if it has one.
    pub(super) fn name(&self, name: &str) -> Option<(NameMeaning, Option<i32>)> {
        if let Some(&means) = self.names.get(name) {
            return Some((means, None));
        }
        self.starred_names.iter().find_map(|(pattern, means)| {
            let star = pattern.star(name)?;
            if *means != NameMeaning::NumberedAttempt {
                return Some((*means, None));
            }
            star.parse().ok().filter(|&number| number >= 1).map(|number| (*means, Some(number)))
        })
    }

    /// Looks all attributes and events of a span up.
    pub(super) fn find<'a>(&'a self, raw: &'a RawSpan<'a>, seen: &mut Seen) -> Found<'a> {
        let mut found = Found::default();
        for (key, value) in &raw.attributes {
            found.has_rpc |= key.starts_with("rpc.");
            look_up(&self.keys, key, HitValue::Attribute(value), &mut found, seen);
        }
        for event in &raw.events {
            look_up(&self.events, &event.name, HitValue::Event(event.time), &mut found, seen);
            if let Some(keys) = self.event_keys.get(event.name.as_ref()) {
                for (key, value) in &event.attributes {
                    look_up(keys, key, HitValue::Attribute(value), &mut found, seen);
                }
            }
        }
        found.sort();
        found
    }
}

/// All keys that the patterns of a row stand for, in order.
fn spellings(keys: &[Spellings]) -> impl Iterator<Item = &str> {
    keys.iter().flat_map(|keys| keys.0.iter().map(String::as_str))
}

/// Counts places through a section.
#[derive(Default)]
struct Places {
    rank: usize,
}

impl Places {
    fn next(&mut self, row: usize) -> Place {
        self.rank += 1;
        Place { rank: self.rank, row }
    }
}

fn add(meanings: &mut Meanings, key: &str, rule: &str, found_use: Option<Use>) {
    meanings.entry(key.into()).or_default().add(Some(rule), found_use);
}

/// Adds what `key` means to `found`, and counts it.
fn look_up<'a>(
    meanings: &Meanings,
    key: &'a str,
    value: HitValue<'a>,
    found: &mut Found<'a>,
    seen: &mut Seen,
) {
    let known = if key.bytes().any(|byte| byte.is_ascii_uppercase()) {
        // An event's name is looked up as it is, a key in lower case.
        meanings
            .get_key_value(key)
            .or_else(|| meanings.get_key_value(key.to_ascii_lowercase().as_str()))
    } else {
        meanings.get_key_value(key)
    };
    let Some((known_key, meaning)) = known else { return };
    if !meaning.rule.is_empty() {
        seen.met(known_key, &meaning.rule);
    }
    for &found_use in &meaning.uses {
        found.add(found_use, key, value);
    }
}
