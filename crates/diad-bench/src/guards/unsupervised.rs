//! AUC without labels on the paper's sets, beside the paper's table.

use anyhow::Result;
use clap::Args;

use crate::evaluate::{Job, by_jobs, jobs};
use crate::paper::{METHODS, PaperTable};
use crate::render::{Grid, NONE, figure, number, with_error};
use crate::runs::Run;
use crate::sets::{self, Set};
use crate::stats::{mean, mean_ranks};
use crate::study::{Bench, Page, Study};
use crate::summary::{Filter, Summary, summarise};

/// Seeds where none are asked for.
pub const SEEDS: u64 = 8;

/// AUC without labels.
#[derive(Debug, Args)]
pub struct Unsupervised {
    /// Also the eight further sets.
    #[arg(long)]
    extra: bool,
}

impl Study for Unsupervised {
    const NAME: &'static str = "unsupervised";
    by_jobs!();

    fn cases(&self, bench: &Bench) -> Result<Vec<Job>> {
        Ok(jobs(&bench.sets(self.extra)?, 0, bench.seeds(SEEDS)))
    }

    fn page(&self, runs: Vec<Run>, bench: &Bench) -> Result<Page> {
        let filter = Filter { noise: 0, settings: &bench.settings, seeds: bench.seeds(SEEDS) };
        let done: Vec<_> = sets::SETS.iter().filter_map(|set| summarise(&runs, *set, &filter)).collect();
        let extra = if done.iter().any(|summary| summary.set.extra) { " --extra" } else { "" };
        let command = bench.command(&format!("unsupervised --data DIR --seeds {}{extra}", filter.seeds));
        let paper = PaperTable::unsupervised()?;
        let (text, csv) = (text(&done, &paper), csv(&done, &paper));
        Ok(Page::new(text, csv, command, done.into_iter().flat_map(|summary| summary.commits)))
    }
}

fn text(done: &[Summary], paper: &PaperTable) -> String {
    let (ours, extra): (Vec<_>, Vec<_>) = done.iter().cloned().partition(|summary| !summary.set.extra);
    let mut page = String::from("# Without labels\n\n");
    page.push_str(
        "ROC-AUC in %, fitted on all rows without their labels and scored on the same rows: mean ± standard error \
         over the seeds. AP is our average precision in %. The columns from DIAD on are the paper's figures. \
         Ranks are over the paper's eleven methods and ours, at the paper's precision of one decimal; methods \
         that tie share the mean rank.\n\n",
    );
    page.push_str(&paper_grid(&ours, paper).markdown(1));
    if ours.len() < paper_sets() {
        page.push_str(&format!("\nAverages are over the {} sets above, of {}.\n", ours.len(), paper_sets()));
    }
    if !extra.is_empty() {
        page.push_str("\n## Further sets\n\nThe paper does not have these.\n\n");
        page.push_str(&extra_grid(&extra).markdown(1));
    }
    page
}

fn paper_sets() -> usize {
    sets::SETS.iter().filter(|set| !set.extra).count()
}

/// Our column and the paper's, the averages and the ranks.
fn paper_grid(done: &[Summary], paper: &PaperTable) -> Grid {
    let mut grid = Grid::new(["set", "seeds", "ours", "AP"].into_iter().chain(METHODS));
    for summary in done {
        let Some(row) = paper.row(summary.set.name) else { continue };
        let ours = [
            summary.set.name.to_string(),
            summary.seeds.to_string(),
            with_error(summary.auc, summary.auc_error),
            with_error(summary.ap, summary.ap_error),
        ];
        grid.push(ours.into_iter().chain(row.iter().map(|cell| figure(Some(cell)))));
    }
    let columns = columns(done, paper);
    let average = |values: &Vec<f64>| number(mean(values), 1);
    let precision = number(mean(&done.iter().map(|summary| summary.ap).collect::<Vec<_>>()), 1);
    let mut cells = vec!["**average**".to_string(), String::new(), average(&columns[0]), precision];
    cells.extend(columns[1..].iter().map(average));
    grid.push(cells);

    let average_ranks = mean_ranks(&columns);
    let rank = |place: usize| number(average_ranks.get(place).copied(), 1);
    let mut cells = vec!["**average rank**".to_string(), String::new(), rank(0), NONE.into()];
    cells.extend((1..=METHODS.len()).map(rank));
    grid.push(cells);
    grid
}

