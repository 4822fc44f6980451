//! Contributions add up, purification keeps the sum, changes are real.

use proptest::prelude::*;

use super::*;
use crate::encode::Encoder;
use crate::fit::fit;
use crate::rng::{Purpose, Stream};
use crate::table::{Error as TableError, FileSource, Selection, Source, Table};
use crate::{Error, Params, Scale};

fn tiny() -> Params {
    Params { trees: 12, seed: 5, ..crate::tests::small() }
}

/// Two columns that go together, a skewed one, one of two values and one of five.
fn table(rows: usize, seed: u64) -> Table {
    let mut random = Stream::new(seed, Purpose::Shuffle, 1);
    let mut columns = vec![Vec::new(); 5];
    for row in 0..rows {
        let common = random.normal();
        columns[0].push(common);
        columns[1].push(2.0 * common + 0.3 * random.normal());
        columns[2].push((random.normal() * 2.0).exp());
        columns[3].push(f64::from(u8::from(row % 9 == 0)));
        columns[4].push(random.below(5) as f64);
    }
    let names = ["one", "two", "skewed", "flag", "level"].map(String::from).to_vec();
    Table::new(names, columns).unwrap()
}

fn detector(params: &Params, table: &Table) -> Detector {
    let (encoder, matrix) = Encoder::fit_encode(table, &[], params.scale).unwrap();
    fit(params, encoder, &matrix).unwrap()
}

/// Checks the contract on every row of a table.
fn adds_up(detector: &Detector, table: &Table) {
    let explainer = Explainer::new(detector);
    let explained = explainer.contributions(table).unwrap();
    let scores = detector.score(table).unwrap();
    assert_eq!(explained.scores(), scores);
    for (row, &score) in scores.iter().enumerate() {
        let score = f64::from(score);
        let sum = explainer.intercept() + explained.row(row).iter().sum::<f64>();
        // Single precision rounds in proportion to what is added up.
        let size = explainer.intercept().abs() + explained.row(row).iter().map(|c| c.abs()).sum::<f64>();
        assert!((sum - score).abs() <= 1e-6 * size.max(1.0), "row {row}: {sum} instead of {score}");
    }
}

#[test]
fn contributions_add_up_for_every_setting() {
    let data = table(400, 1);
    for params in [
        tiny(),
        Params { interactions: 1, ..tiny() },
        Params { scale: Scale::Linear, ..tiny() },
        Params { scale: Scale::Asinh, layers: 3, ..tiny() },
        Params { weight_trees: 0.0, ..tiny() },
        Params { weight_tails: 0.0, weight_isolation: 0.0, ..tiny() },
        Params { layers: 2, trees: 12, steps: 30, warmup: 10, anneal: 15, batch: 128, ..Params::paper() },
    ] {
        let detector = detector(&params, &data);
        adds_up(&detector, &data);
        adds_up(&detector, &table(100, 2));
    }
}

#[test]
fn contributions_add_up_on_every_fixture() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures");
    let thyroid = FileSource::new(format!("{fixtures}/../crates/diad-cli/data/thyroid.csv"));
    let (encoder, matrix) = Encoder::fit_encode(&thyroid, &["label"], Scale::Both).unwrap();
    let fitted = fit(&tiny(), encoder, &matrix).unwrap();
    let mut reader = thyroid.open(&Selection::except(&["label"])).unwrap();
    while let Some(batch) = reader.next_batch().unwrap() {
        adds_up(&fitted, &batch);
    }
    let stored = Detector::load(format!("{fixtures}/models/v1.diad").as_ref()).unwrap();
    let mut random = Stream::new(1, Purpose::Shuffle, 0);
    let names = stored.encoder().columns().iter().map(|column| column.name.clone()).collect();
    let columns = (0..3).map(|_| (0..500).map(|_| random.normal() * 4.0).collect()).collect();
    adds_up(&stored, &Table::new(names, columns).unwrap());
}

