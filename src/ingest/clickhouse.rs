//! Rows of the table `otel_traces` that the collector's ClickHouse exporter fills, whatever format
//! they were written out in, and the one of them that is JSON.

use super::admit::{Desk, instant, kind_of, status_of};
use super::cell::Cell;
use super::document::{self, Document};
use super::flat::{FlatSpan, objects, read_objects};
use super::json::Shape;
use super::outline::Outline;
use super::problems::Code;
use super::refusal::Refusal;
use super::scalar;
use crate::conventions::raw::{Attribute, RawEvent};
use crate::names::names;

names! {
    /// A column that is read.
    pub(crate) enum Column {
        /// The start.
        Timestamp = "Timestamp",
        /// The trace.
        TraceId = "TraceId",
        /// The span.
        SpanId = "SpanId",
        /// Its parent; empty where there is none.
        ParentSpanId = "ParentSpanId",
        /// What samplers and others passed on.
        TraceState = "TraceState",
        /// The name.
        SpanName = "SpanName",
        /// `Server`, or `SPAN_KIND_SERVER` from exporters before 2024.
        SpanKind = "SpanKind",
        /// The service.
        ServiceName = "ServiceName",
        /// The end less the start, in nanoseconds.
        Duration = "Duration",
        /// What is known of the resource.
        ResourceAttributes = "ResourceAttributes",
        /// What is known of the span.
        SpanAttributes = "SpanAttributes",
        /// `Error`, or `STATUS_CODE_ERROR` from exporters before 2024.
        StatusCode = "StatusCode",
        /// What was said about an error.
        StatusMessage = "StatusMessage",
        /// When each event was.
        EventTimes = "Events.Timestamp",
        /// The name of each event.
        EventNames = "Events.Name",
        /// What else each event says.
        EventAttributes = "Events.Attributes",
        /// The trace at the other end of each link.
        Links = "Links.TraceId",
    }
}

impl Column {
    /// Whether it holds maps or arrays.
    pub(crate) const fn is_nested(self) -> bool {
        matches!(
            self,
            Self::ResourceAttributes
                | Self::SpanAttributes
                | Self::EventTimes
                | Self::EventNames
                | Self::EventAttributes
                | Self::Links
        )
    }
}

/// Without these nothing true can be said of a span.
const NEEDED: &[Column] = &[
    Column::Timestamp,
    Column::TraceId,
    Column::SpanId,
    Column::ParentSpanId,
    Column::SpanName,
    Column::SpanKind,
    Column::ServiceName,
    Column::Duration,
];

/// Two of these tell rows of this table from others.
const TELLING: &[Column] = &[Column::Timestamp, Column::TraceId, Column::SpanId];

/// Whether a table that has the columns that `has` affirms is this one, and if so, whether it has
/// all that it needs to have.
pub(crate) fn claims(has: impl Fn(&str) -> bool) -> Option<Result<(), Refusal>> {
    let lacks = |column: &&Column| !has(column.name());
    if TELLING.iter().filter(lacks).count() > 1 {
        return None;
    }
    Some(match NEEDED.iter().find(lacks) {
        Some(column) => Err(Refusal::ColumnAbsent(column.name())),
        None => Ok(()),
    })
}

/// What holds all rows where ClickHouse writes them as one document (`FORMAT JSON`), and what holds
/// the types of the columns, before them.
const ROWS: &str = "data";
const TYPES: &str = "meta";

/// Whether a JSON value that looks so is a row of this table, an array of them, or a document with
/// such an array.
pub(crate) fn claims_json(outline: &Outline<'_>) -> Option<Result<(), Refusal>> {
    let rows = outline.member(ROWS).filter(|_| outline.has(TYPES)).unwrap_or(outline);
    claims(|name| rows.has(name))
}

/// Reads a record of rows in JSON.
pub(crate) fn read_json(bytes: &[u8], desk: &mut Desk<'_>) {
    read_objects(bytes, desk, json_row);
}

/// A row, or a document of rows.
fn json_row(document: &mut Document<'_, '_, '_>) -> document::Result<bool> {
    let begun = document.offset();
    let mut row = Row::new();
    let mut is_row = false;
    let mut has_types = false;
    let mut is_document = false;
    while let Some(key) = document.next_key()? {
        let offset = document.offset();
        has_types |= key == TYPES;
        if has_types && key == ROWS && document.json.shape()? == Shape::Array {
            is_document = true;
            objects(document, &json_row)?;
            continue;
        }
        let Some(column) = Column::from_name(&key) else {
            document.json.skip()?;
            continue;
        };
        is_row |= TELLING.contains(&column);
        row.set(column, Cell::of_json(&mut document.json)?, document.desk, offset);
    }
    if is_row {
        row.hand_over(document.desk, begun);
    }
    Ok(is_row || is_document)
}

