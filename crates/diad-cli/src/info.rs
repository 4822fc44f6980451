//! `diad info`: what is in a model file.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use diad::Detector;
use diad::table::{printable, quoted};
use serde_json::{Map, Value, json};

use crate::args::Format;
use crate::columns;
use crate::output::{self, shown};

/// Show what is in a model file
#[derive(clap::Args)]
#[command(after_help = "Example:\n  diad info model.diad")]
pub struct Args {
    /// The model file, from diad fit
    model: PathBuf,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub fn run(args: &Args) -> Result<()> {
    let detector = Detector::load(&args.model)?;
    let text = match args.format {
        Format::Text => text(&detector, &args.model)?,
        Format::Json => format!("{:#}\n", json(&detector)?),
    };
    output::say(&text)
}

fn json(detector: &Detector) -> Result<Value> {
    let parts =
        detector.part_shares().into_iter().map(|(part, share)| json!({ "part": part, "share": share }));
    let names = detector.encoder().columns().iter().map(|column| column.name.as_str());
    let settings = detector.params().listed().into_iter().map(|(name, value)| (name, value.into()));
    Ok(json!({
        "identity": detector.identity()?.to_string(),
        "rows": detector.training_rows(),
        "origin": detector.origin(),
        "bound": detector.bound(),
        "calibration": { "scores": detector.calibration().scores().len(), "unseen": detector.calibration().is_unseen() },
        "alert": detector.alert().map(|rule| rule.to_string()),
        "edits": detector.edits(),
        "parts": parts.collect::<Vec<_>>(),
        "settings": settings.collect::<Map<String, Value>>(),
        "columns": names.collect::<Vec<_>>(),
    }))
}

fn text(detector: &Detector, model: &Path) -> Result<String> {
    let bytes = std::fs::metadata(model).map(|file| file.len());
    let columns = detector.encoder().columns();
    let mut text = shown(model);
    if let Ok(bytes) = bytes {
        write!(text, ", {}", size(bytes))?;
    }
    writeln!(text, "\nidentity {}", detector.identity()?)?;
    writeln!(text, "trained on {} rows and {} columns", detector.training_rows(), columns.len())?;
    if let Some((column, count)) = detector.encoder().segments() {
        writeln!(text, "numbers count by what is usual for each of {count} values of {}", quoted(column))?;
    }
    if let Some(origin) = detector.origin() {
        writeln!(
            text,
            "tuned with {} anomalies and {} normal rows\n  from model  {}\n  labels      {}",
            origin.anomalies, origin.normals, origin.model, origin.labels
        )?;
    }
    let calibration = detector.calibration();
    let of = if calibration.is_unseen() { "rows held out" } else { "training rows" };
    writeln!(text, "calibrated by {} {of}", calibration.scores().len())?;
    if let Some(rule) = detector.alert() {
        writeln!(text, "alerts: {rule}")?;
    }
    for edit in detector.edits() {
        writeln!(text, "edited: {}", printable(edit))?;
    }
    match detector.bound() {
        Some(bound) => writeln!(
            text,
            "scored by tables: within {bound:.1e} of the exact score, {:.1e} of its standard deviation over the training rows",
            bound / detector.score_deviation()
        )?,
        None => writeln!(text, "scored exactly")?,
    }
    let shares = detector.part_shares();
    if !shares.is_empty() {
        writeln!(text, "\nParts                share of the score")?;
    }
    for (part, share) in shares {
        writeln!(text, "  {:<18} {:.1} %", printable(part), 100.0 * share)?;
    }
    writeln!(text, "\nSettings")?;
    for (name, value) in detector.params().listed() {
        writeln!(text, "  {name:<16} {value}")?;
    }
    writeln!(text, "\nColumns")?;
    text.push_str(&columns::listed(columns));
    if !detector.encoder().left_out().is_empty() {
        writeln!(text, "\nLeft out")?;
    }
    for column in detector.encoder().left_out() {
        writeln!(text, "  {}: {}", printable(&column.name), column.reason)?;
    }
    Ok(text)
}

/// A file size in words.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
