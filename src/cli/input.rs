//! Flags that say what to read and by which rules.

use std::fs;
use std::path::Path;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::output::Fatal;
use crate::budget::TOLERANCE_FLOOR;
use crate::contract::{Contract, ContractFile, Glob};
use crate::conventions::Conventions;
use crate::ingest::Limits;
use crate::reconstruct::{Outlined, Policy};
use crate::tables::folder::Folder;
use crate::units::Nanos;

/// What to read.
#[derive(Clone, Debug, Args)]
pub(super) struct Inputs {
    /// Exported traces: files, folders, patterns, or - for standard input. The format and the
    /// compression are told from the content, never from the name
    #[arg(required = true, value_name = "INPUT")]
    pub paths: Vec<String>,

    /// More attribute keys (TOML), which extend or override those built in
    #[arg(long, value_name = "FILE")]
    conventions: Option<String>,

    /// Also take generic attributes such as `timeout_ms` or `deadline_ms` for timeouts (off: they
    /// mean too many things)
    #[arg(long)]
    heuristics: bool,

    /// How many threads read and analyse [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,

    /// The largest line, document, frame or Parquet file that is read, in MiB as it is after
    /// decompression: each thread may hold one in memory. Larger ones are skipped and told
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    max_record: u32,

    /// How many times its size compressed data may expand beyond 64 MiB, so that no small file can
    /// fill the machine: exports expand 10 to 30 times, since ids are random; bombs 1,030 (gzip)
    /// to 32,000 times (zstd)
    #[arg(long, value_name = "RATIO", default_value_t = Limits::default().expansion, value_parser = clap::value_parser!(u32).range(1..))]
    max_expansion: u32,

    /// Exit with 3 if spans or evidence were lost; what was lost is told as problems in any case
    #[arg(long)]
    pub strict: bool,

    /// No progress on standard error
    #[arg(long, short)]
    pub quiet: bool,
}

impl Inputs {
    /// The attribute keys to go by.
    pub(super) fn conventions(&self) -> Result<Conventions, Fatal> {
        let wrong = |error| Fatal::Config { flag: "--conventions", error };
        let mut conventions = Conventions::embedded().map_err(wrong)?;
        if let Some(file) = &self.conventions {
            let text = read("--conventions", file)?;
            conventions = conventions.with_file(file, &text).map_err(wrong)?;
        }
        Ok(conventions.heuristics(self.heuristics))
    }

    /// The same, reading one of the paths only.
    pub(super) fn only(&self, path: &str) -> Self {
        Self { paths: vec![path.to_owned()], ..self.clone() }
    }

    /// What an input may cost.
    pub(super) fn limits(&self) -> Limits {
        let record_bytes = usize::try_from(u64::from(self.max_record) << 20);
        Limits { record_bytes: record_bytes.unwrap_or(usize::MAX), expansion: self.max_expansion }
    }

    /// The file of `--conventions`.
    pub(super) fn conventions_path(&self) -> Option<&str> {
        self.conventions.as_deref()
    }

    /// Whether somebody said how many threads there are to be.
    pub(super) const fn has_threads(&self) -> bool {
        self.threads.is_some()
    }

    /// What says how files are read as arguments again, but for that file, for a task of a cluster.
    pub(super) fn arguments(&self) -> Vec<String> {
        let mut arguments = vec![
            format!("--max-record={}", self.max_record),
            format!("--max-expansion={}", self.max_expansion),
        ];
        arguments.extend(self.heuristics.then(|| "--heuristics".to_owned()));
        arguments
    }

    /// A flag that counts only when traces are read, if one was given.
    pub(super) fn first_given(&self) -> Option<&'static str> {
        let (limits, default) = (self.limits(), Limits::default());
        let given = [
            (self.conventions.is_some(), "--conventions"),
            (self.heuristics, "--heuristics"),
            (limits.record_bytes != default.record_bytes, "--max-record"),
            (limits.expansion != default.expansion, "--max-expansion"),
        ];
        given.into_iter().find_map(|(is_given, flag)| is_given.then_some(flag))
    }

    /// The analyze folders among the inputs.
    pub(super) fn folders(&self) -> Vec<&Path> {
        self.paths.iter().map(Path::new).filter(|path| Folder::is_one(path)).collect()
    }

    /// The same, where there are either folders or traces.
    pub(super) fn only_folders(&self) -> Result<Vec<&Path>, Fatal> {
        let folders = self.folders();
        match folders.first() {
            Some(dir) if folders.len() < self.paths.len() => Err(Fatal::Usage(format!(
                "{} is an analyze folder: give it with other such folders, or the traces it was \
                 made of",
                dir.display()
            ))),
            _ => Ok(folders),
        }
    }

    /// Refuses a folder of tables where traces are wanted.
    pub(super) fn refuse_folder(&self, verb: &str) -> Result<(), Fatal> {
        match self.folders().first() {
            Some(folder) => Err(Fatal::Usage(format!(
                "{} holds tables that were analyzed already: {verb} reads traces; give it those, \
                 or use dwindle report",
                folder.display()
            ))),
            None => Ok(()),
        }
    }

    /// Sets how many threads there are; once in a process.
    pub(super) fn start_threads(&self) {
        if let Some(threads) = self.threads {
            Self::start(threads);
        }
    }

    /// The same, with so many unless told otherwise.
    pub(super) fn start_threads_or(&self, threads: u16) {
        Self::start(self.threads.unwrap_or(threads));
    }

    /// Sets how many there are, for steps that read no inputs.
    pub(super) fn start(threads: u16) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads));
        // There is a pool already only where something has used it before, which then goes on.
        let _ = pool.build_global();
    }
}

