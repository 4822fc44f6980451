//! `diad eval`: how well a model ranks labelled rows.

use std::fmt::Write;

use anyhow::{Result, bail};
use diad::Detector;
use diad::calibrate::{Threshold, groups};
use diad::encode::Oddities;
use diad::explain::Explainer;
use diad::metrics::{average_precision, average_precision_interval, roc_auc, top};
use diad::table::{Source, quoted};
use serde_json::{Value, json};

use crate::alerting;
use crate::args::Format;
use crate::columns::{self, plural};
use crate::input::Input;
use crate::labels::ModelAndLabels;
use crate::log;
use crate::output;
use crate::score;
use crate::stop::stoppable;

/// Measure how well a model ranks labelled rows
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    given: ModelAndLabels,
    #[command(flatten)]
    alerting: alerting::Alerting,
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
Average precision is the share of anomalies among the highest scores, averaged over all anomalies; with its 95 % interval.
Precision is the share of anomalies among the rows named, recall the share of all anomalies that are among them: for the highest rows, and
for the alerts if there is a rule, which looks at all rows, labelled or not. Groups are those of the anomalies.

Examples:
  diad eval model.diad table.csv --label is_fraud
  diad eval model.diad table.parquet --label is_fraud --format json
  diad eval model.diad labels.csv --table table.csv --id number";

/// Numbers of highest rows at which precision and recall are given, beside that of the anomalies.
const HIGHEST: [usize; 4] = [10, 50, 100, 1000];
/// Most anomalies that are grouped, and most groups listed.
const GROUPED: usize = 10_000;
const LISTED: usize = 10;

/// Scored rows with labels.
#[derive(Default)]
struct Scored {
    labels: Vec<bool>,
    scores: Vec<f32>,
    /// Which rows of the table they are.
    rows: Vec<usize>,
    /// The scores of all rows.
    all: Vec<f32>,
    unlabelled: usize,
}

/// Precision and recall of some rows.
struct Caught {
    what: String,
    rows: usize,
    precision: f64,
    recall: f64,
}

pub fn run(args: &Args) -> Result<()> {
    let detector = score::load(&args.given.model, false, args.strict)?;
    let (table, scored) = match args.given.labels.of_rows(&detector, &args.given.file)? {
        Some((table, labels)) => {
            let scored = score_with(&detector, &table, &labels)?;
            (table, scored)
        }
        None => {
            let table = Input::new(&args.given.file)?;
            let scored = score_labelled(&detector, &table, args.given.labels.column()?)?;
            (table, scored)
        }
    };
    let Scored { labels, scores, unlabelled, .. } = &scored;
    let what = args
        .given
        .labels
        .label
        .as_ref()
        .map_or("the label".into(), |label| format!("label column {}", quoted(label)));
    if labels.is_empty() && *unlabelled > 0 {
        bail!("{what} is empty in all {unlabelled} rows; label some of them");
    }
    if *unlabelled > 0 {
        let rows = plural(*unlabelled, "row without a label is", "rows without a label are");
        log::warn(&format!("{rows} left out"));
    }
    let (Some(area), Some(precision)) = (roc_auc(labels, scores), average_precision(labels, scores)) else {
        bail!(
            "{what} is {} in all {} rows; give a table with both anomalies and normal rows",
            u8::from(labels.contains(&true)),
            labels.len()
        );
    };
    let interval = average_precision_interval(labels, scores).unwrap_or([precision; 2]);
    let alerts = args.alerting.rule(&detector).of_table(&detector, &table, &scored.all)?;
    let caught = caught(alerts.as_ref(), &scored);
    let anomalies = labels.iter().filter(|&&label| label).count();
    let kinds = kinds(&detector, &table, &scored)?;
    output::say(&match args.format {
        Format::Text => {
            let [low, high] = interval;
            let mut text = format!(
                "rows               {}\nanomalies          {anomalies}\nROC-AUC            {area:.4}\n\
                 average precision  {precision:.4}  [{low:.4}, {high:.4}]\n\n                   rows  precision  recall\n",
                labels.len()
            );
            for Caught { what, rows, precision, recall } in &caught {
                writeln!(text, "{what:<16} {rows:>6}     {precision:.4}  {recall:.4}")?;
            }
            writeln!(text, "\nKinds of anomalies")?;
            for (sentence, count) in kinds.iter().take(LISTED) {
                writeln!(text, "{count:>6}  {sentence}")?;
            }
            if kinds.len() > LISTED {
                writeln!(text, "        and {} more", kinds.len() - LISTED)?;
            }
            text
        }
        Format::Json => {
            let caught = caught.iter().map(|Caught { what, rows, precision, recall }| {
                json!({ "of": what, "rows": rows, "precision": precision, "recall": recall })
            });
            let kinds =
                kinds.iter().map(|(sentence, count)| json!({ "group": sentence, "anomalies": count }));
            let result = json!({
                "rows": labels.len(),
                "anomalies": anomalies,
                "roc_auc": area,
                "average_precision": precision,
                "average_precision_interval": interval,
                "highest": caught.collect::<Vec<Value>>(),
                "groups": kinds.collect::<Vec<Value>>(),
            });
            format!("{result}\n")
        }
    })
}

