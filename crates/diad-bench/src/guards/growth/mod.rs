//! How the time of a fit and of scoring grows with rows, columns and trees, on made-up tables.

mod made_up;
mod plot;

use std::time::Instant;

use anyhow::Result;
use clap::Args;
use diad::Detector;
use diad::table::Source;
use serde::{Deserialize, Serialize};

pub use self::made_up::MadeUp;
use crate::environment;
use crate::render::{self, Grid};
use crate::study::{Bench, Made, Page, Study};

/// What stays the same while something else grows.
const ROWS: usize = 10_000;
const COLUMNS: usize = 10;
/// Rows are scored again and again until there are so many.
const SCORED: usize = 200_000;

/// What grows, and how far.
const GROWN: [(What, &[usize]); 3] = [
    (What::Rows, &[1_000, 10_000, 100_000, 1_000_000, 10_000_000]),
    (What::Columns, &[3, 10, 30, 100, 300, 1_000, 2_000, 10_000]),
    (What::Trees, &[50, 100, 300, 1_000, 3_000, 5_000]),
];
/// What the table for programs has of each size.
const FIELDS: [&str; 11] = [
    "what",
    "size",
    "rows",
    "columns",
    "trees",
    "read_seconds",
    "train_seconds",
    "rows_scored_per_second",
    "model_bytes",
    "peak_bytes",
    "commit",
];
/// Tables wider than this have fewer rows.
const WIDE: usize = 2_000;
const WIDE_ROWS: usize = 2_000;

/// What grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// Rows of the table.
    Rows,
    /// Columns of the table.
    Columns,
    /// Trees of the model.
    Trees,
}

impl What {
    fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Columns => "columns",
            Self::Trees => "trees",
        }
    }
}

/// One size, measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    what: What,
    size: usize,
    rows: usize,
    columns: usize,
    trees: usize,
    /// Seconds to read and encode the table.
    read_seconds: f64,
    /// Seconds to train, and to make all other parts of the score.
    train_seconds: f64,
    /// Rows scored in a second.
    #[serde(rename = "rows_scored_per_second", alias = "scored")]
    scored: f64,
    /// Bytes of the model file.
    model_bytes: usize,
    /// The largest resident set of the fit, where the system tells it.
    peak_bytes: Option<u64>,
    load: Option<f64>,
    #[serde(flatten)]
    made: Made,
    cpu: String,
}

/// How time grows.
#[derive(Debug, Args)]
pub struct Growth {
    /// The largest size that is measured.
    #[arg(long, default_value_t = usize::MAX, hide_default_value = true, value_name = "N")]
    most: usize,
}

impl Study for Growth {
    const NAME: &'static str = "growth";
    const THREADS: Option<usize> = Some(2);
    type Case = (What, usize);
    type Row = Point;

    fn cases(&self, _: &Bench) -> Result<Vec<Self::Case>> {
        let all = GROWN.iter().flat_map(|(what, sizes)| sizes.iter().map(|&size| (*what, size)));
        Ok(all.filter(|(_, size)| *size <= self.most).collect())
    }

    fn is_done(&self, (what, size): &Self::Case, point: &Point, bench: &Bench) -> bool {
        point.what == *what && point.size == *size && point.made.is_of(bench)
    }

    fn measure(&self, (what, size): &Self::Case, bench: &Bench) -> Result<Option<Point>> {
        measure(*what, *size, bench).map(Some)
    }

    fn words(point: &Point) -> String {
        let Point { size, what, read_seconds, train_seconds, scored, .. } = point;
        let what = what.name();
        format!("{size} {what}: read {read_seconds:.2} s, trained {train_seconds:.2} s, {scored:.0} rows/s")
    }

    fn page(&self, mut points: Vec<Point>, bench: &Bench) -> Result<Page> {
        points.retain(|point| point.made.is_of(bench));
        let (text, csv, picture) = (text(&points), Grid::of(&points, &FIELDS)?, Some(plot::svg(&points)?));
        let commits = points.into_iter().map(|point| point.made.commit);
        Ok(Page { picture, ..Page::new(text, csv, bench.command("growth"), commits) })
    }
}

