//! Which paths calls go to, where formats choose by paths, and which calls they cannot tell apart.

use super::scope;
use super::text::quoted;
use crate::contract::Glob;
use crate::plan::policy::CallPolicy;

/// Paths such as `/shop.Cart/GetCart`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Paths {
    /// This one.
    One(String),
    /// All that begin so.
    Under(String),
}

impl Paths {
    /// All there are.
    pub(super) fn all() -> Self {
        Self::Under("/".to_owned())
    }

    /// Those of calls whose operations are paths; `None` where the operation says something else.
    pub(super) fn of(call: &CallPolicy) -> Option<Self> {
        let Some(operation) = &call.operation else { return Some(Self::all()) };
        if let Some(literal) = operation.as_literal() {
            return is_path(&literal).then(|| Self::One(rooted(&literal)));
        }
        let start = operation.as_str().strip_suffix('*')?;
        let is_plain = !start.contains(['*', '?', '[']);
        (start.is_empty() || (is_plain && is_path(start))).then(|| Self::Under(rooted(start)))
    }

    /// Whether all of `other` are among them.
    fn hold(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::One(path), Self::One(other)) => path == other,
            (Self::One(_), Self::Under(_)) => false,
            (Self::Under(start), Self::One(other) | Self::Under(other)) => other.starts_with(start),
        }
    }

    fn start(&self) -> &str {
        let (Self::One(start) | Self::Under(start)) = self;
        start
    }
}

fn is_path(text: &str) -> bool {
    text.contains('/') && !text.contains(' ')
}

fn rooted(path: &str) -> String {
    format!("/{}", path.trim_start_matches('/'))
}

/// What of two entries that match is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// The first, as in a policy.
    First,
    /// The one that says more.
    Narrowest,
}

/// A call, and for which paths a format can write what it gets: no fewer than are meant.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub(super) call: &'a CallPolicy,
    pub(super) paths: Paths,
}

impl Entry<'_> {
    /// Whether it holds for all that `later` is about, so that this never holds.
    fn hides(&self, later: &Self) -> bool {
        let (mine, other) = (self.call, later.call);
        let text = |glob: &Option<Glob>| glob.as_ref().map(|glob| glob.as_str().to_owned());
        let has_callers = mine.caller.is_none() || text(&mine.caller) == text(&other.caller);
        let literal = other.operation.as_ref().and_then(Glob::as_literal);
        let matches = |operation: &Glob| literal.is_some_and(|other| operation.matches(&other));
        has_callers
            && (text(&mine.operation) == text(&other.operation)
                || Paths::of(mine).is_some_and(|paths| paths.hold(&later.paths))
                || mine.operation.as_ref().is_some_and(matches))
    }

    /// Whether a format gives one of the two what the other should get.
    fn is_mixed_up_with(&self, later: &Self, taken: Taken) -> bool {
        let is_narrower = self.paths != later.paths && taken == Taken::Narrowest;
        self.paths.hold(&later.paths) && !(is_narrower && self.is_apart(later))
    }

    /// Whether what is meant differs already where it begins.
    fn is_apart(&self, later: &Self) -> bool {
        let mine = self.call.operation.as_ref().map_or("", Glob::as_str);
        let mine = rooted(mine.split(['*', '?', '[']).next().unwrap_or_default());
        let other = later.paths.start();
        !mine.starts_with(other) && !other.starts_with(&mine)
    }

    fn name(&self) -> String {
        let scope = scope(self.call).join(", ");
        if scope.is_empty() { "all operations".to_owned() } else { scope }
    }
}

/// The entries of calls to one server, without those that never hold, which are told.
///
/// # Errors
/// Two that the format cannot tell apart; `choice` says how it chooses.
pub(super) fn told_apart<'a>(
    entries: Vec<Entry<'a>>,
    taken: Taken,
    choice: &str,
    unsaid: &mut Vec<String>,
) -> Result<Vec<Entry<'a>>, String> {
    let mut kept: Vec<Entry<'a>> = Vec::new();
    for entry in entries {
        if let Some(hiding) = kept.iter().find(|earlier| earlier.hides(&entry)) {
            let (name, hiding) = (entry.name(), hiding.name());
            unsaid.push(format!("{name}: never holds, as {hiding} comes first in the policy"));
            continue;
        }
        if let Some(other) = kept.iter().find(|earlier| earlier.is_mixed_up_with(&entry, taken)) {
            let paths = quoted(other.paths.start());
            return Err(format!(
                "two [[call]] of the policy cannot be told apart: {}; and {}. The first can only be \
                 written for all paths from {paths} on; {choice}",
                other.name(),
                entry.name()
            ));
        }
        kept.push(entry);
    }
    Ok(kept)
}
