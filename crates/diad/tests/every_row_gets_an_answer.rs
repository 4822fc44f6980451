//! Cells that cannot be read, are infinite, or are missing where none was: every row is scored, and reasons and summary speak of it.

#![expect(clippy::unwrap_used, reason = "a test whose model cannot be made may panic")]

use diad::encode::Oddity;
use diad::explain::Explainer;
use diad::table::{FileSource, Selection, Source, Table, Texts, Values};
use diad::{Detector, Error, Params};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

struct Random(Xoshiro256PlusPlus);

impl Random {
    fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

const NAMES: [&str; 4] = ["amount", "size", "colour", "when"];

/// Rows of text, cell by cell: an amount, a size that goes with it, a colour and a day.
fn cells(rows: usize, seed: u64) -> Vec<[String; 4]> {
    let mut random = Random::new(seed);
    let row = |_| {
        let size = random.normal();
        let amount = (size + random.normal() / 2.0).exp();
        let colour = ["red", "red", "green", "green", "blue"][(random.unit() * 5.0) as usize];
        let day = 1 + (random.unit() * 28.0) as u32;
        [
            format!("{amount:.3}"),
            format!("{size:.3}"),
            colour.to_owned(),
            format!("2024-0{}-{day:02}", 1 + (random.unit() * 9.0) as u32),
        ]
    };
    (0..rows).map(row).collect()
}

fn csv(folder: &std::path::Path, rows: &[[String; 4]]) -> FileSource {
    let lines = rows.iter().map(|row| row.join(",") + "\n");
    let text: String = std::iter::once(NAMES.join(",") + "\n").chain(lines).collect();
    let path = folder.join("rows.csv");
    std::fs::write(&path, text).unwrap();
    FileSource::new(path)
}

fn fitted(source: &dyn Source) -> Detector {
    Params::default().with_steps(30).trees(20).fit(source).unwrap()
}

const BROKEN: [(usize, usize, &str); 5] =
    [(3, 0, "n/k"), (4, 0, ""), (5, 0, "-inf"), (6, 3, "soon"), (7, 2, "")];

#[test]
fn every_row_is_scored_and_what_does_not_fit_is_rarer_than_any_value() {
    let folder = tempfile::tempdir().unwrap();
    let rows = cells(800, 1);
    let detector = fitted(&csv(folder.path(), &rows));
    let whole = detector.score_all(&csv(folder.path(), &rows)).unwrap();
    let mut broken = rows.clone();
    for (row, column, cell) in BROKEN {
        broken[row][column] = cell.to_owned();
    }
    let source = csv(folder.path(), &broken);
    let (scores, oddities) = detector.score_all_noting::<f32>(&source).unwrap();
    assert_eq!(scores.len(), 800);
    for (row, score) in scores.iter().enumerate() {
        let changed = BROKEN.iter().any(|(broken, ..)| *broken == row);
        assert!(score.is_finite() && (changed || *score == whole[row]), "row {row}");
    }
    // No value that the column has in the table scores more, in a row that is otherwise typical.
    for (row, column, cell) in BROKEN {
        let mut tried: Vec<[String; 4]> = rows
            .iter()
            .map(|other| {
                let mut tried = rows[row].clone();
                tried[column].clone_from(&other[column]);
                tried
            })
            .collect();
        tried.push(rows[row].clone());
        tried[800][column] = cell.to_owned();
        let tried = detector.score_all(&csv(folder.path(), &tried)).unwrap();
        let highest = tried[..800].iter().copied().fold(f32::MIN, f32::max);
        assert!(tried[800] >= highest, "{cell:?} scores {} and a value {highest}", tried[800]);
    }
    let counts: Vec<(&str, [u64; 3])> = (oddities.columns().iter())
        .map(|column| (column.name.as_str(), [column.missing, column.unreadable, column.infinite]))
        .collect();
    assert_eq!(counts, [("amount", [1, 1, 1]), ("colour", [1, 0, 0]), ("when", [0, 1, 0])]);
    assert_eq!(
        oddities.sentences()[0],
        "column \"amount\": 1 unreadable cell and 1 infinite cell and 1 missing cell (\"n/k\" in row 3, line 5; row 4, line 6; \
         \"-inf\" in row 5, line 7) count as rarer than any value, since no training row had anything like it; correct them if they are \
         mistakes"
    );
    // The same by any way.
    let source = csv(folder.path(), &broken);
    let exact = Detector::from_bytes(&detector.to_bytes().unwrap()).unwrap().exactly();
    for (row, (exact, score)) in exact.score_all(&source).unwrap().iter().zip(&scores).enumerate() {
        assert!((exact - score).abs() < 1e-3 * score.abs().max(1.0), "row {row}: {exact} {score}");
    }
    let explainer = Explainer::new(&detector);
    let explained = explainer.contributions_all(&source).unwrap();
    assert_eq!(explained.scores(), scores);
    assert_eq!(explained.oddities(), &oddities);
    for (row, score) in scores.iter().enumerate().take(10) {
        let sum: f64 = explainer.intercept() + explained.row(row).iter().sum::<f64>();
        assert!((sum - f64::from(*score)).abs() < 1e-4 * sum.abs().max(1.0), "row {row}: {sum}");
    }
}

#[test]
fn reasons_name_what_does_not_fit_and_a_change_puts_it_right() {
    let folder = tempfile::tempdir().unwrap();
    let rows = cells(600, 2);
    let detector = fitted(&csv(folder.path(), &rows));
    let mut broken = rows.clone();
    for (row, column, cell) in BROKEN {
        broken[row][column] = cell.to_owned();
    }
    let picked = detector.pick(&csv(folder.path(), &broken), &[3, 4, 5, 6, 7]).unwrap();
    let explainer = Explainer::new(&detector);
    let explained = explainer.contributions(&picked).unwrap();
    let mut told = Vec::new();
    for row in 0..5 {
        let (term, contribution) = explained.sorted(row)[0];
        assert!(contribution > 0.0);
        let columns = explainer.terms()[term].columns();
        let values: Vec<f64> = columns.iter().map(|&column| picked.column(column)[row]).collect();
        told.push(explainer.describe(term, &values));
    }
    assert_eq!(
        told,
        [
            "amount is unreadable, as in no training row",
            "amount is missing, as in no training row",
            "amount is infinite, as in no training row",
            "month of when is unreadable, as in no training row",
            "colour is missing, as in no training row",
        ]
    );
    let values: Vec<f64> = (0..picked.names().len()).map(|column| picked.column(column)[0]).collect();
    assert_eq!(detector.encoder().columns()[0].oddity(values[0]), Some(Oddity::Unreadable));
    let threshold = explained.scores()[0] - 0.5;
    let ways = explainer.counterfactuals(&values, threshold).unwrap();
    assert_eq!(ways[0].replacements[0].column, 0);
    assert!(ways[0].score < threshold);
}

#[test]
fn a_strict_detector_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let rows = cells(300, 3);
    let detector = fitted(&csv(folder.path(), &rows)).strictly();
    for (column, cell, said) in [
        (0, "n/k", "column \"amount\", line 4, row 2: \"n/k\" is not a number; correct the cell"),
        (
            1,
            "",
            "column \"size\", line 4, row 2: the value is missing, but this column had no gaps in training; fill it in or remove the row",
        ),
        (0, "inf", "column \"amount\", line 4, row 2: the value is infinite; correct it or remove the row"),
    ] {
        let mut broken = rows.clone();
        broken[2][column] = cell.to_owned();
        let source = csv(folder.path(), &broken);
        assert_eq!(detector.score_all(&source).unwrap_err().to_string(), said);
        assert_eq!(Explainer::new(&detector).contributions_all(&source).unwrap_err().to_string(), said);
        assert_eq!(detector.pick(&source, &[0]).unwrap_err().to_string(), said);
    }
    let table = Table::new(vec!["amount".into()], vec![vec![1.0]]).unwrap();
    assert!(matches!(detector.score(&table), Err(Error::Table(_))), "a column that is not there");
}

