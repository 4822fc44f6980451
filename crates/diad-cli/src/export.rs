//! `diad export`: a model for other programs.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::ValueEnum;
use diad::Detector;
use diad::export::{Dialect, Plan, Statement};
use diad::table::Source;

use crate::input::Input;
use crate::output::{self, Pending, shown};
use crate::stop::stoppable;

/// Export a model for other programs, as SQL, ONNX or documented JSON
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The model file, from diad fit
    model: PathBuf,
    /// The format to write
    #[arg(long, value_enum, value_name = "FORM")]
    to: Form,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The dialect of SQL
    #[arg(long, value_name = "NAME", value_parser = dialect, required_if_eq("to", "sql"))]
    dialect: Option<Dialect>,
    /// SQL: the table that the statement reads
    #[arg(long, value_name = "NAME", default_value = "data")]
    table: String,
    /// SQL: the columns to write beside the score, separated by commas [default: those that the model looks at]
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    keep: Vec<String>,
    /// SQL: how many of the terms that contribute most to name for each row
    #[arg(long, value_name = "K", num_args = 0..=1, default_value_t = 0, default_missing_value = "2")]
    reasons: usize,
    /// ONNX: add a second output with what each term contributes
    #[arg(long)]
    explain: bool,
    /// A table whose first rows, up to 1,000, are stored in the file with their scores, to check the export with [default: a few made-up
    /// rows at the edges of the training data]
    #[arg(long, value_name = "TABLE")]
    check: Option<PathBuf>,
}

/// What a model is written as.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Form {
    /// All functions as data
    Json,
    /// One statement
    Sql,
    /// A graph of operators
    Onnx,
}

fn dialect(name: &str) -> Result<Dialect, String> {
    let known = Dialect::ALL.into_iter().find(|dialect| dialect.name() == name);
    known.ok_or_else(|| format!("the dialects are {}", Dialect::ALL.map(Dialect::name).join(", ")))
}

const EXAMPLES: &str = "\
Scores are within 0.00001 of those of diad score --exact, relative to the score or to 1. docs/exports.md describes each format.

Examples:
  diad export model.diad --to json -o model.json
  diad export model.diad --to sql --dialect duckdb --table sales --keep id --reasons 2 -o score.sql";

pub fn run(args: &Args) -> Result<()> {
    let inputs: Vec<&std::path::Path> =
        [Some(&args.model), args.check.as_ref()].into_iter().flatten().map(PathBuf::as_path).collect();
    let target = output::check(&args.output, &inputs)?;
    let detector = Detector::load(&args.model)?;
    let table = args.check.as_deref().map(Input::new).transpose()?;
    let table = table.as_ref().map(|table| stoppable(table));
    let plan = Plan::new(&detector, detector.identity()?, table.as_ref().map(|table| table as &dyn Source))?;
    let bytes = match args.to {
        Form::Json => plan.to_json()?.into_bytes(),
        Form::Sql => {
            let dialect = args.dialect.context("--to sql needs a --dialect")?;
            plan.to_sql(&Statement::new(dialect, &args.table).keep(&args.keep).reasons(args.reasons))?
                .into_bytes()
        }
        Form::Onnx => plan.to_onnx(args.explain)?,
    };
    let mut file = Pending::new(&target)?;
    let written = file.file().write_all(&bytes);
    written.map_err(|error| file.unwritable(error))?;
    file.commit()?;
    output::tell(&format!("The score of {} is in {}.\n", shown(&args.model), shown(&args.output)))
}
