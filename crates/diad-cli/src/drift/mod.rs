//! `diad drift`: what has changed since the training.

mod page;
mod text;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::ValueEnum;
use diad::calibrate::{Drift, Drifting};
use diad::explain::Explainer;
use diad::table::Source;

use crate::args::ModelAndTable;
use crate::columns;
use crate::input::Input;
use crate::output::{self, Pending, shown};
use crate::score;
use crate::stop::stoppable;

/// Show what has changed in the data since training, term by term
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    given: ModelAndTable,
    /// A column to group rows by, such as a month or a shop
    #[arg(long, value_name = "COL")]
    by: Option<String>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
    Html,
}

const EXAMPLES: &str = "\
Columns are compared by the distribution of their values, terms by what they add to scores. What the terms contribute adds up exactly to the
change of the mean score and of the share of rare rows (percentile 99 and above). A change is reported if it is large enough to matter and
unlikely to be chance: at most 5 % of the reported changes are expected to be false.

Examples:
  diad drift model.diad today.csv
  diad drift model.diad year.parquet --by month
  diad drift model.diad today.csv --format html -o drift.html";

pub fn run(args: &Args) -> Result<()> {
    let target = args
        .output
        .as_deref()
        .map(|path| output::check(path, &[&args.given.model, &args.given.table]))
        .transpose()?;
    let detector = score::load(&args.given.model, false, false)?;
    let explainer = Explainer::new(&detector);
    let input = Input::once(&args.given.table);
    let drift = measure(&explainer, &stoppable(&input), args.by.as_deref())?;
    let told = match args.format {
        Format::Text => text::text(&explainer, &drift),
        Format::Json => format!("{:#}\n", drift.json(&explainer)),
        Format::Html => page::page(&explainer, &drift, &shown(&args.given.model), &input.name()),
    };
    let Some(target) = target else { return output::say(&told) };
    let mut pending = Pending::new(&target)?;
    pending.file().write_all(told.as_bytes()).map_err(|error| pending.unwritable(error))?;
    pending.commit()?;
    output::tell(&format!(
        "Wrote what has changed to {}.\n",
        shown(args.output.as_deref().unwrap_or(Path::new("-")))
    ))
}

fn measure(explainer: &Explainer, table: &dyn Source, by: Option<&str>) -> Result<Drift> {
    let mut drifting = Drifting::new(explainer);
    let mut reader = table.open(&explainer.detector().selection().and_texts(by))?;
    columns::note_unused(explainer.detector().encoder(), reader.unread());
    while let Some(batch) = reader.next_batch()? {
        let groups = by.and_then(|by| batch.names().iter().position(|name| name == by)).map(|place| {
            (0..batch.rows()).map(|row| batch.values(place).cell(row)).collect::<Vec<Option<String>>>()
        });
        drifting.add(&batch, groups.as_deref())?;
    }
    Ok(drifting.finish())
}