fn measure(what: What, size: usize, bench: &Bench) -> Result<Point> {
    let load = environment::load();
    let (mut rows, mut columns, mut params) = (ROWS, COLUMNS, bench.params.clone());
    match what {
        What::Rows => rows = size,
        What::Columns => {
            columns = size;
            rows = if size > WIDE { WIDE_ROWS } else { ROWS };
        }
        What::Trees => params.trees = size,
    }
    let source = MadeUp { rows, columns };
    environment::forget_peak_memory();
    let start = Instant::now();
    let training = params.fitting(&source).read()?;
    let read_seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let detector = training.run()?;
    let train_seconds = start.elapsed().as_secs_f64();
    let peak_bytes = environment::peak_memory();

    Ok(Point {
        what,
        size,
        rows,
        columns,
        trees: params.layers * params.trees,
        read_seconds,
        train_seconds,
        scored: scoring_rate(&detector, &source)?,
        model_bytes: detector.to_bytes()?.len(),
        peak_bytes,
        load,
        made: bench.made(),
        cpu: environment::machine(),
    })
}

/// Rows scored in a second, from memory.
fn scoring_rate(detector: &Detector, source: &MadeUp) -> Result<f64> {
    let (mut seconds, mut scored) = (0.0, 0);
    let mut scores = Vec::new();
    let mut counted = false;
    while scored < SCORED.max(source.rows) {
        let mut reader = source.open(&detector.encoder().selection())?;
        while let Some(batch) = reader.next_batch()? {
            scores.resize(batch.rows(), 0.0);
            let start = Instant::now();
            detector.score_into(&batch, &mut scores)?;
            // The first batch makes everything ready.
            if counted {
                seconds += start.elapsed().as_secs_f64();
                scored += batch.rows();
            }
            counted = true;
        }
    }
    Ok(scored as f64 / seconds)
}

fn text(points: &[Point]) -> String {
    let mut page = format!(
        "# How time grows\n\nMade-up tables: {ROWS} rows and {COLUMNS} columns, of which one grows, or the trees do (tables of more than \
         {WIDE} columns have {WIDE_ROWS} rows). Read: seconds to read and encode the table, which is made up meanwhile. Train: all else of a fit. \
         Times: the seconds of reading and training against the smallest size. Scoring is from memory. Peak: the largest resident \
         set of the process so far in that fit.\n\n![Growth](growth.svg)\n"
    );
    for (what, _) in GROWN {
        let points: Vec<&Point> = points.iter().filter(|point| point.what == what).collect();
        let Some(first) = points.first() else { continue };
        let mut grid = Grid::new([
            what.name(),
            "read, s",
            "train, s",
            "size, times",
            "time, times",
            "rows scored a second",
            "model, kB",
            "peak, MiB",
        ]);
        for point in &points {
            let seconds = |point: &Point| point.read_seconds + point.train_seconds;
            grid.push([
                point.size.to_string(),
                format!("{:.2}", point.read_seconds),
                format!("{:.2}", point.train_seconds),
                format!("{:.1}", point.size as f64 / first.size as f64),
                format!("{:.1}", seconds(point) / seconds(first)),
                format!("{:.0}", point.scored),
                format!("{:.0}", point.model_bytes as f64 / 1000.0),
                point
                    .peak_bytes
                    .map_or(render::NONE.into(), |bytes| format!("{:.0}", bytes as f64 / f64::from(1 << 20))),
            ]);
        }
        page.push_str(&format!("\n## {}\n\n{}", what.name(), grid.markdown(1)));
    }
    let machines = points.iter().map(|point| match point.load {
        Some(load) => format!("{} (load average {load:.1})", point.cpu),
        None => point.cpu.clone(),
    });
    page.push_str(&format!("\nMeasured on {}.\n", render::distinct(machines).join("; ")));
    page
}