/// Precision and recall of the highest rows, and of the alerts.
fn caught(alerts: Option<&Threshold>, scored: &Scored) -> Vec<Caught> {
    let Scored { labels, scores, .. } = scored;
    let anomalies = labels.iter().filter(|&&label| label).count();
    let of = |what: String, rows: &[usize]| {
        let right = rows.iter().filter(|&&row| labels[row]).count() as f64;
        let (precision, recall) = (right / rows.len().max(1) as f64, right / anomalies.max(1) as f64);
        Caught { what, rows: rows.len(), precision, recall }
    };
    let order = top(scores, scores.len());
    let mut wanted: Vec<usize> =
        HIGHEST.into_iter().chain([anomalies]).filter(|&k| k <= order.len()).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut all: Vec<Caught> = wanted.into_iter().map(|k| of(format!("highest {k}"), &order[..k])).collect();
    if let Some(threshold) = alerts {
        let alerts: Vec<usize> = order.into_iter().filter(|&row| threshold.is_alert(scores[row])).collect();
        all.push(of(format!("alerts {}", threshold.rule), &alerts));
    }
    all
}

/// Which kinds of anomalies there are: what carries them, and how many.
fn kinds(detector: &Detector, table: &Input, scored: &Scored) -> Result<Vec<(String, usize)>> {
    let labelled = scored.rows.iter().zip(&scored.labels).filter(|(_, label)| **label);
    let rows: Vec<usize> = labelled.map(|(&row, _)| row).take(GROUPED).collect();
    let picked = detector.pick(&stoppable(table), &rows)?;
    let found = groups(&Explainer::new(detector), &picked)?;
    Ok(found.into_iter().map(|group| (group.sentence.clone(), group.count())).collect())
}

/// Scores a table whose labels are known.
fn score_with(detector: &Detector, table: &Input, labels: &[Option<bool>]) -> Result<Scored> {
    let (scores, oddities) = detector.score_all_noting::<f32>(&stoppable(table))?;
    columns::warn_of_odd(&oddities);
    let rows: Vec<usize> = (0..labels.len()).filter(|&row| labels[row].is_some()).collect();
    Ok(Scored {
        labels: rows.iter().map(|&row| labels[row] == Some(true)).collect(),
        scores: rows.iter().map(|&row| scores[row]).collect(),
        unlabelled: labels.len() - rows.len(),
        rows,
        all: scores,
    })
}

/// Labels and scores of the labelled rows, and how many have no label.
fn score_labelled(detector: &Detector, table: &Input, label: &str) -> Result<Scored> {
    if detector.encoder().columns().iter().any(|column| column.source() == label) {
        let typed = output::typed(label).unwrap_or_else(|| "and its name".to_owned());
        bail!(
            "the model was trained with column {} as a feature; train it again with --label {typed}",
            quoted(label)
        );
    }
    let source = stoppable(table);
    let mut reader = source.open(&detector.selection().with_known_labels(label))?;
    let mut scored = Scored::default();
    let (mut oddities, mut first) = (Oddities::default(), 0);
    while let Some(batch) = reader.next_batch()? {
        scored.all.resize(first + batch.rows(), 0.0);
        detector.score_noting(&batch, &mut scored.all[first..], &mut oddities)?;
        // The label is the last selected column.
        for (row, &label) in (first..).zip(batch.column(batch.names().len() - 1)) {
            if label.is_nan() {
                scored.unlabelled += 1;
            } else {
                scored.labels.push(label == 1.0);
                scored.scores.push(scored.all[row]);
                scored.rows.push(row);
            }
        }
        first += batch.rows();
    }
    columns::warn_of_odd(&oddities);
    Ok(scored)
}
