//! The tables that are measured: four groups, one of them under two protocols, and the two halves of each.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use diad::table::{FileSource, Table};
use serde::{Deserialize, Serialize};

use crate::data::{LABEL, labelled, load, mix};
use crate::options::hash;

/// Whether a row of an OddBench table is for training (0) or for testing (1).
pub const PART: &str = "part";
/// Sets cut from the same source: the second is on the side of the first.
const RELATED: [(&str, &str); 3] =
    [("satimage-2", "satellite"), ("cardio", "Cardiotocography"), ("breastw", "WBC")];

/// A group of tables that is averaged by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// The paper's 18 sets.
    Paper,
    /// Eight more.
    Extra,
    /// The 23 other sets of ADBench.
    Adbench,
    /// 150 tables of OddBench.
    Oddbench,
}

/// What is fitted and what is scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// All rows are fitted, and all are scored.
    All,
    /// Clean rows are fitted, others are scored.
    New,
}

/// One table under one protocol.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Task {
    /// Its group.
    pub group: Group,
    /// What is fitted and scored.
    pub protocol: Protocol,
    /// The file's name without its ending.
    pub set: String,
}

impl Group {
    /// As it is written in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Extra => "extra",
            Self::Adbench => "adbench",
            Self::Oddbench => "oddbench",
        }
    }

    /// The folder of its files below the data folder.
    fn folder(self, data: &Path) -> PathBuf {
        if self == Self::Paper { data.to_path_buf() } else { data.join(self.name()) }
    }

    fn protocols(self) -> &'static [Protocol] {
        if self == Self::Oddbench { &[Protocol::All, Protocol::New] } else { &[Protocol::All] }
    }

    /// All tasks of the group, by the files that are there.
    ///
    /// # Errors
    /// If the folder cannot be read or has no tables.
    pub fn tasks(self, data: &Path) -> Result<Vec<Task>> {
        let folder = self.folder(data);
        let files =
            std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        let mut tasks = Vec::new();
        for file in files {
            let path = file?.path();
            if path.extension().is_none_or(|ending| ending != "parquet") {
                continue;
            }
            let set = path.file_stem().and_then(|name| name.to_str());
            let set = set.with_context(|| format!("{} is no name", path.display()))?;
            let task = |&protocol: &Protocol| Task { group: self, protocol, set: set.into() };
            tasks.extend(self.protocols().iter().map(task));
        }
        ensure!(!tasks.is_empty(), "there are no Parquet files in {}", folder.display());
        tasks.sort();
        Ok(tasks)
    }
}

impl Protocol {
    /// As it is written in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::New => "new",
        }
    }
}

impl Task {
    /// Its file below the data folder.
    pub fn path(&self, data: &Path) -> PathBuf {
        self.group.folder(data).join(format!("{}.parquet", self.set))
    }

    /// The rows that are fitted and the rows that are scored, both with labels.
    ///
    /// # Errors
    /// If the file cannot be read or has not the columns it should have.
    pub fn tables(&self, data: &Path) -> Result<[Table; 2]> {
        let table = load(&FileSource::new(self.path(data)), &labelled())?;
        if self.group != Group::Oddbench {
            return Ok([table.clone(), table]);
        }
        let parts = table.column_named(PART).context("there is no column `part`")?.to_vec();
        let rows = |wanted: fn(f64) -> bool| -> Vec<usize> {
            (0..table.rows()).filter(|&row| wanted(parts[row])).collect()
        };
        let [fitted, scored] = match self.protocol {
            Protocol::All => [rows(|_| true), rows(|_| true)],
            Protocol::New => [rows(|part| part == 0.0), rows(|part| part > 0.0)],
        };
        Ok([pick(&table, &fitted)?, pick(&table, &scored)?])
    }

    /// Which half of the sets it is in: A or B, by a hash of its name.
    pub fn half(&self) -> char {
        let known = RELATED.iter().find(|(_, second)| *second == self.set);
        let name = known.map_or(self.set.as_str(), |(first, _)| first);
        if mix(hash(name)) & 1 == 0 { 'A' } else { 'B' }
    }
}

/// Some rows of a table without the column that says which part they are of.
fn pick(table: &Table, rows: &[usize]) -> Result<Table> {
    let kept = (0..table.names().len()).filter(|&column| table.names()[column] != PART);
    let values = |column: usize| rows.iter().map(|&row| table.column(column)[row]).collect();
    let (names, columns) = kept.map(|column| (table.names()[column].clone(), values(column))).unzip();
    let table = Table::new(names, columns)?;
    ensure!(table.column_named(LABEL).is_some(), "there is no label column");
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(set: &str) -> Task {
        Task { group: Group::Paper, protocol: Protocol::All, set: set.into() }
    }

    #[test]
    fn related_sets_are_in_the_same_half() {
        for (first, second) in RELATED {
            assert_eq!(task(first).half(), task(second).half());
        }
    }

    #[test]
    fn the_halves_are_of_about_the_same_size() {
        let sets = crate::sets::SETS.iter().filter(|set| task(set.name).half() == 'A').count();
        assert!((9..=17).contains(&sets), "{sets} of 26");
        let many = (0..1000).filter(|number| task(&format!("set{number}")).half() == 'A').count();
        assert!((450..550).contains(&many), "{many} of 1000");
    }

    #[test]
    fn rows_are_picked_without_their_part() {
        let columns = vec![vec![1.0, 2.0, 3.0], vec![0.0, 1.0, 1.0], vec![0.0, 0.0, 1.0]];
        let table = Table::new(["x", PART, LABEL].map(String::from).to_vec(), columns).expect("a table");
        let picked = pick(&table, &[1, 2]).expect("two rows");
        assert_eq!(picked.names(), ["x", LABEL]);
        assert_eq!(picked.column(0), [2.0, 3.0]);
    }
}
