use super::*;
use crate::table::{BATCH_ROWS, ReadAs, Texts, TimePart};

fn table(columns: &[(&str, &[f64])]) -> Table {
    let names = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
    Table::new(names, columns.iter().map(|(_, values)| values.to_vec()).collect()).unwrap()
}

#[test]
fn constant_columns_are_left_out() {
    let (encoder, matrix) =
        Encoder::fit_encode(&table(&[("a", &[3.0, 3.0]), ("b", &[0.0, 4.0])]), &[], Scale::Linear).unwrap();
    assert_eq!(matrix.values, [-1.0, 1.0]);
    assert_eq!(encoder.columns()[0].name, "b");
    assert_eq!(encoder.left_out(), [LeftOut { name: "a".into(), reason: Reason::Constant }]);
    // They are not asked for again.
    assert_eq!(encoder.encode(&table(&[("b", &[2.0])])).unwrap().values, [0.0]);
}

#[test]
fn columns_on_the_asinh_scale_spread_the_bulk_and_keep_the_order() {
    let mut values: Vec<f64> = (0..1000).map(|i| f64::from(i) / 1000.0).collect();
    values[999] = 1e6;
    let flags: Vec<f64> = (0..1000).map(|i| f64::from(u8::from(i % 3 == 0))).collect();
    let table = table(&[("heavy", &values), ("flag", &flags)]);
    let linear = Encoder::fit_encode(&table, &[], Scale::Linear).unwrap().1;
    let (encoder, scaled) = Encoder::fit_encode(&table, &[], Scale::Asinh).unwrap();
    let spread = |matrix: &Matrix| matrix.row(900)[0] - matrix.row(100)[0];
    assert!(spread(&linear) < 1e-5 && spread(&scaled) > 0.02, "{} {}", spread(&linear), spread(&scaled));
    assert_eq!((scaled.row(0)[0], scaled.row(999)[0]), (-1.0, 1.0));
    assert!(scaled.values.chunks(2).collect::<Vec<_>>().windows(2).all(|rows| rows[0][0] < rows[1][0]));
    assert!(encoder.columns()[0].asinh.is_some());
    assert!(encoder.columns()[1].asinh.is_none(), "a column of two values stays as it is");
    let (same, _) = Encoder::fit_encode(&table, &[], Scale::Asinh).unwrap();
    assert_eq!(same, encoder);
    let heavy = &encoder.scalers()[0];
    for value in [0.0, 0.37, 0.9, 1e6] {
        let back = heavy.original(heavy.scale(value));
        assert!((back - value).abs() <= 1e-4 * value.abs().max(1.0), "{value} comes back as {back}");
    }
    // Both scales: the scaled one first, then the linear one of the column that is scaled.
    let (encoder, both) = Encoder::fit_encode(&table, &[], Scale::Both).unwrap();
    let order: Vec<(u32, View)> = encoder.features().iter().map(|f| (f.column, f.view)).collect();
    assert_eq!(order, [(0, View::Asinh), (1, View::Plain), (0, View::Plain)]);
    for row in 0..1000 {
        let [x, flag] = [scaled.row(row)[0], scaled.row(row)[1]];
        assert_eq!(both.row(row), [x, flag, linear.row(row)[0]]);
    }
    assert!(encoder.is_valid());
}

#[test]
fn columns_are_found_by_name_in_any_order() {
    let encoder =
        Encoder::fit(&table(&[("a", &[0.0, 2.0]), ("b", &[0.0, 4.0])]), &[], Scale::Linear).unwrap();
    let other = table(&[("b", &[4.0]), ("more", &[9.0]), ("a", &[1.0])]);
    assert_eq!(encoder.encode(&other).unwrap().values, [0.0, 1.0]);
    let mut out = vec![7.0];
    encoder.encode_batch(&other, &mut out).unwrap();
    assert_eq!(out, [7.0, 0.0, 1.0]);
    let error = encoder.encode_batch(&table(&[("a", &[1.0])]), &mut out).unwrap_err();
    assert!(matches!(error, Error::Table(table::Error::MissingColumns { names, .. }) if names == ["b"]));
    assert_eq!(out.len(), 3);
}

#[test]
fn a_fit_needs_rows_features_and_variation() {
    let fit =
        |columns: &[(&str, &[f64])], ignored: &[&str]| Encoder::fit(&table(columns), ignored, Scale::Linear);
    assert!(matches!(fit(&[("a", &[1.0])], &[]), Err(Error::TooFewRows { rows: 1 })));
    assert!(matches!(fit(&[("a", &[1.0, 2.0])], &["a"]), Err(Error::NoFeatures)));
    assert!(matches!(fit(&[("a", &[1.0, 1.0]), ("b", &[2.0, 2.0])], &[]), Err(Error::AllConstant)));
    assert!(fit(&[("a", &[1.0, 2.0])], &[]).is_ok());
}

