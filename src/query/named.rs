//! The queries that come along: the files of `queries/`, each one table expression.

/// A query with a name.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// Its name, which is its file's.
    pub name: &'static str,
    /// The file.
    pub text: &'static str,
}

macro_rules! named {
    ($($name:literal,)+) => {
        &[$(Named { name: $name, text: include_str!(concat!("../../queries/", $name, ".sql")) },)+]
    };
}

/// All of them, in alphabetical order.
pub const NAMED: &[Named] = named![
    "attempts_by_ordinal",
    "blind_spots",
    "budget_by_boundary",
    "class_percentiles",
    "class_summary",
    "consumption",
    "coverage",
    "edges",
    "evidence",
    "findings",
    "grants",
    "late_work",
    "outcomes",
    "problems",
    "queue_time",
    "reset_hops",
    "residual_work",
    "retry_layers",
    "slowest_requests",
    "waste",
];

impl Named {
    /// The query of a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        NAMED.iter().find(|query| query.name == name)
    }

    /// What it is for: the first line of the file.
    pub fn purpose(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("-- ")
    }

    /// The name of its file.
    pub fn file(&self) -> String {
        format!("queries/{}.sql", self.name)
    }
}
