//! One column of a row group on its way into a Parquet file. Its cells come in pieces; its pages
//! depend on the cells alone. Written here rather than by the library's Arrow writer, which hashes
//! each text of each row: here a name is a number all along, and is looked up once a partition.

use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ColumnChunkMetaDataBuilder};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use rustc_hash::FxHashMap;
use zstd::bulk::Compressor;

use super::encoding::{Whole, bit_width, write_differences, write_packed, write_runs};
use super::gathered::{Gathered, Values};
use super::rows::{BlindSpot, BlindSpots};
use crate::span::{Interner, SpanId, TraceId};

/// Rows in a row group, except the last of a file.
pub(super) const ROW_GROUP_ROWS: usize = 1 << 17;

/// The level of compression: the fastest.
pub(super) const ZSTD_LEVEL: i32 = 1;

/// A column of a row group, encoded.
pub(super) struct Chunk {
    /// Its pages.
    pub bytes: Bytes,
    /// What the file's end says of them.
    pub close: ColumnCloseResult,
}

/// The cells of one column that are not written yet.
pub(super) struct PendingColumn {
    description: ColumnDescPtr,
    rows: usize,
    /// Whether each row has a value, where the column may have nulls.
    present: Vec<bool>,
    values: Pending,
}

/// Values by the shape in which they are written.
enum Pending {
    None,
    Int64(Vec<i64>),
    Int32(Vec<i32>),
    Float64(Vec<f64>),
    Boolean(Vec<bool>),
    TraceId(Vec<TraceId>),
    SpanId(Vec<SpanId>),
    Text(Box<Texts>),
    BlindSpots(Vec<BlindSpots>),
}

/// Texts, each distinct one kept once, in the order in which they were first met.
#[derive(Default)]
struct Texts {
    numbers: FxHashMap<Box<str>, u32>,
    dictionary: Dictionary,
    /// Which text each value is.
    values: Vec<u32>,
}

/// The values that a chunk's rows name by number, as its first page holds them. Of ids, one that comes
/// again after others stands there again.
#[derive(Default)]
struct Dictionary {
    bytes: Vec<u8>,
    len: u32,
}

/// Which number in a chunk's dictionary a string of a partition has.
#[derive(Default)]
pub(super) struct Renumbering {
    /// The strings that partitions share, whose numbers hold from one to the next.
    shared: Option<Arc<Interner>>,
    numbers: Vec<Option<u32>>,
}

impl Renumbering {
    /// Begins a partition with these strings.
    pub(super) fn begin(&mut self, strings: &Interner) {
        let is_same =
            |one: &Arc<Interner>| strings.shared().is_some_and(|shared| Arc::ptr_eq(one, shared));
        match self.shared.as_ref().filter(|one| is_same(one)) {
            Some(shared) => self.numbers.truncate(shared.len()),
            None => self.numbers.clear(),
        }
        self.shared = strings.shared().cloned();
    }

    /// Begins another chunk.
    pub(super) fn clear(&mut self) {
        self.numbers.clear();
    }
}

impl Dictionary {
    /// Adds a text and tells its number.
    fn push(&mut self, text: &[u8]) -> Result<u32, ParquetError> {
        write_text(text, &mut self.bytes)?;
        self.len += 1;
        Ok(self.len - 1)
    }

    /// The numbers of values as a data page holds them.
    fn encode(self, numbers: &[u32]) -> Body {
        if numbers.is_empty() {
            return Body::plain(Vec::new());
        }
        let width = bit_width(u64::from(self.len.saturating_sub(1)));
        let mut bytes = vec![u8::try_from(width).unwrap_or(u8::MAX)];
        write_runs(numbers, width, &mut bytes);
        Body { bytes, encoding: Encoding::RLE_DICTIONARY, dictionary: Some(self) }
    }
}

impl Texts {
    /// Adds the string `number` of a partition, whose text is looked up only once.
    fn push<'t>(
        &mut self,
        number: usize,
        known: &mut Renumbering,
        text: impl FnOnce() -> &'t str,
    ) -> Result<(), ParquetError> {
        let value = match known.numbers.get(number) {
            Some(&Some(value)) => value,
            _ => self.learn(number, known, text())?,
        };
        self.values.push(value);
        Ok(())
    }

    #[cold]
    fn learn(
        &mut self,
        number: usize,
        known: &mut Renumbering,
        text: &str,
    ) -> Result<u32, ParquetError> {
        let value = self.number(text)?;
        if known.numbers.len() <= number {
            known.numbers.resize(number + 1, None);
        }
        if let Some(known) = known.numbers.get_mut(number) {
            *known = Some(value);
        }
        Ok(value)
    }

    fn number(&mut self, text: &str) -> Result<u32, ParquetError> {
        if let Some(&number) = self.numbers.get(text) {
            return Ok(number);
        }
        let number = self.dictionary.push(text.as_bytes())?;
        self.numbers.insert(text.into(), number);
        Ok(number)
    }
}

