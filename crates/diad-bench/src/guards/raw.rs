//! Tables as their owners have them, with texts and gaps, against the same rows prepared as numbers by hand.

use anyhow::{Context, Result};
use clap::Args;
use diad::table::FileSource;

use super::unsupervised::Unsupervised;
use crate::evaluate::{Asked, evaluate};
use crate::render::{self, Grid, number, with_error};
use crate::runs::Run;
use crate::stats::{mean, standard_error};
use crate::study::{Bench, Page, Study};

/// A file as it came, and the set with the same rows.
#[derive(Debug)]
pub struct Raw {
    file: &'static str,
    label: &'static str,
    prepared: &'static str,
}

const FILES: [Raw; 3] = [
    Raw { file: "bank_additional_full.csv", label: "y", prepared: "campaign" },
    Raw { file: "unsw_nb15_backdoor_mixed.csv.gz", label: "label", prepared: "backdoor" },
    Raw { file: "census_income.csv.gz", label: "label", prepared: "census" },
];

/// Seeds where none are asked for.
const SEEDS: u64 = 4;

/// Tables as they come.
#[derive(Debug, Args)]
pub struct RawTables {}

impl Study for RawTables {
    const NAME: &'static str = "raw";
    type Case = (&'static Raw, u64);
    type Row = Run;

    fn cases(&self, bench: &Bench) -> Result<Vec<Self::Case>> {
        let seeds = bench.seeds(SEEDS);
        Ok(FILES.iter().flat_map(|raw| (0..seeds).map(move |seed| (raw, seed))).collect())
    }

    fn is_done(&self, (raw, seed): &Self::Case, run: &Run, bench: &Bench) -> bool {
        run.is(raw.file, 0, *seed, &bench.settings)
    }

    fn measure(&self, (raw, seed): &Self::Case, bench: &Bench) -> Result<Option<Run>> {
        let source = FileSource::new(bench.options.data()?.join("raw").join(raw.file));
        let asked = Asked { name: raw.file, label: raw.label, noise: 0, seed: *seed };
        let run = evaluate(&asked, &source, bench).with_context(|| format!("{} failed", raw.file))?;
        Ok(Some(run))
    }

    fn words(run: &Run) -> String {
        run.words()
    }

    /// The prepared sets' runs are those of `unsupervised` in the same folder.
    fn page(&self, ours: Vec<Run>, bench: &Bench) -> Result<Page> {
        page(&ours, &bench.rows(Unsupervised::NAME)?, bench)
    }
}

fn page(ours: &[Run], prepared: &[Run], bench: &Bench) -> Result<Page> {
    let seeds = bench.seeds(SEEDS);
    let of = |runs: &[Run], name: &str| -> Vec<Run> {
        let wanted = |run: &&Run| (0..seeds).any(|seed| run.is(name, 0, seed, &bench.settings));
        runs.iter().filter(wanted).cloned().collect()
    };
    let mut grid =
        Grid::new(["file", "columns", "AUC", "AP", "prepared", "its AUC", "its AP", "difference of AUC"]);
    let mut csv =
        Grid::new(["file", "columns", "seeds", "auc", "ap", "prepared", "prepared_auc", "prepared_ap"]);
    let mut commits = Vec::new();
    for raw in &FILES {
        let (ours, theirs) = (of(ours, raw.file), of(prepared, raw.prepared));
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
    let text = format!(
        "# Tables as they come\n\nFiles with texts, categories and gaps, given to a fit without any preparation, against the same rows as \
         numbers with a column for each category, as the paper has them. ROC-AUC and average precision in %, mean ± standard error over {seeds} \
         seeds.\n\n{}",
        grid.markdown(1)
    );
    let command = bench.command(&format!("raw --data DIR --seeds {seeds}"));
    Ok(Page { text, commands: vec![command, "unsupervised --data DIR".into()], commits, csv, picture: None })
}
