//! Which row to label next: an oracle labels what `diad next` would ask, and the anomalies it finds are counted.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use diad::Detector;
use diad::calibrate::Querying;
use diad::metrics::top;
use diad::table::{FileSource, Table};
use serde::{Deserialize, Serialize};

use crate::data::{LABEL, labelled, load, mix};
use crate::evaluate::{fit, score};
use crate::render::{Grid, number};
use crate::stats::mean;
use crate::study::{Bench, Made, Page, Study};

/// A set and what others find.
type Known = (&'static str, f64, f64);

/// Sets with anomalies found by AAD (coniferest) and by the highest rows of an isolation forest, in 100 queries. `thyroid` is the table of
/// 7,200 rows that ADBench calls annthyroid.
const SETS: [Known; 10] = [
    ("cardio", 95.0, 57.0),
    ("Cardiotocography", 94.0, 64.0),
    ("mammography", 87.0, 35.0),
    ("Pima", 71.0, 58.0),
    ("satellite", 98.0, 92.0),
    ("SpamBase", 96.0, 31.0),
    ("thyroid", 92.0, 63.0),
    ("vowels", 49.0, 14.0),
    ("yeast", 53.0, 33.0),
    ("letter", 35.0, 10.0),
];
/// A made-up table for the clock: its name, rows, columns, and one of how many rows is an anomaly.
const LARGE: (&str, usize, usize, usize) = ("made up", 100_000, 20, 500);
/// Queries, and after how many of them the anomalies are counted too.
const QUERIES: usize = 100;
const FEW: usize = 30;
/// Answers to several queries at once.
const BATCH: usize = 10;
/// Wrong answers, in %, where some are wrong.
const WRONG: u64 = 10;
const SEEDS: u64 = 3;

/// Rows to label next, with an oracle.
#[derive(Debug, Args)]
pub struct NextRows {}

/// One set with one seed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NextRun {
    set: String,
    seed: u64,
    /// Anomalies among the rows asked for, one at a time: the first few, and all.
    few: usize,
    all: usize,
    /// All, ten at a time.
    batches: usize,
    /// All, one at a time, with wrong answers.
    wrong: usize,
    /// Anomalies among the highest rows of the model.
    untuned: usize,
    /// Seconds of a round: a label is told and the next row is found, on average.
    seconds: f64,
    /// Seconds of the last round from nothing: the table is scored and all labels are told.
    anew: f64,
    #[serde(flatten)]
    made: Made,
}

/// The file of a set, wherever it is.
fn path(bench: &Bench, set: &str) -> Result<Option<PathBuf>> {
    let data = bench.options.data()?;
    let folders = [data.clone(), data.join("adbench"), data.join("extra")];
    Ok(folders.into_iter().map(|folder| folder.join(format!("{set}.parquet"))).find(|path| path.exists()))
}

/// Numbers between -2 and 2, nearly normal; anomalies are shifted in two columns.
fn made_up() -> Result<Table> {
    let (_, rows, columns, every) = LARGE;
    let unit = |row: usize, column: usize, i: u64| {
        mix((row as u64) << 20 | (column as u64) << 8 | i) as f64 / u64::MAX as f64
    };
    let cell = |row: usize, column: usize| {
        let sum: f64 = (0..4).map(|i| unit(row, column, i)).sum();
        sum - 2.0 + if row.is_multiple_of(every) && column < 2 { 2.0 } else { 0.0 }
    };
    let mut values: Vec<Vec<f64>> =
        (0..columns).map(|column| (0..rows).map(|row| cell(row, column)).collect()).collect();
    values.push((0..rows).map(|row| f64::from(u8::from(row.is_multiple_of(every)))).collect());
    let names = (0..columns).map(|column| format!("c{column}")).chain([LABEL.to_owned()]).collect();
    Ok(Table::new(names, values)?)
}

/// The rows an oracle is asked for, so many at a time, and seconds of a round.
fn asked(
    detector: &Detector,
    table: &Table,
    label: impl Fn(usize) -> bool,
    batch: usize,
) -> Result<(Vec<usize>, f64)> {
    let mut querying = Querying::new(detector, table)?;
    let (mut rows, start) = (Vec::new(), Instant::now());
    let queries = QUERIES.min(table.rows());
    while rows.len() < queries {
        for row in querying.highest(batch.min(queries - rows.len())) {
            querying.tell(row, label(row))?;
            rows.push(row);
        }
    }
    Ok((rows, start.elapsed().as_secs_f64() * batch as f64 / queries as f64))
}