impl PendingColumn {
    /// Without cells.
    pub(super) fn new(description: ColumnDescPtr) -> Self {
        Self { description, rows: 0, present: Vec::new(), values: Pending::None }
    }

    /// How many rows it has.
    pub(super) const fn rows(&self) -> usize {
        self.rows
    }

    /// Takes in cells of a partition. `known` is kept from one piece of the partition to the next.
    pub(super) fn append(
        &mut self,
        rows: usize,
        piece: &Gathered,
        strings: &Interner,
        known: &mut Renumbering,
    ) -> Result<(), ParquetError> {
        self.rows += rows;
        if let Some(present) = &piece.present {
            self.present.extend_from_slice(present);
        }
        if matches!(self.values, Pending::None) {
            self.values = Pending::for_values(&piece.values, ROW_GROUP_ROWS);
        }
        match (&mut self.values, &piece.values) {
            (Pending::Int64(all), Values::Int64(more)) => all.extend_from_slice(more),
            (Pending::Int32(all), Values::Int32(more)) => all.extend_from_slice(more),
            (Pending::Float64(all), Values::Float64(more)) => all.extend_from_slice(more),
            (Pending::Boolean(all), Values::Boolean(more)) => all.extend_from_slice(more),
            (Pending::TraceId(all), Values::TraceId(more)) => all.extend_from_slice(more),
            (Pending::SpanId(all), Values::SpanId(more)) => all.extend_from_slice(more),
            (Pending::BlindSpots(all), Values::BlindSpots(more)) => all.extend_from_slice(more),
            (Pending::Text(all), Values::Name(more)) => {
                all.values.reserve(more.len());
                for &name in more {
                    all.push(name.index(), known, || strings.get(name))?;
                }
            }
            (Pending::Text(all), Values::Word(more, text)) => {
                all.values.reserve(more.len());
                for &word in more {
                    all.push(word as usize, known, || text(word))?;
                }
            }
            _ => return Err(ParquetError::General("a column changed its type".to_owned())),
        }
        Ok(())
    }

    /// The chunk of the cells so far, of which none is left. `zstd` is made where there is none yet,
    /// and kept from chunk to chunk.
    pub(super) fn encode(
        &mut self,
        zstd: &mut Option<Compressor<'static>>,
    ) -> Result<Chunk, ParquetError> {
        let rows = std::mem::take(&mut self.rows);
        let present = std::mem::take(&mut self.present);
        let nulls = present.iter().fold(0, |nulls, &present| nulls + u64::from(!present));
        let values = std::mem::replace(&mut self.values, Pending::None);
        let statistics = values.statistics(nulls);

        let mut page = Vec::new();
        let levels = if let Pending::BlindSpots(sets) = &values {
            write_list_levels(sets, &mut page)?
        } else {
            if self.description.max_def_level() > 0 {
                write_levels(&present, 1, &mut page)?;
            }
            rows
        };
        let levels = u32::try_from(levels).map_err(too_much)?;
        let (bytes, metadata) =
            write_pages(&self.description, page, levels, values.encode()?, zstd)?;
        let close = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: rows as u64,
            metadata: metadata.set_statistics(statistics).build()?,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok(Chunk { bytes: Bytes::from(bytes), close })
    }
}

/// Writes a chunk's pages, `page` being what comes before the values, and what the file's end says
/// of them.
fn write_pages(
    description: &ColumnDescPtr,
    mut page: Vec<u8>,
    num_values: u32,
    body: Body,
    zstd: &mut Option<Compressor<'static>>,
) -> Result<(Vec<u8>, ColumnChunkMetaDataBuilder), ParquetError> {
    page.extend_from_slice(&body.bytes);
    let zstd = if body.is_mostly_text() { Some(compressor(zstd)?) } else { None };
    let compression = match zstd {
        Some(_) => Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?),
        None => Compression::UNCOMPRESSED,
    };
    let mut pages = Pages { sink: TrackedWrite::new(Vec::new()), zstd, uncompressed: 0 };
    let mut encodings = vec![Encoding::RLE, body.encoding];
    let mut data_at = 0;
    if let Some(dictionary) = body.dictionary {
        encodings.push(Encoding::PLAIN);
        let num_values = dictionary.len;
        data_at = pages.write(dictionary.bytes, |buf| Page::DictionaryPage {
            buf,
            num_values,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        })?;
    }
    let len = pages.write(page, |buf| Page::DataPage {
        buf,
        num_values,
        encoding: body.encoding,
        def_level_encoding: Encoding::RLE,
        rep_level_encoding: Encoding::RLE,
        statistics: None,
    })?;
    let metadata = ColumnChunkMetaData::builder(description.clone())
        .set_compression(compression)
        .set_encodings(encodings)
        .set_num_values(i64::from(num_values))
        .set_total_uncompressed_size(i64::try_from(pages.uncompressed).map_err(too_much)?)
        .set_total_compressed_size(i64::try_from(len).map_err(too_much)?)
        .set_dictionary_page_offset((data_at > 0).then_some(0))
        .set_data_page_offset(i64::try_from(data_at).map_err(too_much)?);
    Ok((pages.sink.into_inner()?, metadata))
}