/// Refuses a flag, if one was given, that says how traces are analyzed, where they were already, into
/// `folder`.
pub(super) fn refuse_late(flag: Option<&'static str>, folder: &str) -> Result<(), Fatal> {
    flag.map_or(Ok(()), |flag| {
        Err(Fatal::Usage(format!(
            "{flag} counts when traces are analyzed; {folder} was analyzed already: give it to \
             dwindle analyze"
        )))
    })
}

/// Takes one of a closed set of names.
pub(super) fn one_of<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name_of: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|&one| name_of(one))).try_map(move |name| {
        all.iter().copied().find(|&one| name_of(one) == name).ok_or("not one of the names")
    })
}

/// What the requests were promised, and how strictly to judge.
#[derive(Clone, Debug, Args)]
pub(super) struct Rules {
    #[command(flatten)]
    contracts: Contracts,

    #[command(flatten)]
    deadlines: Deadlines,

    #[command(flatten)]
    strictness: Strictness,

    /// Which traces are told span by span as well, for a verb that wants some.
    #[arg(skip)]
    outlined: Outlined,

    /// What nothing declares is told by durations and outcomes, for a verb that wants that.
    #[arg(skip)]
    is_calibrated: bool,
}

/// Whether durations and outcomes tell what nothing declares.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Calibrating {
    /// Go by what traces and flags declare alone. Otherwise, where traces are read without a contract,
    /// their durations and outcomes tell timeouts, deadlines and allowances, which are marked as
    /// inferred or measured (docs/inference.md)
    #[arg(long)]
    declared_only: bool,
}

/// What classes of requests were promised.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Contracts {
    /// Contracts (TOML): request classes with their deadlines, reserves and retries
    #[arg(long, value_name = "FILE")]
    contract: Option<String>,
}

/// What other requests were promised.
#[derive(Clone, Debug, Default, Args)]
struct Deadlines {
    /// A deadline for requests that no contract matches, in place of what their root spans declare:
    /// 1s for all, or 'GET /items/*=800ms' for those whose root span's name (or method and route)
    /// matches; may be repeated, the first that matches holds
    #[arg(long, value_name = "[NAME=]DURATION", value_parser = Deadline::parse, allow_hyphen_values = true)]
    deadline: Vec<Deadline>,
}

/// How strictly to judge.
#[derive(Clone, Debug, Args)]
pub(super) struct Strictness {
    /// Two lengths count as equal within this or a 50th of the length, whichever is more
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "5ms",
        value_parser = Nanos::parse,
        allow_hyphen_values = true
    )]
    tolerance: Nanos,

    /// What tells how far the clocks of hosts are apart
    #[arg(long, value_enum, default_value = "pooled")]
    clock: Clocks,
}

/// What tells how far clocks are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Clocks {
    /// All traces of the input together
    Pooled,
    /// Each trace by itself
    PerTrace,
}

/// One `--deadline`.
#[derive(Clone, Debug)]
struct Deadline {
    operation: Option<Glob>,
    deadline: Nanos,
}

impl Deadline {
    fn parse(text: &str) -> Result<Self, String> {
        let (pattern, duration) = match text.rsplit_once('=') {
            Some((pattern, duration)) => (Some(pattern.trim()), duration.trim()),
            None => (None, text),
        };
        if pattern == Some("") {
            return Err("before `=` stands the name of a root span, or a pattern of it".to_owned());
        }
        let deadline = Nanos::parse(duration).map_err(|error| error.to_string())?;
        if deadline == Nanos::ZERO {
            return Err("a deadline of nothing cannot be met".to_owned());
        }
        Ok(Self { operation: pattern.map(Glob::new).transpose()?, deadline })
    }
}

