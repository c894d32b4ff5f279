//! From spans to tables: SEMANTICS sections 3 to 11, one file a section. Pure: the same spans and
//! policy give the same rows, in whatever order the spans come.

mod ancestors;
mod annotated;
mod attempt;
mod claim;
mod class;
mod clock;
mod course;
mod deadline;
mod finding;
mod hop;
mod late;
mod max_tree;
mod memory;
mod moment;
mod numbers;
mod outline;
mod own_time;
mod path;
mod request;
mod rows;
mod scope;
mod stay;
mod terms;
mod trace;
mod tree;

use annotated::Annotated;
use class::Classes;
pub use course::{Course, CourseSpan, Role, Try};
pub use outline::TraceChoice;
use rows::Rows;
use terms::Marks;

use crate::budget;
use crate::clocks::Offsets;
use crate::contract::{Calls, Contract};
use crate::exemplars::Candidates;
use crate::span::{Interner, Spans, Sym};
use crate::tables::Tables;
use crate::units::Nanos;

/// What the user has said about the requests, and how strictly to judge.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Tried in this order; the first that matches a root span holds.
    pub contracts: Vec<Contract>,
    /// What is known of calls; looked for in this order.
    pub calls: Calls,
    /// The floor of [`budget::tolerance`].
    pub tolerance: Nanos,
    /// Which traces are told span by span as well.
    pub outlined: Outlined,
    /// The service whose calls are told in the place of the requests that they serve.
    pub scope: Option<String>,
}

/// Which traces are told span by span as well.
#[derive(Clone, Copy, Debug, Default)]
pub enum Outlined {
    /// None.
    #[default]
    None,
    /// The one that somebody wants explained.
    Chosen(TraceChoice),
    /// Those that are shown for many.
    Exemplars,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            contracts: Vec::new(),
            calls: Calls::default(),
            tolerance: budget::TOLERANCE_FLOOR,
            outlined: Outlined::None,
            scope: None,
        }
    }
}

/// The tables of a partition of whole traces, rows in the order of the tables. `offsets` are what
/// the whole input knows of its clocks; nothing, where each trace is to be on its own.
pub fn reconstruct(mut spans: Spans, policy: &Policy, offsets: &Offsets) -> Tables {
    spans.sort();
    let Spans { strings, rows } = spans;
    let mut told = Rows::new(strings, rows.len());
    let mut annotated = Annotated::default();
    let mut candidates = Candidates::default();
    let scope = policy.scope.as_ref().map(|service| told.tables.strings.intern(service));
    let marks = Marks::of(&mut told.tables.strings);
    for trace in rows.chunk_by(|one, other| one.trace_id == other.trace_id) {
        let strings = &told.tables.strings;
        let context = Context { strings, policy, offsets, scope, marks };
        annotated.fill(trace, context);
        let (requests, findings) = (told.tables.requests.len(), told.tables.findings.len());
        told.append(&annotated);
        let is_outlined = match policy.outlined {
            Outlined::None => false,
            Outlined::Chosen(choice) => choice.matches(annotated.trace_id()),
            Outlined::Exemplars => candidates.offer(
                told.tables.requests.get(requests..).unwrap_or_default(),
                told.tables.findings.get(findings..).unwrap_or_default(),
            ),
        };
        if is_outlined {
            outline::append(&annotated, &mut told.tables.outline);
        }
    }
    if matches!(policy.outlined, Outlined::Exemplars) {
        let wanted = candidates.traces();
        told.tables.outline.retain(|span| wanted.contains(&span.trace_id));
    }
    told.tables
}

/// The rows of requests, hops and attempts of a partition of whole traces, sorted, as far as they tell
/// how long things took and how they ended, for those who look at all traces before any is judged.
pub fn observe(spans: &Spans, policy: &Policy, offsets: &Offsets) -> Tables {
    let mut told = Rows::new(spans.strings.clone(), spans.rows.len());
    let marks = Marks::of(&mut told.tables.strings);
    let mut annotated = Annotated::default();
    for trace in spans.traces() {
        let strings = &told.tables.strings;
        annotated.observe(trace, Context { strings, policy, offsets, scope: None, marks });
        told.append(&annotated);
    }
    told.tables
}

/// The course of each request of a partition of whole traces, handed to `take` one after another: what
/// the tables are made of, for those who run requests again. Gives back the strings of all their names.
pub fn courses(
    mut spans: Spans,
    policy: &Policy,
    offsets: &Offsets,
    mut take: impl FnMut(&Course, &Interner),
) -> Interner {
    spans.sort();
    let Spans { mut strings, rows } = spans;
    let mut annotated = Annotated::default();
    let mut classes = Classes::default();
    let marks = Marks::of(&mut strings);
    for trace in rows.chunk_by(|one, other| one.trace_id == other.trace_id) {
        annotated.fill(trace, Context { strings: &strings, policy, offsets, scope: None, marks });
        course::for_each(&annotated, &mut classes, &mut strings, &mut take);
    }
    strings
}

/// What traces are rebuilt by.
#[derive(Clone, Copy)]
struct Context<'a, 's> {
    /// The strings behind the spans.
    strings: &'s Interner,
    policy: &'a Policy,
    offsets: &'a Offsets,
    /// The service of `policy.scope`.
    scope: Option<Sym>,
    marks: Marks,
}
