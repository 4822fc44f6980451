//! `cargo xtask python`: builds the Python package into a new virtual environment and tests it there.

use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::{cargo, check, find, install_packages, root, target};

/// What builds the package, and what its tests compare it with.
const NEEDED: [&str; 10] = [
    "maturin>=1.16,<2",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "duckdb",
    "scikit-learn>=1.9",
    "pyod",
    "matplotlib",
    "pytest",
];

/// Builds and tests.
pub fn run() -> Result<()> {
    let python =
        find("python3").context("there is no python3; install Python 3.10 or newer with its venv module")?;
    let mut complete = Command::new(&python);
    if !complete.args(["-c", "import ensurepip, venv"]).stderr(Stdio::null()).status()?.success() {
        // Debian has them in a package of their own.
        install_packages("the tests of the Python package", &["python3-venv"])?;
    }
    let folder = target().join("python");
    if folder.exists() {
        fs::remove_dir_all(&folder).context("cannot remove the earlier virtual environment")?;
    }
    check(Command::new(python).args(["-m", "venv"]).arg(&folder), "python3 -m venv")?;
    let python = folder.join("bin/python");
    let pip = || {
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        pip
    };
    check(pip().args(NEEDED), "pip install")?;
    // Together, so that both are built with the same features of other crates, and these once.
    check(cargo().args(["build", "-p", "diad-cli", "-p", "diad-python"]), "the build of diad")?;
    // As a user would install it, but for the profile: a release takes minutes, and most of this one is built already.
    let package = root().join("crates/diad-python");
    let mut install = pip();
    install.args(["--no-deps", "--no-build-isolation", "--config-settings=build-args=--profile=dev"]);
    check(install.arg(&package).env("PATH", path_with(&folder)?), "pip install of the package")?;
    let mut tests = Command::new(&python);
    tests.args(["-m", "pytest", "--durations=5", "-p", "no:cacheprovider"]).current_dir(&package);
    tests.env("DIAD", target().join("debug/diad")).env("PYTHONDONTWRITEBYTECODE", "1");
    check(&mut tests, "the tests of the Python package")
}

/// Where programs are looked for, first of all in a virtual environment: pip calls maturin.
fn path_with(folder: &std::path::Path) -> Result<std::ffi::OsString> {
    let others = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(folder.join("bin")).chain(std::env::split_paths(&others));
    std::env::join_paths(all).context("a folder of PATH has a name that cannot be used")
}