fn shared() -> &'static Detector {
    static DETECTOR: std::sync::OnceLock<Detector> = std::sync::OnceLock::new();
    DETECTOR.get_or_init(|| detector(&tiny(), &table(600, 3)))
}

/// Every value, also far outside of what was seen.
fn any_value() -> impl Strategy<Value = f64> {
    prop_oneof![
        -5.0f64..5.0,
        Just(0.0),
        Just(7.0),
        any::<f64>().prop_filter("finite", |value| value.is_finite()),
    ]
}

proptest! {
    #[test]
    fn contributions_add_up_for_every_row(
        rows in prop::collection::vec(prop::collection::vec(any_value(), 5), 1..40),
    ) {
        let names = shared().encoder().columns().iter().map(|column| column.name.clone()).collect();
        let columns = (0..5).map(|c| rows.iter().map(|row| row[c]).collect()).collect();
        adds_up(shared(), &Table::new(names, columns).unwrap());
    }

    #[test]
    fn a_term_is_the_same_alone_and_in_a_row(values in prop::collection::vec(any_value(), 5)) {
        let explainer = Explainer::new(shared());
        let names = shared().encoder().columns().iter().map(|column| column.name.clone()).collect();
        let row = Table::new(names, values.iter().map(|&value| vec![value]).collect()).unwrap();
        let explained = explainer.contributions(&row).unwrap();
        for (index, term) in explainer.terms().iter().enumerate() {
            let point: Vec<f64> = term.columns().iter().map(|&column| values[column]).collect();
            let alone = explainer.evaluate(index, &[&point])[0];
            let within = explained.row(0)[index];
            prop_assert!((alone - within).abs() <= 1e-9 * within.abs().max(1.0), "{alone} {within}");
        }
    }
}

#[test]
fn terms_have_no_mean() {
    for params in [tiny(), Params { scale: Scale::Linear, ..tiny() }] {
        let data = table(600, 3);
        let detector = detector(&params, &data);
        let explainer = Explainer::new(&detector);
        let explained = explainer.contributions(&data).unwrap();
        for index in 0..explainer.terms().len() {
            let mean = (0..600).map(|row| explained.row(row)[index]).sum::<f64>() / 600.0;
            assert!(mean.abs() < 1e-5, "{}: {mean}", explainer.name(index));
        }
    }
}

/// The pieces of a pair and of its columns before purification, and after it.
#[test]
fn purification_leaves_the_sum_unchanged() {
    // Piece by piece, in double precision.
    let explainer = Explainer { compiled: None, ..Explainer::new(shared()) };
    let data = table(200, 8);
    let explained = explainer.contributions(&data).unwrap();
    let plain: Vec<Term> = raw_terms(shared(), &explainer.nodes);
    let raw = Explainer {
        terms: plain,
        intercept: shared().engine().constant(),
        nodes: explainer.nodes.clone(),
        compiled: None,
        ..Explainer::new(shared())
    };
    let unpurified = raw.contributions(&data).unwrap();
    let mut moved = false;
    for row in 0..data.rows() {
        let [before, after] = [(&raw, &unpurified), (&explainer, &explained)]
            .map(|(explainer, rows)| explainer.intercept() + rows.row(row).iter().sum::<f64>());
        assert!((before - after).abs() < 1e-9, "row {row}: {before} became {after}");
        moved |= explained.row(row).iter().zip(unpurified.row(row)).any(|(a, b)| (a - b).abs() > 1e-3);
    }
    assert!(moved, "purification did nothing");
}

