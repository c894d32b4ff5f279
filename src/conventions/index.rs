//! The rows turned round: from an attribute's key, an event's name or a span's name to what it
//! means. Built once; each attribute of a span is looked up once.

use rustc_hash::FxHashMap;

use super::Wanted;
use super::facts::Fact;
use super::found::{Found, HitValue};
use super::key_table::KeyTable;
use super::outcome::EXCEPTION_KEYS;
use super::pattern::{NamePattern, Spellings};
use super::raw::{RawSpan, Value};
use super::reading::{Grammar, bare, mentions_timeout, whole_number};
use super::rows::{
    ExceptionRow, FactRow, GrantRow, NameMeaning, NameRow, OrdinalGrammar, OrdinalRow, OutcomeRow,
    QueueRow, Rows, SamplingRow, StackRow, TriesRow, WordRow,
};
use super::seen::Tally;

/// How the keys of remote procedures begin.
pub(super) const RPC: &str = "rpc.";

/// Between the ids of the rows that name one key.
const RULE_SEPARATOR: &str = ", ";

/// Where a key stands: `rank` orders all keys of a section, `row` is the row that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    rank: usize,
    pub(super) row: usize,
}

/// What a key or an event is looked up for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Use {
    /// A fact; of its keys the one with the smallest number counts.
    Fact(Fact, usize),
    /// Time given, or the bound of a try.
    Grant(Place),
    /// The number of a try.
    Ordinal(Place),
    /// How many tries the span hides.
    Tries(Place),
    /// What made the span.
    Stack(Place),
    /// Time in a queue before the span.
    Queue(Place),
    /// How the span ended.
    Outcome(Place),
    /// An event up to which the span only waited.
    WaitUntil,
    /// How many requests the span stands for.
    Sampling(Place),
}

/// All uses of a key or an event.
#[derive(Clone, Debug)]
pub(super) struct Meaning {
    /// Its number among all.
    pub(super) number: usize,
    /// What it is called where it is counted.
    counted_as: String,
    /// The rules to count it under; empty if it is not counted.
    rule: String,
    /// Every span of a web client has a URL: one is evidence only if it speaks of a timeout.
    is_url: bool,
    uses: Vec<Use>,
}

/// Whether the row `id` is among the rows `rule`.
pub(super) fn names_row(rule: &str, id: &str) -> bool {
    rule.split(RULE_SEPARATOR).any(|known| known == id)
}

impl Meaning {
    /// No use yet; the next after `count` others.
    fn new(counted_as: String, count: &mut usize) -> Self {
        let number = *count;
        *count += 1;
        Self { number, counted_as, rule: String::new(), is_url: false, uses: Vec::new() }
    }

    /// Adds a use, if any, by the row `rule`.
    fn add(&mut self, rule: &str, found_use: Option<Use>) {
        if !names_row(&self.rule, rule) {
            if !self.rule.is_empty() {
                self.rule.push_str(RULE_SEPARATOR);
            }
            self.rule.push_str(rule);
        }
        self.uses.extend(found_use);
    }

    /// Whether meeting it with this value is to be counted.
    fn counts(&self, value: HitValue<'_>) -> bool {
        let is_evidence = match value {
            HitValue::Attribute(value) => !self.is_url || mentions_timeout(value),
            HitValue::Event(_) => true,
        };
        is_evidence && !self.rule.is_empty()
    }
}

/// The conventions, ready for looking up.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// How many meanings there are.
    meanings: usize,
    /// By attribute key.
    keys: KeyTable<Meaning>,
    /// By event name.
    events: FxHashMap<Box<str>, Meaning>,
    /// Events whose name holds what is another each time.
    starred_events: Vec<(NamePattern, Meaning)>,
    /// The attributes of events that grant rows ask for, by event name.
    event_keys: FxHashMap<Box<str>, KeyTable<Meaning>>,
    /// The attributes that are read of events of any name.
    keys_of_events: KeyTable<()>,
    /// The attributes of resources that tell what made their spans.
    stack_keys: KeyTable<Vec<Place>>,
    /// A key that each fact is looked for by.
    fact_keys: [Option<Box<str>>; Fact::COUNT],
    names: FxHashMap<Box<str>, NameMeaning>,
    starred_names: Vec<(NamePattern, NameMeaning)>,
    pub(super) grants: Vec<GrantRow>,
    pub(super) ordinals: Vec<OrdinalRow>,
    pub(super) tries: Vec<TriesRow>,
    pub(super) stacks: Vec<StackRow>,
    pub(super) queues: Vec<QueueRow>,
    pub(super) outcomes: Vec<OutcomeRow>,
    pub(super) samplings: Vec<SamplingRow>,
    pub(super) exceptions: Vec<ExceptionRow>,
    pub(super) words: Vec<WordRow>,
}

