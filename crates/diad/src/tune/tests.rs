//! Tuning as a whole.

use std::ops::ControlFlow;

use super::*;
use crate::encode::Encoder;
use crate::explain::{Explainer, compare};
use crate::origin::Digest;
use crate::persist::{from_bytes, to_bytes};
use crate::rng::{Purpose, Stream};
use crate::table::Table;
use crate::{Params, Scale};

const LABEL: &str = "label";

/// Rows in three columns. Anomalies have the first two columns alike and unequal to 0, which no column tells alone; each
/// fifth of the rows has a label unless `known` says otherwise.
pub(super) fn table(rows: usize, known: impl Fn(usize, bool) -> bool) -> Table {
    let mut random = Stream::new(5, Purpose::Shuffle, 0);
    let mut columns = vec![Vec::new(); 4];
    for row in 0..rows {
        let anomaly = row % 7 == 3;
        let sign = if random.unit() < 0.5 { -1.0 } else { 1.0 };
        let x = sign * (1.0 + random.unit());
        let y = if anomaly { x } else { -x } + 0.2 * random.normal();
        let label = if known(row, anomaly) { f64::from(u8::from(anomaly)) } else { f64::NAN };
        for (column, value) in columns.iter_mut().zip([x, y, random.normal(), label]) {
            column.push(value);
        }
    }
    let names = ["a", "b", "noise", LABEL].map(String::from).to_vec();
    Table::new(names, columns).unwrap()
}

pub(super) fn first(interactions: usize, scale: Scale) -> Detector {
    first_of(&Params { scale, interactions, ..Params::default() })
}

/// A small detector of these settings.
fn first_of(params: &Params) -> Detector {
    let few = Params { layers: 2, trees: 6, attention: 3, batch: 128, ..params.clone() };
    let params = Params { steps: 30, warmup: 5, anneal: 10, ..few };
    let table = table(400, |_, _| false);
    let (encoder, matrix) = Encoder::fit_encode(&table, &[LABEL], params.scale).unwrap();
    crate::fit::fit(&params, encoder, &matrix).unwrap()
}

fn read(detector: &Detector, table: &Table) -> Labelled {
    Labelled::read(detector, table, LABEL).unwrap()
}

#[test]
fn labels_may_come_from_elsewhere() {
    let (detector, table) = (first(2, Scale::Both), table(60, |row, _| row % 5 == 0));
    let label = |&label: &f64| (!label.is_nan()).then_some(label == 1.0);
    let labels: Vec<Option<bool>> = table.column(3).iter().map(label).collect();
    assert_eq!(Labelled::of(&detector, &table, labels.clone()).unwrap(), read(&detector, &table));
    let few = Labelled::of(&detector, &table, labels[1..].to_vec()).unwrap_err().to_string();
    assert_eq!(few, "there are 59 labels for 60 rows; give one label for each row");
}

fn tune(detector: &Detector, table: &Table, learner: impl Into<Learner>) -> Tuned {
    detector.tuning(&read(detector, table)).learner(learner).run().unwrap()
}

/// Both ways to learn.
fn learners() -> [Learner; 2] {
    [FunctionParams::default().into(), DescentParams::default().into()]
}

fn fifth(row: usize, _: bool) -> bool {
    row.is_multiple_of(5)
}

/// The area on rows of which most had no label.
fn area_of(detector: &Detector) -> f64 {
    let all = table(400, |_, _| true);
    let labels: Vec<bool> = all.column(3).iter().map(|&label| label == 1.0).collect();
    roc_auc(&labels, &detector.score(&all).unwrap()).unwrap()
}

#[test]
fn labels_teach_what_sparsity_does_not_show() {
    // Descent moves the trees, so that it learns where they are the whole score, as the paper has it.
    for (learner, (settings, enough)) in
        learners().into_iter().zip([(Params::default(), 0.97), (Params::paper(), 0.0)])
    {
        let first = first_of(&settings);
        let before = to_bytes(&first).unwrap();
        let tuned = tune(&first, &table(400, fifth), learner.clone());
        let (was, is) = (area_of(&first), area_of(&tuned.detector));
        assert!(is > was && is > enough, "{learner:?}: {was} became {is}");
        assert!(to_bytes(&first).unwrap() == before, "the first detector is untouched");
    }
    let first = first(2, Scale::Both);
    let tuned = tune(&first, &table(400, fifth), Learner::default());
    let changes = compare(&Explainer::new(&first), &Explainer::new(&tuned.detector)).unwrap().changes;
    let pair = changes.iter().find(|change| change.columns == [0, 1]).unwrap();
    assert!(changes.iter().all(|other| other.columns.len() == 1 || other.size <= pair.size), "{changes:?}");
    // The trees alone leave something to be learned.
    let first = first_of(&Params::paper());
    let half = read(&first, &table(400, |row, _| row.is_multiple_of(2)));
    let areas = first.tuning(&half).cross_validate().run().unwrap().cross_validation.unwrap();
    assert!(areas[1] > 0.9 && areas[1] > areas[0], "{areas:?}");
}

