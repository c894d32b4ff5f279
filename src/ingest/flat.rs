//! A span in a row of its own, with its resource beside it.

use std::borrow::Cow;

use super::admit::{Desk, Draft};
use super::json::Shape;
use super::json_reader::{Reader, Result, documents};
use super::problems::Code;
use crate::conventions::raw::{Attribute, Value};

/// The resource attribute that names the service.
const SERVICE_NAME: &str = "service.name";

/// A span and its resource as a row tells them.
#[derive(Clone, Debug)]
pub(crate) struct FlatSpan<'a> {
    /// The span.
    pub draft: Draft<'a>,
    /// The service, where the row names it by itself.
    pub service: Cow<'a, str>,
    /// What else is known of the resource.
    pub resource: Vec<Attribute<'a>>,
}

impl FlatSpan<'_> {
    /// Nothing found yet.
    pub(crate) fn new() -> Self {
        Self { draft: Draft::new(), service: Cow::Borrowed(""), resource: Vec::new() }
    }

    /// Hands over the span of the row that begins at byte `offset` of the record.
    pub(crate) fn hand_over(mut self, desk: &mut Desk<'_>, offset: usize) {
        if !self.service.is_empty() {
            self.resource.retain(|(key, _)| key != SERVICE_NAME);
            self.resource.push((Cow::Borrowed(SERVICE_NAME), Value::Text(self.service)));
        }
        let resource = desk.resource(&self.resource);
        desk.take(&self.draft, resource, offset);
    }
}

/// Reads the rows of a record, JSON objects alone or in arrays, each by `read`, which stands behind
/// the opening bracket and says whether the object is one of its kind.
pub(crate) fn read_objects<'a>(
    bytes: &'a [u8],
    desk: &mut Desk<'_>,
    read: impl Fn(&mut Reader<'a, '_, '_>) -> Result<bool>,
) {
    documents(bytes, desk, |reader| {
        if reader.json.shape()? != Shape::Array {
            return object(reader, &read);
        }
        reader.json.open()?;
        while reader.json.next_element()? {
            object(reader, &read)?;
        }
        Ok(())
    });
}

fn object<'a>(
    reader: &mut Reader<'a, '_, '_>,
    read: impl Fn(&mut Reader<'a, '_, '_>) -> Result<bool>,
) -> Result<()> {
    let found = reader.json.shape()?;
    let begun = reader.offset();
    let is_known = if found == Shape::Object {
        reader.json.open()?;
        read(reader)?
    } else {
        reader.json.skip()?;
        false
    };
    let mended = reader.json.take_mended();
    reader.desk.note_many(Code::TextNotUtf8, mended, begun);
    if !is_known {
        reader.desk.note(Code::RecordNotSpan, begun);
    }
    Ok(())
}
