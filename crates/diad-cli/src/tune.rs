//! `diad tune`: tunes a model with a few labels.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use diad::explain::{Explainer, compare};
use diad::table::printable;
use diad::{Detector, Labelled, Tuned};

use crate::columns::plural;
use crate::input::Input;
use crate::labels::{Labels, ModelAndLabels};
use crate::log;
use crate::output::{self, shown};
use crate::progress::{Reading, Tuning};
use crate::settings::TuneSettings;
use crate::stop;

/// Tune a model with a few labelled rows
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    given: ModelAndLabels,
    /// The model file to write
    #[arg(short, long, value_name = "MODEL2")]
    output: PathBuf,
    /// A validation table: other labelled rows, used for ensemble selection
    #[arg(long, value_name = "TABLE")]
    valid: Option<PathBuf>,
    #[command(flatten)]
    settings: TuneSettings,
}

const EXAMPLES: &str = "\
Labels may be in the table itself, beside unlabelled rows, or in a separate file: with --table and --id, the rows they name are looked
up in the table. Other columns of that file, such as comments, are ignored. If only anomalies are labelled, unlabelled rows stand in for normal ones.
To add labels later, tune the original model again with all labels so far.

Examples:
  diad tune model.diad labels.csv --label is_fraud -o tuned.diad
  diad tune model.diad labels.csv --table table.csv --id number -o tuned.diad
  diad tune model.diad labels.csv --label is_fraud -o tuned.diad --valid checked.csv
  diad tune model.diad labels.csv --label is_fraud -o tuned.diad --loss auc --margin 0";

/// Terms that the summary names.
const NAMED_CHANGES: usize = 5;
/// Fewer labelled anomalies than this are called few.
const FEW: usize = 15;

pub fn run(args: &Args) -> Result<()> {
    let learner = args.settings.learner()?;
    let mut inputs: Vec<&Path> = vec![&args.given.model, &args.given.file];
    inputs.extend(args.valid.as_deref());
    inputs.extend(args.given.labels.table.as_deref());
    let target = output::check(&args.output, &inputs)?;
    let started = Instant::now();
    let first = Detector::load(&args.given.model)?;
    let labelled = args.given.labels.read(&first, &args.given.file)?;
    let in_validation = |error: anyhow::Error, table: &Path| {
        if stop::is_stop(&error) {
            return error;
        }
        let said = format!("validation table {}: {error}", shown(table));
        error.context(said)
    };
    let validation = args.valid.as_deref().map(|table| {
        read_valid(&first, table, &args.given.labels).map_err(|error| in_validation(error, table))
    });
    let validation = validation.transpose()?;
    for oddity in labelled.oddities(validation.as_ref()) {
        log::warn(&oddity);
    }
    let tuned = {
        let tuning = Tuning::start();
        let mut observe = |progress| tuning.step(progress);
        let tuned = first.tuning(&labelled).learner(learner).validation(validation.as_ref());
        tuned.cross_validate().progress(&mut observe).run()?
    };
    if stop::requested() {
        return Err(diad::Error::Stopped.into());
    }
    tuned.detector.save(&target)?;
    output::tell(&summary(&first, &labelled, &tuned, started.elapsed().as_secs_f64(), &args.output)?)
}

/// The validation table has its labels in a column of its own.
fn read_valid(first: &Detector, table: &Path, labels: &Labels) -> Result<Labelled> {
    let _reading = Reading::start(&table.to_string_lossy());
    Ok(Labelled::read(first, &stop::stoppable(&Input::new(table)?), labels.column()?)?)
}

fn summary(
    first: &Detector,
    labelled: &Labelled,
    tuned: &Tuned,
    seconds: f64,
    target: &Path,
) -> Result<String> {
    let mut text = format!(
        "Learned from {} and {} in {seconds:.1} s; the model is in {}.\n",
        plural(labelled.anomalies(), "anomaly", "anomalies"),
        plural(labelled.normals(), "normal row", "normal rows"),
        shown(target),
    );
    if tuned.stand_ins > 0 {
        let rows = plural(tuned.stand_ins, "unlabelled row stood in", "unlabelled rows stood in");
        writeln!(text, "{rows} for normal ones.")?;
    }
    let mut row = |name: &str, [before, after]: [f64; 2]| {
        writeln!(text, "{name:<32} {before:.4} before, {after:.4} after")
    };
    if let Some(areas) = tuned.cross_validation {
        row("ROC-AUC, cross-validated", areas)?;
    }
    if let Some(areas) = tuned.validation {
        row("ROC-AUC, validation table", areas)?;
    }
    if tuned.cross_validation.is_none() {
        writeln!(text, "Cross-validation needs two labels of each kind.")?;
    }
    if labelled.anomalies() < FEW {
        writeln!(text, "With so few labels, anomalies of other kinds may now rank lower.")?;
    }
    let comparison = compare(&Explainer::new(first), &Explainer::new(&tuned.detector))?;
    if comparison.changes.iter().all(|change| change.size == 0.0) {
        writeln!(text, "Nothing changed: no step of the descent improved the ranking of held-out labels.")?;
        return Ok(text);
    }
    writeln!(text, "Changed most")?;
    let names = first.encoder().columns();
    for change in comparison.changes.iter().take(NAMED_CHANGES) {
        let columns: Vec<String> =
            change.columns.iter().map(|&column| printable(&names[column].name)).collect();
        writeln!(text, "  {:<30} {:.3}", columns.join(" and "), change.size)?;
    }
    Ok(text)
}
