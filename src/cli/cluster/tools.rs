//! What has to be on this machine for a job to be submitted, and what to do where it is not.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::super::output::Fatal;
use super::spark_options::SparkOptions;

/// What submits a job.
const SUBMIT: &str = "spark-submit";

/// Where an installed pyspark has it.
const OF_PYSPARK: &str = "import os, pyspark; \
    print(os.path.join(os.path.dirname(os.path.abspath(pyspark.__file__)), 'bin', 'spark-submit'))";

/// The modules that the driver needs and this Python lacks.
const LACKING: &str = "import importlib.util as u; \
    print(' '.join(m for m in ('pyarrow', 'pandas') if u.find_spec(m) is None))";

/// Which Java goes with which Spark.
const JAVA: &str = "Spark 4 runs on Java 17 or 21, Spark 3.5 on 8, 11 or 17";

/// The oldest Java that Spark 4 runs on.
const JAVA_OF_SPARK_4: u32 = 17;

/// Finds spark-submit, and that all is there that it needs.
pub(super) fn find(options: &SparkOptions) -> Result<PathBuf, Fatal> {
    let python = python(options);
    let submit = find_submit(&python)?;
    check_java(spark_major(&submit))?;
    if !options.is_driver_elsewhere() {
        check_python(&python)?;
    }
    Ok(submit)
}

fn find_submit(python: &str) -> Result<PathBuf, Fatal> {
    if let Some(home) = variable("SPARK_HOME") {
        let submit = Path::new(&home).join("bin").join(SUBMIT);
        return if submit.is_file() {
            Ok(submit)
        } else {
            Err(Fatal::Usage(format!(
                "SPARK_HOME is {home}, where there is no bin/{SUBMIT}: set it to where Spark is, or unset it"
            )))
        };
    }
    if let Some(submit) = in_path(SUBMIT) {
        return Ok(submit);
    }
    let told = said(python, ["-c", OF_PYSPARK]).ok().filter(|output| output.status.success());
    let told = told.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    told.map(PathBuf::from).filter(|submit| submit.is_file()).ok_or_else(|| {
        Fatal::Usage(format!(
            "no Spark: SPARK_HOME is not set, there is no {SUBMIT} in PATH, and {python} has no pyspark: \
             install the Spark that your cluster has, or python3 -m pip install 'pyspark[sql]' 'pandas<3'"
        ))
    })
}

/// The Python that the driver runs on, as Spark chooses it.
fn python(options: &SparkOptions) -> String {
    let configured = |key| options.configured(key).map(str::to_owned);
    configured("spark.pyspark.driver.python")
        .or_else(|| configured("spark.pyspark.python"))
        .or_else(|| variable("PYSPARK_DRIVER_PYTHON"))
        .or_else(|| variable("PYSPARK_PYTHON"))
        .unwrap_or_else(|| "python3".to_owned())
}

fn check_java(spark: Option<u32>) -> Result<(), Fatal> {
    let home = variable("JAVA_HOME").map(|home| Path::new(&home).join("bin").join("java"));
    let wrong = |what: String| {
        Err(Fatal::Usage(format!(
            "{what}. {JAVA}: install one (Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME \
             to where it is"
        )))
    };
    let java = match home {
        Some(java) if java.is_file() => java,
        Some(java) => {
            return wrong(format!(
                "no Java: JAVA_HOME says {}, which is not there",
                java.display()
            ));
        }
        None => match in_path("java") {
            Some(java) => java,
            None => {
                return wrong(
                    "no Java: JAVA_HOME is not set, and there is no java in PATH".to_owned(),
                );
            }
        },
    };
    let told = match said(&java, ["-version"]) {
        Ok(told) => told,
        Err(error) => return wrong(format!("{} cannot be started: {error}", java.display())),
    };
    let version = java_major(&String::from_utf8_lossy(&told.stderr));
    match (spark, version) {
        (Some(spark), Some(version)) if spark >= 4 && version < JAVA_OF_SPARK_4 => {
            wrong(format!("{} is Java {version}, too old for Spark {spark}", java.display()))
        }
        // Where it does not say what it is, Spark will.
        _ => Ok(()),
    }
}

fn check_python(python: &str) -> Result<(), Fatal> {
    let told = said(python, ["-c", LACKING]).map_err(|error| {
        Fatal::Usage(format!(
            "no Python: {python} cannot be started ({error}); the job runs on it: install Python 3, or name \
             another by PYSPARK_DRIVER_PYTHON"
        ))
    })?;
    let lacking = String::from_utf8_lossy(&told.stdout).trim().to_owned();
    if told.status.success() && lacking.is_empty() {
        return Ok(());
    }
    let lacking = if lacking.is_empty() { "a Python 3 that works".to_owned() } else { lacking };
    Err(Fatal::Usage(format!(
        "{python} lacks {lacking}: Spark needs pyarrow and pandas where the job is started, and pyarrow on \
         every worker: {python} -m pip install pyarrow 'pandas<3', or name another by PYSPARK_DRIVER_PYTHON"
    )))
}

/// The version before the first point in what `java -version` says; 8 says that it is 1.8.
fn java_major(told: &str) -> Option<u32> {
    let version = told.split('"').nth(1)?;
    let mut numbers =
        version.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().ok());
    match numbers.next()?? {
        1 => numbers.next()?,
        major => Some(major),
    }
}

/// Which Spark it is, as its files say.
fn spark_major(submit: &Path) -> Option<u32> {
    let home = fs::canonicalize(submit).ok()?.parent()?.parent()?.to_owned();
    let entries = fs::read_dir(home.join("jars")).ok()?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    // As in spark-core_2.13-4.0.1.jar.
    let versions = names.filter_map(|name| {
        let (_, version) = name.strip_prefix("spark-core_")?.split_once('-')?;
        version.split('.').next()?.parse().ok()
    });
    versions.max()
}

/// What a command says.
fn said<'a>(
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item = &'a str>,
) -> io::Result<Output> {
    Command::new(program).args(arguments).output()
}

/// The program of this name that a shell would start.
fn in_path(name: &str) -> Option<PathBuf> {
    let path = variable("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// A variable of the environment that says something.
#[expect(
    clippy::disallowed_methods,
    reason = "where other programs are is told by the environment"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
