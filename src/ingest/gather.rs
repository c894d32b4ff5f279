//! Puts together what the workers have scattered, a few partitions at a time: from memory, or from
//! disk where memory does not hold all.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::scatter::{PARTITIONS, Range, Scattered, add, with_one_interner};
use super::spill::{Spill, packed};
use super::{IngestError, halved_ids, shared_ids};
use crate::span::{Interner, Span, Spans, Sym};

/// How much memory spans may take, and where those go that it does not hold.
#[derive(Clone, Debug)]
pub struct Memory {
    /// What all of a run may take; spans get a part of it.
    pub bytes: u64,
    /// A folder for temporary files.
    pub folder: PathBuf,
}

impl Memory {
    /// As much as there is.
    pub fn unlimited() -> Self {
        Self { bytes: u64::MAX, folder: PathBuf::new() }
    }

    /// What spans may take while files are read: the rest is for what is being read, and for what
    /// growing columns have in reserve.
    const fn held_bytes(&self) -> u64 {
        self.bytes / 2
    }

    /// What the spans of the partitions that are rebuilt at a time may take: their tables take as
    /// much again.
    const fn group_bytes(&self) -> u64 {
        self.bytes / 8
    }

    /// What is told where the folder for temporary files does not take, or give back, what memory does
    /// not hold.
    pub fn failed(&self, error: io::Error) -> IngestError {
        IngestError::Spill { folder: self.folder.clone(), error }
    }
}

/// Where workers put what they scatter.
#[derive(Debug)]
pub(super) struct Gathering<'m> {
    memory: &'m Memory,
    held: Mutex<Held>,
    spill: Mutex<Option<Spill>>,
    /// Why spans could not be kept on disk, once that was so: then nothing more is to be read.
    failure: OnceLock<String>,
}

/// What memory holds.
#[derive(Debug, Default)]
struct Held {
    /// What no worker is adding to.
    idle: Vec<Scattered>,
    /// How much all took when they were last given back.
    bytes: usize,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'m> Gathering<'m> {
    /// Nothing yet.
    pub(super) const fn new(memory: &'m Memory) -> Self {
        let held = Held { idle: Vec::new(), bytes: 0 };
        let failure = OnceLock::new();
        Self { memory, held: Mutex::new(held), spill: Mutex::new(None), failure }
    }

    /// Something to scatter into. It has to be given back.
    pub(super) fn take(&self) -> Scattered {
        locked(&self.held).idle.pop().unwrap_or_default()
    }

    /// Takes back what was `bytes` large when it was taken; to disk, if memory is used up.
    pub(super) fn give_back(
        &self,
        scattered: Scattered,
        bytes_before: usize,
    ) -> Result<(), IngestError> {
        let bytes = scattered.bytes();
        let mut held = locked(&self.held);
        held.bytes = held.bytes + bytes - bytes_before;
        if held.bytes as u64 <= self.memory.held_bytes() {
            held.idle.push(scattered);
            return Ok(());
        }
        drop(held);
        self.spill(scattered)?;
        locked(&self.held).bytes -= bytes;
        Ok(())
    }

    fn spill(&self, scattered: Scattered) -> Result<(), IngestError> {
        if let Some(failure) = self.failure.get() {
            return Err(self.memory.failed(io::Error::other(failure.clone())));
        }
        let add = || {
            let packed = packed(scattered)?;
            let mut spill = locked(&self.spill);
            if spill.is_none() {
                *spill = Some(Spill::new(&self.memory.folder)?);
            }
            spill.as_mut().map_or(Ok(()), |spill| spill.add(packed))
        };
        add().map_err(|error| {
            self.failure.get_or_init(|| error.to_string());
            self.memory.failed(error)
        })
    }

    /// The partitions, now that all is read.
    pub(super) fn finish(self) -> Result<Partitions, IngestError> {
        let idle = std::mem::take(&mut locked(&self.held).idle);
        if locked(&self.spill).is_none() {
            return Ok(Partitions::in_memory(idle, self.memory.clone()));
        }
        idle.into_par_iter().try_for_each(|scattered| self.spill(scattered))?;
        let spill = self.spill.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(spill.map_or_else(
            || Partitions::in_memory(Vec::new(), self.memory.clone()),
            |spill| Partitions::on_disk(spill, self.memory.clone()),
        ))
    }
}

/// Makes of spans that have been brought together, and are all of their traces, what is rebuilt: ids that
/// were lost on the way or are shared are settled, and spans sorted.
pub fn whole_traces(spans: &mut Spans) {
    halved_ids::join(spans);
    shared_ids::split(spans);
    spans.sort();
}

/// The partitions of all that was read: whole traces, in the order of the traces.
#[derive(Debug)]
pub struct Partitions {
    memory: Memory,
    /// Those that are left.
    parts: VecDeque<Part>,
    spill: Option<Spill>,
    /// All strings of what is in memory.
    strings: Arc<Interner>,
}

/// A partition, or a part of one.
#[derive(Debug)]
enum Part {
    /// What each worker found of it.
    Scattered(Vec<(Arc<[Sym]>, Vec<Span>)>),
    /// All of it.
    Whole(Spans),
    /// Those of a partition's traces that are in a range; how many spans at most.
    OnDisk { partition: usize, range: Range, spans: u64 },
}

impl Part {
    fn bytes(&self) -> u64 {
        let spans = match self {
            Self::Scattered(workers) => workers.iter().map(|(_, rows)| rows.len() as u64).sum(),
            Self::Whole(spans) => spans.rows.len() as u64,
            Self::OnDisk { spans, .. } => *spans,
        };
        spans * SPAN_BYTES
    }

