//! The `dwindle` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    dwindle::cli::main()
}
