//! `diad eval`: how well a model ranks labelled rows.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::ValueEnum;
use diad::Detector;
use diad::metrics::{average_precision, roc_auc};
use diad::table::{Source, quoted};
use serde_json::json;

use crate::input::Input;
use crate::output;
use crate::stop::Stoppable;

/// Measure how well a model ranks labelled rows
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The model file, from diad fit
    model: PathBuf,
    /// The table, with the columns of the model and the label column; - for standard input
    table: PathBuf,
    /// The column with the labels: 1 for an anomaly and 0 for a normal row, or true/false, or yes/no
    #[arg(long, value_name = "COL")]
    label: String,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
}

const EXAMPLES: &str = "\
ROC-AUC is the chance that an anomaly scores higher than a normal row: 0.5 is chance, 1 is perfect.
Average precision is the share of anomalies among the highest scores, averaged over all anomalies.

Examples:
  diad eval model.diad table.csv --label is_fraud
  diad eval model.diad table.parquet --label is_fraud --format json";

pub fn run(args: &Args) -> Result<()> {
    let detector = Detector::load(&args.model)?;
    let (labels, scores) = score_labelled(&detector, &Input::new(&args.table)?, &args.label)?;
    let (Some(area), Some(precision)) = (roc_auc(&labels, &scores), average_precision(&labels, &scores))
    else {
        bail!(
            "label column {} is {} in all {} rows; give a table with both anomalies and normal rows",
            quoted(&args.label),
            u8::from(labels.contains(&true)),
            labels.len()
        );
    };
    let anomalies = labels.iter().filter(|&&label| label).count();
    output::say(&match args.format {
        Format::Text => format!(
            "rows               {}\nanomalies          {anomalies}\nROC-AUC            {area:.4}\n\
             average precision  {precision:.4}\n",
            labels.len()
        ),
        Format::Json => {
            let result = json!({
                "rows": labels.len(),
                "anomalies": anomalies,
                "roc_auc": area,
                "average_precision": precision,
            });
            format!("{result}\n")
        }
    })
}

/// Labels and scores of all rows.
fn score_labelled(detector: &Detector, table: &Input, label: &str) -> Result<(Vec<bool>, Vec<f32>)> {
    if detector.encoder().columns().iter().any(|column| column.source() == label) {
        let typed = output::typed(label).unwrap_or("and its name");
        bail!(
            "the model was trained with column {} as a feature; train it again with --label {typed}",
            quoted(label)
        );
    }
    let source = Stoppable(table);
    let mut reader = source.open(&detector.encoder().selection().with_label(label))?;
    let (mut labels, mut scores) = (Vec::new(), Vec::new());
    while let Some(batch) = reader.next_batch()? {
        let start = scores.len();
        scores.resize(start + batch.rows(), 0.0);
        detector.score_into(&batch, &mut scores[start..])?;
        // The label is the last selected column.
        labels.extend(batch.column(batch.names().len() - 1).iter().map(|&label| label == 1.0));
    }
    Ok((labels, scores))
}
