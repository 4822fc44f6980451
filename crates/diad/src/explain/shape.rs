//! Terms as tables, for plots.

use std::collections::HashMap;

use super::Explainer;
use crate::function::locate;

/// Points along a line beside those where the training rows were.
const EVENLY: usize = 65;

/// So many training rows are few: a shape that rests on fewer says little.
pub const FEW_ROWS: f64 = 5.0;
/// Rows this far away on an axis still are near.
const NEAR: f32 = 0.02;

/// A term of one column along the column's axis.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Line {
    /// Positions along the axis, ascending from 0 to 1; for a column of few values, one for each.
    pub positions: Vec<f64>,
    /// What the term contributes there.
    pub values: Vec<f64>,
    /// About how many training rows are near each position. Where these are fewer than [`FEW_ROWS`], little supports the shape.
    pub rows: Vec<f64>,
}

/// A term of two columns over the axes of both.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Surface {
    /// The middles of its cells along each axis, as positions from 0 to 1.
    pub positions: [Vec<f64>; 2],
    /// What the term contributes there, the second column the fastest index.
    pub values: Vec<f64>,
    /// About how many training rows are near each cell. Where these are fewer than [`FEW_ROWS`], little supports the shape.
    pub rows: Vec<f64>,
}

impl Explainer<'_> {
    /// A term of one column as a line.
    ///
    /// # Panics
    /// If there is no such term, or it has two columns.
    pub fn line(&self, term: usize) -> Line {
        let &[column] = self.terms[term].columns() else { panic!("a line needs a term of one column") };
        let spread = &self.detector.profile().columns[column];
        let positions: Vec<f64> = match spread.distinct() {
            Some(values) => values.iter().map(|&value| position(value)).collect(),
            None => {
                let evenly = (0..EVENLY).map(|i| i as f64 / (EVENLY - 1) as f64);
                let mut all: Vec<f64> = evenly.chain(spread.values().iter().map(|&v| position(v))).collect();
                all.sort_unstable_by(f64::total_cmp);
                // Closer than a printer could show.
                all.dedup_by(|a, b| *a - *b < 1e-4);
                all
            }
        };
        let values = self.line_at(term, &positions);
        let rows =
            positions.iter().map(|&at| self.rows_near(column, at, spread.distinct().is_some())).collect();
        Line { positions, values, rows }
    }

    /// About how many training rows are near a position on the axis of a column, or exactly there.
    fn rows_near(&self, column: usize, position: f64, exactly: bool) -> f64 {
        let spread = &self.detector.profile().columns[column];
        let (scaled, near) = ((position * 2.0 - 1.0) as f32, if exactly { 1e-6 } else { 2.0 * NEAR });
        (spread.up_to(scaled + near) - spread.below(scaled - near)) * self.detector.training_rows() as f64
    }

    /// A term of one column at positions along its axis.
    ///
    /// # Panics
    /// If there is no such term, or it has two columns.
    pub fn line_at(&self, term: usize, positions: &[f64]) -> Vec<f64> {
        let axis = self.axis(self.terms[term].columns[0]);
        assert_eq!(self.terms[term].columns.len(), 1, "a line needs a term of one column");
        self.evaluate_at(term, positions.len(), &|point, _| axis.value(positions[point]))
    }

    /// A term of two columns as a table of so many cells along each axis; columns of few values have one for each.
    ///
    /// # Panics
    /// If there is no such term, or it has one column.
    pub fn surface(&self, term: usize, cells: usize) -> Surface {
        let &[first, second] = self.terms[term].columns() else {
            panic!("a surface needs a term of two columns")
        };
        let positions =
            [first, second].map(|column| match self.detector.profile().columns[column].distinct() {
                Some(values) if values.len() <= cells => {
                    values.iter().map(|&value| position(value)).collect()
                }
                _ => (0..cells).map(|i| (i as f64 + 0.5) / cells as f64).collect::<Vec<f64>>(),
            });
        let axes = [self.axis(first), self.axis(second)];
        let across = positions[1].len();
        let values = self.evaluate_at(term, positions[0].len() * across, &|point, axis| {
            let place = if axis == 0 { point / across } else { point % across };
            axes[axis].value(positions[axis][place])
        });
        let rows = self.rows_in([first, second], &positions);
        Surface { positions, values, rows }
    }

    /// About how many training rows are near each two positions on the axes of two columns.
    fn rows_in(&self, columns: [usize; 2], positions: &[Vec<f64>; 2]) -> Vec<f64> {
        let nodes = columns.map(|column| &self.nodes[column][..]);
        // Of each position, the nearest nodes and its share of the rows near those.
        let nearest = [0, 1].map(|side| {
            let place = |&position: &f64| {
                let (node, share) = locate(position * 2.0 - 1.0, nodes[side]);
                node + usize::from(share > 0.5)
            };
            positions[side].iter().map(place).collect::<Vec<usize>>()
        });
        let sharing = [0, 1].map(|side| {
            let mut sharing = vec![0.0f64; nodes[side].len()];
            nearest[side].iter().for_each(|&node| sharing[node] += 1.0);
            sharing
        });
        let mut rows = vec![0.0; positions[0].len() * positions[1].len()];
        let all = self.detector.training_rows() as f64;
        let cells: HashMap<[usize; 2], f64> = self
            .detector
            .profile()
            .joint(columns, nodes)
            .into_iter()
            .map(|cell| (cell.at, cell.weight))
            .collect();
        let pairs = nearest[0].iter().flat_map(|&i| nearest[1].iter().map(move |&j| [i, j]));
        for (rows, at) in rows.iter_mut().zip(pairs) {
            let share = cells.get(&at).copied().unwrap_or(0.0);
            *rows = share * all / (sharing[0][at[0]] * sharing[1][at[1]]);
        }
        rows
    }
}

fn position(scaled: f32) -> f64 {
    (f64::from(scaled) + 1.0) / 2.0
}
