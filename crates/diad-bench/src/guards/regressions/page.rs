//! What the figures say: averages, ranks, the worst losses, the spread over seeds, and the halves.

use std::collections::BTreeMap;

use super::TaskRun;
use super::peers::{METHODS, PeerFigure};
use super::tables::{Group, Protocol, Task};
use crate::render::{Grid, NONE, number};
use crate::stats::{deviation, mean, mean_ranks, quantile};

const OURS: &str = "ours";
const FOREST: &str = "IForest";
/// How many of the worst losses are listed for each group.
const LISTED: usize = 5;
/// A loss against the forest beyond this is a disaster.
const DISASTER: f64 = 6.0;

/// ROC-AUC and average precision in %, one value for each seed.
#[derive(Debug, Clone, Default)]
struct Seeds {
    auc: Vec<f64>,
    ap: Vec<f64>,
}

/// All methods on the tables that ours was run on.
#[derive(Debug)]
pub struct Figures {
    found: BTreeMap<Task, BTreeMap<String, Seeds>>,
}

/// Tables that are averaged together.
struct Row {
    title: &'static str,
    groups: &'static [Group],
    protocol: Protocol,
}

const ROWS: [Row; 6] = [
    Row { title: "paper (18)", groups: &[Group::Paper], protocol: Protocol::All },
    Row { title: "extra (8)", groups: &[Group::Extra], protocol: Protocol::All },
    Row { title: "ADBench (23)", groups: &[Group::Adbench], protocol: Protocol::All },
    Row { title: "these 49", groups: &[Group::Paper, Group::Extra, Group::Adbench], protocol: Protocol::All },
    Row { title: "OddBench (150), all", groups: &[Group::Oddbench], protocol: Protocol::All },
    Row { title: "OddBench (150), new", groups: &[Group::Oddbench], protocol: Protocol::New },
];

impl Figures {
    /// Our runs, and the peers' on the same tables.
    pub fn new(runs: &[TaskRun], peers: &[PeerFigure]) -> Self {
        let mut found: BTreeMap<Task, BTreeMap<String, Seeds>> = BTreeMap::new();
        for run in runs {
            let seeds = found.entry(run.task.clone()).or_default().entry(OURS.into()).or_default();
            seeds.auc.push(run.auc);
            seeds.ap.push(run.ap);
        }
        for peer in peers {
            let Some(methods) = found.get_mut(&peer.task) else { continue };
            let seeds = methods.entry(peer.method.clone()).or_default();
            seeds.auc.push(peer.auc);
            seeds.ap.push(peer.ap);
        }
        Self { found }
    }

    /// The tables of a row, or those of them in one half.
    fn tasks(&self, row: &Row, half: Option<char>) -> Vec<&Task> {
        let of_row = |task: &&Task| row.groups.contains(&task.group) && task.protocol == row.protocol;
        let of_half = |task: &&Task| half.is_none_or(|half| task.half() == half);
        self.found.keys().filter(of_row).filter(of_half).collect()
    }

    fn seeds(&self, task: &Task, method: &str) -> Option<&Seeds> {
        self.found.get(task)?.get(method)
    }

    fn value(&self, task: &Task, method: &str, of: fn(&Seeds) -> &[f64]) -> Option<f64> {
        mean(of(self.seeds(task, method)?))
    }

    /// A method's average over the tables, with their number where it has not been run on all of them.
    fn average(&self, tasks: &[&Task], method: &str, of: fn(&Seeds) -> &[f64]) -> String {
        let values: Vec<f64> = tasks.iter().filter_map(|task| self.value(task, method, of)).collect();
        let average = number(mean(&values), 1);
        if values.len() == tasks.len() || values.is_empty() {
            average
        } else {
            format!("{average} ({} of {})", values.len(), tasks.len())
        }
    }

    /// Mean ranks by AUC among the methods that have all tables.
    fn ranks(&self, tasks: &[&Task]) -> Vec<String> {
        let column = |method: &str| -> Option<Vec<f64>> {
            tasks.iter().map(|task| self.value(task, method, |seeds| &seeds.auc)).collect()
        };
        let columns: Vec<Option<Vec<f64>>> = methods().map(column).collect();
        let complete: Vec<Vec<f64>> = columns.iter().flatten().cloned().collect();
        let mut ranks = mean_ranks(&complete).into_iter();
        columns.iter().map(|column| number(column.as_ref().and_then(|_| ranks.next()), 2)).collect()
    }

