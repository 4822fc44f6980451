//! What would have to change for a row to be ordinary.

use super::{Axis, Explainer};
use crate::parallel;
use crate::table::{Table, Values};
use crate::{Error, Result};

/// Values of a column that are tried, beside those the training rows had.
const EVENLY: usize = 49;
/// Columns that are looked at: those that add most to the score.
const SCANNED: usize = 256;
/// Values of each column that are tried in pairs.
const IN_PAIRS: usize = 32;
/// Columns that are tried in pairs: those that could lower the score most.
const PAIRED_COLUMNS: usize = 12;
/// Best finds that are checked.
const CHECKED: usize = 8;
/// Steps of a clock in seconds to which a change is rounded.
const DIAL: [f64; 4] = [3600.0, 900.0, 60.0, 1.0];
/// Halvings of a change that is still too large.
const HALVINGS: usize = 16;

/// Another value for a column.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Replacement {
    /// The column.
    pub column: usize,
    /// Its value in the row.
    pub from: f64,
    /// The value that would do.
    pub to: f64,
}

/// A change of one or two columns that brings a row's score below a threshold.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Counterfactual {
    /// One or two columns with their new values, all within the range of the training rows.
    pub replacements: Vec<Replacement>,
    /// How far the row would move, in ranges of the columns.
    pub distance: f64,
    /// The score it would get.
    pub score: f32,
}

/// Values tried for a column, and by how much each changes the score.
struct Scan {
    column: usize,
    /// Positions on the column's axis, and how far each is from the row's.
    positions: Vec<f64>,
    distances: Vec<f64>,
    differences: Vec<f64>,
    discrete: bool,
}

/// A change to be checked: columns with their new positions, and how far away they are.
type Find = (f64, Vec<(usize, f64)>);