#[test]
fn values_that_are_not_finite_are_named() {
    let whole: Vec<f64> = (0..BATCH_ROWS + 3).map(|i| (i % 7) as f64).collect();
    let mut values = whole.clone();
    values[BATCH_ROWS + 1] = f64::NAN;
    let encoder = Encoder::fit(&table(&[("x", &whole)]), &[], Scale::Linear).unwrap();
    let missing = encoder.encode(&table(&[("x", &values)])).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "column \"x\", row 8193 (counted from 0): the value is missing, but this column had no gaps in training; \
         fill it in or remove the row"
    );
    values[BATCH_ROWS + 1] = f64::NEG_INFINITY;
    let infinite = encoder.encode(&table(&[("x", &values)])).unwrap_err();
    assert!(matches!(infinite, Error::Infinite { .. }));
}

#[test]
fn infinite_numbers_of_the_training_are_missing_ones_there_and_later() {
    let training = table(&[("x", &[1.0, f64::INFINITY, 2.0, 4.0, f64::NAN])]);
    let survey = Survey::of(&training, &Roles::default()).unwrap();
    assert_eq!(
        survey.notes(),
        ["column \"x\" has an infinite number, in row 1 (counted from 0); it is treated as missing"]
    );
    let (encoder, matrix) = Encoder::fit_encode(&training, &[], Scale::Linear).unwrap();
    let column = &encoder.columns()[0];
    assert_eq!((column.min, column.max, column.gaps.unwrap().rows), (1.0, 4.0, 2));
    assert_eq!(matrix.row(1), matrix.row(4), "as a gap");
    let later = table(&[("x", &[f64::NEG_INFINITY, f64::NAN])]);
    let found = encoder.find(&later).unwrap();
    assert!(found.odd.is_empty() && found.columns[0].iter().all(|value| value.is_nan()));
}

/// The medians of month and weekday may never come together: here Mondays are all in January and Tuesdays in March.
#[test]
fn parts_of_one_time_stand_for_a_time_that_cannot_be_read() {
    // 1 January 2024 was a Monday, 5 March 2024 a Tuesday.
    let (january, march) = (19_723.0 * 86_400.0, 19_787.0 * 86_400.0);
    let days: Vec<f64> = (0..40).map(|i| if i < 19 { january } else { march + f64::from(i % 2) }).collect();
    let source = Table::of(vec!["d".into()], vec![Values::Times(days)]).unwrap();
    let encoder = Encoder::fit(&source, &[], Scale::Both).unwrap();
    let typical = |part: TimePart| {
        let is = |column: &&Column| matches!(column.kind, Kind::Time { part: found, .. } if found == part);
        encoder.columns().iter().find(is).and_then(|column| column.typical)
    };
    assert_eq!([TimePart::Month, TimePart::Weekday].map(typical), [Some(3.0), Some(2.0)]);
}

/// 60 rows: a number with gaps, a category with gaps, an identifier, a time and a column without values.
fn mixed() -> Table {
    let rows = 0..60u32;
    let texts = |cell: &dyn Fn(u32) -> Option<String>| rows.clone().map(cell).collect::<Texts>().into();
    let columns = vec![
        Values::Numbers(
            rows.clone().map(|i| if i % 10 == 3 { f64::NAN } else { f64::from(i % 9) }).collect(),
        ),
        texts(&|i| (i % 12 != 5).then(|| ["red", "green", "red", "blue"][i as usize % 4].to_owned())),
        texts(&|i| Some(format!("row {i}"))),
        Values::Times(rows.clone().map(|i| f64::from(i) * 5.0 * 3600.0).collect()),
        Values::Numbers(vec![f64::NAN; 60]),
        Values::Numbers(rows.map(f64::from).collect()),
    ];
    let names = ["x", "colour", "name", "when", "empty", "n"].map(String::from).to_vec();
    Table::of(names, columns).unwrap()
}

