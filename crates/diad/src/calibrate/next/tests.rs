use std::collections::HashSet;

use super::*;
use crate::rng::{Purpose, Stream};
use crate::table::Table;
use crate::{Detector, Params};

fn fitted(table: &Table) -> Detector {
    Params::default().with_steps(20).trees(10).fit(table).unwrap()
}

/// Rows of five columns: 60 anomalies in two clusters, 40 rows that lie further out but are wanted by nobody, and 1,500 ordinary ones.
fn clusters() -> (Table, Vec<bool>) {
    let mut random = Stream::new(5, Purpose::Shuffle, 0);
    let mut columns = vec![Vec::new(); 5];
    let mut labels = Vec::new();
    for row in 0..1600 {
        let kind = match row % 40 {
            7 => Some(0),
            19 if row < 800 => Some(1),
            33 => Some(2),
            _ => None,
        };
        let centre: [f64; 5] = match kind {
            Some(0) => [3.0, -3.0, 0.0, 0.0, 0.0],
            Some(1) => [0.0, 0.0, 3.0, 0.0, 3.0],
            Some(_) => [8.0, 0.0, 0.0, -8.0, 0.0],
            None => [0.0; 5],
        };
        let spread = if kind == Some(2) { 3.0 } else { 1.0 };
        columns
            .iter_mut()
            .zip(centre)
            .for_each(|(column, centre)| column.push(centre + spread * random.normal()));
        labels.push(matches!(kind, Some(0 | 1)));
    }
    let names = (0..5).map(|column| format!("c{column}")).collect();
    (Table::new(names, columns).unwrap(), labels)
}

/// How many of so many rows asked for, one after the other, are anomalies, if every so many-th answer is wrong.
fn found(querying: &mut Querying, labels: &[bool], queries: usize, wrong: usize) -> usize {
    let mut count = 0;
    for query in 1..=queries {
        let row = querying.highest(1)[0];
        querying.tell(row, labels[row] != (query % wrong == 0)).unwrap();
        count += usize::from(labels[row]);
    }
    count
}

#[test]
fn rows_are_of_several_kinds_and_have_no_label_yet() {
    // Many rows are far out in the first column, a few in the second.
    let mut columns: Vec<Vec<f64>> =
        (0..2u32).map(|c| (0..900u32).map(|i| f64::from((i * (7 + c)) % 30)).collect()).collect();
    (0..20).for_each(|i| columns[0][i * 11] = 300.0 + i as f64);
    (0..3).for_each(|i| columns[1][500 + i] = 120.0 + i as f64);
    let table = Table::new(vec!["a".into(), "b".into()], columns).unwrap();
    let detector = fitted(&table);
    let mut querying = Querying::new(&detector, &table).unwrap();
    let explainer = Explainer::new(&detector);
    let first = next_rows(&explainer, &table, &querying, 6).unwrap();
    assert!(
        first.windows(2).all(|two| two[0].score >= two[1].score),
        "without labels, by the score: {first:?}"
    );
    let kinds: HashSet<&str> = first.iter().map(|next| next.sentence.as_str()).collect();
    assert!(kinds.len() > 1, "{first:?}");

    querying.tell(first[0].row, true).unwrap();
    let next = next_rows(&explainer, &table, &querying, 6).unwrap();
    assert_eq!(next.len(), 6);
    assert!(next.iter().all(|next| next.row != first[0].row && next.score == querying.scores()[next.row]));
    assert!(next.windows(2).all(|two| two[0].expected >= two[1].expected));
    querying.highest(897).into_iter().for_each(|row| querying.tell(row, false).unwrap());
    assert_eq!(next_rows(&explainer, &table, &querying, 6).unwrap().len(), 2);
    assert!(querying.tell(900, true).is_err());
}

