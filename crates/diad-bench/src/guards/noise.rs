//! AUC with columns of uniform noise added, beside the clean result and the paper's.

use anyhow::Result;
use clap::Args;

use super::unsupervised::{SEEDS, Unsupervised};
use crate::evaluate::{Job, by_jobs, jobs};
use crate::options::known;
use crate::paper::{Figure, METHODS, PaperTable};
use crate::render::{Grid, NONE, figure, number, with_error};
use crate::runs::Run;
use crate::sets::{self, Set};
use crate::stats::mean;
use crate::study::{Bench, Page, Study};
use crate::summary::{Filter, Summary, summarise};

/// The sets that get noise. The paper shows the first two.
const SETS: [&str; 5] = ["thyroid", "mammography", "siesmic", "campaign", "fraud"];
/// Columns of noise.
const COLUMNS: usize = 50;

/// AUC with noise.
#[derive(Debug, Args)]
pub struct Noise {}

/// One set's figures with and without noise.
struct Pair {
    set: Set,
    clean: Option<Summary>,
    noisy: Summary,
}

impl Pair {
    fn loss(&self) -> Option<f64> {
        Some(self.clean.as_ref()?.auc - self.noisy.auc)
    }
}

impl Study for Noise {
    const NAME: &'static str = "noise";
    by_jobs!();

    fn cases(&self, bench: &Bench) -> Result<Vec<Job>> {
        known("set with noise", &bench.options.sets, &SETS)?;
        let sets: Vec<_> = sets()?.into_iter().filter(|set| bench.options.wants(set.name)).collect();
        let seeds = bench.seeds(SEEDS);
        let mut all = [jobs(&sets, 0, seeds), jobs(&sets, COLUMNS, seeds)].concat();
        // The clean and the noisy runs of a seed follow each other.
        all.sort_by_key(|job| job.seed);
        Ok(all)
    }

    fn home(job: &Job) -> &'static str {
        if job.noise == 0 { Unsupervised::NAME } else { Self::NAME }
    }

    fn page(&self, noisy: Vec<Run>, bench: &Bench) -> Result<Page> {
        let clean: Vec<Run> = bench.rows(Unsupervised::NAME)?;
        let filter = |noise| Filter { noise, settings: &bench.settings, seeds: bench.seeds(SEEDS) };
        let pair = |set: Set| {
            let clean = summarise(&clean, set, &filter(0));
            Some(Pair { set, clean, noisy: summarise(&noisy, set, &filter(COLUMNS))? })
        };
        let pairs: Vec<_> = sets()?.into_iter().filter_map(pair).collect();
        let grid = grid(&pairs, &PaperTable::unsupervised()?, &PaperTable::noise()?);
        let summaries = pairs.into_iter().flat_map(|pair| pair.clean.into_iter().chain([pair.noisy]));
        let commits = summaries.flat_map(|summary| summary.commits);
        let text = format!(
            "# With noise\n\nROC-AUC in % without labels, with and without {COLUMNS} columns of noise, uniform on [-1, 1], \
             drawn anew for each seed: mean ± standard error over the seeds. AP is our average precision in %. The columns \
             from DIAD on are the paper's figures; it shows two sets with noise.\n\n{}",
            grid.markdown(1)
        );
        let command = bench.command(&format!("noise --data DIR --seeds {}", bench.seeds(SEEDS)));
        Ok(Page::new(text, grid, command, commits))
    }
}

fn sets() -> Result<Vec<Set>> {
    SETS.iter().map(|name| sets::find(name)).collect()
}

fn grid(pairs: &[Pair], paper_clean: &PaperTable, paper_noisy: &PaperTable) -> Grid {
    let mut grid = Grid::new(["set", "seeds", "ours", "AP"].into_iter().chain(METHODS));
    for pair in pairs {
        let name = pair.set.name;
        let rows = [
            (name.to_string(), pair.clean.as_ref(), paper_clean.row(name)),
            (format!("{name} + noise"), Some(&pair.noisy), paper_noisy.row(name)),
        ];
        for (label, ours, paper) in rows {
            let mut cells = vec![label];
            cells.push(ours.map_or_else(|| NONE.into(), |ours| ours.seeds.to_string()));
            cells.push(ours.map_or_else(|| NONE.into(), |ours| with_error(ours.auc, ours.auc_error)));
            cells.push(ours.map_or_else(|| NONE.into(), |ours| with_error(ours.ap, ours.ap_error)));
            cells.extend((0..METHODS.len()).map(|place| figure(paper.and_then(|row| row.get(place)))));
            grid.push(cells);
        }
    }
    let both: Vec<_> = pairs
        .iter()
        .filter_map(|pair| {
            Some((pair.loss(), paper_clean.row(pair.set.name)?, paper_noisy.row(pair.set.name)?))
        })
        .collect();
    let ours: Vec<_> = both.iter().filter_map(|(loss, ..)| *loss).collect();
    let mut cells = vec!["**average loss, the paper's sets**".to_string(), String::new()];
    cells.extend([number(mean(&ours), 1), String::new()]);
    let loss = |place: usize| {
        let of = |(_, clean, noisy): &(_, &[Figure], &[Figure])| clean[place].mean - noisy[place].mean;
        number(mean(&both.iter().map(of).collect::<Vec<_>>()), 1)
    };
    cells.extend((0..METHODS.len()).map(loss));
    grid.push(cells);
    let losses: Vec<_> = pairs.iter().filter_map(Pair::loss).collect();
    let mut cells = vec!["**average loss, all sets above**".to_string(), String::new()];
    cells.extend([number(mean(&losses), 1), String::new()]);
    cells.extend(METHODS.map(|_| NONE.to_string()));
    grid.push(cells);
    grid
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::sample;

    fn pair(name: &str, clean: f64, noisy: f64) -> Pair {
        let set = sets::find(name).expect("a set");
        let filter = Filter { noise: 0, settings: "s1", seeds: 8 };
        let of = |auc| summarise(&[sample(name, 0, auc)], set, &filter);
        Pair { set, clean: of(clean), noisy: of(noisy).expect("a run") }
    }

    #[test]
    fn losses_are_averaged_over_the_papers_sets_and_over_all() {
        let pairs =
            [pair("thyroid", 84.0, 75.0), pair("mammography", 85.0, 84.0), pair("siesmic", 70.0, 68.0)];
        let tables = (PaperTable::unsupervised().expect("clean"), PaperTable::noise().expect("noisy"));
        let text = grid(&pairs, &tables.0, &tables.1).markdown(1);
        assert!(
            text.contains("| thyroid + noise | 1 | 75.0 | 37.5 | 71.1 ± 1.2 | 76.0 ± 2.9 | 64.4 ± 1.6 |"),
            "{text}"
        );
        assert!(text.contains("| siesmic + noise | 1 | 68.0 | 34.0 | – |"), "{text}");
        // The paper, too, gives 3.5, 7.5, 15.6 and 17.6 for DIAD, PIDForest, IF and COPOD.
        assert!(text.contains("the paper's sets** |  | 5.0 |  | 3.5 | 7.5 | 15.6 | 17.6 |"), "{text}");
        assert!(text.contains("| **average loss, all sets above** |  | 4.0 |"), "{text}");
    }
}
