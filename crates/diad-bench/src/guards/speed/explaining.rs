//! Explaining rows against scoring them.

use std::time::Instant;

use anyhow::Result;
use diad::explain::{Contributions, Explainer};
use diad::table::FileSource;

use super::{Bench, Measure, middle};
use crate::data::LABEL;
use crate::evaluate::fit;

/// The sets, and the rows of each.
const SETS: [&str; 3] = ["mammography", "donors", "campaign"];
const ROWS: usize = 10_000;

/// Explains the first rows of each set and scores them, in turn.
pub fn measure(bench: &Bench) -> Result<Vec<Measure>> {
    let mut measures = Vec::new();
    for set in SETS {
        let detector = fit(&bench.params, &FileSource::new(bench.path(set)?), &[LABEL])?;
        let rows: Vec<usize> = (0..ROWS).collect();
        let table = detector.pick(&FileSource::new(bench.path(set)?), &rows)?;
        let explainer = Explainer::new(&detector);
        let mut scores = vec![0.0; ROWS];
        detector.score_into(&table, &mut scores)?;
        let mut room = Contributions::default();
        let (mut scoring, mut explaining) = (Vec::new(), Vec::new());
        for _ in 0..bench.options.rounds {
            let start = Instant::now();
            detector.score_into(&table, &mut scores)?;
            scoring.push(start.elapsed().as_secs_f64());
            let start = Instant::now();
            explainer.contributions_into(&table, &mut room)?;
            explaining.push(start.elapsed().as_secs_f64());
        }
        let (value, base) = (middle(&explaining)?, middle(&scoring)?);
        eprintln!(
            "{set}, {} terms: explained in {value:.4} s, scored in {base:.4} s",
            explainer.terms().len()
        );
        let what = format!("time to explain {ROWS} rows of {set}");
        measures.push(Measure::new(what, "scoring them", [1e3 * value, 1e3 * base], "ms"));
    }
    Ok(measures)
}
