//! Spans that memory does not hold: compressed columns in one file without a name, which is gone
//! with the process however that ends.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::scatter::{PARTITIONS, Range, Scattered};
use crate::span::{Span, Spans};
use crate::tables::format::FormatError;
use crate::tables::spans::{pack, unpack};

/// Some spans of a partition.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// Where in the file.
    byte: u64,
    /// How many bytes.
    len: usize,
    /// How many spans.
    spans: u64,
}

/// The file, and what lies where in it.
#[derive(Debug)]
pub(super) struct Spill {
    file: Mutex<File>,
    /// The blocks of each partition.
    blocks: Vec<Vec<Block>>,
    len: u64,
}

impl Spill {
    /// An empty file in `folder`.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        let file = Mutex::new(tempfile::tempfile_in(folder)?);
        Ok(Self { file, blocks: vec![Vec::new(); PARTITIONS], len: 0 })
    }

    /// Adds spans.
    pub(super) fn add(&mut self, packed: Vec<Packed>) -> io::Result<()> {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        for Packed { partition, bytes, spans } in packed {
            file.write_all(&bytes)?;
            let block = Block { byte: self.len, len: bytes.len(), spans };
            self.len += bytes.len() as u64;
            if let Some(blocks) = self.blocks.get_mut(partition) {
                blocks.push(block);
            }
        }
        Ok(())
    }

    /// How many spans each partition has.
    pub(super) fn spans(&self) -> impl Iterator<Item = u64> {
        self.blocks.iter().map(|blocks| blocks.iter().map(|block| block.spans).sum())
    }

    /// The spans of a partition whose traces are in `range`.
    pub(super) fn load(&self, partition: usize, range: Range) -> io::Result<Spans> {
        let mut spans = Spans::default();
        let Spans { strings, rows } = &mut spans;
        for block in self.blocks.get(partition).into_iter().flatten() {
            let mut packed = vec![0; block.len];
            {
                let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(block.byte))?;
                file.read_exact(&mut packed)?;
            }
            let keep = |span: Span| {
                if range.contains(span.trace_id) {
                    rows.push(span);
                }
            };
            unpack(&packed, strings, keep).map_err(as_io)?;
        }
        Ok(spans)
    }
}

/// Some spans of a partition, ready to be written.
#[derive(Debug)]
pub(super) struct Packed {
    partition: usize,
    bytes: Vec<u8>,
    spans: u64,
}

/// Packs all spans of `scattered`, partition by partition.
pub(super) fn packed(scattered: Scattered) -> io::Result<Vec<Packed>> {
    let Scattered { strings, partitions } = scattered;
    let partitions = partitions.into_iter().enumerate().filter(|(_, rows)| !rows.is_empty());
    partitions
        .map(|(partition, rows)| {
            let bytes = pack(&rows, &strings).map_err(as_io)?;
            Ok(Packed { partition, bytes, spans: rows.len() as u64 })
        })
        .collect()
}

fn as_io(error: FormatError) -> io::Error {
    match error {
        FormatError::Io(error) => error,
        other => io::Error::other(other),
    }
}
