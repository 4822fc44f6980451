//! `diad score` against nothing but scores: percentiles, p-values, severities and alerts, and with three reasons.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use diad::Detector;
use diad::table::FileSource;

use super::{Bench, Measure, memory, middle};
use crate::data::LABEL;
use crate::evaluate::fit;

/// The set that is scored.
const SET: &str = "donors";
/// What is asked of the command beside the table and the output.
const ASKED: [(&str, &[&str]); 2] = [
    ("percentiles, p-values, severities and alerts", &["--alert", "share=1%"]),
    ("these and three reasons", &["--alert", "share=1%", "--reasons", "3"]),
];
const ENDINGS: [&str; 2] = ["csv", "parquet"];

/// The command from Parquet to CSV and to Parquet, in turn with the library: a model opened, all rows scored, and a CSV file of row and score
/// written.
pub fn measure(bench: &Bench) -> Result<Vec<Measure>> {
    let program = memory::program(bench.options.diad.as_deref())?;
    let folder = tempfile::tempdir()?;
    let path = bench.path(SET)?;
    let model = folder.path().join("model.diad");
    fit(&bench.params, &FileSource::new(&path), &[LABEL])?.save(&model)?;
    let ways: Vec<(&str, &str, &[&str])> = ASKED
        .iter()
        .flat_map(|&(what, asked)| ENDINGS.iter().map(move |&ending| (what, ending, asked)))
        .collect();
    let mut seconds = vec![Vec::new(); ways.len()];
    let mut plain = Vec::new();
    let mut rows = 0;
    // Once before, so that all find the files in memory.
    for round in 0..=bench.options.rounds {
        let start = Instant::now();
        rows = scores_alone(&model, &path, &folder.path().join("plain.csv"))?;
        let mut took = vec![start.elapsed().as_secs_f64()];
        for (_, ending, asked) in &ways {
            let out = folder.path().join(format!("alerts.{ending}"));
            let start = Instant::now();
            let done = Command::new(&program)
                .arg("score")
                .args([&model, &path])
                .args(*asked)
                .arg("--threads")
                .arg(rayon::current_num_threads().to_string())
                .arg("-o")
                .arg(&out)
                .output()
                .with_context(|| format!("cannot start {}", program.display()))?;
            took.push(start.elapsed().as_secs_f64());
            ensure!(done.status.success(), "diad score failed: {}", String::from_utf8_lossy(&done.stderr));
        }
        eprintln!("round {round}: alone {:.3}, with {:.3?}", took[0], &took[1..]);
        if round > 0 {
            plain.push(took[0]);
            seconds.iter_mut().zip(&took[1..]).for_each(|(all, &one)| all.push(one));
        }
    }
    let base = middle(&plain)?;
    let measure = |((what, ending, _), seconds): (&(&str, &str, &[&str]), &Vec<f64>)| {
        let what = format!("time of `diad score`, {rows} rows of {SET} from Parquet to .{ending}, {what}");
        Ok(Measure::new(what, "the library: scores alone, to .csv", [middle(seconds)?, base], "s"))
    };
    ways.iter().zip(&seconds).map(measure).collect()
}

/// Opens a model and writes the score of every row of a table. Gives the number of rows.
fn scores_alone(model: &Path, table: &Path, out: &Path) -> Result<usize> {
    let detector = Detector::load(model)?;
    let scores = detector.score_all(&FileSource::new(table))?;
    let mut file = BufWriter::new(File::create(out)?);
    writeln!(file, "row,score")?;
    for (row, score) in scores.iter().enumerate() {
        writeln!(file, "{row},{score}")?;
    }
    file.flush()?;
    drop(file);
    fs::remove_file(out)?;
    Ok(scores.len())
}