impl Explainer<'_> {
    /// The smallest change of one column, and of two where that is smaller, that brings the score of a row below
    /// `threshold`. Found along the terms, then checked by scoring the changed row. Empty if the row is below it
    /// already, or nothing was found.
    ///
    /// `values` are those of the columns of the encoder, in their order.
    ///
    /// # Errors
    /// If there is not one value for each column, or one is missing or infinite.
    pub fn counterfactuals(&self, values: &[f64], threshold: f32) -> Result<Vec<Counterfactual>> {
        let columns = self.detector.encoder().columns().len();
        if values.len() != columns {
            return Err(Error::Width { found: values.len(), expected: columns });
        }
        let score = self.score_row(values)?;
        if score < threshold {
            return Ok(Vec::new());
        }
        let excess = f64::from(score) - f64::from(threshold);
        let axes: Vec<Axis> = (0..columns).map(|column| self.axis(column)).collect();
        let scanned = self.most_blamed(values)?;
        let mut scans = parallel::map(&scanned, &|&column| self.scan(column, values, &axes[column]));
        let one = self.first_that_holds(single_finds(&scans, excess), values, &axes, threshold)?;
        let least = |scan: &Scan| scan.differences.iter().copied().fold(0.0, f64::min);
        scans.sort_by(|a, b| least(a).total_cmp(&least(b)));
        scans.truncate(PAIRED_COLUMNS);
        let two = self.first_that_holds(
            self.paired_finds(&scans, values, &axes, excess),
            values,
            &axes,
            threshold,
        )?;
        let nearer = |two: &Counterfactual| one.as_ref().is_none_or(|one| two.distance < one.distance);
        let two = two.filter(nearer);
        Ok(one.into_iter().chain(two).collect())
    }

    /// The columns that add most to the score of a row, in their order.
    fn most_blamed(&self, values: &[f64]) -> Result<Vec<usize>> {
        let mut blamed: Vec<(usize, f64)> = (0..values.len()).map(|column| (column, 0.0)).collect();
        if blamed.len() > SCANNED {
            let explained = self.contributions(&self.row_table(values)?)?;
            for (term, contribution) in self.terms.iter().zip(explained.row(0)) {
                term.columns.iter().for_each(|&column| blamed[column].1 += contribution);
            }
            blamed.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            blamed.truncate(SCANNED);
            blamed.sort_by_key(|(column, _)| *column);
        }
        Ok(blamed.into_iter().map(|(column, _)| column).collect())
    }

    fn scan(&self, column: usize, values: &[f64], axis: &Axis) -> Scan {
        let spread = &self.detector.profile().columns[column];
        let discrete = axis.is_discrete();
        let seen = spread.values().iter().map(|&value| (f64::from(value) + 1.0) / 2.0);
        let evenly = (0..if discrete { 0 } else { EVENLY }).map(|i| i as f64 / (EVENLY - 1) as f64);
        let positions: Vec<f64> = seen.chain(evenly).collect();
        let mut differences = vec![0.0; positions.len()];
        for (term, given) in self.terms.iter().enumerate().filter(|(_, term)| term.columns.contains(&column))
        {
            // The last point is the row as it is.
            let contributions =
                self.evaluate_at(term, positions.len() + 1, &|point, at| match given.columns[at] {
                    changed if changed == column => {
                        positions.get(point).map_or(values[column], |&position| axis.value(position))
                    }
                    other => values[other],
                });
            let now = contributions[positions.len()];
            differences.iter_mut().zip(&contributions).for_each(|(total, new)| *total += new - now);
        }
        let given = &self.detector.encoder().columns()[column];
        if given.oddity(values[column]).is_some() {
            let penalty = self.detector.penalty(column);
            differences.iter_mut().for_each(|difference| *difference -= penalty);
        }
        let here = axis.position(values[column]);
        let distances = positions.iter().map(|position| (position - here).abs()).collect();
        Scan { column, positions, distances, differences, discrete }
    }

    /// Changes of two columns that should do, the smallest first.
    fn paired_finds(&self, scans: &[Scan], values: &[f64], axes: &[Axis], excess: f64) -> Vec<Find> {
        let pairs: Vec<(&Scan, &Scan)> =
            scans.iter().enumerate().flat_map(|(i, a)| scans[..i].iter().map(move |b| (b, a))).collect();
        let best = |&(a, b): &(&Scan, &Scan)| {
            let chosen = [a, b].map(thinned);
            let joint = self.joint([a, b], &chosen, values, axes);
            let mut best: Option<Find> = None;
            for (i, &k) in chosen[0].iter().enumerate() {
                for (j, &l) in chosen[1].iter().enumerate() {
                    let difference = a.differences[k] + b.differences[l] + joint[i * chosen[1].len() + j];
                    let distance = libm::hypot(a.distances[k], b.distances[l]);
                    if difference < -excess && best.as_ref().is_none_or(|best| distance < best.0) {
                        let changes = vec![(a.column, a.positions[k]), (b.column, b.positions[l])];
                        best = Some((distance, changes));
                    }
                }
            }
            best
        };
        let mut finds: Vec<Find> = parallel::map(&pairs, &best).into_iter().flatten().collect();
        finds.sort_by(|a, b| a.0.total_cmp(&b.0));
        finds
    }

    /// What changing both columns does beyond changing each alone, for the chosen values of both.
    fn joint(&self, scans: [&Scan; 2], chosen: &[Vec<usize>; 2], values: &[f64], axes: &[Axis]) -> Vec<f64> {
        let columns = scans.map(|scan| scan.column);
        let across = chosen[1].len() + 1;
        let Some(term) = self.find(&columns) else { return vec![0.0; chosen[0].len() * chosen[1].len()] };
        // The last value of each column is the row's own.
        let new = |side: usize, place: usize| match chosen[side].get(place) {
            Some(&k) => axes[columns[side]].value(scans[side].positions[k]),
            None => values[columns[side]],
        };
        let first = usize::from(self.terms[term].columns[0] != columns[0]);
        let table = self.evaluate_at(term, (chosen[0].len() + 1) * across, &|point, at| {
            let side = at ^ first;
            new(side, if side == 0 { point / across } else { point % across })
        });
        let at = |i: usize, j: usize| table[i * across + j];
        let (rows, columns) = (chosen[0].len(), chosen[1].len());
        let beyond = |i: usize, j: usize| at(i, j) - at(i, columns) - at(rows, j) + at(rows, columns);
        (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).map(|(i, j)| beyond(i, j)).collect()
    }

    /// The first of some changes that brings the score below the threshold, made no larger than needed.
    fn first_that_holds(
        &self,
        finds: Vec<Find>,
        values: &[f64],
        axes: &[Axis],
        threshold: f32,
    ) -> Result<Option<Counterfactual>> {
        for (_, changes) in finds.into_iter().take(CHECKED) {
            let try_share = |share: f64, digits: Option<usize>| -> Result<Option<(Vec<f64>, f32)>> {
                let mut changed = values.to_vec();
                for &(column, position) in &changes {
                    let here = axes[column].position(values[column]);
                    let exact = axes[column].value(here + share * (position - here));
                    changed[column] = digits.map_or(exact, |digits| axes[column].rounded(exact, digits));
                    if changed[column] < axes[column].min || changed[column] > axes[column].max {
                        return Ok(None);
                    }
                }
                let score = self.score_row(&changed)?;
                Ok((score < threshold).then_some((changed, score)))
            };
            let Some(mut found) = try_share(1.0, None)? else { continue };
            let discrete = |&(column, _): &(usize, f64)| axes[column].is_discrete();
            if !changes.iter().any(discrete) {
                let (mut low, mut high) = (0.0, 1.0);
                for _ in 0..HALVINGS {
                    let middle = (low + high) / 2.0;
                    match try_share(middle, None)? {
                        Some(nearer) => (high, found) = (middle, nearer),
                        None => low = middle,
                    }
                }
                for digits in 1..6 {
                    if let Some(round) = try_share(high, Some(digits))? {
                        // A rounder number may be a larger step, but not by much.
                        let step = |changed: &[f64]| distance(&changes, changed, values, axes);
                        if step(&round.0) <= 1.1 * step(&found.0) + 1e-9 {
                            found = round;
                            break;
                        }
                    }
                }
            }
            let (changed, score) = found;
            // What looks the same is no change to anyone.
            let is_seen = |&(column, _): &(usize, f64)| {
                self.words(column, values[column]) != self.words(column, changed[column])
            };
            if !changes.iter().all(is_seen) {
                continue;
            }
            let replacement = |&(column, _): &(usize, f64)| Replacement {
                column,
                from: values[column],
                to: changed[column],
            };
            return Ok(Some(Counterfactual {
                replacements: changes.iter().map(replacement).collect(),
                distance: distance(&changes, &changed, values, axes),
                score,
            }));
        }
        Ok(None)
    }

    fn score_row(&self, values: &[f64]) -> Result<f32> {
        Ok(self.detector.score(&self.row_table(values)?)?[0])
    }

    /// A row as a table.
    fn row_table(&self, values: &[f64]) -> Result<Table> {
        let names = self.detector.encoder().columns().iter().map(|column| column.name.clone()).collect();
        Ok(Table::of(names, values.iter().map(|&value| Values::Encoded(vec![value])).collect())?)
    }
}

