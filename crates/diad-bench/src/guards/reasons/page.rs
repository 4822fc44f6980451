//! The figures of all tables, and on how many they are as they should be.

use super::{LEAST, ROWS, ReasonsRun, TOP};
use crate::render::{Grid, number};
use crate::stats::median;

/// What a figure should be, in words, and whether a table's is.
type Goal = (&'static str, fn(&ReasonsRun) -> bool);
const GOALS: [Goal; 4] = [
    ("inflation: median at most 2 and 99 % quantile at most 4", |run| {
        run.inflation[0] <= 2.0 && run.inflation[1] <= 4.0
    }),
    ("another seed: median rank correlation at least 0.9", |run| run.agreement >= 0.9),
    ("a copy: its terms have as much as before, within 5 % of all contributions", |run| {
        run.lost.abs() <= 0.05
    }),
    ("a copy: no other term's share moves by more than 5 %", |run| run.moved <= 0.05),
];

/// The whole page.
pub fn text(runs: &[ReasonsRun]) -> String {
    let mut goals = Grid::new(["goal", "tables"]);
    for (words, is) in GOALS {
        let reached = runs.iter().filter(|run| is(run)).count();
        goals.push([words.to_owned(), format!("{reached} of {}", runs.len())]);
    }
    let middle = median(&runs.iter().map(|run| run.agreement).collect::<Vec<_>>());
    goals.push(["median over the tables of the rank correlation".to_owned(), number(middle, 2)]);
    let heads = ["inflation", "99 %", "agreement", "same first", "lost", "uneven", "moved"];
    let grid = grid(runs, heads, |figure| number(Some(figure), 2));
    format!(
        "# Reasons\n\nWhether the contributions of terms are small, and whether they are the same when nothing that matters changes. Every table is fitted without its \
         labels (of more than {ROWS} rows, every second or third, and so on), and the {} % of the rows with the highest scores, at least {LEAST}, are explained.\n\n\
         - *Inflation*: the sum of the sizes of all contributions to a row over the size of their sum, the score less the typical score. Where it is 1, nothing cancels.\n\
         - *Agreement*: the rank correlation with the contributions of another seed, over the terms that have 1 % of the row's contributions with either; and the share of the rows whose first reason is the same.\n\
         - *A copy* of the column that raises the scores most is added: how much less of all contributions its terms have (lost), the difference between the two copies as a share of both (uneven), and by how much the \
         share of another term moves at most.\n\nMedians over the rows.\n\n{}\n{}",
        100.0 * TOP,
        goals.markdown(1),
        grid.markdown(1)
    )
}

/// A line for each table.
pub fn csv(runs: &[ReasonsRun]) -> Grid {
    let heads = ["inflation", "inflation_99", "agreement", "same_first", "lost", "uneven", "moved"];
    grid(runs, heads, |figure| format!("{figure:.4}"))
}

/// The figures of each table under these heads.
fn grid(runs: &[ReasonsRun], heads: [&str; 7], written: impl Fn(f64) -> String) -> Grid {
    let mut grid = Grid::new(["set", "rows", "columns", "terms"].into_iter().chain(heads));
    for run in runs {
        let ReasonsRun { inflation: [middle, high], agreement, same_first, lost, uneven, moved, .. } = *run;
        let figures = [middle, high, agreement, same_first, lost, uneven, moved];
        let fixed =
            [run.task.set.clone(), run.rows.to_string(), run.columns.to_string(), run.terms.to_string()];
        grid.push(fixed.into_iter().chain(figures.map(&written)));
    }
    grid
}
