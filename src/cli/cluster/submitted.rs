//! A job on its way: the process that submits it, its events, its log, and that it ends when we do.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use tempfile::NamedTempFile;

use super::event::Event;

/// Runs what comes behind the first argument, and ends it when its standard input ends: that is when
/// this process does, in whatever way. Then the folder that the first argument names is of no use.
const WATCHED: &str = r#"
folder=$1
shift
exec 3<&0
"$@" </dev/null 3<&- &
job=$!
{ cat <&3; rm -rf -- "$folder"; kill "$job"; } >/dev/null 2>&1 &
watch=$!
exec 3<&-
wait "$job"
code=$?
kill "$watch" 2>/dev/null
exit "$code"
"#;

/// What of a log is looked at for why a job failed.
const TAIL_BYTES: u64 = 1 << 18;

/// So many lines of it are told.
const TOLD_LINES: usize = 5;

/// What lines hold that tell why.
const TELLING: &[&str] = &["Error", "error:", "ERROR", "Exception", "Caused by", "FATAL"];

/// Begins a log, in the temporary folder.
pub(super) fn log() -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix("dwindle-cluster-").suffix(".log").tempfile()
}

/// Runs a command that needs `folder`, hands over the events that it prints, and keeps whatever else it
/// prints in `log`.
pub(super) fn run(
    command: &[String],
    folder: &Path,
    log: &mut File,
    mut take: impl FnMut(Event),
) -> io::Result<ExitStatus> {
    let mut child = Command::new("sh")
        .args(["-c", WATCHED, "dwindle cluster"])
        .arg(folder)
        .args(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log.try_clone()?)
        .spawn()?;
    // It stays open until the command has ended.
    let _alive = child.stdin.take();
    if let Some(out) = child.stdout.take() {
        for line in BufReader::new(out).split(b'\n') {
            let line = line?;
            match Event::read(&String::from_utf8_lossy(&line)) {
                Some(event) => take(event),
                // What Python says on its standard error comes this way too.
                None => log.write_all(&line).and_then(|()| log.write_all(b"\n"))?,
            }
        }
    }
    child.wait()
}

/// The last lines of a log that tell why a job failed, or else the last.
pub(super) fn telling_lines(log: &mut File) -> io::Result<Vec<String>> {
    let len = log.seek(SeekFrom::End(0))?;
    log.seek(SeekFrom::Start(len.saturating_sub(TAIL_BYTES)))?;
    let mut tail = Vec::new();
    log.read_to_end(&mut tail)?;
    let text = String::from_utf8_lossy(&tail);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_telling =
        |line: &&str| !line.starts_with("at ") && TELLING.iter().any(|word| line.contains(word));
    let telling = lines().filter(is_telling).collect::<Vec<_>>();
    let told = if telling.is_empty() { lines().collect() } else { telling };
    let first = told.len().saturating_sub(TOLD_LINES);
    Ok(told.into_iter().skip(first).map(str::to_owned).collect())
}
