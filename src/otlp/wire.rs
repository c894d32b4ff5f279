//! The protobuf encoding, read without copying: the fields of a message one after another, within
//! strict bounds. Nothing is allocated, so a length that lies costs nothing.

/// Bytes of a message, and where they begin in the record they were cut from.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Offset of the first of them in the record.
    pub at: usize,
}

/// A value as the wire carries it.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// Wire type 0.
    Varint(u64),
    /// Wire type 1.
    Fixed64(u64),
    /// Wire type 2: text, bytes, or a message.
    Bytes(Message<'a>),
    /// Wire type 5.
    Fixed32(u32),
    /// Wire types 3 and 4, long out of use; skipped whole.
    Group,
}

/// The bytes are no protobuf message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    /// They end within a field.
    CutOff,
    /// They cannot be.
    Damaged,
}

/// Reads the fields of one message in order.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
    base: usize,
    /// A field of bytes that is cut off is given as far as it goes, before the error.
    gives_part: bool,
    /// Such a field was given.
    is_cut_off: bool,
}

/// More nested groups than any real message has.
const MAX_GROUP_DEPTH: usize = 32;

impl<'a> Fields<'a> {
    /// The fields of `message`.
    pub const fn new(message: Message<'a>) -> Self {
        Self { bytes: message.bytes, at: 0, base: message.at, gives_part: false, is_cut_off: false }
    }

    /// The same; where the last is cut off, what there is of it comes before the error.
    pub const fn with_part(message: Message<'a>) -> Self {
        Self { gives_part: true, ..Self::new(message) }
    }

    /// How many bytes of the message were read.
    pub const fn position(&self) -> usize {
        self.at
    }

    /// What `read` finds; where it finds nothing, stands where it stood before.
    #[inline]
    pub fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let at = self.at;
        let found = read(self);
        if found.is_none() {
            self.at = at;
        }
        found
    }

    /// What is left, behind the tag of field `number` with this wire type, if that comes next. The
    /// number is less than 16, so that the tag is a byte.
    #[inline]
    fn behind_tag(&self, number: u32, wire_type: u32) -> Option<&'a [u8]> {
        let (&tag, rest) = self.bytes.get(self.at..)?.split_first()?;
        (tag < 0x80 && u32::from(tag) == number << 3 | wire_type).then_some(rest)
    }

    /// The content of field `number`, if that comes next, as [`short_field`] finds it. Goes past it.
    #[inline]
    pub fn pass_bytes(&mut self, number: u32) -> Option<Message<'a>> {
        let (bytes, _) = short_field(number, self.bytes.get(self.at..)?)?;
        let at = self.at + 2;
        self.at = at + bytes.len();
        Some(Message { bytes, at: self.base + at })
    }

    /// The same where it is so many bytes.
    #[inline]
    pub fn pass_exactly<const LEN: usize>(&mut self, number: u32) -> Option<&'a [u8; LEN]> {
        self.attempt(|fields| fields.pass_bytes(number)?.bytes.try_into().ok())
    }

    /// The value of field `number`, if that comes next with wire type 1. Goes past it.
    #[inline]
    pub fn pass_fixed64(&mut self, number: u32) -> Option<u64> {
        let value = self.behind_tag(number, 1)?.first_chunk()?;
        self.at += 1 + value.len();
        Some(u64::from_le_bytes(*value))
    }

    /// The value of field `number`, if that comes next with wire type 0. Goes past it.
    #[inline]
    pub fn pass_varint(&mut self, number: u32) -> Option<u64> {
        let (value, len) = varint(self.behind_tag(number, 0)?).ok()?;
        self.at += 1 + len;
        Some(value)
    }

    #[inline]
    fn tag(&mut self) -> Result<(u32, u8), WireError> {
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).map_err(|_| WireError::Damaged)?;
        if number == 0 || number >= 1 << 29 {
            return Err(WireError::Damaged);
        }
        Ok((number, (tag & 7) as u8))
    }

    #[inline]
    fn varint(&mut self) -> Result<u64, WireError> {
        let (value, len) = varint(self.bytes.get(self.at..).unwrap_or_default())?;
        self.at += len;
        Ok(value)
    }

    #[inline]
    fn take(&mut self, len: usize) -> Result<&'a [u8], WireError> {
        let end = self.at.checked_add(len).ok_or(WireError::Damaged)?;
        let bytes = self.bytes.get(self.at..end).ok_or(WireError::CutOff)?;
        self.at = end;
        Ok(bytes)
    }

    #[inline]
    fn value(&mut self, number: u32, wire_type: u8) -> Result<Value<'a>, WireError> {
        match wire_type {
            0 => Ok(Value::Varint(self.varint()?)),
            1 => Ok(Value::Fixed64(u64::from_le_bytes(self.fixed()?))),
            2 => {
                let len = usize::try_from(self.varint()?).map_err(|_| WireError::Damaged)?;
                let at = self.base + self.at;
                let left = self.bytes.len().saturating_sub(self.at);
                self.is_cut_off = self.gives_part && left < len;
                let len = if self.is_cut_off { left } else { len };
                Ok(Value::Bytes(Message { bytes: self.take(len)?, at }))
            }
            3 => self.skip_group(number),
            5 => Ok(Value::Fixed32(u32::from_le_bytes(self.fixed()?))),
            _ => Err(WireError::Damaged),
        }
    }

    /// So many bytes, as many as a number has.
    #[inline]
    fn fixed<const LEN: usize>(&mut self) -> Result<[u8; LEN], WireError> {
        self.take(LEN)?.try_into().map_err(|_| WireError::CutOff)
    }

    /// Skips a group without recursion.
    fn skip_group(&mut self, number: u32) -> Result<Value<'a>, WireError> {
        let mut open = vec![number];
        while let Some(&innermost) = open.last() {
            match self.tag()? {
                (number, 3) if open.len() < MAX_GROUP_DEPTH => open.push(number),
                (number, 4) if number == innermost => drop(open.pop()),
                (_, 3 | 4) => return Err(WireError::Damaged),
                (number, wire_type) => drop(self.value(number, wire_type)?),
            }
        }
        Ok(Value::Group)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Value<'a>), WireError>;

    /// The next field; after an error, nothing more.
    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.bytes.len() {
            return std::mem::take(&mut self.is_cut_off).then_some(Err(WireError::CutOff));
        }
        // Most fields are texts or messages of which tag and length are a byte each.
        if let Some(&[tag @ 0x08..0x80, len @ ..0x80, ..]) = self.bytes.get(self.at..)
            && tag & 7 == 2
            && let start = self.at + 2
            && let Some(bytes) = self.bytes.get(start..start + usize::from(len))
        {
            self.at = start + bytes.len();
            let message = Message { bytes, at: self.base + start };
            return Some(Ok((u32::from(tag >> 3), Value::Bytes(message))));
        }
        let field = self.tag().and_then(|(number, wire_type)| {
            self.value(number, wire_type).map(|value| (number, value))
        });
        if field.is_err() {
            self.at = self.bytes.len();
            self.is_cut_off = false;
        }
        Some(field)
    }
}

