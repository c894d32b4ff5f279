//! Sums of parts: what two partitions know together.

use std::collections::{BTreeMap, BTreeSet};

/// Something that parts of the input know a part of. The order of merging changes nothing that is
/// told later.
pub trait Merge {
    /// Takes in what `other` knows.
    fn merge_from(&mut self, other: Self);
}

impl Merge for u64 {
    fn merge_from(&mut self, other: Self) {
        *self += other;
    }
}

impl Merge for i128 {
    fn merge_from(&mut self, other: Self) {
        *self += other;
    }
}

impl<T: Ord> Merge for BTreeSet<T> {
    fn merge_from(&mut self, other: Self) {
        self.extend(other);
    }
}

impl<K: Ord, V: Merge + Default> Merge for BTreeMap<K, V> {
    fn merge_from(&mut self, other: Self) {
        for (key, value) in other {
            self.entry(key).or_default().merge_from(value);
        }
    }
}

/// Declares a struct of mergeable fields, and that it is one.
macro_rules! merged {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$doc:meta])* pub $field:ident: $ty:ty,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default)]
        pub struct $name { $($(#[$doc])* pub $field: $ty,)+ }

        impl $crate::distributions::Merge for $name {
            fn merge_from(&mut self, other: Self) {
                $(self.$field.merge_from(other.$field);)+
            }
        }
    };
}

pub(crate) use merged;
