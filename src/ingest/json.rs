//! Reads JSON piece by piece, borrowing from the buffer. Unlike a deserializer it knows where it
//! is, keeps numbers as written (64-bit ones lose nothing), looks past values nobody asked for
//! without building them, and lets a reader go on behind a value of an unexpected type.

use std::borrow::Cow;

/// Objects and arrays within one another beyond this are refused; real traces need about twelve.
const MAX_DEPTH: usize = 128;

/// Numbers of so many digits fit 64 bits without a sign.
const MAX_DIGITS: usize = 19;

/// The text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonError {
    /// It ends within a value.
    CutOff,
    /// It breaks the grammar.
    Syntax,
    /// It nests too deeply.
    TooDeep,
}

/// What kind of value comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Object,
    Array,
    Text,
    Number,
    Bool,
    Null,
}

type Result<T> = std::result::Result<T, JsonError>;

/// A place in a JSON text.
#[derive(Clone, Debug)]
pub(crate) struct Json<'a> {
    bytes: &'a [u8],
    /// The same as text, where it is known to be.
    whole: Option<&'a str>,
    at: usize,
    depth: usize,
    /// An object or array was just opened: its first member has no comma before it.
    opened: bool,
    /// How many texts were not UTF-8, or held half a surrogate pair, and were mended.
    mended: u64,
}