#[test]
fn columns_are_taken_as_what_they_are() {
    let (encoder, matrix) = Encoder::fit_encode(&mixed(), &[], Scale::Both).unwrap();
    let names: Vec<&str> = encoder.columns().iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["x", "colour", "weekday of when", "hour of when", "date of when"]);
    let left_out: Vec<(&str, Reason)> =
        encoder.left_out().iter().map(|column| (column.name.as_str(), column.reason)).collect();
    assert_eq!(
        left_out,
        [("name", Reason::Identifier), ("empty", Reason::AllMissing), ("n", Reason::Identifier)]
    );
    let levels: Vec<(Option<&str>, u64)> =
        encoder.columns()[1].levels().iter().map(|level| (level.name.as_deref(), level.rows)).collect();
    assert_eq!(levels, [(Some("red"), 30), (Some("blue"), 15), (Some("green"), 10), (None, 5)]);
    assert_eq!(encoder.columns()[0].gaps.map(|gaps| gaps.rows), Some(6));
    let views: Vec<(u32, View)> = encoder.features().iter().map(|f| (f.column, f.view)).collect();
    let plain = View::Plain;
    let expected = [
        (0, View::Asinh),
        (1, plain),
        (2, plain),
        (3, plain),
        (4, View::Asinh),
        (0, View::Missing),
        (0, plain),
    ];
    assert_eq!(views, expected);
    assert_eq!(encoder.tree_features(), [0, 1, 2, 3, 6]);
    assert_eq!(encoder.telling_features(), 6);
    assert!(encoder.is_valid());
    assert_eq!(
        encoder.describe(matrix.row(3)),
        [
            "x = missing",
            "colour = blue",
            "weekday of when = Thursday",
            "hour of when = 15:00",
            "date of when = 1970-01-01"
        ]
    );
    assert_eq!(matrix.rows(), 60);
    assert!(matrix.values.iter().all(|value| value.abs() <= 1.0));
}

#[test]
fn roles_overrule_what_columns_seem_to_be() {
    let roles =
        Roles::default().ignore("when").ignore("colour").categorical("x").numeric("n").categorical("name");
    let (encoder, _) = Encoder::fit_encode_as(&mixed(), &roles, Scale::Linear).unwrap();
    let names: Vec<&str> = encoder.columns().iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["x", "name", "n"]);
    assert_eq!(encoder.columns()[0].levels()[0].name.as_deref(), Some("0"));
    let unknown = Survey::of(&mixed(), &Roles::default().numeric("y")).unwrap_err();
    assert!(matches!(unknown, Error::Table(table::Error::UnknownColumn { .. })));
    let words = Survey::of(&mixed(), &Roles::default().numeric("colour")).unwrap_err();
    assert!(matches!(words, Error::Table(table::Error::NotNumber { .. })));
}

#[test]
fn unknown_and_rare_categories_have_places() {
    let cell = |i: u32| Some(if i < 2400 { format!("c{}", i % 1200) } else { "often".into() });
    let texts: Texts = (0..4000).map(cell).collect();
    let many = Table::of(vec!["c".into()], vec![texts.into()]).unwrap();
    let (encoder, matrix) = Encoder::fit_encode(&many, &[], Scale::Both).unwrap();
    let column = &encoder.columns()[0];
    assert_eq!((column.levels().len(), column.positions()), (MOST_LEVELS, MOST_LEVELS + 1));
    assert_eq!((matrix.row(3999)[0], column.words(1000.0).as_str()), (-1.0, "a rare category"));
    let rare = column.places()[MOST_LEVELS];
    let new: Texts = [Some("often"), Some("new"), None].into_iter().collect();
    let new = Table::of(vec!["c".into()], vec![new.into()]).unwrap();
    assert_eq!(encoder.encode(&new).unwrap().values, [-1.0, rare, rare]);
    let two: Texts = [Some("a"), Some("a"), Some("b")].into_iter().collect();
    let two = Table::of(vec!["c".into()], vec![two.into()]).unwrap();
    let encoder = Encoder::fit(&two, &[], Scale::Both).unwrap();
    let values: Texts = [Some("a"), Some("b"), Some("new"), None].into_iter().collect();
    let values = Table::of(vec!["c".into()], vec![values.into()]).unwrap();
    let places = encoder.columns()[0].places();
    assert_eq!((places[0], places[2]), (-1.0, 1.0));
    assert_eq!(encoder.encode(&values).unwrap().values, [places[0], places[1], places[2], places[2]]);
}

#[test]
fn a_few_words_among_numbers_are_missing_values_unless_the_user_says_what_they_are() {
    let cells = (0..200).map(|i| Some(if i == 150 { "oops".to_owned() } else { format!("{}.5", i % 90) }));
    let broken = Table::of(vec!["x".into()], vec![cells.collect::<Texts>().into()]).unwrap();
    let survey = Survey::of(&broken, &Roles::default()).unwrap();
    assert_eq!((survey.columns()[0].read_as, survey.columns()[0].missing), (ReadAs::Numbers, 1));
    assert_eq!(
        survey.notes(),
        [
            "column \"x\" has 1 cell that is not a number (\"oops\" in row 150 (counted from 0)); it is treated as missing"
        ]
    );
    let texts = Survey::of(&broken, &Roles::default().categorical("x")).unwrap();
    assert_eq!((texts.columns()[0].read_as, texts.columns()[0].missing), (ReadAs::Texts, 0));
}

