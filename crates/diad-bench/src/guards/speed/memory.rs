//! Peak memory of `diad fit` against the size of its table.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{Bench, Measure};
use crate::data::LABEL;
use crate::python::script;

/// The sets that are fitted.
const SETS: [&str; 2] = ["census", "donors"];
/// Bytes of a mebibyte.
const MIB: f64 = 1_048_576.0;

/// Fits each set by the command line, once: the peak hardly varies.
pub fn measure(bench: &Bench) -> Result<Vec<Measure>> {
    let python = bench.python()?;
    let program = program(bench.options.diad.as_deref())?;
    SETS.iter()
        .map(|name| {
            let table = {
                let source = bench.source(name)?;
                let training = bench.params.fitting(&source).ignore(LABEL).read()?;
                4.0 * (training.encoder().columns().len() * training.rows()) as f64
            };
            let peak = peak(bench, &python, &program, &bench.path(name)?)?;
            eprintln!("{name}: {:.0} MiB", peak / MIB);
            let what = format!("peak memory of `diad fit`, {name}");
            Ok(Measure::new(what, "the table as float32", [peak / MIB, table / MIB], "MiB"))
        })
        .collect()
}

/// The `diad` program given, or the one beside this program.
pub fn program(given: Option<&Path>) -> Result<PathBuf> {
    let program = match given {
        Some(path) => path.to_path_buf(),
        None => std::env::current_exe()?.with_file_name(format!("diad{}", std::env::consts::EXE_SUFFIX)),
    };
    let remedy = "build it with cargo build --release -p diad-cli, or name it with --diad";
    ensure!(program.exists(), "there is no {}; {remedy}", program.display());
    Ok(program)
}

/// The maximum resident set of `diad fit` on a file, in bytes.
fn peak(bench: &Bench, python: &Path, program: &Path, table: &Path) -> Result<f64> {
    let folder = std::env::temp_dir().join(format!("diad-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let threads = rayon::current_num_threads().to_string();
    let overrides = bench.study.options.settings.pairs();
    let overrides = overrides.map(|(name, value)| format!("--{}={value}", name.replace('_', "-")));
    let output = Command::new(python)
        .arg(script("peak_memory.py"))
        .arg(program)
        .args(["--threads", &threads, "fit"])
        .arg(table)
        .args(["--ignore", LABEL])
        .args(overrides)
        .arg("--output")
        .arg(folder.join("model.diad"))
        .output();
    std::fs::remove_dir_all(&folder)?;
    let output = output.with_context(|| format!("cannot start {}", python.display()))?;
    ensure!(output.status.success(), "diad fit failed: {}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).context("peak_memory.py gave no JSON")?;
    answer["bytes"].as_f64().with_context(|| format!("peak_memory.py gave no bytes in {answer}"))
}
