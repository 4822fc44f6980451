//! Which alerts belong together, in words.

use std::fmt::Write;

use anyhow::Result;
use diad::Detector;
use diad::calibrate::groups;
use diad::explain::Explainer;
use diad::table::printable;

use super::Done;
use crate::columns::plural;
use crate::input::Input;
use crate::next::identifiers;
use crate::stop::stoppable;

/// Most alerts that are grouped, and most groups that are listed.
const MOST_ALERTS: usize = 100_000;
const LISTED: usize = 20;

pub fn told(detector: &Detector, table: &Input, done: &Done, id: Option<&str>) -> Result<String> {
    let alerts = &done.alerts[..done.alerts.len().min(MOST_ALERTS)];
    if alerts.is_empty() {
        return Ok("There are no alerts to group.\n".into());
    }
    let picked = detector.pick(&stoppable(table), alerts)?;
    let explainer = Explainer::new(detector);
    let found = groups(&explainer, &picked)?;
    let exemplars: Vec<usize> = found.iter().take(LISTED).map(|group| alerts[group.exemplar()]).collect();
    let names: Vec<String> = match id {
        Some(id) => {
            let names = identifiers(&stoppable(table), id, &exemplars)?;
            names.iter().map(|name| printable(name.as_deref().unwrap_or("missing"))).collect()
        }
        None => exemplars.iter().map(|row| format!("row {row}")).collect(),
    };
    let mut text = format!(
        "\n{} in {}\n",
        plural(alerts.len(), "alert", "alerts"),
        plural(found.len(), "group", "groups")
    );
    for (group, name) in found.iter().zip(&names) {
        let count = plural(group.count(), "alert", "alerts");
        writeln!(text, "  {count:>12}  {}  (highest: {name}, score {:.2})", group.sentence, group.highest)?;
    }
    if found.len() > LISTED {
        writeln!(text, "  and {} more", plural(found.len() - LISTED, "group", "groups"))?;
    }
    Ok(text)
}