impl Index {
    /// Turns `rows` round.
    pub(super) fn new(rows: Rows) -> Self {
        let mut index = Self::default();
        for key in EXCEPTION_KEYS {
            index.keys_of_events.entry(key, || ());
        }
        index.add_facts(&rows.fact);
        index.add_grants(&rows.grant);
        let mut places = Places::default();
        for (at, row) in rows.ordinal.iter().enumerate() {
            for key in spellings(&row.keys) {
                index.key(key).add(&row.id, Some(Use::Ordinal(places.next(at))));
            }
        }
        index.add_tries(&rows.tries);
        index.add_stacks(&rows.stack);
        for (at, row) in rows.queue.iter().enumerate() {
            for key in spellings(&row.keys) {
                index.key(key).add(&row.id, Some(Use::Queue(places.next(at))));
            }
            // The earliest event counts, whichever it is.
            let place = places.next(at);
            for event in &row.events {
                index.event(event).add(&row.id, Some(Use::Queue(place)));
            }
        }
        for (at, row) in rows.outcome.iter().enumerate() {
            for key in spellings(&row.keys) {
                index.key(key).add(&row.id, Some(Use::Outcome(places.next(at))));
            }
            for event in &row.events {
                index.event(event).add(&row.id, Some(Use::Outcome(places.next(at))));
            }
        }
        for row in &rows.inside {
            for event in &row.events {
                index.event(event).add(&row.id, Some(Use::WaitUntil));
            }
        }
        index.add_samplings(&rows.sampling);
        for row in &rows.chosen {
            spellings(&row.keys).for_each(|key| index.key(key).add(&row.id, None));
        }
        for row in &rows.noted {
            spellings(&row.keys).for_each(|key| index.key(key).add(&row.id, None));
            for pattern in &row.events {
                index.event_of(pattern).add(&row.id, None);
            }
        }
        index.add_names(rows.name);
        index.grants = rows.grant;
        index.ordinals = rows.ordinal;
        index.tries = rows.tries;
        index.stacks = rows.stack;
        index.queues = rows.queue;
        index.outcomes = rows.outcome;
        index.samplings = rows.sampling;
        index.exceptions = rows.exception;
        index.words = rows.word;
        index
    }

    /// Facts are counted only where their row has an id.
    fn add_facts(&mut self, rows: &[FactRow]) {
        for row in rows {
            // One that says nothing else: any `rpc.*` key tells a remote procedure.
            let plain = spellings(&row.keys).find(|key| !key.starts_with("rpc."));
            if let Some(slot) = self.fact_keys.get_mut(row.fact as usize) {
                *slot = plain.or_else(|| spellings(&row.keys).next()).map(Box::from);
            }
            for (rank, key) in spellings(&row.keys).enumerate() {
                let meaning = self.key(key);
                match &row.id {
                    Some(id) => meaning.add(id, Some(Use::Fact(row.fact, rank))),
                    None => meaning.uses.push(Use::Fact(row.fact, rank)),
                }
            }
        }
    }

    /// Grant rows look at attributes of spans, or of the event that they name.
    fn add_grants(&mut self, rows: &[GrantRow]) {
        let mut places = Places::default();
        for (at, row) in rows.iter().enumerate() {
            // What has to be there, or to be small, for others to count means nothing by itself.
            for key in row.beside.iter().flatten().chain(&row.single_try) {
                self.key(&key.to_ascii_lowercase());
            }
            for key in spellings(&row.keys) {
                let meaning = match &row.event {
                    Some(event) => self.event_key(event, key),
                    None => self.key(key),
                };
                meaning.is_url |= row.read == Grammar::UrlTimeout;
                meaning.add(&row.id, Some(Use::Grant(places.next(at))));
            }
        }
    }

    /// Events of one row are counted together.
    fn add_tries(&mut self, rows: &[TriesRow]) {
        let mut places = Places::default();
        for (at, row) in rows.iter().enumerate() {
            for key in &row.beside {
                self.key(&key.to_ascii_lowercase());
            }
            for key in spellings(&row.keys) {
                self.key(key).add(&row.id, Some(Use::Tries(places.next(at))));
            }
            let place = places.next(at);
            for event in &row.events {
                self.event_of(event).add(&row.id, Some(Use::Tries(place)));
            }
        }
    }

