//! Goes through the JSON values of a record, and on behind what is broken.

use super::admit::Desk;
use super::json::{Json, JsonError, Shape, without_mark};
use super::problems::Code;

type Result<T> = std::result::Result<T, JsonError>;

/// Reads the values of a record one after another; `read` says what is wrong with a whole one.
/// Where one breaks, goes on at the next line that opens an object.
pub(crate) fn read_documents<'a>(
    bytes: &'a [u8],
    desk: &mut Desk<'_>,
    mut read: impl FnMut(&mut Json<'a>, &mut Desk<'_>) -> Result<Option<Code>>,
) {
    let mut json = Json::new(bytes).again_at(bytes.len() - without_mark(bytes).len());
    while !json.at_end() {
        let begun = json.position();
        let outcome = read(&mut json, desk);
        let stopped = json.position();
        match outcome {
            Ok(None) => continue,
            Ok(Some(code)) => {
                desk.note(code, begun);
                continue;
            }
            Err(JsonError::CutOff) => desk.note(Code::RecordCutOff, begun),
            Err(JsonError::Syntax) => desk.note(Code::RecordDamaged, stopped),
            Err(JsonError::TooDeep) => desk.note(Code::RecordTooDeep, stopped),
        }
        let behind = bytes.get(stopped..).unwrap_or_default();
        match behind.windows(2).position(|pair| pair == b"\n{") {
            Some(at) => json = Json::new(bytes).again_at(stopped + at + 1),
            None => return,
        }
    }
}

/// Reads the objects of a record, alone or in arrays, each by `read`, which stands behind the
/// opening bracket and says whether the object is one of its kind.
pub(crate) fn read_objects<'a>(
    bytes: &'a [u8],
    desk: &mut Desk<'_>,
    mut read: impl FnMut(&mut Json<'a>, &mut Desk<'_>) -> Result<bool>,
) {
    let mut object = |json: &mut Json<'a>, desk: &mut Desk<'_>| {
        if json.shape()? != Shape::Object {
            return json.skip().map(|()| false);
        }
        let begun = json.position();
        json.open()?;
        let is_known = read(json, desk)?;
        desk.note_many(Code::TextNotUtf8, json.take_mended(), begun);
        Ok(is_known)
    };
    read_documents(bytes, desk, |json, desk| {
        if json.shape()? != Shape::Array {
            return Ok((!object(json, desk)?).then_some(Code::RecordNotSpan));
        }
        json.open()?;
        while json.next_element()? {
            let begun = {
                json.shape()?;
                json.position()
            };
            if !object(json, desk)? {
                desk.note(Code::RecordNotSpan, begun);
            }
        }
        Ok(None)
    });
}
