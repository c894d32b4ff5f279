//! Numbers in as few bytes as they need, seven bits in each: how values wait on disk.

use std::io::{self, Read};

/// Writes a number.
pub(super) fn put(bytes: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push((number & 0x7f) as u8);
}

/// Reads a number.
pub(super) fn get(bytes: &mut impl Read) -> io::Result<u128> {
    let mut number = 0;
    let mut shift = 0;
    loop {
        let mut byte = [0];
        bytes.read_exact(&mut byte)?;
        let [byte] = byte;
        let bits = u128::from(byte & 0x7f);
        number |= bits.checked_shl(shift).ok_or_else(damaged)?;
        if byte < 0x80 {
            return Ok(number);
        }
        shift += 7;
    }
}

/// Reads a number of a smaller type.
pub(super) fn get_as<T: TryFrom<u128>>(bytes: &mut impl Read) -> io::Result<T> {
    T::try_from(get(bytes)?).map_err(|_| damaged())
}

/// Writes a text.
pub(super) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put(bytes, text.len() as u128);
    bytes.extend_from_slice(text.as_bytes());
}

/// Reads a text.
pub(super) fn get_text(bytes: &mut impl Read) -> io::Result<String> {
    let len: u64 = get_as(bytes)?;
    let mut text = String::new();
    let read = bytes.take(len).read_to_string(&mut text)?;
    if read as u64 == len { Ok(text) } else { Err(damaged()) }
}

/// What was written is not what is there.
pub(super) fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a temporary file was changed")
}
