//! Whatever `fit` or `tune` is given, a model that was saved loads, scores every row finitely and explains it.

#![expect(clippy::unwrap_used, reason = "a test whose model cannot be made may panic")]

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use diad::explain::Explainer;
use diad::table::{FileSource, Reader, Selection, Source, Table, Texts, Values, Version};
use diad::{Detector, Error, Labelled, Params};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

struct Random(Xoshiro256PlusPlus);

impl Random {
    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, count: u64) -> u64 {
        self.0.next_u64() % count
    }

    /// A column of numbers whose distribution, size and unit are drawn first.
    fn numbers(&mut self, rows: usize) -> Vec<f64> {
        let unit = 10f64.powi(self.below(25) as i32 - 12);
        let offset = if self.below(3) == 0 { unit * 1e6 * self.unit() } else { 0.0 };
        let shape = self.below(5);
        let draw = |random: &mut Self| match shape {
            0 => random.unit(),
            1 => random.below(3) as f64,
            2 => -(1.0 - random.unit()).ln(),
            3 => (random.unit() - 0.5).tan(),
            _ => {
                if random.below(50) == 0 {
                    random.unit() * 1e4
                } else {
                    0.0
                }
            }
        };
        (0..rows).map(|_| offset + unit * draw(self)).collect()
    }

    /// Times within a day, a week or ten years, to the second, the minute or the day.
    fn times(&mut self, rows: usize) -> Vec<f64> {
        let reach = [86_400, 604_800, 315_360_000][self.below(3) as usize];
        let step = [1, 60, 86_400][self.below(3) as usize];
        (0..rows).map(|_| (1_600_000_000 + self.below(reach) / step * step) as f64).collect()
    }

    fn texts(&mut self, rows: usize) -> Texts {
        let kinds = [2, 12, 400][self.below(3) as usize];
        let names: Vec<String> = (0..kinds).map(|kind| format!("kind {kind}")).collect();
        let gaps = self.below(2) == 0;
        let cells: Vec<Option<usize>> = (0..rows)
            .map(|_| {
                (!gaps || self.below(9) > 0).then(|| (self.unit() * self.unit() * kinds as f64) as usize)
            })
            .collect();
        cells.iter().map(|cell| cell.map(|kind| names[kind].as_str())).collect()
    }

    fn with_gaps(&mut self, mut values: Vec<f64>) -> Vec<f64> {
        if self.below(3) == 0 {
            for value in &mut values {
                if self.below(11) == 0 {
                    *value = f64::NAN;
                }
            }
        }
        values
    }

    fn table(&mut self, rows: usize) -> Table {
        let mut columns = vec![Values::Times(self.times(rows))];
        for _ in 0..1 + self.below(4) {
            columns.push(match self.below(4) {
                0 => Values::Texts(self.texts(rows)),
                1 => {
                    let times = self.times(rows);
                    Values::Times(self.with_gaps(times))
                }
                _ => {
                    let numbers = self.numbers(rows);
                    Values::Numbers(self.with_gaps(numbers))
                }
            });
        }
        // Names that collide with those of the parts of a time.
        let names = ["d", "month of d", "hour of d", "month of d (2)", "e"];
        Table::of(names[..columns.len()].iter().map(|&name| name.to_owned()).collect(), columns).unwrap()
    }
}

fn quick(seed: u64) -> Params {
    Params::default().steps(6).warmup(2).anneal(3).trees(10).batch(64).seed(seed)
}

