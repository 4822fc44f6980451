//! A model and its rows as one HTML file that needs nothing else, and terms as plots.

mod curves;
mod data;
mod encode;
mod packed;
pub mod plot;
#[cfg(feature = "png")]
pub mod png;
mod rows;
mod scores;
mod similar;
mod ticks;

pub use encode::html_text;

use diad::Result;
use diad::explain::{Explainer, compare};
use diad::table::Table;

/// The page, in which what is between double braces is replaced.
const PAGE: &str = include_str!("../assets/report.html");
const STYLE: &str = include_str!("../assets/report.css");
/// The script: its parts share one scope, each uses those before it.
const SCRIPT: &str = concat!(
    "\"use strict\";\n(() => {\n",
    include_str!("../assets/script/base.js"),
    include_str!("../assets/script/rows.js"),
    include_str!("../assets/script/hover.js"),
    include_str!("../assets/script/threshold.js"),
    include_str!("../assets/script/marks.js"),
    include_str!("../assets/script/filter.js"),
    include_str!("../assets/script/list.js"),
    include_str!("../assets/script/row.js"),
    include_str!("../assets/script/compare.js"),
    include_str!("../assets/script/terms.js"),
    include_str!("../assets/script/model.js"),
    include_str!("../assets/script/start.js"),
    "})();\n"
);
/// Observable Plot, see `assets/vendor/README.md`.
const LIBRARY: &str = include_str!("../assets/vendor/plot.min.js");

/// Some rows of a table.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// Their numbers in the table, counted from 0.
    pub numbers: &'a [usize],
    /// Their values: one row for each number, with the columns of the model in their order.
    pub table: &'a Table,
    /// Columns to show as the table has them, as texts: one row for each number; may have no columns.
    pub kept: &'a Table,
}

/// Ordinary rows that listed ones are compared with, at most, and cells of them.
const MOST_ORDINARY: usize = 4000;
const MOST_ORDINARY_CELLS: usize = 4_000_000;

/// Rows with scores no higher than the median, evenly from the whole table: like which of them a listed row would be.
pub fn ordinary_rows(scores: &[f32], columns: usize) -> Vec<usize> {
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let Some(median) = sorted.get(sorted.len() / 2) else { return Vec::new() };
    let rows: Vec<usize> = (0..scores.len()).filter(|&row| scores[row] <= *median).collect();
    let most = (MOST_ORDINARY_CELLS / columns.max(1)).clamp(1, MOST_ORDINARY).min(rows.len());
    (0..most).map(|place| rows[place * rows.len() / most]).collect()
}

/// What a report shows.
#[derive(Debug)]
pub struct Report<'a> {
    /// The model.
    pub explainer: &'a Explainer<'a>,
    /// An earlier model of the same columns.
    pub before: Option<&'a Explainer<'a>>,
    /// What the model is called.
    pub model_name: String,
    /// What the table is called.
    pub table_name: String,
    /// Settings of the model, by name.
    pub settings: Vec<(String, String)>,
    /// Scores of all rows of the table.
    pub scores: &'a [f32],
    /// Labels of all rows of the table, if they are known.
    pub labels: Option<&'a [bool]>,
    /// The score from which on rows are alerts, where that is known.
    pub threshold: Option<f32>,
    /// The rule that it follows from.
    pub rule: Option<String>,
    /// The rows to list, the most anomalous first, and then ordinary ones, among which those most like listed ones are found.
    pub rows: Rows<'a>,
    /// How many of them are listed.
    pub listed: usize,
    /// Which of the kept columns identifies a row.
    pub identifier: Option<String>,
}

impl Report<'_> {
    /// The HTML file.
    ///
    /// # Errors
    /// If the earlier model is not of the same columns, or the listed rows lack a column or a value.
    pub fn html(&self) -> Result<String> {
        let comparison = self.before.map(|before| compare(before, self.explainer)).transpose()?;
        let data = data::Data::new(self, comparison.as_ref())?;
        let json = encode::script_safe(&serde_json::to_string(&data).unwrap_or_default());
        let policy = format!(
            "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'unsafe-inline'; \
             script-src '{}' '{}'",
            encode::script_hash(LIBRARY),
            encode::script_hash(SCRIPT)
        );
        let title = encode::html_text(&format!("{} · {}", self.model_name, self.table_name));
        let parts = [
            ("policy", policy.as_str()),
            ("title", &title),
            ("style", STYLE),
            ("library", LIBRARY),
            ("script", SCRIPT),
            ("data", &json),
        ];
        let mut html =
            String::with_capacity(PAGE.len() + STYLE.len() + SCRIPT.len() + LIBRARY.len() + json.len());
        let mut rest = PAGE;
        // One pass, so that nothing inside a part is taken for a place of another.
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, after)) = after.split_once("}}") else { break };
            html.push_str(before);
            html.push_str(parts.iter().find(|part| part.0 == name).map_or("", |part| part.1));
            rest = after;
        }
        html.push_str(rest);
        Ok(html)
    }
}
