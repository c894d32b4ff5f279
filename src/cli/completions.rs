//! `dwindle completions`: what shells complete.

use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate};

use super::output::{self, Fatal};
use super::{Cli, NAME, exit, manifest};

/// Print what a shell needs to complete verbs and flags.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dwindle completions bash > ~/.local/share/bash-completion/completions/dwindle
  dwindle completions zsh > \"${fpath[1]}/_dwindle\"
  dwindle completions fish > ~/.config/fish/completions/dwindle.fish")]
pub(super) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Runs it.
pub(super) fn run(args: &Args) -> Result<u8, Fatal> {
    let mut script = Vec::new();
    generate(args.shell, &mut command(), NAME, &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(exit::DONE)
}

/// Without what is hidden, which shells would list.
fn command() -> Command {
    let all = Cli::command();
    let verbs = all.get_subcommands().filter(|verb| !verb.is_hide_set()).cloned();
    Command::new(NAME).version(manifest::VERSION).subcommands(verbs)
}
