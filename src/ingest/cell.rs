//! A value of a row, of whatever format: what readers of flat spans make of text, JSON and Arrow
//! before they know what it means.

use std::borrow::Cow;

use super::admit::MAX_LIST_DEPTH;
use super::json::{Json, JsonError, Shape};
use super::scalar;
use crate::conventions::raw::{Attribute, Value};

/// What joins the keys of maps within maps.
const KEY_SEPARATOR: char = '.';

/// A value. The readers that take one into a type give `None` where it is of another; null is the
/// empty value of every type.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Cell<'a> {
    /// Nothing.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A number as written.
    Number(Cow<'a, str>),
    /// An instant, in nanoseconds since the epoch.
    Instant(i64),
    /// Text.
    Text(Cow<'a, str>),
    /// A list.
    List(Vec<Self>),
    /// A map, in its order.
    Map(Vec<(Cow<'a, str>, Self)>),
}

impl<'a> Cell<'a> {
    /// The JSON value that comes next. Its depth is bounded by that of `json`.
    pub(crate) fn of_json(json: &mut Json<'a>) -> Result<Self, JsonError> {
        Ok(match json.shape()? {
            Shape::Object => {
                let mut members = Vec::new();
                json.open()?;
                while let Some(key) = json.next_key()? {
                    members.push((key, Self::of_json(json)?));
                }
                Self::Map(members)
            }
            Shape::Array => {
                let mut elements = Vec::new();
                json.open()?;
                while json.next_element()? {
                    elements.push(Self::of_json(json)?);
                }
                Self::List(elements)
            }
            Shape::Text => Self::Text(json.text()?),
            Shape::Number => Self::Number(Cow::Borrowed(json.number()?)),
            Shape::Bool => Self::Bool(json.bool()?),
            Shape::Null => {
                json.skip()?;
                Self::Null
            }
        })
    }

    /// Text, or a number as written.
    pub(crate) fn into_text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Null => Some(Cow::Borrowed("")),
            Self::Text(text) | Self::Number(text) => Some(text),
            _ => None,
        }
    }

    /// A whole number, or the text of one; zero where it is absent.
    pub(crate) fn into_whole_number(self) -> Option<i64> {
        let text = self.into_text()?;
        if text.is_empty() { Some(0) } else { scalar::whole_number(&text) }
    }

    /// An instant in nanoseconds since the epoch, as number or date; zero where it is absent.
    pub(crate) fn into_instant(self) -> Option<i64> {
        match self {
            Self::Instant(unix_ns) => Some(unix_ns),
            other => {
                let text = other.into_text()?;
                if text.is_empty() { Some(0) } else { scalar::unix_ns(&text) }
            }
        }
    }

    /// A list.
    pub(crate) fn into_list(self) -> Option<Vec<Self>> {
        match self {
            Self::Null => Some(Vec::new()),
            Self::List(elements) => Some(elements),
            _ => None,
        }
    }

    /// A map.
    pub(crate) fn into_map(self) -> Option<Vec<(Cow<'a, str>, Self)>> {
        match self {
            Self::Null => Some(Vec::new()),
            Self::Map(members) => Some(members),
            _ => None,
        }
    }

    /// The attributes that a map holds; those of maps within it have the keys of both, joined.
    pub(crate) fn into_attributes(self) -> Option<Vec<Attribute<'a>>> {
        let mut attributes = Vec::new();
        for (key, cell) in self.into_map()? {
            flatten(key, cell, &mut attributes);
        }
        Some(attributes)
    }

    /// An attribute's value.
    fn into_value(self, list_depth: usize) -> Value<'a> {
        match self {
            Self::Null | Self::Map(_) => Value::Other,
            Self::Bool(value) => Value::Bool(value),
            Self::Number(text) => match text.parse() {
                Ok(number) => Value::Int(number),
                Err(_) => scalar::real_number(&text).map_or(Value::Other, Value::Double),
            },
            Self::Instant(unix_ns) => Value::Int(unix_ns),
            Self::Text(text) => Value::Text(text),
            Self::List(_) if list_depth == MAX_LIST_DEPTH => Value::Other,
            Self::List(elements) => {
                let value = |element: Self| element.into_value(list_depth + 1);
                Value::List(elements.into_iter().map(value).collect())
            }
        }
    }
}

fn flatten<'a>(key: Cow<'a, str>, cell: Cell<'a>, attributes: &mut Vec<Attribute<'a>>) {
    let Cell::Map(members) = cell else {
        attributes.push((key.into(), cell.into_value(0)));
        return;
    };
    for (inner, cell) in members {
        flatten(Cow::Owned(format!("{key}{KEY_SEPARATOR}{inner}")), cell, attributes);
    }
}