impl Rules {
    /// Rules in which no flag sets a deadline, for a verb whose `--deadline` means something else.
    pub(super) fn without_deadlines(contracts: &Contracts, strictness: &Strictness) -> Self {
        Self {
            contracts: contracts.clone(),
            deadlines: Deadlines::default(),
            strictness: strictness.clone(),
            outlined: Outlined::None,
            is_calibrated: false,
        }
    }

    /// Whether what nothing declares is told by durations and outcomes.
    pub(super) const fn calibrates(&self) -> bool {
        self.is_calibrated
    }

    /// The same, going by what durations and outcomes tell as well, unless a contract was given or only
    /// what is declared is to count.
    pub(super) fn calibrated(&self, calibrating: Calibrating) -> Self {
        let is_calibrated = self.contracts.contract.is_none() && !calibrating.declared_only;
        Self { is_calibrated, ..self.clone() }
    }

    /// What tells how far clocks are apart.
    pub(super) const fn clock(&self) -> Clocks {
        self.strictness.clock
    }

    /// A flag that counts only when traces are analyzed, if one was given; a contract counts after
    /// that too where it is judged.
    pub(super) fn first_given(&self, is_judged: bool) -> Option<&'static str> {
        let given = [
            (self.contracts.contract.is_some() && !is_judged, "--contract"),
            (!self.deadlines.deadline.is_empty(), "--deadline"),
            (self.strictness.tolerance != TOLERANCE_FLOOR, "--tolerance"),
            (self.clock() != Clocks::Pooled, "--clock"),
        ];
        given.into_iter().find_map(|(is_given, flag)| is_given.then_some(flag))
    }

    /// A flag that says what requests were promised, if one was given.
    pub(super) fn first_of_requests(&self) -> Option<&'static str> {
        let contract = self.contracts.contract.as_ref().map(|_| "--contract");
        contract.or_else(|| self.deadlines.deadline.first().map(|_| "--deadline"))
    }

    /// The file of `--contract`.
    pub(super) fn contract_path(&self) -> Option<&str> {
        self.contracts.contract.as_deref()
    }

    /// `--deadline` as arguments again, for a task of a cluster.
    pub(super) fn deadline_arguments(&self) -> Vec<String> {
        let argument = |Deadline { operation, deadline }: &Deadline| {
            let name =
                operation.as_ref().map_or_else(String::new, |it| format!("{}=", it.as_str()));
            format!("--deadline={name}{}ns", deadline.as_nanos())
        };
        self.deadlines.deadline.iter().map(argument).collect()
    }

    /// How strictly to judge, likewise.
    pub(super) fn strictness_arguments(&self) -> Vec<String> {
        let tolerance = format!("--tolerance={}ns", self.strictness.tolerance.as_nanos());
        std::iter::once(tolerance).chain(self.clock_arguments()).collect()
    }

    /// `--clock`, likewise.
    pub(super) fn clock_arguments(&self) -> Vec<String> {
        let value = self.clock().to_possible_value();
        value.iter().map(|value| format!("--clock={}", value.get_name())).collect()
    }

    /// What the contract file holds, and its name.
    pub(super) fn contract_file(&self) -> Result<Option<(&str, ContractFile)>, Fatal> {
        let Some(file) = &self.contracts.contract else { return Ok(None) };
        let held = ContractFile::parse(file, &read("--contract", file)?)
            .map_err(|error| Fatal::Config { flag: "--contract", error })?;
        Ok(Some((file, held)))
    }

    /// The same, telling some traces span by span as well.
    pub(super) fn outlining(&self, outlined: Outlined) -> Self {
        Self { outlined, ..self.clone() }
    }

    /// The policy: contracts in file order, then `--deadline` in the order of the flags.
    pub(super) fn policy(&self) -> Result<Policy, Fatal> {
        let file = self.contract_file()?.map(|(_, file)| file).unwrap_or_default();
        let ContractFile { mut contracts, calls, suppressions: _ } = file;
        contracts.extend(self.deadlines.deadline.iter().enumerate().map(|(place, flag)| {
            let name = format!("--deadline {}", place + 1);
            Contract::deadline_only(name, flag.operation.clone(), flag.deadline)
        }));
        Ok(Policy {
            contracts,
            calls: calls.into(),
            tolerance: self.strictness.tolerance,
            outlined: self.outlined,
            ..Policy::default()
        })
    }
}

/// The text of a file that a flag names.
pub(super) fn read(flag: &'static str, path: &str) -> Result<String, Fatal> {
    fs::read_to_string(path).map_err(|error| Fatal::Unreadable {
        flag,
        path: path.to_owned(),
        error,
    })
}
