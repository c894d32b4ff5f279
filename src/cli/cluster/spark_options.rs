//! Options of spark-submit that stand behind `--`, as far as they matter here.

use std::thread::available_parallelism;

use super::super::output::Fatal;

/// Options that have no value.
const ALONE: &[&str] = &["--verbose", "-v", "--supervise"];

/// Options that say what the verb says by itself.
const OURS: &[(&str, &str)] = &[
    ("--master", "give it before --"),
    ("--class", "the job is a Python file of dwindle's"),
    ("--py-files", "the job needs no other Python file"),
];

/// Options as they were given.
#[derive(Debug)]
pub(super) struct SparkOptions {
    given: Vec<(String, Option<String>)>,
}

impl SparkOptions {
    /// Reads them.
    pub(super) fn parse(words: &[String]) -> Result<Self, Fatal> {
        let mut given = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if !word.starts_with('-') {
                return Err(Fatal::Usage(format!(
                    "{word}: behind -- stand options of spark-submit, which begin with --; inputs stand \
                     before it"
                )));
            }
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None if ALONE.contains(&word.as_str()) => (word.as_str(), None),
                None => (word.as_str(), words.next().cloned()),
            };
            if value.is_none() && !ALONE.contains(&name) {
                return Err(Fatal::Usage(format!("behind --, {name} has no value")));
            }
            if let Some((_, why)) = OURS.iter().find(|(ours, _)| *ours == name) {
                return Err(Fatal::Usage(format!("behind --, {name}: {why}")));
            }
            given.push((name.to_owned(), value));
        }
        Ok(Self { given })
    }

    /// The same as arguments, but for the files that are to be shipped.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> {
        let others = self.given.iter().filter(|(name, _)| name != "--files");
        others.flat_map(|(name, value)| std::iter::once(name.as_str()).chain(value.as_deref()))
    }

    /// Further files to ship, joined by commas.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.values("--files")
    }

    /// What is configured under a key.
    pub(super) fn configured(&self, key: &str) -> Option<&str> {
        let set = self.given.iter().filter(|(name, _)| name == "--conf" || name == "-c");
        let mut pairs = set.filter_map(|(_, value)| value.as_deref()?.split_once('='));
        pairs.rfind(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// Whether the driver runs on a machine of the cluster, and not on this one.
    pub(super) fn is_driver_elsewhere(&self) -> bool {
        let mode = self.values("--deploy-mode").last();
        mode.or_else(|| self.configured("spark.submit.deployMode")) == Some("cluster")
    }

    /// How many tasks run at a time, as far as options tell.
    pub(super) fn cores(&self, master: Option<&str>) -> Option<u64> {
        let number = |option: &str, key: &str| {
            let told = self.values(option).last().or_else(|| self.configured(key));
            told.and_then(|told| told.parse::<u64>().ok())
        };
        master.and_then(cores_of_local).or_else(|| {
            number("--total-executor-cores", "spark.cores.max").or_else(|| {
                let executors = number("--num-executors", "spark.executor.instances")?;
                let cores = number("--executor-cores", "spark.executor.cores").unwrap_or(1);
                Some(executors.saturating_mul(cores))
            })
        })
    }

    fn values(&self, option: &str) -> impl Iterator<Item = &str> {
        self.given
            .iter()
            .filter(move |(name, _)| name == option)
            .filter_map(|(_, value)| value.as_deref())
    }
}

/// The cores of a master that is on this machine: `local`, `local[N]`, `local[*]` or
/// `local-cluster[WORKERS,CORES,MEMORY]`.
fn cores_of_local(master: &str) -> Option<u64> {
    let within = |start: &str| master.strip_prefix(start)?.strip_suffix(']');
    if master == "local" {
        return Some(1);
    }
    if let Some(cluster) = within("local-cluster[") {
        let mut numbers = cluster.split(',').map(|number| number.trim().parse::<u64>().ok());
        return Some(numbers.next()??.saturating_mul(numbers.next()??));
    }
    let threads = within("local[")?.split(',').next()?.trim();
    if threads == "*" {
        return available_parallelism().ok().and_then(|cores| u64::try_from(cores.get()).ok());
    }
    threads.parse().ok()
}
