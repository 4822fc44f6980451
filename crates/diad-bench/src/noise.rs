//! AUC with columns of uniform noise added, beside the clean result and the paper's.

use anyhow::Result;
use clap::Args;

use crate::evaluate::{jobs, run_missing};
use crate::options::{Folders, Settings, digest};
use crate::paper::{Figure, METHODS, PaperTable};
use crate::render::{self, Grid, NONE, figure, number, with_error};
use crate::runs::{Run, Store};
use crate::sets::{self, Set};
use crate::stats::mean;
use crate::summary::{Filter, Summary, summarise};
use crate::unsupervised;

/// The sets that get noise. The paper shows the first two.
const SETS: [&str; 5] = ["thyroid", "mammography", "siesmic", "campaign", "fraud"];
/// Columns of noise.
const COLUMNS: usize = 50;

/// The options of `diad-bench noise`.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    folders: Folders,
    #[command(flatten)]
    settings: Settings,
    /// Seeds 0 to this less one; at most four on sets of more than 200,000 rows.
    #[arg(long, default_value_t = 8)]
    seeds: u64,
    /// Only these sets.
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    sets: Vec<String>,
    /// Only write the tables from the runs there are.
    #[arg(long)]
    render: bool,
}

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

/// Runs what is missing, the clean runs too, and writes `noise.md` and `noise.csv`.
///
/// # Errors
/// If a set cannot be read or fitted, or a file cannot be written.
pub fn run(options: &Options) -> Result<()> {
    let params = options.settings.params()?;
    let noisy_runs: Store<Run> = Store::new(&options.folders.out, "noise.jsonl");
    let clean_runs = unsupervised::store(&options.folders);
    let all = SETS.iter().map(|name| sets::find(name)).collect::<Result<Vec<_>>>()?;
    if !options.render {
        let data = options.folders.data()?;
        options.settings.start_threads(None)?;
        for name in &options.sets {
            anyhow::ensure!(SETS.contains(&name.as_str()), "noise is measured on {}", SETS.join(", "));
        }
        let wanted = |set: &&Set| options.sets.is_empty() || options.sets.iter().any(|name| name == set.name);
        let sets: Vec<_> = all.iter().filter(wanted).copied().collect();
        // Seed by seed here too: the clean and the noisy run of a seed follow each other.
        let (clean, noisy) = (jobs(&sets, 0, options.seeds), jobs(&sets, COLUMNS, options.seeds));
        for seed in 0..options.seeds {
            for (jobs, store) in [(&clean, &clean_runs), (&noisy, &noisy_runs)] {
                let jobs: Vec<_> = jobs.iter().filter(|job| job.seed == seed).copied().collect();
                run_missing(&jobs, &params, &data, store)?;
            }
        }
    }
    let settings = digest(&params)?;
    let (clean, noisy) = (clean_runs.load()?, noisy_runs.load()?);
    let filter = |noise| Filter { noise, settings: &settings, seeds: options.seeds };
    let pairs: Vec<_> = all
        .iter()
        .filter_map(|set| {
            let clean = summarise(&clean, *set, &filter(0));
            Some(Pair { set: *set, clean, noisy: summarise(&noisy, *set, &filter(COLUMNS))? })
        })
        .collect();
    let command = format!("noise --data DIR --seeds {}{}", options.seeds, options.settings.command_line());
    let (paper_clean, paper_noisy) = (PaperTable::unsupervised()?, PaperTable::noise()?);
    let grid = grid(&pairs, &paper_clean, &paper_noisy);
    render::write(&options.folders.out, "noise", &markdown(&grid, &pairs, &command), &grid.csv())
}

fn markdown(grid: &Grid, pairs: &[Pair], command: &str) -> String {
    let commits = pairs.iter().flat_map(|pair| pair.clean.iter().chain([&pair.noisy]));
    let commits = commits.flat_map(|summary| summary.commits.iter().map(String::as_str));
    format!(
        "# With noise\n\nROC-AUC in % without labels, with and without {COLUMNS} columns of noise, uniform on [-1, 1], \
         drawn anew for each seed: mean ± standard error over the seeds. AP is our average precision in %. The columns \
         from DIAD on are the paper's figures; it shows two sets with noise.\n\n{}\n{}",
        grid.markdown(1),
        render::origin(&[command], commits)
    )
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
