//! Tables as their owners have them, with texts and gaps, against the same rows prepared as numbers by hand.

use anyhow::{Context, Result};
use clap::Args;

use crate::environment;
use crate::evaluate::{Asked, evaluate};
use crate::options::{Folders, Settings, digest};
use crate::render::{self, Grid, number, with_error};
use crate::runs::{Run, Store};
use crate::stats::{mean, standard_error};
use crate::unsupervised;

/// A file as it came, and the set with the same rows.
struct Raw {
    file: &'static str,
    label: &'static str,
    prepared: &'static str,
}

const FILES: [Raw; 3] = [
    Raw { file: "bank_additional_full.csv", label: "y", prepared: "campaign" },
    Raw { file: "unsw_nb15_backdoor_mixed.csv.gz", label: "label", prepared: "backdoor" },
    Raw { file: "census_income.csv.gz", label: "label", prepared: "census" },
];

/// The options of `diad-bench raw`.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    folders: Folders,
    #[command(flatten)]
    settings: Settings,
    /// Seeds 0 to this less one.
    #[arg(long, default_value_t = 4)]
    seeds: u64,
    /// Only write the tables from the runs there are.
    #[arg(long)]
    render: bool,
}

/// Fits what is missing and writes `raw.md` and `raw.csv`. The prepared sets' runs are those of `unsupervised` in the same folder.
///
/// # Errors
/// If a file cannot be read or fitted, or a table cannot be written.
pub fn run(options: &Options) -> Result<()> {
    let params = options.settings.params()?;
    let settings = digest(&params)?;
    let store: Store<Run> = Store::new(&options.folders.out, "raw.jsonl");
    if !options.render {
        let folder = options.folders.data()?.join("raw");
        options.settings.start_threads(None)?;
        for raw in &FILES {
            for seed in 0..options.seeds {
                let done = store.load()?;
                if done.iter().any(|run| run.is(raw.file, 0, seed, &settings)) {
                    continue;
                }
                let asked = Asked { name: raw.file, label: raw.label, noise: 0, seed };
                let source = diad::table::FileSource::new(folder.join(raw.file));
                let run = evaluate(&asked, &source, &params, &environment::commit())
                    .with_context(|| format!("{} failed", raw.file))?;
                eprintln!("{}, seed {seed}: AUC {:.2}, AP {:.2}", raw.file, run.auc, run.ap);
                store.append(&run)?;
            }
        }
    }
    let [ours, prepared] = [store.load()?, unsupervised::store(&options.folders).load()?];
    let of = |runs: &[Run], name: &str| -> Vec<Run> {
        let wanted = |run: &&Run| (0..options.seeds).any(|seed| run.is(name, 0, seed, &settings));
        runs.iter().filter(wanted).cloned().collect()
    };
    let mut grid =
        Grid::new(["file", "columns", "AUC", "AP", "prepared", "its AUC", "its AP", "difference of AUC"]);
    let mut csv =
        Grid::new(["file", "columns", "seeds", "auc", "ap", "prepared", "prepared_auc", "prepared_ap"]);
    let mut commits = Vec::new();
    for raw in &FILES {
        let (ours, theirs) = (of(&ours, raw.file), of(&prepared, raw.prepared));
        let [first, ..] = &ours[..] else { continue };
        let figures = |runs: &[Run], figure: fn(&Run) -> f64| runs.iter().map(figure).collect::<Vec<_>>();
        let [auc, ap] = [|run: &Run| run.auc, |run: &Run| run.ap].map(|figure| figures(&ours, figure));
        let [their_auc, their_ap] =
            [|run: &Run| run.auc, |run: &Run| run.ap].map(|figure| figures(&theirs, figure));
        let shown = |values: &[f64]| {
            mean(values).map_or(render::NONE.into(), |mean| with_error(mean, standard_error(values)))
        };
        let columns = first.features.to_string();
        let difference = mean(&auc).zip(mean(&their_auc)).map(|(ours, theirs)| ours - theirs);
        grid.push([
            raw.file.to_string(),
            columns.clone(),
            shown(&auc),
            shown(&ap),
            raw.prepared.to_string(),
            shown(&their_auc),
            shown(&their_ap),
            number(difference, 1),
        ]);
        csv.push([
            raw.file.to_string(),
            columns,
            auc.len().to_string(),
            number(mean(&auc), 3),
            number(mean(&ap), 3),
            raw.prepared.to_string(),
            number(mean(&their_auc), 3),
            number(mean(&their_ap), 3),
        ]);
        commits.extend(ours.into_iter().chain(theirs).map(|run| run.commit));
    }
    let command = format!("raw --data DIR --seeds {}{}", options.seeds, options.settings.command_line());
    let page = format!(
        "# Tables as they come\n\nFiles with texts, categories and gaps, given to a fit without any preparation, against the same rows as \
         numbers with a column for each category, as the paper has them. ROC-AUC and average precision in %, mean ± standard error over {} \
         seeds.\n\n{}\n{}",
        options.seeds,
        grid.markdown(1),
        render::origin(&[command.as_str(), "unsupervised --data DIR"], commits.iter().map(String::as_str))
    );
    render::write(&options.folders.out, "raw", &page, &csv.csv())
}
