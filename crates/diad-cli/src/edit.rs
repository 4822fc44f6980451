//! `diad edit`: changes what one column adds to the score, or which rows are alerts.

use std::path::PathBuf;

use anyhow::{Result, bail};
use diad::{Alert, Detector, Edit};

use crate::output::{self, shown};

/// Change how a single column contributes to the score, or store which rows are alerts
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The model file, from diad fit
    model: PathBuf,
    /// A category that must not raise a score, such as Memo=gift; may be given more than once
    #[arg(long, value_name = "COL=VALUE")]
    mute: Vec<String>,
    /// The most that a column may add to a score, such as amount=3; may be given more than once
    #[arg(long, value_name = "COL=NUMBER")]
    cap: Vec<String>,
    /// A column that must add the same to every score; may be given more than once
    #[arg(long, value_name = "COL")]
    flat: Vec<String>,
    /// A column whose contribution must never fall (=up) or never rise (=down) as its value grows; may be given more than once
    #[arg(long, value_name = "COL=up|down")]
    monotone: Vec<String>,
    /// Take back an edit, as diad info lists it, or all of them; may be given more than once
    #[arg(long, value_name = "EDIT")]
    undo: Vec<String>,
    /// Store which rows are alerts: top=50, share=1%, p=0.001, fdr=10%, budget=20/day, or none
    #[arg(long, value_name = "RULE")]
    alert: Option<String>,
    /// The model file to write
    #[arg(short, long, value_name = "MODEL2")]
    output: PathBuf,
}

const EXAMPLES: &str = "\
An edit changes what a column contributes on its own, not what it contributes together with another column. The score is still the
exact sum of its terms. diad info lists the edits of a model, and --undo takes one back. P-values still refer to the fit: edits that
lower scores make them larger, never smaller.

Examples:
  diad edit model.diad --mute Memo=gift -o quiet.diad
  diad edit model.diad --cap amount=3 --monotone amount=up -o new.diad
  diad edit new.diad --undo 'cap amount=3' -o back.diad
  diad edit model.diad --alert share=1% -o model2.diad";

pub fn run(args: &Args) -> Result<()> {
    let target = output::check(&args.output, &[&args.model])?;
    let detector = Detector::load(&args.model)?;
    let mut edits: Vec<String> = detector.edits().to_vec();
    for undone in &args.undo {
        let before = edits.len();
        edits.retain(|edit| undone != "all" && edit != undone);
        if edits.len() == before && undone != "all" {
            bail!("the model has no edit {undone}; diad info lists those it has");
        }
    }
    let given =
        [("mute", &args.mute), ("cap", &args.cap), ("flat", &args.flat), ("monotone", &args.monotone)];
    edits
        .extend(given.into_iter().flat_map(|(kind, all)| all.iter().map(move |one| format!("{kind} {one}"))));
    let parsed = edits
        .iter()
        .map(|edit| edit.parse::<Edit>().map_err(anyhow::Error::msg))
        .collect::<Result<Vec<_>>>()?;
    let alert = match args.alert.as_deref() {
        None => detector.alert(),
        Some("none") => None,
        Some(rule) => Some(rule.parse::<Alert>().map_err(anyhow::Error::msg)?),
    };
    if edits == detector.edits() && alert == detector.alert() {
        bail!("there is nothing to change; give --mute, --cap, --flat, --monotone, --undo or --alert");
    }
    let edited = if edits == detector.edits() { detector } else { detector.edited(&parsed)? };
    edited.alerting(alert).save(&target)?;
    let listed = if edits.is_empty() { "no edits".to_owned() } else { edits.join("; ") };
    let rule = alert.map_or_else(String::new, |rule| format!("; alerts: {rule}"));
    output::tell(&format!("The model in {} has {listed}{rule}.\n", shown(&args.output)))
}
