//! The tables of the runs.

use std::collections::BTreeSet;

use anyhow::Result;

use super::measure::{ANOMALIES, LabelRun, settings};
use super::variants::{self, UNTUNED, Variant};
use super::{SETS, peers};
use crate::render::{Grid, number};
use crate::stats::{mean, ranks};
use crate::study::Bench;

/// Rows of the paper: name, without labels, then with 5, 15, 30, 60, 120 labelled anomalies.
pub type PaperRow = (&'static str, Option<f64>, [f64; 5]);

const PAPER: [PaperRow; 4] = [
    ("paper: DIAD", Some(87.1), [89.4, 90.0, 90.4, 89.4, 91.0]),
    ("paper: DIAD w/o PT", None, [86.2, 87.6, 88.3, 87.2, 88.8]),
    ("paper: CST", None, [85.3, 86.5, 87.1, 86.6, 88.8]),
    ("paper: DevNet", None, [83.0, 84.8, 85.4, 83.9, 85.4]),
];

/// The runs of the current settings: those of peers, and those of DIAD with the digests wanted.
#[derive(Debug)]
pub struct Results<'a> {
    runs: Vec<&'a LabelRun>,
}

impl<'a> Results<'a> {
    /// Those of the settings asked for.
    ///
    /// # Errors
    /// If the settings cannot be written as JSON.
    pub fn new(bench: &Bench, runs: &'a [LabelRun], variants: &[Variant]) -> Result<Self> {
        let mut wanted = vec![(UNTUNED, settings(&bench.params, None)?)];
        for variant in variants {
            wanted.push((variant.name, settings(&bench.params, Some(variant))?));
        }
        let current = |run: &&LabelRun| {
            peers::METHODS.contains(&run.method.as_str())
                || wanted.iter().any(|(name, digest)| run.method == *name && run.settings == *digest)
        };
        Ok(Self { runs: runs.iter().filter(current).collect() })
    }

    /// A method's mean over the splits of a set.
    fn auc(&self, method: &str, set: &str, anomalies: usize) -> Option<f64> {
        let runs = self
            .runs
            .iter()
            .filter(|run| run.method == method && run.set == set && run.anomalies == anomalies);
        mean(&runs.map(|run| run.auc).collect::<Vec<_>>())
    }

    /// The mean over all sets that the first method has, where this method has all of them.
    fn average(&self, method: &str, sets: &[&str], anomalies: usize) -> Option<f64> {
        let values: Option<Vec<f64>> = sets.iter().map(|set| self.auc(method, set, anomalies)).collect();
        mean(&values?)
    }

    /// The mean rank of each method over the sets.
    fn ranks(&self, methods: &[&str], sets: &[&str], anomalies: usize) -> Vec<Option<f64>> {
        let mut all = vec![Vec::new(); methods.len()];
        for set in sets {
            let values: Option<Vec<f64>> =
                methods.iter().map(|method| self.auc(method, set, anomalies)).collect();
            for (ranks, rank) in all.iter_mut().zip(ranks(&values.unwrap_or_default())) {
                ranks.push(rank);
            }
        }
        all.iter().map(|ranks| if ranks.len() == sets.len() { mean(ranks) } else { None }).collect()
    }

    /// The sets that have runs of a method, and the splits that all of them have, with every number of anomalies.
    fn extent(&self, method: &str) -> (Vec<&'static str>, usize) {
        let runs = || self.runs.iter().filter(|run| run.method == method);
        let numbers: BTreeSet<usize> = runs().map(|run| run.anomalies).collect();
        let sets: Vec<&str> = SETS.into_iter().filter(|set| runs().any(|run| run.set == *set)).collect();
        let count = |set: &str, anomalies: usize| {
            runs().filter(|run| run.set == set && run.anomalies == anomalies).count()
        };
        let counts = sets.iter().flat_map(|set| numbers.iter().map(|&anomalies| count(set, anomalies)));
        let splits = counts.min().unwrap_or(0);
        (sets, splits)
    }

    /// The commits of the runs.
    pub fn commits(&self) -> Vec<String> {
        self.runs.iter().map(|run| run.commit.clone()).collect()
    }
}

fn header() -> Grid {
    Grid::new(["method".to_string(), "0".into()].into_iter().chain(ANOMALIES.map(|n| n.to_string())))
}

/// Averages over the sets, beside the paper's.
fn averages(results: &Results, methods: &[&str], sets: &[&str], paper: &[PaperRow]) -> Grid {
    let mut grid = header();
    let all = methods.iter().map(|method| results.extent(method).1).max().unwrap_or(0);
    for &method in methods {
        let splits = results.extent(method).1;
        let shown =
            if splits == all { method.to_string() } else { format!("{method} (splits: at least {splits})") };
        let none = (method == variants::DIAD).then(|| results.average(UNTUNED, sets, 0)).flatten();
        let cells = ANOMALIES.map(|anomalies| number(results.average(method, sets, anomalies), 1));
        grid.push([shown, number(none, 1)].into_iter().chain(cells));
    }
    for (name, none, values) in paper {
        let cells = values.map(|value| number(Some(value), 1));
        grid.push([name.to_string(), number(*none, 1)].into_iter().chain(cells));
    }
    grid
}

/// Every figure of every set.
fn details(results: &Results, methods: &[&str], sets: &[&str]) -> String {
    let mut text = String::new();
    for anomalies in ANOMALIES {
        let mut grid = Grid::new(["set", UNTUNED].into_iter().chain(methods.iter().copied()));
        for set in sets {
            let none = number(results.auc(UNTUNED, set, 0), 1);
            let cells = methods.iter().map(|method| number(results.auc(method, set, anomalies), 1));
            grid.push([set.to_string(), none].into_iter().chain(cells));
        }
        text += &format!("\n### {anomalies} labelled anomalies\n\n{}", grid.markdown(1));
    }
    text
}

