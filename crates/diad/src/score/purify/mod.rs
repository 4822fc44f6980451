//! Purification: what two columns say together is split into what each of them says alone and what only both say. Worked out once, from
//! the exact score, for both engines.
//!
//! A pair of columns adds g(x, y) to a score. With w the shares of the training rows near the nodes of both columns and m the mean of
//! g over them, two functions a(x) and b(y) are taken from the pair and given to its columns: those for which
//!
//! > Σ w (g - m - a - b)² + λ (Σ w a² + Σ w b²)
//!
//! is least. The part called surprise, which is nothing but what values say together, is not in g: it stays with the pair. Without the
//! second sum it would be nearly the same for many a and b where one column tells the other, and the least of all might have any size;
//! with it there is one solution, no larger than what it explains. See docs/explanations.md.

use std::collections::BTreeMap;

use super::Workspace;
use super::additive::Summand;
use super::exact::Exact;
use super::pieces::{Pieces, Wanted};
use crate::encode::Encoder;
use crate::function::Grid;
use crate::linear::{Limits, conjugate_gradients};
use crate::parallel::{self, Spaces};
use crate::profile::{Cell, Profile};

/// What moving something costs, in comparison with leaving it. Of what a column says alone in a pair of independent columns, 1 / (1 + λ)
/// is moved.
const RIDGE: f64 = 0.05;
/// When the equations are solved. Every step leaves less than three quarters of them.
const LIMITS: Limits = Limits { steps: 100, left: 1e-9 };

/// What is moved from a pair of columns to each of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Moved {
    /// The columns, ascending.
    pub columns: [usize; 2],
    /// A function of each, given by its values at the column's nodes, linear in between and constant beyond.
    pub values: [Vec<f64>; 2],
}

/// The nodes of each column between which what is moved is linear: each category, or some values of a number.
pub(crate) fn nodes(encoder: &Encoder, profile: &Profile) -> Vec<Vec<f32>> {
    let columns = encoder.columns().iter().zip(&profile.columns);
    columns
        .map(|(given, spread)| if given.positions() > 0 { given.places() } else { spread.nodes() })
        .collect()
}

/// What is moved from each pair of columns that the score has a function of, but for parts that stay `aside`.
pub(super) fn moved(
    exact: Exact,
    aside: &[&Summand],
    (encoder, profile): (&Encoder, &Profile),
    nodes: &[Vec<f32>],
) -> Vec<Moved> {
    let features = encoder.features();
    let mut pairs: BTreeMap<[usize; 2], Vec<usize>> = BTreeMap::new();
    for piece in 0..exact.pieces() {
        let mut columns =
            exact.piece_features(piece).map(|feature| features[feature as usize].column as usize);
        columns.sort_unstable();
        if columns[0] != columns[1] {
            pairs.entry(columns).or_default().push(piece);
        }
    }
    let pairs: Vec<([usize; 2], Vec<usize>)> = pairs.into_iter().collect();
    let scalers = encoder.scalers();
    let grids: Vec<(f64, &Grid)> = aside
        .iter()
        .flat_map(|part| part.functions.grids.iter().map(|grid| (f64::from(part.factor), grid)))
        .collect();
    let spaces = Spaces::default();
    parallel::map_outside(&pairs, &|(columns, pieces)| {
        let views = features.iter().zip(0u32..).filter(|(f, _)| columns.contains(&(f.column as usize)));
        let views: Vec<u32> = views.map(|(_, feature)| feature).collect();
        // Of each feature, its column's side and its value at each node of the column.
        let at_nodes: Vec<(usize, Vec<f32>)> = views
            .iter()
            .map(|&feature| {
                let column = features[feature as usize].column as usize;
                let original = |&node: &f32| scalers[column].original(node);
                let scaled = nodes[column].iter().map(original).map(|v| scalers[feature as usize].scale(v));
                (usize::from(column != columns[0]), scaled.collect())
            })
            .collect();
        let sides = columns.map(|column| &nodes[column][..]);
        let pair = Pair::new(profile.joint(*columns, sides), sides.map(<[f32]>::len));
        let value = |point: usize, k: usize| {
            let (side, values) = &at_nodes[k];
            values[pair.point(point)[*side]]
        };
        let wanted = Wanted { pieces, features: &views, value: &value };
        let mut values =
            spaces.with(|| Workspace::new(features.len()), |work| exact.sum_at(wanted, pair.points(), work));
        for (factor, grid) in &grids {
            let Some(sides) = sides_of(grid, &views) else { continue };
            for (point, total) in values.iter_mut().enumerate() {
                let [x, y] = sides.map(|k| f64::from(value(point, k)));
                *total -= factor * grid.at(x, y);
            }
        }
        Moved { columns: *columns, values: pair.split(&values) }
    })
}