    /// The same, if it is on disk: it can be loaded again.
    const fn on_disk(&self) -> Option<Self> {
        match *self {
            Self::OnDisk { partition, range, spans } => {
                Some(Self::OnDisk { partition, range, spans })
            }
            Self::Scattered(_) | Self::Whole(_) => None,
        }
    }
}

/// What a span takes in memory.
const SPAN_BYTES: u64 = size_of::<Span>() as u64;

/// A part of a partition is not cut further, however little memory there is.
const LEAST_PART_SPANS: u64 = 64;

/// Partitions for each thread at a time: all cores are busy, and spans go as tables come.
const PARTS_A_THREAD: usize = 16;

impl Partitions {
    fn in_memory(workers: Vec<Scattered>, memory: Memory) -> Self {
        let (strings, workers) = with_one_interner(workers);
        let mut parts: Vec<_> = std::iter::repeat_with(Vec::new).take(PARTITIONS).collect();
        for (numbers, partitions) in workers {
            let partitions = parts.iter_mut().zip(partitions);
            for (part, rows) in partitions.filter(|(_, rows)| !rows.is_empty()) {
                part.push((Arc::clone(&numbers), rows));
            }
        }
        let parts = parts.into_iter().filter(|part| !part.is_empty()).map(Part::Scattered);
        Self { memory, parts: parts.collect(), spill: None, strings: Arc::new(strings) }
    }

    fn on_disk(spill: Spill, memory: Memory) -> Self {
        // Two at a time: to come back in more parts costs as many readings of what is on disk.
        let part_spans = (memory.group_bytes() / 2 / SPAN_BYTES).max(LEAST_PART_SPANS);
        let mut parts = VecDeque::new();
        for (partition, spans) in spill.spans().enumerate().filter(|&(_, spans)| 0 < spans) {
            let cut = spans.div_ceil(part_spans);
            let ranges = Range::of_partition(partition).cut(cut);
            parts.extend(ranges.map(|range| Part::OnDisk {
                partition,
                range,
                spans: spans.min(part_spans),
            }));
        }
        Self { memory, parts, spill: Some(spill), strings: Arc::default() }
    }

    /// What `look` sees in all partitions, of which as many as are to be in memory at a time, goes to
    /// `take` in their order. They stay.
    pub fn look_at_all<T: Send>(
        &mut self,
        look: impl Fn(&Spans) -> T + Sync,
        mut take: impl FnMut(T),
    ) -> Result<(), IngestError> {
        let mut looked_at = VecDeque::with_capacity(self.parts.len());
        loop {
            let group = self.next_parts();
            if group.is_empty() {
                break;
            }
            let seen = group.into_par_iter().map(|part| {
                let on_disk = part.on_disk();
                let spans = self.load(part)?;
                Ok((look(&spans), on_disk.unwrap_or(Part::Whole(spans))))
            });
            for (seen, part) in seen.collect::<Result<Vec<_>, IngestError>>()? {
                take(seen);
                looked_at.push_back(part);
            }
        }
        self.parts = looked_at;
        Ok(())
    }

    /// What `work` makes of the next partitions, sorted, of as many as are to be in memory at a time;
    /// nothing at the end. Some may be empty. Each is worked on as soon as it is back, while caches
    /// hold it.
    pub fn next_group<T: Send>(
        &mut self,
        work: impl Fn(Spans) -> T + Sync,
    ) -> Result<Vec<T>, IngestError> {
        let group = self.next_parts();
        group.into_par_iter().map(|part| self.load(part).map(&work)).collect()
    }

    fn next_parts(&mut self) -> Vec<Part> {
        let mut bytes = 0;
        let at_most = PARTS_A_THREAD * rayon::current_num_threads();
        let fits = |(at, part): &(usize, &Part)| {
            bytes += part.bytes();
            *at == 0 || *at < at_most && bytes <= self.memory.group_bytes()
        };
        let count = self.parts.iter().enumerate().take_while(fits).count();
        self.parts.drain(..count).collect()
    }

    fn load(&self, part: Part) -> Result<Spans, IngestError> {
        let mut spans = match (part, &self.spill) {
            (Part::Whole(spans), _) => return Ok(spans),
            (Part::Scattered(workers), _) => self.merge(workers),
            (Part::OnDisk { partition, range, .. }, Some(spill)) => {
                let loaded = spill.load(partition, range);
                let Spans { strings, rows } = loaded.map_err(|error| self.memory.failed(error))?;
                // Tables extend the strings without a copy of them.
                Spans { strings: Interner::extending(Arc::new(strings)), rows }
            }
            (Part::OnDisk { .. }, None) => Spans::default(),
        };
        whole_traces(&mut spans);
        Ok(spans)
    }

    fn merge(&self, workers: Vec<(Arc<[Sym]>, Vec<Span>)>) -> Spans {
        let mut rows = Vec::new();
        for (numbers, more) in workers {
            add(&mut rows, more, &numbers);
        }
        Spans { strings: Interner::extending(Arc::clone(&self.strings)), rows }
    }
}
