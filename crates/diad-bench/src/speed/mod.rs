//! Speed and memory, as ratios measured in one run.

mod explaining;
mod memory;
mod package;
mod peaks;
mod reading;
mod roofline;
mod scaling;
mod scoring;
mod training;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use diad::table::FileSource;
use diad::{Detector, Params};
use serde::{Deserialize, Serialize};

use crate::data::LABEL;
use crate::environment;
use crate::options::{Folders, Settings};
use crate::render::{self, Grid};
use crate::runs::Store;
use crate::sets;
use crate::stats::median;

/// A machine with a smaller load average is quiet enough to measure on.
const QUIET: f64 = 0.5;

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
    /// Arithmetic and reads of a step against the machine's limits.
    Roofline,
    /// Scoring against scikit-learn's isolation forest.
    Scoring,
    /// Explaining rows against scoring them.
    Explaining,
    /// Peak memory of `diad fit` against the table's size.
    Memory,
    /// Reading CSV against polars.
    Reading,
    /// Scoring through the Python package against the library.
    Package,
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
    /// The load average before the run; above about 0.5 other programs disturbed it.
    load: Option<f64>,
    command: String,
    /// The settings in words.
    #[serde(default = "paper")]
    preset: String,
    commit: String,
    cpu: String,
}

/// The settings of runs that do not say.
fn paper() -> String {
    "paper".into()
}

/// What every part needs.
struct Bench<'a> {
    options: &'a Options,
    params: Params,
    data: PathBuf,
}

impl Bench<'_> {
    /// A set of the benchmark.
    fn source(&self, name: &str) -> Result<FileSource> {
        Ok(FileSource::new(self.path(name)?))
    }

    /// A detector of a set of the benchmark.
    fn fit(&self, name: &str) -> Result<Detector> {
        Ok(self.params.fitting(&self.source(name)?).ignore(LABEL).run()?)
    }

    fn path(&self, name: &str) -> Result<PathBuf> {
        Ok(sets::find(name)?.path(&self.data))
    }

    fn run(&self, part: Part) -> Result<Vec<Measure>> {
        match part {
            Part::Training => training::measure(self),
            Part::Scaling => scaling::measure(self),
            Part::Roofline => roofline::measure(self),
            Part::Scoring => scoring::measure(self),
            Part::Explaining => explaining::measure(self),
            Part::Memory => memory::measure(self),
            Part::Reading => reading::measure(self),
            Part::Package => package::measure(self),
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
        let load = environment::load();
        if load.is_some_and(|load| load > QUIET) {
            eprintln!("other programs are running: the ratios will not be worth much");
        }
        let bench = Bench { options, params, data: options.folders.data()? };
        options.settings.start_threads(Some(2))?;
        for part in Part::value_variants() {
            if !options.parts.is_empty() && !options.parts.contains(part) {
                continue;
            }
            eprintln!("measuring {part:?}");
            let measures = bench.run(*part).with_context(|| format!("{part:?} failed"))?;
            store.append(&PartRun {
                part: *part,
                measures,
                // The peak hardly varies, so it is measured once.
                rounds: if *part == Part::Memory { 1 } else { options.rounds },
                load,
                command: options.command_line(),
                preset: options.settings.name(),
                commit: environment::commit(),
                cpu: environment::machine(),
            })?;
        }
    }
    let latest = latest(store.load()?);
    render::write(&options.folders.out, "speed", &markdown(&latest), &csv(&latest))
}

impl Options {
    /// The command without its folders.
    fn command_line(&self) -> String {
        format!(
            "speed --data DIR --rounds {} --torch-steps {} --scaling-steps {}{}",
            self.rounds,
            self.torch_steps,
            self.scaling_steps,
            self.settings.command_line()
        )
    }
}

/// The last run of each part with the same settings.
fn latest(mut runs: Vec<PartRun>) -> Vec<PartRun> {
    runs.reverse();
    let mut latest: Vec<PartRun> = Vec::new();
    for run in runs {
        if !latest.iter().any(|other| other.part == run.part && other.preset == run.preset) {
            latest.push(run);
        }
    }
    latest.sort_by_key(|run| Part::value_variants().iter().position(|part| *part == run.part));
    latest
}

fn markdown(runs: &[PartRun]) -> String {
    let mut ratios = Grid::new(["what", "against", "settings", "ratio"]);
    let mut figures = Grid::new(["what", "settings", "ours", "against", "figure", "unit"]);
    for (run, measure) in runs.iter().flat_map(|run| run.measures.iter().map(move |measure| (run, measure))) {
        let [what, against, preset] = [&measure.what, &measure.against, &run.preset].map(String::clone);
        ratios.push([what.clone(), against.clone(), preset.clone(), significant(measure.ratio)]);
        let (value, base) = (significant(measure.value), significant(measure.base));
        figures.push([what, preset, value, against, base, measure.unit.clone()]);
    }
    let machine = |run: &PartRun| match run.load {
        Some(load) => format!("{} (load average before: {load:.1})", run.cpu),
        None => run.cpu.clone(),
    };
    let mut machines: Vec<_> = runs.iter().map(machine).collect();
    machines.dedup();
    let mut commands: Vec<_> = runs.iter().map(|run| run.command.as_str()).collect();
    commands.sort_unstable();
    commands.dedup();
    let rounds: Vec<_> = runs.iter().map(|run| format!("{:?} {}", run.part, run.rounds)).collect();
    format!(
        "# Speed and memory\n\nEach ratio is between figures of one run on one machine: the two sides take turns, and the \
         medians are compared (rounds: {}). The time to start a program and to read its table is left out where reading is not what is measured, but counts in \
         peak memory, which is the operating system's maximum resident set of the whole process.\n\n{}\n## Absolute \
         figures\n\nMeasured on {}.\n\n{}\n{}",
        rounds.join(", "),
        ratios.markdown(3),
        machines.join("; "),
        figures.markdown(2),
        render::origin(&commands, runs.iter().map(|run| run.commit.as_str()))
    )
}

fn csv(runs: &[PartRun]) -> String {
    let mut grid = Grid::new([
        "what", "against", "settings", "ratio", "value", "base", "unit", "rounds", "cpu", "commit",
    ]);
    for run in runs {
        for measure in &run.measures {
            let figures = [measure.ratio, measure.value, measure.base].map(|figure| format!("{figure:.6}"));
            let mut cells = vec![measure.what.clone(), measure.against.clone(), run.preset.clone()];
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
        PartRun {
            part,
            measures: vec![measure],
            rounds: 5,
            load: Some(0.12),
            command: "speed --data DIR".into(),
            preset: "default".into(),
            commit: "c1".into(),
            cpu: "a CPU, 2 threads".into(),
        }
    }

    #[test]
    fn the_last_figures_of_each_part_are_shown_ratios_first() {
        let other = PartRun { preset: "paper".into(), ..part_run(Part::Training, 7.0) };
        let first = part_run(Part::Scoring, 1.0);
        let runs = vec![first, part_run(Part::Training, 152.34), part_run(Part::Scoring, 2.0), other];
        let page = markdown(&latest(runs));
        assert!(page.contains("| Training | PyTorch | paper | 7.00 |"), "{page}");
        let ratio = page.find("| Training | PyTorch | default | 152 |").expect(&page);
        let machine = page.find("a CPU, 2 threads (load average before: 0.1)").expect(&page);
        assert!(ratio < machine, "{page}");
        assert!(page.contains("| Scoring | PyTorch | default | 2.00 |") && !page.contains("1.00"), "{page}");
        assert!(page.contains("| Training | default | 123 | PyTorch | 0.810 | steps/s |"), "{page}");
    }
}
