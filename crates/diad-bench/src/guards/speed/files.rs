//! `diad score` from a file to a file against a script that does the same with an isolation forest.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use diad::table::FileSource;
use serde_json::Value;

use super::memory::program;
use super::{Bench, Measure, middle};
use crate::data::LABEL;
use crate::evaluate::fit;
use crate::python::script;

/// The set that is scored.
const SET: &str = "donors";

/// Scores a Parquet file into a CSV file, in turn with the script.
pub fn measure(bench: &Bench) -> Result<Vec<Measure>> {
    let folder = std::env::temp_dir().join(format!("diad-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let measured = measure_in(bench, &folder);
    std::fs::remove_dir_all(&folder)?;
    measured
}

fn measure_in(bench: &Bench, folder: &Path) -> Result<Vec<Measure>> {
    let (table, python) = (bench.path(SET)?, bench.python()?);
    let program = program(bench.options.diad.as_deref())?;
    let (model, forest, scores) = (folder.join("m.diad"), folder.join("forest"), folder.join("scores.csv"));
    fit(&bench.params, &FileSource::new(&table), &[LABEL])?.save(&model)?;
    let threads = rayon::current_num_threads().to_string();
    let script = |what: &str| {
        let mut command = Command::new(&python);
        command
            .arg(script("forest_file.py"))
            .arg(what)
            .arg(&table)
            .arg(&forest)
            .args(["--threads", &threads]);
        command
    };
    run(&mut script("fit"))?;
    let mut ours: Vec<f64> = Vec::new();
    let mut theirs: [Vec<f64>; 2] = Default::default();
    let mut rows = 0.0;
    for round in 1..=bench.options.rounds {
        let start = Instant::now();
        let mut command = Command::new(&program);
        run(command
            .arg("score")
            .arg(&model)
            .arg(&table)
            .arg("-o")
            .arg(&scores)
            .args(["--threads", &threads]))?;
        ours.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let answer: Value = serde_json::from_slice(&run(script("score").arg(&scores))?)?;
        theirs[0].push(start.elapsed().as_secs_f64());
        let [seconds, count] = ["seconds", "rows"].map(|name| answer[name].as_f64());
        theirs[1].push(seconds.context("forest_file.py gave no seconds")?);
        rows = count.context("forest_file.py gave no rows")?;
        eprintln!(
            "round {round}: {:.3?}, the script {:.3?}",
            ours.last(),
            theirs.each_ref().map(|t| t.last())
        );
    }
    let ours = rows / middle(&ours)?;
    let rivals = [
        "a script of pandas and scikit-learn's IsolationForest, 100 trees, n_jobs=2",
        "the same script without its start",
    ];
    let what = format!("`diad score` from start to end, {rows} rows of {SET} from Parquet to CSV");
    rivals
        .into_iter()
        .zip(&theirs)
        .map(|(rival, theirs)| {
            Ok(Measure::new(what.clone(), rival, [ours, rows / middle(theirs)?], "rows/s"))
        })
        .collect()
}

/// Runs a program to its end; gives its output.
fn run(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(output.stdout)
}
