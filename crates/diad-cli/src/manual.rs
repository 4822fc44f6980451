//! `diad completions` and `diad man`: completion scripts and manual pages.

use std::io;
use std::path::PathBuf;

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::output::{self, Pending, shown, unwritable};

/// Print a completion script for a shell
#[derive(clap::Args)]
#[command(after_help = COMPLETIONS)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

const COMPLETIONS: &str = "\
Examples:
  diad completions bash > ~/.local/share/bash-completion/completions/diad
  diad completions zsh > ~/.zfunc/_diad
  diad completions fish > ~/.config/fish/completions/diad.fish";

/// Print the manual page, or write the pages of all commands
#[derive(clap::Args)]
#[command(after_help = MANUAL)]
pub struct Manual {
    /// The folder for diad.1, diad-fit.1 and so on; without it, diad.1 is printed
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

const MANUAL: &str = "\
Examples:
  diad man | man -l -
  diad man --dir ~/.local/share/man/man1";

pub fn complete(args: &Completions) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::Cli::command(), "diad", &mut script);
    output::say(&String::from_utf8_lossy(&script))
}

pub fn run(args: &Manual) -> Result<()> {
    let command = crate::Cli::command();
    let Some(folder) = &args.dir else {
        return output::say(&page(command, "diad")?);
    };
    std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, error))?;
    let mut pages = vec![("diad".to_owned(), command.clone())];
    let named = |command: &clap::Command| (format!("diad-{}", command.get_name()), command.clone());
    pages.extend(command.get_subcommands().filter(|command| command.get_name() != "help").map(named));
    for (name, command) in &pages {
        let mut pending = Pending::new(&folder.join(format!("{name}.1")))?;
        let text = page(command.clone(), name)?;
        io::Write::write_all(pending.file(), text.as_bytes()).map_err(|error| pending.unwritable(error))?;
        pending.commit()?;
    }
    output::say(&format!("Wrote {} pages to {}.\n", pages.len(), shown(folder)))
}

fn page(command: clap::Command, name: &str) -> Result<String> {
    let mut text = Vec::new();
    // A page must not outlive the program, so a copy of the name may stay for as long.
    let name: &'static str = name.to_owned().leak();
    clap_mangen::Man::new(command.name(name).bin_name(name.replace('-', " "))).render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