/// Terms that are looked up, all at once, are those that are put together piece by piece, and those of the trees themselves: what is
/// moved from pairs to columns is the same in both engines, for every row.
#[test]
fn terms_are_looked_up_as_they_are_put_together() {
    let params = Params { layers: 1, trees: 40, ..tiny() };
    let detector = detector(&params, &table(600, 3));
    let explainer = Explainer::new(&detector);
    let near = detector.bound().unwrap() + 1e-5;
    for rows in [1, 3, 4, 255, 700] {
        let data = table(rows, 12);
        let looked_up = explainer.contributions(&data).unwrap();
        let apart = Explainer { compiled: None, ..Explainer::new(&detector) };
        assert!(explainer.compiled.is_some() && apart.terms.iter().any(|term| term.columns.len() == 2));
        let plain = apart.contributions(&data).unwrap();
        for (a, b) in looked_up.values().iter().zip(plain.values()) {
            assert!((a - b).abs() < 1e-6 * b.abs().max(1.0), "{a} instead of {b}");
        }
        let exact = Detector::from_bytes(&detector.to_bytes().unwrap()).unwrap().exactly();
        let exact = Explainer::new(&exact);
        assert!(exact.compiled.is_none());
        let of_trees = exact.contributions(&data).unwrap();
        for (index, term) in exact.terms().iter().enumerate() {
            let Some(same) = explainer.find(term.columns()) else { continue };
            for row in 0..rows {
                let (a, b) = (looked_up.row(row)[same], of_trees.row(row)[index]);
                assert!((a - b).abs() < near, "{}: {a} instead of {b}", explainer.name(same));
            }
        }
    }
}

/// Room is used again, and nothing of what was in it is left.
#[test]
fn contributions_may_take_the_place_of_others() {
    let explainer = Explainer::new(shared());
    let mut room = Contributions::default();
    for (rows, seed) in [(40, 13), (40, 14), (7, 15), (0, 16), (40, 13)] {
        let data = table(rows, seed);
        explainer.contributions_into(&data, &mut room).unwrap();
        let fresh = explainer.contributions(&data).unwrap();
        assert_eq!((room.scores(), room.values()), (fresh.scores(), fresh.values()));
    }
}

/// A plain count over the rows that were trained on.
#[test]
fn importances_are_means_over_the_training_rows() {
    let data = table(600, 3);
    let detector = detector(&tiny(), &data);
    let explainer = Explainer::new(&detector);
    let explained = explainer.contributions(&data).unwrap();
    let largest = explainer.terms().iter().map(Term::importance).fold(0.0, f64::max);
    for (index, term) in explainer.terms().iter().enumerate() {
        let counted = (0..600).map(|row| explained.row(row)[index].abs()).sum::<f64>() / 600.0;
        // Pairs are known at a few nodes only.
        let tolerance = if term.columns().len() == 1 { 0.02 } else { 0.1 };
        assert!(
            (term.importance() - counted).abs() <= tolerance * largest,
            "{}: {} instead of {counted}",
            explainer.name(index),
            term.importance()
        );
    }
}

#[test]
fn values_are_put_into_words() {
    let explainer = Explainer::new(shared());
    let words = |column, value| explainer.standing(column, value).to_string();
    let given = &shared().encoder().columns()[0];
    assert_eq!(words(0, given.max * 11.0), "11 times the largest of 600 rows");
    assert_eq!(
        words(0, -100.0),
        format!("outside everything seen: {} to {}", number(given.min), number(given.max))
    );
    assert_eq!(words(0, given.max), "the largest of 600 rows");
    assert_eq!(words(0, given.min), "the smallest of 600 rows");
    assert!(words(0, 2.0).starts_with("higher than 9"), "{}", words(0, 2.0));
    assert!(words(0, -2.0).starts_with("lower than 9"), "{}", words(0, -2.0));
    assert_eq!(words(3, 1.0), "as in 67 of 600 rows");
    let term = explainer.find(&[3]).unwrap();
    assert_eq!(explainer.describe(term, &[1.0]), "flag = 1, as in 67 of 600 rows");
    assert_eq!(explainer.score_standing(f32::MAX), 1.0);
    assert_eq!(explainer.score_standing(f32::MIN), 0.0);
}

