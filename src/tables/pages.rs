//! What the pages of a Parquet file say of their sizes. The library makes room for what a page of
//! some compressions claims to become before it looks at its bytes; a lie would cost gigabytes.

use parquet::basic::Compression;
use parquet::file::metadata::ColumnChunkMetaData;

/// The most bytes that one can become by these compressions; LZ4 holds the record.
const MAX_RATIO: u64 = 255;

/// What a page may claim beyond that, for those that hold next to nothing.
const SLACK_BYTES: u64 = 1 << 16;

/// Whether a page of `chunk`, which is part of the file `bytes`, claims more than it can hold.
pub(super) fn claims_too_much(bytes: &[u8], chunk: &ColumnChunkMetaData) -> bool {
    let makes_room_first = matches!(
        chunk.compression(),
        Compression::SNAPPY | Compression::LZ4 | Compression::LZ4_RAW
    );
    let (start, len) = chunk.byte_range();
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    let mut rest = bytes.get(start..).unwrap_or_default();
    rest = rest.get(..len).unwrap_or(rest);
    while makes_room_first && let Some(page) = PageHeader::read(rest) {
        if page.compressed_len.saturating_mul(MAX_RATIO) + SLACK_BYTES < page.claimed_len {
            return true;
        }
        let next = usize::try_from(page.compressed_len).ok();
        let next = next.and_then(|len| page.len.checked_add(len));
        rest = next.and_then(|next| rest.get(next..)).unwrap_or_default();
    }
    false
}

/// The header of a page, as far as it matters here.
struct PageHeader {
    /// What its bytes become.
    claimed_len: u64,
    /// How many bytes follow it.
    compressed_len: u64,
    /// Its own length.
    len: usize,
}

impl PageHeader {
    /// Reads the header at the start of `bytes`: a struct in Thrift's compact protocol.
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut thrift = Thrift { bytes, at: 0 };
        let (mut claimed_len, mut compressed_len) = (None, None);
        let mut id = 0_i64;
        let mut depth = 1_usize;
        while depth > 0 {
            let field = thrift.byte()?;
            if field == 0 {
                depth -= 1;
                continue;
            }
            let field_id = match field >> 4 {
                0 => thrift.integer()?,
                step => id.checked_add(i64::from(step))?,
            };
            // Those of structs within do not matter.
            if depth == 1 {
                id = field_id;
            }
            match field & 0xf {
                // A truth is told by its type.
                1 | 2 => {}
                3 => thrift.skip(1)?,
                4..=6 => {
                    let value = thrift.integer()?;
                    match id {
                        2 if depth == 1 => claimed_len = Some(value),
                        3 if depth == 1 => compressed_len = Some(value),
                        _ => {}
                    }
                }
                7 => thrift.skip(8)?,
                8 => {
                    let len = thrift.varint()?;
                    thrift.skip(usize::try_from(len).ok()?)?;
                }
                12 => depth += 1,
                // No header of a page holds lists.
                _ => return None,
            }
        }
        let len = |value: Option<i64>| u64::try_from(value?).ok();
        Some(Self {
            claimed_len: len(claimed_len)?,
            compressed_len: len(compressed_len)?,
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