#[test]
fn the_order_of_labels_does_not_matter() {
    let detector = first(2, Scale::Both);
    let given = table(120, fifth);
    let order: Vec<usize> = (0..120).rev().collect();
    let columns = (0..4).map(|c| order.iter().map(|&row| given.column(c)[row]).collect()).collect();
    let turned = Table::new(given.names().to_vec(), columns).unwrap();
    for learner in [Learner::default(), DescentParams::default().steps(30).into()] {
        let bytes = |table: &Table| to_bytes(&tune(&detector, table, learner.clone()).detector).unwrap();
        assert!(bytes(&given) == bytes(&turned), "{learner:?}");
    }
}

#[test]
fn threads_do_not_matter() {
    let detector = first(2, Scale::Both);
    let given = table(400, fifth);
    let bytes = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| to_bytes(&tune(&detector, &given, Learner::default()).detector).unwrap())
    };
    assert!(bytes(1) == bytes(3));
}

#[test]
fn anomalies_alone_are_enough() {
    let detector = first(2, Scale::Both);
    let tuned =
        tune(&detector, &table(400, |row, anomaly| anomaly && row.is_multiple_of(2)), Learner::default());
    assert!(tuned.stand_ins > 100, "{}", tuned.stand_ins);
    assert!(area_of(&tuned.detector) > 0.9, "{}", area_of(&tuned.detector));
}

#[test]
fn a_model_of_single_columns_gets_no_pairs() {
    let detector = first(1, Scale::Both);
    let tuned = tune(&detector, &table(400, fifth), Learner::default());
    assert!(tuned.detector.functions().grids.is_empty());
    assert!(Explainer::new(&tuned.detector).terms().iter().all(|term| term.columns().len() == 1));
}

#[test]
fn a_model_without_curves_gets_them() {
    let params =
        Params { steps: 20, warmup: 5, anneal: 10, trees: 6, layers: 1, batch: 64, ..Params::paper() };
    let (encoder, matrix) = Encoder::fit_encode(&table(200, |_, _| false), &[LABEL], params.scale).unwrap();
    let detector = crate::fit::fit(&params, encoder, &matrix).unwrap();
    let tuned = tune(&detector, &table(400, fifth), Learner::default());
    assert!(area_of(&tuned.detector) > 0.95);
    let forgot = tune(&detector, &table(400, fifth), FunctionParams::default().prior(0.0));
    assert!(area_of(&forgot.detector) > 0.95);
    assert_eq!(forgot.detector.additive().tree_factor(), 0.0);
}

#[test]
fn the_validation_table_chooses_and_chance_is_minded() {
    let first = first(2, Scale::Both);
    let labelled = read(&first, &table(60, |row, _| row.is_multiple_of(3)));
    let validation = read(&first, &table(400, |row, _| row % 5 == 1));
    for learner in learners() {
        let mut steps = 0;
        let mut count = |_| {
            steps += 1;
            ControlFlow::Continue(())
        };
        let tuning = first.tuning(&labelled).learner(learner.clone()).validation(&validation);
        let tuned = tuning.progress(&mut count).run().unwrap();
        let [before, after] = tuned.validation.unwrap();
        // Chance may be minded by less than a point.
        assert!(after > before - 0.01, "{learner:?}: {before} became {after}");
        assert!(steps >= 4, "{steps}");
        let mut stop = |_| ControlFlow::Break(());
        let stopped = first.tuning(&labelled).learner(learner).validation(&validation).progress(&mut stop);
        assert!(matches!(stopped.run(), Err(Error::Stopped)));
    }
}