    /// Ours less the forest's on each table, the worst first.
    fn gains(&self, tasks: &[&Task]) -> Vec<(String, f64)> {
        let gain = |task: &&Task| {
            let of = |method| self.value(task, method, |seeds| &seeds.auc);
            Some((task.set.clone(), of(OURS)? - of(FOREST)?))
        };
        let mut gains: Vec<_> = tasks.iter().filter_map(gain).collect();
        gains.sort_by(|a, b| a.1.total_cmp(&b.1));
        gains
    }

    /// The rows that have any table, with their tables.
    fn rows(&self, half: Option<char>) -> Vec<(&'static str, Vec<&Task>)> {
        let rows = ROWS.iter().map(|row| (row, self.tasks(row, half)));
        let titled = rows.map(|(row, tasks)| (row.title, tasks));
        titled.filter(|(_, tasks)| !tasks.is_empty()).collect()
    }
}

fn methods() -> impl Iterator<Item = &'static str> {
    std::iter::once(OURS).chain(METHODS.map(|(name, _)| name))
}

/// Rows of tables by methods.
fn grid<'a>(rows: &[(&'static str, Vec<&'a Task>)], cells: impl Fn(&[&'a Task]) -> Vec<String>) -> String {
    let mut grid = Grid::new(["tables", "sets"].into_iter().chain(methods()));
    for (title, tasks) in rows {
        grid.push([title.to_string(), tasks.len().to_string()].into_iter().chain(cells(tasks)));
    }
    grid.markdown(1)
}

fn averages(figures: &Figures, half: Option<char>, of: fn(&Seeds) -> &[f64]) -> String {
    let cells = |tasks: &[&Task]| methods().map(|method| figures.average(tasks, method, of)).collect();
    grid(&figures.rows(half), cells)
}

fn ranks(figures: &Figures, half: Option<char>) -> String {
    grid(&figures.rows(half), |tasks| figures.ranks(tasks))
}

/// How much ours is above the forest: on average, at the 5 % quantile, at worst.
fn against_the_forest(figures: &Figures) -> String {
    let mut grid =
        Grid::new(["tables", "mean", "5 % quantile", "sets more than 6 below", "the largest losses"]);
    for (title, tasks) in figures.rows(None) {
        let gains = figures.gains(&tasks);
        let values: Vec<f64> = gains.iter().map(|(_, gain)| *gain).collect();
        let worst = gains.iter().take(LISTED).filter(|(_, gain)| *gain < 0.0);
        let worst: Vec<_> = worst.map(|(set, gain)| format!("{set} {gain:.1}")).collect();
        grid.push([
            title.to_string(),
            number(mean(&values), 1),
            number(quantile(&values, 0.05), 1),
            values.iter().filter(|gain| **gain < -DISASTER).count().to_string(),
            if worst.is_empty() { NONE.into() } else { worst.join(", ") },
        ]);
    }
    grid.markdown(1)
}

/// The standard deviation of our AUC over the seeds.
fn over_seeds(figures: &Figures) -> String {
    let mut grid = Grid::new(["tables", "mean", "largest", "sets above 1", "which"]);
    for (title, tasks) in figures.rows(None) {
        let spread = |task: &&Task| Some((task.set.clone(), deviation(&figures.seeds(task, OURS)?.auc)?));
        let mut spreads: Vec<(String, f64)> = tasks.iter().filter_map(spread).collect();
        spreads.sort_by(|a, b| b.1.total_cmp(&a.1));
        let values: Vec<f64> = spreads.iter().map(|(_, spread)| *spread).collect();
        let large = spreads.iter().filter(|(_, spread)| *spread > 1.0);
        let named: Vec<_> = large.clone().take(LISTED).map(|(set, s)| format!("{set} {s:.1}")).collect();
        grid.push([
            title.to_string(),
            number(mean(&values), 2),
            number(values.first().copied(), 1),
            format!("{} of {}", large.count(), values.len()),
            if named.is_empty() { NONE.into() } else { named.join(", ") },
        ]);
    }
    grid.markdown(1)
}

