//! The binary, run as a user runs it.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a run gave.
#[derive(Debug)]
pub struct Ran {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// The command, in the project's folder, with nothing of the environment that could change it.
pub fn dwindle() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dwindle"));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    for name in ["NO_COLOR", "TERM", "COLUMNS"] {
        command.env_remove(name);
    }
    command
}

/// Runs it with arguments.
pub fn run(args: &[&str]) -> Ran {
    finished(dwindle().args(args))
}

/// Runs it with arguments and standard input.
pub fn run_with_input(args: &[&str], input: &[u8]) -> Ran {
    let mut command = dwindle();
    let mut child = command
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    ran(child.wait_with_output().unwrap())
}

/// Runs a command as it is.
pub fn finished(command: &mut Command) -> Ran {
    ran(command.output().unwrap())
}

fn ran(output: std::process::Output) -> Ran {
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// An empty folder under target/, its own for each name.
pub fn scratch(name: &str) -> std::path::PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}