#[test]
fn a_tuned_file_remembers_where_it_came_from() {
    let first = first(2, Scale::Both);
    let labelled = read(&first, &table(100, fifth));
    let tuned = first.tune(&labelled).unwrap().detector;
    let loaded = from_bytes(&to_bytes(&tuned).unwrap()).unwrap();
    let origin = loaded.origin().unwrap();
    assert_eq!(origin.model, first.identity().unwrap());
    assert_ne!(tuned.identity().unwrap(), first.identity().unwrap());
    assert_eq!((origin.anomalies, origin.normals), (3, 17));
    assert_eq!(origin.labels, labelled.digest());
    let more = read(&first, &table(100, |row, _| row.is_multiple_of(4)));
    assert_ne!(more.digest(), labelled.digest());
    assert!(from_bytes(&to_bytes(&first).unwrap()).unwrap().origin().is_none());
    let rows = Matrix { width: loaded.encoder().features().len(), values: labelled.matrix().values.clone() };
    let scores = |detector: &Detector| {
        let mut scores = vec![0.0; rows.rows()];
        detector.score_encoded(&rows, &mut scores);
        scores
    };
    assert_eq!(scores(&tuned), scores(&loaded));
    let again = tuned.tune(&labelled).unwrap_err();
    let said = again.to_string();
    assert!(said.contains("tuned before") && said.contains(&origin.model.to_string()), "{said}");
}

#[test]
fn digests_are_read_as_they_are_written_and_nothing_else_is() {
    let digest = Digest::of(*b"labels");
    assert_eq!(digest.to_string().parse(), Ok(digest));
    assert_eq!(digest.to_string().len(), 32);
    for bad in ["", "12", &"g".repeat(32), &"A".repeat(32), &"+".repeat(32), &"0".repeat(33)] {
        assert!(bad.parse::<Digest>().is_err(), "{bad}");
    }
}

#[test]
fn odd_labels_are_said() {
    let names = || ["a", "b", "noise", LABEL].map(String::from).to_vec();
    let detector = first(2, Scale::Both);
    let of = |a: Vec<f64>, label: Vec<f64>| {
        let rows = a.len();
        read(&detector, &Table::new(names(), vec![a, vec![1.0; rows], vec![0.0; rows], label]).unwrap())
    };
    let contradictory = of(vec![1.0, 1.0, 1.0, 2.0], vec![1.0, 0.0, f64::NAN, 1.0]);
    assert_eq!(
        contradictory.oddities(None),
        ["2 labelled rows are identical to a row with the opposite label; they contradict each other"]
    );
    let labelled = of(vec![1.0, 2.0, 3.0, 4.0], vec![1.0, 0.0, 0.0, f64::NAN]);
    let odd = |a, label| !labelled.oddities(Some(&of(a, label))).is_empty();
    assert!(odd(vec![3.0, 2.0, 1.0], vec![0.0, 0.0, 1.0]), "the same rows");
    assert!(odd(vec![1.0, 2.0], vec![1.0, 0.0]), "some of them");
    assert!(odd(vec![5.0, 1.0, 2.0, 3.0], vec![1.0, 1.0, 0.0, 0.0]), "all of them and another");
    assert!(!odd(vec![1.0, 5.0], vec![1.0, 0.0]), "one of them and another");
    assert!(!odd(vec![1.0, 2.0], vec![1.0, 1.0]), "another label");
    assert!(!odd(vec![4.0], vec![f64::NAN]), "no labels");
}

