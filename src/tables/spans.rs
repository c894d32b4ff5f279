//! Spans as a table: what is kept of each, as columns. Spans that memory does not hold are packed so.

use std::io::{self, Cursor};

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};

use super::chunk::ZSTD_LEVEL;
use super::format::FormatError;
use super::schema::{ReadError, Row, table};
use crate::span::{
    Flags, Grant, GrantKind, Interner, Kind, Outcome, Span, SpanId, Sym, Target, TraceId,
};
use crate::stats::Weight;
use crate::units::{Nanos, UnixNanos};

/// Rows that are packed at a time at most.
const BATCH_ROWS: usize = 1 << 14;

/// How much text may be packed at a time, but for a single row: a column of it holds less than 2 GiB.
const BATCH_TEXT_BYTES: usize = 16 << 20;

table! {
    /// One row a span, as admitted.
    "spans" => SpanRow {
        /// The trace, 32 hexadecimal digits.
        trace_id: TraceId;
        /// The span, 16 hexadecimal digits.
        span_id: SpanId;
        /// Its parent.
        parent_span_id: Option<SpanId>, null = "it names none";
        /// Its service; empty where there is none.
        service: Sym;
        /// The clock that its times were read from.
        clock_domain: Sym;
        /// Its name.
        operation: Sym;
        /// Method and route, where the name is only an HTTP method.
        route_operation: Option<Sym>, null = "the name says it, or the route is not known";
        /// What it says it is.
        kind: Kind;
        /// Its start, on its own clock.
        start_unix_ns: UnixNanos;
        /// Its end, on its own clock.
        end_unix_ns: UnixNanos;
        /// How it ended.
        outcome: Outcome;
        /// The HTTP status code.
        http_status: Option<i32>, null = "there was none";
        /// Time that it, or its callee, was given.
        grant_ns: Option<Nanos>, null = "no attribute says so";
        /// What kind of number that was.
        grant_kind: Option<GrantKind>, null = "no attribute says so";
        /// The attribute that said so.
        grant_key: Option<Sym>, null = "no attribute says so";
        /// The id of the row of the conventions by which it was read.
        grant_rule: Option<Sym>, null = "no attribute says so";
        /// Whether it counts from the start, not from the arrival in a queue before.
        grant_from_start: bool;
        /// How long one attempt may take.
        allowance_ns: Option<Nanos>, null = "no attribute says so";
        /// The attribute that said so.
        allowance_key: Option<Sym>, null = "no attribute says so";
        /// Which attempt it is, from 1.
        attempt_ordinal: Option<i32>, null = "nothing says so";
        /// The attribute that said so, or `name`.
        ordinal_key: Option<Sym>, null = "nothing says so";
        /// Time in a queue before its start.
        queued_before_ns: Nanos;
        /// The attribute or event that said so.
        queued_key: Option<Sym>, null = "nothing says so";
        /// From its start, how long an event says that it waited.
        waited_inside_ns: Nanos;
        /// What tells one call from another of the same name: the bits of a hash.
        target: Option<Target>, null = "nothing does";
        /// The other end, as a client names it.
        peer_service: Option<Sym>, null = "nothing names it";
        /// The attributes by which classes are split, and their values.
        split: Option<Sym>, null = "there are none";
        /// What made it: the language of its SDK, or a proxy.
        stack: Option<Sym>, null = "nothing says so";
        /// How many tries it holds that have no span of their own, itself counted as the first.
        tries_inside: Option<i32>, null = "nothing says so";
        /// How many span links it carries.
        links: i64;
        /// How many requests of the population it stands for.
        weight: Option<f64>, null = "nothing says so";
        /// It is a wait span.
        is_wait: bool;
        /// It is one try of a call.
        is_attempt: bool;
        /// It carries any `rpc.*` attribute.
        has_rpc: bool;
        /// It carries an HTTP method.
        has_http_method: bool;
        /// It is a client that ended without a word.
        is_wordless: bool;
        /// It changes something at the other end.
        side_effect: bool;
        /// It may be sent again without harm.
        repeat_safe: bool;
        /// It is a proxy's.
        is_proxy: bool;
        /// Its end was written before its start.
        negative_duration: bool;
        /// Its status was set to ERROR.
        has_error_status: bool;
        /// It may have the id of the span that sent the call it receives.
        may_share_id: bool;
        /// What stored it says that it moved its times.
        clock_adjusted: bool;
        /// Some spans of its trace had lost the left half of the trace's id.
        trace_joined: bool;
    }
}

