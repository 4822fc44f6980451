//! `diad fit`: trains a model on a table.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use diad::encode::Encoder;
use diad::table::FileSource;
use diad::{Detector, Params};

use crate::output::{self, shown};
use crate::progress::{Reading, Training};
use crate::settings::Settings;
use crate::stop::Stoppable;

/// Train a model on a table, without labels
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The table: a CSV file with a header line, or a Parquet file
    table: PathBuf,
    /// The model file to write
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// A column with labels, which the training leaves out
    #[arg(long, value_name = "COL")]
    label: Option<String>,
    /// A column to leave out, such as a name or a number of a row; may be given more than once
    #[arg(long, value_name = "COL")]
    ignore: Vec<String>,
    #[command(flatten)]
    settings: Settings,
}

const EXAMPLES: &str = "\
Examples:
  diad fit table.csv -o model.diad
  diad fit table.parquet -o model.diad --label is_fraud --ignore id --ignore name
  diad fit table.csv -o model.diad --seed 1 --steps 4000";

pub fn run(args: Args) -> Result<()> {
    let params = Params::from(args.settings);
    params.validate()?;
    let target = output::check(&args.output, &[&args.table])?;
    let started = Instant::now();
    let left_out: Vec<&str> = args.label.iter().chain(&args.ignore).map(String::as_str).collect();
    let detector = train(&args.table, &left_out, &params).map_err(advise)?;
    detector.save(&target)?;
    output::say(&format!(
        "Trained on {} rows and {} features in {:.1} s; the model is in {}.\n",
        detector.training_rows(),
        detector.encoder().columns().len(),
        started.elapsed().as_secs_f64(),
        shown(&args.output),
    ))
}

/// Adds what only this command can say about an error.
fn advise(error: anyhow::Error) -> anyhow::Error {
    let advice = match error.downcast_ref::<diad::Error>() {
        Some(stopped @ diad::Error::Stopped) => format!("{stopped}; nothing was written"),
        Some(cause) => match cause.column() {
            Some("") => format!("{cause}, or leave it out with --ignore ''"),
            Some(column) => match output::typed(column) {
                Some(name) => format!("{cause}, or leave the column out with --ignore {name}"),
                None => format!("{cause}, or leave the column out with --ignore"),
            },
            None => return error,
        },
        None => return error,
    };
    error.context(advice)
}

/// Reads a table and trains on it.
pub fn train(table: &Path, left_out: &[&str], params: &Params) -> Result<Detector> {
    let (encoder, matrix) = {
        let _reading = Reading::start(&table.to_string_lossy());
        Encoder::fit_encode(&Stoppable(FileSource::new(table)), left_out, params.scale)?
    };
    let training = Training::start(params.steps);
    Ok(diad::fit(params, encoder, &matrix, &mut |progress| training.step(progress))?)
}