/// The whole page.
pub fn text(figures: &Figures) -> String {
    let mut page = format!(
        "# Regressions\n\nThe default settings on four groups of tables, without labels. `all`: every row is fitted and every row is scored. \
         `new`: clean rows are fitted, other rows are scored. Figures are in %, means over the seeds, then over the sets; in brackets, on how many \
         sets a method has been run where not on all of them. The other detectors' figures are kept in `peers.csv`: IForest is scikit-learn's isolation forest, EIF (two features \
         a split), SCiForest and FCF (the fair-cut forest) are isotree's, the others PyOD's, each at the settings of its documentation.\n\n\
         ## ROC-AUC\n\n{}\n## Average precision\n\n{}\n## Mean rank by ROC-AUC\n\nAmong the methods that have every set.\n\n{}\n\
         ## Against IForest\n\nOurs less IForest, in points of ROC-AUC.\n\n{}\n\
         ## Spread over seeds\n\nStandard deviation of our ROC-AUC.\n\n{}\n\
         ## Halves\n\nThe sets are split in two by a hash of their names, related ones on one side, so that what is chosen on one half can be read on \
         the other.\n",
        averages(figures, None, |seeds| &seeds.auc),
        averages(figures, None, |seeds| &seeds.ap),
        ranks(figures, None),
        against_the_forest(figures),
        over_seeds(figures),
    );
    for half in ['A', 'B'] {
        page.push_str(&format!(
            "\n### Half {half}\n\nROC-AUC:\n\n{}\nAverage precision:\n\n{}\nMean rank:\n\n{}",
            averages(figures, Some(half), |seeds| &seeds.auc),
            averages(figures, Some(half), |seeds| &seeds.ap),
            ranks(figures, Some(half)),
        ));
    }
    page
}

/// A line for each table.
pub fn csv(figures: &Figures) -> Grid {
    let fixed = ["group", "protocol", "half", "set", "seeds", "deviation"].map(String::from);
    let of_method = |method: &str| [format!("{method}_auc"), format!("{method}_ap")];
    let mut grid = Grid::new(fixed.into_iter().chain(methods().flat_map(of_method)));
    for task in figures.found.keys() {
        let aucs = figures.seeds(task, OURS).map_or(&[][..], |seeds| &seeds.auc);
        let fixed = [
            task.group.name().to_string(),
            task.protocol.name().into(),
            task.half().to_string(),
            task.set.clone(),
            aucs.len().to_string(),
            number(deviation(aucs), 3),
        ];
        let pair = |method: &str| {
            let values: [fn(&Seeds) -> &[f64]; 2] = [|seeds| &seeds.auc, |seeds| &seeds.ap];
            values.map(|of| number(figures.value(task, method, of), 3))
        };
        grid.push(fixed.into_iter().chain(methods().flat_map(pair)));
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(set: &str) -> Task {
        Task { group: Group::Adbench, protocol: Protocol::All, set: set.into() }
    }

    fn run(set: &str, seed: u64, auc: f64) -> TaskRun {
        TaskRun {
            task: task(set),
            seed,
            auc,
            ap: auc / 2.0,
            fit_seconds: 1.0,
            fitted: 10,
            scored: 10,
            settings: "s".into(),
            commit: "c".into(),
            cpu: "a CPU".into(),
        }
    }

    fn peer(set: &str, method: &str, auc: f64) -> PeerFigure {
        let version = "1".into();
        PeerFigure { task: task(set), method: method.into(), seed: 0, auc, ap: auc / 2.0, version }
    }

    fn figures() -> Figures {
        let runs = [run("glass", 0, 70.0), run("glass", 1, 74.0), run("wine", 0, 90.0)];
        let peers = [
            peer("glass", "IForest", 80.0),
            peer("wine", "IForest", 88.0),
            peer("wine", "ECOD", 95.0),
            peer("yeast", "ECOD", 40.0),
        ];
        Figures::new(&runs, &peers)
    }

    #[test]
    fn averages_are_over_seeds_then_sets_and_say_where_sets_are_missing() {
        let page = text(&figures());
        assert!(page.contains("| ADBench (23) | 2 | 81.0 | 84.0 | 95.0 (1 of 2) | – |"), "{page}");
        assert!(page.contains("| these 49 | 2 | 40.5 | 42.0 | 47.5 (1 of 2) |"), "{page}");
    }

    #[test]
    fn ranks_and_losses_are_against_the_methods_with_every_set() {
        let page = text(&figures());
        assert!(page.contains("| ADBench (23) | 2 | 1.50 | 1.50 | – |"), "{page}");
        assert!(page.contains("| ADBench (23) | -3.0 | -7.5 | 1 | glass -8.0 |"), "{page}");
        assert!(page.contains("| ADBench (23) | 2.83 | 2.8 | 1 of 1 | glass 2.8 |"), "{page}");
    }

    #[test]
    fn every_table_has_a_line() {
        let text = csv(&figures()).csv();
        let half = task("glass").half();
        let line = format!("adbench,all,{half},glass,2,2.828,72.000,36.000,80.000,40.000,–,–");
        assert!(text.lines().any(|found| found.starts_with(&line)), "{text}");
        assert_eq!(text.lines().count(), 3);
    }
}
