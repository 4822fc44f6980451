//! Reading a CSV file against polars.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, ensure};
use diad::table::{FileSource, Selection, Source};

use super::{Bench, Measure, middle};
use crate::python::Worker;

const ROWS: u64 = 1_000_000;
const NUMBERS: usize = 8;

/// Reads a file of numbers and texts, in turn with polars.
pub fn measure(bench: &Bench) -> Result<Vec<Measure>> {
    let folder = std::env::temp_dir().join(format!("diad-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let path = folder.join("table.csv");
    let measured = write(&path).and_then(|()| measure_file(bench, &path));
    std::fs::remove_dir_all(&folder)?;
    Ok(vec![measured?])
}

fn measure_file(bench: &Bench, path: &Path) -> Result<Measure> {
    let python = bench.python()?;
    let threads = rayon::current_num_threads().to_string();
    let mut polars = Worker::start(&python, "read_csv.py", &["--threads".into(), threads.clone()])?;
    let request = serde_json::json!({ "path": path }).to_string();
    // Once each, so that both find the file in memory.
    ensure!(polars.number(&request, "rows")? == ROWS as f64 && read(path)? == ROWS, "rows are lost");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 1..=bench.options.rounds {
        let start = Instant::now();
        read(path)?;
        ours.push(start.elapsed().as_secs_f64());
        theirs.push(polars.number(&request, "seconds")?);
        eprintln!("round {round}: {:?}, polars {:?}", ours.last(), theirs.last());
    }
    let (ours, theirs, rows) = (middle(&ours)?, middle(&theirs)?, ROWS as f64);
    let megabytes = std::fs::metadata(path)?.len() / 1_000_000;
    let what =
        format!("reading CSV, {ROWS} rows, {NUMBERS} columns of numbers and 2 of texts, {megabytes} MB");
    let against = format!("polars' read_csv, {threads} threads");
    Ok(Measure::new(what, against, [rows / ours, rows / theirs], "rows/s"))
}

/// Reads a whole file, batch by batch, and gives its rows.
fn read(path: &Path) -> Result<u64> {
    let source = FileSource::new(path);
    let mut reader = source.open(&Selection::all())?;
    let mut rows = 0;
    while let Some(batch) = reader.next_batch()? {
        rows += batch.rows() as u64;
    }
    Ok(rows)
}

/// Writes a table of numbers, whole and not, and of texts.
fn write(path: &Path) -> Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let mut line = String::new();
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    writeln!(out, "a,b,c,d,e,f,g,h,colour,town")?;
    for _ in 0..ROWS {
        line.clear();
        for column in 0..NUMBERS {
            let number = next();
            match column % 4 {
                0 => write!(line, "{},", number % 1000)?,
                1 => write!(line, "{:.2},", number as f64 / 1e5)?,
                _ => write!(line, "{},", number as f64 / 1e9)?,
            }
        }
        let (colour, town) = (next() % 5, next() % 300);
        writeln!(line, "colour {colour},town{town}")?;
        out.write_all(line.as_bytes())?;
    }
    Ok(out.flush()?)
}
