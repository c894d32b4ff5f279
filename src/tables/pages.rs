//! What the pages of a Parquet file say of themselves, told without the library: it makes room for
//! what a page claims to hold before it looks at its bytes, and ends the program where there is
//! not so much.

use parquet::basic::Compression;
use parquet::file::metadata::ColumnChunkMetaData;

use super::thrift::{PAGE, Thrift};

/// The most bytes that one can become by compressions of [`Page::claims_too_much`]; LZ4's record.
const MAX_RATIO: u64 = 255;

/// What a page may claim beyond that, for those that hold next to nothing.
const SLACK_BYTES: u64 = 1 << 16;

/// The encodings of texts that begin with how many there are: lengths apart from the texts, and
/// texts that share their beginnings.
const DELTA_TEXTS: [u64; 2] = [6, 7];

/// Thrift's number for structs.
const STRUCT: u8 = 12;

/// The header of a page, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    /// What its bytes become.
    claimed_len: u64,
    /// How many bytes follow it.
    compressed_len: u64,
    /// How many values it claims to hold, nulls among them.
    pub claimed_values: u64,
    /// Whether its texts begin with how many there are, for all of which the library makes room.
    pub holds_delta_texts: bool,
    /// Its own length.
    len: usize,
}

/// The pages of `chunk`, which is part of the file `bytes`; `None` for one that is damaged, which
/// is the last.
pub(super) fn pages(
    bytes: &[u8],
    chunk: &ColumnChunkMetaData,
) -> impl Iterator<Item = Option<Page>> {
    let (start, len) = chunk.byte_range();
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    let mut rest = bytes.get(start..).unwrap_or_default();
    rest = rest.get(..len).unwrap_or(rest);
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let page = Page::read(rest).and_then(|page| {
            let next = page.len.checked_add(usize::try_from(page.compressed_len).ok()?)?;
            Some((page, rest.get(next..)?))
        });
        rest = page.map_or(&[], |(_, behind)| behind);
        Some(page.map(|(page, _)| page))
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

    /// Reads the header at the start of `bytes`.
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut thrift = Thrift { bytes, at: 0 };
        thrift.check(PAGE, 0)?;
        thrift.at = 0;
        let (mut claimed_len, mut compressed_len) = (None, None);
        let (mut claimed_values, mut holds_delta_texts) = (0, false);
        // The field last read of each struct that is not at its end.
        let mut path = vec![0_i64];
        while let Some(id) = path.last_mut() {
            let field = thrift.byte()?;
            let kind = field & 0xf;
            if kind == 0 {
                path.pop();
                continue;
            }
            *id = match field >> 4 {
                0 => thrift.integer()?,
                step => id.checked_add(i64::from(step))?,
            };
            match kind {
                // A truth is told by its type.
                1 | 2 => {}
                3 => thrift.skip(1)?,
                4..=6 => {
                    let value = thrift.integer()?;
                    let size = i32::try_from(value).ok().and_then(|size| u64::try_from(size).ok());
                    match path.as_slice() {
                        [2] => claimed_len = Some(size?),
                        [3] => compressed_len = Some(size?),
                        // Of data in both versions, and of a dictionary.
                        [5 | 7 | 8, 1] => claimed_values = size?.max(claimed_values),
                        [5, 2] | [8, 4] => holds_delta_texts |= DELTA_TEXTS.contains(&size?),
                        _ => {}
                    }
                }
                7 => thrift.skip(8)?,
                8 => {
                    let len = thrift.varint()?;
                    thrift.skip(usize::try_from(len).ok()?)?;
                }
                STRUCT => path.push(0),
                _ => return None,
            }
        }
        Some(Self {
            claimed_len: claimed_len?,
            compressed_len: compressed_len?,
            claimed_values,
            holds_delta_texts,
            len: thrift.at,
        })
    }
}
