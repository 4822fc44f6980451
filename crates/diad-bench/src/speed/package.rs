//! Scoring through the Python package against the library.

use std::ops::ControlFlow;
use std::time::Instant;

use anyhow::Result;
use diad::table::{FileSource, Selection, Table};

use super::{Bench, Measure, middle};
use crate::data::{LABEL, load};
use crate::python::{Worker, interpreter, with_package};

/// The set whose rows are scored, again and again until there are enough.
const SET: &str = "donors";
const ROWS: usize = 1_000_000;

/// Scores a million rows in memory from Rust and from Python, in turn.
pub fn measure(bench: &Bench) -> Result<Vec<Measure>> {
    let (encoder, matrix) = bench.encoded(SET)?;
    let detector = diad::fit(&bench.params, encoder, &matrix, &mut |_| ControlFlow::Continue(()))?;
    drop(matrix);
    let path = bench.path(SET)?;
    let table = repeated(&load(&FileSource::new(&path), &Selection::except(&[LABEL]))?)?;
    let mut scores = vec![0.0; table.rows()];
    detector.score_into(&table, &mut scores)?;

    let folder = tempfile::tempdir()?;
    let model = folder.path().join("model.diad");
    detector.save(&model)?;
    let python = interpreter(bench.options.python.as_deref())?;
    with_package(&python, bench.options.python.is_none())?;
    let threads = rayon::current_num_threads().to_string();
    let [model, path] = [&model, &path].map(|path| path.display().to_string());
    let mut package =
        Worker::start(&python, "package.py", &[model, path, ROWS.to_string(), "--threads".into(), threads])?;
    let (mut ours, mut array, mut arrow) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=bench.options.rounds {
        let start = Instant::now();
        detector.score_into(&table, &mut scores)?;
        ours.push(start.elapsed().as_secs_f64());
        array.push(package.number("array", "seconds")?);
        arrow.push(package.number("arrow", "seconds")?);
        eprintln!("round {round}: {:?}, package {:?} {:?}", ours.last(), array.last(), arrow.last());
    }
    let ours = middle(&ours)?;
    let measure = |input: &str, package: &[f64]| -> Result<Measure> {
        let package = middle(package)?;
        Ok(Measure {
            what: format!("time to score {ROWS} rows of {SET} through the Python package, {input}"),
            against: "the library, a table of float64 columns".into(),
            ratio: package / ours,
            value: package,
            base: ours,
            unit: "s".into(),
        })
    };
    Ok(vec![measure("a float32 array in C order", &array)?, measure("an Arrow table of float64", &arrow)?])
}

/// The rows of a table again and again.
fn repeated(table: &Table) -> Result<Table> {
    let column = |index| table.column(index).iter().copied().cycle().take(ROWS).collect();
    Ok(Table::new(table.names().to_vec(), (0..table.names().len()).map(column).collect())?)
}
