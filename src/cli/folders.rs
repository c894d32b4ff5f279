//! Analyze folders, one or several: what days were analyzed to is told as one.

use std::collections::BTreeSet;
use std::path::Path;

use rustc_hash::FxHashMap;

use super::manifest::Manifest;
use super::output::Fatal;
use crate::report::{Problem, RunFacts};
use crate::span::{Interner, SpanId, TraceId};
use crate::tables::folder::Folder;
use crate::tables::{Blame, Kept, ProblemRow, RequestRow, Severity, Tables};

/// What says that a request lies in several folders.
const OVERLAP: &str = "request_in_several_folders";

/// What says that parts of a trace, each with a root of its own, lie in several folders.
const CUT: &str = "trace_in_several_folders";

/// Folders that were analyzed in the same way, by name.
pub(super) struct Folders {
    all: Vec<(String, Folder, Manifest)>,
    /// By request the folder that tells it; empty where there is one folder.
    owners: FxHashMap<(TraceId, SpanId), Owner>,
    /// Requests that another folder tells as well as a folder, or better, by folder.
    overlaps: Vec<u64>,
}

/// Which folder tells a request.
#[derive(Clone, Copy)]
struct Owner {
    folder: usize,
    spans: i32,
}

impl Folders {
    /// Opens them; they have to be of one kind.
    pub(super) fn open(dirs: &[&Path]) -> Result<Self, Fatal> {
        // By name, so that their order on the command line changes nothing; each once.
        let dirs: BTreeSet<&Path> = dirs.iter().copied().collect();
        let mut all: Vec<(String, Folder, Manifest)> = Vec::new();
        for dir in dirs {
            let (folder, manifest): (Folder, Manifest) = Folder::open(dir)?;
            let name = dir.display().to_string();
            if let Some((first, _, other)) = all.first()
                && let Some(what) = difference(other, &manifest)
            {
                return Err(Fatal::Usage(format!(
                    "{first} and {name} were analyzed {what}: their numbers do not go together; \
                     analyze the traces of both in the same way, or tell them apart"
                )));
            }
            all.push((name, folder, manifest));
        }
        let overlaps = vec![0; all.len()];
        let mut folders = Self { all, owners: FxHashMap::default(), overlaps };
        if folders.all.len() > 1 {
            folders.settle()?;
        }
        Ok(folders)
    }

    /// Settles which folder tells each request: that with the most spans of it, of equals the first.
    fn settle(&mut self) -> Result<(), Fatal> {
        for (number, (_, folder, _)) in self.all.iter().enumerate() {
            let mut rows: Vec<RequestRow> = Vec::new();
            folder.read_all(&mut rows, &mut Interner::default())?;
            for row in rows {
                let own = Owner { folder: number, spans: row.spans };
                let key = (row.trace_id, row.root_span_id);
                let Some(owner) = self.owners.get_mut(&key) else {
                    self.owners.insert(key, own);
                    continue;
                };
                let worse = if owner.spans < own.spans {
                    std::mem::replace(owner, own).folder
                } else {
                    number
                };
                if let Some(count) = self.overlaps.get_mut(worse) {
                    *count += 1;
                }
            }
        }
        Ok(())
    }