/// The pages of one chunk.
struct Pages<'z> {
    sink: TrackedWrite<Vec<u8>>,
    /// `None` where the pages are not compressed.
    zstd: Option<&'z mut Compressor<'static>>,
    uncompressed: usize,
}

impl Pages<'_> {
    /// Writes a page of these bytes and tells the length of all pages so far.
    fn write(
        &mut self,
        bytes: Vec<u8>,
        page: impl FnOnce(Bytes) -> Page,
    ) -> Result<usize, ParquetError> {
        let len = bytes.len();
        let bytes = match &mut self.zstd {
            Some(zstd) => zstd.compress(&bytes)?,
            None => bytes,
        };
        let page = CompressedPage::new(page(Bytes::from(bytes)), len);
        let written = SerializedPageWriter::new(&mut self.sink).write_page(page)?;
        self.uncompressed += written.uncompressed_size;
        Ok(self.sink.bytes_written())
    }
}

/// The one that is kept, or a new one.
fn compressor<'a>(
    kept: &'a mut Option<Compressor<'static>>,
) -> Result<&'a mut Compressor<'static>, ParquetError> {
    Ok(match kept {
        Some(zstd) => zstd,
        None => kept.insert(Compressor::new(ZSTD_LEVEL)?),
    })
}

/// The values of a chunk as its pages hold them.
struct Body {
    bytes: Vec<u8>,
    encoding: Encoding,
    dictionary: Option<Dictionary>,
}

impl Body {
    /// Whether compression pays: packed numbers would lose a twentieth of their bytes by it.
    fn is_mostly_text(&self) -> bool {
        match &self.dictionary {
            Some(dictionary) => self.bytes.len() < dictionary.bytes.len(),
            None => matches!(self.encoding, Encoding::PLAIN | Encoding::DELTA_LENGTH_BYTE_ARRAY),
        }
    }

    fn plain(bytes: Vec<u8>) -> Self {
        Self { bytes, encoding: Encoding::PLAIN, dictionary: None }
    }
}

impl Pending {
    /// Room for as many values as a row group may have: what is not used is never touched.
    fn for_values(values: &Values, at_most: usize) -> Self {
        match values {
            Values::Int64(_) => Self::Int64(Vec::with_capacity(at_most)),
            Values::Int32(_) => Self::Int32(Vec::with_capacity(at_most)),
            Values::Float64(_) => Self::Float64(Vec::with_capacity(at_most)),
            Values::Boolean(_) => Self::Boolean(Vec::with_capacity(at_most)),
            Values::TraceId(_) => Self::TraceId(Vec::with_capacity(at_most)),
            Values::SpanId(_) => Self::SpanId(Vec::with_capacity(at_most)),
            Values::Name(_) | Values::Word(..) => Self::Text(Box::new(Texts {
                values: Vec::with_capacity(at_most),
                ..Texts::default()
            })),
            Values::BlindSpots(_) => Self::BlindSpots(Vec::with_capacity(at_most)),
        }
    }

    fn encode(self) -> Result<Body, ParquetError> {
        match self {
            Self::None => Ok(Body::plain(Vec::new())),
            Self::Int64(values) => Ok(encode_whole(&values)),
            Self::Int32(values) => Ok(encode_whole(&values)),
            Self::Float64(values) => {
                Ok(Body::plain(values.iter().flat_map(|value| value.to_le_bytes()).collect()))
            }
            Self::Boolean(values) => {
                let mut bytes = Vec::new();
                write_packed(values.into_iter().map(u64::from), 1, &mut bytes);
                Ok(Body::plain(bytes))
            }
            Self::TraceId(ids) => encode_ids(&ids, TraceId::hex),
            Self::SpanId(ids) => encode_ids(&ids, SpanId::hex),
            Self::Text(texts) => Ok(texts.dictionary.encode(&texts.values)),
            Self::BlindSpots(sets) => {
                let mut dictionary = Dictionary::default();
                for spot in BlindSpot::ALL {
                    dictionary.push(spot.name().as_bytes())?;
                }
                let spots = sets.iter().flat_map(|set| set.iter());
                Ok(dictionary.encode(&spots.map(|spot| spot as u32).collect::<Vec<_>>()))
            }
        }
    }

