//! What the readers of JSON formats share: documents one after another, and fields that have
//! another type than they should.

use std::borrow::Cow;

use super::admit::Desk;
use super::json::{Json, JsonError, Shape, without_mark};
use super::problems::Code;
use super::scalar::Id;

/// What was read, or why it could not be.
pub(crate) type Result<T> = std::result::Result<T, JsonError>;

/// Reads one document and hands over what is in it.
#[derive(Debug)]
pub(crate) struct Reader<'a, 'd, 'w> {
    /// The document.
    pub json: Json<'a>,
    /// What is found is handed over there.
    pub desk: &'d mut Desk<'w>,
}

/// Reads the documents of a record one after another, each by `read`; where one breaks, goes on at
/// the next line that opens an object.
pub(crate) fn documents<'a>(
    bytes: &'a [u8],
    desk: &mut Desk<'_>,
    mut read: impl FnMut(&mut Reader<'a, '_, '_>) -> Result<()>,
) {
    let mut start = bytes.len() - without_mark(bytes).len();
    loop {
        let mut reader = Reader { json: Json::new(bytes).again_at(start), desk };
        if reader.json.at_end() {
            return;
        }
        let begun = reader.offset();
        let outcome = read(&mut reader);
        let stopped = reader.offset();
        match outcome {
            Ok(()) => {}
            Err(JsonError::CutOff) => desk.note(Code::RecordCutOff, begun),
            Err(JsonError::Syntax) => desk.note(Code::RecordDamaged, stopped),
            Err(JsonError::TooDeep) => desk.note(Code::RecordTooDeep, stopped),
        }
        if outcome.is_ok() {
            start = stopped;
            continue;
        }
        let behind = bytes.get(stopped..).unwrap_or_default();
        match behind.windows(2).position(|pair| pair == b"\n{") {
            Some(at) => start = stopped + at + 1,
            None => return,
        }
    }
}

impl<'a, 'w> Reader<'a, '_, 'w> {
    /// Where in the record the next byte to be read is.
    pub(crate) const fn offset(&self) -> usize {
        self.json.position()
    }

    /// A reader of a part of the document that was passed before.
    pub(crate) const fn again(&mut self, json: Json<'a>) -> Reader<'a, '_, 'w> {
        Reader { json, desk: &mut *self.desk }
    }

    /// Stands at a value that has to be of `shape`. Otherwise goes past it, and counts it unless
    /// it is null, which means absent.
    pub(crate) fn is(&mut self, shape: Shape) -> Result<bool> {
        let found = self.json.shape()?;
        if found == shape {
            return Ok(true);
        }
        self.skip_unexpected(found)?;
        Ok(false)
    }

    fn skip_unexpected(&mut self, found: Shape) -> Result<()> {
        if found != Shape::Null {
            self.desk.note(Code::FieldWrongType, self.offset());
        }
        self.json.skip()
    }

    /// Enters an object.
    pub(crate) fn open_object(&mut self) -> Result<bool> {
        let is_object = self.is(Shape::Object)?;
        if is_object {
            self.json.open()?;
        }
        Ok(is_object)
    }

    /// Enters an array.
    pub(crate) fn open_array(&mut self) -> Result<bool> {
        let is_array = self.is(Shape::Array)?;
        if is_array {
            self.json.open()?;
        }
        Ok(is_array)
    }

    /// A text.
    pub(crate) fn text(&mut self) -> Result<Option<Cow<'a, str>>> {
        if !self.is(Shape::Text)? {
            return Ok(None);
        }
        let offset = self.offset();
        let text = self.json.text()?;
        let mended = self.json.take_mended();
        self.desk.note_many(Code::TextNotUtf8, mended, offset);
        Ok(Some(text))
    }

    /// A number or the text of one, as written. Nothing is written as an empty text.
    pub(crate) fn numeral(&mut self) -> Result<Cow<'a, str>> {
        Ok(match self.json.shape()? {
            Shape::Number => Cow::Borrowed(self.json.number()?),
            Shape::Text => self.text()?.unwrap_or_default(),
            found => {
                self.skip_unexpected(found)?;
                Cow::Borrowed("")
            }
        })
    }

    /// An id; absent ids are zero, what is no text is no id.
    pub(crate) fn id<T>(&mut self, read: impl Fn(&str) -> Option<Id<T>>) -> Result<Option<Id<T>>> {
        match self.json.shape()? {
            Shape::Text => Ok(read(&self.json.text()?)),
            Shape::Null => self.json.skip().map(|()| read("")),
            _ => self.json.skip().map(|()| None),
        }
    }
}
