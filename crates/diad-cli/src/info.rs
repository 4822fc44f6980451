//! `diad info`: what is in a model file.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Result;
use diad::Detector;
use diad::table::printable;

use crate::columns;
use crate::output::{self, shown};

/// Show what is in a model file
#[derive(clap::Args)]
#[command(after_help = "Example:\n  diad info model.diad")]
pub struct Args {
    /// The model file, from diad fit
    model: PathBuf,
}

pub fn run(args: &Args) -> Result<()> {
    let detector = Detector::load(&args.model)?;
    let bytes = std::fs::metadata(&args.model).map(|file| file.len());
    let columns = detector.encoder().columns();
    let mut text = shown(&args.model);
    if let Ok(bytes) = bytes {
        write!(text, ", {}", size(bytes))?;
    }
    writeln!(text, "\nidentity {}", detector.identity()?)?;
    writeln!(text, "trained on {} rows and {} columns", detector.training_rows(), columns.len())?;
    if let Some(origin) = detector.origin() {
        writeln!(
            text,
            "tuned with {} anomalies and {} normal rows\n  from model  {}\n  labels      {}",
            origin.anomalies, origin.normals, origin.model, origin.labels
        )?;
    }
    match detector.bound() {
        Some(bound) => writeln!(
            text,
            "scored by tables: within {bound:.1e} of the exact score, {:.1e} of its standard deviation over the training rows",
            bound / detector.score_deviation()
        )?,
        None => writeln!(text, "scored exactly")?,
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
    output::say(&text)
}

/// A file size in words.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