/// The content of field `number` that `bytes` begin with, and what follows it, where it is text or
/// bytes or a message, and tag and length are a byte each.
#[inline]
pub fn short_field(number: u32, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&[tag, len], rest) = bytes.split_first_chunk()?;
    let is_short = tag < 0x80 && len < 0x80 && u32::from(tag) == number << 3 | 2;
    is_short.then(|| rest.split_at_checked(usize::from(len)))?
}

/// How long the field at the start of `bytes` claims to be, if it tells.
pub fn claimed_len(bytes: &[u8]) -> Option<u64> {
    let (tag, tag_len) = varint(bytes).ok()?;
    let (len, len_len) = varint(bytes.get(tag_len..)?).ok()?;
    (tag & 7 == 2).then_some(len.saturating_add((tag_len + len_len) as u64))
}

/// The varint at the start of `bytes`, and its length.
#[inline]
pub fn varint(bytes: &[u8]) -> Result<(u64, usize), WireError> {
    match *bytes {
        // Most are small numbers, and the lengths of short texts.
        [byte @ ..0x80, ..] => Ok((byte.into(), 1)),
        [low, high @ ..0x80, ..] => Ok((u64::from(low & 0x7f) | u64::from(high) << 7, 2)),
        _ => long_varint(bytes),
    }
}

/// The same, of any length.
fn long_varint(bytes: &[u8]) -> Result<(u64, usize), WireError> {
    let mut value = 0;
    for (index, &byte) in bytes.iter().take(10).enumerate() {
        if index == 9 && byte > 1 {
            return Err(WireError::Damaged);
        }
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return Ok((value, index + 1));
        }
    }
    Err(if bytes.len() < 10 { WireError::CutOff } else { WireError::Damaged })
}
