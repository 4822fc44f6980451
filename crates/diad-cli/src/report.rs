//! `diad report`: a model, its terms and the most anomalous rows in one HTML file.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use diad::Detector;
use diad::explain::Explainer;
use diad::table::{Selection, Source as _};
use diad_report::{Report, Rows, ordinary_rows};

use crate::alerting::{self, Rule};
use crate::args::ModelAndTable;
use crate::input::Input;
use crate::output::{self, Pending, shown};
use crate::{rows, score, stop};

/// Write an HTML report of what the model looks at and why rows are unusual
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    given: ModelAndTable,
    /// The HTML file to write
    #[arg(short, long, value_name = "HTML")]
    output: PathBuf,
    /// A column with labels: 1 for an anomaly and 0 for a normal row, or true/false, or yes/no
    #[arg(long, value_name = "COL")]
    label: Option<String>,
    /// The column that identifies rows: shown first, searched, and written to the labels that the report saves
    #[arg(long, value_name = "COL")]
    id: Option<String>,
    #[command(flatten)]
    alerting: alerting::Alerting,
    /// Columns to show as they are in the table, even if the model does not use them: names separated by commas, or all
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    keep: Vec<String>,
    /// An earlier model of the same table to compare with
    #[arg(long, value_name = "MODEL0")]
    before: Option<PathBuf>,
    /// How many of the rows with the highest scores to list
    #[arg(long, value_name = "N", default_value_t = LISTED)]
    top: usize,
    /// Report the exact score instead of its tables; diad info shows how close they are
    #[arg(long)]
    exact: bool,
    /// Refuse a table with a cell that cannot be read, is infinite, or is missing in a column that had no gaps in training
    #[arg(long)]
    strict: bool,
}

const EXAMPLES: &str = "\
The report is a single file that opens in any browser, without a network. It contains the values of the listed rows,
including the kept columns, and of some ordinary rows for comparison.
In the report, rows can be marked as anomalies or as ordinary, and the marks saved as labels.

Examples:
  diad report model.diad table.csv -o report.html
  diad report model.diad table.csv --id order --keep name,date -o report.html
  diad report model.diad table.csv --id order --alert share=1% -o report.html
  diad report model.diad table.csv --id order --keep all --label is_fraud -o report.html
  diad report tuned.diad table.csv --before model.diad -o report.html";

/// Rows listed.
pub const LISTED: usize = 1000;

pub fn run(args: &Args) -> Result<()> {
    let mut inputs: Vec<&Path> = vec![&args.given.model, &args.given.table];
    inputs.extend(args.before.as_deref());
    let target = output::check(&args.output, &inputs)?;
    let load = |model: &Path| stop::at_once(|| score::load(model, args.exact, args.strict));
    let detector = load(&args.given.model)?;
    let before = args.before.as_deref().map(load).transpose()?;
    let given = Given {
        model: &args.given.model,
        table: &args.given.table,
        label: args.label.as_deref(),
        id: args.id.as_deref(),
        rule: args.alerting.rule(&detector),
        keep: &args.keep,
        before: before.as_ref(),
        top: args.top,
    };
    let offered = write(&detector, &given, &target)?;
    output::tell(&format!("Wrote the report to {}.{offered}\n", shown(&args.output)))
}

/// What a report is about.
pub struct Given<'a> {
    pub model: &'a Path,
    pub table: &'a Path,
    pub label: Option<&'a str>,
    /// The column that identifies rows.
    pub id: Option<&'a str>,
    /// Which rows are alerts.
    pub rule: Rule<'a>,
    /// Further columns to show as they are written, or `all`.
    pub keep: &'a [String],
    pub before: Option<&'a Detector>,
    pub top: usize,
}

/// Writes the report of a model and a table. Gives a sentence that offers a column of identifiers, if there is one to offer.
pub fn write(detector: &Detector, given: &Given, target: &Path) -> Result<String> {
    let explainer = stop::at_once(|| Explainer::new(detector));
    let before = stop::at_once(|| given.before.map(Explainer::new));
    let input = Input::new(given.table)?;
    let version = input.version();
    let kept = kept_names(&input, given)?;
    let scored = stop::at_once(|| rows::score(detector, &input, given.label))?;
    let alerts = given.rule.of_table(detector, &input, &scored.scores)?;
    let offered = alerting::offer(detector, &input, given.id, "shows it first")?;
    let mut numbers = scored.top(given.top);
    let listed = numbers.len();
    numbers.extend(ordinary_rows(&scored.scores, detector.encoder().columns().len()));
    let table = stop::at_once(|| rows::pick(detector, &input, &numbers))?;
    let kept = stop::at_once(|| rows::as_written(&input, &kept, &numbers))?;
    input.unchanged_since(version)?;
    let name = |path: &Path| path.file_name().map_or(String::new(), |name| shown(Path::new(name)));
    let report = Report {
        explainer: &explainer,
        before: before.as_ref(),
        model_name: name(given.model),
        table_name: name(given.table),
        settings: detector.params().listed(),
        scores: &scored.scores,
        labels: scored.labels.as_deref(),
        threshold: alerts.as_ref().map(|alerts| alerts.score).filter(|score| score.is_finite()),
        rule: alerts.as_ref().map(|alerts| alerts.rule.to_string()),
        rows: Rows { numbers: &numbers, table: &table, kept: &kept },
        listed,
        identifier: given.id.map(str::to_owned),
    };
    let html = stop::at_once(|| report.html())?;
    let mut pending = Pending::new(target)?;
    pending.file().write_all(html.as_bytes()).map_err(|error| pending.unwritable(error))?;
    pending.commit()?;
    Ok(offered)
}

/// The columns to show as they are written, the one that identifies rows first.
fn kept_names(input: &Input, given: &Given) -> Result<Vec<String>> {
    let mut names: Vec<String> = given.id.map(str::to_owned).into_iter().collect();
    if given.keep == ["all"] {
        names.extend(input.open(&Selection::all())?.names().iter().cloned());
    } else {
        names.extend(given.keep.iter().cloned());
    }
    // Labels have a column of their own.
    names.retain(|name| Some(name.as_str()) != given.label);
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    Ok(names)
}