impl<'a> Json<'a> {
    /// The start of `bytes`.
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, whole: None, at: 0, depth: 0, opened: false, mended: 0 }
    }

    /// The start of `text`: within it, no text has to be checked again.
    pub(crate) const fn of_text(text: &'a str) -> Self {
        Self { whole: Some(text), ..Self::new(text.as_bytes()) }
    }

    /// Where the next byte to be read is.
    pub(crate) const fn position(&self) -> usize {
        self.at
    }

    /// Another reading of a value passed before, that began at `position`.
    pub(crate) fn again_at(&self, position: usize) -> Self {
        Self { at: position, opened: false, mended: 0, ..*self }
    }

    /// How many texts were mended since the last call.
    pub(crate) fn take_mended(&mut self) -> u64 {
        std::mem::take(&mut self.mended)
    }

    fn byte(&self) -> Result<u8> {
        self.bytes.get(self.at).copied().ok_or(JsonError::CutOff)
    }

    fn skip_space(&mut self) {
        // Exporters write none.
        if self.bytes.get(self.at).is_some_and(|&byte| b' ' < byte) {
            return;
        }
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        self.at += rest.iter().position(|byte| !is_space(byte)).unwrap_or(rest.len());
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.byte()? != byte {
            return Err(JsonError::Syntax);
        }
        self.at += 1;
        Ok(())
    }

    /// What comes next; stands at its first byte afterwards.
    pub(crate) fn shape(&mut self) -> Result<Shape> {
        self.skip_space();
        match self.byte()? {
            b'{' => Ok(Shape::Object),
            b'[' => Ok(Shape::Array),
            b'"' => Ok(Shape::Text),
            b'-' | b'0'..=b'9' | b'N' | b'I' => Ok(Shape::Number),
            b't' | b'f' => Ok(Shape::Bool),
            b'n' => Ok(Shape::Null),
            _ => Err(JsonError::Syntax),
        }
    }

    /// Whether only white space is left.
    pub(crate) fn at_end(&mut self) -> bool {
        self.skip_space();
        self.at >= self.bytes.len()
    }

    /// Enters the object or array that comes next.
    pub(crate) fn open(&mut self) -> Result<()> {
        if self.depth == MAX_DEPTH {
            return Err(JsonError::TooDeep);
        }
        self.depth += 1;
        self.at += 1;
        self.opened = true;
        Ok(())
    }

    /// Goes to the next member within, or leaves behind `close`.
    fn next_member(&mut self, close: u8) -> Result<bool> {
        let first = std::mem::take(&mut self.opened);
        self.skip_space();
        let byte = self.byte()?;
        if byte == close {
            self.at += 1;
            self.depth = self.depth.saturating_sub(1);
            return Ok(false);
        }
        if !first {
            self.expect(b',')?;
            self.skip_space();
        }
        Ok(true)
    }

    /// The next key of the object that was opened; `None` at its end. Its value must be read.
    pub(crate) fn next_key(&mut self) -> Result<Option<Cow<'a, str>>> {
        if !self.next_member(b'}')? {
            return Ok(None);
        }
        let key = self.text()?;
        self.skip_space();
        self.expect(b':')?;
        Ok(Some(key))
    }

    /// Whether the array that was opened has another element, which must then be read.
    pub(crate) fn next_element(&mut self) -> Result<bool> {
        self.next_member(b']')
    }

    /// The text that comes next.
    pub(crate) fn text(&mut self) -> Result<Cow<'a, str>> {
        let (raw, has_escapes) = self.raw_text()?;
        if has_escapes {
            return self.unescape(raw).map(Cow::Owned);
        }
        // It stands before the quote that was just passed.
        let end = self.at - 1;
        Ok(self.checked(end - raw.len(), end).map_or_else(
            || {
                self.mended += 1;
                Cow::Owned(String::from_utf8_lossy(raw).into_owned())
            },
            Cow::Borrowed,
        ))
    }

    /// What stands from `start` to `end` as text, if it is.
    #[inline]
    fn checked(&self, start: usize, end: usize) -> Option<&'a str> {
        match self.whole {
            Some(text) => text.get(start..end),
            None => std::str::from_utf8(self.bytes.get(start..end)?).ok(),
        }
    }

    /// The bytes between the quotes, and whether there are escapes among them.
    fn raw_text(&mut self) -> Result<(&'a [u8], bool)> {
        self.expect(b'"')?;
        let start = self.at;
        let mut has_escapes = false;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            self.at += ordinary_len(rest);
            match self.byte()? {
                b'"' => {
                    let raw = self.bytes.get(start..self.at).unwrap_or_default();
                    self.at += 1;
                    return Ok((raw, has_escapes));
                }
                b'\\' => {}
                _ => return Err(JsonError::Syntax),
            }
            has_escapes = true;
            self.at += 1;
            self.skip_escape()?;
        }
    }

    /// Stands behind a backslash: goes past the escape.
    fn skip_escape(&mut self) -> Result<()> {
        match self.byte()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
            b'u' => {
                for offset in 1..=4 {
                    let digit = self.bytes.get(self.at + offset).ok_or(JsonError::CutOff)?;
                    if !digit.is_ascii_hexdigit() {
                        return Err(JsonError::Syntax);
                    }
                }
                self.at += 5;
            }
            _ => return Err(JsonError::Syntax),
        }
        Ok(())
    }

    /// The text behind `raw`, whose escapes are known to be well formed.
    fn unescape(&mut self, raw: &[u8]) -> Result<String> {
        let mut bytes = Vec::with_capacity(raw.len());
        let mut rest = raw;
        let mut is_broken = false;
        while let Some(at) = rest.iter().position(|&byte| byte == b'\\') {
            let (plain, escape) = rest.split_at(at);
            bytes.extend_from_slice(plain);
            let (letter, after) =
                escape.get(1..).and_then(<[u8]>::split_first).ok_or(JsonError::Syntax)?;
            rest = after;
            match letter {
                b'b' => bytes.push(8),
                b'f' => bytes.push(12),
                b'n' => bytes.push(b'\n'),
                b'r' => bytes.push(b'\r'),
                b't' => bytes.push(b'\t'),
                b'u' => {
                    let (letter, after) = code_point(rest);
                    is_broken |= letter.is_none();
                    let letter = letter.unwrap_or(char::REPLACEMENT_CHARACTER);
                    bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                    rest = after;
                }
                &other => bytes.push(other),
            }
        }
        bytes.extend_from_slice(rest);
        let text = String::from_utf8(bytes).unwrap_or_else(|error| {
            is_broken = true;
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        });
        self.mended += u64::from(is_broken);
        Ok(text)
    }

    /// The number that comes next, as written. `NaN` and the infinities, which Python writes, are
    /// numbers too.
    pub(crate) fn number(&mut self) -> Result<&'a str> {
        let start = self.at;
        if self.byte()? == b'-' {
            self.at += 1;
        }
        match self.byte()? {
            b'N' => self.literal(b"NaN")?,
            b'I' => self.literal(b"Infinity")?,
            b'0' => self.at += 1,
            _ => self.digits()?,
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
            if let b'+' | b'-' = self.byte()? {
                self.at += 1;
            }
            self.digits()?;
        }
        let text = self.bytes.get(start..self.at).unwrap_or_default();
        std::str::from_utf8(text).map_err(|_| JsonError::Syntax)
    }

    /// One digit or more.
    fn digits(&mut self) -> Result<()> {
        if !self.byte()?.is_ascii_digit() {
            return Err(JsonError::Syntax);
        }
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        Ok(())
    }

    /// Exactly `word`.
    fn literal(&mut self, word: &[u8]) -> Result<()> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        if rest.starts_with(word) {
            self.at += word.len();
            return Ok(());
        }
        Err(if word.starts_with(rest) { JsonError::CutOff } else { JsonError::Syntax })
    }

    /// `true` or `false`.
    pub(crate) fn bool(&mut self) -> Result<bool> {
        let value = self.byte()? == b't';
        self.literal(if value { b"true" } else { b"false" })?;
        Ok(value)
    }

    /// Whether `levels` more objects or arrays may be entered.
    pub(crate) const fn has_room(&self, levels: usize) -> bool {
        self.depth + levels <= MAX_DEPTH
    }

    /// What `read` finds; where it finds nothing, stands where it stood before. It may neither enter
    /// nor leave anything.
    #[inline]
    pub(crate) fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let (at, opened) = (self.at, self.opened);
        let found = read(self);
        if found.is_none() {
            (self.at, self.opened) = (at, opened);
        }
        found
    }

    /// Goes past `expected`, if exactly that comes next.
    #[inline]
    pub(crate) fn pass<const LEN: usize>(&mut self, expected: &[u8; LEN]) -> Option<()> {
        if self.bytes.get(self.at..)?.first_chunk::<LEN>()? != expected {
            return None;
        }
        self.at += LEN;
        self.opened = false;
        Some(())
    }

    /// Goes past the comma before a member; before the first there is none.
    #[inline]
    pub(crate) fn pass_comma(&mut self) -> Option<()> {
        if self.opened { Some(()) } else { self.pass(b",") }
    }

    /// The bytes that come next, so many, without going past them.
    #[inline]
    pub(crate) fn peek<const LEN: usize>(&self) -> Option<&'a [u8; LEN]> {
        self.bytes.get(self.at..)?.first_chunk()
    }

    /// The same, going past them.
    #[inline]
    pub(crate) fn take<const LEN: usize>(&mut self) -> Option<&'a [u8; LEN]> {
        let bytes = self.peek()?;
        self.at += LEN;
        Some(bytes)
    }

    /// The rest of a text whose quote was passed, where it is closed and has no escapes.
    #[expect(clippy::inline_always, reason = "a call takes as long as reading a short text")]
    #[inline(always)]
    pub(crate) fn plain_text(&mut self) -> Option<&'a str> {
        let start = self.at;
        let end = start + ordinary_len(self.bytes.get(start..)?);
        self.at = end;
        self.pass(b"\"")?;
        self.checked(start, end)
    }

    /// The digits that come next, as the number that they write; `None` where there are none, where
    /// the first of several is zero, and beyond 64 bits.
    #[inline]
    pub(crate) fn plain_digits(&mut self) -> Option<i64> {
        let rest = self.bytes.get(self.at..)?;
        let mut number: u64 = 0;
        let mut len = 0;
        while len + 8 <= MAX_DIGITS
            && let Some(eight) = rest.get(len..).and_then(<[u8]>::first_chunk)
            && let Some(eight) = eight_digits(*eight)
        {
            number = number * 100_000_000 + eight;
            len += 8;
        }
        while let Some(digit) = rest.get(len).map(|byte| byte.wrapping_sub(b'0'))
            && digit < 10
            && len < MAX_DIGITS
        {
            number = number * 10 + u64::from(digit);
            len += 1;
        }
        if len == 0 || len > 1 && rest.first() == Some(&b'0') {
            return None;
        }
        self.at += len;
        i64::try_from(number).ok()
    }

    /// The whole number that comes next as a member of an object, where it is nothing but digits.
    #[inline]
    pub(crate) fn plain_number(&mut self) -> Option<i64> {
        let number = self.plain_digits()?;
        self.peek().filter(|[next]| matches!(next, b',' | b'}')).map(|_| number)
    }

    /// Goes past the value that comes next, whatever it is, checking its grammar.
    pub(crate) fn skip(&mut self) -> Result<()> {
        let outside = self.depth;
        // Whether each object or array between `outside` and here is an object.
        let mut objects: u128 = 0;
        loop {
            match self.shape()? {
                shape @ (Shape::Object | Shape::Array) => {
                    objects = objects << 1 | u128::from(shape == Shape::Object);
                    self.open()?;
                }
                Shape::Text => drop(self.raw_text()?),
                Shape::Number => drop(self.number()?),
                Shape::Bool => drop(self.bool()?),
                Shape::Null => self.literal(b"null")?,
            }
            loop {
                if self.depth == outside {
                    self.opened = false;
                    return Ok(());
                }
                if objects & 1 == 1 {
                    if self.next_member(b'}')? {
                        self.raw_text()?;
                        self.skip_space();
                        self.expect(b':')?;
                        break;
                    }
                } else if self.next_member(b']')? {
                    break;
                }
                objects >>= 1;
            }
        }
    }
}

