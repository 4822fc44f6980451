//! How many planted rows were found, by kind and by table, and how many for the right reason.

use super::oddities::ODDITIES;
use super::specs::SPECS;
use super::{Found, METHODS, OURS, PlantedRun, ROWS, TOP};
use crate::render::{Grid, NONE};

/// The share of planted rows of which something is true, in %, or a dash without any.
fn share<'a>(found: impl IntoIterator<Item = &'a Found>, is: impl Fn(&Found) -> bool) -> String {
    let (mut all, mut some) = (0, 0);
    for one in found {
        all += 1;
        some += usize::from(is(one));
    }
    if all == 0 { NONE.into() } else { format!("{:.0}", 100.0 * some as f64 / f64::from(all)) }
}

/// The rows planted for a method: those of one kind and of one table, or of all.
fn of<'a>(
    runs: &'a [PlantedRun],
    method: &'a str,
    oddity: Option<&'a str>,
    table: Option<&'a str>,
) -> impl Iterator<Item = &'a Found> {
    let runs = runs.iter().filter(move |run| run.method == method);
    let runs = runs.filter(move |run| table.is_none_or(|table| run.table == table));
    let found = runs.flat_map(|run| &run.found);
    found.filter(move |found| oddity.is_none_or(|oddity| found.oddity == oddity))
}

fn is_among(found: &Found, first: usize) -> bool {
    found.reason.is_some_and(|place| place <= first)
}

/// The shares of each method by one thing.
fn shares<'a>(
    runs: &'a [PlantedRun],
    title: &str,
    lines: impl Iterator<Item = (&'static str, Option<&'a str>, Option<&'a str>)>,
) -> String {
    let methods = || METHODS.iter().map(|(name, _)| *name);
    let percent = |share: f64| format!("{} %", 100.0 * share);
    let columns = methods().flat_map(|name| TOP.map(|share| format!("{name}, {}", percent(share))));
    let mut grid = Grid::new([title.to_string(), "rows".into()].into_iter().chain(columns));
    for (name, oddity, table) in lines {
        let rows = of(runs, OURS, oddity, table).count();
        if rows == 0 {
            continue;
        }
        let both = |method| [0, 1].map(|top| share(of(runs, method, oddity, table), |found| found.top[top]));
        grid.push([name.to_string(), rows.to_string()].into_iter().chain(methods().flat_map(both)));
    }
    grid.markdown(1)
}

fn reasons(runs: &[PlantedRun]) -> String {
    let mut grid = Grid::new(["kind", "rows", "first reason", "one of the first three"]);
    for (name, oddity) in kinds() {
        // A reason that nobody comes to read is none.
        let found = || of(runs, OURS, oddity, None).filter(|found| found.top[1]);
        if found().count() > 0 {
            let [first, three] = [1, 3].map(|count| share(found(), |found| is_among(found, count)));
            grid.push([name.to_string(), found().count().to_string(), first, three]);
        }
    }
    grid.markdown(1)
}

/// All kinds, and all of them together.
fn kinds() -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    let kinds = ODDITIES.into_iter().map(|oddity| (oddity.name(), Some(oddity.name())));
    kinds.chain([("**all**", None)])
}

/// The whole page.
pub fn text(runs: &[PlantedRun]) -> String {
    let tables = SPECS.iter().map(|spec| (spec.name, None, Some(spec.name)));
    format!(
        "# Planted anomalies\n\nMade-up tables of {ROWS} rows as offices keep them, with numbers, categories and time stamps that depend on each other. Into each, one row \
         of each kind of oddity is planted (three with the rare category), fewer than the smaller share of the top; the columns that make it odd are known. All rows are fitted and \
         scored. The other methods get a column for each category, and time stamps as day, hour and weekday, numbers standardised.\n\n\
         ## Found\n\nPlanted rows among the 0.5 % and the 1 % of rows with the highest scores, in %.\n\n{}\n{}\n\
         ## For the right reason\n\nPlanted rows among the {} % with the highest scores whose reason, the term that raises the score most, names the planted column or pair, in %.\n\n{}",
        shares(runs, "kind", kinds().map(|(name, oddity)| (name, oddity, None))),
        shares(runs, "table", tables),
        100.0 * TOP[1],
        reasons(runs)
    )
}

/// A line for each planted row and method.
pub fn csv(runs: &[PlantedRun]) -> Grid {
    let mut grid =
        Grid::new(["table", "seed", "method", "oddity", "top_half_percent", "top_percent", "reason"]);
    for run in runs {
        for found in &run.found {
            let top = found.top.map(|inside| u8::from(inside).to_string());
            let reason = found.reason.map_or(String::new(), |place| place.to_string());
            let fixed = [run.table.clone(), run.seed.to_string(), run.method.clone(), found.oddity.clone()];
            grid.push(fixed.into_iter().chain(top).chain([reason]));
        }
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Made;

    #[test]
    fn shares_are_of_all_rows_of_a_kind() {
        let found = |top, reason| Found { oddity: ODDITIES[0].name().into(), top, reason };
        let run = |method: &str, found| PlantedRun {
            table: SPECS[0].name.into(),
            seed: 0,
            method: method.into(),
            version: "1".into(),
            found,
            made: Made { settings: "s".into(), commit: "c".into() },
        };
        let ours =
            vec![found([true, true], Some(1)), found([false, true], Some(3)), found([false; 2], Some(9))];
        let runs = [run(OURS, ours), run("ECOD", vec![found([false, true], None), found([false; 2], None)])];
        let page = text(&runs);
        let name = ODDITIES[0].name();
        assert!(page.contains(&format!("| {name} | 3 | 33 | 67 | – | – | 0 | 50 | – | – |")), "{page}");
        assert!(page.contains(&format!("| {name} | 2 | 50 | 100 |\n")), "{page}");
        assert_eq!(csv(&runs).csv().lines().count(), 6);
    }
}
