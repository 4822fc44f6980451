//! `diad explain`: explains the scores of rows.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Result, bail};
use diad::Detector;
use diad::calibrate::{Rarity, Threshold};
use diad::encode::Kind;
use diad::explain::{Contributions, Counterfactual, Explainer, Outside};
use diad::table::{Source as _, Table, printable};
use serde_json::{Value, json};

use crate::alerting;
use crate::args::{Format, ModelAndTable};
use crate::input::Input;
use crate::next::identifiers;
use crate::stop::stoppable;
use crate::{output, plots, rows, score, stop};

/// Explain the scores of rows
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    given: ModelAndTable,
    /// The rows to explain, separated by commas; the first row is 0
    #[arg(long, value_name = "ROWS", value_delimiter = ',', conflicts_with = "top")]
    rows: Vec<usize>,
    /// How many of the rows with the highest scores to explain
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// The column that names the rows, such as a transaction number
    #[arg(long, value_name = "COL")]
    id: Option<String>,
    #[command(flatten)]
    alerting: alerting::Alerting,
    /// How many terms to name for each row
    #[arg(long, value_name = "N", default_value_t = 5)]
    terms: usize,
    /// The score below which nothing has to change [default: that of the least alert, or without a rule of the least unusual row]
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true)]
    threshold: Option<f32>,
    /// How to print the explanations
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// A folder for plots of all terms as SVG files, with the first explained row marked in green
    #[cfg_attr(feature = "png", doc = "and with PNG copies")]
    #[cfg_attr(not(feature = "png"), doc = "(PNG copies: build with --features png)")]
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    /// With --plots: an earlier model of the same table, drawn in grey; the columns that changed most come first
    #[arg(long, value_name = "MODEL0", requires = "plots")]
    before: Option<PathBuf>,
    /// Explain the exact score instead of its tables; diad info shows how close they are
    #[arg(long)]
    exact: bool,
    /// Refuse a table with a cell that cannot be read, is infinite, or is missing in a column that had no gaps in training
    #[arg(long)]
    strict: bool,
}

const EXAMPLES: &str = "\
A score is the sum of a constant and one term for each column and each pair of columns.
The JSON format is described in docs/explanations.md.

Examples:
  diad explain model.diad table.csv --top 3
  diad explain model.diad table.csv --rows 3,17 --terms 8
  diad explain model.diad table.csv --id number --alert share=1% --top 5
  diad explain model.diad table.csv --top 100 --format json
  diad explain model.diad table.csv --rows 3 --plots figures
  diad explain tuned.diad table.csv --top 1 --plots figures --before model.diad";

/// The version of the JSON format.
const SCHEMA_VERSION: u32 = 2;

pub fn run(args: &Args) -> Result<()> {
    let detector = stop::at_once(|| score::load(&args.given.model, args.exact, args.strict))?;
    let before = args.before.as_deref().map(Detector::load).transpose()?;
    if args.threshold.is_some_and(|threshold| !threshold.is_finite()) {
        bail!("the threshold must be a number");
    }
    let asked = stop::at_once(|| asked(args, &detector))?;
    let Asked { numbers, table, alerts, .. } = &asked;
    let explainer = stop::at_once(|| Explainer::new(&detector));
    // A way out leads below the alerts, if there are some.
    let least = alerts.as_ref().map(|alerts| alerts.score).filter(|score| score.is_finite());
    let threshold = args.threshold.or(least).unwrap_or_else(|| explainer.ordinary());
    let explained = stop::at_once(|| explainer.contributions(table))?;
    let counterfactuals = stop::at_once(|| -> diad::Result<Vec<_>> {
        (0..numbers.len()).map(|row| explainer.counterfactuals(&values(table, row), threshold)).collect()
    })?;
    let told = Told { explainer: &explainer, asked: &asked, explained: &explained };
    let mut text = match args.format {
        Format::Text => told.text(args.terms, threshold, &counterfactuals),
        Format::Json => format!("{:#}\n", told.json(args.terms, threshold, &counterfactuals)),
    };
    if let Some(folder) = &args.plots {
        let marked = (!numbers.is_empty()).then(|| values(table, 0));
        let terms = plots::write(
            &explainer,
            before.as_ref().map(Explainer::new).as_ref(),
            marked.as_deref(),
            folder,
        )?;
        if let Format::Text = args.format {
            text.push_str(&format!("\nWrote plots of {terms} terms to {}.\n", output::shown(folder)));
        }
    }
    output::say(&text)
}

