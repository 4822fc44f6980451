//! When something was: later rows are ordinary, rows of another century are not, and reasons speak of the date.

#![expect(clippy::unwrap_used, reason = "a test whose model cannot be made may panic")]

use diad::explain::Explainer;
use diad::table::{Table, Texts, Values};
use diad::{Detector, Params};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const DAY: f64 = 86_400.0;
/// 1 January 2024, in days.
const START: f64 = 19_723.0;

/// A year of payments: a date, an amount and a share. `days` are those of the rows.
fn payments(days: &[f64], seed: u64) -> Table {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut unit = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let times = days.iter().map(|day| day.floor() * DAY).collect();
    let amounts = days.iter().map(|_| (2.0 * (unit() + unit() + unit())).exp()).collect();
    let shares = days.iter().map(|_| unit()).collect();
    let columns = vec![Values::Times(times), Values::Numbers(amounts), Values::Numbers(shares)];
    Table::of(["paid", "amount", "share"].map(String::from).to_vec(), columns).unwrap()
}

fn year(rows: usize, seed: u64) -> Vec<f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..rows).map(|_| START + (random.next_u64() % 366) as f64).collect()
}

fn fitted(table: &Table) -> Detector {
    Params::default().with_steps(30).trees(20).fit(table).unwrap()
}

/// The share of some scores that are below another.
fn share_below(scores: &[f32], score: f32) -> f64 {
    scores.iter().filter(|&&other| other < score).count() as f64 / scores.len() as f64
}

fn median(mut scores: Vec<f32>) -> f32 {
    scores.sort_by(f32::total_cmp);
    scores[scores.len() / 2]
}

#[test]
fn later_rows_are_ordinary_and_rows_of_another_century_are_not() {
    let training = payments(&year(1500, 1), 2);
    let detector = fitted(&training);
    let scores = detector.score(&training).unwrap();
    // The same payments, so many days later or earlier.
    let moved = |by: f64| {
        let days: Vec<f64> = year(1500, 1).iter().map(|day| day + by).collect();
        detector.score(&payments(&days, 2)).unwrap()
    };
    for by in [364.0, -364.0, 182.0, 28.0] {
        let difference = median(moved(by)) - median(scores.clone());
        assert!(difference.abs() < 0.3, "{by} days: {difference}");
    }
    // 2099, 1970 and 1900: above nearly all rows whatever else they are, the more the further.
    let (later, earlier, earliest) = (moved(75.0 * 365.25), moved(-54.0 * 365.25), moved(-124.0 * 365.25));
    for far in [&later, &earlier, &earliest] {
        let least = far.iter().copied().fold(f32::INFINITY, f32::min);
        assert!(share_below(&scores, least) > 0.99, "{least}");
    }
    assert!(median(earliest) > median(earlier));
}

#[test]
fn single_dates_far_away_in_the_training_rows_stand_out() {
    let mut days = year(1500, 3);
    (days[100], days[200]) = (START + 80.0 * 365.25, START - 40.0 * 365.25);
    let training = payments(&days, 4);
    let detector = fitted(&training);
    let scores = detector.score(&training).unwrap();
    for row in [100, 200] {
        assert!(share_below(&scores, scores[row]) > 0.998, "row {row}: {}", scores[row]);
    }
    // The others are not stretched by it: the first and the last day of the year are days as all others.
    let explainer = Explainer::new(&detector);
    let column =
        detector.encoder().columns().iter().position(|column| column.name == "date of paid").unwrap();
    let term = explainer.find(&[column]).unwrap();
    let at = |day: f64| explainer.evaluate(term, &[&[day]])[0];
    assert!((at(START) - at(START + 180.0)).abs() < 1e-3 && at(START + 500.0) - at(START) < 1e-3);
    assert!(at(days[100]) - at(START) > 2.0, "{}", at(days[100]) - at(START));
}

#[test]
fn reasons_speak_of_the_date() {
    let training = payments(&year(400, 5), 6);
    let detector = fitted(&training);
    let explainer = Explainer::new(&detector);
    let row = payments(&[START + 80.0 * 366.0], 7);
    let explained = explainer.contributions(&row).unwrap();
    let (term, contribution) = explained.sorted(0)[0];
    let picked = detector.encoder().find_table(&row).unwrap();
    let values: Vec<f64> = explainer.terms()[term].columns().iter().map(|&c| picked.column(c)[0]).collect();
    assert!(contribution > 0.0);
    assert_eq!(
        explainer.describe(term, &values),
        "paid = 2104-03-02, outside everything seen: 2024-01-01 to 2024-12-31"
    );
    let sum: f64 = explainer.intercept() + explained.row(0).iter().sum::<f64>();
    assert!((sum - f64::from(explained.scores()[0])).abs() < 1e-5 * sum.abs());
    // Tables and the exact score agree far out too, and a file keeps it.
    let again = Detector::from_bytes(&detector.to_bytes().unwrap()).unwrap();
    assert_eq!(again.score(&row).unwrap(), explained.scores());
    let exact = again.exactly().score(&row).unwrap()[0];
    assert!((exact - explained.scores()[0]).abs() < 1e-4 * exact.abs(), "{exact}");
}

/// Programs that read such dates without knowing so would read others, too.
#[test]
fn a_model_of_dates_of_eight_digits_requires_a_program_that_knows_them() {
    let requires = |day: fn(u32) -> String| {
        let days: Texts = (0..60).map(|i| Some(day(i))).collect();
        let numbers: Vec<f64> = (0..60).map(|i| f64::from(i % 7)).collect();
        let columns = vec![days.into(), Values::Numbers(numbers)];
        let table = Table::of(vec!["day".into(), "n".into()], columns).unwrap();
        let bytes = Params::default().with_steps(6).trees(3).fit(&table).unwrap().to_bytes().unwrap();
        let wanted = b"\"notations\"";
        bytes.windows(wanted.len()).any(|bytes| bytes == wanted)
    };
    assert!(requires(|i| format!("2015{:02}{:02}", 1 + i % 12, 1 + i % 28)));
    assert!(!requires(|i| format!("2015-{:02}-{:02}", 1 + i % 12, 1 + i % 28)));
}
