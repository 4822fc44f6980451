//! The checks of this repository, each by one command: `cargo xtask test`.

mod browser;
mod python;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

const HELP: &str = "\
The checks of this repository.

Usage: cargo xtask <COMMAND>

Commands:
  test      Run every check: formatting, lints, tests, the examples in the documentation, and the Python package
  python    Build the Python package into a new virtual environment and test it there
  settings  Write docs/settings.md and the arguments of the Python package from the declared settings
  browser   Open reports in a real browser; with --pictures, renew those in docs/pictures
  help      Print this text";

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
        Some("python") => python::run(),
        Some("settings") => settings(),
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
    println!("\n=== The Python package: cargo xtask python\n");
    python::run()?;
    println!("\n=== All checks passed in {} s", started.elapsed().as_secs());
    Ok(())
}

/// Writes what follows from the declared settings; the same test checks it.
fn settings() -> Result<()> {
    let mut test = cargo();
    test.args(["test", "--quiet", "-p", "diad", "--test", "settings_reference"]);
    check(test.env("DIAD_WRITE_SETTINGS", "1"), "the test that writes them")
}

/// The cargo that runs this program, at the root of the repository.
fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Where cargo builds.
fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Where a program is.
fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|candidate| candidate.is_file())
}

/// Installs Debian packages that something needs.
fn install_packages(what: &str, packages: &[&str]) -> Result<()> {
    if find("apt-get").is_none() {
        bail!("{what} need {}; install them", packages.join(", "));
    }
    println!("Installing {}", packages.join(", "));
    check(Command::new("apt-get").args(["update", "-qq"]), "apt-get update")?;
    let mut apt = Command::new("apt-get");
    apt.args(["install", "-y", "-qq", "--no-install-recommends"]).args(packages).stdout(Stdio::null());
    check(apt.env("DEBIAN_FRONTEND", "noninteractive"), "apt-get install")
}

/// Runs a program and fails if it does.
fn check(command: &mut Command, name: &str) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {name}"))?;
    if status.success() { Ok(()) } else { bail!("{name} failed") }
}
