//! Who worked too late, or for nobody.

use super::{Drawing, Figure, MOST};
use crate::distributions::ClassSummary;
use crate::report::words;

/// What one service did too late, or for nobody.
#[derive(Clone, Debug)]
pub struct Work {
    /// The service.
    pub label: String,
    /// Work after the deadline.
    pub late_ns: i128,
    /// Work after a caller had left; what is late too counts in both.
    pub residual_ns: i128,
}

pub(super) fn figure(class: &ClassSummary) -> Option<Figure> {
    let work = class.wasted.iter().map(|(service, sums)| Work {
        label: words::named(service.as_deref()).to_owned(),
        late_ns: sums.late_ns,
        residual_ns: sums.residual_ns,
    });
    let mut work: Vec<Work> = work.collect();
    work.sort_by(|one, other| {
        let total = |work: &Work| work.late_ns.max(work.residual_ns);
        total(other).cmp(&total(one)).then_with(|| one.label.cmp(&other.label))
    });
    work.truncate(MOST);
    (!work.is_empty()).then_some(Figure {
        title: "Late and residual work by callee",
        caption: "Work after the deadline, and work for callers who had left; work that is both \
                  counts in both. In hops: work of spans that belong to none is not here.",
        drawing: Drawing::Work(work),
    })
}