/// Decimal commas, and days before months, are what they were in the training, whatever file the new rows come in.
#[test]
fn cells_are_read_by_the_rule_of_the_training() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, delimiter: &str, rows: &[[String; 4]]| {
        let lines = rows.iter().map(|row| row.join(delimiter) + "\n");
        let text: String = std::iter::once(NAMES.join(delimiter) + "\n").chain(lines).collect();
        std::fs::write(folder.path().join(name), text).unwrap();
        FileSource::new(folder.path().join(name))
    };
    let local = |[amount, size, colour, when]: [String; 4]| {
        let (comma, [year, month, day]) = (
            |number: String| number.replace('.', ","),
            [0..4, 5..7, 8..10].map(|part| when[part].to_owned()),
        );
        [comma(amount), comma(size), colour, format!("{day}/{month}/{year}")]
    };
    let rows: Vec<[String; 4]> = cells(300, 6).into_iter().map(local).collect();
    let trained = write("training.csv", ";", &rows);
    let detector = fitted(&trained);
    let (expected, none) = detector.score_all_noting::<f32>(&trained).unwrap();
    assert!(none.is_empty(), "{:?}", none.sentences());
    // Of these few dates alone, nobody could tell the day from the month.
    let mut few: Vec<(usize, [String; 4])> =
        rows.iter().cloned().enumerate().filter(|(_, row)| &row[3][..2] <= "12").collect();
    few[1].1[0] = "many".into();
    few[2].1[3] = "31/31/2024".into();
    let cells: Vec<[String; 4]> = few.iter().map(|(_, row)| row.clone()).collect();
    let tabs = write("few.tsv", "\t", &cells);
    let (scores, oddities) = detector.score_all_noting::<f32>(&tabs).unwrap();
    for (place, (row, _)) in few.iter().enumerate().filter(|(place, _)| ![1, 2].contains(place)) {
        assert_eq!(scores[place].to_bits(), expected[*row].to_bits(), "row {row}");
    }
    let found: Vec<(&str, u64)> =
        oddities.columns().iter().map(|column| (column.name.as_str(), column.unreadable)).collect();
    assert_eq!((found, oddities.cells()), (vec![("amount", 1), ("when", 1)], 2));
    assert!(scores[1] > expected[few[1].0] && scores[2] > expected[few[2].0]);
    let texts = |column: usize| Values::Texts(cells.iter().map(|row| Some(row[column].as_str())).collect());
    let table = Table::of(NAMES.map(String::from).to_vec(), (0..4).map(texts).collect()).unwrap();
    assert_eq!(detector.score_all(&table).unwrap(), scores);
    let error = detector.strictly().score_all(&tabs).unwrap_err().to_string();
    assert_eq!(error, "column \"amount\", line 3, row 1: \"many\" is not a number; correct the cell");
}

