//! Which rows are alerts: the rule asked for, or that of the model, for the commands that tell of alerts.

use anyhow::Result;
use diad::calibrate::Threshold;
use diad::encode::Reason;
use diad::table::{Selection, Source as _, quoted};
use diad::{Alert, Detector};

use crate::input::Input;
use crate::log;
use crate::stop::stoppable;

/// Which rows are alerts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rule<'a> {
    pub alert: Option<Alert>,
    /// The column of times that a budget counts by.
    pub time: Option<&'a str>,
}

/// The rule on the command line.
#[derive(clap::Args)]
pub struct Alerting {
    /// Which rows are alerts: top=50, share=1%, p=0.001, fdr=10% or budget=20/day [default: the rule stored in the model]
    #[arg(long, value_name = "RULE")]
    alert: Option<Alert>,
    /// The column of times that a budget counts by [default: the model's, if it has one]
    #[arg(long, value_name = "COL")]
    time: Option<String>,
}

impl Alerting {
    /// The rule asked for, or that of the model.
    pub fn rule(&self, detector: &Detector) -> Rule<'_> {
        Rule { alert: self.alert.or(detector.alert()), time: self.time.as_deref() }
    }
}

impl<'a> Rule<'a> {
    /// That of the model.
    pub fn of(detector: &Detector) -> Self {
        Self { alert: detector.alert(), time: None }
    }

    /// Whether it needs the scores of a whole table.
    pub fn needs_all_scores(self) -> bool {
        self.alert.is_some_and(|rule| !rule.is_of_the_model())
    }

    /// The threshold if rows are judged one by one, and says what people should know of it.
    pub fn of_model(self, detector: &Detector) -> Option<Threshold> {
        let threshold = self.alert.and_then(|rule| Threshold::of_model(rule, detector.calibration()));
        tell_of(threshold.as_ref());
        threshold
    }

    /// The threshold for a table that has been scored, and says what people should know of it.
    pub fn of_table(self, detector: &Detector, table: &Input, scores: &[f32]) -> Result<Option<Threshold>> {
        let Some(rule) = self.alert else { return Ok(None) };
        let threshold = Threshold::of_table(rule, detector, scores, &stoppable(table), self.time)?;
        tell_of(Some(&threshold));
        Ok(Some(threshold))
    }
}

fn tell_of(threshold: Option<&Threshold>) {
    if let Some(note) = threshold.and_then(|threshold| threshold.note.as_ref()) {
        log::note(note);
    }
}

/// A column of a table that the model left out because it names the rows.
pub fn identifier(detector: &Detector, names: &[String]) -> Option<String> {
    let left_out = detector.encoder().left_out().iter();
    let mut named = left_out.filter(|column| column.reason == Reason::Identifier).map(|column| &column.name);
    named.find(|name| names.contains(name)).cloned()
}

/// Offers such a column where none was asked for: a sentence that says what `--id` would do, or nothing.
pub fn offer(detector: &Detector, table: &Input, id: Option<&str>, what: &str) -> Result<String> {
    if id.is_some() {
        return Ok(String::new());
    }
    let names = table.open(&Selection::all())?.names().to_vec();
    Ok(identifier(detector, &names).map_or_else(String::new, |name| offered(&name, what)))
}

/// The sentence that offers a column.
pub fn offered(name: &str, what: &str) -> String {
    format!(" Column {} names the rows: --id {what}.", quoted(name))
}