/// The rows to explain.
struct Asked {
    /// Their numbers in their file.
    numbers: Vec<usize>,
    table: Table,
    /// What they are called, if a column says so.
    names: Option<Vec<Option<String>>>,
    alerts: Option<Threshold>,
    /// Offers a column that would name them, or nothing.
    offered: String,
}

fn asked(args: &Args, detector: &Detector) -> Result<Asked> {
    let input = Input::new(&args.given.table)?;
    let version = input.version();
    let rule = args.alerting.rule(detector);
    let scores = match args.rows.is_empty() || rule.needs_all_scores() {
        true => Some(rows::score(detector, &input, None)?),
        false => None,
    };
    let alerts = match &scores {
        Some(scored) => rule.of_table(detector, &input, &scored.scores)?,
        None => rule.of_model(detector),
    };
    let numbers = match (&args.rows[..], &scores) {
        ([], Some(scored)) => scored.top(args.top),
        (rows, _) => rows.to_vec(),
    };
    let table = rows::pick(detector, &input, &numbers)?;
    let name = |id: &String| identifiers(&stoppable(&input), id, &numbers);
    let names = args.id.as_ref().map(name).transpose()?;
    let offered = alerting::offer(detector, &input, args.id.as_deref(), "names them by it")?;
    input.unchanged_since(version)?;
    Ok(Asked { numbers, table, names, alerts, offered })
}

fn values(table: &Table, row: usize) -> Vec<f64> {
    (0..table.names().len()).map(|column| table.column(column)[row]).collect()
}

/// Explained rows on their way to words.
struct Told<'a> {
    explainer: &'a Explainer<'a>,
    asked: &'a Asked,
    explained: &'a Contributions,
}