    /// The bounds of numbers. Those of names and ids would tell nothing: rows go by traces, whose
    /// order is not that of texts.
    fn statistics(&self, nulls: u64) -> Statistics {
        let nulls = Some(nulls);
        match self {
            Self::Int64(values) => {
                let (min, max) = bounds(values).unzip();
                Statistics::int64(min, max, None, nulls, false)
            }
            Self::Int32(values) => {
                let (min, max) = bounds(values).unzip();
                Statistics::int32(min, max, None, nulls, false)
            }
            Self::Float64(_) => Statistics::double(None, None, None, nulls, false),
            Self::Boolean(_) => Statistics::boolean(None, None, None, nulls, false),
            Self::BlindSpots(sets) => {
                // An empty list counts as a null among its items.
                let empty = sets.iter().filter(|set| set.iter().next().is_none());
                Statistics::byte_array(None, None, None, Some(empty.count() as u64), false)
            }
            _ => Statistics::byte_array(None, None, None, nulls, false),
        }
    }
}

/// The least and the greatest.
fn bounds<T: Copy + Ord>(values: &[T]) -> Option<(T, T)> {
    let (&first, rest) = values.split_first()?;
    Some(rest.iter().fold((first, first), |(min, max), &value| (min.min(value), max.max(value))))
}

/// Whole numbers by their differences: times lie close to one another, and most zeros vanish.
fn encode_whole<T: Whole>(values: &[T]) -> Body {
    let mut bytes = Vec::new();
    write_differences(values, &mut bytes);
    let encoding = if values.is_empty() { Encoding::PLAIN } else { Encoding::DELTA_BINARY_PACKED };
    Body { bytes, encoding, dictionary: None }
}

/// Ids one by one, or, where rows of one id follow one another, by the number of the run.
fn encode_ids<T: Copy + PartialEq, const LEN: usize>(
    ids: &[T],
    hex: impl Fn(T) -> [u8; LEN],
) -> Result<Body, ParquetError> {
    let runs = ids.chunk_by(T::eq).count();
    if ids.len() < 2 * runs {
        // Lengths apart: between digits they would look to zstd like something that repeats.
        let mut bytes = Vec::with_capacity(ids.len() * (LEN + 1));
        let lengths = vec![i32::try_from(LEN).map_err(too_much)?; ids.len()];
        write_differences(&lengths, &mut bytes);
        let digits_at = bytes.len();
        bytes.resize(digits_at + ids.len() * LEN, 0);
        let (digits, _) = bytes.get_mut(digits_at..).unwrap_or_default().as_chunks_mut::<LEN>();
        for (digits, &id) in digits.iter_mut().zip(ids) {
            *digits = hex(id);
        }
        return Ok(Body { bytes, encoding: Encoding::DELTA_LENGTH_BYTE_ARRAY, dictionary: None });
    }
    let mut dictionary = Dictionary::default();
    let mut numbers = Vec::with_capacity(ids.len());
    for run in ids.chunk_by(T::eq) {
        if let Some(&id) = run.first() {
            let number = dictionary.push(&hex(id))?;
            numbers.resize(numbers.len() + run.len(), number);
        }
    }
    Ok(dictionary.encode(&numbers))
}

/// Appends a text as plain pages hold it.
fn write_text(text: &[u8], out: &mut Vec<u8>) -> Result<(), ParquetError> {
    let len = u32::try_from(text.len()).map_err(too_much)?;
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(text);
    Ok(())
}

/// Appends levels and before them how many bytes they take.
fn write_levels<T>(levels: &[T], width: u32, out: &mut Vec<u8>) -> Result<(), ParquetError>
where
    T: Copy + PartialEq + Into<u32>,
{
    let mut bytes = Vec::new();
    write_runs(levels, width, &mut bytes);
    out.extend_from_slice(&u32::try_from(bytes.len()).map_err(too_much)?.to_le_bytes());
    out.extend_from_slice(&bytes);
    Ok(())
}

/// Appends the levels of lists, of which an empty one has one too, and tells how many there are.
fn write_list_levels(sets: &[BlindSpots], out: &mut Vec<u8>) -> Result<usize, ParquetError> {
    let (mut repetition, mut definition) = (Vec::new(), Vec::new());
    for set in sets {
        let len = set.iter().count();
        definition.extend(std::iter::repeat_n(if len == 0 { 0_u8 } else { 2 }, len.max(1)));
        repetition.push(false);
        repetition.resize(definition.len(), true);
    }
    write_levels(&repetition, 1, out)?;
    write_levels(&definition, 2, out)?;
    Ok(definition.len())
}

/// More than a file of this format can hold at one place.
fn too_much(error: std::num::TryFromIntError) -> ParquetError {
    ParquetError::External(Box::new(error))
}
