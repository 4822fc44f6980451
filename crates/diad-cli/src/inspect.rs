//! `diad inspect`: how the columns of a table are interpreted.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Result;
use diad::encode::{Reason, Survey, Surveyed};
use diad::table::{DateOrder, ReadAs, Remark, Stray, TimePart, formats, printable, quoted};

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
    #[arg(help = format!("The table: {}; - for standard input", formats()))]
    table: PathBuf,
    #[command(flatten)]
    columns: ColumnRoles,
    /// The column of segments that the table is to be fitted by
    #[arg(long, value_name = "COL")]
    by: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  diad inspect table.csv
  diad inspect table.csv.gz --categorical zip_code
  zcat table.csv.gz | diad inspect -
  diad inspect sensors.csv --by machine";

pub fn run(args: &Args) -> Result<()> {
    let input = Input::new(&args.table)?;
    let roles = args.columns.roles(None);
    let roles = args.by.iter().fold(roles, |roles, by| roles.categorical(by));
    let survey = {
        let _reading = Reading::start(&input.name());
        Survey::of_any(&stoppable(&input), &roles)?
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
        if args.by.as_ref() == Some(&column.name) {
            writeln!(text, "  {name:<width$}  {}", segments(column, survey.rows()))?;
            continue;
        }
        writeln!(text, "  {name:<width$}  {}", described(column, survey.rows()))?;
        for line in details(column) {
            writeln!(text, "  {:<width$}    {line}", "")?;
        }
    }
    if !survey.said().is_empty() {
        text.push('\n');
        survey.said().iter().try_for_each(|note| writeln!(text, "  Note: {note}."))?;
    }
    output::say(&text)
}

/// What was and was not understood of a column's text, what becomes of it, and how to change that.
fn details(column: &Surveyed) -> Vec<String> {
    const SHOWN: usize = 4;
    let mut lines = Vec::new();
    let understood = &column.understood;
    let option = |option: &str| match output::typed(&column.name) {
        Some(name) => format!("{option} {name}"),
        None => option.to_owned(),
    };
    if column.unnamed {
        lines.push("it has no name in the table".to_owned());
    }
    for remark in &understood.remarks {
        lines.extend(match (remark, &understood.notation.unit) {
            (Remark::Unit, Some([_, unit])) => Some(format!("numbers with the unit {}", printable(unit))),
            _ => said(*remark, understood.notation.decimal_comma, &option),
        });
    }
    if understood.stray_rows > 0 {
        let kind = if understood.read_as == ReadAs::Times { "times" } else { "numbers" };
        let one = |stray: &Stray| {
            format!(
                "{} ({}, {})",
                quoted(&stray.text),
                plural(stray.rows as usize, "row", "rows"),
                stray.place
            )
        };
        let mut shown: Vec<String> = understood.strays.iter().take(SHOWN).map(one).collect();
        if understood.strays.len() > SHOWN {
            shown.push("…".into());
        }
        let cells = plural(understood.stray_rows as usize, "cell", "cells");
        let shown = if shown.is_empty() { String::new() } else { format!(": {}", shown.join(", ")) };
        lines.push(format!("{cells} not understood as {kind}, treated as missing{shown}"));
        lines.push(format!("to take all cells as categories: {}", option("--categorical")));
    }
    if let Some((rows, place)) = column.infinite {
        let rows = plural(rows as usize, "infinite number", "infinite numbers");
        let first = place.map_or_else(String::new, |place| format!(", first in {place}"));
        lines.push(format!("{rows}{first}, treated as missing"));
    }
    if matches!(column.left_out, Some(Reason::Identifier | Reason::TooManyTexts | Reason::OneTime)) {
        lines.push(format!("to keep it: {} or {}", option("--numeric"), option("--categorical")));
    }
    lines
}

fn said(remark: Remark, comma: bool, option: &dyn Fn(&str) -> String) -> Option<String> {
    Some(match remark {
        Remark::Digits => {
            format!("digits with zeros before them, or very many, are codes; to take them as numbers: {}", option("--numeric"))
        }
        Remark::Codes => format!(
            "numbers beside codes with letters are codes; to take them as numbers and the rest as missing: {}",
            option("--numeric")
        ),
        Remark::DecimalComma => "the decimal mark is a comma".into(),
        Remark::EitherNumber if comma => "numbers such as 1.234 and 1,234 are read as 1234 and 1.234".into(),
        Remark::EitherNumber => "numbers such as 1,234 are read as 1234".into(),
        Remark::Currency => "amounts with the sign of a currency".into(),
        Remark::Percent => "per cent, as shares of one".into(),
        Remark::Multiples => "k, M and B behind numbers are thousands, millions and thousand millions".into(),
        Remark::EightDigits => {
            format!("dates of eight digits, such as 20150803; to take them as numbers: {}", option("--numeric"))
        }
        Remark::Order(DateOrder::Dmy) => "dates with the day first".into(),
        Remark::Order(DateOrder::Mdy) => "dates with the month first".into(),
        Remark::EitherDate(DateOrder::Dmy) => {
            "every date could have the day or the month first; the day is taken to be: change it with --dates mdy".into()
        }
        Remark::EitherDate(DateOrder::Mdy) => {
            "every date could have the day or the month first; the month is taken to be: change it with --dates dmy".into()
        }
        Remark::Zone => "times with a zone, in UTC".into(),
        Remark::Truths => "truth values".into(),
        Remark::Clock => {
            format!("a number of seconds to the model; to take them as categories: {}", option("--categorical"))
        }
        _ => return None,
    })
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
        _ if column.understood.notation.clock.is_some() => format!(
            "times of day or durations, {} to {}",
            column.in_words(column.min),
            column.in_words(column.max)
        ),
        _ if column.min == column.max => format!("numbers, always {}", number(column.min)),
        _ => format!("numbers, {} to {}", number(column.min), number(column.max)),
    };
    if column.missing > 0 {
        let share = column.missing as f64 / rows as f64 * 100.0;
        let rows = plural(column.missing as usize, "row", "rows");
        let _ = write!(text, "; missing in {rows} ({share:.1} %)");
    }
    if let Some(reason) = column.left_out {
        let _ = write!(text, "; left out, because {reason}");
    }
    text
}

/// The segments that a column names.
fn segments(column: &Surveyed, rows: u64) -> String {
    let (different, missing) = (column.texts.len(), column.missing);
    let mut text = match different {
        0 | 1 => "fewer than two segments; diad fit refuses it with --by".to_owned(),
        _ if different as f64 * 10.0 >= (rows - missing) as f64 * 9.0 => {
            "another value in nearly every row; diad fit refuses it with --by".to_owned()
        }
        _ => texts(column).replacen("categories", "segments", 1),
    };
    if missing > 0 {
        let _ = write!(text, "; missing in {}", plural(missing as usize, "row", "rows"));
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
