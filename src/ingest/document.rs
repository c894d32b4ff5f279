//! One JSON document at a desk: the steps that readers of JSON formats share. A value of a type
//! that a field never has is noted and passed over; null means absent.

use std::borrow::Cow;

use super::admit::Desk;
use super::json::{Json, JsonError, Shape, without_mark};
use super::problems::Code;
use super::scalar::{self, Id};
use crate::conventions::raw::Value;

/// What reading gives, or how the text breaks.
pub(crate) type Result<T> = std::result::Result<T, JsonError>;

/// A place in a document, and the desk where its spans are handed over.
pub(crate) struct Document<'a, 'd, 'w> {
    /// Where it is being read.
    pub json: Json<'a>,
    /// Where spans and trouble go.
    pub desk: &'d mut Desk<'w>,
    /// Where the document's bytes begin in the record.
    base: usize,
}

/// Reads the documents of a record, each by `read`; where one breaks, goes on at the next line
/// that opens an object or an array.
pub(crate) fn read_all<'a>(
    bytes: &'a [u8],
    desk: &mut Desk<'_>,
    read: impl Fn(&mut Document<'a, '_, '_>) -> Result<()>,
) {
    // Checked once and together, which takes less than text by text.
    let text = std::str::from_utf8(bytes).ok();
    let mut start = 0;
    while let Some(rest) = bytes.get(start..) {
        // Where files were put together, each may have its mark.
        let rest = without_mark(rest.trim_ascii_start());
        start = bytes.len() - rest.len();
        let json = match text.and_then(|text| text.get(start..)) {
            Some(rest) => Json::of_text(rest),
            None => Json::new(rest),
        };
        let mut document = Document { json, desk, base: start };
        if document.json.at_end() {
            return;
        }
        let begun = document.offset();
        let outcome = read(&mut document);
        let stopped = document.offset();
        let Err(error) = outcome else {
            start = stopped;
            continue;
        };
        match error {
            JsonError::CutOff => desk.note(Code::RecordCutOff, begun),
            JsonError::Syntax => desk.note(Code::RecordDamaged, stopped),
            JsonError::TooDeep => desk.note(Code::RecordTooDeep, stopped),
        }
        let behind = bytes.get(stopped..).unwrap_or_default();
        match behind.windows(2).position(|pair| matches!(pair, b"\n{" | b"\n[")) {
            Some(at) => start = stopped + at + 1,
            None => return,
        }
    }
}