impl From<&Span> for SpanRow {
    fn from(span: &Span) -> Self {
        let flags = span.flags;
        Self {
            trace_id: span.trace_id,
            span_id: span.span_id,
            parent_span_id: span.parent_span_id,
            service: span.service,
            clock_domain: span.clock_domain,
            operation: span.operation,
            route_operation: span.route_operation,
            kind: span.kind,
            start_unix_ns: span.start,
            end_unix_ns: span.end,
            outcome: span.outcome,
            http_status: span.http_status.map(i32::from),
            grant_ns: span.grant.map(|grant| grant.value),
            grant_kind: span.grant.map(|grant| grant.kind),
            grant_key: span.grant.map(|grant| grant.key),
            grant_rule: span.grant.map(|grant| grant.rule),
            grant_from_start: span.grant.is_some_and(|grant| grant.from_start),
            allowance_ns: span.allowance,
            allowance_key: span.allowance_key,
            attempt_ordinal: span.attempt_ordinal,
            ordinal_key: span.ordinal_key,
            queued_before_ns: span.queued_before,
            queued_key: span.queued_key,
            waited_inside_ns: span.waited_inside,
            target: span.target,
            peer_service: span.peer_service,
            split: span.split,
            stack: span.stack,
            tries_inside: span.tries_inside,
            links: i64::from(span.links),
            weight: span.weight.map(Weight::requests),
            is_wait: flags.is_wait,
            is_attempt: flags.is_attempt,
            has_rpc: flags.has_rpc,
            has_http_method: flags.has_http_method,
            is_wordless: flags.is_wordless,
            side_effect: flags.side_effect,
            repeat_safe: flags.repeat_safe,
            is_proxy: flags.is_proxy,
            negative_duration: flags.negative_duration,
            has_error_status: flags.has_error_status,
            may_share_id: flags.may_share_id,
            clock_adjusted: flags.clock_adjusted,
            trace_joined: flags.trace_joined,
        }
    }
}

impl SpanRow {
    /// The span; `None` where a number is none that a span can have.
    fn into_span(self) -> Option<Span> {
        let grant = |value| {
            Some(Grant {
                value,
                kind: self.grant_kind?,
                key: self.grant_key?,
                rule: self.grant_rule?,
                from_start: self.grant_from_start,
            })
        };
        Some(Span {
            trace_id: self.trace_id,
            span_id: self.span_id,
            parent_span_id: self.parent_span_id,
            service: self.service,
            clock_domain: self.clock_domain,
            operation: self.operation,
            route_operation: self.route_operation,
            kind: self.kind,
            start: self.start_unix_ns,
            end: self.end_unix_ns,
            outcome: self.outcome,
            http_status: self.http_status.map(u16::try_from).transpose().ok()?,
            grant: self.grant_ns.and_then(grant),
            allowance: self.allowance_ns,
            allowance_key: self.allowance_key,
            attempt_ordinal: self.attempt_ordinal,
            ordinal_key: self.ordinal_key,
            queued_before: self.queued_before_ns,
            queued_key: self.queued_key,
            waited_inside: self.waited_inside_ns,
            target: self.target,
            peer_service: self.peer_service,
            split: self.split,
            stack: self.stack,
            tries_inside: self.tries_inside,
            links: u32::try_from(self.links).ok()?,
            weight: self.weight.and_then(Weight::new),
            flags: Flags {
                is_wait: self.is_wait,
                is_attempt: self.is_attempt,
                has_rpc: self.has_rpc,
                has_http_method: self.has_http_method,
                is_wordless: self.is_wordless,
                side_effect: self.side_effect,
                repeat_safe: self.repeat_safe,
                is_proxy: self.is_proxy,
                negative_duration: self.negative_duration,
                has_error_status: self.has_error_status,
                may_share_id: self.may_share_id,
                clock_adjusted: self.clock_adjusted,
                trace_joined: self.trace_joined,
            },
        })
    }
}

