//! Other methods on the same splits, run by a script.

use anyhow::{Context, Result};
use serde::Deserialize;

use super::Options;
use super::measure::{ANOMALIES, LabelRun};
use crate::environment;
use crate::python::{Worker, interpreter};
use crate::runs::Store;
use crate::sets::Set;

/// The methods of `python/few_labels.py`.
pub const METHODS: [&str; 5] =
    ["CatBoost", "CatBoost, no validation", "XGBoost", "logistic regression", "EBM"];

/// What the script answers.
#[derive(Debug, Deserialize)]
struct Answer {
    version: String,
    labelled: usize,
    auc: f64,
    ap: f64,
    seconds: f64,
}

/// Runs what the store does not have yet, and stores each run as it ends.
///
/// # Errors
/// If the script cannot be started, or the store cannot be written.
pub fn run_missing(
    sets: &[Set],
    splits: u64,
    methods: &[&str],
    options: &Options,
    store: &Store<LabelRun>,
) -> Result<()> {
    let done = store.load()?;
    let mut jobs = Vec::new();
    for split in 0..splits {
        for set in sets {
            for anomalies in ANOMALIES {
                for &method in methods {
                    if !done.iter().any(|run| run.is(method, set.name, split, anomalies)) {
                        jobs.push((split, *set, anomalies, method));
                    }
                }
            }
        }
    }
    if jobs.is_empty() {
        return Ok(());
    }
    let data = options.folders.data()?;
    let threads = options.settings.threads.unwrap_or_else(rayon::current_num_threads);
    let python = interpreter(options.python.as_deref())?;
    let mut worker = Worker::start(&python, "few_labels.py", &["--threads".into(), threads.to_string()])?;
    let (commit, cpu) = (environment::commit(), environment::machine());
    for (index, (split, set, anomalies, method)) in jobs.iter().enumerate() {
        let request = serde_json::json!({
            "method": method, "table": set.path(&data), "split": split, "anomalies": anomalies,
        });
        let answer = worker.ask(&request.to_string())?;
        if let Some(error) = answer.get("error") {
            eprintln!("{method} fails on {}, split {split}: {error}", set.name);
            continue;
        }
        let answer: Answer =
            serde_json::from_value(answer).context("few_labels.py gave an unknown answer")?;
        store.append(&LabelRun {
            method: method.to_string(),
            set: set.name.into(),
            split: *split,
            anomalies: *anomalies,
            labelled: answer.labelled,
            auc: answer.auc,
            ap: answer.ap,
            seconds: answer.seconds,
            settings: answer.version,
            commit: commit.clone(),
            cpu: cpu.clone(),
        })?;
        eprintln!(
            "{}/{} {}, split {split}, {anomalies} anomalies, {method}: AUC {:.2}",
            index + 1,
            jobs.len(),
            set.name,
            answer.auc
        );
    }
    Ok(())
}