/// Which of some features those of a grid are, if both are among them.
fn sides_of(grid: &Grid, features: &[u32]) -> Option<[usize; 2]> {
    let place = |feature: u32| features.iter().position(|&known| known == feature);
    Some([place(grid.features[0])?, place(grid.features[1])?])
}

/// Where the values of two columns come together, and the nodes that no row is near.
struct Pair {
    cells: Vec<Cell>,
    /// The shares of the rows near the nodes of either column.
    margins: [Vec<f64>; 2],
    /// For each node that no row is near, the points at which it meets the nodes of the other column that some are.
    bare: Vec<[usize; 2]>,
}

impl Pair {
    fn new(cells: Vec<Cell>, lengths: [usize; 2]) -> Self {
        let mut margins = lengths.map(|length| vec![0.0; length]);
        for Cell { at, weight } in &cells {
            margins[0][at[0]] += weight;
            margins[1][at[1]] += weight;
        }
        let mut bare = Vec::new();
        let empty =
            |side: usize| margins[side].iter().enumerate().filter(|(_, w)| **w == 0.0).map(|(n, _)| n);
        let taken = |side: usize| margins[side].iter().enumerate().filter(|(_, w)| **w > 0.0).map(|(n, _)| n);
        bare.extend(empty(0).flat_map(|i| taken(1).map(move |j| [i, j])));
        bare.extend(empty(1).flat_map(|j| taken(0).map(move |i| [i, j])));
        Self { cells, margins, bare }
    }

    /// At how many points the pair must be known: in its cells, then around nodes without rows.
    fn points(&self) -> usize {
        self.cells.len() + self.bare.len()
    }

    /// The nodes of a point.
    fn point(&self, point: usize) -> [usize; 2] {
        self.cells.get(point).map_or_else(|| self.bare[point - self.cells.len()], |cell| cell.at)
    }

    /// What is each column's own, at its nodes, of a pair with these values at the points.
    fn split(&self, values: &[f64]) -> [Vec<f64>; 2] {
        let (inside, beside) = values.split_at(self.cells.len());
        let mean: f64 = self.cells.iter().zip(inside).map(|(cell, value)| cell.weight * value).sum();
        let centred: Vec<f64> = inside.iter().map(|value| value - mean).collect();
        let mut own = self.least(&centred);
        // A node without rows meets the other column as all rows do.
        let mut more = own.each_ref().map(|own| vec![0.0; own.len()]);
        for (&[i, j], value) in self.bare.iter().zip(beside) {
            if self.margins[0][i] == 0.0 {
                more[0][i] += self.margins[1][j] * (value - mean - own[1][j]) / (1.0 + RIDGE);
            } else {
                more[1][j] += self.margins[0][i] * (value - mean - own[0][i]) / (1.0 + RIDGE);
            }
        }
        for (own, more) in own.iter_mut().zip(more) {
            own.iter_mut().zip(more).for_each(|(own, more)| *own += more);
        }
        own
    }

    /// The two functions for which the sum of squares is least. Nodes without rows have 0.
    fn least(&self, centred: &[f64]) -> [Vec<f64>; 2] {
        let first = self.margins[0].len();
        let mut right = vec![0.0; first + self.margins[1].len()];
        for (Cell { at, weight }, value) in self.cells.iter().zip(centred) {
            right[at[0]] += weight * value;
            right[first + at[1]] += weight * value;
        }
        let mut found = conjugate_gradients(
            &right,
            LIMITS,
            |x, image| self.apply(x, image),
            |right, eased| {
                for ((eased, x), weight) in eased.iter_mut().zip(right).zip(self.margins.iter().flatten()) {
                    *eased = if *weight > 0.0 { x / ((1.0 + RIDGE) * weight) } else { 0.0 };
                }
            },
        );
        let second = found.split_off(first);
        [found, second]
    }

    /// The left side of the equations, of the nodes of the first column and then of the second.
    fn apply(&self, x: &[f64], image: &mut [f64]) {
        for ((image, x), weight) in image.iter_mut().zip(x).zip(self.margins.iter().flatten()) {
            *image = (1.0 + RIDGE) * weight * x;
        }
        let first = self.margins[0].len();
        for Cell { at, weight } in &self.cells {
            image[at[0]] += weight * x[first + at[1]];
            image[first + at[1]] += weight * x[at[0]];
        }
    }
}

#[cfg(test)]
mod tests;
