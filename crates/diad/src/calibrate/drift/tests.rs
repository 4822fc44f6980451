use super::*;
use crate::rng::{Purpose, Stream};
use crate::table::{Texts, Values};
use crate::{Detector, Params};

/// Rows of two numbers, one of which knows the other, and a category.
fn table(seed: u64, rows: usize, change: impl Fn(usize, &mut [f64; 2], &mut &'static str)) -> Table {
    let mut random = Stream::new(seed, Purpose::Shuffle, 0);
    let (mut a, mut b, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..rows {
        let x = random.normal();
        let mut numbers = [50.0 + 10.0 * x, 1000.0 + 80.0 * x + 60.0 * random.normal()];
        let mut kind = ["red", "green", "green", "blue"][random.below(4)];
        change(row, &mut numbers, &mut kind);
        a.push(numbers[0]);
        b.push(numbers[1]);
        kinds.push(kind);
    }
    let texts: Texts = kinds.into_iter().map(Some).collect();
    let columns = vec![Values::Numbers(a), Values::Numbers(b), texts.into()];
    Table::of(["a", "b", "kind"].map(String::from).to_vec(), columns).unwrap()
}

fn detector() -> Detector {
    Params::default().with_steps(40).trees(20).fit(&table(1, 4000, |_, _, _| ())).unwrap()
}

fn drift(explainer: &Explainer, table: &Table) -> Drift {
    let mut drifting = Drifting::new(explainer);
    drifting.add(table, None).unwrap();
    drifting.finish()
}

/// The changes of the terms are the change of the mean score, which is told here from the scores themselves.
#[test]
fn the_terms_add_up_to_the_change() {
    let detector = detector();
    let explainer = Explainer::new(&detector);
    let new = table(2, 3000, |row, numbers, _| numbers[0] += if row % 3 == 0 { 30.0 } else { 0.0 });
    let found = drift(&explainer, &new);
    let parts: f64 = found.terms.iter().map(|term| term.score).sum();
    assert!((found.mean_score[1] - found.mean_score[0] - parts).abs() < 1e-9);
    let scores = detector.score(&new).unwrap();
    let mean = scores.iter().map(|&score| f64::from(score)).sum::<f64>() / 3000.0;
    assert!((found.mean_score[1] - mean).abs() < 1e-5, "{} {mean}", found.mean_score[1]);
    let rare: f64 = found.terms.iter().map(|term| term.rare).sum();
    assert!((found.rare[1] - found.rare[0] - rare).abs() < 1e-9);
    let threshold = detector.calibration().score_at(0.01);
    let plain = scores.iter().filter(|&&score| score >= threshold).count() as f64 / 3000.0;
    assert!((found.rare[1] - plain).abs() < 1e-12 && found.rare[1] > 0.1);
}

#[test]
fn what_has_not_changed_is_the_same() {
    let detector = detector();
    let explainer = Explainer::new(&detector);
    let alarms = (0..40).filter(|&seed| {
        let found = drift(&explainer, &table(100 + seed, 1000, |_, _, _| ()));
        assert!((found.rare[0] - 0.01).abs() < 1e-6 && found.rare[1] < 0.04);
        found.verdict > Verdict::Same
    });
    assert!(alarms.count() <= 5);
}

#[test]
fn what_has_changed_is_named() {
    let detector = detector();
    let explainer = Explainer::new(&detector);
    let found = drift(&explainer, &table(3, 3000, |_, numbers, _| numbers[1] *= 1000.0));
    assert_eq!(found.columns[1].jump, Some(1000.0));
    assert!(found.columns[1].verdict == Verdict::Large && found.columns[1].outside[1] > 0.9);
    assert_eq!((found.columns[0].jump, found.columns[0].verdict), (None, Verdict::Same));

    let found = drift(
        &explainer,
        &table(4, 3000, |row, _, kind| {
            if row % 4 == 0 {
                *kind = "violet";
            }
        }),
    );
    assert_eq!(found.columns[2].unseen, 0.25);
    assert!(
        found.columns[2].verdict >= Verdict::Moderate
            && found.verdict == found.columns[2].verdict.max(found.verdict)
    );

    let found = drift(
        &explainer,
        &table(5, 3000, |row, numbers, _| {
            if row % 10 == 0 {
                numbers[0] = f64::NAN;
            }
        }),
    );
    assert_eq!(found.columns[0].missing, [0.0, 0.1]);
    assert!(found.columns[0].verdict > Verdict::Same);
}

#[test]
fn a_pair_that_has_come_apart_is_found_though_its_columns_are_the_same() {
    let detector = detector();
    let explainer = Explainer::new(&detector);
    // The second number of another row.
    let other = table(7, 4000, |_, _, _| ());
    let b = other.column(1).to_vec();
    let found = drift(&explainer, &table(6, 4000, move |row, numbers, _| numbers[1] = b[row]));
    assert!(found.columns[1].verdict < Verdict::Moderate, "{:?}", found.columns[1]);
    let pair = explainer.find(&[0, 1]).unwrap();
    assert!(
        found.terms[pair].verdict > Verdict::Same && found.terms[pair].shift > 0.0,
        "{:?}",
        found.terms[pair]
    );
}

#[test]
fn groups_are_told_apart() {
    let detector = detector();
    let explainer = Explainer::new(&detector);
    let new = table(8, 1000, |row, numbers, _| numbers[0] += if row < 500 { 40.0 } else { 0.0 });
    let names: Vec<Option<String>> =
        (0..1000).map(|row| (row != 999).then(|| (row / 500).to_string())).collect();
    let mut drifting = Drifting::new(&explainer);
    drifting.add(&new, Some(&names)).unwrap();
    let found = drifting.finish();
    let listed: Vec<(&str, u64)> =
        found.groups.iter().map(|group| (group.name.as_str(), group.rows)).collect();
    assert_eq!(listed, [("0", 500), ("1", 499), ("missing", 1)]);
    assert!(found.groups[0].mean_score > found.groups[1].mean_score);
    for group in &found.groups {
        let parts: f64 = group.terms.iter().sum();
        assert!((group.mean_score - found.mean_score[0] - parts).abs() < 1e-9);
    }
}

/// Rows that are counted in parts give what they give together: counts exactly, sums to rounding.
#[test]
fn counts_of_parts_are_put_together() {
    let detector = detector();
    let explainer = Explainer::new(&detector);
    let parts: Vec<Table> =
        [(9, 700), (10, 1), (11, 9000)].map(|(seed, rows)| table(seed, rows, |_, n, _| n[0] *= 1.5)).into();
    let (mut whole, mut joined) = (Drifting::new(&explainer), Drifting::new(&explainer));
    for part in &parts {
        let names: Vec<Option<String>> = (0..part.rows()).map(|row| Some((row % 3).to_string())).collect();
        whole.add(part, Some(&names)).unwrap();
        let mut apart = Drifting::new(&explainer);
        apart.add(part, Some(&names)).unwrap();
        let sent = serde_json::to_vec(&apart.counted()).unwrap();
        joined.append(serde_json::from_slice(&sent).unwrap()).unwrap();
    }
    let (whole, joined) = (whole.finish(), joined.finish());
    assert_eq!((whole.rows, whole.verdict, whole.rare), (joined.rows, joined.verdict, joined.rare));
    for (a, b) in whole.terms.iter().zip(&joined.terms) {
        assert!((a.shift - b.shift).abs() < 1e-9 && (a.rare - b.rare).abs() < 1e-9 && a.verdict == b.verdict);
    }
    for (a, b) in whole.columns.iter().zip(&joined.columns) {
        assert_eq!((a.moved, a.p, a.missing, a.unseen), (b.moved, b.p, b.missing, b.unseen));
        assert_eq!((a.outside, a.unreadable, a.jump), (b.outside, b.unreadable, b.jump));
    }
    let rows = |drift: &Drift| drift.groups.iter().map(|g| (g.name.clone(), g.rows)).collect::<Vec<_>>();
    assert_eq!(rows(&whole), rows(&joined));
}

#[test]
fn counts_of_another_model_are_refused() {
    let detector = detector();
    let explainer = Explainer::new(&detector);
    let narrow = Table::new(vec!["a".into()], vec![(0..50).map(|i| f64::from(i % 9)).collect()]).unwrap();
    let other = crate::Params::default().with_steps(5).trees(4).fit(&narrow).unwrap();
    let counted = Drifting::new(&Explainer::new(&other)).counted();
    let refused = Drifting::new(&explainer).append(counted);
    assert!(matches!(refused, Err(crate::Error::CountedElsewhere)));
}

#[test]
fn discoveries_follow_the_step_up_rule() {
    assert_eq!(discoveries([0.01, 0.02, 0.9, 0.04].into_iter()), [true, true, false, false]);
    assert_eq!(discoveries([0.03, 0.04, 0.02, 0.035].into_iter()), [true, true, true, true]);
    assert_eq!(discoveries([0.9, 0.8].into_iter()), [false, false]);
}
