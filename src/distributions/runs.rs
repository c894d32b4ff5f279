//! Values that memory does not hold: sorted runs in a file without a name, which is gone with the
//! process however that ends. Each time that memory is full, the runs of all samples are written, and
//! behind them whose they are, in the order of the table's rows; so that rows come out one after
//! another, however many there are, of which each asks its own runs alone.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::figures::Totals;
use super::parcel::{
    Packed, Parcel, Precision, Shape, Step, Steps, get_shape, get_subject, get_totals, put_shape,
    put_subject, put_totals,
};
use super::sample::{Sample, weight_of};
use super::subject::Subject;
use super::varint::{damaged, get_as, put};
use crate::stats::Weight;

/// How much of a run is read at a time.
const BUFFER_BYTES: usize = 1 << 14;

/// A part of the file.
#[derive(Clone, Copy, Debug)]
struct Part {
    byte: u64,
    len: u64,
}

/// The file, and where in it each writing says what it wrote.
#[derive(Debug)]
pub(super) struct Spilled {
    file: Arc<Mutex<File>>,
    len: u64,
    contents: Vec<Part>,
}

/// Some values of one sample, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    part: Part,
    shape: Shape,
}

impl Spilled {
    /// An empty file in `folder`.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        let file = Arc::new(Mutex::new(tempfile::tempfile_in(folder)?));
        Ok(Self { file, len: 0, contents: Vec::new() })
    }

    /// Writes samples, which come in the order of their subjects.
    pub(super) fn add(&mut self, samples: Vec<(Subject<String>, Vec<Sample>)>) -> io::Result<()> {
        let pack = |(subject, samples)| Parcel::pack(subject, samples, Precision::Exact);
        self.add_parcels(samples.into_par_iter().map(pack).collect())
    }

    /// Writes the same as it was packed.
    pub(super) fn add_parcels(&mut self, parcels: Vec<Parcel>) -> io::Result<()> {
        let mut contents = Vec::new();
        for Parcel { subject, samples } in parcels {
            put_subject(&mut contents, &subject);
            put(&mut contents, samples.len() as u128);
            for Packed { totals, shape, bytes } in samples {
                let part = self.write(&bytes)?;
                put_totals(&mut contents, &totals);
                put_shape(&mut contents, shape);
                put(&mut contents, part.byte.into());
                put(&mut contents, part.len.into());
            }
        }
        let part = self.write(&contents)?;
        self.contents.push(part);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<Part> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(bytes)?;
        let part = Part { byte: self.len, len: bytes.len() as u64 };
        self.len += part.len;
        Ok(part)
    }

    /// What was written, to be read subject by subject.
    pub(super) fn contents(&self) -> io::Result<Contents> {
        let writing = |&part: &Part| Writing { bytes: self.reader(part), samples: Vec::new() };
        let writings = self.contents.iter().map(writing).collect();
        let mut contents = Contents { writings, next: BinaryHeap::new() };
        for writing in 0..self.contents.len() {
            contents.advance(writing)?;
        }
        Ok(contents)
    }

    /// All values of some runs in order, each with the weight that is known of it.
    pub(super) fn merged(&self, runs: &[Run]) -> io::Result<Merged> {
        let mut merged = Merged { runs: Vec::with_capacity(runs.len()), next: BinaryHeap::new() };
        for run in runs.iter().filter(|run| run.part.len > 0) {
            let steps = Steps::new(self.reader(run.part), run.shape);
            merged.runs.push(steps);
            merged.advance(merged.runs.len() - 1)?;
        }
        Ok(merged)
    }

    fn reader(&self, part: Part) -> BufReader<PartReader> {
        BufReader::with_capacity(BUFFER_BYTES, PartReader { file: Arc::clone(&self.file), part })
    }
}

/// Reads a part of the file from wherever it is.
#[derive(Debug)]
struct PartReader {
    file: Arc<Mutex<File>>,
    part: Part,
}

impl Read for PartReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.part.len).unwrap_or(usize::MAX).min(buffer.len());
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.part.byte))?;
        let read = file.read(buffer.get_mut(..most).unwrap_or_default())?;
        if read == 0 && most > 0 {
            return Err(damaged());
        }
        self.part.byte += read as u64;
        self.part.len -= read as u64;
        Ok(read)
    }
}

/// The values of several runs in order.
pub(super) struct Merged {
    runs: Vec<Steps<BufReader<PartReader>>>,
    /// The next of each run.
    next: BinaryHeap<Reverse<(Step, usize)>>,
}

impl Merged {
    /// The next value, its weight, and how many there are of it.
    pub(super) fn next(&mut self) -> io::Result<Option<(i64, Option<Weight>, u64)>> {
        let Some(Reverse((step, run))) = self.next.pop() else { return Ok(None) };
        self.advance(run)?;
        Ok(Some((step.value, weight_of(step.weight), step.count)))
    }

    fn advance(&mut self, run: usize) -> io::Result<()> {
        if let Some(steps) = self.runs.get_mut(run)
            && let Some(step) = steps.next()?
        {
            self.next.push(Reverse((step, run)));
        }
        Ok(())
    }
}

/// What all writings say, subject by subject.
#[derive(Debug)]
pub(super) struct Contents {
    writings: Vec<Writing>,
    /// The next subject of each.
    next: BinaryHeap<Reverse<(Subject<String>, usize)>>,
}

/// What one writing says.
#[derive(Debug)]
struct Writing {
    bytes: BufReader<PartReader>,
    /// Of each measure of its next subject how much there is, and where.
    samples: Vec<(Totals, Run)>,
}

/// How much there is of one measure of a subject, and where.
type Held = (Totals, Vec<Run>);

impl Contents {
    /// The next subject, and of each of its measures how much there is, and where.
    pub(super) fn next(&mut self) -> io::Result<Option<(Subject<String>, Vec<Held>)>> {
        let Some(Reverse((subject, first))) = self.next.pop() else { return Ok(None) };
        let mut all: Vec<Held> = Vec::new();
        let mut writing = first;
        loop {
            let samples = self.advance(writing)?;
            all.resize_with(samples.len(), Default::default);
            for ((totals, runs), (more, run)) in all.iter_mut().zip(samples) {
                totals.merge(more);
                runs.push(run);
            }
            match self.next.peek() {
                Some(Reverse((next, other))) if *next == subject => writing = *other,
                _ => return Ok(Some((subject, all))),
            }
            self.next.pop();
        }
    }

    /// What a writing says of its next subject, after which comes the one behind.
    fn advance(&mut self, number: usize) -> io::Result<Vec<(Totals, Run)>> {
        let Some(writing) = self.writings.get_mut(number) else { return Ok(Vec::new()) };
        let samples = std::mem::take(&mut writing.samples);
        if !writing.bytes.fill_buf()?.is_empty() {
            let subject = get_subject(&mut writing.bytes)?;
            let count: usize = get_as(&mut writing.bytes)?;
            let sample = |_| Ok((get_totals(&mut writing.bytes)?, get_run(&mut writing.bytes)?));
            writing.samples = (0..count).map(sample).collect::<io::Result<_>>()?;
            self.next.push(Reverse((subject, number)));
        }
        Ok(samples)
    }
}

fn get_run(bytes: &mut impl Read) -> io::Result<Run> {
    let shape = get_shape(bytes)?;
    Ok(Run { shape, part: Part { byte: get_as(bytes)?, len: get_as(bytes)? } })
}
