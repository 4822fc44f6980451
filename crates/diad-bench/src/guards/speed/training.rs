//! Training against the same method in PyTorch.

use std::ops::ControlFlow;
use std::time::Instant;

use anyhow::{Result, ensure};
use diad::Params;
use diad::table::Source;

use super::{Bench, Measure, middle};
use crate::data::LABEL;
use crate::evaluate::fit;
use crate::python::Worker;

/// The set the training is timed on.
const SET: &str = "mammography";

/// Seconds of one step of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepTimes {
    /// Mean over all steps but the first.
    pub whole: f64,
    /// Mean while the temperature falls.
    pub annealing: f64,
    /// Mean afterwards, with one-hot selectors.
    pub onehot: f64,
}

/// Times the steps of a fit, without the start and the first step.
///
/// # Errors
/// If the fit fails or has too few steps in one of its halves.
pub fn time_steps(params: &Params, source: &dyn Source) -> Result<StepTimes> {
    let mut ends = Vec::with_capacity(params.steps);
    let mut observe = |_| {
        ends.push(Instant::now());
        ControlFlow::Continue(())
    };
    params.fitting(source).ignore(LABEL).progress(&mut observe).run()?;
    step_times(&ends, params.anneal)
}

/// Seconds from a file to a model, with nothing but the defaults.
fn time_default_fit(source: &dyn Source) -> Result<f64> {
    let (params, start) = (Params::default(), Instant::now());
    fit(&params, source, &[LABEL])?;
    Ok(start.elapsed().as_secs_f64())
}

/// The mean seconds between the ends of the steps.
fn step_times(ends: &[Instant], anneal: usize) -> Result<StepTimes> {
    ensure!(anneal >= 2 && ends.len() > anneal, "the schedule needs two annealing steps and one more");
    let last = ends.len() - 1;
    let mean = |from: usize, to: usize| (ends[to] - ends[from]).as_secs_f64() / (to - from) as f64;
    Ok(StepTimes { whole: mean(0, last), annealing: mean(0, anneal - 1), onehot: mean(anneal - 1, last) })
}

/// Our whole schedule and a few steps of PyTorch in each half of it, in turn.
pub fn measure(bench: &Bench) -> Result<Vec<Measure>> {
    let source = bench.source(SET)?;
    let python = bench.python()?;
    let mut arguments = vec![bench.path(SET)?.display().to_string()];
    arguments.extend(["--threads".to_string(), rayon::current_num_threads().to_string()]);
    for (name, value) in bench.study.options.settings.pairs() {
        arguments.extend(["--set".to_string(), format!("{name}={value}")]);
    }
    let mut torch = Worker::start(&python, "reference.py", &arguments)?;
    let steps = bench.options.torch_steps;
    let (mut ours, mut soft, mut onehot, mut fits) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 1..=bench.options.rounds {
        fits.push(time_default_fit(&source)?);
        ours.push(time_steps(&bench.params, &source)?);
        soft.push(torch.number(&format!("soft {steps}"), "seconds")?);
        onehot.push(torch.number(&format!("onehot {steps}"), "seconds")?);
        eprintln!("round {round}: {:?}, PyTorch {:?} and {:?}", ours.last(), soft.last(), onehot.last());
    }
    let (soft, onehot) = (middle(&soft)?, middle(&onehot)?);
    let share = bench.params.anneal as f64 / bench.params.steps as f64;
    let compare = |half: &str, ours: Vec<f64>, theirs: f64| -> Result<Measure> {
        let ours = middle(&ours)?;
        let what = format!("training speed on {SET}, {half}");
        Ok(Measure::new(what, "PyTorch", [1.0 / ours, 1.0 / theirs], "steps/s"))
    };
    let whole = share * soft + (1.0 - share) * onehot;
    let (fit, reference) = (middle(&fits)?, whole * bench.params.steps as f64);
    Ok(vec![
        Measure::new(
            format!("speed of a whole fit on {SET}, ours at the default settings"),
            format!("PyTorch, {} steps", bench.params.steps),
            [1.0 / fit, 1.0 / reference],
            "fits/s",
        ),
        compare("whole schedule", ours.iter().map(|times| times.whole).collect(), whole)?,
        compare("annealing", ours.iter().map(|times| times.annealing).collect(), soft)?,
        compare("one-hot", ours.iter().map(|times| times.onehot).collect(), onehot)?,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_halves_are_timed_apart_and_the_first_step_is_left_out() {
        let start = Instant::now();
        // The first step takes 9 s, the next two annealing steps 3 s each, two one-hot steps 1 s each.
        let ends = [9, 12, 15, 16, 17].map(|seconds| start + Duration::from_secs(seconds));
        let times = step_times(&ends, 3).expect("enough steps");
        assert_eq!(times, StepTimes { whole: 2.0, annealing: 3.0, onehot: 1.0 });
        assert!(step_times(&ends, 5).is_err());
    }
}
