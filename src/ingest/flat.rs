//! A span in a row of its own, with its resource beside it.

use std::borrow::Cow;

use super::admit::{Desk, Draft};
use super::document::{Document, Result, read_all};
use super::json::Shape;
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
            self.resource.retain(|(key, _)| *key != *SERVICE_NAME);
            self.resource.push((SERVICE_NAME.into(), Value::Text(self.service)));
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
    read: impl Fn(&mut Document<'a, '_, '_>) -> Result<bool>,
) {
    read_all(bytes, desk, |document| objects(document, &read));
}

/// Reads an object, or an array of them, each by `read`.
pub(crate) fn objects<'a>(
    document: &mut Document<'a, '_, '_>,
    read: &impl Fn(&mut Document<'a, '_, '_>) -> Result<bool>,
) -> Result<()> {
    if document.json.shape()? != Shape::Array {
        return object(document, read);
    }
    document.json.open()?;
    while document.json.next_element()? {
        object(document, read)?;
    }
    Ok(())
}

fn object<'a>(
    document: &mut Document<'a, '_, '_>,
    read: impl Fn(&mut Document<'a, '_, '_>) -> Result<bool>,
) -> Result<()> {
    let found = document.json.shape()?;
    let begun = document.offset();
    let is_known = if found == Shape::Object {
        document.json.open()?;
        read(document)?
    } else {
        document.json.skip()?;
        false
    };
    let mended = document.json.take_mended();
    document.desk.note_many(Code::TextNotUtf8, mended, begun);
    if !is_known {
        document.desk.note(Code::RecordNotSpan, begun);
    }
    Ok(())
}