/// Saves, loads, scores and explains.
fn check(detector: &Detector, table: &Table, what: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.diad");
    detector.save(&path).unwrap_or_else(|error| panic!("{what}: {error}"));
    let loaded = Detector::load(&path).unwrap_or_else(|error| panic!("{what}: {error}"));
    let scores = loaded.score(table).unwrap();
    assert!(scores.iter().all(|score| score.is_finite()), "{what}: a score is not finite");
    assert_eq!(scores, detector.score(table).unwrap(), "{what}: saving changed the scores");
    let rows: Vec<usize> = (0..table.rows()).step_by(table.rows().div_ceil(50)).collect();
    let some = loaded.pick(table, &rows).unwrap();
    let explainer = Explainer::new(&loaded);
    let explained = explainer.contributions(&some).unwrap();
    let width = explainer.terms().len();
    for (row, &score) in explained.scores().iter().enumerate() {
        let parts = &explained.values()[row * width..(row + 1) * width];
        let sum = explainer.intercept() + parts.iter().sum::<f64>();
        let scale = parts.iter().map(|part| part.abs()).sum::<f64>().max(1.0);
        assert!((sum - f64::from(score)).abs() <= 1e-4 * scale, "{what}: {sum} is not {score}");
        assert_eq!(score, scores[rows[row]], "{what}: explained another score");
    }
}

fn fit_and_tune(seed: u64, rows: usize) {
    let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(seed));
    let table = random.table(rows);
    let what = format!("seed {seed}, {rows} rows");
    // A small table may have nothing to learn from; saying so is right.
    let detector = match quick(seed).fit(&table) {
        Ok(detector) => detector,
        Err(error) if rows < 30 => {
            assert!(matches!(error, Error::AllConstant | Error::AllLeftOut { .. }), "{what}: {error}");
            return;
        }
        Err(error) => panic!("{what}: {error}"),
    };
    check(&detector, &table, &what);
    if rows >= 20 {
        let labels = (0..rows).map(|row| match row {
            0..100 => f64::from(u8::from(row % 17 == 3)),
            _ => f64::NAN,
        });
        let labelled = labelled(&detector, &table, labels.collect());
        check(&detector.tune(&labelled).unwrap().detector, &table, &format!("{what}, tuned"));
    }
}

fn labelled(detector: &Detector, table: &Table, labels: Vec<f64>) -> Labelled {
    let mut names = table.names().to_vec();
    let mut columns: Vec<Values> = (0..names.len()).map(|column| table.values(column).clone()).collect();
    names.push("label".into());
    columns.push(Values::Numbers(labels));
    Labelled::read(detector, &Table::of(names, columns).unwrap(), "label").unwrap()
}

#[test]
fn of_small_tables() {
    for seed in 0..60 {
        fit_and_tune(seed, 2 + (seed * seed) as usize % 700);
    }
}

/// Two to eight rows of few values, among which any symmetry occurs.
#[test]
fn of_tiny_tables() {
    let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(7));
    let (mut fitted, what) = (0, "a tiny table");
    for _ in 0..600 {
        let rows = 2 + random.below(7) as usize;
        let mut column = || -> Vec<f64> {
            let kinds = 2 + random.below(3);
            (0..rows)
                .map(|_| random.below(kinds + 1) as f64)
                .map(|v| if v == 0.0 { f64::NAN } else { v })
                .collect()
        };
        let texts =
            column().iter().map(|v| (!v.is_nan()).then(|| ["x", "y", "z", "u", "v"][*v as usize])).collect();
        let columns = vec![Values::Numbers(column()), Values::Texts(texts)];
        let table = Table::of(vec!["a".into(), "b".into()], columns).unwrap();
        match quick(random.below(1000)).fit(&table) {
            Ok(detector) => check(&detector, &table, what),
            Err(error) => {
                assert!(matches!(error, Error::AllConstant | Error::AllLeftOut { .. }), "{error}");
                continue;
            }
        }
        fitted += 1;
    }
    assert!(fitted > 300, "{fitted}");
}

#[test]
fn of_tables_larger_than_the_sample_of_the_survey() {
    for (seed, rows) in (100..).zip([20_001, 30_000, 65_537, 100_000, 150_000, 200_000]) {
        fit_and_tune(seed, rows);
    }
}

