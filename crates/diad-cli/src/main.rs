//! The `diad` command: finds the unusual rows of a table.

use std::io;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use diad::table::{FORMATS, panic_is_caught};

mod alerting;
mod args;
mod columns;
mod demo;
mod drift;
mod edit;
mod eval;
mod explain;
mod export;
mod fit;
mod info;
mod input;
mod inspect;
mod labels;
mod log;
mod manual;
mod next;
mod output;
mod plots;
mod progress;
mod report;
mod rows;
mod score;
mod settings;
mod sheet;
mod stop;
mod tune;

/// Find the unusual rows of a table, with no labels or only a few.
#[derive(Parser)]
#[command(version, after_help = more_help())]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Threads to use [default: one per processor core]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Memory limit for reading tables, such as 500M or 2G [default: half of the machine's memory, at most 4G]
    #[arg(long, global = true, value_name = "SIZE", value_parser = size)]
    max_memory: Option<usize>,
    /// The sheet of a workbook to read [default: the first that holds a table]
    #[arg(long, global = true, value_name = "NAME")]
    sheet: Option<String>,
    /// Print progress to stderr; repeat for more detail
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    /// Format of the messages on stderr
    #[arg(long, global = true, value_enum, value_name = "FORMAT", default_value_t = log::Format::Text)]
    log_format: log::Format,
}

/// A number of bytes, such as 500M or 2G.
fn size(text: &str) -> Result<usize, String> {
    let upper = text.trim().to_ascii_uppercase();
    let digits = upper.trim_end_matches('B').trim_end_matches('I');
    let (digits, unit) = match digits.chars().last() {
        Some('K') => (&digits[..digits.len() - 1], 1 << 10),
        Some('M') => (&digits[..digits.len() - 1], 1 << 20),
        Some('G') => (&digits[..digits.len() - 1], 1 << 30),
        _ => (digits, 1),
    };
    let bytes = digits.parse::<usize>().ok().and_then(|count| count.checked_mul(unit));
    let enough = bytes.filter(|bytes| *bytes >= LEAST_MEMORY);
    enough.ok_or_else(|| "write a size such as 500M or 2G, of at least 64M".to_owned())
}

/// The least that --max-memory may be.
const LEAST_MEMORY: usize = 64 << 20;

/// Shown below the list of commands.
fn more_help() -> String {
    let formats: String = FORMATS.iter().map(|format| format!("\n  {format}")).collect();
    format!(
        "{EXAMPLES}\n\nTables can be{formats}\nThe format is detected from the content. A - stands for standard input.\n\n\
         {CONVENTIONS}"
    )
}

const EXAMPLES: &str = "\
Examples:
  diad demo
  diad inspect table.csv
  diad fit table.csv -o model.diad --ignore name
  diad score model.diad table.csv -o scores.csv
  diad explain model.diad table.csv --top 10
  diad report model.diad table.csv -o report.html
  diad drift model.diad new.csv
  diad eval model.diad table.csv --label is_fraud
  diad tune model.diad labels.csv --label is_fraud -o tuned.diad";

const CONVENTIONS: &str = "\
Results go to standard output, everything else to standard error. An error is reported as one
sentence that says what to do, and leaves no half-written file.

Exit codes:
  0    done
  2    an error in the arguments, the input or the output
  130  stopped by Ctrl-C";

#[derive(Subcommand)]
enum Command {
    Fit(Box<fit::Args>),
    Score(score::Args),
    Tune(Box<tune::Args>),
    Eval(eval::Args),
    Explain(explain::Args),
    Report(report::Args),
    Drift(drift::Args),
    Next(next::Args),
    Edit(edit::Args),
    Export(export::Args),
    Inspect(inspect::Args),
    Info(info::Args),
    Demo(demo::Args),
    Completions(manual::Completions),
    Man(manual::Manual),
}

/// The exit code of a user error.
const USER_ERROR: u8 = 2;
/// The exit code after Ctrl-C, as shells have it.
const STOPPED: u8 = 130;

fn main() -> ExitCode {
    silence_caught_panics();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return explain_usage(&error),
    };
    log::start(cli.verbose, cli.log_format);
    let Err(error) = run(cli) else { return ExitCode::SUCCESS };
    if error.chain().any(is_closed_pipe) {
        return ExitCode::SUCCESS;
    }
    log::complain(&output::sentence(&error));
    ExitCode::from(if stop::is_stop(&error) { STOPPED } else { USER_ERROR })
}

fn run(cli: Cli) -> Result<()> {
    stop::listen()?;
    if let Some(bytes) = cli.max_memory {
        diad::table::limit_memory(bytes);
    }
    if let Some(sheet) = cli.sheet {
        input::read_sheet(sheet);
    }
    if let Some(threads) = cli.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.into())
            .build_global()
            .context("cannot start the threads")?;
    }
    match cli.command {
        Command::Fit(args) => fit::run(*args),
        Command::Score(args) => score::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Drift(args) => drift::run(&args),
        Command::Next(args) => next::run(&args),
        Command::Edit(args) => edit::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Completions(args) => manual::complete(&args),
        Command::Man(args) => manual::run(&args),
    }
}

/// Prints help, or condenses clap's error to one sentence.
fn explain_usage(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
        }
        _ => {
            let text = error.render().to_string();
            let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
            let lines: Vec<&str> =
                lines.filter(|line| !line.is_empty() && !line.starts_with("For more information")).collect();
            let sentence = lines.join(" ").replace(" tip: ", "; ");
            log::complain(&format!("{}; try --help", sentence.trim_start_matches("error: ")));
        }
    }
    ExitCode::from(USER_ERROR)
}

/// The table reader turns panics of the Parquet library about damaged files into errors; the message of
/// such a panic would only confuse. Every other panic is shown.
fn silence_caught_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !panic_is_caught() {
            default(info);
        }
    }));
}

fn is_closed_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
