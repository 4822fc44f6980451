//! Speed and memory, as ratios measured in one run.

mod memory;
mod scaling;
mod scoring;
mod training;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use diad::Params;
use diad::encode::{Encoder, Matrix};
use diad::table::FileSource;
use serde::{Deserialize, Serialize};

use crate::data::LABEL;
use crate::environment;
use crate::options::{Folders, Settings, digest};
use crate::render::{self, Grid};
use crate::runs::Store;
use crate::sets;
use crate::stats::median;

/// The options of `diad-bench speed`.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    folders: Folders,
    #[command(flatten)]
    settings: Settings,
    /// The Python interpreter; by default one is made in target/bench-venv.
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// The `diad` program; by default the one beside this program.
    #[arg(long, value_name = "PATH")]
    diad: Option<PathBuf>,
    /// Only these parts; the others keep their last figures.
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    parts: Vec<Part>,
    /// How often each measurement is repeated, in turn with its rival; medians are reported.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Steps of PyTorch in each half of the schedule in each round.
    #[arg(long, default_value_t = 5)]
    torch_steps: usize,
    /// Steps of a fit where step costs are compared with each other; half of them anneal.
    #[arg(long, default_value_t = 200)]
    scaling_steps: usize,
    /// Only write the tables from the figures there are.
    #[arg(long)]
    render: bool,
}

/// A part of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Part {
    /// Training against PyTorch.
    Training,
    /// The cost of a step with more features, trees or rows.
    Scaling,
    /// Scoring against scikit-learn's isolation forest.
    Scoring,
    /// Peak memory of `diad fit` against the table's size.
    Memory,
}

/// Two figures and their ratio.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Measure {
    /// What is measured.
    what: String,
    /// What it is compared with.
    against: String,
    /// The ratio, as `what` words it.
    ratio: f64,
    /// Our figure.
    value: f64,
    /// The figure compared with.
    base: f64,
    /// The unit of both.
    unit: String,
}

/// All figures of a part, measured in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct PartRun {
    part: Part,
    measures: Vec<Measure>,
    rounds: usize,
    settings: String,
    commit: String,
    cpu: String,
}

/// What every part needs.
struct Bench<'a> {
    options: &'a Options,
    params: Params,
    data: PathBuf,
}

impl Bench<'_> {
    /// A set of the benchmark, encoded.
    fn encoded(&self, name: &str) -> Result<(Encoder, Matrix)> {
        let source = FileSource::new(self.path(name)?);
        Ok(Encoder::fit_encode(&source, &[LABEL])?)
    }

    fn path(&self, name: &str) -> Result<PathBuf> {
        Ok(sets::find(name)?.path(&self.data))
    }

    fn run(&self, part: Part) -> Result<Vec<Measure>> {
        match part {
            Part::Training => training::measure(self),
            Part::Scaling => scaling::measure(self),
            Part::Scoring => scoring::measure(self),
            Part::Memory => memory::measure(self),
        }
    }
}

/// Measures the wanted parts and writes `speed.md` and `speed.csv`.
///
/// # Errors
/// If a part cannot be measured or a file cannot be written.
pub fn run(options: &Options) -> Result<()> {
    let params = options.settings.params()?;
    let store: Store<PartRun> = Store::new(&options.folders.out, "speed.jsonl");
    if !options.render {
        let bench = Bench { options, params: params.clone(), data: options.folders.data()? };
        options.settings.start_threads(Some(2))?;
        let settings = digest(&params)?;
        for part in Part::value_variants() {
            if !options.parts.is_empty() && !options.parts.contains(part) {
                continue;
            }
            eprintln!("measuring {part:?}");
            let measures = bench.run(*part).with_context(|| format!("{part:?} failed"))?;
            let (commit, cpu) = (environment::commit(), environment::machine());
            let (part, settings, rounds) = (*part, settings.clone(), options.rounds);
            store.append(&PartRun { part, measures, rounds, settings, commit, cpu })?;
        }
    }
    let latest = latest(store.load()?);
    let command = format!("speed --data DIR{}", options.settings.command_line());
    render::write(&options.folders.out, "speed", &markdown(&latest, &command), &csv(&latest))
}

