//! Reasons are those a person would give where columns depend on each other, are copies, are on other scales or have few values.

use diad::explain::{Contributions, Explainer};
use diad::table::{Table, Texts, Values};
use diad::{Detector, Params};

const ROWS: usize = 5000;

fn quick() -> Params {
    Params::default().with_steps(200).trees(60).seed(3)
}

/// Numbers that look random, uniform on [0, 1).
fn unit(seed: u64, row: usize) -> f64 {
    let mut z = (seed << 40) ^ (row as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

fn normal(seed: u64, row: usize) -> f64 {
    (0..12).map(|k| unit(seed * 100 + k, row)).sum::<f64>() - 6.0
}

fn texts(cells: impl Iterator<Item = String>) -> Values {
    let cells: Vec<String> = cells.collect();
    Values::Texts(cells.iter().map(|cell| Some(cell.as_str())).collect::<Texts>())
}

/// What each term contributes to a row, by name, the largest first.
fn reasons(explainer: &Explainer, explained: &Contributions, row: usize) -> Vec<(String, f64)> {
    explained.sorted(row).into_iter().map(|(term, c)| (explainer.name(term), c)).collect()
}

fn size(explained: &Contributions, row: usize) -> f64 {
    explained.row(row).iter().map(|contribution| contribution.abs()).sum()
}

/// Countries that imply their currency, some of them sharing one, and two rows that break it.
fn countries(count: usize) -> (Table, [usize; 2]) {
    let broken = [1234, 4321];
    let country = |row: usize| (unit(1, row) * unit(2, row) * count as f64) as usize;
    let currency = |row: usize| match row {
        1234 => (country(row) + 1) % count,
        4321 => (country(row) + 2) % count,
        _ => country(row),
    };
    let amounts = (0..ROWS).map(|row| 20.0 * (0.5 * normal(3, row)).exp()).collect();
    let columns = vec![
        texts((0..ROWS).map(|row| format!("country {}", country(row)))),
        texts((0..ROWS).map(|row| format!("currency {}", currency(row)))),
        Values::Numbers(amounts),
    ];
    (
        Table::of(["country", "currency", "amount"].map(String::from).to_vec(), columns).expect("a table"),
        broken,
    )
}

#[test]
fn a_country_with_the_wrong_currency_is_the_fault_of_both() {
    for count in [5, 12, 48] {
        let (table, broken) = countries(count);
        let detector = quick().fit(&table).unwrap();
        for detector in [Detector::from_bytes(&detector.to_bytes().unwrap()).unwrap().exactly(), detector] {
            let explainer = Explainer::new(&detector);
            let explained = explainer.contributions(&table).unwrap();
            for row in broken {
                let reasons = reasons(&explainer, &explained, row);
                let share = reasons[0].1 / (f64::from(explained.scores()[row]) - explainer.intercept());
                assert!(reasons[0].0 == "country × currency" && share >= 0.8, "{count}: {share} {reasons:?}");
            }
            let mut sizes: Vec<f64> = (0..ROWS).map(|row| size(&explained, row)).collect();
            sizes.sort_by(f64::total_cmp);
            assert!(
                sizes[ROWS / 2] <= 3.0 && sizes[ROWS * 9 / 10] <= 6.0,
                "{count}: {} {}",
                sizes[ROWS / 2],
                sizes[ROWS * 9 / 10]
            );
        }
    }
}

/// Nothing but what implies what: 5,000 rows, six countries, two rows that break the rule.
#[test]
fn ordinary_rows_of_a_country_and_its_currency_have_small_reasons() {
    let country = |row: usize| (unit(8, row) * 6.0) as usize;
    let currency = |row: usize| (country(row) + usize::from([1234, 4321].contains(&row))) % 6;
    let columns = vec![
        texts((0..ROWS).map(|row| format!("country {}", country(row)))),
        texts((0..ROWS).map(|row| format!("currency {}", currency(row)))),
    ];
    let table = Table::of(["country", "currency"].map(String::from).to_vec(), columns).unwrap();
    let detector = quick().fit(&table).unwrap();
    let explainer = Explainer::new(&detector);
    let explained = explainer.contributions(&table).unwrap();
    let pair = explainer.find(&[0, 1]).unwrap();
    for row in 0..ROWS {
        let size = size(&explained, row);
        match row {
            1234 | 4321 => assert!(explained.row(row)[pair] >= 0.8 * size, "{:?}", explained.row(row)),
            _ => assert!(size <= 3.0, "row {row}: {:?}", explained.row(row)),
        }
    }
}

/// One column of groups, amounts that depend on them, and another number.
fn amounts(scaled: impl Fn(f64) -> f64, copies: usize) -> Table {
    let group = |row: usize| (unit(5, row) * 4.0) as usize;
    let amount = |row: usize| match row {
        777 => 900.0,
        _ => 10.0 * [1.0, 2.0, 4.0, 8.0][group(row)] * (0.3 * normal(6, row)).exp(),
    };
    let mut names = vec!["group".to_owned(), "other".to_owned()];
    let mut columns = vec![
        texts((0..ROWS).map(|row| format!("group {}", group(row)))),
        Values::Numbers((0..ROWS).map(|row| normal(7, row)).collect()),
    ];
    for copy in 0..copies {
        names.push(format!("amount{copy}"));
        columns.push(Values::Numbers((0..ROWS).map(|row| scaled(amount(row))).collect()));
    }
    Table::of(names, columns).expect("a table")
}

/// A copy changes next to nothing: what the column had is shared, and the shares of all other terms stay.
#[test]
fn a_copy_of_a_column_changes_no_share() {
    let shares = |copies: usize| {
        let detector = Params::default().with_steps(400).seed(3).fit(&amounts(|x| x, copies)).unwrap();
        let explainer = Explainer::new(&detector);
        let explained = explainer.contributions(&amounts(|x| x, copies)).unwrap();
        let share = |columns: &[usize]| {
            explainer.find(columns).map_or(0.0, |term| explained.row(777)[term]) / size(&explained, 777)
        };
        let of_amount: f64 = (0..explainer.terms().len())
            .filter(|&term| explainer.terms()[term].columns().iter().any(|&column| column >= 2))
            .map(|term| explained.row(777)[term] / size(&explained, 777))
            .sum();
        [of_amount, share(&[0]), share(&[1]), share(&[0, 1])]
    };
    let (once, twice) = (shares(1), shares(2));
    for (once, twice) in once.iter().zip(twice) {
        assert!((once - twice).abs() <= 0.05, "{once} {twice}");
    }
}

#[test]
fn copies_of_a_column_share_its_reasons() {
    let table = amounts(|x| x, 2);
    let detector = quick().fit(&table).unwrap();
    let explainer = Explainer::new(&detector);
    let explained = explainer.contributions(&table).unwrap();
    let of = |columns: &[usize]| explained.row(777)[explainer.find(columns).unwrap()];
    let (first, second) = (of(&[2]), of(&[3]));
    assert!((first - second).abs() <= 0.25 * first.max(second), "{first} {second}");
    let raised = f64::from(explained.scores()[777]) - explainer.intercept();
    assert!(
        first + second >= 0.7 * raised && size(&explained, 777) <= 1.5 * raised,
        "{first} {second} of {raised}"
    );
}

#[test]
fn a_bent_column_has_the_reasons_of_the_straight_one() {
    let named = |scaled: fn(f64) -> f64| {
        let table = amounts(scaled, 1);
        let detector = quick().fit(&table).unwrap();
        let explainer = Explainer::new(&detector);
        let explained = explainer.contributions(&table).unwrap();
        let raised = f64::from(explained.scores()[777]) - explainer.intercept();
        (reasons(&explainer, &explained, 777)[0].0.clone(), size(&explained, 777) / raised)
    };
    for (name, inflation) in [named(|x| x), named(f64::sqrt), named(|x| x.powi(3))] {
        assert!(name == "amount0" && inflation <= 2.0, "{name} {inflation}");
    }
}

#[test]
fn columns_of_few_values_have_small_reasons() {
    // Two marks of which one nearly tells the other, and a level.
    let mark = |row: usize| f64::from(u8::from(unit(8, row) < 0.2));
    let other = |row: usize| if row == 99 { 1.0 - mark(row) } else { mark(row) };
    let level = |row: usize| (unit(9, row) * 5.0).floor();
    let columns =
        vec![(0..ROWS).map(mark).collect(), (0..ROWS).map(other).collect(), (0..ROWS).map(level).collect()];
    let table = Table::new(["mark", "other", "level"].map(String::from).to_vec(), columns).unwrap();
    let detector = quick().fit(&table).unwrap();
    let explainer = Explainer::new(&detector);
    let explained = explainer.contributions(&table).unwrap();
    let reasons = reasons(&explainer, &explained, 99);
    assert_eq!(reasons[0].0, "mark × other", "{reasons:?}");
    let raised = f64::from(explained.scores()[99]) - explainer.intercept();
    assert!(size(&explained, 99) <= 2.0 * raised, "{reasons:?}");
    // Next to nothing cancels between the two marks and their pair, in any row.
    let terms = [&[0][..], &[1], &[0, 1]].map(|columns| explainer.find(columns).unwrap());
    for row in 0..ROWS {
        let all = terms.map(|term| explained.row(row)[term]);
        let size: f64 = all.iter().map(|contribution| contribution.abs()).sum();
        assert!(size - all.iter().sum::<f64>().abs() <= 1.0 + 0.03 * size, "row {row}: {all:?}");
    }
}
