//! The values of a subject as bytes: sorted, by their differences. So they wait on disk, and go from
//! one machine to another.

use std::io::{self, BufRead, Read};

use super::figures::Totals;
use super::sample::Sample;
use super::subject::Subject;
use super::varint::{damaged, get, get_as, get_text, put, put_text};
use crate::stats::Mass;
use crate::tables::{Category, FindingCode, Scope};

/// How exact values stay when they are packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// To the nanosecond.
    #[default]
    Exact,
    /// To buckets that are at most a 64th of their values wide, of which each tells its middle: so a value
    /// is at most 1/128 (0.8 %) off, and so is each percentile and each end of its interval. How many there
    /// are, what they weigh, their sum, zeros, the least and the greatest value stay exact.
    Rounded,
}

/// How many bits of a rounded value are kept: 64 buckets from each power of two to the next.
const KEPT_BITS: u32 = 7;

impl Precision {
    /// A value as it is told.
    fn told(self, value: i64) -> i64 {
        let size = value.unsigned_abs();
        let dropped = (u64::BITS - size.leading_zeros()).saturating_sub(KEPT_BITS);
        if self == Self::Exact || dropped == 0 {
            return value;
        }
        let middle = (size >> dropped << dropped) + (1 << (dropped - 1));
        let told = i64::try_from(middle).unwrap_or(i64::MAX);
        if value < 0 { -told } else { told }
    }
}

/// What was gathered of one subject.
#[derive(Clone, Debug)]
pub struct Parcel {
    pub(super) subject: Subject<String>,
    /// By measure.
    pub(super) samples: Vec<Packed>,
}

/// A sample: how much it is, and its values that are not zero.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    pub(super) totals: Totals,
    pub(super) shape: Shape,
    pub(super) bytes: Vec<u8>,
}

/// What is written of each value beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// What it weighs.
    has_weights: bool,
    /// How many there are of it.
    has_counts: bool,
}

/// What the values of a run differ from at first.
const FIRST: i64 = i64::MIN;

impl Parcel {
    /// Packs the samples of a subject.
    pub(super) fn pack(
        subject: Subject<String>,
        samples: Vec<Sample>,
        precision: Precision,
    ) -> Self {
        let samples = samples.into_iter().map(|sample| Packed::pack(sample, precision)).collect();
        Self { subject, samples }
    }

    /// The request class.
    pub fn class(&self) -> &str {
        &self.subject.class
    }

    /// Whose values they are, as bytes.
    pub fn subject_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_subject(&mut bytes, &self.subject);
        bytes
    }

    /// The values, as bytes.
    pub fn sample_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        put(&mut bytes, self.samples.len() as u128);
        for Packed { totals, shape, bytes: values } in &self.samples {
            put_totals(&mut bytes, totals);
            put_shape(&mut bytes, *shape);
            put(&mut bytes, values.len() as u128);
            bytes.extend_from_slice(values);
        }
        bytes
    }

    /// What bytes tell.
    ///
    /// # Errors
    /// They are not what this version wrote.
    pub fn read(subject: &[u8], samples: &[u8]) -> io::Result<Self> {
        let (mut subject, mut bytes) = (subject, samples);
        let subject = get_subject(&mut subject)?;
        let count: usize = get_as(&mut bytes)?;
        let mut packed = || {
            let (totals, shape) = (get_totals(&mut bytes)?, get_shape(&mut bytes)?);
            let len: usize = get_as(&mut bytes)?;
            let values = bytes.split_off(..len).ok_or_else(damaged)?;
            Ok(Packed { totals, shape, bytes: values.to_vec() })
        };
        let samples = (0..count).map(|_| packed()).collect::<io::Result<_>>()?;
        Ok(Self { subject, samples })
    }

    /// About how many bytes it takes.
    pub(super) fn len(&self) -> usize {
        self.samples.iter().map(|packed| size_of::<Packed>() + packed.bytes.len()).sum()
    }
}

impl Packed {
    fn pack(sample: Sample, precision: Precision) -> Self {
        let totals = Totals::of(&sample);
        let has_weights = totals.mass.without(totals.zeros).known > 0;
        let shape = Shape { has_weights, has_counts: precision == Precision::Rounded };
        let mut values = sample.into_ordered();
        if shape.has_counts {
            round(&mut values);
        }
        let mut bytes = Vec::new();
        let mut last = FIRST;
        let same = |a: &(i64, u64), b: &(i64, u64)| shape.has_counts && a == b;
        for run in values.chunk_by(same) {
            let Some(&(value, weight)) = run.first() else { continue };
            put(&mut bytes, value.wrapping_sub(last).cast_unsigned().into());
            last = value;
            if has_weights {
                put(&mut bytes, weight.into());
            }
            if shape.has_counts {
                put(&mut bytes, run.len() as u128);
            }
        }
        Self { totals, shape, bytes }
    }
}

/// Rounds values, which are in order and stay so, but for the first and the last.
fn round(values: &mut [(i64, u64)]) {
    let [(least, _), inner @ .., (most, _)] = values else { return };
    for (value, _) in inner.iter_mut() {
        *value = Precision::Rounded.told(*value).clamp(*least, *most);
    }
    inner.sort_unstable();
}

/// A value, the number that stands for its weight, and how many there are of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Step {
    pub(super) value: i64,
    pub(super) weight: u64,
    pub(super) count: u64,
}

/// The values of a sample, one after another.
#[derive(Debug)]
pub(super) struct Steps<R> {
    bytes: R,
    shape: Shape,
    last: i64,
}

impl<R: BufRead> Steps<R> {
    pub(super) const fn new(bytes: R, shape: Shape) -> Self {
        Self { bytes, shape, last: FIRST }
    }

    /// The next.
    pub(super) fn next(&mut self) -> io::Result<Option<Step>> {
        if self.bytes.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let step: u64 = get_as(&mut self.bytes)?;
        self.last = self.last.wrapping_add(step.cast_signed());
        let weight = if self.shape.has_weights { get_as(&mut self.bytes)? } else { 0 };
        let count = if self.shape.has_counts { get_as(&mut self.bytes)? } else { 1 };
        Ok(Some(Step { value: self.last, weight, count }))
    }
}

pub(super) fn put_shape(bytes: &mut Vec<u8>, shape: Shape) {
    put(bytes, u128::from(shape.has_weights) | u128::from(shape.has_counts) << 1);
}

pub(super) fn get_shape(bytes: &mut impl Read) -> io::Result<Shape> {
    let flags = get(bytes)?;
    Ok(Shape { has_weights: flags & 1 != 0, has_counts: flags & 2 != 0 })
}

pub(super) fn put_subject(bytes: &mut Vec<u8>, subject: &Subject<String>) {
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

pub(super) fn get_subject(bytes: &mut impl Read) -> io::Result<Subject<String>> {
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

pub(super) fn put_totals(bytes: &mut Vec<u8>, totals: &Totals) {
    for mass in [totals.mass, totals.zeros] {
        for number in [mass.n.into(), mass.known.into(), mass.weight, mass.squares] {
            put(bytes, number);
        }
    }
    put(bytes, totals.sum.cast_unsigned());
}

pub(super) fn get_totals(bytes: &mut impl Read) -> io::Result<Totals> {
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
