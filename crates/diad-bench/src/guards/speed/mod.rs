//! Speed and memory, as ratios measured in one run.

mod alerts;
mod explaining;
mod files;
mod memory;
mod package;
mod peaks;
mod reading;
mod roofline;
mod scaling;
mod scoring;
mod training;

use std::cell::RefCell;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use diad::table::FileSource;
use serde::{Deserialize, Serialize};

use crate::environment;
use crate::render::{self, Grid};
use crate::sets;
use crate::stats::median;
use crate::study::{self, Page, Study};

/// A machine with a smaller load average is quiet enough to measure on.
const QUIET: f64 = 0.5;

/// Speed and memory.
#[derive(Debug, Args)]
pub struct Speed {
    /// The `diad` program; by default the one beside this program.
    #[arg(long, value_name = "PATH")]
    diad: Option<PathBuf>,
    /// Only these parts; the others keep their last figures.
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    parts: Vec<Topic>,
    /// How often each measurement is repeated, in turn with its rival; medians are reported.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Steps of PyTorch in each half of the schedule in each round.
    #[arg(long, default_value_t = 5)]
    torch_steps: usize,
    /// Steps of a fit where step costs are compared with each other; half of them anneal.
    #[arg(long, default_value_t = 200)]
    scaling_steps: usize,
    /// The load average before the first part.
    #[arg(skip)]
    load_before: RefCell<Option<f64>>,
}

/// A part of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Topic {
    /// Training against PyTorch.
    Training,
    /// The cost of a step with more features, trees or rows.
    Scaling,
    /// Arithmetic and reads of a step against the machine's limits.
    Roofline,
    /// Scoring against scikit-learn's isolation forest.
    Scoring,
    /// Scoring a file into another against a script with an isolation forest, start of the programs included.
    Files,
    /// Explaining rows against scoring them.
    Explaining,
    /// `diad score` with all that alerts need against scores alone.
    Alerts,
    /// Peak memory of `diad fit` against the table's size.
    Memory,
    /// Reading CSV against polars.
    Reading,
    /// Scoring through the Python package against the library.
    Package,
}

/// Two figures and their ratio.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measure {
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

impl Measure {
    /// Our figure and that it is compared with, in one unit.
    fn new(what: String, against: impl Into<String>, [value, base]: [f64; 2], unit: &str) -> Self {
        Self { what, against: against.into(), ratio: value / base, value, base, unit: unit.into() }
    }
}

/// All figures of a part, measured in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopicRun {
    part: Topic,
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
    options: &'a Speed,
    study: &'a study::Bench<'a>,
}

impl<'a> std::ops::Deref for Bench<'a> {
    type Target = study::Bench<'a>;

    fn deref(&self) -> &study::Bench<'a> {
        self.study
    }
}

impl Bench<'_> {
    /// A set of the benchmark.
    fn source(&self, name: &str) -> Result<FileSource> {
        Ok(FileSource::new(self.path(name)?))
    }

    fn path(&self, name: &str) -> Result<PathBuf> {
        self.study.path(&sets::find(name)?)
    }

    fn run(&self, part: Topic) -> Result<Vec<Measure>> {
        match part {
            Topic::Training => training::measure(self),
            Topic::Scaling => scaling::measure(self),
            Topic::Roofline => roofline::measure(self),
            Topic::Scoring => scoring::measure(self),
            Topic::Files => files::measure(self),
            Topic::Explaining => explaining::measure(self),
            Topic::Alerts => alerts::measure(self),
            Topic::Memory => memory::measure(self),
            Topic::Reading => reading::measure(self),
            Topic::Package => package::measure(self),
        }
    }
}

impl Study for Speed {
    const NAME: &'static str = "speed";
    const THREADS: Option<usize> = Some(2);
    type Case = Topic;
    type Row = TopicRun;

    fn cases(&self, _: &study::Bench) -> Result<Vec<Topic>> {
        let wanted = |part: &&Topic| self.parts.is_empty() || self.parts.contains(part);
        Ok(Topic::value_variants().iter().filter(wanted).copied().collect())
    }

    /// Parts are always measured anew.
    fn is_done(&self, _: &Topic, _: &TopicRun, _: &study::Bench) -> bool {
        false
    }