#[test]
fn lines_and_surfaces_are_the_terms() {
    let explainer = Explainer::new(shared());
    for (index, term) in explainer.terms().iter().enumerate() {
        let axes: Vec<Axis> = term.columns().iter().map(|&column| explainer.axis(column)).collect();
        if let [axis] = &axes[..] {
            let line = explainer.line(index);
            assert!(line.positions.windows(2).all(|pair| pair[0] < pair[1]));
            for (&position, &value) in line.positions.iter().zip(&line.values) {
                assert_eq!(explainer.evaluate(index, &[&[axis.value(position)]])[0], value);
            }
            let density = explainer.density(term.columns()[0], 64);
            assert!((density.iter().sum::<f64>() - 1.0).abs() < 1e-6);
        } else {
            let surface = explainer.surface(index, 12);
            let across = surface.positions[1].len();
            for (cell, &value) in surface.values.iter().enumerate() {
                let point = [
                    axes[0].value(surface.positions[0][cell / across]),
                    axes[1].value(surface.positions[1][cell % across]),
                ];
                assert_eq!(explainer.evaluate(index, &[&point])[0], value);
            }
        }
    }
    let flag = explainer.line(explainer.find(&[3]).unwrap());
    assert_eq!(flag.positions, [0.0, 1.0]);
}

/// New rows with their scores, and the score that a share of the training rows is below.
fn above(share: f64) -> (Explainer<'static>, Table, Vec<f32>, f32) {
    let (explainer, data) = (Explainer::new(shared()), table(300, 9));
    let (scores, threshold) = (shared().score(&data).unwrap(), explainer.score_quantile(share));
    (explainer, data, scores, threshold)
}

#[test]
fn counterfactuals_hold_when_scored_again() {
    let (explainer, data, scores, threshold) = above(0.8);
    let (mut found, mut pairs) = (0, 0);
    for row in (0..300).filter(|&row| scores[row] >= threshold).take(30) {
        let values: Vec<f64> = (0..5).map(|column| data.column(column)[row]).collect();
        let counterfactuals = explainer.counterfactuals(&values, threshold).unwrap();
        let mut last = f64::INFINITY;
        for counterfactual in &counterfactuals {
            let mut changed = values.clone();
            for replacement in &counterfactual.replacements {
                assert_eq!(replacement.from, values[replacement.column]);
                assert_ne!(replacement.to, replacement.from);
                let given = &shared().encoder().columns()[replacement.column];
                assert!((given.min..=given.max).contains(&replacement.to));
                changed[replacement.column] = replacement.to;
            }
            let again = shared().score(
                &Table::new(data.names().to_vec(), changed.iter().map(|&v| vec![v]).collect()).unwrap(),
            );
            assert_eq!(again.unwrap(), [counterfactual.score]);
            assert!(counterfactual.score < threshold);
            assert!(counterfactual.distance < last, "two columns are only named if that is nearer");
            last = counterfactual.distance;
            found += 1;
            pairs += usize::from(counterfactual.replacements.len() == 2);
        }
    }
    assert!(found > 10 && pairs > 0, "{found} found, {pairs} of two columns");
    let ordinary: Vec<f64> = (0..5).map(|column| data.column(column)[0]).collect();
    assert_eq!(explainer.counterfactuals(&ordinary, f32::MAX).unwrap(), []);
    assert!(matches!(explainer.counterfactuals(&ordinary[1..], 0.0), Err(Error::Width { .. })));
}

/// No single value that a plain search over a fine net of the column tries is much nearer.
#[test]
fn no_much_smaller_change_is_overlooked() {
    let (explainer, data, scores, threshold) = above(0.9);
    let score = |values: &[f64]| {
        let columns = values.iter().map(|&v| vec![v]).collect();
        shared().score(&Table::new(data.names().to_vec(), columns).unwrap()).unwrap()[0]
    };
    for row in (0..300).filter(|&row| scores[row] >= threshold).take(5) {
        let values: Vec<f64> = (0..5).map(|column| data.column(column)[row]).collect();
        let found = explainer.counterfactuals(&values, threshold).unwrap();
        let single = found.iter().find(|found| found.replacements.len() == 1);
        let mut nearest = f64::INFINITY;
        for column in [0, 1, 2] {
            let axis = explainer.axis(column);
            for i in 0..=400 {
                let mut changed = values.clone();
                changed[column] = axis.value(f64::from(i) / 400.0);
                if score(&changed) < threshold {
                    nearest =
                        nearest.min((axis.position(changed[column]) - axis.position(values[column])).abs());
                }
            }
        }
        if nearest.is_finite() {
            let found = single.map_or(f64::INFINITY, |single| single.distance);
            assert!(found <= 1.2 * nearest + 0.03, "row {row}: {found}, but {nearest} would do");
        }
    }
}

