//! Every table of the paper by one command: the studies one after the other, each in a process of its own, and a page that puts the paper's
//! figures and ours side by side.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;
use diad::Params;

use super::sensitivity;
use crate::options::{Common, digest};
use crate::paper::{Figure, PaperTable};
use crate::render::{Grid, figure, number, with_error};
use crate::runs::{Run, Store};
use crate::sets::SETS;
use crate::stats::{correlation, mean, ranks};
use crate::summary::{Filter, Summary, summarise};

/// Seeds of the paper's table.
const SEEDS: u64 = 8;
/// Two figures agree when they differ by no more than so many points, or than two joint standard errors.
const NEAR: f64 = 1.5;

/// The whole paper.
#[derive(Debug, Args)]
pub struct Reproduce {
    #[command(flatten)]
    common: Common,
    /// Only these steps.
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    steps: Vec<String>,
    /// List the steps and what each runs, and stop.
    #[arg(long)]
    list: bool,
}

/// One study, or one value of a setting: its name and the arguments of this program.
#[derive(Debug, PartialEq)]
struct Step {
    name: String,
    arguments: Vec<String>,
}

impl Reproduce {
    /// Runs the steps, each of which resumes where it stopped, and writes the page.
    ///
    /// # Errors
    /// If a step is unknown or fails, or the page cannot be written.
    pub fn run(&self) -> Result<()> {
        let steps = steps();
        for asked in &self.steps {
            let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
            ensure!(
                names.contains(&asked.as_str()),
                "there is no step {asked}; there are {}",
                names.join(", ")
            );
        }
        let program = std::env::current_exe().context("cannot find this program")?;
        for step in steps.iter().filter(|step| crate::options::asked(&self.steps, &step.name)) {
            let arguments = self.arguments(step);
            if self.list {
                println!("{}: diad-bench {}", step.name, arguments.join(" "));
                continue;
            }
            eprintln!("== {}", step.name);
            let status = Command::new(&program).args(&arguments).status().context("cannot start a step")?;
            ensure!(status.success(), "step {} failed; run the same command again to go on", step.name);
        }
        if self.list { Ok(()) } else { self.write() }
    }

    /// The folder of a step's results, below one of the folders of the options.
    fn folder(&self, folder: &Path, step: &Step) -> PathBuf {
        let folder = folder.join("paper");
        match (step.name.strip_prefix("sensitivity-"), step.name.strip_suffix("-scaled")) {
            (Some(value), _) => folder.join("sensitivity").join(value),
            (None, Some(_)) => folder.join("scaled"),
            (None, None) => folder,
        }
    }

    fn arguments(&self, step: &Step) -> Vec<String> {
        let Common { data, out, pages, settings, seeds, sets, python, render } = &self.common;
        let mut all = step.arguments.clone();
        let mut give = |name: &str, value: String| all.extend([name.to_owned(), value]);
        give("--out", self.folder(out, step).display().to_string());
        give("--pages", self.folder(pages, step).display().to_string());
        for (name, path) in [("--data", data), ("--python", python)] {
            if let Some(path) = path {
                give(name, path.display().to_string());
            }
        }
        if let Some(threads) = settings.threads {
            give("--threads", threads.to_string());
        }
        let given = |name: &str| step.arguments.iter().any(|argument| argument == name);
        if let Some(seeds) = seeds.filter(|_| !given("--seeds")) {
            give("--seeds", seeds.to_string());
        }
        if !sets.is_empty() && !given("--sets") {
            give("--sets", sets.join(","));
        }
        if *render {
            all.push("--render".into());
        }
        all
    }

    fn write(&self) -> Result<()> {
        let settings = digest(&Params::paper())?;
        let runs: Vec<Run> = Store::new(&self.common.out.join("paper"), "unsupervised.jsonl").load()?;
        let filter = Filter { noise: 0, settings: &settings, seeds: self.common.seeds.unwrap_or(SEEDS) };
        let done: Vec<Summary> =
            SETS.iter().filter(|set| !set.extra).filter_map(|set| summarise(&runs, *set, &filter)).collect();
        let folder = self.common.pages.join("paper");
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let path = folder.join("README.md");
        fs::write(&path, page(&done, &PaperTable::unsupervised()?))
            .with_context(|| format!("cannot write {}", path.display()))?;
        eprintln!("wrote {}", path.display());
        sensitivity::write(&self.common)
    }
}