/// The column that tells whose a span is. A row in which it is [`NO_TRACE`] is no span's.
pub const TRACE_ID: &str = "trace_id";

/// No trace has this id.
pub const NO_TRACE: TraceId = TraceId(0);

/// Its columns.
pub fn schema() -> SchemaRef {
    SpanRow::TABLE.arrow_schema()
}

/// Hands spans as batches of columns to `take`, in their order.
///
/// # Errors
/// Those of `take`, and of the library: none, since everything is in memory.
pub fn batches<E: From<ArrowError>>(
    spans: &[Span],
    strings: &Interner,
    mut take: impl FnMut(RecordBatch) -> Result<(), E>,
) -> Result<(), E> {
    let mut rows: Vec<SpanRow> = Vec::new();
    let mut text_bytes = 0;
    for (place, span) in spans.iter().enumerate() {
        rows.push(SpanRow::from(span));
        text_bytes += text_len(span, strings);
        let is_last = place + 1 == spans.len();
        if is_last || rows.len() == BATCH_ROWS || BATCH_TEXT_BYTES <= text_bytes {
            take(SpanRow::TABLE.batch(&SpanRow::gather(&rows), strings)?)?;
            rows.clear();
            text_bytes = 0;
        }
    }
    Ok(())
}

/// Hands the spans of a batch to `take`, in their order.
///
/// # Errors
/// A column is missing, or holds what no span can have.
pub fn spans_of(
    batch: &RecordBatch,
    strings: &mut Interner,
    mut take: impl FnMut(Span),
) -> Result<(), ReadError> {
    for (row, read) in SpanRow::from_batch(batch, strings)?.into_iter().enumerate() {
        if read.trace_id != NO_TRACE {
            let column = "http_status, links";
            let wrong = ReadError::BadValue { table: SpanRow::TABLE.name, column, row };
            take(read.into_span().ok_or(wrong)?);
        }
    }
    Ok(())
}

/// Spans as compressed columns.
///
/// # Errors
/// None but those of the libraries: everything is in memory.
pub fn pack(spans: &[Span], strings: &Interner) -> Result<Vec<u8>, FormatError> {
    let compressed = zstd::Encoder::new(Vec::new(), ZSTD_LEVEL)?;
    let mut writer = StreamWriter::try_new(compressed, &schema())?;
    batches::<FormatError>(spans, strings, |batch| Ok(writer.write(&batch)?))?;
    Ok(writer.into_inner()?.finish()?)
}

/// How long the names of a span are that somebody else gave.
fn text_len(span: &Span, strings: &Interner) -> usize {
    let names = [
        Some(span.service),
        Some(span.clock_domain),
        Some(span.operation),
        span.route_operation,
        span.peer_service,
        span.split,
        span.stack,
    ];
    names.into_iter().flatten().map(|name| strings.get(name).len()).sum()
}

/// Hands the spans that `packed` holds to `take`, in their order.
///
/// # Errors
/// The bytes are not what [`pack`] made.
pub fn unpack(
    packed: &[u8],
    strings: &mut Interner,
    mut take: impl FnMut(Span),
) -> Result<(), FormatError> {
    let damaged = |error: ReadError| io::Error::new(io::ErrorKind::InvalidData, error);
    let reader = StreamReader::try_new(zstd::Decoder::with_buffer(Cursor::new(packed))?, None)?;
    for batch in reader {
        spans_of(&batch?, strings, &mut take).map_err(damaged)?;
    }
    Ok(())
}