#[test]
fn models_are_compared_by_their_terms() {
    let data = table(600, 3);
    let (before, after) = (detector(&tiny(), &data), detector(&Params { seed: 6, ..tiny() }, &data));
    let (before, after) = (Explainer::new(&before), Explainer::new(&after));
    let changes = compare(&before, &after).unwrap().changes;
    assert!(changes.len() >= after.terms().len());
    assert!(changes.windows(2).all(|pair| pair[0].size >= pair[1].size));
    assert!(changes[0].size > 0.0);
    let same = compare(&after, &after).unwrap();
    assert_eq!(same.scale, 1.0);
    for change in same.changes {
        assert!(change.size == 0.0 && change.agreement.is_none_or(|a| (a - 1.0).abs() < 1e-9), "{change:?}");
    }
    let mut names = data.names().to_vec();
    names[1] = "other".into();
    let renamed = Table::new(names, (0..5).map(|column| data.column(column).to_vec()).collect()).unwrap();
    for other in [renamed, table(600, 4)] {
        let unrelated = detector(&tiny(), &other);
        let error = compare(&before, &Explainer::new(&unrelated)).unwrap_err();
        assert!(matches!(error, Error::Unrelated { .. }), "{error}");
    }
}

#[test]
fn what_is_missing_from_a_table_is_named() {
    let explainer = Explainer::new(shared());
    let lacking = Table::new(vec!["one".into()], vec![vec![1.0]]).unwrap();
    assert!(
        matches!(explainer.contributions(&lacking), Err(Error::Table(TableError::MissingColumns { names, .. })) if names.len() == 4)
    );
    let empty = Table::new(table(1, 1).names().to_vec(), vec![Vec::new(); 5]).unwrap();
    assert!(explainer.contributions(&empty).unwrap().scores().is_empty());
}

/// A model that remembers nothing of its training rows can be explained all the same.
#[test]
fn contributions_add_up_without_a_memory() {
    let first = shared();
    let bare = Detector::new(first.params().clone(), first.encoder().clone(), first.model().clone(), 600);
    let bare = bare.with(first.additive().clone());
    adds_up(&bare, &table(200, 4));
}

/// The shortest of several runs, so that other work on the machine does not count.
#[test]
fn explaining_takes_at_most_twice_as_long_as_scoring() {
    let data = table(10_000, 11);
    for layers in [1, 3] {
        explained_in_time(&detector(&Params { trees: 60, layers, ..tiny() }, &data), &data);
    }
}

fn explained_in_time(detector: &Detector, data: &Table) {
    let explainer = Explainer::new(detector);
    let time = |run: &dyn Fn()| {
        let started = std::time::Instant::now();
        run();
        started.elapsed()
    };
    let (mut scoring, mut explaining) = (std::time::Duration::MAX, std::time::Duration::MAX);
    // On a busy machine it takes more rounds until both have had the processor to themselves.
    for round in 0..150 {
        if round >= 15 && explaining <= 2 * scoring {
            break;
        }
        scoring = scoring.min(time(&|| drop(detector.score(data).unwrap())));
        explaining = explaining.min(time(&|| drop(explainer.contributions(data).unwrap())));
    }
    assert!(explaining <= 2 * scoring, "{explaining:?} to explain, {scoring:?} to score");
}