/// All steps, in order.
fn steps() -> Vec<Step> {
    let paper = ["--preset", "paper"];
    let step = |name: &str, arguments: &[&str]| Step {
        name: name.to_owned(),
        arguments: arguments.iter().map(ToString::to_string).collect(),
    };
    let mut all: Vec<Step> = ["unsupervised", "noise", "few-labels", "ablation", "validation-size"]
        .into_iter()
        .map(|name| step(name, &[&[name][..], &paper].concat()))
        .collect();
    // The paper's ablation has its sparsities with and without scaling.
    all.push(step(
        "few-labels-scaled",
        &["few-labels", "--preset", "paper", "--set", "leaf_scale=layer", "--no-peers"],
    ));
    all.extend(["forests", "peers"].map(|name| step(name, &[name])));
    let (sets, seeds) = (sensitivity::SENSITIVE.join(","), sensitivity::SEEDS.to_string());
    for (setting, values) in sensitivity::VALUES {
        for value in values {
            let given = format!("{setting}={value}");
            let arguments =
                ["unsupervised", "--preset", "paper", "--set", &given, "--sets", &sets, "--seeds", &seeds];
            all.push(step(&format!("sensitivity-{setting}-{value}"), &arguments));
        }
    }
    all
}

/// Our figures beside the paper's, and how well they agree.
fn page(done: &[Summary], paper: &PaperTable) -> String {
    let pairs: Vec<(&Summary, Figure)> =
        done.iter().filter_map(|summary| Some((summary, *paper.row(summary.set.name)?.first()?))).collect();
    let mut grid = Grid::new([
        "set",
        "seeds",
        "ours",
        "the paper",
        "difference",
        "agree",
        "spread, ours",
        "spread, paper",
    ]);
    for (summary, printed) in &pairs {
        let spread = |error: Option<f64>, seeds: usize| error.map(|error| error * (seeds as f64).sqrt());
        grid.push([
            summary.set.name.to_string(),
            summary.seeds.to_string(),
            with_error(summary.auc, summary.auc_error),
            figure(Some(printed)),
            format!("{:+.1}", summary.auc - printed.mean),
            if near(summary, printed) { "yes".into() } else { String::new() },
            number(spread(summary.auc_error, summary.seeds), 1),
            number(spread(printed.error, SEEDS as usize), 1),
        ]);
    }
    let ours: Vec<f64> = pairs.iter().map(|(summary, _)| summary.auc).collect();
    let theirs: Vec<f64> = pairs.iter().map(|(_, printed)| printed.mean).collect();
    let agree = pairs.iter().filter(|(summary, printed)| near(summary, printed)).count();
    format!(
        "# The paper and ours\n\nROC-AUC in % without labels, `--preset paper`, beside the figures the paper prints. Two figures agree when they differ by \
         at most {NEAR} points or two joint standard errors; the spread is the standard deviation over the seeds.\n\n{}\n\
         Average of the {} sets: {} where the paper has {}. {agree} of {} agree. Correlation over the sets: {}; of the sets' ranks \
         (Spearman): {}.\n\nOther pages: [without labels, beside the paper's other methods](unsupervised.md), [noise](noise.md), \
         [which reading is nearest](fidelity.md).\n\nMade by\n\n    cargo run --release -p diad-bench -- reproduce --data DIR\n",
        grid.markdown(1),
        pairs.len(),
        number(mean(&ours), 1),
        number(mean(&theirs), 1),
        pairs.len(),
        number(correlation(&ours, &theirs), 3),
        number(correlation(&ranks(&ours), &ranks(&theirs)), 3),
    )
}

/// Whether our figure and the paper's agree.
fn near(summary: &Summary, printed: &Figure) -> bool {
    let joint = summary.auc_error.unwrap_or(0.0).hypot(printed.error.unwrap_or(0.0));
    (summary.auc - printed.mean).abs() <= NEAR.max(2.0 * joint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets::find;

    fn summary(name: &str, auc: f64, auc_error: f64) -> Summary {
        Summary {
            set: find(name).expect("a set"),
            seeds: 4,
            auc,
            auc_error: Some(auc_error),
            ap: 0.0,
            ap_error: None,
            features: 1,
            commits: Vec::new(),
        }
    }

    #[test]
    fn every_step_has_a_name_of_its_own() {
        let steps = steps();
        let mut names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), steps.len());
    }

    #[test]
    fn figures_agree_within_their_errors() {
        let printed = Figure { mean: 76.1, error: Some(2.5) };
        assert!(near(&summary("thyroid", 81.0, 0.5), &printed));
        assert!(!near(&summary("thyroid", 81.5, 0.5), &printed));
        assert!(near(&summary("http", 98.0, 0.0), &Figure { mean: 99.3, error: None }));
    }

    #[test]
    fn the_page_says_how_well_figures_agree() {
        let paper = PaperTable::unsupervised().expect("well formed");
        let done = [summary("thyroid", 76.1, 0.5), summary("http", 99.3, 0.1), summary("musk", 99.0, 0.1)];
        let text = page(&done, &paper);
        assert!(text.contains("| musk | 4 | 99.0 ± 0.1 | 90.8 ± 0.9 | +8.2 |  | 0.2 | 2.5 |"), "{text}");
        assert!(text.contains("2 of 3 agree"), "{text}");
        assert!(text.contains("(Spearman): 1.000"), "{text}");
    }
}
