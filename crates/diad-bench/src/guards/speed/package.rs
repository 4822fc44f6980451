//! Scoring through the Python package against the library.

use std::time::Instant;

use anyhow::Result;
use diad::table::{ColumnView, FileSource, Selection, View};

use super::{Bench, Measure, middle};
use crate::data::{LABEL, load};
use crate::evaluate::fit;
use crate::python::{Worker, with_package};

/// The set whose rows are scored, again and again until there are enough.
const SET: &str = "donors";
const ROWS: usize = 1_000_000;

/// Scores a million rows in memory from Rust and from Python, in turn. Both begin from columns of the same type and give new scores.
pub fn measure(bench: &Bench) -> Result<Vec<Measure>> {
    let detector = fit(&bench.params, &FileSource::new(bench.path(SET)?), &[LABEL])?;
    let path = bench.path(SET)?;
    let table = load(&FileSource::new(&path), &Selection::except(&[LABEL]))?;
    let repeated = |index| table.column(index).iter().copied().cycle().take(ROWS);
    let count = table.names().len();
    let single: Vec<Vec<f32>> = (0..count).map(|c| repeated(c).map(|value| value as f32).collect()).collect();
    let double: Vec<Vec<f64>> = (0..count).map(|c| repeated(c).collect()).collect();
    let view = |columns: Vec<Box<dyn ColumnView>>| View::new(table.names().to_vec(), columns);
    let single = view(single.iter().map(|column| Box::new(&column[..]) as _).collect())?;
    let double = view(double.iter().map(|column| Box::new(&column[..]) as _).collect())?;
    detector.score_all(&single)?;

    let folder = tempfile::tempdir()?;
    let model = folder.path().join("model.diad");
    detector.save(&model)?;
    let python = bench.python()?;
    with_package(&python, bench.study.options.python.is_none())?;
    let threads = rayon::current_num_threads().to_string();
    let [model, path] = [&model, &path].map(|path| path.display().to_string());
    let mut package =
        Worker::start(&python, "package.py", &[model, path, ROWS.to_string(), "--threads".into(), threads])?;
    let mut seconds: [Vec<f64>; 4] = Default::default();
    for round in 1..=bench.options.rounds {
        for (place, (view, input)) in [(&single, "array"), (&double, "arrow")].into_iter().enumerate() {
            let start = Instant::now();
            detector.score_all(view)?;
            seconds[2 * place].push(start.elapsed().as_secs_f64());
            seconds[2 * place + 1].push(package.number(input, "seconds")?);
        }
        eprintln!("round {round}: {:?}", seconds.each_ref().map(|seconds| seconds[round - 1]));
    }
    let measure = |input: &str, columns: &str, ours: &[f64], package: &[f64]| -> Result<Measure> {
        let (ours, package) = (middle(ours)?, middle(package)?);
        let what = format!("time to score {ROWS} rows of {SET} through the Python package, {input}");
        Ok(Measure::new(what, format!("the library, {columns} columns"), [package, ours], "s"))
    };
    let [single, array, double, arrow] = &seconds;
    Ok(vec![
        measure("a float32 array in C order", "float32", single, array)?,
        measure("an Arrow table of float64", "float64", double, arrow)?,
    ])
}
