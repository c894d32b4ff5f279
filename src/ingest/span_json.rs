//! The plain format for spans of any other origin: one flat JSON object each (docs/span-json.md).

use super::admit::{Desk, instant, kind_of, status_of};
use super::cell::Cell;
use super::document::{Document, Result};
use super::flat::{FlatSpan, read_objects};
use super::outline::Outline;
use super::problems::Code;
use super::scalar;
use crate::conventions::raw::RawEvent;

/// The keys that tell the format from others.
const TELLING: &[&str] = &["trace_id", "span_id", "start_unix_ns", "end_unix_ns"];

/// Whether a value that looks so is a span, or an array of them.
pub(crate) fn claims(outline: &Outline<'_>) -> bool {
    TELLING.iter().all(|&key| outline.has(key))
}

/// Reads a record.
pub(crate) fn read(bytes: &[u8], desk: &mut Desk<'_>) {
    read_objects(bytes, desk, span);
}

fn span(document: &mut Document<'_, '_, '_>) -> Result<bool> {
    let begun = document.offset();
    let mut span = FlatSpan::new();
    let mut is_span = false;
    while let Some(key) = document.next_key()? {
        let offset = document.offset();
        is_span |= TELLING.contains(&key.as_ref());
        if set(&mut span, &key, Cell::of_json(&mut document.json)?).is_none() {
            document.desk.note(Code::FieldWrongType, offset);
        }
    }
    if is_span {
        span.hand_over(document.desk, begun);
    }
    Ok(is_span)
}

/// Takes in a field; `None` where it is of another type than it should be.
fn set<'a>(span: &mut FlatSpan<'a>, key: &str, cell: Cell<'a>) -> Option<()> {
    let FlatSpan { draft, service, resource } = span;
    match key {
        "trace_id" => {
            draft.set_trace_id(cell.into_text().and_then(|text| scalar::trace_id(&text)));
        }
        "span_id" => draft.set_span_id(cell.into_text().and_then(|text| scalar::span_id(&text))),
        "parent_span_id" => {
            draft.set_parent_id(cell.into_text().and_then(|text| scalar::span_id(&text)));
        }
        "trace_state" => draft.set_trace_state(cell.into_text()?),
        "service" => *service = cell.into_text()?,
        "name" => draft.raw.name = cell.into_text()?,
        "kind" => draft.raw.kind = kind_of(&cell.into_text()?)?,
        "start_unix_ns" => draft.set_start(cell.into_whole_number()),
        "end_unix_ns" => draft.set_end(cell.into_whole_number()),
        "status" => draft.raw.status = status_of(&cell.into_text()?)?,
        "status_message" => draft.raw.status_message = cell.into_text()?,
        "attributes" => draft.raw.attributes = cell.into_attributes()?,
        "resource" => *resource = cell.into_attributes()?,
        "events" => {
            let events = cell.into_list()?.into_iter().map(event);
            draft.raw.events = events.collect::<Option<_>>()?;
        }
        "links" => draft.raw.links = u32::try_from(cell.into_whole_number()?).ok()?,
        _ => {}
    }
    Some(())
}

fn event(cell: Cell<'_>) -> Option<RawEvent<'_>> {
    let mut event = RawEvent::default();
    for (key, cell) in cell.into_map()? {
        match key.as_ref() {
            "name" => event.name = cell.into_text()?,
            "time_unix_ns" => {
                event.time =
                    Some(instant(cell.into_whole_number())?).filter(|time| time.as_nanos() != 0);
            }
            "attributes" => event.attributes = cell.into_attributes()?,
            _ => {}
        }
    }
    Some(event)
}
