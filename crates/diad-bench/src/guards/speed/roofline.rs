//! What a training step reaches of the machine's limits.

use std::ops::ControlFlow;
use std::time::Instant;

use anyhow::Result;
use diad::{Progress, Work};

use super::peaks::{FAR, NEAR, multiply_adds, reads};
use super::{Bench, Measure, middle};
use crate::data::LABEL;

/// The set the steps are taken on.
const SET: &str = "mammography";
/// The work of a whole fit and the machine's rates, in turn.
pub fn measure(bench: &Bench) -> Result<Vec<Measure>> {
    let source = bench.source(SET)?;
    let (mut flops, mut bytes, mut works) = (Vec::new(), Vec::new(), Vec::new());
    let (mut peak, mut near, mut far) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=bench.options.rounds {
        let mut total = Work::default();
        let mut start = None;
        let mut observe = |progress: Progress| {
            // The first step also places the splits, so time and work count from its end.
            if start.is_none() {
                start = Some(Instant::now());
            } else {
                total.tree_flops += progress.work.tree_flops;
                total.column_flops += progress.work.column_flops;
                total.column_bytes += progress.work.column_bytes;
            }
            ControlFlow::Continue(())
        };
        bench.params.fitting(&source).ignore(LABEL).progress(&mut observe).run()?;
        let seconds = start.map_or(f64::NAN, |start| start.elapsed().as_secs_f64());
        let rate = (total.tree_flops + total.column_flops) / seconds / 1e9;
        flops.push(rate);
        bytes.push(total.column_bytes / seconds / 1e9);
        works.push(total);
        let most = multiply_adds();
        peak.push(most);
        near.push(reads(NEAR));
        far.push(reads(FAR));
        eprintln!("round {round}: {rate:.1} of {most:.1} GFLOP/s");
    }
    let steps = (bench.params.steps - 1) as f64;
    let per_step = |value: fn(&Work) -> f64| works.first().map_or(f64::NAN, |work| value(work) / steps);
    let compare =
        |what: String, against: &str, ours: &[f64], theirs: &[f64], unit: &str| -> Result<Measure> {
            Ok(Measure::new(what, against, [middle(ours)?, middle(theirs)?], unit))
        };
    let mega = |value: f64| format!("{:.0}", value / 1e6);
    let trees = mega(per_step(|work| work.tree_flops));
    let columns = mega(per_step(|work| work.column_flops));
    let read = mega(per_step(|work| work.column_bytes));
    let what = format!("arithmetic of a step ({trees} + {columns} MFLOP in trees and columns)");
    let moved = format!("columns read in a step ({read} MB)");
    Ok(vec![
        compare(what, "multiply-add peak", &flops, &peak, "GFLOP/s")?,
        compare(moved.clone(), "reads from a core's own cache", &bytes, &near, "GB/s")?,
        compare(moved, "reads from memory", &bytes, &far, "GB/s")?,
    ])
}