impl Study for NextRows {
    const NAME: &'static str = "next";
    type Case = (&'static str, u64);
    type Row = NextRun;

    fn cases(&self, bench: &Bench) -> Result<Vec<Self::Case>> {
        let seeds = bench.options.seeds.unwrap_or(SEEDS);
        let sets = SETS.iter().map(|(set, ..)| *set).filter(|set| bench.options.wants(set));
        let cases = sets.flat_map(|set| (0..seeds).map(move |seed| (set, seed)));
        let large = bench.options.wants(LARGE.0).then_some((LARGE.0, 0));
        Ok(cases.chain(large).collect())
    }

    fn is_done(&self, (set, seed): &Self::Case, run: &NextRun, bench: &Bench) -> bool {
        (run.set.as_str(), run.seed) == (*set, *seed) && run.made.is_of(bench)
    }

    fn measure(&self, &(set, seed): &Self::Case, bench: &Bench) -> Result<Option<NextRun>> {
        let table = if set == LARGE.0 {
            made_up()?
        } else {
            let Some(path) = path(bench, set)? else { return Ok(None) };
            load(&FileSource::new(path), &labelled())?
        };
        let params = bench.params.clone().seed(seed);
        let detector = fit(&params, &table, &[LABEL]).with_context(|| format!("{set} failed"))?;
        let (truth, scores) = score(&detector, &table, LABEL)?;
        let count = |rows: &[usize]| rows.iter().filter(|&&row| truth[row]).count();
        let (rows, seconds) = asked(&detector, &table, |row| truth[row], 1)?;
        let (batches, _) = asked(&detector, &table, |row| truth[row], BATCH)?;
        let is_wrong = |row: usize| mix(row as u64 ^ mix(seed)) % 100 < WRONG;
        let (wrong, _) = asked(&detector, &table, |row| truth[row] != is_wrong(row), 1)?;
        let start = Instant::now();
        let mut anew = Querying::new(&detector, &table)?;
        rows.iter().try_for_each(|&row| anew.tell(row, truth[row]))?;
        anew.highest(BATCH);
        Ok(Some(NextRun {
            set: set.into(),
            seed,
            few: count(&rows[..FEW.min(rows.len())]),
            all: count(&rows),
            batches: count(&batches),
            wrong: count(&wrong),
            untuned: count(&top(&scores, QUERIES)),
            seconds,
            anew: start.elapsed().as_secs_f64(),
            made: bench.made(),
        }))
    }

    fn words(run: &NextRun) -> String {
        let NextRun { set, seed, few, all, batches, wrong, untuned, seconds, anew, .. } = run;
        format!(
            "{set}, seed {seed}: {few} in {FEW}, {all} in {QUERIES}, {batches} ten at a time, {wrong} with wrong answers, untuned {untuned}; {seconds:.4} s a round, {anew:.2} s anew"
        )
    }

    fn page(&self, mut runs: Vec<NextRun>, bench: &Bench) -> Result<Page> {
        runs.retain(|run| run.made.is_of(bench));
        let mut grid = Grid::new([
            "set",
            "in 30",
            "in 100",
            "ten at a time",
            "10 % wrong",
            "highest 100",
            "AAD in 100",
            "IForest's highest 100",
            "ms a round",
        ]);
        let figures: [fn(&NextRun) -> f64; 5] = [
            |run| run.few as f64,
            |run| run.all as f64,
            |run| run.batches as f64,
            |run| run.wrong as f64,
            |run| run.untuned as f64,
        ];
        let average = |set: &str, figure: fn(&NextRun) -> f64| {
            mean(&runs.iter().filter(|run| run.set == set).map(figure).collect::<Vec<_>>())
        };
        let measured: Vec<_> =
            SETS.into_iter().filter(|(set, ..)| runs.iter().any(|run| run.set == *set)).collect();
        let runs_of = |set: &str| runs.iter().filter(|run| run.set == set).count();
        let fewest = measured.iter().map(|(set, ..)| runs_of(set)).min().unwrap_or(0);
        let most = measured.iter().map(|(set, ..)| runs_of(set)).max().unwrap_or(0);
        let seeds = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
        for &(set, aad, forest) in &measured {
            let own = figures.map(|figure| number(average(set, figure), 1));
            let others = [aad, forest].map(|found| number(Some(found), 0));
            let time = number(average(set, |run| 1000.0 * run.seconds), 1);
            grid.push([set.to_owned()].into_iter().chain(own).chain(others).chain([time]));
        }
        let over_sets = |values: &dyn Fn(&Known) -> Option<f64>, decimals: usize| {
            number(mean(&measured.iter().filter_map(values).collect::<Vec<_>>()), decimals)
        };
        let own = figures.map(|figure| over_sets(&|(set, ..)| average(set, figure), 1));
        let others = [over_sets(&|(_, aad, _)| Some(*aad), 1), over_sets(&|(.., forest)| Some(*forest), 1)];
        let mean_row = ["**mean**".to_owned()].into_iter().chain(own).chain(others).chain([String::new()]);
        grid.push(mean_row);
        let large = runs.iter().find(|run| run.set == LARGE.0).map_or(String::new(), |run| {
            format!(
                "A round on a made-up table of 100,000 rows and 20 columns takes {:.0} ms (mean of 100), or {:.2} s if the table is scored and 100 labels are told from nothing, as \
                 `diad next` does.\n\n",
                1000.0 * run.seconds,
                run.anew
            )
        });
        let text = format!(
            "# Which row to label next\n\nAn oracle labels the row that is most likely an anomaly, and the next row is chosen with its answer: anomalies found in {FEW} and in {QUERIES} queries, \
             in {QUERIES} with {BATCH} rows asked for at a time, and with {WRONG} % wrong answers; `highest 100` are those among the highest rows without labels. Seeds of the fit: {seeds}. \
             vowels has 50 anomalies in all. `thyroid` is the table of 7,200 rows that ADBench calls annthyroid. cardio, Cardiotocography, mammography, thyroid and \
             vowels were used for choosing ([tuning](../tuning.md#what-to-ask-next)), the others were not. AAD is coniferest's (three seeds, one query at a time).\n\n{large}{}",
            grid.markdown(1)
        );
        let commits = runs.into_iter().map(|run| run.made.commit).collect();
        Ok(Page { text, commands: vec![bench.command("next --data DIR")], commits, csv: grid, picture: None })
    }
}
