//! The names of a partition, each allocated once.

use rustc_hash::FxHashMap;

use super::class::{Call, Name, Place};
use crate::span::{Interner, SpanId, Sym};
use crate::tables::{AttemptRow, HopRow};

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

    /// What each call is: an attempt that never arrived does not tell who was called, and another of its
    /// call may.
    pub(crate) fn calls_of(&mut self, attempts: &[AttemptRow]) -> FxHashMap<SpanId, Call> {
        let mut calls: FxHashMap<SpanId, (&AttemptRow, Option<Sym>)> = FxHashMap::default();
        for row in attempts {
            let (first, callee) = calls.entry(row.call_id).or_insert((row, None));
            if row.span_id == row.call_id {
                *first = row;
            }
            *callee = callee.or(row.callee_service);
        }
        let call = |(id, (first, callee)): (SpanId, (&AttemptRow, Option<Sym>))| {
            (id, self.call(first.caller_service, callee, first.operation))
        };
        calls.into_iter().map(call).collect()
    }

    pub(crate) fn call_of(&mut self, row: &HopRow) -> Call {
        self.call(row.caller_service, row.callee_service, row.operation)
    }

    pub(crate) fn place(&mut self, row: &HopRow) -> Place {
        Place { depth: row.depth, call: self.call_of(row) }
    }
}
