//! `diad fit`: trains a model on a table.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use diad::encode::Roles;
use diad::table::formats;
use diad::{Checkpoints, Detector, Naming, Params, Progress};

use crate::args::ColumnRoles;
use crate::columns;
use crate::input::Input;
use crate::log;
use crate::output::{self, shown};
use crate::progress::{Reading, Training};
use crate::settings::FitSettings;
use crate::stop::stoppable;

/// Train a model on a table, without labels
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[arg(help = format!("The table: {}; - for standard input", formats()))]
    table: PathBuf,
    /// The model file to write
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// A column with labels, kept out of the training
    #[arg(long, value_name = "COL")]
    label: Option<String>,
    #[command(flatten)]
    columns: ColumnRoles,
    /// A column of segments, such as machines or shops: numbers count by what is usual in theirs
    #[arg(long, value_name = "COL")]
    by: Option<String>,
    /// A folder for checkpoints; after an interruption, the same command resumes from there
    #[arg(long, value_name = "DIR")]
    checkpoint: Option<PathBuf>,
    /// Seconds between checkpoints; 0 writes one after every step
    #[arg(long, value_name = "SECONDS", default_value_t = 5, requires = "checkpoint")]
    checkpoint_every: u64,
    #[command(flatten)]
    settings: FitSettings,
}

const EXAMPLES: &str = "\
Examples:
  diad fit table.csv -o model.diad
  diad fit table.parquet -o model.diad --label is_fraud --ignore id --ignore name
  diad fit table.csv.gz -o model.diad --categorical zip_code --numeric amount
  zcat table.csv.gz | diad fit - -o model.diad
  diad fit sensors.csv -o model.diad --by machine
  diad fit table.csv -o model.diad --seed 1 --steps 4000
  diad fit huge.parquet -o model.diad --checkpoint progress

Columns of text become categories, dates become month, weekday, hour and place in time, and missing values count as
a value of their own. Columns that seem to identify rows are left out, with a note. diad inspect shows how each column is read.

With --by, every segment has a baseline of its own, and what is known of a small one leans on all others. Columns are then called
temperature for its machine: a number becomes what is as unusual among all segments as the number is in its own.

With --checkpoint, an interrupted fit resumes when the same command is run again, and ends with the same model, bit for bit.
The checkpoint is removed once the model is written. A checkpoint of another fit is refused.";

pub fn run(args: Args) -> Result<()> {
    let params = args.settings.params()?;
    let target = output::check(&args.output, &[&args.table])?;
    let started = Instant::now();
    let input = Input::new(&args.table)?;
    let roles = args.columns.roles(args.label.as_deref());
    let roles = args.by.iter().fold(roles, |roles, by| roles.by(by));
    let every = Duration::from_secs(args.checkpoint_every);
    let mut checkpoints = match &args.checkpoint {
        Some(folder) => Some(Checkpoints::new(folder)?.every(every)),
        None => None,
    };
    let detector = train_keeping(&input, &roles, &params, checkpoints.as_mut())
        .map_err(|error| advise(error, checkpoints.is_some()))?;
    detector.save(&target)?;
    tracing::info!(model = shown(&args.output), "wrote the model");
    if let Some(checkpoints) = checkpoints {
        checkpoints.finish();
    }
    columns::warn_of_left_out(detector.encoder().left_out());
    output::tell(&format!(
        "Trained on {} rows and {} in {:.1} s; the model is in {}.\n",
        detector.training_rows(),
        columns::plural(detector.encoder().columns().len(), "feature", "features"),
        started.elapsed().as_secs_f64(),
        shown(&args.output),
    ))
}

/// Adds what only this command knows about an error.
fn advise(error: anyhow::Error, kept: bool) -> anyhow::Error {
    let Some(cause) = error.downcast_ref::<diad::Error>() else { return error };
    let said = cause.message(Naming::Options);
    let advice = match cause {
        diad::Error::Stopped if kept => format!("{said}; run the same command again to resume"),
        diad::Error::Stopped => format!("{said}; nothing was written"),
        _ => match cause.column() {
            Some("") => format!("{said}, or leave it out with --ignore ''"),
            Some(column) => match output::typed(column) {
                Some(name) => format!("{said}, or leave the column out with --ignore {name}"),
                None => format!("{said}, or leave the column out with --ignore"),
            },
            None => return error,
        },
    };
    error.context(advice)
}

/// Reads a table and trains on it.
pub fn train(input: &Input, roles: &Roles, params: &Params) -> Result<Detector> {
    train_keeping(input, roles, params, None)
}

fn train_keeping(
    input: &Input,
    roles: &Roles,
    params: &Params,
    checkpoints: Option<&mut Checkpoints>,
) -> Result<Detector> {
    let mut training = None;
    let mut observe = |progress: Progress| {
        if training.is_none() && progress.step > 1 {
            let (done, steps) = (progress.step - 1, progress.steps);
            log::note(&format!("resuming after step {done} of {steps}"));
        }
        training.get_or_insert_with(|| Training::start(progress.steps)).step(progress)
    };
    let source = stoppable(input);
    let mut fitting = params.fitting(&source).roles(roles.clone()).progress(&mut observe);
    if let Some(checkpoints) = checkpoints {
        fitting = fitting.checkpoints(checkpoints);
    }
    let read = {
        let _reading = Reading::start(&input.name());
        fitting.read()?
    };
    read.notes().iter().for_each(|note| log::note(note));
    Ok(read.run()?)
}
