//! What is known of some calls beyond what their spans declare: how long the caller waits for an
//! attempt, and what one needs (docs/inference.md).

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Glob;
use crate::config_values::optional_duration;
use crate::units::Nanos;

/// What holds for the attempts of some calls. Of several tables that match, the first that says
/// something counts, for each thing by itself.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CallTerms {
    /// On the caller's service.
    pub caller: Option<Glob>,
    /// On the callee's service.
    pub callee: Option<Glob>,
    /// On the name of the caller's span.
    pub operation: Option<Glob>,
    /// The caller gives up on an attempt after that long.
    #[serde(deserialize_with = "optional_duration")]
    pub timeout: Option<Nanos>,
    /// Where less is left than the timeout, the caller gives up then; otherwise the timeout holds
    /// whatever is left.
    pub propagates: bool,
    /// What one attempt needs.
    #[serde(deserialize_with = "optional_duration")]
    pub attempt_allowance: Option<Nanos>,
    /// With less left than that attempts almost never succeed.
    #[serde(deserialize_with = "optional_duration")]
    pub break_even: Option<Nanos>,
    /// Taken from traces and not from a configuration: what rests on it is told as measured or
    /// inferred.
    pub calibrated: bool,
    /// The line of the file on which it begins, from 1; 0 of one that no file holds.
    #[serde(skip)]
    pub line: usize,
}

/// What is known of calls, in the order in which it is looked for, found by the name that it is about:
/// what was calibrated may be thousands of tables.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    all: Vec<CallTerms>,
    by_operation: BTreeMap<String, Vec<usize>>,
    /// Those that are about several names.
    others: Vec<usize>,
}

impl From<Vec<CallTerms>> for Calls {
    fn from(all: Vec<CallTerms>) -> Self {
        let mut calls = Self { all, ..Self::default() };
        for (place, terms) in calls.all.iter().enumerate() {
            match terms.operation.as_ref().and_then(Glob::as_literal) {
                Some(operation) => calls.by_operation.entry(operation).or_default().push(place),
                None => calls.others.push(place),
            }
        }
        calls
    }
}

impl Calls {
    /// All of it.
    pub fn all(&self) -> &[CallTerms] {
        &self.all
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// What is about such calls, in order.
    pub fn matching(&self, caller: &str, callee: Option<&str>, operation: &str) -> Vec<&CallTerms> {
        let named = self.by_operation.get(operation).map_or(&[][..], Vec::as_slice);
        let mut places: Vec<usize> = named.iter().chain(&self.others).copied().collect();
        places.sort_unstable();
        let terms = places.into_iter().filter_map(|place| self.all.get(place));
        terms.filter(|terms| terms.matches(caller, callee, operation)).collect()
    }
}

impl CallTerms {
    /// Whether it is about calls of that name by `caller` to `callee`. Whom a call calls is not always
    /// known: then caller and name decide, where it says anything of either.
    pub fn matches(&self, caller: &str, callee: Option<&str>, operation: &str) -> bool {
        let fits =
            |glob: &Option<Glob>, text: &str| glob.as_ref().is_none_or(|glob| glob.matches(text));
        fits(&self.caller, caller)
            && match callee {
                Some(callee) => fits(&self.callee, callee),
                None => self.callee.is_none() || self.caller.is_some() || self.operation.is_some(),
            }
            && fits(&self.operation, operation)
    }

    /// A value that reads well and cannot be meant: its key, and what was expected.
    pub(super) fn contradiction(&self) -> Option<(&'static str, &'static str)> {
        let nothing = Some(Nanos::ZERO);
        let says_nothing = self.timeout.is_none() && self.attempt_allowance.is_none();
        let wrong = [
            (says_nothing, "call", "every [[call]] needs a timeout or an attempt_allowance"),
            (self.timeout == nothing, "timeout", "expected a timeout of more than nothing"),
            (
                self.attempt_allowance == nothing,
                "attempt_allowance",
                "expected an attempt_allowance of more than nothing",
            ),
            (
                self.propagates && self.timeout.is_none(),
                "propagates",
                "expected a timeout beside it, which it is about",
            ),
            (
                self.break_even
                    .is_some_and(|it| self.attempt_allowance.is_none_or(|most| it > most)),
                "break_even",
                "expected an attempt_allowance beside it that is no smaller",
            ),
        ];
        wrong.into_iter().find(|(is_wrong, ..)| *is_wrong).map(|(_, key, expected)| (key, expected))
    }
}