/// Every run.
pub fn csv(results: &Results) -> Grid {
    let mut grid = Grid::new(["set", "method", "anomalies", "split", "labelled", "auc", "ap", "seconds"]);
    for run in &results.runs {
        grid.push([
            run.set.clone(),
            run.method.clone(),
            run.anomalies.to_string(),
            run.split.to_string(),
            run.labelled.to_string(),
            format!("{:.3}", run.auc),
            format!("{:.3}", run.ap),
            format!("{:.2}", run.seconds),
        ]);
    }
    grid
}

/// The methods that have been run on all of these sets with every number of labels; the others are still under way.
fn complete<'a>(
    results: &Results,
    methods: impl IntoIterator<Item = &'a str>,
    sets: &[&str],
) -> Vec<&'a str> {
    let all = |method: &str| ANOMALIES.iter().all(|&n| results.average(method, sets, n).is_some());
    methods.into_iter().filter(|method| !sets.is_empty() && all(method)).collect()
}

const RULE: &str = "ROC-AUC in % on the test rows. Each set is split into 64 % training, 16 % validation and 20 % test rows. The first \
    model is fitted on the training rows without labels; then so many anomalies of the training rows, and normal rows in the \
    proportion of the set, get their labels. Where a set has fewer anomalies, all of them.";

/// The main table, the ranks and every set, and the splits they are of.
pub fn few_labels(results: &Results, variants: &[Variant]) -> (String, usize) {
    let (sets, splits) = results.extent(variants::DIAD);
    let names = variants.iter().map(|variant| variant.name).chain(peers::METHODS);
    let methods = complete(results, names, &sets);
    let mut rank_grid = header();
    let whole = |method: &&&str| results.extent(method) == (sets.clone(), splits);
    let ranked: Vec<&str> = methods.iter().filter(whole).copied().collect();
    let ranks = ANOMALIES.map(|anomalies| results.ranks(&ranked, &sets, anomalies));
    for (place, method) in ranked.iter().enumerate() {
        let cells = ranks.iter().map(|ranks| number(ranks[place], 1));
        rank_grid.push([method.to_string(), String::new()].into_iter().chain(cells));
    }
    let text = format!(
        "# Few labels\n\n{RULE} Mean over {} sets and {splits} splits. DIAD and CatBoost choose among settings, or how \
         many trees, by the validation rows, unless it says otherwise; w/o PT means that the first score is forgotten. The other \
         peers have the labels alone. The paper's rows are of its own splits. Methods that were run on fewer splits say \
         how many, and have no rank.\n\n{}\n## Average rank\n\n{}\n## Every set\n{}",
        sets.len(),
        averages(results, &methods, &sets, &PAPER).markdown(1),
        rank_grid.markdown(1),
        details(results, &methods, &sets),
    );
    (text, splits)
}

/// A table without peers and ranks, and the splits it is of.
pub fn plain(
    results: &Results,
    variants: &[Variant],
    title: &str,
    about: &str,
    paper: &[PaperRow],
) -> (String, usize) {
    let (sets, splits) = results.extent(variants.first().map_or("", |variant| variant.name));
    let methods = complete(results, variants.iter().map(|variant| variant.name), &sets);
    let text = format!(
        "# {title}\n\n{RULE} Mean over {} sets and {splits} splits. {about}\n\n{}\n## Every set\n{}",
        sets.len(),
        averages(results, &methods, &sets, paper).markdown(1),
        details(results, &methods, &sets),
    );
    (text, splits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(method: &str, set: &str, split: u64, anomalies: usize, auc: f64) -> LabelRun {
        LabelRun {
            method: method.into(),
            set: set.into(),
            split,
            anomalies,
            labelled: 10,
            auc,
            ap: 1.0,
            seconds: 0.1,
            settings: "s".into(),
            commit: "c".into(),
            cpu: "a CPU".into(),
        }
    }

    #[test]
    fn averages_are_over_splits_then_sets_and_need_every_set() {
        let runs = [
            run("DIAD", "vowels", 0, 5, 80.0),
            run("DIAD", "vowels", 1, 5, 90.0),
            run("DIAD", "at", 0, 5, 75.0),
            run("EBM", "vowels", 0, 5, 99.0),
        ];
        let results = Results { runs: runs.iter().collect() };
        let (sets, splits) = results.extent("DIAD");
        assert_eq!((sets.as_slice(), splits), (&["vowels", "at"][..], 1));
        let more = [runs.as_slice(), &[run("DIAD", "at", 1, 5, 75.0)]].concat();
        assert_eq!(Results { runs: more.iter().collect() }.extent("DIAD").1, 2);
        let begun = [more.as_slice(), &[run("DIAD", "at", 0, 15, 75.0)]].concat();
        assert_eq!(
            Results { runs: begun.iter().collect() }.extent("DIAD").1,
            0,
            "vowels has not begun with 15"
        );
        assert_eq!(results.average("DIAD", &sets, 5), Some(80.0));
        assert_eq!(results.average("EBM", &sets, 5), None);
        assert_eq!(results.ranks(&["DIAD", "EBM"], &["vowels"], 5), [Some(2.0), Some(1.0)]);
        assert_eq!(results.ranks(&["DIAD", "EBM"], &sets, 5), [None, None]);
    }
}
