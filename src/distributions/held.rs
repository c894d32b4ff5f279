//! Values that memory holds, by whose they are.

use rustc_hash::FxHashMap;

use super::measured::Measured;
use super::parcel::{Parcel, Precision};
use super::sample::Sample;
use super::subject::{Subject, measures};
use crate::span::{Interner, Sym};
use crate::units::Nanos;

/// What a value takes: its column has as much again in reserve.
const VALUE_BYTES: usize = 2 * size_of::<i64>();

/// What a subject takes beside its values: its names, and a sample for each measure.
const SUBJECT_BYTES: usize = 256;

/// The values of some partitions.
#[derive(Debug, Default)]
pub struct Held {
    strings: Interner,
    /// Where the samples of each subject begin, one for each of its measures.
    subjects: FxHashMap<Subject<Sym>, usize>,
    samples: Vec<Sample>,
    bytes: usize,
}

impl Held {
    /// About how much memory they take.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.subjects.is_empty()
    }

    /// Adds those of a partition, of whose names the strings are.
    pub fn add(&mut self, measured: &Measured, strings: &Interner) {
        let Self { strings: own, subjects, samples, bytes } = self;
        let mut numbers = FxHashMap::default();
        let mut slots = Vec::with_capacity(measured.zeros.len());
        let ends = measured.subjects.iter().skip(1).map(|(_, first)| *first);
        for ((subject, first), end) in
            measured.subjects.iter().zip(ends.chain([measured.zeros.len()]))
        {
            let mut name =
                |sym: &Sym| *numbers.entry(*sym).or_insert_with(|| own.intern(strings.get(*sym)));
            let place = *subjects.entry(subject.named(&mut name)).or_insert_with(|| {
                let place = samples.len();
                samples.resize_with(place + end - first, Sample::default);
                *bytes += SUBJECT_BYTES + (end - first) * size_of::<Sample>();
                place
            });
            slots.extend(place..place + end - first);
        }
        for (&place, &zeros) in slots.iter().zip(&measured.zeros) {
            if let Some(sample) = samples.get_mut(place) {
                sample.push_zeros(zeros);
            }
        }
        for (values, weight) in measured.by_weight() {
            for &(slot, value) in values {
                let place = slots.get(slot as usize).copied();
                if let Some(sample) = place.and_then(|place| samples.get_mut(place)) {
                    sample.push_weighted(Nanos::from_nanos(value), weight);
                }
            }
            *bytes += values.len() * VALUE_BYTES * if weight.is_some() { 2 } else { 1 };
        }
    }

    /// All, packed, in the order of the table's rows.
    pub fn packed(self, precision: Precision) -> Vec<Parcel> {
        let pack = |(subject, samples)| Parcel::pack(subject, samples, precision);
        self.in_order().into_iter().map(pack).collect()
    }

    /// All samples in the order of the table's rows.
    pub(super) fn in_order(self) -> Vec<(Subject<String>, Vec<Sample>)> {
        let Self { strings, subjects, mut samples, .. } = self;
        let mut subjects: Vec<(Subject<String>, usize)> = subjects
            .into_iter()
            .map(|(subject, first)| (subject.named(|sym| strings.get(*sym).to_owned()), first))
            .collect();
        subjects.sort_unstable();
        let samples_of = |(subject, first): (Subject<String>, usize)| {
            let own = samples.iter_mut().skip(first).take(measures(subject.scope).len());
            let own = own.map(std::mem::take).collect();
            (subject, own)
        };
        subjects.into_iter().map(samples_of).collect()
    }
}
