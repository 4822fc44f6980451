//! Scoring a table from memory and from a file against isolation forests.

use std::time::Instant;

use anyhow::Result;
use diad::Detector;
use diad::table::{FileSource, Selection};

use super::{Bench, Measure, middle};
use crate::data::{LABEL, load};
use crate::evaluate::fit;
use crate::python::Worker;

/// The set that is scored.
const SET: &str = "donors";
/// What the script is asked for, and what it then does.
const RIVALS: [(&str, &str); 4] = [
    ("plain", "scikit-learn's IsolationForest, 100 trees, n_jobs=2"),
    ("threaded", "scikit-learn's IsolationForest, 100 trees, joblib told to use both threads"),
    ("isotree", "isotree's IsolationForest, 100 trees, nthreads=2"),
    ("file", "pandas and scikit-learn's IsolationForest, 100 trees, n_jobs=2"),
];

/// Scores all rows with a fitted detector and fitted forests, in turn.
pub fn measure(bench: &Bench) -> Result<Vec<Measure>> {
    let compiled = fit(&bench.params, &FileSource::new(bench.path(SET)?), &[LABEL])?;
    let exact = Detector::from_bytes(&compiled.to_bytes()?)?.exactly();
    let path = bench.path(SET)?;
    let source = FileSource::new(&path);
    let table = load(&source, &Selection::except(&[LABEL]))?;
    let mut scores = vec![0.0; table.rows()];
    compiled.score_into(&table, &mut scores)?;

    let python = bench.python()?;
    let threads = rayon::current_num_threads().to_string();
    let arguments = [path.display().to_string(), "--threads".into(), threads];
    let mut forest = Worker::start(&python, "forest.py", &arguments)?;
    let mut ours: [Vec<f64>; 3] = Default::default();
    let mut theirs: [Vec<f64>; RIVALS.len()] = Default::default();
    for round in 1..=bench.options.rounds {
        for (seconds, detector) in ours.iter_mut().zip([&compiled, &exact]) {
            let start = Instant::now();
            detector.score_into(&table, &mut scores)?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        let start = Instant::now();
        compiled.score_all(&source)?;
        ours[2].push(start.elapsed().as_secs_f64());
        for (seconds, (request, _)) in theirs.iter_mut().zip(RIVALS) {
            seconds.push(forest.number(request, "seconds")?);
        }
        let last = |seconds: &Vec<f64>| seconds.last().copied().unwrap_or(f64::NAN);
        let (ours, theirs) = (ours.each_ref().map(last), theirs.each_ref().map(last));
        eprintln!("round {round}: tables, trees, file {ours:.3?}; forests {theirs:.3?}");
    }
    let rows = table.rows() as f64;
    let how = if compiled.bound().is_some() { "by tables" } else { "exactly" };
    let ours = [
        (how, "in memory", &ours[0]),
        ("exactly", "in memory", &ours[1]),
        (how, "from a Parquet file", &ours[2]),
    ];
    let mut measures = Vec::new();
    for (how, place, ours) in ours {
        let from_file = place != "in memory";
        for ((request, rival), theirs) in RIVALS.iter().zip(&theirs) {
            if (*request == "file") != from_file {
                continue;
            }
            let (ours, theirs) = (middle(ours)?, middle(theirs)?);
            let what = format!("scoring speed, {} rows of {SET} {place}, {how}", table.rows());
            measures.push(Measure::new(what, *rival, [rows / ours, rows / theirs], "rows/s"));
        }
    }
    Ok(measures)
}
