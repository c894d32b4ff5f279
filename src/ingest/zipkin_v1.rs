//! Zipkin's JSON, version 1. Annotations tell what version 2 tells by kind and duration: `cs` and
//! `cr` a client's send and receive, `sr` and `ss` a server's, `ms` and `mr` those of messages. One
//! record may hold both halves of a call, each told by where its annotations were made; it is one
//! record, and becomes two spans.

use std::borrow::Cow;

use super::admit::{Desk, Draft};
use super::document::{Document, Micros, Result, read_all};
use super::outline::Outline;
use super::zipkin::{
    Common, ERROR_TAG, Endpoint, claims as claims_spans, event, set_status, set_times, spans,
};
use crate::conventions::raw::Value;
use crate::span::Kind;

/// Binary annotations whose endpoint is the other end, and who is called there.
const SERVER_ADDRESS: &str = "sa";
const CLIENT_ADDRESS: &str = "ca";
const MESSAGE_ADDRESS: &str = "ma";

/// Whether a value that looks so is a Zipkin span of version 1, or a list of them.
pub(crate) fn claims(outline: &Outline<'_>) -> bool {
    let has_endpoints = || outline.member("annotations").is_some_and(|list| list.has("endpoint"));
    claims_spans(outline) && (outline.has("binaryAnnotations") || has_endpoints())
}

/// Reads a record: spans, or lists of them.
pub(crate) fn read(bytes: &[u8], desk: &mut Desk<'_>) {
    read_all(bytes, desk, |document| spans(document, &span));
}

/// Something that happened somewhere.
#[derive(Debug, Default)]
struct Annotation<'a> {
    time: Micros,
    text: Cow<'a, str>,
    endpoint: Option<Endpoint<'a>>,
}

/// A tag that was set somewhere.
#[derive(Debug)]
struct BinaryAnnotation<'a> {
    key: Cow<'a, str>,
    value: Value<'a>,
    endpoint: Option<Endpoint<'a>>,
}

/// What a record holds.
#[derive(Debug, Default)]
struct Told<'a> {
    annotations: Vec<Annotation<'a>>,
    tags: Vec<BinaryAnnotation<'a>>,
}

/// The annotations that tell a side of a call: kind, begin, end.
type Words = (Kind, &'static str, &'static str);

const SENDERS: [Words; 2] = [(Kind::Client, "cs", "cr"), (Kind::Producer, "ms", "")];
const RECEIVERS: [Words; 2] = [(Kind::Server, "sr", "ss"), (Kind::Consumer, "mr", "")];

/// A side of a call, or work inside a service.
#[derive(Debug)]
struct Side<'a> {
    kind: Kind,
    begin: Micros,
    end: Micros,
    endpoint: Endpoint<'a>,
}

fn span(document: &mut Document<'_, '_, '_>) -> Result<()> {
    let offset = document.offset();
    let mut common = Common::new();
    let mut told = Told::default();
    document.json.open()?;
    while let Some(key) = document.next_key()? {
        match key.as_ref() {
            "annotations" => document.each_object(|document| {
                told.annotations.push(annotation(document)?);
                Ok(())
            })?,
            "binaryAnnotations" => document.each_object(|document| {
                told.tags.push(tag(document)?);
                Ok(())
            })?,
            key => common.read_field(key, document)?,
        }
    }
    told.hand_over(&common, document.desk, offset);
    Ok(())
}

fn annotation<'a>(document: &mut Document<'a, '_, '_>) -> Result<Annotation<'a>> {
    let mut annotation = Annotation::default();
    while let Some(key) = document.next_key()? {
        match key.as_ref() {
            "timestamp" => annotation.time = document.micros()?,
            "value" => annotation.text = document.text()?,
            "endpoint" => annotation.endpoint = Endpoint::read(document)?,
            _ => document.json.skip()?,
        }
    }
    Ok(annotation)
}

fn tag<'a>(document: &mut Document<'a, '_, '_>) -> Result<BinaryAnnotation<'a>> {
    let mut tag = BinaryAnnotation { key: Cow::Borrowed(""), value: Value::Other, endpoint: None };
    while let Some(key) = document.next_key()? {
        match key.as_ref() {
            "key" => tag.key = document.text()?,
            "value" => tag.value = document.value()?,
            "endpoint" => tag.endpoint = Endpoint::read(document)?,
            _ => document.json.skip()?,
        }
    }
    Ok(tag)
}

impl BinaryAnnotation<'_> {
    /// Whether its endpoint is the other end.
    fn is_address(&self) -> bool {
        matches!(self.key.as_ref(), SERVER_ADDRESS | CLIENT_ADDRESS | MESSAGE_ADDRESS)
    }
}

/// Whether an annotation is one of those that tell sides.
fn is_core(text: &str) -> bool {
    let mut words = SENDERS.iter().chain(&RECEIVERS);
    !text.is_empty() && words.any(|(_, begin, end)| text == *begin || text == *end)
}