/// The sample of the survey does not see the last second of the day.
#[test]
fn of_times_that_a_sample_does_not_reach() {
    let rows = 150_000;
    let seconds = |row: usize| (row as f64 * 0.575_999).min(86_399.0) + 86_400.0 * (row % 3) as f64;
    let times: Vec<f64> = (0..rows).map(seconds).collect();
    let amounts: Vec<f64> = (0..rows).map(|row| (row % 97) as f64).collect();
    let columns = vec![Values::Times(times), Values::Numbers(amounts)];
    let table = Table::of(vec!["when".into(), "amount".into()], columns).unwrap();
    let detector = quick(0).fit(&table).unwrap();
    let hour = detector.encoder().columns().iter().find(|column| column.name == "hour of when").unwrap();
    assert_eq!((hour.min, hour.max), (0.0, 86_399.0 / 3600.0));
    check(&detector, &table, "every second");
}

/// A table that is another one when it is opened again.
struct Changing {
    tables: [Table; 2],
    opened: AtomicBool,
}

impl Source for Changing {
    fn open(&self, selection: &Selection) -> diad::table::Result<Box<dyn Reader + '_>> {
        self.tables[usize::from(self.opened.swap(true, Ordering::Relaxed))].open(selection)
    }
}

#[test]
fn a_table_that_changes_between_two_readings_is_noticed() {
    let table = |numbers: &[f64]| Table::new(vec!["x".into()], vec![numbers.to_vec()]).unwrap();
    let before = [1.0, 5.0, 2.0, 2.5];
    let after: [&[f64]; 4] = [&before, &[1.0, 6.0, 2.0, 2.5], &[1.0, 5.0, 2.0], &[1.0, 5.0, 2.0, 2.5, 3.0]];
    let noticed = after.map(|after| {
        let changing = Changing { tables: [table(&before), table(after)], opened: AtomicBool::new(false) };
        matches!(quick(0).fit(&changing), Err(Error::Changed))
    });
    assert_eq!(noticed, [false, true, true, true]);
}

/// A file to which a row is added when it is opened for the second time.
struct Growing {
    file: FileSource,
    opened: AtomicBool,
}

impl Source for Growing {
    fn open(&self, selection: &Selection) -> diad::table::Result<Box<dyn Reader + '_>> {
        if self.opened.swap(true, Ordering::Relaxed) {
            let mut file = std::fs::OpenOptions::new().append(true).open(self.file.path()).unwrap();
            file.write_all(b"2,2\n").unwrap();
        }
        self.file.open(selection)
    }

    fn version(&self) -> Option<Version> {
        self.file.version()
    }
}

/// The row that is added is like the others, so that only the file's length and time tell of it.
#[test]
fn a_file_that_grows_between_two_readings_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "a,b\n1,1\n2,2\n3,5\n1,5\n").unwrap();
    let growing = Growing { file: FileSource::new(&path), opened: AtomicBool::new(false) };
    assert!(matches!(quick(0).fit(&growing), Err(Error::Changed)));
    assert!(quick(0).fit(&growing.file).is_ok());
}

/// Of a larger table than is trained on, counts are those of all rows, and a value that the sample lacks may be at the end.
#[test]
fn of_tables_larger_than_the_sample_of_the_training() {
    const ROWS: usize = (1 << 20) + 100_000;
    let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(9));
    let mut x: Vec<f64> = (0..ROWS).map(|_| random.unit()).collect();
    x[70..90].fill(900.0);
    let colour: Texts = (0..ROWS).map(|row| Some(if row % 100 == 7 { "blue" } else { "red" })).collect();
    let values = vec![Values::Numbers(x), colour.into()];
    let table = Table::of(vec!["x".into(), "colour".into()], values).unwrap();
    let training = quick(1).fitting(&table).read().unwrap();
    assert_eq!(training.rows(), 1 << 20);
    let note = training.notes().last().cloned().unwrap_or_default();
    assert!(note.contains("1,148,576 rows; 1,048,576 of them"), "{note}");
    let detector = training.run().unwrap();
    assert_eq!(detector.training_rows(), ROWS as u64);
    let explainer = Explainer::new(&detector);
    let blue = explainer.standing(1, 1.0);
    assert!((blue.up_to - blue.below - 0.01).abs() < 1e-5, "{blue:?}");
    check(&detector, &table, "a sampled table");
}
