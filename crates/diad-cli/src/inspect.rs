//! `diad inspect`: how the columns of a table are interpreted.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Result;
use diad::encode::{Survey, Surveyed};
use diad::table::{FORMATS, ReadAs, TimePart, printable};

use crate::args::ColumnRoles;
use crate::columns::{number, plural};
use crate::input::Input;
use crate::output;
use crate::progress::Reading;
use crate::stop::stoppable;

/// Show how each column of a table is interpreted
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[arg(help = format!("The table: {FORMATS}; - for standard input"))]
    table: PathBuf,
    #[command(flatten)]
    columns: ColumnRoles,
}

const EXAMPLES: &str = "\
Examples:
  diad inspect table.csv
  diad inspect table.csv.gz --categorical zip_code
  zcat table.csv.gz | diad inspect -";

pub fn run(args: &Args) -> Result<()> {
    let input = Input::new(&args.table)?;
    let roles = args.columns.roles(None);
    let survey = {
        let _reading = Reading::start(&input.name());
        Survey::of(&stoppable(&input), &roles)?
    };
    let columns = survey.columns();
    let mut text = format!(
        "{}: {} and {}\n\n",
        input.name(),
        plural(survey.rows() as usize, "row", "rows"),
        plural(columns.len(), "column", "columns")
    );
    let names: Vec<String> = columns.iter().map(|column| printable(&column.name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(40);
    for (name, column) in names.iter().zip(columns) {
        writeln!(text, "  {name:<width$}  {}", described(column, survey.rows()))?;
    }
    output::say(&text)
}

fn described(column: &Surveyed, rows: u64) -> String {
    let held = rows - column.missing;
    let mut text = match column.read_as {
        _ if held == 0 => "no values".to_owned(),
        ReadAs::Texts => texts(column),
        ReadAs::Times => {
            let parts = TimePart::ALL.map(TimePart::name).join(", ");
            format!(
                "times, {} to {}, of which {parts}",
                column.in_words(column.min),
                column.in_words(column.max)
            )
        }
        _ if column.min == column.max => format!("numbers, always {}", number(column.min)),
        _ => format!("numbers, {} to {}", number(column.min), number(column.max)),
    };
    if column.missing > 0 {
        let share = column.missing as f64 / rows as f64 * 100.0;
        let _ = write!(text, "; missing in {} rows ({share:.1} %)", column.missing);
    }
    if let Some(reason) = column.left_out {
        let _ = write!(text, "; left out, because {reason}");
    }
    text
}

fn texts(column: &Surveyed) -> String {
    const SHOWN: usize = 5;
    let different = column.texts.len();
    let shown: Vec<String> =
        column.texts.iter().take(SHOWN).map(|(text, _)| printable(&shortened(text))).collect();
    let mut text = match different {
        1 => format!("categories, always {}", shown.join(", ")),
        _ => format!("{different} categories: {}", shown.join(", ")),
    };
    if different > SHOWN {
        let _ = write!(text, ", and {} more", different - SHOWN);
    }
    if column.uncounted > 0 {
        let _ = write!(text, "; {} rows of further ones", column.uncounted);
    }
    text
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 30;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}
