//! The plan against the detector, on tables of all kinds.

use std::sync::LazyLock;

use super::*;
use crate::explain::Explainer;
use crate::rng::{Purpose, Stream};
use crate::table::{Table, Texts, Values};
use crate::tests::small;
use crate::{Edit, Labelled, Params};

/// What a table of the tests is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum About {
    Numbers,
    Categories,
    Gaps,
    Dates,
}

pub(super) const HOSTILE: &str = "a\"b'`];-- \u{1f980}\n";

/// Rows of a kind: `new` ones have what no training row had.
pub(super) fn table(about: About, rows: usize, new: bool) -> Table {
    let mut random = Stream::new(3 + u64::from(new), Purpose::Shuffle, about as u64);
    let mut column = |make: &mut dyn FnMut(&mut Stream) -> f64| -> Vec<f64> {
        (0..rows).map(|_| make(&mut random)).collect()
    };
    let a = column(&mut |r| r.normal());
    let skew = column(&mut |r| libm::exp(2.0 * r.normal()));
    let few = column(&mut |r| r.below(5) as f64);
    let b = column(&mut |r| 0.3 * r.normal());
    let mut b: Vec<f64> = b.iter().zip(&a).map(|(noise, a)| noise + a).collect();
    let mut skew = skew;
    let strange = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e300, -1e18, 1e-300, 0.5];
    if about == About::Gaps {
        b.iter_mut().step_by(9).for_each(|cell| *cell = f64::NAN);
    }
    if new {
        b.iter_mut().step_by(3).zip(strange.iter().cycle()).for_each(|(cell, odd)| *cell = *odd);
        skew.iter_mut().step_by(5).zip(strange.iter().cycle()).for_each(|(cell, odd)| *cell = *odd);
    }
    let mut names = vec!["a".to_owned(), HOSTILE.to_owned(), "skew".to_owned(), "few".to_owned()];
    let mut values: Vec<Values> = [a, b, skew, few].into_iter().map(Values::Numbers).collect();
    if about == About::Categories {
        let known = ["x'; DROP TABLE t;--", "b\\", "Ünï", "12"];
        let unseen = ["unseen", " b\\ ", "12.0", "n/a", ""];
        let text =
            |k: usize| if new && k.is_multiple_of(3) { unseen[k / 3 % 5] } else { known[(k * k % 7).min(3)] };
        let texts: Texts = (0..rows).map(|k| (k % 11 > 0 || new).then(|| text(k))).collect();
        let flags: Texts =
            (0..rows).map(|k| Some(["No", "Yes", "yes"][if new { k % 3 } else { k % 2 }])).collect();
        names.extend(["job".to_owned(), "flag".to_owned()]);
        values.extend([Values::Texts(texts), Values::Texts(flags)]);
    }
    if about == About::Dates {
        let start = if new { 1.5e9 } else { 1.7e9 };
        let time = |k: usize| start + (k * 7919 % 40_000_000) as f64 + (k % 7) as f64 / 8.0;
        let gap = |k: usize| if k % 13 == 5 { f64::NAN } else { time(k) };
        names.extend(["when".to_owned(), "until".to_owned()]);
        values.push(Values::Times((0..rows).map(gap).collect()));
        let odd = |k: usize| if new && k % 10 == 3 { f64::NAN } else { time(k + 5) };
        values.push(Values::Times((0..rows).map(odd).collect()));
    }
    Table::of(names, values).unwrap()
}

pub(super) fn params() -> Params {
    Params { layers: 1, ..small() }
}

/// Detectors of all kinds with a table to score: numbers, categories, gaps, dates, tuned, edited.
pub(super) fn detectors() -> Vec<(&'static str, Detector, Table)> {
    let fit = |about: About| params().fit(&table(about, 400, false)).unwrap();
    let kinds = [
        ("numbers", About::Numbers),
        ("categories", About::Categories),
        ("gaps", About::Gaps),
        ("dates", About::Dates),
    ];
    let mut all: Vec<_> =
        kinds.into_iter().map(|(name, about)| (name, fit(about), table(about, 300, true))).collect();
    let known = table(About::Categories, 400, false);
    let label = |row: usize| row.is_multiple_of(3).then_some(known.column(1)[row] > 0.5);
    let first = fit(About::Categories);
    let labelled = Labelled::of(&first, &known, (0..400).map(label).collect()).unwrap();
    let tuned = first.tuning(&labelled).run().unwrap().detector;
    all.push(("tuned", tuned, table(About::Categories, 300, true)));
    let edits: Vec<Edit> =
        ["cap skew=0.5", "mute job=12", "monotone a=up"].map(|e| e.parse().unwrap()).to_vec();
    all.push(("edited", first.edited(&edits).unwrap(), table(About::Categories, 300, true)));
    all
}