#[test]
fn clusters_of_anomalies_are_found() {
    let (table, labels) = clusters();
    let detector = fitted(&table);
    let mut querying = Querying::new(&detector, &table).unwrap();
    let untuned = querying.highest(80).into_iter().filter(|&row| labels[row]).count();
    let asked = found(&mut querying, &labels, 80, usize::MAX);
    assert!(
        asked >= 50 && asked >= untuned + 10,
        "{asked} of 60 in 80 queries, {untuned} among the highest 80"
    );
}

#[test]
fn wrong_labels_do_little_harm() {
    let (table, labels) = clusters();
    let detector = fitted(&table);
    let mut querying = Querying::new(&detector, &table).unwrap();
    let asked = found(&mut querying, &labels, 80, 10);
    assert!(asked >= 45, "{asked} of 60 in 80 queries, of which 8 were answered wrongly");
}

/// The mean of the Gaussian process, all labels at once, in double precision.
fn plain(querying: &Querying, told: &[(usize, bool)]) -> Vec<f64> {
    let (rows, n) = (querying.scores().len(), told.len());
    let scores = querying.scores();
    let height = |row: usize| {
        let as_high = scores.iter().filter(|&&score| score >= scores[row]).count();
        -(as_high as f64 / (rows + 1) as f64 + 0.003).log10()
    };
    let before = |row: usize| 0.3 * height(row) - 0.5;
    let mut agreement = vec![0.0; rows];
    let mut columns = Vec::new();
    for &(row, _) in told {
        querying.rows.agreement(row, 0, &mut agreement);
        let own = 0.15 * 0.15 * height(row);
        // Five columns: the power is 2.
        columns
            .push((0..rows).map(|x| f64::from(agreement[x]).powi(2) + own * height(x)).collect::<Vec<f64>>());
    }
    // Gauss's elimination of (K + noise) α = y - prior.
    let mut system: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let row = told[i].0;
            let target = if told[i].1 { 1.0 } else { -1.0 } - before(row);
            (0..n).map(|j| columns[j][row] + if i == j { 0.3 } else { 0.0 }).chain([target]).collect()
        })
        .collect();
    for i in 0..n {
        for j in (0..n).filter(|&j| j != i) {
            let factor = system[j][i] / system[i][i];
            let own = system[i].clone();
            system[j].iter_mut().zip(&own).for_each(|(cell, own)| *cell -= factor * own);
        }
    }
    let weight = |i: usize| system[i][n] / system[i][i];
    (0..rows).map(|row| before(row) + (0..n).map(|i| columns[i][row] * weight(i)).sum::<f64>()).collect()
}

#[test]
fn label_by_label_is_as_all_at_once() {
    let (table, labels) = clusters();
    let detector = fitted(&table);
    let mut querying = Querying::new(&detector, &table).unwrap();
    let mut told: Vec<(usize, bool)> = (0..30).map(|i| (i * 53 % 1600, labels[i * 53 % 1600])).collect();
    // A row with both labels.
    told.push((told[4].0, !told[4].1));
    let mut backwards = Querying::new(&detector, &table).unwrap();
    told.iter().for_each(|&(row, label)| querying.tell(row, label).unwrap());
    told.iter().rev().for_each(|&(row, label)| backwards.tell(row, label).unwrap());
    let plain = plain(&querying, &told);
    for ((fast, other), slow) in querying.expected().iter().zip(backwards.expected()).zip(&plain) {
        assert!((f64::from(*fast) - slow).abs() < 1e-4, "{fast} is not {slow}");
        assert!((other - fast).abs() < 1e-4, "the order of the labels counts: {fast} and {other}");
    }
}

#[test]
fn threads_do_not_count() {
    let (table, labels) = clusters();
    let detector = fitted(&table);
    let on_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut querying = Querying::new(&detector, &table).unwrap();
            found(&mut querying, &labels, 20, usize::MAX);
            querying.expected().to_vec()
        })
    };
    assert_eq!(on_threads(1), on_threads(3));
}
