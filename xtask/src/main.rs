//! The checks of this repository, each by one command: `cargo xtask test`.

mod browser;

use std::env;
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, bail};

const HELP: &str = "\
The checks of this repository.

Usage: cargo xtask <COMMAND>

Commands:
  test     Run every check: formatting, lints, tests, and the examples in the documentation
  browser  Open reports in a real browser; with --pictures, renew those in docs/pictures
  help     Print this text";

/// What `cargo xtask test` runs, in this order.
const CHECKS: [(&str, &[&str]); 4] = [
    ("Formatting", &["fmt", "--all", "--check"]),
    ("Lints", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
    ("Tests", &["test", "--workspace", "--all-targets"]),
    ("Examples in the documentation", &["test", "--workspace", "--doc"]),
];

fn main() -> ExitCode {
    let done = match env::args().nth(1).as_deref() {
        None | Some("help" | "--help" | "-h") => {
            println!("{HELP}");
            Ok(())
        }
        Some("test") => test(),
        Some("browser") => browser::run(&env::args().skip(2).collect::<Vec<_>>()),
        Some(other) => Err(anyhow::anyhow!("there is no command {other}; run `cargo xtask help`")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn test() -> Result<()> {
    let started = Instant::now();
    for (name, args) in CHECKS {
        println!("\n=== {name}: cargo {}\n", args.join(" "));
        let status =
            cargo().args(args).status().with_context(|| format!("cannot start cargo {}", args[0]))?;
        if !status.success() {
            bail!("{name} failed; run `cargo {}` to see it again", args.join(" "));
        }
    }
    println!("\n=== All checks passed in {} s", started.elapsed().as_secs());
    Ok(())
}

/// The cargo that runs this program, at the root of the repository.
fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    command
}