pub(super) fn plan(detector: &Detector, table: Option<&dyn Source>) -> Plan {
    Plan::new(detector, detector.identity().unwrap(), table).unwrap()
}

/// Those of [`detectors`], fitted once for all tests.
static DETECTORS: LazyLock<Vec<(&str, Detector, Table)>> = LazyLock::new(detectors);

#[test]
fn a_plan_has_the_scores_and_contributions_of_its_detector() {
    for (name, detector, table) in &*DETECTORS {
        let plan = plan(detector, Some(table));
        assert_eq!(plan.check.rows.len(), 300, "{name}");
        let explainer = Explainer::new(detector);
        let explained = explainer.contributions(table).unwrap();
        let names: Vec<String> = (0..explainer.terms().len()).map(|term| explainer.name(term)).collect();
        assert_eq!(plan.terms.iter().map(|term| term.name.clone()).collect::<Vec<_>>(), names);
        let bound = detector.bound().unwrap();
        for (index, (row, exact)) in plan.check.rows.iter().zip(&plan.check.scores).enumerate() {
            let exact = f64::from(*exact);
            let (found, near) = (plan.score(row), NEAR * exact.abs().max(1.0));
            assert!((found - exact).abs() <= near, "{name}, row {index}: {found} instead of {exact}");
            let contributions = plan.contributions(row);
            let sum = plan.intercept + contributions.iter().sum::<f64>();
            assert!(
                (sum - found).abs() <= 1e-9 * found.abs().max(1.0),
                "{name}, row {index}: {sum}, {found}"
            );
            for (term, (found, wanted)) in contributions.iter().zip(explained.row(index)).enumerate() {
                let near = 2.0 * bound + NEAR * wanted.abs();
                assert!(
                    (found - wanted).abs() < near,
                    "{name}, row {index}, {}: {found}, {wanted}",
                    names[term]
                );
            }
        }
    }
}

#[test]
fn made_up_rows_reach_every_edge() {
    for (name, detector, _) in &*DETECTORS {
        let plan = plan(detector, None);
        let any = |wanted: &dyn Fn(&Cell) -> bool| plan.check.rows.iter().flatten().any(wanted);
        assert!(any(&|cell| *cell == Cell::Missing), "{name}");
        assert!(any(&|cell| *cell == Cell::Number(f64::INFINITY)), "{name}");
        assert!(
            any(&|cell| matches!(cell, Cell::Text(text) if text.contains("unknown")))
                == (plan.inputs.len() > 4 && *name != "dates"),
            "{name}"
        );
    }
}

#[test]
fn what_is_no_sum_of_functions_is_refused() {
    let table = table(About::Numbers, 300, false);
    let detector = small().fit(&table).unwrap();
    let error = Plan::new(&detector, detector.identity().unwrap(), None).unwrap_err().to_string();
    assert_eq!(
        error,
        "cannot export the model: its trees look at other trees, so its score is not a sum of curves, grids and trees; train one with --layers 1"
    );
}

#[test]
fn json_keeps_every_number() {
    let detector = params().fit(&table(About::Numbers, 300, false)).unwrap();
    let plan = plan(&detector, None);
    let read: serde_json::Value = serde_json::from_str(&plan.to_json().unwrap()).unwrap();
    assert_eq!(read["diad_export"], FORMAT);
    assert_eq!(read["model"], detector.identity().unwrap().to_string());
    let values = read["terms"][0]["curves"][0]["values"].as_array().unwrap();
    let values: Vec<f64> = values.iter().map(|value| value.as_f64().unwrap()).collect();
    assert_eq!(values, plan.terms[0].curves[0].values);
}
