//! The Python side of the benchmarks: an interpreter with its packages, and a script that answers requests.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the scripts import.
const PACKAGES: [&str; 11] = [
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "scikit-learn",
    "torch",
    "pyod",
    "isotree",
    "catboost",
    "xgboost",
    "interpret-core",
];
/// Where the interpreter is made if none is given.
const ENVIRONMENT: &str = "target/bench-venv";

/// The interpreter given, or one in a virtual environment made on first use.
///
/// # Errors
/// If the environment cannot be made.
pub fn interpreter(given: Option<&Path>) -> Result<PathBuf> {
    if let Some(path) = given {
        return Ok(path.to_path_buf());
    }
    let folder = Path::new(ENVIRONMENT);
    let binaries = folder.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let python = binaries.join("python");
    let complete = folder.join("complete");
    let packages = PACKAGES.join("\n");
    if std::fs::read_to_string(&complete).is_ok_and(|installed| installed != packages) {
        std::fs::remove_file(&complete)?;
    }
    if !complete.exists() {
        eprintln!("making a Python environment in {ENVIRONMENT}");
        call(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
        call(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(PACKAGES))?;
        std::fs::write(&complete, packages)?;
    }
    Ok(python)
}

/// Sees to it that the interpreter has this repository's Python package; installs it if it may.
///
/// # Errors
/// If it is missing and may not or cannot be installed.
pub fn with_package(python: &Path, install: bool) -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("diad-python");
    if install {
        return call(Command::new(python).args(["-m", "pip", "install", "--quiet"]).arg(folder));
    }
    let found = Command::new(python).args(["-c", "import diad"]).stderr(Stdio::null()).status()?;
    ensure!(
        found.success(),
        "{} has no diad package: pip install {} first",
        python.display(),
        folder.display()
    );
    Ok(())
}

fn call(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(status.success(), "{command:?} failed");
    Ok(())
}

/// The path of one of the scripts of this crate.
pub fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("python").join(name)
}

/// What `peers.py` answers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PeerAnswer {
    /// The package and its version.
    pub version: String,
    /// ROC-AUC in %.
    pub auc: f64,
    /// Average precision in %.
    pub ap: f64,
    /// Seconds of the fit.
    pub fit_seconds: f64,
    /// Seconds of the scoring.
    pub score_seconds: f64,
    /// Rows that the method was fitted on.
    pub fitted_rows: usize,
    /// Rows that were scored.
    pub rows: usize,
    /// The rows in each share of the top that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<Vec<usize>>,
}

/// A running script. It reads one request a line and answers each with one JSON object a line.
#[derive(Debug)]
pub struct Worker {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    name: String,
}

impl Worker {
    /// Starts a script and waits until it says that it is ready.
    ///
    /// # Errors
    /// If it cannot be started or ends before it is ready.
    pub fn start(python: &Path, name: &str, arguments: &[String]) -> Result<Self> {
        let mut child = Command::new(python)
            .arg(script(name))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", python.display()))?;
        let requests = child.stdin.take().context("the script has no standard input")?;
        let answers = BufReader::new(child.stdout.take().context("the script has no standard output")?);
        let mut worker = Self { child, requests, answers, name: name.into() };
        let ready = worker.answer()?;
        ensure!(ready["ready"] == true, "{name} said {ready} instead of being ready");
        Ok(worker)
    }

    /// Sends a request and waits for the answer.
    ///
    /// # Errors
    /// If the script has ended.
    pub fn ask(&mut self, request: &str) -> Result<Value> {
        writeln!(self.requests, "{request}").with_context(|| format!("{} has ended", self.name))?;
        self.requests.flush()?;
        self.answer()
    }

    /// Sends a request and returns the figures; nothing where the method fails, of which the reason is printed.
    ///
    /// # Errors
    /// If the script has ended or answers something else.
    pub fn figures<A: DeserializeOwned>(&mut self, request: &Value) -> Result<Option<A>> {
        let answer = self.ask(&request.to_string())?;
        if let Some(error) = answer.get("error") {
            eprintln!("{request}: {error}");
            return Ok(None);
        }
        let figures = serde_json::from_value(answer);
        figures.map(Some).with_context(|| format!("{} gave an unknown answer", self.name))
    }

    /// Sends a request and returns the number `field` of the answer.
    ///
    /// # Errors
    /// If the script has ended or gives no such number.
    pub fn number(&mut self, request: &str, field: &str) -> Result<f64> {
        let answer = self.ask(request)?;
        answer[field].as_f64().with_context(|| format!("{} gives no {field} in {answer}", self.name))
    }

    fn answer(&mut self) -> Result<Value> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        ensure!(!line.is_empty(), "{} ended early; its message is above", self.name);
        serde_json::from_str(&line).with_context(|| format!("{} said {line}", self.name))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // The script ends when its input does; a killed one is no loss either.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
