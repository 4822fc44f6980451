//! What the whole score must do, whatever the table.

use super::*;
use crate::rng::{Purpose, Stream};
use crate::table::{Table, Texts, Values};
use crate::tests::fitted;

const CITIES: [(&str, usize); 6] =
    [("Paris", 40), ("Lyon", 25), ("Nice", 20), ("Metz", 10), ("Dax", 4), ("Gap", 1)];

/// A table of numbers of every shape, one with gaps, and cities of which some are rare.
fn table(seed: u64, rows: usize) -> Table {
    let mut random = Stream::new(seed, Purpose::Shuffle, 0);
    let city = |share: f64| {
        let mut left = share * 100.0;
        let found = CITIES.iter().find(|(_, rows)| {
            left -= *rows as f64;
            left < 0.0
        });
        found.map_or("Gap", |city| city.0)
    };
    let mut columns = vec![Vec::new(); 5];
    let mut cities = Vec::new();
    for _ in 0..rows {
        let (a, b) = (random.normal(), random.normal());
        let gap = random.unit() < 0.1;
        let values = [
            a,
            a + 0.1 * b,
            libm::exp(2.0 * b),
            f64::from(u8::from(a > 1.0)),
            if gap { f64::NAN } else { b },
        ];
        columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        cities.push(Some(city(random.unit())));
    }
    let names = ["a", "b", "tail", "two", "gaps", "city"].map(String::from).to_vec();
    let texts: Texts = cities.into_iter().collect();
    let columns = columns.into_iter().map(Values::Numbers).chain([Values::Texts(texts)]);
    Table::of(names, columns.collect()).unwrap()
}

fn short() -> Params {
    Params { trees: 40, steps: 60, warmup: 20, anneal: 30, batch: 256, ..Params::default() }
}

/// A table with one column changed row by row.
fn with(table: &Table, column: usize, values: Values) -> Table {
    let columns =
        (0..table.names().len()).map(|c| if c == column { values.clone() } else { table.values(c).clone() });
    Table::of(table.names().to_vec(), columns.collect()).unwrap()
}

#[test]
fn no_score_falls_when_a_value_moves_further_beyond_the_range() {
    let table = table(1, 500);
    for params in [
        short(),
        Params { layers: 2, ..short() },
        Params { scale: crate::Scale::Linear, ..short() },
        Params { steps: 40, anneal: 20, warmup: 10, trees: 20, ..Params::paper() },
    ] {
        let detector = fitted(&params, &table);
        for column in 0..5 {
            let [low, high] = {
                let known = &detector.encoder().columns()[column];
                [known.min, known.max]
            };
            let range = high - low;
            for (end, side) in [(low, -1.0), (high, 1.0)] {
                let mut before: Option<Vec<f32>> = None;
                for ranges in [0.0, 1e-3, 0.1, 0.5, 1.0, 3.0, 10.0, 1e3, 1e9] {
                    let moved = vec![end + side * ranges * range; table.rows()];
                    let scores = detector.score(&with(&table, column, Values::Numbers(moved))).unwrap();
                    if let Some(before) = &before {
                        for (before, after) in before.iter().zip(&scores) {
                            // Beside what single precision rounds away.
                            assert!(
                                after - before >= -1e-4 * before.abs().max(1.0),
                                "{before} {after} {ranges}"
                            );
                        }
                    }
                    before = Some(scores);
                }
            }
        }
    }
}

#[test]
fn a_value_ten_ranges_away_is_above_nearly_all_training_rows() {
    let table = table(2, 500);
    let detector = fitted(&short(), &table);
    let mut training = detector.score(&table).unwrap();
    training.sort_unstable_by(f32::total_cmp);
    let high = training[training.len() * 99 / 100];
    for column in 0..5 {
        let known = &detector.encoder().columns()[column];
        let range = known.max - known.min;
        for far in [known.min - 10.0 * range, known.max + 10.0 * range] {
            let moved = with(&table, column, Values::Numbers(vec![far; table.rows()]));
            for exact in [false, true] {
                let detector = Detector::from_bytes(&detector.to_bytes().unwrap()).unwrap();
                let detector = if exact { detector.exactly() } else { detector };
                let scores = detector.score(&moved).unwrap();
                let least = scores.iter().copied().fold(f32::INFINITY, f32::min);
                assert!(least > high, "{least} is not above {high} with {far} in column {column}");
            }
        }
    }
}