    /// Their names, for messages.
    pub(super) fn name(&self) -> String {
        self.all.iter().map(|(name, ..)| name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The digest of the contracts by which they were analyzed.
    pub(super) fn contracts(&self) -> Option<&str> {
        self.all.first().map(|(.., manifest)| manifest.contracts.as_str())
    }

    /// The service whose calls they tell.
    pub(super) fn scope(&self) -> Option<&str> {
        self.all.first().and_then(|(.., manifest)| manifest.scope.as_deref())
    }

    /// Hands out the tables of each folder, with the requests that it tells.
    pub(super) fn read(
        &self,
        mut take: impl FnMut(Tables) -> Result<(), Fatal>,
    ) -> Result<(), Fatal> {
        for (number, (_, folder, _)) in self.all.iter().enumerate() {
            let mut tables = folder.tables()?;
            if !self.owners.is_empty() {
                tables.retain_requests(|trace, root| {
                    self.owners.get(&(trace, root)).is_some_and(|owner| owner.folder == number)
                });
            }
            take(tables)?;
        }
        Ok(())
    }

    /// Whether somebody chose traces of any by how they ended.
    pub(super) fn are_chosen(&self) -> bool {
        self.all.iter().any(|(.., manifest)| manifest.are_chosen())
    }

    /// What was wrong with their inputs, and how many requests another folder tells.
    pub(super) fn problems(&self) -> Result<Kept<ProblemRow>, Fatal> {
        let mut kept = Kept::default();
        for ((name, folder, _), &overlaps) in self.all.iter().zip(&self.overlaps) {
            let (mut rows, mut strings) = (Vec::new(), Interner::default());
            folder.read_all(&mut rows, &mut strings)?;
            kept.extend(rows, &strings);
            if overlaps > 0 {
                kept.rows.push(overlap(name, overlaps, &mut kept.strings));
            }
        }
        let (_, cut) = self.traces();
        if cut > 0 {
            kept.rows.push(cut_traces(cut, &mut kept.strings));
        }
        Ok(kept)
    }

    /// How many traces there are, and how many of them have requests in several folders; none where
    /// there is one folder.
    fn traces(&self) -> (u64, u64) {
        let mut parts: Vec<(TraceId, usize)> =
            self.owners.iter().map(|((trace, _), owner)| (*trace, owner.folder)).collect();
        parts.sort_unstable();
        parts.dedup();
        let (mut traces, mut cut) = (0, 0);
        for parts in parts.chunk_by(|(one, _), (other, _)| one == other) {
            traces += 1;
            cut += u64::from(parts.len() > 1);
        }
        (traces, cut)
    }

    /// What is known besides.
    pub(super) fn facts(self) -> Result<RunFacts, Fatal> {
        let Kept { rows, strings } = self.problems()?;
        let is_one = self.all.len() == 1;
        let (traces, _) = self.traces();
        let mut joined: Option<RunFacts> = None;
        for (_, folder, manifest) in self.all {
            let files_read = folder.files();
            let facts = RunFacts { files_read, ..manifest.run_facts(Vec::new()) };
            match &mut joined {
                Some(joined) => join(joined, facts),
                None => joined = Some(facts),
            }
        }
        let mut facts = joined.unwrap_or_default();
        if traces > 0 {
            facts.traces = traces;
        }
        facts.problems = rows.iter().map(|row| Problem::from_row(row, &strings)).collect();
        if !is_one {
            facts.problems.sort();
        }
        Ok(facts)
    }
}

/// In what two folders were analyzed differently.
fn difference(one: &Manifest, other: &Manifest) -> Option<&'static str> {
    if one.contracts != other.contracts {
        Some("by different contracts or deadlines")
    } else if one.scope != other.scope {
        Some("with different --scope")
    } else if one.split_by != other.split_by {
        Some("with different --by")
    } else {
        None
    }
}

fn cut_traces(count: u64, strings: &mut Interner) -> ProblemRow {
    let message = "traces of which parts lie in several folders, each told as a request of its own";
    let help = "analyze the files of one trace together: cut folders by time, not by service";
    ProblemRow {
        code: strings.intern(CUT),
        severity: Severity::Loss,
        blame: Blame::Input,
        count: i64::try_from(count).unwrap_or(i64::MAX),
        file: strings.intern(""),
        byte: None,
        line: None,
        record: None,
        message: strings.intern(message),
        help: strings.intern(help),
    }
}

fn overlap(folder: &str, count: u64, strings: &mut Interner) -> ProblemRow {
    let message = "requests that another folder holds too, with as many spans or more";
    let help = "each is told once, from the folder that holds most of it; spans and hops of the \
                input are counted in each";
    ProblemRow {
        code: strings.intern(OVERLAP),
        severity: Severity::Info,
        blame: Blame::Input,
        count: i64::try_from(count).unwrap_or(i64::MAX),
        file: strings.intern(folder),
        byte: None,
        line: None,
        record: None,
        message: strings.intern(message),
        help: strings.intern(help),
    }
}

/// Adds what another folder says.
fn join(joined: &mut RunFacts, facts: RunFacts) {
    let RunFacts {
        version,
        inputs,
        files,
        spans_read,
        spans_admitted,
        spans_rejected,
        traces,
        window,
        wordless_clients,
        clients,
        span_links,
        files_read,
        chosen_by,
        // Told of all together.
        problems: _,
        // The same in all.
        contracts: _,
        calibrated: _,
        scope: _,
        split_by: _,
        chosen: _,
    } = facts;
    if !joined.version.split(", ").any(|known| known == version) {
        joined.version = format!("{}, {version}", joined.version);
    }
    joined.files_read.extend(files_read);
    joined.chosen_by.extend(chosen_by);
    joined.chosen_by.sort_unstable();
    joined.chosen_by.dedup();
    joined.inputs.extend(inputs);
    joined.inputs.sort_unstable();
    joined.inputs.dedup();
    // Counts of a folder that somebody else wrote may be anything.
    for (sum, more) in [
        (&mut joined.files, files),
        (&mut joined.spans_read, spans_read),
        (&mut joined.spans_admitted, spans_admitted),
        (&mut joined.spans_rejected, spans_rejected),
        (&mut joined.traces, traces),
        (&mut joined.wordless_clients, wordless_clients),
        (&mut joined.clients, clients),
        (&mut joined.span_links, span_links),
    ] {
        *sum = sum.saturating_add(more);
    }
    joined.window = match (joined.window, window) {
        (Some((first, last)), Some((start, end))) => Some((first.min(start), last.max(end))),
        (one, other) => one.or(other),
    };
}