    /// What tells whose span it is is no evidence of anything else, and not counted.
    fn add_stacks(&mut self, rows: &[StackRow]) {
        let mut places = Places::default();
        for (at, row) in rows.iter().enumerate() {
            for key in spellings(&row.keys) {
                let place = places.next(at);
                self.key(key).uses.push(Use::Stack(place));
                self.stack_keys.entry(key, Vec::new).push(place);
            }
        }
    }

    /// What stands beside the key of a row is read with it.
    fn add_samplings(&mut self, rows: &[SamplingRow]) {
        let mut places = Places::default();
        for (at, row) in rows.iter().enumerate() {
            for key in spellings(&row.keys) {
                self.key(key).add(&row.id, Some(Use::Sampling(places.next(at))));
            }
            for key in row.beside() {
                self.key(&key.to_ascii_lowercase());
            }
        }
    }

    /// Whole names are looked up, those with a star tried one by one.
    fn add_names(&mut self, rows: Vec<NameRow>) {
        for row in rows {
            for pattern in row.names {
                match pattern.exact() {
                    Some(name) => {
                        self.names.entry(name.into()).or_insert(row.means);
                    }
                    None => self.starred_names.push((pattern, row.means)),
                }
            }
        }
    }

    /// The meaning of an attribute.
    fn key(&mut self, key: &str) -> &mut Meaning {
        self.keys.entry(key, || Meaning::new(key.to_owned(), &mut self.meanings))
    }

    /// The meaning of an event.
    fn event(&mut self, name: &str) -> &mut Meaning {
        let first = || Meaning::new(format!("event {name}"), &mut self.meanings);
        self.events.entry(name.into()).or_insert_with(first)
    }

    /// The meaning of the events whose names match.
    fn event_of(&mut self, pattern: &NamePattern) -> &mut Meaning {
        if let Some(name) = pattern.exact() {
            return self.event(name);
        }
        let known = self.starred_events.iter().position(|(known, _)| known == pattern);
        let place = known.unwrap_or_else(|| {
            let first = Meaning::new(format!("event {pattern}"), &mut self.meanings);
            self.starred_events.push((pattern.clone(), first));
            self.starred_events.len() - 1
        });
        &mut self.starred_events[place].1
    }

    /// What an event's name means.
    fn meaning_of_event(&self, name: &str) -> Option<&Meaning> {
        self.events.get(name).or_else(|| {
            let matches = |(pattern, _): &&(NamePattern, Meaning)| pattern.star(name).is_some();
            self.starred_events.iter().find(matches).map(|(_, meaning)| meaning)
        })
    }

    /// The meaning of an event's attribute.
    fn event_key(&mut self, name: &str, key: &str) -> &mut Meaning {
        self.keys_of_events.entry(key, || ());
        let first = || Meaning::new(format!("event {name}: {key}"), &mut self.meanings);
        self.event_keys.entry(name.into()).or_default().entry(key, first)
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

    /// Whether anything depends on an attribute of a span.
    #[inline]
    pub(super) fn wanted(&self, key: &[u8]) -> Wanted<'_> {
        match self.keys.find(key) {
            Some(entry) if entry.is_exact => Wanted::As(entry.key, entry.place),
            Some(_) => Wanted::Yes,
            None if key.starts_with(RPC.as_bytes()) => Wanted::Yes,
            None => Wanted::No,
        }
    }

    /// Whether an attribute is among those that are counted, and means nothing besides.
    pub(super) fn is_known(&self, key: &[u8]) -> bool {
        self.keys
            .get(key)
            .is_some_and(|meaning| meaning.uses.is_empty() && !meaning.rule.is_empty())
    }

    /// Counts an attribute of something else than a span.
    pub(super) fn count(&self, key: &str, value: &Value<'_>, tally: &mut Tally) {
        let known = self.keys.get(key.as_bytes()).filter(|meaning| meaning.uses.is_empty());
        if let Some(meaning) = known.filter(|known| known.counts(HitValue::Attribute(value))) {
            tally.met(meaning.number, &meaning.counted_as, &meaning.rule);
        }
    }

    /// Whether anything depends on an attribute of an event, whatever that is called.
    pub(super) fn reads_in_event(&self, key: &[u8]) -> bool {
        self.keys_of_events.get(key).is_some()
    }