/// Eight bytes of this value.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The number that eight bytes write, if all are digits. Neighbours are put together, then pairs, then
/// fours, all at once.
fn eight_digits(digits: [u8; 8]) -> Option<u64> {
    let word = u64::from_le_bytes(digits);
    let high_halves = each(0xf0);
    // Six more than a digit still begins as digits do, six more than what follows nine does not.
    let are_digits =
        word & high_halves == each(0x30) && word.wrapping_add(each(6)) & high_halves == each(0x30);
    if !are_digits {
        return None;
    }
    let ones = word & each(0x0f);
    let pairs = (ones.wrapping_mul(10) + (ones >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100) + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours.wrapping_mul(10_000) + (fours >> 32)) & 0xffff_ffff)
}

/// How many bytes from the start of `bytes` on are nothing but themselves in a text: no quote, no
/// backslash, no control character. Most texts are short, so eight are looked at together, at once
/// and in place.
#[inline]
fn ordinary_len(bytes: &[u8]) -> usize {
    // The high bit of each byte that is less than `limit`; above the first such byte it may err.
    let less = |word: u64, limit: u8| word.wrapping_sub(each(limit)) & !word & each(0x80);
    let (words, rest) = bytes.as_chunks::<8>();
    let mut len = 0;
    for word in words {
        let word = u64::from_le_bytes(*word);
        let found = less(word ^ each(b'"'), 1) | less(word ^ each(b'\\'), 1) | less(word, b' ');
        if found != 0 {
            return len + (found.trailing_zeros() / u8::BITS) as usize;
        }
        len += 8;
    }
    let is_special = |&byte: &u8| matches!(byte, b'"' | b'\\' | ..b' ');
    len + rest.iter().position(is_special).unwrap_or(rest.len())
}

/// The character that `rest`, which stands behind `\u`, names, perhaps with a second escape; and
/// what follows. `None` for half a surrogate pair.
fn code_point(rest: &[u8]) -> (Option<char>, &[u8]) {
    let unit = |digits: &[u8]| {
        std::str::from_utf8(digits).ok().and_then(|digits| u32::from_str_radix(digits, 16).ok())
    };
    let (first, after) = rest.split_at(rest.len().min(4));
    let first = unit(first).unwrap_or_default();
    if (0xd800..0xdc00).contains(&first)
        && let Some(digits) = after.strip_prefix(b"\\u").and_then(|after| after.get(..4))
        && let Some(second @ 0xdc00..0xe000) = unit(digits)
    {
        let scalar = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (char::from_u32(scalar), after.get(6..).unwrap_or_default());
    }
    (char::from_u32(first), after)
}

/// `bytes` without the byte order mark that some tools write. It says nothing in UTF-8, and stands
/// within a file where files were put together.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}
