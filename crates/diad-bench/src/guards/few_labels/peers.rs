//! Other methods on the same splits, run by a script.

use anyhow::Result;
use serde::Deserialize;

use super::Case;
use super::measure::LabelRun;
use crate::environment;
use crate::python::Worker;
use crate::study::Bench;

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

/// Runs a method; nothing where it fails.
///
/// # Errors
/// If the script cannot be started or has ended.
pub fn measure(
    case: &Case,
    method: &str,
    bench: &Bench,
    worker: &mut Option<Worker>,
) -> Result<Option<LabelRun>> {
    let worker = match worker {
        Some(worker) => worker,
        none => {
            let threads = rayon::current_num_threads().to_string();
            none.insert(Worker::start(&bench.python()?, "few_labels.py", &["--threads".into(), threads])?)
        }
    };
    let Case { set, split, anomalies, .. } = case;
    let request = serde_json::json!({
        "method": method, "table": bench.path(set)?, "split": split, "anomalies": anomalies,
    });
    let answer: Option<Answer> = worker.figures(&request)?;
    Ok(answer.map(|answer| LabelRun {
        method: method.into(),
        set: set.name.into(),
        split: *split,
        anomalies: *anomalies,
        labelled: answer.labelled,
        auc: answer.auc,
        ap: answer.ap,
        seconds: answer.seconds,
        settings: answer.version,
        commit: bench.commit.clone(),
        cpu: environment::machine(),
    }))
}
