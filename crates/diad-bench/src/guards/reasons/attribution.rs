//! Contributions of one model beside those of another.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use diad::explain::{Contributions, Explainer};
use diad::table::Table;

use crate::stats::ranks;

/// The copy of a column has its name and this.
const COPY: &str = " (copy)";
/// A term counts where it has at least this share of a row's contributions.
const COUNTS: f64 = 0.01;

/// Contributions by the names of the columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    rows: Vec<BTreeMap<Vec<String>, f64>>,
}

/// What a copy of a column changes, row by row.
#[derive(Debug, Default, PartialEq)]
pub struct Shift {
    /// How much less of all contributions are those of the column's terms.
    pub lost: Vec<f64>,
    /// The difference of what the two copies have, as a share of both.
    pub uneven: Vec<f64>,
    /// By how much the share of another term moved at most.
    pub moved: Vec<f64>,
}

impl Rows {
    /// Of all rows explained.
    pub fn new(explainer: &Explainer, explained: &Contributions) -> Self {
        let columns = explainer.detector().encoder().columns();
        let name = |term: &diad::explain::Term| -> Vec<String> {
            let mut names: Vec<String> = term.columns().iter().map(|&c| columns[c].name.clone()).collect();
            names.sort();
            names
        };
        let names: Vec<Vec<String>> = explainer.terms().iter().map(name).collect();
        let row = |row: usize| names.iter().cloned().zip(explained.row(row).iter().copied()).collect();
        Self { rows: (0..explained.scores().len()).map(row).collect() }
    }

    /// How many terms there are.
    pub fn terms(&self) -> usize {
        self.rows.first().map_or(0, BTreeMap::len)
    }

    /// For each row the sum of the sizes of its contributions over the size of their sum.
    pub fn inflation(&self) -> Vec<f64> {
        self.rows.iter().map(|row| size(row) / row.values().sum::<f64>().abs()).collect()
    }

    /// The column that raises the scores of the rows most.
    pub fn most_blamed(&self) -> String {
        let mut blame: BTreeMap<&str, f64> = BTreeMap::new();
        for (names, contribution) in self.rows.iter().flatten() {
            for name in names {
                *blame.entry(name).or_default() += contribution / names.len() as f64;
            }
        }
        let most = blame.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        most.map_or(String::new(), |(name, _)| name.to_owned())
    }

    /// For each row the rank correlation of its contributions with those of another model, over the terms that count in either.
    pub fn agreement(&self, other: &Self) -> Vec<f64> {
        let pairs = self.rows.iter().zip(&other.rows);
        pairs.filter_map(|(a, b)| rank_correlation(a, b)).collect()
    }

    /// The share of the rows whose first reason is that of another model.
    pub fn same_first(&self, other: &Self) -> f64 {
        let first = |row: &BTreeMap<Vec<String>, f64>| {
            row.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(name, _)| name.clone())
        };
        let same = self.rows.iter().zip(&other.rows).filter(|(a, b)| first(a) == first(b)).count();
        same as f64 / self.rows.len() as f64
    }

    /// What changes with a model of the same table with a copy of a column.
    pub fn shift(&self, copied: &Self, column: &str) -> Shift {
        let mut shift = Shift::default();
        let copy = format!("{column}{COPY}");
        let is_of = |names: &[String]| names.iter().any(|name| name == column || *name == copy);
        let with = |row: &BTreeMap<Vec<String>, f64>, name: &str| -> f64 {
            row.iter().filter(|(names, _)| names.iter().any(|known| known == name)).map(|(_, c)| c).sum()
        };
        for (before, after) in self.rows.iter().zip(&copied.rows) {
            let (all_before, all_after) = (size(before), size(after));
            let of_column = |row: &BTreeMap<Vec<String>, f64>, all: f64| {
                row.iter().filter(|(names, _)| is_of(names)).map(|(_, c)| c).sum::<f64>() / all
            };
            shift.lost.push(of_column(before, all_before) - of_column(after, all_after));
            let [one, two] = [with(after, column), with(after, &copy)];
            shift.uneven.push((one - two).abs() / (one.abs() + two.abs()).max(f64::MIN_POSITIVE));
            let others = before.iter().filter(|(names, _)| !is_of(names));
            let apart = others.map(|(names, c)| {
                (c / all_before - after.get(names).copied().unwrap_or(0.0) / all_after).abs()
            });
            shift.moved.push(apart.fold(0.0, f64::max));
        }
        shift
    }
}

fn size(row: &BTreeMap<Vec<String>, f64>) -> f64 {
    row.values().map(|contribution| contribution.abs()).sum()
}

/// Nothing if fewer than three terms count.
fn rank_correlation(a: &BTreeMap<Vec<String>, f64>, b: &BTreeMap<Vec<String>, f64>) -> Option<f64> {
    let counting = |row: &BTreeMap<Vec<String>, f64>| {
        let least = COUNTS * size(row);
        row.iter().filter(|(_, c)| c.abs() >= least).map(|(name, _)| name.clone()).collect::<BTreeSet<_>>()
    };
    let names: Vec<Vec<String>> = counting(a).union(&counting(b)).cloned().collect();
    if names.len() < 3 {
        return None;
    }
    let ranked = |row: &BTreeMap<Vec<String>, f64>| {
        ranks(&names.iter().map(|name| row.get(name).copied().unwrap_or(0.0)).collect::<Vec<_>>())
    };
    let (a, b) = (ranked(a), ranked(b));
    let middle = (names.len() as f64 + 1.0) / 2.0;
    let product =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum::<f64>();
    let both = (product(&a, &a) * product(&b, &b)).sqrt();
    (both > 0.0).then(|| product(&a, &b) / both)
}

/// The table with a copy of a column.
///
/// # Errors
/// If there is no such column.
pub fn copied(table: &Table, column: &str) -> Result<Table> {
    let mut names = table.names().to_vec();
    let mut columns: Vec<Vec<f64>> = (0..names.len()).map(|index| table.column(index).to_vec()).collect();
    columns.push(table.column_named(column).context("there is no such column")?.to_vec());
    names.push(format!("{column}{COPY}"));
    Ok(Table::new(names, columns)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(terms: &[(&[&str], f64)]) -> Rows {
        let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Rows { rows: vec![terms.iter().map(|(names, c)| (named(names), *c)).collect()] }
    }

    #[test]
    fn figures_are_those_of_plain_counting() {
        let first = rows(&[(&["a"], 6.0), (&["b"], 1.0), (&["c"], -2.0), (&["a", "b"], 1.0)]);
        assert_eq!(first.inflation(), [10.0 / 6.0]);
        assert_eq!(first.most_blamed(), "a");
        assert_eq!(first.agreement(&first), [1.0]);
        let turned = rows(&[(&["a"], -6.0), (&["b"], 0.0), (&["c"], 2.0), (&["a", "b"], 0.1)]);
        assert!(first.agreement(&turned)[0] < -0.5);
        assert_eq!([first.same_first(&first), first.same_first(&turned)], [1.0, 0.0]);
        let copy = format!("a{COPY}");
        let shared =
            rows(&[(&["a"], 3.0), (&[&copy], 3.0), (&["b"], 1.0), (&["c"], -2.0), (&["a", "b"], 1.0)]);
        let shift = first.shift(&shared, "a");
        assert!(shift.lost[0].abs() < 1e-12 && shift.moved[0] < 1e-12, "{shift:?}");
        assert!((shift.uneven[0] - 1.0 / 7.0).abs() < 1e-12, "{shift:?}");
    }
}
