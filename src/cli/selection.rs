//! Flags that say whose budgets are told, and of when.

use clap::Args;

use super::output::Fatal;
use crate::contract::Glob;
use crate::conventions::{SplitKeys, parse_instant};
use crate::date::Date;
use crate::report::Chosen;
use crate::selection;
use crate::units::UnixNanos;

/// Whose budgets, and of which requests.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Selection {
    #[command(flatten)]
    pub subject: Subject,

    #[command(flatten)]
    which: Which,
}

/// What tables are made of: it counts when traces are analyzed.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Subject {
    #[command(flatten)]
    scope: Scope,

    #[command(flatten)]
    by: By,
}

/// Whose budgets.
#[derive(Clone, Debug, Default, Args)]
struct Scope {
    /// Tell of calls into one service, by caller, in the place of whole requests: the budget is what
    /// the caller had left when the call arrived, and elapsed, hops, attempts, findings, late and
    /// residual work are those below it. Of calls within calls the outermost counts. --by goes by
    /// the server's span
    #[arg(long, value_name = "service=NAME", value_parser = service)]
    scope: Option<String>,
}

/// What splits request classes.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct By {
    /// Split classes by a resource attribute of the root span, such as service.version; its values
    /// are told. May be repeated, or list several by commas, four at most
    #[arg(long = "by", value_name = "ATTRIBUTE", value_delimiter = ',', value_parser = attribute)]
    split_by: Vec<String>,
}

/// Which requests.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Which {
    /// Only requests of classes that match, as in 'storefront *'; may be repeated, one is enough
    #[arg(long, value_name = "PATTERN", value_parser = Glob::new)]
    class: Vec<Glob>,

    /// Only requests that began at this instant or later: 2026-03-02T10:00:00Z, or a day, which
    /// begins at 00:00 UTC
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    since: Option<UnixNanos>,

    /// Only requests that began before this instant; a day is not in it itself
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    until: Option<UnixNanos>,
}

impl Selection {
    /// Whole requests.
    pub(super) fn of_requests(by: &By, which: &Which) -> Self {
        let subject = Subject { scope: Scope::default(), by: by.clone() };
        Self { subject, which: which.clone() }
    }

    /// Which requests are told.
    pub(super) fn requests(&self) -> Result<selection::Selection, Fatal> {
        let Which { class, since, until } = &self.which;
        if let (Some(since), Some(until)) = (since, until)
            && since >= until
        {
            let message = "--until is not after --since: no request can have begun between";
            return Err(Fatal::Usage(message.to_owned()));
        }
        Ok(selection::Selection { classes: class.clone(), since: *since, until: *until })
    }

    /// What a report tells of it.
    pub(super) fn told(&self, requests: u64, left_out: u64) -> Option<Chosen> {
        let Which { class, since, until } = &self.which;
        let is_all = class.is_empty() && since.is_none() && until.is_none();
        let classes = class.iter().map(|glob| glob.as_str().to_owned()).collect();
        (!is_all).then_some(Chosen { classes, since: *since, until: *until, requests, left_out })
    }
}

impl Subject {
    /// A flag that counts only when traces are analyzed, if one was given.
    pub(super) fn first_given(&self) -> Option<&'static str> {
        let given =
            [(self.scope.scope.is_some(), "--scope"), (!self.by.split_by.is_empty(), "--by")];
        given.into_iter().find_map(|(is_given, flag)| is_given.then_some(flag))
    }

    /// The flags as arguments again, for a task of a cluster.
    pub(super) fn arguments(&self) -> Vec<String> {
        let scope = self.scope.scope.iter().map(|name| format!("--scope=service={name}"));
        scope.chain(self.by_arguments()).collect()
    }

    /// The same of those that count where attributes are read.
    pub(super) fn by_arguments(&self) -> Vec<String> {
        self.by.split_by.iter().map(|key| format!("--by={key}")).collect()
    }

    /// The service of `--scope`.
    pub(super) fn scope(&self) -> Option<String> {
        self.scope.scope.clone()
    }

    /// The attributes of `--by`.
    pub(super) fn split_by(&self) -> &[String] {
        &self.by.split_by
    }

    /// The same, for whoever reads attributes.
    pub(super) fn split_keys(&self) -> Result<SplitKeys, Fatal> {
        SplitKeys::new(self.by.split_by.iter().cloned()).ok_or_else(|| {
            Fatal::Usage(format!("--by takes {} attributes at most", SplitKeys::MOST))
        })
    }
}

fn service(text: &str) -> Result<String, &'static str> {
    let service = text.strip_prefix("service=").map(str::trim).filter(|name| !name.is_empty());
    service.map(str::to_owned).ok_or("expected service= and a name, as in service=payments")
}

fn attribute(text: &str) -> Result<String, &'static str> {
    let key = text.trim();
    if key.is_empty() { Err("expected the name of an attribute") } else { Ok(key.to_owned()) }
}

fn instant(text: &str) -> Result<UnixNanos, &'static str> {
    let day = Date::parse(text).map(|day| format!("{day}T00:00:00Z"));
    parse_instant(day.as_deref().unwrap_or(text))
        .ok_or("expected an instant such as 2026-03-02T10:00:00Z, or a day such as 2026-03-02")
}