/// Whatever a table in memory holds where numbers were.
#[test]
fn a_column_of_another_kind_is_a_column_of_odd_cells() {
    let folder = tempfile::tempdir().unwrap();
    let rows = cells(300, 4);
    let source = csv(folder.path(), &rows);
    let detector = fitted(&source);
    let batch = source.open(&Selection::all()).unwrap().next_batch().unwrap().unwrap();
    let words: Texts = (0..300).map(|_| Some("word")).collect();
    let others =
        [Values::Texts(words), Values::Times(vec![1e9; 300]), Values::Numbers(vec![f64::INFINITY; 300])];
    for other in others {
        let columns = vec![other, batch.values(1).clone(), batch.values(2).clone(), batch.values(3).clone()];
        let table = Table::of(batch.names().to_vec(), columns).unwrap();
        let (scores, oddities) = detector.score_all_noting::<f32>(&table).unwrap();
        assert!(scores.iter().all(|score| score.is_finite()));
        assert_eq!((oddities.cells(), oddities.columns()[0].examples.len()), (300, 3));
        assert_eq!(detector.score(&table).unwrap(), scores);
    }
}

/// The place of each score among all, from 0 on; equal ones share it.
fn ranks(scores: &[f32]) -> Vec<f64> {
    let mut sorted = scores.to_vec();
    sorted.sort_by(f32::total_cmp);
    let place = |score: &f32| {
        let [below, up_to] =
            [sorted.partition_point(|other| other < score), sorted.partition_point(|other| other <= score)];
        (below + up_to) as f64 / 2.0
    };
    scores.iter().map(place).collect()
}

fn spearman(a: &[f32], b: &[f32]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let mean = |ranks: &[f64]| ranks.iter().sum::<f64>() / ranks.len() as f64;
    let (mean_a, mean_b) = (mean(&a), mean(&b));
    let sum =
        |f: &dyn Fn(f64, f64) -> f64| a.iter().zip(&b).map(|(a, b)| f(a - mean_a, b - mean_b)).sum::<f64>();
    sum(&|a, b| a * b) / (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt()
}

/// Numbers of six columns that go together in part.
fn numbers(rows: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::new(seed);
    let mut columns = vec![Vec::new(); 6];
    for _ in 0..rows {
        let common = random.normal();
        for (index, column) in columns.iter_mut().enumerate() {
            let own = random.normal();
            column.push(match index {
                0 | 1 => common + own / 2.0,
                2 => (own * 0.8).exp(),
                3 => random.unit(),
                _ => own,
            });
        }
    }
    columns
}

#[test]
fn random_gaps_do_not_drown_the_rest() {
    const ROWS: usize = 3000;
    let names: Vec<String> = (0..6).map(|i| format!("x{i}")).collect();
    for seed in [1, 2] {
        let columns = numbers(ROWS, seed);
        let whole = Table::new(names.clone(), columns.clone()).unwrap();
        let mut random = Random::new(seed + 100);
        let mut gappy = columns;
        gappy
            .iter_mut()
            .flatten()
            .for_each(|value| *value = if random.unit() < 0.06 { f64::NAN } else { *value });
        let complete: Vec<usize> =
            (0..ROWS).filter(|&row| gappy.iter().all(|column| !column[row].is_nan())).collect();
        let gappy = Table::new(names.clone(), gappy).unwrap();
        let params = Params::default().with_steps(100).trees(60);
        let before = params.fit(&whole).unwrap().score(&whole).unwrap();
        let after = params.fit(&gappy).unwrap().score(&gappy).unwrap();
        let of = |scores: &[f32]| complete.iter().map(|&row| scores[row]).collect::<Vec<f32>>();
        let correlation = spearman(&of(&before), &of(&after));
        let share = 1.0 - complete.len() as f64 / ROWS as f64;
        let top = diad::metrics::top(&after, ROWS / 100);
        let with_gaps = top.iter().filter(|row| complete.binary_search(row).is_err()).count() as f64;
        let in_top = with_gaps / top.len() as f64;
        println!("correlation {correlation:.4}, {share:.3} of the rows and {in_top:.3} of the top have gaps");
        assert!(correlation > 0.95, "{correlation}");
        assert!(in_top <= 2.0 * share, "{in_top} of the top, {share} of all rows");
    }
}
