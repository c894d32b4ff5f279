//! What the table `distributions` has rows of.

use crate::span::Sym;
use crate::tables::{
    AttemptRow, BadSide, Category, FindingCode, FindingRow, HopRow, Measure, RequestRow, Row,
    Scope, SegmentRow,
};

/// Whose values distributions are of. In the order of the table's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Subject<N> {
    pub(super) class: N,
    pub(super) scope: Scope,
    pub(super) depth: Option<i32>,
    pub(super) caller: Option<N>,
    pub(super) callee: Option<N>,
    pub(super) operation: Option<N>,
    pub(super) ordinal: Option<i32>,
    pub(super) service: Option<N>,
    pub(super) category: Option<Category>,
    pub(super) code: Option<FindingCode>,
}

impl Subject<Sym> {
    /// The requests of a class.
    pub(super) const fn of_class(class: Sym, scope: Scope) -> Self {
        Self {
            class,
            scope,
            depth: None,
            caller: None,
            callee: None,
            operation: None,
            ordinal: None,
            service: None,
            category: None,
            code: None,
        }
    }

    /// The hops of one place.
    pub(super) fn of_hop(row: &HopRow) -> Self {
        Self {
            depth: Some(row.depth),
            caller: row.caller_service,
            callee: row.callee_service,
            operation: Some(row.operation),
            ..Self::of_class(row.request_class, Scope::Hop)
        }
    }

    /// The attempts of one call and ordinal.
    pub(super) fn of_attempt(row: &AttemptRow) -> Self {
        Self {
            caller: row.caller_service,
            callee: row.callee_service,
            operation: Some(row.operation),
            ordinal: Some(row.ordinal),
            ..Self::of_class(row.request_class, Scope::Attempt)
        }
    }

    /// What was spent in one service on one category.
    pub(super) fn of_segment(row: &SegmentRow) -> Self {
        Self {
            service: Some(row.service),
            category: Some(row.category),
            ..Self::of_class(row.request_class, Scope::Segment)
        }
    }

    /// The findings of one code at the place of a hop, where they are about one.
    pub(super) fn of_finding(row: &FindingRow, hop: Option<&HopRow>) -> Self {
        let place = hop.map_or(Self::of_class(row.request_class, Scope::Finding), Self::of_hop);
        Self { class: row.request_class, scope: Scope::Finding, code: Some(row.code), ..place }
    }
}

impl<N> Subject<N> {
    /// The same by other names.
    pub(super) fn named<M>(&self, mut name: impl FnMut(&N) -> M) -> Subject<M> {
        Subject {
            class: name(&self.class),
            scope: self.scope,
            depth: self.depth,
            caller: self.caller.as_ref().map(&mut name),
            callee: self.callee.as_ref().map(&mut name),
            operation: self.operation.as_ref().map(&mut name),
            ordinal: self.ordinal,
            service: self.service.as_ref().map(&mut name),
            category: self.category,
            code: self.code,
        }
    }
}

/// The measures of a scope, in the order of the columns of the table that they stand in.
pub(super) fn measures(scope: Scope) -> Vec<(&'static str, BadSide)> {
    fn of<R: Row>() -> Vec<(&'static str, BadSide)> {
        let told = |measure: &Measure<R>| (measure.column, measure.bad_side);
        R::MEASURES.iter().map(told).collect()
    }
    match scope {
        Scope::Request => of::<RequestRow>(),
        Scope::Hop => of::<HopRow>(),
        Scope::Attempt => of::<AttemptRow>(),
        Scope::Segment => of::<SegmentRow>(),
        Scope::Finding => of::<FindingRow>(),
    }
}
