//! What a JSON value looks like from outside: enough to tell whose format it is without reading
//! its spans.

use std::borrow::Cow;

use super::json::{Json, JsonError, Shape, without_mark};

/// Keys of one object that are looked at.
const MAX_KEYS: usize = 64;

/// Wrappers that are looked through: an object or array within the outermost one.
const MAX_DEPTH: usize = 4;

/// The keys of an object, and what its members that hold objects look like.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outline<'a> {
    /// The value is an array (perhaps of arrays); the keys are those of its first object.
    pub in_array: bool,
    /// The keys, in order, with the outline of the value where that is an object or an array.
    pub members: Vec<(Cow<'a, str>, Option<Outline<'a>>)>,
}

/// The outline of a value, as far as it can be read; where it ends, or breaks, and how.
pub(crate) struct Outlined<'a> {
    /// What it looks like.
    pub outline: Outline<'a>,
    /// Where it ends, or breaks.
    pub end: usize,
    /// How it breaks.
    pub error: Option<JsonError>,
}

/// Looks at the first value of `bytes`.
pub(crate) fn outline(bytes: &[u8]) -> Outlined<'_> {
    outline_until(bytes, |_| false)
}

/// Looks at the first value of `bytes`, if it is an object only up to a key after which it
/// `is_enough`.
pub(crate) fn outline_until(bytes: &[u8], is_enough: fn(&Outline<'_>) -> bool) -> Outlined<'_> {
    let content = without_mark(bytes);
    let mut json = Json::new(content);
    let mut outline = Outline::default();
    let error = outline.fill(&mut json, MAX_DEPTH, is_enough).err();
    Outlined { outline, end: json.position() + bytes.len() - content.len(), error }
}

impl<'a> Outline<'a> {
    /// Whether the object, or the first one of the array, has a member of this name.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.members.iter().any(|(name, _)| name == key)
    }

    /// The outline of a member that holds an object or an array.
    pub(crate) fn member(&self, key: &str) -> Option<&Self> {
        self.members.iter().find(|(name, _)| name == key).and_then(|(_, outline)| outline.as_ref())
    }

    fn fill(
        &mut self,
        json: &mut Json<'a>,
        depth: usize,
        is_enough: fn(&Outline<'_>) -> bool,
    ) -> Result<(), JsonError> {
        match json.shape()? {
            Shape::Object => {
                json.open()?;
                while let Some(key) = json.next_key()? {
                    if self.members.len() >= MAX_KEYS {
                        json.skip()?;
                        continue;
                    }
                    self.members.push((key, None));
                    if is_enough(self) {
                        return Ok(());
                    }
                    if depth == 0 || !matches!(json.shape()?, Shape::Object | Shape::Array) {
                        json.skip()?;
                        continue;
                    }
                    let mut inner = Outline::default();
                    let outcome = inner.fill(json, depth - 1, |_| false);
                    if let Some((_, outline)) = self.members.last_mut() {
                        *outline = Some(inner);
                    }
                    outcome?;
                }
                Ok(())
            }
            Shape::Array => {
                self.in_array = true;
                json.open()?;
                let mut is_first = true;
                while json.next_element()? {
                    if is_first
                        && matches!(json.shape()?, Shape::Object | Shape::Array)
                        && depth > 0
                    {
                        self.fill(json, depth - 1, |_| false)?;
                    } else {
                        json.skip()?;
                    }
                    is_first = false;
                }
                Ok(())
            }
            _ => json.skip(),
        }
    }
}
