//! Tables as Markdown and as CSV.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

use crate::paper::Figure;

/// What stands where there is no figure.
pub const NONE: &str = "–";

/// A table of text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Grid {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// An empty table with that header.
    pub fn new<T: ToString>(header: impl IntoIterator<Item = T>) -> Self {
        Self { header: header.into_iter().map(|cell| cell.to_string()).collect(), rows: Vec::new() }
    }

    /// These fields of every row, as they are stored; numbers to four decimals. A dot leads into a field: `found.scored`.
    ///
    /// # Errors
    /// If a row cannot be written as JSON.
    pub fn of<R: Serialize>(rows: &[R], fields: &[&str]) -> Result<Self> {
        let mut grid = Self::new(fields.iter().filter_map(|field| field.rsplit('.').next()));
        for row in rows {
            let row = serde_json::to_value(row)?;
            grid.push(fields.iter().map(|field| cell(field.split('.').fold(&row, |value, key| &value[key]))));
        }
        Ok(grid)
    }

    /// Adds a row; it is filled up with empty cells to the header's length.
    pub fn push<T: ToString>(&mut self, row: impl IntoIterator<Item = T>) {
        let mut row: Vec<_> = row.into_iter().map(|cell| cell.to_string()).collect();
        row.resize(self.header.len(), String::new());
        self.rows.push(row);
    }

    /// As a Markdown table; all columns but the first `words` are aligned to the right.
    pub fn markdown(&self, words: usize) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<_> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule: Vec<_> =
            (0..self.header.len()).map(|place| if place < words { "---" } else { "---:" }).collect();
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        format!("{}|{}|\n{rows}", line(&self.header), rule.join("|"))
    }

    /// As CSV.
    pub fn csv(&self) -> String {
        let quote = |cell: &String| {
            if cell.contains([',', '"', '\n']) {
                format!("\"{}\"", cell.replace('"', "\"\""))
            } else {
                cell.clone()
            }
        };
        let line =
            |cells: &Vec<String>| format!("{}\n", cells.iter().map(quote).collect::<Vec<_>>().join(","));
        std::iter::once(&self.header).chain(&self.rows).map(line).collect()
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => format!("{:.4}", number.as_f64().unwrap_or(f64::NAN)),
        other => other.to_string(),
    }
}

/// A mean with its standard error: `84.1 ± 0.3`.
pub fn with_error(mean: f64, error: Option<f64>) -> String {
    match error {
        Some(error) => format!("{mean:.1} ± {error:.1}"),
        None => format!("{mean:.1}"),
    }
}

/// A figure of the paper, or a dash.
pub fn figure(figure: Option<&Figure>) -> String {
    figure.map_or_else(|| NONE.into(), |figure| with_error(figure.mean, figure.error))
}

/// A number with that many decimals, or a dash.
pub fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| NONE.into(), |value| format!("{value:.decimals$}"))
}

/// Each text once, in order.
pub fn distinct<T: Ord>(texts: impl IntoIterator<Item = T>) -> Vec<T> {
    texts.into_iter().collect::<BTreeSet<T>>().into_iter().collect()
}

/// The lines at the end of a page that say where its figures come from.
pub fn origin<'a>(commands: &[&str], commits: impl IntoIterator<Item = &'a str>) -> String {
    let commits = distinct(commits);
    let word = if commits.len() == 1 { "Commit" } else { "Commits" };
    let line = |command: &&str| format!("    cargo run --release -p diad-bench -- {command}\n");
    format!("Made by\n\n{}\n{word}: {}.\n", commands.iter().map(line).collect::<String>(), commits.join(", "))
}

/// The line of a page that leads to its data.
pub fn data_links([pages, results]: [&Path; 2], name: &str, table: &str) -> String {
    let folder = from(pages, results);
    let link = |file: &str| format!("[{file}]({})", folder.join(file).display());
    let runs = format!("{name}.jsonl");
    let runs = results.join(&runs).exists().then(|| format!(", {}", link(&runs)));
    format!("Data: {}{}.", link(&format!("{table}.csv")), runs.unwrap_or_default())
}

/// The way from one folder to another, where both are given from the same place.
fn from(start: &Path, end: &Path) -> PathBuf {
    let shared = start.components().zip(end.components()).take_while(|(a, b)| a == b).count();
    let up = start.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(end.components().skip(shared)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_lead_to_their_data() {
        let [pages, results] = ["docs/benchmarks", "docs/data"].map(Path::new);
        assert_eq!(data_links([pages, results], "x", "y"), "Data: [y.csv](../data/y.csv).");
        let link = data_links(["a/b/c", "r/s"].map(Path::new), "x", "x");
        assert_eq!(link, "Data: [x.csv](../../../r/s/x.csv).");
    }

    #[test]
    fn grids_become_markdown_and_csv() {
        let mut grid = Grid::new(["set", "AUC", "note"]);
        grid.push(["a|b".to_string(), with_error(84.06, Some(0.31))]);
        grid.push(["c", "–", "x, \"y\""]);
        let markdown =
            "| set | AUC | note |\n|---|---:|---:|\n| a\\|b | 84.1 ± 0.3 |  |\n| c | – | x, \"y\" |\n";
        assert_eq!(grid.markdown(1), markdown);
        assert_eq!(grid.csv(), "set,AUC,note\na|b,84.1 ± 0.3,\nc,–,\"x, \"\"y\"\"\"\n");
    }

    #[test]
    fn fields_of_rows_become_columns() {
        let rows = [
            serde_json::json!({ "set": "a", "rows": 12, "found": { "seconds": 0.5 } }),
            serde_json::json!({ "set": "b", "rows": 7, "found": null }),
        ];
        let grid = Grid::of(&rows, &["set", "found.seconds", "rows"]).expect("rows are JSON");
        assert_eq!(grid.csv(), "set,seconds,rows\na,0.5000,12\nb,,7\n");
    }

    #[test]
    fn origin_names_every_commit_once() {
        let text = origin(&["noise"], ["b", "a", "b"]);
        assert!(text.contains("-- noise\n") && text.contains("Commits: a, b."), "{text}");
    }

    #[test]
    fn missing_figures_are_dashes() {
        assert_eq!(number(None, 1), NONE);
        assert_eq!(number(Some(1.25), 0), "1");
        assert_eq!(figure(None), NONE);
    }
}