#[test]
fn a_part_turned_over_or_of_noise_counts_less() {
    let mut random = Stream::new(4, Purpose::Shuffle, 0);
    let mut noise = || (0..4000).map(|_| random.normal() as f32).collect::<Vec<f32>>();
    let (scores, other) = (noise(), noise());
    let near: Vec<f32> = scores.iter().zip(noise()).map(|(score, noise)| score + noise).collect();
    let turned: Vec<f32> = scores.iter().map(|score| -score).collect();
    let made = [scores, near, other, turned].map(made);
    let found = trust(&made, 4000);
    assert_eq!((found[0], found[1], found[3]), (1.0, 1.0, LEAST));
    assert!(found[2] < 0.75, "{found:?}");
}

#[test]
fn a_part_that_alone_singles_out_a_few_rows_counts_in_full() {
    let mut random = Stream::new(5, Purpose::Shuffle, 0);
    let noise: Vec<f32> = (0..4000).map(|_| random.normal() as f32).collect();
    let few: Vec<f32> = (0..4000).map(|row| if row % 400 == 0 { 20.0 } else { -0.05 }).collect();
    let found = trust(&[made(noise), made(few.clone())], 4000);
    assert!(found[0] < 0.5 && found[1] == 1.0, "{found:?}");
}

#[test]
fn a_part_that_no_other_trusts_is_there_and_a_part_alone_counts() {
    let scores: Vec<f32> = (0..4000).map(|row| if row % 400 == 0 { -20.0 } else { 0.05 }).collect();
    let summand = |part: Made| add_up(vec![part], 4000).0.parts.remove(0);
    let spread = middle_and_spread(&scores).1;
    assert!((f64::from(summand(made(scores)).factor) * spread - 1.0).abs() < 1e-6);
}

fn made(scores: Vec<f32>) -> Made {
    let part = Additive::of_part("", 1.0, Default::default()).parts.remove(0);
    Made { part, weight: 1.0, mean: 0.0, deviation: 1.0, scale: 1.0, scores }
}

/// As PyOD's generated data: a crowd in one corner of a square, and a tenth of the rows anywhere in it.
#[test]
fn chance_in_a_small_table_is_not_taken_for_surprise() {
    for seed in 0..5 {
        let mut random = Stream::new(seed, Purpose::Shuffle, 0);
        let mut columns = vec![Vec::new(); 2];
        for row in 0..200 {
            let mut value =
                || if row < 180 { 5.0 + 0.4 * random.normal() } else { 10.0 * random.unit() - 5.0 };
            columns.iter_mut().for_each(|column| column.push(value()));
        }
        let table = Table::new(["x", "y"].map(String::from).to_vec(), columns).unwrap();
        let scores = fitted(&short(), &table).score(&table).unwrap();
        let labels: Vec<bool> = (0..200).map(|row| row >= 180).collect();
        let auc = crate::metrics::roc_auc(&labels, &scores).unwrap();
        assert!(auc > 0.97, "seed {seed}: {auc}");
    }
}

#[test]
fn equal_rows_at_the_border_share_what_is_left() {
    let found = highest(&[[1.0f32; 30].as_slice(), &[0.0; 70], &[2.0; 1]].concat());
    assert!((found.iter().sum::<f64>() - TOP * 101.0).abs() < 1e-9);
    assert_eq!((found[100], found[50]), (1.0, 0.0));
}

#[test]
fn parts_are_apart_in_the_file_and_add_up() {
    let detector = fitted(&short(), &table(3, 400));
    let names: Vec<&str> = detector.additive().parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, PARTS.map(|part| part.name()));
    let loaded = Detector::from_bytes(&detector.to_bytes().unwrap()).unwrap();
    assert_eq!(loaded.additive(), detector.additive());
}
