//! `cargo xtask python`: builds the Python package into a new virtual environment and tests it there, and exports in other programs.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::{build_diad, cargo, check, find, install_packages, root, target};

/// What builds the package.
const MATURIN: &str = "maturin>=1.16,<2";

/// What the tests of the package compare it with, and what checks its types.
pub const TESTED_WITH: [&str; 15] = [
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "duckdb",
    "onnxruntime",
    "scikit-learn>=1.9",
    "pyod",
    "matplotlib",
    "altair>=5.5",
    "pytest",
    "mypy",
    "nbclient",
    "nbformat",
    "ipykernel",
];

/// What the tests in engines need. Spark's functions of pandas do not work with pandas 3.
const ENGINES: [&str; 7] =
    ["numpy", "pandas<3", "pyarrow", "duckdb>=2", "onnxruntime", "pyspark[connect]>=4", "pytest"];

/// A virtual environment.
pub struct Environment {
    folder: PathBuf,
}

impl Environment {
    /// A new one; an earlier one of that name is removed.
    pub fn new(folder: &Path) -> Result<Self> {
        let python = find("python3")
            .context("there is no python3; install Python 3.10 or newer with its venv module")?;
        let mut complete = Command::new(&python);
        if !complete.args(["-c", "import ensurepip, venv"]).stderr(Stdio::null()).status()?.success() {
            // Debian has them in a package of their own.
            install_packages("the tests of the Python package", &["python3-venv"])?;
        }
        if folder.exists() {
            fs::remove_dir_all(folder).context("cannot remove the earlier virtual environment")?;
        }
        check(Command::new(python).args(["-m", "venv"]).arg(folder), "python3 -m venv")?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Where a program of it is.
    pub fn program(&self, name: &str) -> PathBuf {
        let folder = if cfg!(windows) { "Scripts" } else { "bin" };
        self.folder.join(folder).join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }

    /// A program of it, which finds the others of it first.
    pub fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.program(name));
        if let Ok(path) = self.path() {
            command.env("PATH", path);
        }
        command
    }

    /// `pip install`.
    pub fn pip(&self) -> Command {
        let mut pip = self.command("python");
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        pip
    }

    /// Installs packages.
    pub fn install(&self, packages: &[&str]) -> Result<()> {
        check(self.pip().args(packages), "pip install")
    }

    /// Builds the `diad` command and the package, and installs the package as a user would, but for the profile: a release takes
    /// minutes. With the features of the other checks, what those built is used again. Needs maturin.
    pub fn install_diad(&self) -> Result<()> {
        build_diad()?;
        let mut install = self.pip();
        install.args(["--no-deps", "--no-build-isolation"]);
        install.arg("--config-settings=build-args=--profile=dev --features=diad-report/png");
        check(install.arg(root().join("crates/diad-python")), "pip install of the package")
    }

    /// Where programs are looked for, first of all in the environment: pip calls maturin.
    fn path(&self) -> Result<OsString> {
        let others = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(self.programs()).chain(std::env::split_paths(&others));
        std::env::join_paths(all).context("a folder of PATH has a name that cannot be used")
    }

    /// The programs of the environment and no others.
    pub fn path_alone(&self) -> Result<OsString> {
        std::env::join_paths([self.programs()])
            .context("the folder of programs has a name that cannot be used")
    }

    fn programs(&self) -> PathBuf {
        self.program("python").parent().map(Path::to_owned).unwrap_or_default()
    }

    /// Runs the tests of the package with a `diad` command.
    pub fn test(&self, command: &Path, options: &[&str]) -> Result<()> {
        self.test_in("crates/diad-python", command, options)
    }

    /// Runs the tests of a folder with a `diad` command.
    fn test_in(&self, folder: &str, command: &Path, options: &[&str]) -> Result<()> {
        let mut tests = self.command("python");
        tests.args(["-m", "pytest", "--durations=5", "-p", "no:cacheprovider"]).args(options);
        tests.current_dir(root().join(folder));
        tests.env("DIAD", command).env("PYTHONDONTWRITEBYTECODE", "1");
        check(&mut tests, &format!("the tests in {folder}"))
    }
}

/// Builds and tests.
pub fn run() -> Result<()> {
    let environment = install("python", &TESTED_WITH)?;
    environment.test(&target().join("debug/diad"), &[])?;
    environment.test_in("tests/exports", &target().join("debug/diad"), &[])
}

/// Builds, and tests in Spark, DuckDB and DataFusion; or compares exports over many rows.
pub fn engines(options: &[String]) -> Result<()> {
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let with_datafusion = match options[..] {
        [] => true,
        ["--no-datafusion"] => false,
        ["--rows", rows] => return exports(rows),
        _ => bail!("cargo xtask engines takes --no-datafusion or --rows N"),
    };
    find_java()?;
    let (environment, command) = (install("engines", &ENGINES)?, target().join("debug/diad"));
    let tests = ["tests/test_duckdb.py", "tests/test_spark.py", "tests/test_cluster.py"];
    environment.test(&command, &[&["-m", "cluster or not cluster"], &tests[..]].concat())?;
    environment.test_in("tests/exports", &command, &["-k", "spark"])?;
    if with_datafusion { datafusion(&command) } else { Ok(()) }
}

/// Compares exports with `diad score` over so many rows, in every engine. What is compared already stays so while the model and
/// its export are the same.
fn exports(rows: &str) -> Result<()> {
    rows.parse::<usize>().with_context(|| format!("--rows {rows} is no number of rows"))?;
    find_java()?;
    if find("initdb").is_none() && !Path::new("/usr/lib/postgresql").exists() {
        install_packages("exports in PostgreSQL", &["postgresql"])?;
    }
    check(cargo().args(["build", "--release", "-p", "diad-cli"]), "the build of diad")?;
    let environment = Environment::new(&target().join("exports"))?;
    environment.install(&ENGINES)?;
    let mut parity = environment.command("python");
    parity.arg(root().join("crates/diad-bench/python/exports.py")).arg("parity");
    parity.arg("--diad").arg(target().join("release/diad"));
    parity.args(["--rows", rows, "--all-engines", "--results"]).arg(target().join("exports.jsonl"));
    check(&mut parity, "exports.py parity")
}

fn find_java() -> Result<()> {
    match find("java") {
        Some(_) => Ok(()),
        None => install_packages("the tests in Spark", &["openjdk-17-jre-headless"]),
    }
}

/// Tests the crate for DataFusion with a `diad` command. It is a workspace of its own, which only this builds: DataFusion takes
/// many minutes.
fn datafusion(command: &Path) -> Result<()> {
    let folder = root().join("crates/diad-datafusion");
    for args in [
        &["fmt", "--check"][..],
        &["clippy", "--all-targets", "--", "-D", "warnings"],
        &["test", "--all-targets"],
        &["test", "--doc"],
    ] {
        let name = format!("cargo {} in crates/diad-datafusion", args.join(" "));
        check(cargo().args(args).current_dir(&folder).env("DIAD", command), &name)?;
    }
    Ok(())
}

/// Builds the package into a new virtual environment, with other packages.
fn install(name: &str, packages: &[&str]) -> Result<Environment> {
    let environment = Environment::new(&target().join(name))?;
    environment.install(&[&[MATURIN], packages].concat())?;
    environment.install_diad()?;
    Ok(environment)
}
