//! Whether drift is found where there is some and not where there is none, on made-up tables.

use std::cell::RefCell;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use diad::calibrate::{Drift, Drifting, Verdict};
use diad::explain::Explainer;
use diad::table::Table;
use diad::{Detector, Params};
use serde::{Deserialize, Serialize};

use crate::data::mix;
use crate::render::{Grid, number};
use crate::study::{Bench, Made, Page, Study};

/// Columns of the tables, and rows of the training.
const COLUMNS: usize = 100;
const TRAINING: usize = 20_000;
/// Windows of new rows.
struct Kind {
    name: &'static str,
    rows: usize,
}
const QUIET: Kind = Kind { name: "no change", rows: 1000 };
const SHIFTED: Kind = Kind { name: "one column changed", rows: 10_000 };
/// Rows of a large table.
const LARGE: f64 = 3e6;
/// The share of rows that a shift makes rare.
const SHIFTED_SHARE: f64 = 0.05;

/// Drift on made-up tables.
#[derive(Debug, Args)]
pub struct DriftStudy {
    /// Windows without a change.
    #[arg(long, default_value_t = 1000)]
    windows: u64,
    /// Windows with a change in one column.
    #[arg(long, default_value_t = 100)]
    shifts: u64,
    /// What stays between measurements.
    #[arg(skip)]
    kept: RefCell<Option<Detector>>,
}

/// One kind of windows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DriftRun {
    kind: String,
    windows: u64,
    found: u64,
    /// How often the changed column was among those named.
    named: u64,
    /// The most by which the parts differ from the change of the mean score.
    error: f64,
    /// Rows a second.
    speed: f64,
    #[serde(flatten)]
    made: Made,
}

/// Numbers that are nearly normal, in pairs that know each other.
fn table(seed: u64, rows: usize, shift: Option<usize>) -> Result<Table> {
    let unit = |key: u64| (mix(key) >> 11) as f64 / (1u64 << 53) as f64;
    let key = |row: usize, column: usize, draw: u64| {
        mix(seed ^ 0x5bd1) ^ ((row as u64) << 20 | (column as u64) << 4 | draw)
    };
    let normal =
        |row: usize, column: usize| (0..4).map(|draw| unit(key(row, column, draw))).sum::<f64>() - 2.0;
    let value = |row: usize, column: usize| {
        let own = normal(row, column);
        let base = if column % 2 == 1 { 0.7 * normal(row, column - 1) + 0.7 * own } else { own };
        match shift {
            Some(changed) if changed == column && unit(key(row, column, 9)) < SHIFTED_SHARE => base + 6.0,
            _ => base,
        }
    };
    let columns = (0..COLUMNS).map(|column| (0..rows).map(|row| value(row, column)).collect()).collect();
    Ok(Table::new((0..COLUMNS).map(|column| format!("c{column}")).collect(), columns)?)
}

fn drift(explainer: &Explainer, table: &Table) -> Result<Drift> {
    let mut drifting = Drifting::new(explainer);
    drifting.add(table, None)?;
    Ok(drifting.finish())
}

impl Study for DriftStudy {
    const NAME: &'static str = "drift";
    type Case = bool;
    type Row = DriftRun;

    fn cases(&self, _: &Bench) -> Result<Vec<bool>> {
        Ok(vec![false, true])
    }

    fn is_done(&self, shifted: &bool, run: &DriftRun, bench: &Bench) -> bool {
        run.kind == kind(*shifted).name && run.made.is_of(bench)
    }

    fn measure(&self, &shifted: &bool, bench: &Bench) -> Result<Option<DriftRun>> {
        let mut state = self.kept.borrow_mut();
        if state.is_none() {
            let params: Params = bench.params.clone();
            *state = Some(params.fit(&table(0, TRAINING, None)?)?);
        }
        let Some(detector) = &*state else { return Ok(None) };
        let explainer = Explainer::new(detector);
        let windows = if shifted { self.shifts } else { self.windows };
        let Kind { name, rows } = kind(shifted);
        let (mut found, mut named, mut error, mut seconds) = (0, 0, 0.0f64, 0.0);
        for window in 1..=windows {
            let changed = shifted.then_some((window % COLUMNS as u64) as usize);
            let new = table(window, rows, changed)?;
            let start = Instant::now();
            let drift = drift(&explainer, &new)?;
            seconds += start.elapsed().as_secs_f64();
            found += u64::from(drift.verdict > Verdict::Same);
            let is_named = |column: usize| {
                let term =
                    explainer.find(&[column]).is_some_and(|term| drift.terms[term].verdict > Verdict::Same);
                term || drift.columns[column].verdict > Verdict::Same
            };
            named += u64::from(changed.is_some_and(is_named));
            let parts: f64 = drift.terms.iter().map(|term| term.score).sum();
            error = error.max((drift.mean_score[1] - drift.mean_score[0] - parts).abs());
        }
        Ok(Some(DriftRun {
            kind: name.into(),
            windows,
            found,
            named,
            error,
            speed: windows as f64 * rows as f64 / seconds,
            made: bench.made(),
        }))
    }

    fn words(run: &DriftRun) -> String {
        let DriftRun { kind, windows, found, named, error, speed, .. } = run;
        format!(
            "{kind}: a change in {found} of {windows} windows, the right column in {named}; parts within {error:.1e}; {speed:.0} rows/s"
        )
    }

    fn page(&self, mut runs: Vec<DriftRun>, bench: &Bench) -> Result<Page> {
        runs.retain(|run| run.made.is_of(bench));
        let header =
            ["windows", "count", "with a change", "the right column", "parts within", "rows a second"];
        let mut grid = Grid::new(header);
        for DriftRun { kind, windows, found, named, error, speed, .. } in &runs {
            grid.push([
                kind.clone(),
                windows.to_string(),
                number(Some(*found as f64 / *windows as f64), 3),
                number(Some(*named as f64 / *windows as f64), 3),
                format!("{error:.0e}"),
                format!("{speed:.0}"),
            ]);
        }
        // The fastest of both: the other tables are small.
        let speed = runs.iter().map(|run| run.speed).fold(0.0, f64::max);
        let text = format!(
            "# Drift\n\nA made-up table of {COLUMNS} columns and {TRAINING} rows, and windows of new rows: {} rows without a change, \
             {} rows in which 5 % lie far out in one column. The share of windows in which a change is found, and in which the right \
             column is named; by how much the parts of the change of the mean score differ from it; and rows from memory a second. At {speed:.0} rows a second, 3 million \
             rows of {COLUMNS} columns take {:.0} s.\n\n{}",
            QUIET.rows,
            SHIFTED.rows,
            LARGE / speed,
            grid.markdown(1)
        );
        let commits = runs.into_iter().map(|run| run.made.commit).collect();
        Ok(Page { text, commands: vec![bench.command("drift")], commits, csv: grid, picture: None })
    }
}

fn kind(shifted: bool) -> Kind {
    if shifted { SHIFTED } else { QUIET }
}