impl<'a, 'w> Document<'a, '_, 'w> {
    /// Where in the record the next byte to be read is.
    pub(crate) const fn offset(&self) -> usize {
        self.base + self.json.position()
    }

    /// Another reading of a part of the document that was passed before.
    pub(crate) const fn again(&mut self, json: Json<'a>) -> Document<'a, '_, 'w> {
        Document { json, desk: &mut *self.desk, base: self.base }
    }

    /// Stands at a value that has to be of `shape`. Otherwise goes past it.
    pub(crate) fn is(&mut self, shape: Shape) -> Result<bool> {
        let found = self.json.shape()?;
        if found == shape {
            return Ok(true);
        }
        self.skip_unexpected(found)?;
        Ok(false)
    }

    /// Goes past a value, and counts it unless it is null.
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

    /// Reads each element of an array by `read`.
    pub(crate) fn each_element(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        if self.open_array()? {
            while self.json.next_element()? {
                read(self)?;
            }
        }
        Ok(())
    }

    /// Reads each object of an array by `read`, which stands behind its opening bracket.
    pub(crate) fn each_object(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        self.each_element(|document| if document.open_object()? { read(document) } else { Ok(()) })
    }

    /// The next key of the object that was entered; `None` at its end.
    #[inline]
    pub(crate) fn next_key(&mut self) -> Result<Option<Cow<'a, str>>> {
        let offset = self.offset();
        let key = self.json.next_key()?;
        let mended = self.json.take_mended();
        self.desk.note_many(Code::TextNotUtf8, mended, offset);
        Ok(key)
    }

    /// A text, if there is one.
    pub(crate) fn optional_text(&mut self) -> Result<Option<Cow<'a, str>>> {
        if !self.is(Shape::Text)? {
            return Ok(None);
        }
        let offset = self.offset();
        let text = self.json.text()?;
        let mended = self.json.take_mended();
        self.desk.note_many(Code::TextNotUtf8, mended, offset);
        Ok(Some(text))
    }

    /// A text; empty where it is absent.
    pub(crate) fn text(&mut self) -> Result<Cow<'a, str>> {
        self.optional_text().map(Option::unwrap_or_default)
    }

    /// A number or the text of one, as written. Nothing is written as an empty text.
    pub(crate) fn numeral(&mut self) -> Result<Cow<'a, str>> {
        match self.json.shape()? {
            Shape::Number => Ok(Cow::Borrowed(self.json.number()?)),
            _ => self.text(),
        }
    }

    /// True or false, or the text of either; false where it is absent.
    pub(crate) fn truth(&mut self) -> Result<bool> {
        match self.json.shape()? {
            Shape::Bool => self.json.bool(),
            _ => Ok(self.text()?.eq_ignore_ascii_case("true")),
        }
    }

    /// Microseconds, as nanoseconds.
    pub(crate) fn micros(&mut self) -> Result<Micros> {
        let numeral = self.numeral()?;
        if numeral.is_empty() {
            return Ok(Micros::Absent);
        }
        Ok(scalar::micros_as_nanos(&numeral).map_or(Micros::Invalid, Micros::Nanos))
    }

    /// An id; absent ids are zero, what is no text is no id.
    pub(crate) fn id<T>(&mut self, read: impl Fn(&str) -> Option<Id<T>>) -> Result<Option<Id<T>>> {
        match self.json.shape()? {
            Shape::Text => Ok(read(&self.json.text()?)),
            Shape::Null => self.json.skip().map(|()| read("")),
            _ => self.json.skip().map(|()| None),
        }
    }

    /// A single value of whatever type; lists and objects are `Other`.
    pub(crate) fn value(&mut self) -> Result<Value<'a>> {
        match self.json.shape()? {
            Shape::Text => self.text().map(Value::Text),
            Shape::Bool => self.json.bool().map(Value::Bool),
            Shape::Number => {
                let number = self.json.number()?;
                let real = || scalar::real_number(number).map(Value::Double);
                let whole = scalar::whole_number(number).map(Value::Int);
                Ok(whole.or_else(real).unwrap_or(Value::Other))
            }
            Shape::Object | Shape::Array | Shape::Null => self.json.skip().map(|()| Value::Other),
        }
    }
}

/// A time or a length as written in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Micros {
    /// There is none.
    #[default]
    Absent,
    /// It is no number, or too large.
    Invalid,
    /// This many nanoseconds.
    Nanos(i64),
}

impl Micros {
    /// The nanoseconds; `None` where it is absent or no number.
    pub(crate) const fn nanos(self) -> Option<i64> {
        match self {
            Self::Absent | Self::Invalid => None,
            Self::Nanos(nanos) => Some(nanos),
        }
    }

    /// The nanoseconds, zero where it is absent; `None` where it is no number.
    pub(crate) const fn nanos_or_zero(self) -> Option<i64> {
        match self {
            Self::Absent => Some(0),
            Self::Invalid => None,
            Self::Nanos(nanos) => Some(nanos),
        }
    }

    /// The time from `earlier` to this one; absent where either is.
    pub(crate) const fn since(self, earlier: Self) -> Self {
        match (self, earlier) {
            (Self::Nanos(later), Self::Nanos(earlier)) => match later.checked_sub(earlier) {
                Some(nanos) => Self::Nanos(nanos),
                None => Self::Invalid,
            },
            (Self::Invalid, _) | (_, Self::Invalid) => Self::Invalid,
            _ => Self::Absent,
        }
    }
}
