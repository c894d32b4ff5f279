//! What the pages of a Parquet file say of themselves, told without the library: it makes room for
//! what a page claims to hold before it looks at its bytes, and ends the program where there is
//! not so much.

use parquet::basic::Compression;
use parquet::file::metadata::ColumnChunkMetaData;

/// The most bytes that one can become by compressions of [`Page::claims_too_much`]; LZ4's record.
const MAX_RATIO: u64 = 255;

/// What a page may claim beyond that, for those that hold next to nothing.
const SLACK_BYTES: u64 = 1 << 16;

/// Structs within the header of a page: statistics within one of data.
const MAX_DEPTH: usize = 8;

/// The encodings of texts that begin with how many there are: lengths apart from the texts, and
/// texts that share their beginnings.
const DELTA_TEXTS: [i64; 2] = [6, 7];

/// The header of a page, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    /// What its bytes become.
    claimed_len: u64,
    /// How many bytes follow it.
    compressed_len: u64,
    /// How many values it claims to hold, nulls among them.
    pub claimed_values: u64,
    /// How its values are encoded, by Parquet's number.
    encoding: Option<i64>,
    /// Its own length.
    len: usize,
}

/// The pages of `chunk`, which is part of the file `bytes`, up to the first that is damaged.
pub(super) fn pages(bytes: &[u8], chunk: &ColumnChunkMetaData) -> impl Iterator<Item = Page> {
    let (start, len) = chunk.byte_range();
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    let mut rest = bytes.get(start..).unwrap_or_default();
    rest = rest.get(..len).unwrap_or(rest);
    std::iter::from_fn(move || {
        let page = Page::read(rest)?;
        let next = usize::try_from(page.compressed_len).ok();
        let next = next.and_then(|len| page.len.checked_add(len));
        rest = next.and_then(|next| rest.get(next..)).unwrap_or_default();
        Some(page)
    })
}

impl Page {
    /// Whether it claims to become more than it can, by a compression for which the library fills
    /// the room beforehand.
    pub(super) fn claims_too_much(&self, compression: Compression) -> bool {
        let fills_room =
            matches!(compression, Compression::SNAPPY | Compression::LZ4 | Compression::LZ4_RAW);
        fills_room && self.compressed_len.saturating_mul(MAX_RATIO) + SLACK_BYTES < self.claimed_len
    }

    /// Whether it holds texts that begin with how many there are, for all of which the library
    /// makes room.
    pub(super) fn holds_delta_texts(&self) -> bool {
        self.encoding.is_some_and(|encoding| DELTA_TEXTS.contains(&encoding))
    }

    /// Reads the header at the start of `bytes`: a struct in Thrift's compact protocol.
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut thrift = Thrift { bytes, at: 0 };
        let (mut claimed_len, mut compressed_len) = (None, None);
        let (mut claimed_values, mut encoding) = (None, None);
        // The field last read of each struct that is not at its end.
        let mut path = vec![0_i64];
        while let Some(id) = path.last_mut() {
            let field = thrift.byte()?;
            if field == 0 {
                path.pop();
                continue;
            }
            *id = match field >> 4 {
                0 => thrift.integer()?,
                step => id.checked_add(i64::from(step))?,
            };
            match field & 0xf {
                // A truth is told by its type.
                1 | 2 => {}
                3 => thrift.skip(1)?,
                4..=6 => {
                    let value = thrift.integer()?;
                    match path.as_slice() {
                        [2] => claimed_len = Some(value),
                        [3] => compressed_len = Some(value),
                        // Of data in both versions, and of a dictionary.
                        [5 | 7 | 8, 1] => claimed_values = Some(value),
                        [5, 2] | [8, 4] => encoding = Some(value),
                        _ => {}
                    }
                }
                7 => thrift.skip(8)?,
                8 => {
                    let len = thrift.varint()?;
                    thrift.skip(usize::try_from(len).ok()?)?;
                }
                12 if path.len() < MAX_DEPTH => path.push(0),
                // No header of a page holds lists, or structs any deeper.
                _ => return None,
            }
        }
        let count = |value: Option<i64>| u64::try_from(value?).ok();
        Some(Self {
            claimed_len: count(claimed_len)?,
            compressed_len: count(compressed_len)?,
            claimed_values: count(claimed_values).unwrap_or(0),
            encoding,
            len: thrift.at,
        })
    }
}

/// The values of a struct, one after another.
struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Thrift<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied()?;
        self.at += 1;
        Some(byte)
    }

    fn skip(&mut self, len: usize) -> Option<()> {
        self.at = self.at.checked_add(len).filter(|&at| at <= self.bytes.len())?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// A signed integer, of which the sign is the last bit.
    fn integer(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }
}
