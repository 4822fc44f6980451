//! `diad next`: which rows to label next.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use diad::calibrate::{Querying, next_rows};
use diad::explain::Explainer;
use diad::table::{ReadAs, Selection, Source, printable};
use diad::{Detector, NamedLabels};
use serde_json::json;

use crate::alerting;
use crate::args::{Format, ModelAndTable};
use crate::input::Input;
use crate::labels::identifier;
use crate::output;
use crate::stop::stoppable;

/// Suggest which rows to label next
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    given: ModelAndTable,
    /// The labels so far: a file of identifiers and labels
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// The column that identifies rows [default with labels: the identifier that the model left out]
    #[arg(long, value_name = "COL")]
    id: Option<String>,
    /// The column of the labels file with the labels [default: label, or the only one]
    #[arg(long, value_name = "COL", requires = "labels")]
    label: Option<String>,
    /// The label that means an anomaly; every other is a normal row [default: 1, yes, true, fraud and the like]
    #[arg(long, value_name = "WORD", requires = "labels")]
    positive: Option<String>,
    /// How many rows to suggest
    #[arg(short, value_name = "N", default_value_t = 10)]
    k: usize,
    /// How to print the rows
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

const EXAMPLES: &str = "\
Rows are ordered by the label they are expected to get, from 1 for an anomaly to -1 for a normal row, judging by their scores and by the
labels of similar rows. Each is printed with its score, that expectation, and the terms behind the score. No kind of alert takes up more
than a third of the rows while there are others. Label the rows, add the labels to the file, and run the command again.

Examples:
  diad next model.diad table.csv --id number -k 10
  diad next model.diad table.csv --id number --labels labels.csv --format json";

pub fn run(args: &Args) -> Result<()> {
    let detector = Detector::load(&args.given.model)?;
    if detector.origin().is_some() && args.labels.is_some() {
        bail!(
            "the model has been tuned already; give the original model, which learns from all labels again"
        );
    }
    let table = Input::new(&args.given.table)?;
    let source = stoppable(&table);
    let (id, labels) = match &args.labels {
        Some(file) => {
            let file = Input::new(file)?;
            let id = identifier(&detector, [&table, &file], args.id.as_deref())?;
            let (label, positive) = (args.label.as_deref(), args.positive.as_deref());
            let labels = NamedLabels::read(&stoppable(&file), &id, label, positive)?.of_rows(&source, &id)?;
            (Some(id), labels)
        }
        None => (args.id.clone(), Vec::new()),
    };
    let mut querying = Querying::new(&detector, &source)?;
    for (row, label) in labels.into_iter().enumerate() {
        label.map_or(Ok(()), |label| querying.tell(row, label))?;
    }
    let next = next_rows(&Explainer::new(&detector), &source, &querying, args.k)?;
    let rows: Vec<usize> = next.iter().map(|next| next.row).collect();
    let names = id.as_deref().map(|id| identifiers(&source, id, &rows)).transpose()?;
    output::say(&match args.format {
        Format::Json => {
            let row = |place: usize| {
                let (next, name) = (&next[place], names.as_ref().map(|names| &names[place]));
                json!({ "row": next.row, "id": name, "score": next.score, "expected": next.expected, "reason": next.sentence })
            };
            format!("{:#}\n", json!((0..next.len()).map(row).collect::<Vec<_>>()))
        }
        Format::Text => {
            let mut text = String::new();
            for (place, next) in next.iter().enumerate() {
                let name = names.as_ref().map_or_else(
                    || format!("row {}", next.row),
                    |names| {
                        format!(
                            "{} (row {})",
                            printable(names[place].as_deref().unwrap_or("missing")),
                            next.row
                        )
                    },
                );
                writeln!(text, "{name:<24} {:>8.2} {:>6.2}  {}", next.score, next.expected, next.sentence)?;
            }
            let offered = alerting::offer(&detector, &table, id.as_deref(), "names them by it")?;
            if !offered.is_empty() {
                writeln!(text, "\n{}", offered.trim_start())?;
            }
            text
        }
    })
}

/// What some rows are called in a column.
pub fn identifiers(table: &dyn Source, id: &str, rows: &[usize]) -> Result<Vec<Option<String>>> {
    let mut reader = table.open(&Selection::only([id]).reading(id, ReadAs::Texts))?;
    let (mut names, mut first) = (vec![None; rows.len()], 0);
    while let Some(batch) = reader.next_batch()? {
        for (name, &row) in names.iter_mut().zip(rows) {
            if (first..first + batch.rows()).contains(&row) {
                *name = batch.values(0).cell(row - first);
            }
        }
        first += batch.rows();
    }
    Ok(names)
}