/// AUC by method (ours first, then the paper's), each over the same sets.
fn columns(done: &[Summary], paper: &PaperTable) -> Vec<Vec<f64>> {
    let mut columns = vec![Vec::new(); METHODS.len() + 1];
    for summary in done {
        let Some(row) = paper.row(summary.set.name) else { continue };
        let values = std::iter::once(summary.auc).chain(row.iter().map(|cell| cell.mean));
        columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }
    columns
}

fn extra_grid(done: &[Summary]) -> Grid {
    let mut grid = Grid::new(["set", "seeds", "AUC", "AP"]);
    for summary in done {
        grid.push([
            summary.set.name.to_string(),
            summary.seeds.to_string(),
            with_error(summary.auc, summary.auc_error),
            with_error(summary.ap, summary.ap_error),
        ]);
    }
    let average = |value: fn(&Summary) -> f64| number(mean(&done.iter().map(value).collect::<Vec<_>>()), 1);
    let cells = [average(|summary| summary.auc), average(|summary| summary.ap)];
    grid.push(["**average**".to_string(), String::new()].into_iter().chain(cells));
    grid
}

fn csv(done: &[Summary], paper: &PaperTable) -> Grid {
    let ours = ["set", "rows", "features", "seeds", "auc", "auc_se", "ap", "ap_se"];
    let theirs = METHODS.iter().flat_map(|method| [method.to_string(), format!("{method}_se")]);
    let mut grid = Grid::new(ours.into_iter().map(String::from).chain(theirs));
    let cell =
        |value: Option<f64>, decimals| value.map_or_else(String::new, |value| format!("{value:.decimals$}"));
    for summary in done {
        let Set { name, rows, .. } = summary.set;
        let mut cells = vec![name.to_string(), rows.to_string()];
        cells.extend([summary.features.to_string(), summary.seeds.to_string()]);
        let figures = [Some(summary.auc), summary.auc_error, Some(summary.ap), summary.ap_error];
        cells.extend(figures.map(|value| cell(value, 3)));
        for figure in paper.row(name).unwrap_or_default() {
            cells.extend([cell(Some(figure.mean), 1), cell(figure.error, 1)]);
        }
        grid.push(cells);
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::sample;

    fn two_sets() -> Vec<Summary> {
        let runs = [sample("vowels", 0, 99.0), sample("musk", 0, 100.0), sample("musk", 1, 100.0)];
        let filter = Filter { noise: 0, settings: "s1", seeds: 8 };
        sets::SETS.iter().filter_map(|set| summarise(&runs, *set, &filter)).collect()
    }

    #[test]
    fn ranks_are_over_the_papers_methods_and_ours() {
        let paper = PaperTable::unsupervised().expect("well formed");
        let ranks = mean_ranks(&columns(&two_sets(), &paper));
        assert_eq!(ranks.len(), 12);
        // First on vowels; on musk four methods have 100.0 and share 2.5.
        assert_eq!(ranks[0], f64::midpoint(1.0, 2.5));
        // kNN: second on vowels, last of twelve on musk.
        assert_eq!(ranks[8], f64::midpoint(2.0, 12.0));
        assert!(mean_ranks(&columns(&[], &paper)).is_empty());
    }

    #[test]
    fn page_has_our_figures_beside_the_papers() {
        let paper = PaperTable::unsupervised().expect("well formed");
        let page = text(&two_sets(), &paper);
        assert!(page.contains("| vowels | 1 | 99.0 | 49.5 | 78.3 ± 0.9 | 74.0 ± 1.0 |"), "{page}");
        assert!(page.contains("| musk | 2 | 100.0 ± 0.0 | 50.0 ± 0.0 | 90.8 ± 0.9 |"), "{page}");
        assert!(page.contains("| **average** |  | 99.5 | 49.8 | 84.5 |"), "{page}");
        assert!(page.contains("| **average rank** |  | 1.8 | – |"), "{page}");
        assert!(page.contains("over the 2 sets above, of 18"), "{page}");
    }

    #[test]
    fn csv_has_a_line_for_each_set() {
        let text = csv(&two_sets(), &PaperTable::unsupervised().expect("well formed")).csv();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[1].starts_with("vowels,1456,5,1,99.000,,49.500,,78.3,0.9,74.0,1.0"), "{}", lines[1]);
        assert_eq!(lines[1].split(',').count(), lines[0].split(',').count());
    }
}