#[test]
fn what_cannot_be_learned_from_is_said() {
    let first = first(2, Scale::Both);
    let tuned = |known: &dyn Fn(usize, bool) -> bool, validation: Option<&Labelled>| {
        let labelled = read(&first, &table(60, known));
        let result = first.tuning(&labelled).validation(validation).run();
        result.map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(
        tuned(&|_, anomaly| !anomaly, None),
        "no row is labelled as an anomaly; label at least one row with 1"
    );
    let one_class = read(&first, &table(60, |_, anomaly| anomaly));
    assert!(tuned(&|_, _| true, Some(&one_class)).contains("has no normal rows (label 0)"));
    let other_class = read(&first, &table(60, |_, anomaly| !anomaly));
    assert!(tuned(&|_, _| true, Some(&other_class)).contains("has no anomalies (label 1)"));
    let params = FunctionParams::default().amplitude(-1.0);
    let labelled = read(&first, &table(60, |_, _| true));
    assert!(matches!(first.tuning(&labelled).learner(params).run(), Err(Error::Setting { .. })));
    let given = table(60, |_, _| true);
    let rows: Vec<usize> = (0..60).filter(|row| row % 7 == 3).collect();
    let columns = (0..4).map(|c| rows.iter().map(|&row| given.column(c)[row]).collect()).collect();
    let only = read(&first, &Table::new(given.names().to_vec(), columns).unwrap());
    let error = first.tune(&only).unwrap_err();
    assert!(matches!(error, Error::NothingNormal), "{error}");
    assert!(matches!(Labelled::read(&first, &given, "a"), Err(Error::LabelIsFeature { .. })));
}

#[test]
fn one_label_of_each_kind_is_enough() {
    let first = first(2, Scale::Both);
    let labelled = read(&first, &table(400, |row, _| row == 3 || row == 4));
    for learner in learners() {
        let tuned = first.tuning(&labelled).learner(learner).cross_validate().run().unwrap();
        assert_eq!(tuned.cross_validation, None);
        assert!(area_of(&tuned.detector).is_finite());
    }
}

/// Each way of learning may pair other columns, where there are many.
#[test]
fn a_tuned_file_of_many_columns_is_read_again() {
    let wide = |rows: usize, seed: u64| {
        let mut random = Stream::new(seed, Purpose::Shuffle, 1);
        let mut columns = vec![Vec::new(); 61];
        for row in 0..rows {
            let anomaly = row % 6 == 1;
            for (index, column) in columns[..60].iter_mut().enumerate() {
                let moved = f64::from(u8::from(anomaly && index % 4 == 0));
                column.push(random.normal() * (1.0 + index as f64 / 30.0) + moved);
            }
            columns[60].push(f64::from(u8::from(anomaly)));
        }
        let names = (0..60).map(|index| format!("c{index}")).chain([LABEL.to_owned()]).collect();
        Table::new(names, columns).unwrap()
    };
    let (encoder, matrix) = Encoder::fit_encode(&wide(300, 1), &[LABEL], Scale::Asinh).unwrap();
    let few = Params { scale: Scale::Asinh, trees: 6, batch: 64, ..Params::default() };
    let params = Params { steps: 10, warmup: 2, anneal: 5, ..few };
    let first = crate::fit::fit(&params, encoder, &matrix).unwrap();
    let (labelled, valid) = (read(&first, &wide(120, 2)), read(&first, &wide(120, 3)));
    for valid in [None, Some(&valid)] {
        let tuned = first.tuning(&labelled).validation(valid).run().unwrap().detector;
        let grids = tuned.functions().grids.len();
        assert!(grids > 60 + 276, "{grids} grids: pairs of one set of columns");
        let loaded = from_bytes(&to_bytes(&tuned).unwrap()).unwrap();
        assert_eq!(tuned.score(&wide(50, 4)).unwrap(), loaded.score(&wide(50, 4)).unwrap());
    }
}

/// Three anomalies and two normal rows of different kinds, one of the anomalies in francs: ordinary rows in francs stay where they were.
#[test]
fn one_label_does_not_condemn_a_category() {
    use crate::table::{Texts, Values};

    let mut random = Stream::new(21, Purpose::Shuffle, 0);
    let rows = 900;
    let francs = |row: usize| row % 8 == 3;
    let mut amounts: Vec<f64> = (0..rows).map(|_| 60.0 + 12.0 * random.normal()).collect();
    let mut hours: Vec<f64> = (0..rows).map(|_| 8.0 + 12.0 * random.unit()).collect();
    let (odd, fine) = ([3, 100, 202], [40, 301]);
    assert!(francs(odd[0]) && !francs(odd[1]) && !francs(odd[2]));
    (amounts[odd[0]], hours[odd[1]], amounts[odd[2]]) = (900.0, 3.0, 700.0);
    let currencies: Texts =
        (0..rows).map(|row| Some(if francs(row) { "CHF" } else { ["EUR", "USD", "EUR"][row % 3] })).collect();
    let names = ["amount", "hour", "currency"].map(String::from).to_vec();
    let table =
        Table::of(names, vec![Values::Numbers(amounts), Values::Numbers(hours), currencies.into()]).unwrap();
    let detector = Params::default().with_steps(30).trees(20).fit(&table).unwrap();
    let label =
        |row: usize| if odd.contains(&row) { Some(true) } else { fine.contains(&row).then_some(false) };
    let labelled = Labelled::of(&detector, &table, (0..rows).map(label).collect()).unwrap();
    let tuned = detector.tuning(&labelled).run().unwrap().detector;
    // The mean rank of ordinary rows in francs, from 0 to 1.
    let standing = |detector: &Detector| {
        let scores = detector.score(&table).unwrap();
        let ranks = (0..rows)
            .filter(|&row| francs(row) && row != odd[0])
            .map(|row| scores.iter().filter(|&&other| other < scores[row]).count() as f64 / rows as f64);
        let ranks: Vec<f64> = ranks.collect();
        ranks.iter().sum::<f64>() / ranks.len() as f64
    };
    let [before, after] = [standing(&detector), standing(&tuned)];
    assert!(after < before + 0.1, "{before} {after}");
    let scores = tuned.score(&table).unwrap();
    let highest = crate::metrics::top(&scores, 5);
    assert!(odd.iter().all(|row| highest.contains(row)), "{highest:?}");
}
