//! Counts of parts, put together, are those of the whole.

use super::*;
use crate::Params;
use crate::encode::{Reason, Surveyed};
use crate::explain::Explainer;
use crate::rng::{Purpose, Stream};
use crate::table::{Table, Texts};

const ROWS: usize = 3000;

/// Rows of every kind of column, with gaps, infinite numbers and texts among numbers.
fn rows() -> Vec<[String; 5]> {
    let mut random = Stream::new(3, Purpose::Shuffle, 0);
    (0..ROWS)
        .map(|row| {
            let amount = match row % 500 {
                17 => String::new(),
                18 => "inf".into(),
                _ => format!("{:.2}", random.normal() * 30.0),
            };
            let size = if row % 800 == 5 { "k. A.".into() } else { format!("{}", random.below(1000)) };
            let job = match row % 1000 {
                500 => String::new(),
                700 => format!("only {row}"),
                _ => format!("job {}", (random.below(8) * random.below(8)) / 5),
            };
            let day = format!("2024-{:02}-{:02}", 1 + random.below(12), 1 + random.below(28));
            [amount, size, job, day, (row % 7).to_string()]
        })
        .collect()
}

fn table(rows: &[[String; 5]]) -> Table {
    let column = |index: usize| {
        let cells: Texts =
            rows.iter().map(|row| Some(row[index].as_str()).filter(|cell| !cell.is_empty())).collect();
        Values::Texts(cells)
    };
    let names = ["amount", "size", "job", "day", "week"].map(str::to_owned).to_vec();
    Table::of(names, (0..5).map(column).collect()).unwrap()
}

/// Counts of the rows in so many parts, of which rows are in one at random, put together in any order.
fn in_parts(survey: &Survey, rows: &[[String; 5]], parts: usize) -> Counted {
    let mut random = Stream::new(parts as u64, Purpose::Shuffle, 0);
    let mut divided = vec![Vec::new(); parts];
    for row in rows {
        divided[random.below(parts)].push(row.clone());
    }
    let mut all = Counting::new(survey);
    for part in divided.into_iter().rev().filter(|part| !part.is_empty()) {
        let mut counting = Counting::new(survey);
        counting.add(&table(&part)).unwrap();
        // As they travel.
        let bytes = serde_json::to_vec(&counting.counted()).unwrap();
        all.append(serde_json::from_slice(&bytes).unwrap()).unwrap();
    }
    all.counted()
}

fn named<'a>(survey: &'a Survey, name: &str) -> &'a Surveyed {
    survey.columns().iter().find(|column| column.name == name).unwrap()
}

#[test]
fn counts_of_parts_are_those_of_a_survey_of_all_rows() {
    let (rows, roles) = (rows(), Roles::default());
    let whole = Survey::of(&table(&rows), &roles).unwrap();
    assert_eq!(named(&whole, "amount").infinite.unwrap().0, 6);
    assert_eq!(named(&whole, "size").understood.stray_rows, 4);
    for parts in [1, 2, 7, 64] {
        let known = whole.clone().knowing(in_parts(&whole, &rows, parts), &roles).unwrap();
        assert_eq!(known, whole, "{parts} parts");
    }
}

#[test]
fn a_survey_of_some_rows_learns_what_all_of_them_hold() {
    let (rows, roles) = (rows(), Roles::default());
    let (some, whole) = (&rows[20..420], Survey::of(&table(&rows), &roles).unwrap());
    let sample = Survey::of(&table(some), &roles).unwrap();
    let counts = [1, 7, 64].map(|parts| in_parts(&sample, &rows, parts));
    assert!(counts[0] == counts[1] && counts[1] == counts[2]);
    let known = sample.clone().knowing(counts[0].clone(), &roles).unwrap();
    assert_eq!((known.rows(), known.read()), (ROWS as u64, 400));
    for (known, whole) in known.columns().iter().zip(whole.columns()) {
        let told = |column: &Surveyed| {
            let infinite = column.infinite.map(|(rows, _)| rows);
            (column.missing, column.texts.clone(), infinite, column.understood.stray_rows, column.left_out)
        };
        assert_eq!(told(known), told(whole));
        assert!(known.min == whole.min && known.max == whole.max && known.parts == whole.parts);
    }
    assert!(named(&sample, "amount").missing == 0 && named(&known, "amount").missing == 12);
    assert!(named(&sample, "amount").max < named(&known, "amount").max);
    let foreign = Counting::new(
        &Survey::of(&Table::new(vec!["x".into()], vec![vec![1.0, 2.0]]).unwrap(), &roles).unwrap(),
    );
    assert!(matches!(sample.knowing(foreign.counted(), &roles), Err(Error::CountedOtherwise)));
}

