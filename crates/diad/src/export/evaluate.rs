//! The plan evaluated plainly, in double precision: what every target is held to, and what a plan is held to the model by.

use super::plan::{Cell, Curve, Feature, Grid, Plan, Side, Term, Tree};
use crate::table::{MISSING, TimePart};

/// Scaled values stay within this.
pub const LARGEST: f64 = 1e30;

impl Plan {
    /// The score of a row: a cell for each input.
    pub fn score(&self, row: &[Cell]) -> f64 {
        let x = self.features(row);
        let functions: f64 = self.terms.iter().map(|term| self.functions(term, &x)).sum();
        self.base + functions + self.odd(row).map(|(_, penalty)| penalty).sum::<f64>()
    }

    /// What each term contributes to the score of a row. They and the intercept add up to it.
    pub fn contributions(&self, row: &[Cell]) -> Vec<f64> {
        let x = self.features(row);
        let own = |term: &Term| self.functions(term, &x) + moved(term, &x) - term.mean;
        let mut contributions: Vec<f64> = self.terms.iter().map(own).collect();
        for (term, penalty) in self.odd(row) {
            contributions[term] += penalty;
        }
        contributions
    }

    /// The functions of a term at a row of features.
    pub(super) fn functions(&self, term: &Term, x: &[f64]) -> f64 {
        let curves = term.curves.iter().map(|curve| curve.at(x[curve.feature]));
        let grids = term.grids.iter().map(|grid| {
            let [first, second] = grid.sides.map(|side| {
                let side = &self.sides[side];
                (side.place(x[side.feature]), side.places())
            });
            grid.at(first, second)
        });
        let trees = term.trees.iter().map(|tree| tree.at(tree.features.map(|feature| x[feature])));
        curves.chain(grids).chain(trees).sum()
    }

    /// The features of a row.
    pub(super) fn features(&self, row: &[Cell]) -> Vec<f64> {
        self.features.iter().map(|feature| feature.of(&row[feature.input()])).collect()
    }

    /// The terms and penalties of cells that do not fit.
    fn odd<'a>(&'a self, row: &'a [Cell]) -> impl Iterator<Item = (usize, f64)> + 'a {
        let odd = self.inputs.iter().enumerate().filter(|(index, input)| {
            // Every category has a feature that knows which texts are missing.
            let words = self.features.iter().find_map(|feature| match feature {
                Feature::Category { input, trimmed, .. } if input == index => Some(*trimmed),
                _ => None,
            });
            match &row[*index] {
                Cell::Number(number) if number.is_infinite() => input.infinite_is_odd,
                Cell::Text(text) => {
                    input.missing_is_odd && words == Some(true) && is_missing_word(text.trim())
                }
                Cell::Number(number) => input.missing_is_odd && number.is_nan(),
                Cell::Missing => input.missing_is_odd,
            }
        });
        odd.map(|(_, input)| (input.term, input.penalty))
    }
}

fn is_missing_word(text: &str) -> bool {
    text.is_empty() || MISSING.contains(&text.to_lowercase().as_str())
}

pub(super) fn moved(term: &Term, x: &[f64]) -> f64 {
    term.moved.iter().map(|curve| curve.at(x[curve.feature])).sum()
}

impl Feature {
    fn of(&self, cell: &Cell) -> f64 {
        match (self, cell) {
            (Self::Number { part, asinh, low, high, .. }, Cell::Number(number)) if number.is_finite() => {
                let part = part.and_then(|part| TimePart::ALL.into_iter().find(|known| known.name() == part));
                let number = part.map_or(*number, |part| part.of(*number));
                let x = asinh.map_or(number, |[median, spread]| ((number - median) / spread).asinh());
                let share = match high - low {
                    0.0 => x - low,
                    range if range.is_finite() => (x - low) / range,
                    _ => (x / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0),
                };
                f64::from((share * 2.0 - 1.0).clamp(-LARGEST, LARGEST) as f32)
            }
            (Self::Number { missing, .. }, _) => *missing,
            (Self::Category { trimmed, folded, texts, missing, other, .. }, Cell::Text(text)) => {
                let text = if *trimmed { text.trim() } else { text };
                if *trimmed && is_missing_word(text) {
                    return *missing;
                }
                let lower = text.to_lowercase();
                let known = folded.iter().find(|(known, _)| *known == lower);
                known
                    .or_else(|| texts.iter().find(|(known, _)| known == text))
                    .map_or(*other, |(_, place)| *place)
            }
            (Self::Category { missing, .. }, _) => *missing,
            (Self::Missing { .. }, Cell::Number(number)) if number.is_finite() => -1.0,
            (Self::Missing { .. }, _) => 1.0,
        }
    }
}

/// The last node at or below `x`, but never the last of all.
fn below(x: f64, nodes: &[f64]) -> usize {
    nodes[1..nodes.len() - 1].partition_point(|&node| node <= x)
}

impl Curve {
    /// The value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        let (first, last) = (0, self.nodes.len() - 1);
        if x < self.nodes[first] {
            return self.values[first] + (self.nodes[first] - x) * self.beyond[0];
        }
        if x > self.nodes[last] {
            return self.values[last] + (x - self.nodes[last]) * self.beyond[1];
        }
        let node = below(x, &self.nodes);
        let share = (x - self.nodes[node]) / (self.nodes[node + 1] - self.nodes[node]);
        self.values[node] + share * (self.values[node + 1] - self.values[node])
    }
}

impl Side {
    /// The place of `x`.
    pub fn place(&self, x: f64) -> f64 {
        let node = below(x, &self.nodes);
        let share = (x - self.nodes[node]) / (self.nodes[node + 1] - self.nodes[node]);
        let [low, high] = [self.places[node], self.places[node + 1]].map(f64::from);
        low + share.clamp(0.0, 1.0) * (high - low)
    }
}

impl Grid {
    /// The value at two places, each with how many there are.
    pub fn at(&self, (x, down): (f64, usize), (y, across): (f64, usize)) -> f64 {
        let cell = |place: f64, count: usize| {
            let start = (place as usize).min(count.saturating_sub(2));
            (start, place - start as f64)
        };
        let ((i, a), (j, b)) = (cell(x, down), cell(y, across));
        let value = |i: usize, j: usize| self.values[i * across + j];
        let row = |i: usize| value(i, j) + b * (value(i, j + 1) - value(i, j));
        row(i) + a * (row(i + 1) - row(i))
    }
}

impl Tree {
    /// The value at two features.
    pub fn at(&self, x: [f64; 2]) -> f64 {
        let splits: Vec<f64> = (self.thresholds.iter().zip(&self.steepness).enumerate())
            .map(|(k, (threshold, steepness))| {
                let u = ((x[k % 2].clamp(-1.0, 1.0) - threshold) * steepness).clamp(-1.0, 1.0);
                u * (2.0 - u * u).sqrt()
            })
            .collect();
        let product = |set: usize| -> f64 {
            let of_set = splits.iter().enumerate().filter(|(k, _)| set >> k & 1 == 1);
            of_set.map(|(_, split)| split).product()
        };
        self.coefficients.iter().enumerate().map(|(set, coefficient)| coefficient * product(set)).sum()
    }
}
