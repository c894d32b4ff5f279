//! The names of a partition, each allocated once.

use rustc_hash::FxHashMap;

use super::class::{Call, Name, Place};
use crate::span::{Interner, Sym};
use crate::tables::HopRow;

/// The names of a partition, each allocated once.
pub(crate) struct Names<'a> {
    strings: &'a Interner,
    known: FxHashMap<Sym, Name>,
}

impl<'a> Names<'a> {
    pub(crate) fn of(strings: &'a Interner) -> Self {
        Self { strings, known: FxHashMap::default() }
    }

    pub(crate) fn get(&mut self, sym: Sym) -> Name {
        self.known.entry(sym).or_insert_with(|| self.strings.get(sym).into()).clone()
    }

    pub(crate) fn call(
        &mut self,
        caller: Option<Sym>,
        callee: Option<Sym>,
        operation: Sym,
    ) -> Call {
        Call {
            caller: caller.map(|caller| self.get(caller)),
            callee: callee.map(|callee| self.get(callee)),
            operation: self.get(operation),
        }
    }

    pub(crate) fn call_of(&mut self, row: &HopRow) -> Call {
        self.call(row.caller_service, row.callee_service, row.operation)
    }

    pub(crate) fn place(&mut self, row: &HopRow) -> Place {
        Place { depth: row.depth, call: self.call_of(row) }
    }
}
