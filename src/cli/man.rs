//! `dwindle man`: manual pages.

use std::path::PathBuf;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use super::output::{self, Fatal};
use super::{Cli, exit};

/// Print the manual page, or write one for each verb.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dwindle man | man -l -
  dwindle man --out ~/.local/share/man/man1")]
pub(super) struct Args {
    /// The folder to write dwindle.1 and a page for each verb to; made if absent
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    match &args.out {
        None => {
            let mut page = Vec::new();
            Man::new(command()).render(&mut page).map_err(Fatal::Output)?;
            output::print(&String::from_utf8_lossy(&page))?;
        }
        Some(dir) => std::fs::create_dir_all(dir)
            .and_then(|()| clap_mangen::generate_to(command(), dir))
            .map_err(|error| Fatal::Usage(format!("--out {}: {error}", dir.display())))?,
    }
    Ok(exit::DONE)
}

/// Without `help`, which is no verb to read of.
fn command() -> Command {
    Cli::command().disable_help_subcommand(true)
}