    fn measure(&self, part: &Topic, bench: &study::Bench) -> Result<Option<TopicRun>> {
        let mut load = self.load_before.borrow_mut();
        if load.is_none() {
            *load = environment::load();
            if load.is_some_and(|load| load > QUIET) {
                eprintln!("other programs are running: the ratios will not be worth much");
            }
        }
        eprintln!("measuring {part:?}");
        let measures = Bench { options: self, study: bench }.run(*part);
        Ok(Some(TopicRun {
            part: *part,
            measures: measures.with_context(|| format!("{part:?} failed"))?,
            // The peak hardly varies, so it is measured once.
            rounds: if *part == Topic::Memory { 1 } else { self.rounds },
            load: *load,
            command: bench.command(&self.command_line()),
            preset: bench.options.settings.name(),
            commit: bench.commit.clone(),
            cpu: environment::machine(),
        }))
    }

    fn words(run: &TopicRun) -> String {
        format!("{:?}: {} figures", run.part, run.measures.len())
    }

    fn page(&self, runs: Vec<TopicRun>, _: &study::Bench) -> Result<Page> {
        let runs = latest(runs);
        let commands = render::distinct(runs.iter().map(|run| run.command.clone()));
        let (text, csv, commits) = (text(&runs), csv(&runs), runs.into_iter().map(|run| run.commit));
        Ok(Page { commands, ..Page::new(text, csv, String::new(), commits) })
    }
}

impl Speed {
    /// The command without its folders.
    fn command_line(&self) -> String {
        format!(
            "speed --data DIR --rounds {} --torch-steps {} --scaling-steps {}",
            self.rounds, self.torch_steps, self.scaling_steps
        )
    }
}

/// The last run of each part with the same settings.
fn latest(mut runs: Vec<TopicRun>) -> Vec<TopicRun> {
    runs.reverse();
    let mut latest: Vec<TopicRun> = Vec::new();
    for run in runs {
        if !latest.iter().any(|other| other.part == run.part && other.preset == run.preset) {
            latest.push(run);
        }
    }
    latest.sort_by_key(|run| Topic::value_variants().iter().position(|part| *part == run.part));
    latest
}

fn text(runs: &[TopicRun]) -> String {
    let mut ratios = Grid::new(["what", "against", "settings", "ratio"]);
    let mut figures = Grid::new(["what", "settings", "ours", "against", "figure", "unit"]);
    for (run, measure) in runs.iter().flat_map(|run| run.measures.iter().map(move |measure| (run, measure))) {
        let [what, against, preset] = [&measure.what, &measure.against, &run.preset].map(String::clone);
        ratios.push([what.clone(), against.clone(), preset.clone(), significant(measure.ratio)]);
        let (value, base) = (significant(measure.value), significant(measure.base));
        figures.push([what, preset, value, against, base, measure.unit.clone()]);
    }
    let machine = |run: &TopicRun| match run.load {
        Some(load) => format!("{} (load average before: {load:.1})", run.cpu),
        None => run.cpu.clone(),
    };
    let mut machines: Vec<_> = runs.iter().map(machine).collect();
    machines.dedup();
    let rounds: Vec<_> = runs.iter().map(|run| format!("{:?} {}", run.part, run.rounds)).collect();
    format!(
        "# Speed and memory\n\nEach ratio is between figures of one run on one machine: the two sides take turns, and the \
         medians are compared (rounds: {}). The time to start a program and to read its table is left out where reading is not what is measured, but counts in \
         peak memory, which is the operating system's maximum resident set of the whole process.\n\n{}\n## Absolute \
         figures\n\nMeasured on {}.\n\n{}",
        rounds.join(", "),
        ratios.markdown(3),
        machines.join("; "),
        figures.markdown(2)
    )
}

fn csv(runs: &[TopicRun]) -> Grid {
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
    grid
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

    fn part_run(part: Topic, ratio: f64) -> TopicRun {
        let measure = Measure {
            what: format!("{part:?}"),
            against: "PyTorch".into(),
            ratio,
            value: 123.4,
            base: 0.81,
            unit: "steps/s".into(),
        };
        TopicRun {
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
        let other = TopicRun { preset: "paper".into(), ..part_run(Topic::Training, 7.0) };
        let first = part_run(Topic::Scoring, 1.0);
        let runs = vec![first, part_run(Topic::Training, 152.34), part_run(Topic::Scoring, 2.0), other];
        let page = text(&latest(runs));
        assert!(page.contains("| Training | PyTorch | paper | 7.00 |"), "{page}");
        let ratio = page.find("| Training | PyTorch | default | 152 |").expect(&page);
        let machine = page.find("a CPU, 2 threads (load average before: 0.1)").expect(&page);
        assert!(ratio < machine, "{page}");
        assert!(page.contains("| Scoring | PyTorch | default | 2.00 |") && !page.contains("1.00"), "{page}");
        assert!(page.contains("| Training | default | 123 | PyTorch | 0.810 | steps/s |"), "{page}");
    }
}
