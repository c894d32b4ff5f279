//! One trace with its spans as they were written, beside what was understood of them.

use super::scatter::together;
use super::{
    FileFacts, IngestError, Ingested, Progress, Reading, Settings, To, halved_ids, put_together,
    read_files, scalar, shared_ids,
};
use crate::conventions::Resource;
use crate::conventions::raw::{Attribute, RawSpan, owned};
use crate::span::{Span, Spans, TraceId};
use crate::tables::ProblemRow;

/// The trace id that a person writes: hexadecimal digits of any case, or base64; `None` where it is
/// neither. What stands for an id that is written otherwise is in the tables.
pub fn parse_trace_id(text: &str) -> Option<TraceId> {
    let id = scalar::trace_id(text).filter(|id| !id.is_hashed)?.id;
    (id.0 != 0).then_some(id)
}

/// A span as it was written.
#[derive(Clone, Debug)]
pub struct WrittenSpan {
    /// The span, with the ids that it has once shared ones are parted. Its trace id is as it was
    /// written: a half stays one, so that reading it again joins the trace again.
    pub raw: RawSpan<'static>,
    /// The attributes of its resource.
    pub resource: Vec<Attribute<'static>>,
}

/// One trace.
#[derive(Debug)]
pub struct Excerpt {
    /// What was understood of its spans, in their total order; none where no file holds the trace.
    pub spans: Spans,
    /// The same spans as they were written, in the same order.
    pub written: Vec<WrittenSpan>,
    /// The files, by path.
    pub files: Vec<FileFacts>,
    /// Trouble in the files, by file and code; also where it is about other traces.
    pub problems: Vec<ProblemRow>,
}

/// Reads all that `inputs` name and keeps the spans of one trace.
pub fn excerpt<'c>(
    inputs: &[String],
    settings: impl Into<Settings<'c>>,
    trace: TraceId,
    progress: &dyn Progress,
) -> Result<Excerpt, IngestError> {
    let reading = Reading { settings: settings.into(), progress, only: Some(trace), to: To::File };
    let mut read = read_files(inputs, &reading)?;
    let collected = read.iter_mut().flat_map(|file| std::mem::take(&mut file.collected));
    let written: Vec<WrittenSpan> = collected.flat_map(|collected| collected.spans).collect();
    let Ingested { partitions, files, problems, .. } = put_together(read);
    // One trace lies in one partition, and there the spans stand in the order in which the workers
    // found them, as those written do.
    let mut spans = together(partitions);
    halved_ids::join(&mut spans);
    shared_ids::split(&mut spans);
    let Spans { strings, rows } = spans;
    let mut pairs: Vec<_> = rows.into_iter().zip(written).collect();
    // The trace may be called by the half of its id under which some of its spans were written.
    let is_wanted = |(span, written): &(Span, WrittenSpan)| {
        (written.raw.trace_id == trace).then_some(span.trace_id)
    };
    let whole = pairs.iter().find_map(is_wanted).unwrap_or(trace);
    pairs.retain(|(span, _)| span.trace_id == whole);
    pairs.sort_by(|(one, written), (other, other_written)| {
        let by_id = || one.span_id.cmp(&other.span_id);
        let by_all = || format!("{written:?}").cmp(&format!("{other_written:?}"));
        one.content_order(other, &strings).then_with(by_id).then_with(by_all)
    });
    for (span, written) in &mut pairs {
        written.raw.span_id = span.span_id;
        written.raw.parent_span_id = span.parent_span_id;
    }
    let (rows, written) = pairs.into_iter().unzip();
    Ok(Excerpt { spans: Spans { strings, rows }, written, files, problems })
}

/// What one worker keeps of the spans of one trace.
#[derive(Clone, Debug)]
pub(crate) struct Collected {
    trace: TraceId,
    spans: Vec<WrittenSpan>,
    /// Those of the record that is being read.
    resources: Vec<Vec<Attribute<'static>>>,
}

impl Collected {
    /// Nothing yet of `trace`.
    pub(crate) const fn new(trace: TraceId) -> Self {
        Self { trace, spans: Vec::new(), resources: Vec::new() }
    }

    /// Whether a span may be of the trace: ids that share their right half may be one.
    pub(crate) fn wants(&self, trace: TraceId) -> bool {
        self.trace.right_half() == trace.right_half()
    }

    /// Another record: its spans will name none of the resources so far.
    pub(crate) fn begin_record(&mut self) {
        self.resources.clear();
    }

    /// Keeps a resource, and gives it its number.
    pub(crate) fn add_resource(&mut self, resource: &mut Resource, attributes: &[Attribute<'_>]) {
        resource.number = Some(self.resources.len());
        self.resources.push(owned(attributes));
    }

    /// Keeps a span of the trace.
    pub(crate) fn add(&mut self, raw: &RawSpan<'_>, resource: Resource) {
        let resource = resource.number.and_then(|number| self.resources.get(number)).cloned();
        let resource = resource.unwrap_or_default();
        self.spans.push(WrittenSpan { raw: raw.to_static(), resource });
    }
}
