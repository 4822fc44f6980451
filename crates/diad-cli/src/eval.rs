//! `diad eval`: how well a model ranks labelled rows.

use anyhow::{Result, bail};
use diad::Detector;
use diad::encode::Oddities;
use diad::metrics::{average_precision, roc_auc};
use diad::table::{Source, quoted};
use serde_json::json;

use crate::args::{Format, LabelledTable};
use crate::columns::{self, plural};
use crate::input::Input;
use crate::log;
use crate::output;
use crate::score;
use crate::stop::stoppable;

/// Measure how well a model ranks labelled rows
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    given: LabelledTable,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Refuse a table with a cell that cannot be read, is infinite, or is missing in a column that had no gaps in training
    #[arg(long)]
    strict: bool,
}

const EXAMPLES: &str = "\
Rows without a label are left out.
ROC-AUC is the probability that an anomaly scores higher than a normal row: 0.5 is random, 1 is perfect.
Average precision is the share of anomalies among the highest scores, averaged over all anomalies.

Examples:
  diad eval model.diad table.csv --label is_fraud
  diad eval model.diad table.parquet --label is_fraud --format json";

pub fn run(args: &Args) -> Result<()> {
    let detector = score::load(&args.given.model, false, args.strict)?;
    let (labels, scores, unlabelled) =
        score_labelled(&detector, &Input::once(&args.given.table), &args.given.label)?;
    if labels.is_empty() && unlabelled > 0 {
        bail!(
            "label column {} is empty in all {unlabelled} rows; label some of them",
            quoted(&args.given.label)
        );
    }
    if unlabelled > 0 {
        let rows = plural(unlabelled, "row without a label is", "rows without a label are");
        log::warn(&format!("{rows} left out"));
    }
    let (Some(area), Some(precision)) = (roc_auc(&labels, &scores), average_precision(&labels, &scores))
    else {
        bail!(
            "label column {} is {} in all {} rows; give a table with both anomalies and normal rows",
            quoted(&args.given.label),
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

/// Labels and scores of the labelled rows, and how many have no label.
fn score_labelled(detector: &Detector, table: &Input, label: &str) -> Result<(Vec<bool>, Vec<f32>, usize)> {
    if detector.encoder().columns().iter().any(|column| column.source() == label) {
        let typed = output::typed(label).unwrap_or("and its name");
        bail!(
            "the model was trained with column {} as a feature; train it again with --label {typed}",
            quoted(label)
        );
    }
    let source = stoppable(table);
    let mut reader = source.open(&detector.selection().with_known_labels(label))?;
    let (mut labels, mut scores, mut unlabelled) = (Vec::new(), Vec::new(), 0);
    let (mut found, mut oddities) = (Vec::new(), Oddities::default());
    while let Some(batch) = reader.next_batch()? {
        found.clear();
        found.resize(batch.rows(), 0.0);
        detector.score_noting(&batch, &mut found, &mut oddities)?;
        // The label is the last selected column.
        for (&label, &score) in batch.column(batch.names().len() - 1).iter().zip(&found) {
            if label.is_nan() {
                unlabelled += 1;
            } else {
                labels.push(label == 1.0);
                scores.push(score);
            }
        }
    }
    columns::warn_of_odd(&oddities);
    Ok((labels, scores, unlabelled))
}