impl<'a> Told<'a> {
    /// Makes a span of each side that is told, and hands them over.
    fn hand_over(self, common: &Common<'a>, desk: &mut Desk<'_>, offset: usize) {
        let sender = SENDERS.iter().find_map(|words| self.side(words));
        let receiver = RECEIVERS.iter().find_map(|words| self.side(words));
        let (first, second) = match (sender, receiver) {
            (Some(sender), receiver) => {
                (sender, receiver.filter(|receiver| receiver.begin != Micros::Absent))
            }
            (None, Some(receiver)) => (receiver, None),
            (None, None) => (self.inside(), None),
        };
        let is_of_second = |endpoint: &Option<Endpoint<'_>>| {
            let nearer = |(side, at): (&Side<'_>, _)| side.is_nearer(at, &first);
            second.as_ref().zip(endpoint.as_ref()).is_some_and(nearer)
        };
        let (of_second, of_first) = self.part(is_of_second);
        let (start, duration) = first.times_in_record(common);
        let draft = first.draft(common, start, duration, of_first);
        let resource = first.endpoint.resource(desk);
        desk.take(&draft, resource, offset);
        if let Some(second) = second {
            let duration = second.end.since(second.begin);
            let draft = second.draft(common, second.begin, duration, of_second);
            let resource = second.endpoint.resource(desk);
            desk.take_receiving_half(&draft, resource, offset);
        }
    }

    /// Those annotations and tags that were made where `is_there` says, and the others. An address
    /// is about the other end, and told by the sender.
    fn part(self, is_there: impl Fn(&Option<Endpoint<'a>>) -> bool) -> (Self, Self) {
        let (their_annotations, annotations) =
            self.annotations.into_iter().partition(|annotation| is_there(&annotation.endpoint));
        let (their_tags, tags) =
            self.tags.into_iter().partition(|tag| !tag.is_address() && is_there(&tag.endpoint));
        (Self { annotations: their_annotations, tags: their_tags }, Self { annotations, tags })
    }

    /// The side that some words tell.
    fn side(&self, &(kind, begin, end): &Words) -> Option<Side<'a>> {
        let told = |word: &str| {
            self.annotations.iter().find(|annotation| !word.is_empty() && annotation.text == word)
        };
        let (begin, end) = (told(begin), told(end));
        let either = begin.or(end)?;
        let time = |annotation: Option<&Annotation<'_>>| annotation.map(|told| told.time);
        Some(Side {
            kind,
            begin: time(begin).unwrap_or_default(),
            end: time(end).unwrap_or_default(),
            endpoint: either.endpoint.clone().unwrap_or_default(),
        })
    }

    /// What is told where no side is: work inside a service, unless only the caller is known.
    fn inside(&self) -> Side<'a> {
        let has = |key: &str| self.tags.iter().any(|tag| tag.key == key);
        let is_called = has(CLIENT_ADDRESS) && !has(SERVER_ADDRESS);
        let of_annotations = self.annotations.iter().map(|annotation| &annotation.endpoint);
        let of_tags = self.tags.iter().filter(|tag| !tag.is_address()).map(|tag| &tag.endpoint);
        let mut endpoints = of_annotations.chain(of_tags).flatten();
        Side {
            kind: if is_called { Kind::Server } else { Kind::Internal },
            begin: Micros::Absent,
            end: Micros::Absent,
            endpoint: endpoints.find(|at| !at.service.is_empty()).cloned().unwrap_or_default(),
        }
    }

    /// Describes a span by all that is told.
    fn describe(self, draft: &mut Draft<'a>) {
        let raw = &mut draft.raw;
        for Annotation { time, text, .. } in self.annotations {
            if text == ERROR_TAG {
                raw.attributes.push((text.into(), Value::Other));
            } else if !is_core(&text) {
                raw.events.push(event(text, time));
            }
        }
        let (addresses, tags): (Vec<_>, Vec<_>) =
            self.tags.into_iter().partition(BinaryAnnotation::is_address);
        raw.attributes.extend(tags.into_iter().map(|tag| (tag.key.into(), tag.value)));
        let mut called = addresses.into_iter().filter(|tag| tag.key != CLIENT_ADDRESS);
        if raw.kind.sends()
            && let Some(callee) = called.find_map(|tag| tag.endpoint)
        {
            callee.describe_callee(&mut raw.attributes);
        }
        set_status(draft);
    }
}

impl<'a> Side<'a> {
    /// Start and duration of the span that the record's own are about.
    fn times_in_record(&self, common: &Common<'_>) -> (Micros, Micros) {
        let own = (common.start, common.duration);
        match own {
            (Micros::Nanos(1..), Micros::Nanos(1..)) => own,
            _ if self.begin == Micros::Absent => own,
            (_, duration) if self.end == Micros::Absent => (self.begin, duration),
            _ => (self.begin, self.end.since(self.begin)),
        }
    }

    /// A span with what the record says of all its sides, and with what is told of this one.
    fn draft(
        &self,
        common: &Common<'a>,
        start: Micros,
        duration: Micros,
        told: Told<'a>,
    ) -> Draft<'a> {
        let mut draft = common.draft.clone();
        draft.raw.kind = self.kind;
        draft.raw.may_share_id = self.kind.receives();
        set_times(&mut draft, start, duration);
        told.describe(&mut draft);
        draft
    }

    /// Whether something made at `endpoint` was made on this side rather than on `other`.
    fn is_nearer(&self, endpoint: &Endpoint<'_>, other: &Self) -> bool {
        let nearness =
            |side: &Self| (side.endpoint == *endpoint, side.endpoint.service == endpoint.service);
        nearness(self) > nearness(other)
    }
}