/// The last run of each part.
fn latest(mut runs: Vec<PartRun>) -> Vec<PartRun> {
    runs.reverse();
    Part::value_variants()
        .iter()
        .filter_map(|part| runs.iter().find(|run| run.part == *part).cloned())
        .collect()
}

fn markdown(runs: &[PartRun], command: &str) -> String {
    let mut ratios = Grid::new(["what", "against", "ratio"]);
    let mut figures = Grid::new(["what", "ours", "against", "figure", "unit"]);
    for measure in runs.iter().flat_map(|run| &run.measures) {
        ratios.push([measure.what.clone(), measure.against.clone(), significant(measure.ratio)]);
        let (value, base) = (significant(measure.value), significant(measure.base));
        figures.push([measure.what.clone(), value, measure.against.clone(), base, measure.unit.clone()]);
    }
    let mut machines: Vec<_> = runs.iter().map(|run| run.cpu.as_str()).collect();
    machines.dedup();
    let rounds: Vec<_> = runs.iter().map(|run| format!("{:?} {}", run.part, run.rounds)).collect();
    format!(
        "# Speed and memory\n\nEach ratio is between figures of one run on one machine: the two sides take turns, and the \
         medians are compared (rounds: {}). The time to start a program and to read its table is left out, but counts in \
         peak memory, which is the operating system's maximum resident set of the whole process.\n\n{}\n## Absolute \
         figures\n\nMeasured on {}.\n\n{}\n{}",
        rounds.join(", "),
        ratios.markdown(2),
        machines.join("; "),
        figures.markdown(1),
        render::origin(command, runs.iter().map(|run| run.commit.as_str()))
    )
}

fn csv(runs: &[PartRun]) -> String {
    let mut grid =
        Grid::new(["what", "against", "ratio", "value", "base", "unit", "rounds", "cpu", "commit"]);
    for run in runs {
        for measure in &run.measures {
            let figures = [measure.ratio, measure.value, measure.base].map(|figure| format!("{figure:.6}"));
            let mut cells = vec![measure.what.clone(), measure.against.clone()];
            cells.extend(figures);
            cells.extend([measure.unit.clone(), run.rounds.to_string(), run.cpu.clone(), run.commit.clone()]);
            grid.push(cells);
        }
    }
    grid.csv()
}

/// Three significant digits, without an exponent.
fn significant(value: f64) -> String {
    let size = value.abs();
    let decimals = if size >= 100.0 {
        0
    } else if size >= 10.0 {
        1
    } else if size >= 1.0 {
        2
    } else {
        3
    };
    format!("{value:.decimals$}")
}

/// The median of the rounds.
fn middle(values: &[f64]) -> Result<f64> {
    median(values).context("--rounds must be at least 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part_run(part: Part, ratio: f64) -> PartRun {
        let measure = Measure {
            what: format!("{part:?}"),
            against: "PyTorch".into(),
            ratio,
            value: 123.4,
            base: 0.81,
            unit: "steps/s".into(),
        };
        let (settings, commit, cpu) = ("s1".into(), "c1".into(), "a CPU, 2 threads".into());
        PartRun { part, measures: vec![measure], rounds: 5, settings, commit, cpu }
    }

    #[test]
    fn the_last_figures_of_each_part_are_shown_ratios_first() {
        let runs = latest(vec![
            part_run(Part::Scoring, 1.0),
            part_run(Part::Training, 152.34),
            part_run(Part::Scoring, 2.0),
        ]);
        let page = markdown(&runs, "speed --data DIR");
        let ratio = page.find("| Training | PyTorch | 152 |").expect(&page);
        let machine = page.find("a CPU, 2 threads").expect(&page);
        assert!(ratio < machine, "{page}");
        assert!(page.contains("| Scoring | PyTorch | 2.00 |") && !page.contains("1.00"), "{page}");
        assert!(page.contains("| Training | 123 | PyTorch | 0.810 | steps/s |"), "{page}");
    }
}