/// Where there are too many texts, those of the sample are still counted one by one, and the others all together.
#[test]
fn too_many_texts_are_counted_together() {
    let roles = Roles::default().categorical("name");
    let texts = |from: usize, to: usize| {
        let cells: Texts =
            (from..to).map(|i| Some(if i % 2 == 0 { "often".into() } else { format!("name {i}") })).collect();
        Table::of(vec!["name".into()], vec![cells.into()]).unwrap()
    };
    let sample = Survey::of(&texts(0, 100), &roles).unwrap();
    let all = 2 * MOST_TEXTS + 1000;
    let counted = [[0, all / 3, all], [0, all - 9, all]].map(|ends| {
        let mut counting = Counting::new(&sample);
        for two in ends.windows(2).rev() {
            let mut part = Counting::new(&sample);
            part.add(&texts(two[0], two[1])).unwrap();
            counting.append(part.counted()).unwrap();
        }
        counting.counted()
    });
    assert_eq!(counted[0], counted[1]);
    let known = sample.knowing(counted[0].clone(), &roles).unwrap();
    let column = &known.columns()[0];
    assert_eq!(column.texts[0], ("often".to_owned(), all as u64 / 2));
    assert_eq!((column.texts.len(), column.uncounted), (51, all as u64 / 2 - 50));
    let unasked = known.columns()[0].clone();
    assert_eq!(Found { rows: known.rows(), asked: None }.reason(&unasked), Some(Reason::TooManyTexts));
}

/// A column that has one value in the sample is a feature if other rows have others, and one that seemed to identify rows is one if its
/// texts come again and again.
#[test]
fn columns_are_left_out_by_what_all_rows_hold() {
    let roles = Roles::default();
    let of = |count: usize| {
        let constant = (0..count).map(|i| if i == 900 { 2.0 } else { 1.0 }).collect();
        let texts: Texts = (0..count).map(|i| Some(format!("t{}", i % 100))).collect();
        let names = vec!["constant".into(), "text".into()];
        Table::of(names, vec![Values::Numbers(constant), texts.into()]).unwrap()
    };
    let sample = Survey::of(&of(50), &roles).unwrap();
    let reasons = |survey: &Survey| survey.columns().iter().map(|column| column.left_out).collect::<Vec<_>>();
    assert_eq!(reasons(&sample), [Some(Reason::Constant), Some(Reason::Identifier)]);
    let mut counting = Counting::new(&sample);
    counting.add(&of(1000)).unwrap();
    assert_eq!(reasons(&sample.knowing(counting.counted(), &roles).unwrap()), [None, None]);
}

#[test]
fn a_fit_to_a_sample_knows_all_rows_and_one_of_all_rows_is_the_same() {
    let (rows, roles) = (rows(), Roles::default());
    let params = Params::default().with_steps(20).trees(10);
    let whole = table(&rows);
    let survey = Survey::of(&whole, &roles).unwrap();
    let plain = params.fit(&whole).unwrap().to_bytes().unwrap();
    let counted = params.fitting(&whole).sampled_from(in_parts(&survey, &rows, 7)).run().unwrap();
    assert!(counted.to_bytes().unwrap() == plain);

    let sample = table(&rows[20..620]);
    let survey = Survey::of(&sample, &roles).unwrap();
    let known = params.fitting(&sample).sampled_from(in_parts(&survey, &rows, 7)).run().unwrap();
    let unknowing = params.fit(&sample).unwrap();
    assert_eq!(known.training_rows(), ROWS as u64);
    let levels = |detector: &crate::Detector, name: &str| {
        let column = detector.encoder().columns().iter().find(|column| column.name == "job").unwrap();
        column.levels().iter().find(|level| level.name.as_deref() == Some(name)).map(|level| level.rows)
    };
    assert_eq!([&known, &unknowing].map(|detector| levels(detector, "only 2700")), [Some(1), None]);
    let job = known.encoder().columns().iter().position(|column| column.name == "job").unwrap();
    let value = |name: &str| {
        let levels = known.encoder().columns()[job].levels();
        levels.iter().position(|level| level.name.as_deref() == Some(name)).unwrap() as f64
    };
    let words = Explainer::new(&known).standing(job, value("only 2700")).to_string();
    assert!(words.contains("1 of 3,000 rows"), "{words}");
    // A gap and an infinite number are known, though no row of the sample has one, and a gap is still rare.
    let amount = known.encoder().columns().iter().find(|column| column.name == "amount").unwrap();
    assert!(amount.gaps.is_some_and(|gaps| gaps.rows == 12 && gaps.infinite));
    let row = |amount: &str| table(&[[amount, "500", "job 0", "2024-05-05", "3"].map(str::to_owned)]);
    let [gap, middle] = ["", "0"].map(|amount| known.score(&row(amount)).unwrap()[0]);
    assert!(gap > middle + 0.5, "{gap} {middle}");
}
