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
use super::sample::{Sample, weight_of};
use super::subject::Subject;
use super::varint::{damaged, get, get_as, get_text, put, put_text};
use crate::stats::{Mass, Weight};
use crate::tables::{Category, FindingCode, Scope};

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
    has_weights: bool,
}

impl Spilled {
    /// An empty file in `folder`.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        let file = Arc::new(Mutex::new(tempfile::tempfile_in(folder)?));
        Ok(Self { file, len: 0, contents: Vec::new() })
    }

    /// Writes samples, which come in the order of their subjects.
    pub(super) fn add(&mut self, samples: Vec<(Subject<String>, Vec<Sample>)>) -> io::Result<()> {
        let encoded: Vec<_> = samples
            .into_par_iter()
            .map(|(subject, samples)| {
                (subject, samples.into_iter().map(encode).collect::<Vec<_>>())
            })
            .collect();
        let mut contents = Vec::new();
        for (subject, samples) in encoded {
            put_subject(&mut contents, &subject);
            put(&mut contents, samples.len() as u128);
            for (totals, has_weights, bytes) in samples {
                let part = self.write(&bytes)?;
                put_totals(&mut contents, &totals);
                put(&mut contents, u128::from(has_weights));
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
            let (bytes, has_weights) = (self.reader(run.part), run.has_weights);
            merged.runs.push(RunReader { bytes, has_weights, last: FIRST });
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

/// What the values of a run differ from at first.
const FIRST: i64 = i64::MIN;

/// A sample as it is written: how much it is, whether weights are written, and its values by their
/// differences.
fn encode(sample: Sample) -> (Totals, bool, Vec<u8>) {
    let totals = Totals::of(&sample);
    let has_weights = totals.mass.without(totals.zeros).known > 0;
    let mut bytes = Vec::new();
    let mut last = FIRST;
    for (value, weight) in sample.into_ordered() {
        put(&mut bytes, value.wrapping_sub(last).cast_unsigned().into());
        last = value;
        if has_weights {
            put(&mut bytes, weight.into());
        }
    }
    (totals, has_weights, bytes)
}

/// A run that is being read.
struct RunReader {
    bytes: BufReader<PartReader>,
    has_weights: bool,
    last: i64,
}

impl RunReader {
    /// The next value and its weight as it is written.
    fn next(&mut self) -> io::Result<Option<(i64, u64)>> {
        if self.bytes.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let step: u64 = get_as(&mut self.bytes)?;
        self.last = self.last.wrapping_add(step.cast_signed());
        let weight = if self.has_weights { get_as(&mut self.bytes)? } else { 0 };
        Ok(Some((self.last, weight)))
    }
}

/// The values of several runs in order.
pub(super) struct Merged {
    runs: Vec<RunReader>,
    /// The next of each run.
    next: BinaryHeap<Reverse<(i64, u64, usize)>>,
}

impl Merged {
    /// The next value and its weight.
    pub(super) fn next(&mut self) -> io::Result<Option<(i64, Option<Weight>)>> {
        let Some(Reverse((value, weight, run))) = self.next.pop() else { return Ok(None) };
        self.advance(run)?;
        Ok(Some((value, weight_of(weight))))
    }

    fn advance(&mut self, run: usize) -> io::Result<()> {
        if let Some(reader) = self.runs.get_mut(run)
            && let Some((value, weight)) = reader.next()?
        {
            self.next.push(Reverse((value, weight, run)));
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

fn put_subject(bytes: &mut Vec<u8>, subject: &Subject<String>) {
    let Subject {
        class,
        scope,
        depth,
        caller,
        callee,
        operation,
        ordinal,
        service,
        category,
        code,
    } = subject;
    put_text(bytes, class);
    put(bytes, *scope as u128);
    for number in [depth, ordinal] {
        put_some(bytes, number.as_ref(), |bytes, number| {
            put(bytes, number.cast_unsigned().into());
        });
    }
    for name in [caller, callee, operation, service] {
        put_some(bytes, name.as_ref(), |bytes, name| put_text(bytes, name));
    }
    put_some(bytes, category.as_ref(), |bytes, category| put(bytes, *category as u128));
    put_some(bytes, code.as_ref(), |bytes, code| put(bytes, *code as u128));
}

fn get_subject(bytes: &mut impl Read) -> io::Result<Subject<String>> {
    let class = get_text(bytes)?;
    let scope = get_one_of(bytes, Scope::ALL)?;
    let number = |bytes: &mut _| get_as(bytes).map(u32::cast_signed);
    let (depth, ordinal) = (get_some(bytes, number)?, get_some(bytes, number)?);
    let mut name = || get_some(bytes, |bytes| get_text(bytes));
    let (caller, callee, operation, service) = (name()?, name()?, name()?, name()?);
    let category = get_some(bytes, |bytes| get_one_of(bytes, Category::ALL))?;
    let code = get_some(bytes, |bytes| get_one_of(bytes, FindingCode::ALL))?;
    Ok(Subject { class, scope, depth, caller, callee, operation, ordinal, service, category, code })
}

/// Whether there is any, and what it is.
fn put_some<T>(bytes: &mut Vec<u8>, value: Option<T>, put_value: impl FnOnce(&mut Vec<u8>, T)) {
    put(bytes, u128::from(value.is_some()));
    if let Some(value) = value {
        put_value(bytes, value);
    }
}

fn get_some<R: Read, T>(
    bytes: &mut R,
    value: impl FnOnce(&mut R) -> io::Result<T>,
) -> io::Result<Option<T>> {
    if get(bytes)? == 0 { Ok(None) } else { value(bytes).map(Some) }
}

/// One of a closed set, by its number.
fn get_one_of<T: Copy>(bytes: &mut impl Read, all: &[T]) -> io::Result<T> {
    let number: usize = get_as(bytes)?;
    all.get(number).copied().ok_or_else(damaged)
}

fn put_totals(bytes: &mut Vec<u8>, totals: &Totals) {
    for mass in [totals.mass, totals.zeros] {
        for number in [mass.n.into(), mass.known.into(), mass.weight, mass.squares] {
            put(bytes, number);
        }
    }
    put(bytes, totals.sum.cast_unsigned());
}

fn get_totals(bytes: &mut impl Read) -> io::Result<Totals> {
    let mut mass = || {
        Ok::<_, io::Error>(Mass {
            n: get_as(bytes)?,
            known: get_as(bytes)?,
            weight: get(bytes)?,
            squares: get(bytes)?,
        })
    };
    Ok(Totals { mass: mass()?, zeros: mass()?, sum: get(bytes)?.cast_signed() })
}

fn get_run(bytes: &mut impl Read) -> io::Result<Run> {
    let has_weights = get(bytes)? != 0;
    Ok(Run { has_weights, part: Part { byte: get_as(bytes)?, len: get_as(bytes)? } })
}