/// A row as far as it was read.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    span: FlatSpan<'a>,
    start_unix_ns: Option<i64>,
    duration_ns: Option<i64>,
    event_times: Vec<Cell<'a>>,
    event_names: Vec<Cell<'a>>,
    event_attributes: Vec<Cell<'a>>,
}

impl<'a> Row<'a> {
    /// Nothing read yet.
    pub(crate) fn new() -> Self {
        Self {
            span: FlatSpan::new(),
            start_unix_ns: Some(0),
            duration_ns: None,
            event_times: Vec::new(),
            event_names: Vec::new(),
            event_attributes: Vec::new(),
        }
    }

    /// Takes in what stands in `column`, at byte `offset` of the record.
    pub(crate) fn set(
        &mut self,
        column: Column,
        cell: Cell<'a>,
        desk: &mut Desk<'_>,
        offset: usize,
    ) {
        if self.try_set(column, cell).is_none() {
            desk.note(Code::FieldWrongType, offset);
        }
    }

    /// Takes in what stands in `column`; `None` where that is of another type than it should be.
    fn try_set(&mut self, column: Column, cell: Cell<'a>) -> Option<()> {
        let FlatSpan { draft, service, resource } = &mut self.span;
        match column {
            Column::TraceId => {
                draft.set_trace_id(cell.into_text().and_then(|text| scalar::trace_id(&text)));
            }
            Column::SpanId => {
                draft.set_span_id(cell.into_text().and_then(|text| scalar::span_id(&text)));
            }
            Column::ParentSpanId => {
                draft.set_parent_id(cell.into_text().and_then(|text| scalar::span_id(&text)));
            }
            Column::TraceState => draft.set_trace_state(cell.into_text()?),
            Column::SpanName => draft.raw.name = cell.into_text()?,
            Column::SpanKind => draft.raw.kind = kind_of(&cell.into_text()?)?,
            Column::ServiceName => *service = cell.into_text()?,
            Column::Timestamp => self.start_unix_ns = cell.into_instant(),
            Column::Duration => {
                let text = cell.into_text();
                if text.as_deref() != Some("") {
                    self.duration_ns = text.and_then(|text| duration_ns(&text));
                    if self.duration_ns.is_none() {
                        draft.blame(Code::EndInvalid);
                    }
                }
            }
            Column::ResourceAttributes => *resource = cell.into_attributes()?,
            Column::SpanAttributes => draft.raw.attributes = cell.into_attributes()?,
            Column::StatusCode => draft.raw.status = status_of(&cell.into_text()?)?,
            Column::StatusMessage => draft.raw.status_message = cell.into_text()?,
            Column::EventTimes => self.event_times = cell.into_list()?,
            Column::EventNames => self.event_names = cell.into_list()?,
            Column::EventAttributes => self.event_attributes = cell.into_list()?,
            Column::Links => {
                draft.raw.links = u32::try_from(cell.into_list()?.len()).unwrap_or(u32::MAX);
            }
        }
        Some(())
    }

    /// Hands over the span of the row, which begins at byte `offset` of the record.
    pub(crate) fn hand_over(mut self, desk: &mut Desk<'_>, offset: usize) {
        let draft = &mut self.span.draft;
        draft.set_start(self.start_unix_ns);
        if let (Some(start), Some(duration)) = (self.start_unix_ns, self.duration_ns) {
            draft.set_end(start.checked_add(duration));
        }
        match events(self.event_times, self.event_names, self.event_attributes) {
            Some(events) => draft.raw.events = events,
            None => desk.note(Code::FieldWrongType, offset),
        }
        self.span.hand_over(desk, offset);
    }
}

/// The duration that `text` writes. The exporter writes negative ones as they are, or wrapped round
/// into unsigned ones.
fn duration_ns(text: &str) -> Option<i64> {
    scalar::whole_number(text).or_else(|| text.parse().ok().map(u64::cast_signed))
}

/// The events that three columns tell side by side; `None` where they do not fit together.
fn events<'a>(
    times: Vec<Cell<'a>>,
    names: Vec<Cell<'a>>,
    attributes: Vec<Cell<'a>>,
) -> Option<Vec<RawEvent<'a>>> {
    let len = times.len().max(names.len()).max(attributes.len());
    // A column that was not selected says nothing of any event.
    let column = |cells: Vec<Cell<'a>>| {
        let is_whole = cells.is_empty() || cells.len() == len;
        is_whole.then(|| cells.into_iter().chain(std::iter::repeat(Cell::Null)))
    };
    let rows = column(times)?.zip(column(names)?).zip(column(attributes)?).take(len);
    rows.map(|((time, name), attributes)| {
        let attributes: Vec<Attribute<'a>> = attributes.into_attributes()?;
        let time = instant(time.into_instant())?;
        let time = Some(time).filter(|time| time.as_nanos() != 0);
        Some(RawEvent { name: name.into_text()?, time, attributes })
    })
    .collect()
}