    /// The name with what stands for its star renamed, where it says something of the span; names
    /// that say nothing are renamed whole.
    pub(super) fn rename(&self, name: &str, rename: impl FnOnce(&str) -> String) -> String {
        let is_ordinals = |row: &OrdinalRow| row.name.as_deref() == Some(name);
        if self.names.contains_key(name) || self.ordinals.iter().any(is_ordinals) {
            return name.to_owned();
        }
        let mut starred = self.starred_names.iter();
        let found =
            starred.find_map(|(pattern, means)| Some((pattern, *means, pattern.star(name)?)));
        match found {
            Some((_, NameMeaning::NumberedAttempt, number)) if number.parse::<i32>().is_ok() => {
                name.to_owned()
            }
            Some((pattern, _, star)) => pattern.with_star(&rename(star)),
            None => rename(name),
        }
    }

    /// The value of an attribute with nothing left in it but the times and numbers that rows read
    /// there; `None` where they read nothing.
    pub(super) fn bare(&self, key: &str, value: &Value<'_>) -> Option<Value<'static>> {
        bare_by(&self.keys, key, value, self)
    }

    /// A key that `fact` is looked for by.
    pub(super) fn key_of(&self, fact: Fact) -> Option<&str> {
        self.fact_keys.get(fact as usize)?.as_deref()
    }

    /// Where an attribute of a resource tells what made its spans.
    pub(super) fn stack_places(&self, key: &[u8]) -> &[Place] {
        self.stack_keys.get(key).map_or(&[], Vec::as_slice)
    }

    /// Whether any column depends on an event by itself; those that are only counted tell a number.
    pub(super) fn uses_event(&self, name: &str) -> bool {
        let is_more = |found_use: &Use| !matches!(found_use, Use::Tries(_));
        let is_used = |meaning: &Meaning| meaning.uses.iter().any(is_more);
        self.meaning_of_event(name).is_some_and(is_used) || self.event_keys.contains_key(name)
    }

    /// As [`Self::bare`] for an attribute of an event.
    pub(super) fn bare_of_event(
        &self,
        event: &str,
        key: &str,
        value: &Value<'_>,
    ) -> Option<Value<'static>> {
        bare_by(self.event_keys.get(event)?, key, value, self)
    }

    /// Looks all attributes and events of a span up.
    #[inline]
    pub(super) fn find<'a>(&'a self, raw: &'a RawSpan<'a>, tally: &mut Tally) -> Found<'a> {
        let mut found = Found::default();
        for (key, value) in &raw.attributes {
            found.has_rpc |= key.starts_with(RPC);
            let meaning = match key.place() {
                Some(place) => self.keys.at(place),
                None => self.keys.get(key.as_bytes()),
            };
            look_up(meaning, key, HitValue::Attribute(value), &mut found, tally);
        }
        for event in &raw.events {
            let meaning = self.meaning_of_event(&event.name);
            look_up(meaning, &event.name, HitValue::Event(event.time), &mut found, tally);
            if let Some(keys) = self.event_keys.get(event.name.as_ref()) {
                for (key, value) in &event.attributes {
                    let value = HitValue::Attribute(value);
                    look_up(keys.get(key.as_bytes()), key, value, &mut found, tally);
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
    /// The place of the next key, which is one of `row`.
    fn next(&mut self, row: usize) -> Place {
        self.rank += 1;
        Place { rank: self.rank, row }
    }
}

/// What the rows that `key` is looked up for read of `value`; the first that reads anything.
fn bare_by(
    meanings: &KeyTable<Meaning>,
    key: &str,
    value: &Value<'_>,
    index: &Index,
) -> Option<Value<'static>> {
    meanings.get(key.as_bytes())?.uses.iter().find_map(|found_use| match *found_use {
        Use::Grant(place) => bare(index.grants.get(place.row)?.read, value),
        Use::Queue(place) => bare(index.queues.get(place.row)?.read, value),
        Use::Ordinal(place) => match index.ordinals.get(place.row)?.read {
            OrdinalGrammar::Count => whole_number(value).map(Value::Int),
            OrdinalGrammar::SdkRequest => bare(Grammar::SdkRequest, value),
        },
        Use::Tries(_) => whole_number(value).map(Value::Int),
        Use::Fact(..) | Use::Stack(_) | Use::Outcome(_) | Use::Sampling(_) | Use::WaitUntil => None,
    })
}

/// Adds what `key` means, if anything, to `found`, and counts it.
fn look_up<'a>(
    meaning: Option<&'a Meaning>,
    key: &'a str,
    value: HitValue<'a>,
    found: &mut Found<'a>,
    tally: &mut Tally,
) {
    let Some(meaning) = meaning else { return };
    if meaning.counts(value) {
        tally.met(meaning.number, &meaning.counted_as, &meaning.rule);
    }
    for &found_use in &meaning.uses {
        found.add(found_use, key, meaning, value);
    }
}