#[test]
fn a_sample_of_a_large_table_keeps_its_order() {
    let values: Vec<f64> = (0..20_000).map(|i| f64::from(i) * 0.5).collect();
    let table = table(&[("x", &values)]);
    let encoder = Encoder::fit(&table, &[], Scale::Linear).unwrap();
    let sample = encoder.fill(&table, 20_000, 500).unwrap();
    assert_eq!(sample.rows(), 500);
    assert!(sample.values.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(sample.values[0] < -0.95 && sample.values[499] > 0.95);
    assert_eq!(sample, encoder.fill(&table, 20_000, 500).unwrap());
}

#[test]
fn a_matrix_beyond_memory_is_an_error() {
    let encoder = Encoder::fit(&table(&[("a", &[0.0, 2.0])]), &[], Scale::Linear).unwrap();
    assert!(matches!(encoder.fill(&Table::default(), usize::MAX, usize::MAX), Err(Error::Memory { .. })));
}

#[test]
fn bending_is_the_inverse_hyperbolic_sine() {
    let asinh = Asinh { median: 3.0, spread: 2.0 };
    for distance in [0.0, 1e-12, -0.3, 0.999, 1.001, -20.0, 1e6, 1e149, -1e151, 1e300] {
        let (found, expected) = (asinh.apply(3.0 + 2.0 * distance), libm::asinh(distance));
        assert!((found - expected).abs() <= 1e-14 * expected.abs().max(1.0), "{found} for {expected}");
    }
}

#[test]
fn a_table_without_names_is_matched_by_position() {
    let fit = |columns: &[(&str, &[f64])]| Encoder::fit(&table(columns), &[], Scale::Linear).unwrap();
    let values: [&[f64]; 3] = [&[1.0, 2.0, 1.0], &[0.0, 4.0, 9.0], &[5.0, 5.0, 5.0]];
    let named = fit(&[("b", values[0]), ("a", values[1])]);
    assert_eq!(named.names_for(2).unwrap(), ["b", "a"]);
    assert!(matches!(named.names_for(3), Err(Error::ColumnCount { found: 3, expected: 2 })));
    // Where a column was left out, nobody knows where it stood, unless the names tell.
    let lacking = fit(&[("b", values[0]), ("c", values[2])]);
    assert!(matches!(lacking.names_for(1), Err(Error::ColumnCount { expected: 2, .. })));
    let plain = fit(&[("x0", values[2]), ("x1", values[1])]);
    assert_eq!(plain.names_for(2).unwrap(), ["x0", "x1"]);
    assert!(matches!(plain.names_for(1), Err(Error::ColumnCount { found: 1, expected: 2 })));
}

#[test]
fn a_scale_is_by_the_training_range() {
    let column = Column { name: "age".into(), min: 20.0, max: 60.0, ..Column::default() };
    let age = Scaler::new(&column, View::Plain);
    assert_eq!([20.0, 30.0, 60.0, 80.0].map(|value| age.scale(value)), [-1.0, -0.5, 1.0, 2.0]);
    assert_eq!(age.original(-0.5), 30.0);
}

#[test]
fn values_are_said_in_words() {
    let level = |name: &str| Level { name: Some(name.into()), rows: 10 };
    let kind =
        Kind::Category { levels: vec![level("clerk"), level("student")], others: 0, places: Vec::new() };
    let job = Column { name: "job".into(), kind, max: 1.0, ..Column::default() };
    assert_eq!(job.words(1.0), "student");
    assert_eq!(job.words(2.0), "a category not seen in training");
    let age = Column { name: "age".into(), min: 20.0, max: 60.0, ..Column::default() };
    assert_eq!([31.5, f64::NAN].map(|value| age.words(value)), ["31.5", "missing"]);
}

#[test]
fn a_row_is_described() {
    let jobs: crate::table::Texts = [Some("clerk"), Some("clerk"), Some("student")].into_iter().collect();
    let columns = vec![Values::Texts(jobs), Values::Numbers(vec![30.0, f64::NAN, 20.0])];
    let table = Table::of(vec!["job".into(), "age".into()], columns).unwrap();
    let (encoder, matrix) = Encoder::fit_encode(&table, &[], Scale::Linear).unwrap();
    assert_eq!(encoder.describe(matrix.row(2)), ["job = student", "age = 20"]);
    assert_eq!(encoder.describe(matrix.row(1)), ["job = clerk", "age = missing"]);
}