impl Told<'_> {
    fn name(&self, column: usize) -> String {
        printable(self.explainer.spoken(column))
    }

    fn text(&self, terms: usize, threshold: f32, counterfactuals: &[Vec<Counterfactual>]) -> String {
        let mut text = String::new();
        for (row, found) in counterfactuals.iter().enumerate() {
            if row > 0 {
                text.push('\n');
            }
            self.row(&mut text, row, terms);
            self.ways_out(&mut text, row, threshold, found);
        }
        if !self.asked.offered.is_empty() {
            let _ = writeln!(text, "\n{}", self.asked.offered.trim_start());
        }
        text
    }

    fn rarity(&self, row: usize) -> Rarity {
        Rarity::of_score(self.explainer.detector().calibration(), self.explained.scores()[row])
    }

    fn is_alert(&self, row: usize) -> Option<bool> {
        self.asked.alerts.as_ref().map(|alerts| alerts.is_alert(self.explained.scores()[row]))
    }

    fn row(&self, text: &mut String, row: usize, terms: usize) {
        let (score, number) = (self.explained.scores()[row], self.asked.numbers[row]);
        let name = self.asked.names.as_ref().map_or_else(String::new, |names| {
            format!(" ({})", printable(names[row].as_deref().unwrap_or("missing")))
        });
        let alert = match (self.is_alert(row), &self.asked.alerts) {
            (Some(true), Some(alerts)) => format!("; an alert ({})", alerts.rule),
            (Some(false), Some(alerts)) => format!("; no alert ({})", alerts.rule),
            _ => String::new(),
        };
        let _ =
            writeln!(text, "Row {number}{name}: score {score:.4}, {}{alert}", self.rarity(row).sentence());
        let sorted = self.explained.sorted(row);
        for &(term, contribution) in sorted.iter().take(terms) {
            let columns = self.explainer.terms()[term].columns();
            let values: Vec<f64> =
                columns.iter().map(|&column| self.asked.table.column(column)[row]).collect();
            let words = printable(&self.explainer.describe(term, &values));
            let _ = writeln!(text, "  {contribution:>+8.4}  {words}");
        }
        let rest: f64 = sorted.iter().skip(terms).map(|(_, contribution)| contribution).sum();
        match sorted.len().saturating_sub(terms) {
            0 => {}
            1 => _ = writeln!(text, "  {rest:>+8.4}  1 other term"),
            others => _ = writeln!(text, "  {rest:>+8.4}  {others} other terms"),
        }
        let _ = writeln!(text, "  {:>+8.4}  every row starts from this", self.explainer.intercept());
    }

    fn ways_out(&self, text: &mut String, row: usize, threshold: f32, found: &[Counterfactual]) {
        if self.explained.scores()[row] < threshold {
            return;
        }
        if found.is_empty() {
            let _ = writeln!(text, "  No change of one or two columns brings it below {threshold:.4}.");
        }
        for counterfactual in found {
            let changes: Vec<String> = counterfactual
                .replacements
                .iter()
                .map(|r| {
                    let (to, from) = self.explainer.replaced(r);
                    let instead =
                        from.map_or_else(String::new, |from| format!(" instead of {}", printable(&from)));
                    format!("{} were {}{instead}", self.name(r.column), printable(&to))
                })
                .collect();
            let [score, threshold] = apart(counterfactual.score, threshold);
            let changes = changes.join(" and ");
            let _ = writeln!(text, "  Its score would be {score}, below {threshold}, if {changes}.");
        }
    }

    fn json(&self, terms: usize, threshold: f32, counterfactuals: &[Vec<Counterfactual>]) -> Value {
        let rows: Vec<Value> = (0..self.asked.numbers.len())
            .map(|row| {
                let score = self.explained.scores()[row];
                let sorted = self.explained.sorted(row);
                let rest: f64 = sorted.iter().skip(terms).map(|(_, contribution)| contribution).sum();
                let rarity = self.rarity(row);
                json!({
                    "row": self.asked.numbers[row],
                    "id": self.asked.names.as_ref().and_then(|names| names[row].as_deref()),
                    "score": finite(f64::from(score)),
                    "percentile": finite(rarity.percentile),
                    "p_value": finite(rarity.p_value),
                    "severity": rarity.severity.name(),
                    "alert": self.is_alert(row),
                    "terms": sorted.iter().take(terms).map(|&term| self.json_term(row, term)).collect::<Vec<_>>(),
                    "rest": finite(rest),
                    "counterfactuals": counterfactuals[row].iter().map(|c| self.json_change(c)).collect::<Vec<_>>(),
                })
            })
            .collect();
        json!({
            "schema": "diad-explanations",
            "version": SCHEMA_VERSION,
            "training_rows": self.explainer.detector().training_rows(),
            "intercept": finite(self.explainer.intercept()),
            "threshold": finite(f64::from(threshold)),
            "rule": self.asked.alerts.as_ref().map(|alerts| alerts.rule.to_string()),
            "rows": rows,
        })
    }

    fn json_term(&self, row: usize, (term, contribution): (usize, f64)) -> Value {
        let names = self.explainer.detector().encoder().columns();
        let columns: Vec<Value> = self.explainer.terms()[term]
            .columns()
            .iter()
            .map(|&column| {
                let value = self.asked.table.column(column)[row];
                let standing = self.explainer.standing(column, value);
                let mut told = json!({
                    "name": names[column].name,
                    "value": self.json_value(column, value),
                    "below": finite(standing.below),
                    "up_to": finite(standing.up_to),
                    "outside": standing.outside.map(|side| match side {
                        Outside::Below => "below",
                        Outside::Above => "above",
                    }),
                });
                if let Some(oddity) = names[column].oddity(value) {
                    told["odd"] = oddity.word().into();
                }
                told
            })
            .collect();
        let values: Vec<f64> =
            self.explainer.terms()[term].columns().iter().map(|&c| self.asked.table.column(c)[row]).collect();
        json!({
            "columns": columns,
            "contribution": finite(contribution),
            "text": self.explainer.describe(term, &values),
        })
    }

    /// A number, the name of a category or a time as text, or null where the value is missing or does not fit.
    fn json_value(&self, column: usize, value: f64) -> Value {
        let column = &self.explainer.detector().encoder().columns()[column];
        match column.kind {
            _ if value.is_nan() => Value::Null,
            Kind::Number => finite(value),
            _ => Value::String(column.words(value)),
        }
    }

    fn json_change(&self, counterfactual: &Counterfactual) -> Value {
        let names = self.explainer.detector().encoder().columns();
        let changes: Vec<Value> = counterfactual
            .replacements
            .iter()
            .map(|r| {
                let [from, to] = [r.from, r.to].map(|value| self.json_value(r.column, value));
                json!({ "column": names[r.column].name, "from": from, "to": to })
            })
            .collect();
        json!({
            "changes": changes,
            "score": finite(f64::from(counterfactual.score)),
            "distance": finite(counterfactual.distance),
        })
    }
}

/// A number, or null for what JSON has no number for.
fn finite(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// Two scores with as many decimal places as tell them apart.
fn apart(a: f32, b: f32) -> [String; 2] {
    let with = |digits: usize| [a, b].map(|score| format!("{score:.digits$}"));
    (4..9).map(with).find(|[a, b]| a != b).unwrap_or_else(|| with(9))
}
