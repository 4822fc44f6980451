//! Scoring a table in memory against scikit-learn's isolation forest.

use std::ops::ControlFlow;
use std::time::Instant;

use anyhow::Result;
use diad::table::{FileSource, Selection};

use super::{Bench, Measure, middle};
use crate::data::{LABEL, load};
use crate::python::{Worker, interpreter};

/// The set that is scored.
const SET: &str = "donors";

/// Scores all rows with a fitted detector and a fitted forest, in turn.
pub fn measure(bench: &Bench) -> Result<Vec<Measure>> {
    let (encoder, matrix) = bench.encoded(SET)?;
    let detector = diad::fit(&bench.params, encoder, &matrix, &mut |_| ControlFlow::Continue(()))?;
    drop(matrix);
    let path = bench.path(SET)?;
    let table = load(&FileSource::new(&path), &Selection::except(&[LABEL]))?;
    let mut scores = vec![0.0; table.rows()];
    detector.score_into(&table, &mut scores)?;

    let python = interpreter(bench.options.python.as_deref())?;
    let threads = rayon::current_num_threads().to_string();
    let arguments = [path.display().to_string(), "--threads".into(), threads];
    let mut forest = Worker::start(&python, "forest.py", &arguments)?;
    let (mut ours, mut threaded, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=bench.options.rounds {
        let start = Instant::now();
        detector.score_into(&table, &mut scores)?;
        ours.push(start.elapsed().as_secs_f64());
        threaded.push(forest.number("threaded", "seconds")?);
        plain.push(forest.number("plain", "seconds")?);
        eprintln!("round {round}: {:?}, forest {:?} {:?}", ours.last(), threaded.last(), plain.last());
    }
    let (ours, rows) = (middle(&ours)?, table.rows() as f64);
    let measure = |how: &str, theirs: &[f64]| -> Result<Measure> {
        let theirs = middle(theirs)?;
        Ok(Measure {
            what: format!("scoring speed, {} rows of {SET} in memory", table.rows()),
            against: format!("scikit-learn's IsolationForest, 100 trees, {how}"),
            ratio: theirs / ours,
            value: rows / ours,
            base: rows / theirs,
            unit: "rows/s".into(),
        })
    };
    Ok(vec![measure("n_jobs=2", &plain)?, measure("joblib told to use both threads", &threaded)?])
}
