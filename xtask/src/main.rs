//! The checks of this repository, each by one command: `cargo xtask test`.

mod browser;
mod deny;
mod links;
mod python;
mod site;
mod wheel;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

const HELP: &str = "\
The checks of this repository.

Usage: cargo xtask <COMMAND>

Commands:
  test      Run every check: formatting, lints, tests, documentation and its examples, and the Python package
  python    Build the Python package into a new virtual environment and test it there, and exports in other programs
  engines   Test the Python package in Spark, on a cluster of this machine, and in DuckDB, and the crate for DataFusion;
            needs Java and, for DataFusion, the Rust of its Cargo.toml; with --no-datafusion, without that crate, which
            takes many minutes to build; with --rows N, compare the exports of six models with `diad score` over N rows
            in DuckDB, SQLite, PostgreSQL, Spark and onnxruntime instead, going on where an earlier run was ended
  wheel     Build the Python package as it is published, and test it without Rust; with --no-test, build only
  site      Build the documentation as a web site in target/site/html, and check its links
  settings  Write docs/settings.md and the arguments of the Python package from the declared settings
  package   Pack every crate for users as a registry would get it, and build it from there; with --no-verify, pack only
  deny      Look through the licences and advisories of all dependencies, where cargo-deny is installed
  browser   Open reports in a real browser; with --pictures, renew those in docs/pictures
  help      Print this text";

/// What a release has and a newcomer's first build has not.
const PICTURES: &str = "--features=diad-cli/png";

/// What `cargo xtask test` runs, in this order.
const CHECKS: [(&str, &[&str]); 5] = [
    ("Formatting", &["fmt", "--all", "--check"]),
    ("Lints", &["clippy", "--workspace", "--all-targets", PICTURES, "--", "-D", "warnings"]),
    ("Tests", &["test", "--workspace", "--all-targets", PICTURES]),
    ("Examples in the documentation", &["test", "--workspace", "--doc", PICTURES]),
    ("Documentation", &["doc", "--workspace", "--no-deps", PICTURES]),
];

/// What is published. Cargo finds the order.
const PUBLISHED: [&str; 6] = ["diad-kernel", "diad-table", "diad-arrow", "diad", "diad-report", "diad-cli"];

fn main() -> ExitCode {
    let done = match env::args().nth(1).as_deref() {
        None | Some("help" | "--help" | "-h") => {
            println!("{HELP}");
            Ok(())
        }
        Some("test") => test(),
        Some("python") => python::run(),
        Some("engines") => python::engines(&env::args().skip(2).collect::<Vec<_>>()),
        Some("wheel") => wheel::run(&env::args().skip(2).collect::<Vec<_>>()),
        Some("site") => site::run(),
        Some("settings") => settings(),
        Some("package") => package(&env::args().skip(2).collect::<Vec<_>>()),
        Some("deny") => deny::run(),
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
        let status = cargo()
            .args(args)
            .env("RUSTDOCFLAGS", "-D warnings")
            .status()
            .with_context(|| format!("cannot start cargo {}", args[0]))?;
        if !status.success() {
            bail!("{name} failed; run `cargo {}` to see it again", args.join(" "));
        }
    }
    println!("\n=== The Python package: cargo xtask python\n");
    python::run()?;
    println!("\n=== All checks passed in {} s", started.elapsed().as_secs());
    Ok(())
}

/// Packs the crates for users as `cargo publish` would, without sending them anywhere.
fn package(options: &[String]) -> Result<()> {
    let mut package = cargo();
    package.args(["publish", "--dry-run", "--allow-dirty"]).args(options);
    check(package.args(PUBLISHED.into_iter().flat_map(|name| ["-p", name])), "cargo publish --dry-run")
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

/// Builds the `diad` command and the Python package in one go, so that whatever needs one of them uses what is there.
fn build_diad() -> Result<()> {
    check(cargo().args(["build", "-p", "diad-cli", "-p", "diad-python", PICTURES]), "the build of diad")
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