fn distance(changes: &[(usize, f64)], changed: &[f64], values: &[f64], axes: &[Axis]) -> f64 {
    let moved = |&(column, _): &(usize, f64)| {
        axes[column].position(changed[column]) - axes[column].position(values[column])
    };
    libm::sqrt(changes.iter().map(|change| moved(change).powi(2)).sum())
}

/// Changes of one column that should do, the smallest first, one for each column.
fn single_finds(scans: &[Scan], excess: f64) -> Vec<Find> {
    let best = |scan: &Scan| {
        let holds = |k: &usize| scan.differences[*k] < -excess && scan.distances[*k] > 0.0;
        let nearest = |a: &usize, b: &usize| scan.distances[*a].total_cmp(&scan.distances[*b]);
        let k = (0..scan.positions.len()).filter(holds).min_by(nearest)?;
        Some((scan.distances[k], vec![(scan.column, scan.positions[k])]))
    };
    let mut finds: Vec<Find> = scans.iter().filter_map(best).collect();
    finds.sort_by(|a, b| a.0.total_cmp(&b.0));
    finds
}

/// The values of a scan that are tried in pairs: those that lower the score, evenly thinned by their distance.
fn thinned(scan: &Scan) -> Vec<usize> {
    let useful = |k: &usize| scan.distances[*k] > 0.0 && (scan.discrete || scan.differences[*k] < 0.0);
    let mut useful: Vec<usize> = (0..scan.positions.len()).filter(useful).collect();
    useful.sort_by(|&a, &b| scan.distances[a].total_cmp(&scan.distances[b]));
    let step = useful.len().div_ceil(IN_PAIRS).max(1);
    useful.into_iter().step_by(step).collect()
}

impl Axis {
    /// A value with so many digits that count; of a clock in the steps of its dial, of dates in days.
    fn rounded(&self, value: f64, digits: usize) -> f64 {
        let step = match self.clock {
            _ if self.dates => 1.0,
            Some(_) => DIAL[digits.min(DIAL.len()) - 1],
            None => return format!("{value:.*e}", digits - 1).parse().unwrap_or(value),
        };
        (value / step).round() * step
    }
}
