//! The functions that labels may add to a score: curves of columns and grids of pairs of columns, and how far their
//! values at two rows go together.

use super::examples::Examples;
use crate::Detector;
use crate::encode::{Encoder, Scaler};
use crate::function::{Curve, Functions, Grid, locate, spaced};
use crate::parallel::{self, Spaces};

/// Nodes of a new curve, and of each side of a grid.
const CURVE_NODES: usize = 64;
const GRID_NODES: usize = 24;
/// Columns whose pairs get grids, in each of the ways functions are learned.
const PAIRED_COLUMNS: usize = 24;
/// Distances over which functions vary: in interquartile ranges near the median, and in shares of the rows.
const LENGTH: f64 = 1.0;
const RANK_LENGTH: f64 = 0.6;
/// Half the range of a column without an asinh scale, in the same units.
const HALF_RANGE: f64 = 3.0;
/// Columns whose smoothed rows are held at a time.
const COLUMNS_AT_ONCE: usize = 16;

/// Where a row lies among nodes.
#[derive(Debug, Clone, Copy)]
pub struct Located {
    /// The last node before it.
    pub node: u32,
    /// How much of the way to the next.
    pub share: f32,
}

/// Nodes along a column, what their values have to do with each other, and where the rows lie among them.
#[derive(Debug)]
pub struct ColumnBasis {
    /// Where the nodes lie.
    pub nodes: Vec<f32>,
    /// Covariance of the nodes.
    covariance: Vec<f32>,
    /// Where the rows lie.
    pub places: Vec<Located>,
}

impl ColumnBasis {
    fn new(
        nodes: Vec<f32>,
        coordinates: impl Fn(f32) -> [f64; 2],
        values: impl Iterator<Item = f32>,
    ) -> Self {
        let coordinates: Vec<[f64; 2]> = nodes.iter().map(|&node| coordinates(node)).collect();
        let together = |a: [f64; 2], b: [f64; 2]| {
            let near = |i: usize, length: f64| libm::exp(-(a[i] - b[i]).abs() / length);
            ((near(0, LENGTH) + near(1, RANK_LENGTH)) / 2.0) as f32
        };
        let covariance =
            coordinates.iter().flat_map(|&a| coordinates.iter().map(move |&b| together(a, b))).collect();
        let place = |x: f32| {
            let (node, share) = locate(f64::from(x), &nodes);
            Located { node: node as u32, share: share as f32 }
        };
        let places = values.map(place).collect();
        Self { nodes, covariance, places }
    }

    /// The covariance of each node with every row, node after node.
    fn smoothed(&self) -> Vec<f32> {
        let (m, n) = (self.nodes.len(), self.places.len());
        let mut out = vec![0.0; m * n];
        for (covariance, out) in self.covariance.chunks_exact(m).zip(out.chunks_exact_mut(n)) {
            for (out, place) in out.iter_mut().zip(&self.places) {
                let node = place.node as usize;
                *out = covariance[node] + place.share * (covariance[node + 1] - covariance[node]);
            }
        }
        out
    }

    /// Coefficients of rows, gathered at the nodes.
    fn gathered(&self, dual: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.nodes.len()];
        for (place, dual) in self.places.iter().zip(dual) {
            let share = f64::from(place.share);
            out[place.node as usize] += (1.0 - share) * dual;
            out[place.node as usize + 1] += share * dual;
        }
        out
    }

    /// One less the mean covariance of two random rows.
    fn variety(&self) -> f64 {
        let rows = self.places.len().max(1);
        let gathered = self.gathered(&vec![1.0 / rows as f64; rows]);
        let values = self.values(&vec![1.0 / rows as f64; rows]);
        (1.0 - gathered.iter().zip(&values).map(|(a, b)| a * b).sum::<f64>()).max(0.0)
    }

    /// The values at the nodes of the function with these coefficients.
    fn values(&self, dual: &[f64]) -> Vec<f64> {
        let gathered = self.gathered(dual);
        let row = |row: &[f32]| row.iter().zip(&gathered).map(|(&c, g)| f64::from(c) * g).sum();
        self.covariance.chunks_exact(self.nodes.len()).map(row).collect()
    }

    /// Writes the covariance of a row with every row.
    fn row(&self, smoothed: &[f32], row: usize, out: &mut [f32]) {
        let (n, place) = (self.places.len(), self.places[row]);
        let node = place.node as usize;
        let (near, far) = (&smoothed[node * n..(node + 1) * n], &smoothed[(node + 1) * n..(node + 2) * n]);
        for ((out, near), far) in out.iter_mut().zip(near).zip(far) {
            *out = near + place.share * (far - near);
        }
    }
}

/// A column that varies.
#[derive(Debug)]
struct Varying {
    feature: u32,
    curve: ColumnBasis,
    grid: ColumnBasis,
    /// How far the values of a function at two random rows lie apart: the expected square, against the variance.
    variety: f64,
}

/// How the functions of columns and pairs share the variance.
#[derive(Debug, Clone, PartialEq)]
pub struct Shares {
    /// Of each column that varies, adding up to 1.
    pub columns: Vec<f64>,
    /// Of the pairs against the columns, from 0 to 1.
    pub pairs: f64,
    /// The variance of all functions together.
    pub variance: f64,
}

/// Columns and labelled rows.
#[derive(Debug)]
pub struct Basis {
    columns: Vec<Varying>,
    rows: usize,
    may_pair: bool,
}

impl Basis {
    /// The columns of a detector at a examples's rows. Columns that have a curve keep its nodes.
    pub fn new(detector: &Detector, examples: &Examples) -> Self {
        let (settings, encoder, functions) = (detector.params(), detector.encoder(), detector.functions());
        let (sorted, matrix) = (&examples.sorted, &examples.matrix);
        let scalers = encoder.scalers();
        // Labels of a certain time say nothing of later rows.
        let varies = |column: &usize| {
            let given = &encoder.columns()[*column];
            given.min < given.max && !given.is_date()
        };
        let column = |column: usize| {
            let feature = column as u32;
            let nodes = nodes_of(functions, feature);
            let coordinates =
                |x: f32| [coordinate(&scalers[column], encoder, column, x), rank(&sorted[column], x)];
            let values = || (0..matrix.rows()).map(|row| matrix.row(row)[column]);
            let sides = if nodes.len() == 2 { 2 } else { GRID_NODES };
            let grid = ColumnBasis::new(spaced(sides), coordinates, values());
            let variety =
                ColumnBasis::new(nodes.clone(), coordinates, sorted[column].iter().copied()).variety();
            Varying { feature, curve: ColumnBasis::new(nodes, coordinates, values()), grid, variety }
        };
        let columns = (0..encoder.columns().len()).filter(varies).collect::<Vec<_>>();
        let columns: Vec<Varying> = parallel::map(&columns, &|&index| column(index));
        Self { columns, rows: matrix.rows(), may_pair: settings.interactions >= 2 }
    }

    /// Whether functions of two columns are allowed.
    pub fn may_pair(&self) -> bool {
        self.may_pair
    }

    /// Each column that varies, and the nodes of its curve.
    pub fn curves(&self) -> impl Iterator<Item = (u32, &ColumnBasis)> {
        self.columns.iter().map(|column| (column.feature, &column.curve))
    }

    /// The shares that columns begin with: the more rows differ in a column, the larger. A rare category, or a value that
    /// nearly all rows have, tells few rows apart.
    pub fn first_shares(&self) -> Vec<f64> {
        let squares: Vec<f64> = self.columns.iter().map(|column| column.variety.powi(2) + 1e-9).collect();
        let total: f64 = squares.iter().sum();
        squares.iter().map(|square| square / total).collect()
    }

    /// The columns with the largest shares, whose pairs get grids.
    fn paired(&self, shares: &Shares) -> Vec<usize> {
        if shares.pairs == 0.0 {
            return Vec::new();
        }
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        order.sort_by(|&a, &b| shares.columns[b].total_cmp(&shares.columns[a]).then(a.cmp(&b)));
        order.truncate(PAIRED_COLUMNS);
        order.sort_unstable();
        if order.len() < 2 { Vec::new() } else { order }
    }

    /// What a pair's product of shares is multiplied by, so that all pairs together have their variance.
    fn pair_factor(shares: &Shares, paired: &[usize]) -> f64 {
        let total: f64 = paired.iter().map(|&column| shares.columns[column]).sum();
        let squares: f64 = paired.iter().map(|&column| shares.columns[column].powi(2)).sum();
        shares.variance * shares.pairs / (total * total - squares).max(1e-6)
    }

    /// What is left to the columns where there are no pairs.
    fn column_factor(shares: &Shares, paired: &[usize]) -> f64 {
        shares.variance * if paired.is_empty() { 1.0 } else { 1.0 - shares.pairs }
    }

    /// The covariance of the sum of all functions at the rows, row after row.
    pub fn covariance(&self, shares: &Shares) -> Vec<f32> {
        let n = self.rows;
        let paired = self.paired(shares);
        let mut total = vec![0.0f32; n * n];
        let factor = Self::column_factor(shares, &paired);
        let weighted: Vec<(&ColumnBasis, f32)> = self
            .columns
            .iter()
            .zip(&shares.columns)
            .map(|(column, share)| (&column.curve, (factor * share) as f32))
            .collect();
        for part in weighted.chunks(COLUMNS_AT_ONCE) {
            let smoothed: Vec<Vec<f32>> = parallel::map(part, &|(axis, _)| axis.smoothed());
            let spaces = Spaces::default();
            parallel::for_each(total.chunks_exact_mut(n), &|row, total| {
                spaces.with(
                    || vec![0.0; n],
                    |own| {
                        for ((axis, weight), smoothed) in part.iter().zip(&smoothed) {
                            axis.row(smoothed, row, own);
                            total.iter_mut().zip(&*own).for_each(|(total, own)| *total += weight * own);
                        }
                    },
                );
            });
        }
        if !paired.is_empty() {
            self.add_pairs(shares, &paired, &mut total);
        }
        total
    }

    /// Adds the covariance of the grids: over pairs of columns the sum of products is half of the square of the sum
    /// less the sum of squares.
    fn add_pairs(&self, shares: &Shares, paired: &[usize], total: &mut [f32]) {
        let n = self.rows;
        let factor = Self::pair_factor(shares, paired) as f32;
        let smoothed = parallel::map(paired, &|&column| self.columns[column].grid.smoothed());
        let add = |row: usize, total: &mut [f32], [own, sums, squares]: &mut [Vec<f32>; 3]| {
            sums.fill(0.0);
            squares.fill(0.0);
            for (&column, smoothed) in paired.iter().zip(&smoothed) {
                self.columns[column].grid.row(smoothed, row, own);
                let share = shares.columns[column] as f32;
                for ((own, sum), square) in own.iter().zip(sums.iter_mut()).zip(squares.iter_mut()) {
                    *sum += share * own;
                    *square += (share * own) * (share * own);
                }
            }
            for ((total, sum), square) in total.iter_mut().zip(&*sums).zip(&*squares) {
                *total += factor * (sum * sum - square);
            }
        };
        let spaces = Spaces::default();
        parallel::for_each(total.chunks_exact_mut(n), &|row, total| {
            spaces.with(|| [0; 3].map(|_| vec![0.0; n]), |space| add(row, total, space));
        });
    }

    /// How much each column's own curve takes up: its norm.
    pub fn norms(&self, shares: &Shares, dual: &[f64]) -> Vec<f64> {
        let norm = |(column, share): (&Varying, &f64)| {
            let gathered = column.curve.gathered(dual);
            let values = column.curve.values(dual);
            let square: f64 = gathered.iter().zip(&values).map(|(a, b)| a * b).sum();
            share * square.max(0.0).sqrt()
        };
        self.columns.iter().zip(&shares.columns).map(norm).collect()
    }

    /// The functions with these coefficients, so many times, as curves and grids.
    pub fn tables(&self, shares: &Shares, dual: &[f64], times: f64) -> Functions {
        let paired = self.paired(shares);
        let factor = times * Self::column_factor(shares, &paired);
        let curve = |(column, share): (&Varying, &f64)| Curve {
            feature: column.feature,
            nodes: column.curve.nodes.clone(),
            values: column.curve.values(dual).iter().map(|value| (factor * share * value) as f32).collect(),
            beyond: [0.0; 2],
        };
        let curves = self.columns.iter().zip(&shares.columns).map(curve).collect();
        let pairs: Vec<[usize; 2]> = paired
            .iter()
            .enumerate()
            .flat_map(|(i, &second)| paired[..i].iter().map(move |&first| [first, second]))
            .collect();
        let factor = if paired.is_empty() { 0.0 } else { 2.0 * times * Self::pair_factor(shares, &paired) };
        let smoothed: Vec<Vec<f32>> =
            paired.iter().map(|&column| self.columns[column].grid.smoothed()).collect();
        let at = |column: usize| paired.binary_search(&column).map_or(&[][..], |place| &smoothed[place]);
        let grid = |&[first, second]: &[usize; 2]| {
            let weight = factor * shares.columns[first] * shares.columns[second];
            let n = self.rows;
            let mut values = Vec::with_capacity(GRID_NODES * GRID_NODES);
            for near in at(first).chunks_exact(n) {
                let weighted: Vec<f64> = near.iter().zip(dual).map(|(&a, b)| f64::from(a) * b).collect();
                let value =
                    |far: &[f32]| -> f64 { far.iter().zip(&weighted).map(|(&a, b)| f64::from(a) * b).sum() };
                values.extend(at(second).chunks_exact(n).map(|far| (weight * value(far)) as f32));
            }
            let [a, b] = [first, second].map(|column| &self.columns[column]);
            Grid {
                features: [a.feature, b.feature],
                nodes: [a, b].map(|side| side.grid.nodes.clone()),
                values,
            }
        };
        Functions { curves, grids: parallel::map(&pairs, &grid) }
    }
}

/// The nodes of a feature's curve, if it has one, else equally spaced ones.
pub fn nodes_of(functions: &Functions, feature: u32) -> Vec<f32> {
    let curve = functions.curves.iter().find(|curve| curve.feature == feature);
    curve.map_or_else(|| spaced(CURVE_NODES), |curve| curve.nodes.clone())
}

/// Where a scaled value lies in units in which functions vary alike: interquartile ranges near the median, logarithmic
/// beyond.
fn coordinate(scaler: &Scaler, encoder: &Encoder, column: usize, x: f32) -> f64 {
    let column = &encoder.columns()[column];
    match column.asinh {
        Some(asinh) => libm::asinh((scaler.original(x) - asinh.median) / (asinh.spread / 4.0)),
        None => HALF_RANGE * f64::from(x),
    }
}

/// The share of values below one, those equal to it counted half.
fn rank(sorted: &[f32], x: f32) -> f64 {
    let below = sorted.partition_point(|&value| value < x) + sorted.partition_point(|&value| value <= x);
    below as f64 / (2 * sorted.len().max(1)) as f64
}

#[cfg(test)]
mod tests {
    use super::super::tests::{first, table};
    use super::super::{Examples, Labelled};
    use super::*;
    use crate::Scale;

    fn example() -> (Examples, Basis, Shares) {
        let detector = first(2, Scale::Both);
        let labelled = Labelled::read(&detector, &table(60, |_, _| true), "label").unwrap();
        let examples = Examples::new(&detector, &labelled).unwrap();
        let basis = Basis::new(&detector, &examples);
        let shares = Shares { columns: vec![0.5, 0.3, 0.2], pairs: 0.6, variance: 4.0 };
        (examples, basis, shares)
    }

    /// The covariance of two rows along an axis, straight from the nodes around them.
    fn plain(axis: &ColumnBasis, a: usize, b: usize) -> f64 {
        let ends = |row: usize| {
            let Located { node, share } = axis.places[row];
            [(node as usize, 1.0 - f64::from(share)), (node as usize + 1, f64::from(share))]
        };
        let (m, mut sum) = (axis.nodes.len(), 0.0);
        for (i, wi) in ends(a) {
            for (j, wj) in ends(b) {
                sum += wi * wj * f64::from(axis.covariance[i * m + j]);
            }
        }
        sum
    }

    #[test]
    fn covariance_is_that_of_a_plain_sum_over_columns_and_pairs() {
        let (_, basis, shares) = example();
        let fast = basis.covariance(&shares);
        let n = basis.rows;
        let mut pairs = 0.0;
        for i in 0..3 {
            for j in 0..i {
                pairs += 2.0 * shares.columns[i] * shares.columns[j];
            }
        }
        for a in (0..n).step_by(7) {
            for b in 0..n {
                let column = |i: usize| shares.columns[i] * plain(&basis.columns[i].curve, a, b);
                let mut slow = 4.0 * 0.4 * (0..3).map(column).sum::<f64>();
                for i in 0..3 {
                    for j in 0..i {
                        let product =
                            plain(&basis.columns[i].grid, a, b) * plain(&basis.columns[j].grid, a, b);
                        slow += 4.0 * 0.6 * 2.0 * shares.columns[i] * shares.columns[j] / pairs * product;
                    }
                }
                assert!((f64::from(fast[a * n + b]) - slow).abs() < 1e-5, "rows {a} and {b}");
            }
        }
    }

    #[test]
    fn tables_are_the_functions_of_the_coefficients() {
        let (examples, basis, shares) = example();
        let n = basis.rows;
        let dual: Vec<f64> = (0..n).map(|row| (row % 5) as f64 - 2.0).collect();
        let covariance = basis.covariance(&shares);
        let tables = basis.tables(&shares, &dual, 2.0);
        assert_eq!((tables.curves.len(), tables.grids.len()), (3, 3));
        for row in 0..n {
            let value = tables.at(examples.matrix.row(row));
            let wanted: f64 =
                covariance[row * n..(row + 1) * n].iter().zip(&dual).map(|(&c, d)| f64::from(c) * d).sum();
            assert!((value - 2.0 * wanted).abs() < 2e-3, "row {row}: {value} is not {}", 2.0 * wanted);
        }
    }

    #[test]
    fn norms_are_those_of_the_curves() {
        let (_, basis, shares) = example();
        let dual: Vec<f64> = (0..basis.rows).map(|row| (row % 3) as f64 - 1.0).collect();
        let norms = basis.norms(&shares, &dual);
        for (i, norm) in norms.iter().enumerate() {
            let mut square = 0.0;
            for a in 0..basis.rows {
                for b in 0..basis.rows {
                    square += dual[a] * dual[b] * plain(&basis.columns[i].curve, a, b);
                }
            }
            assert!((norm - shares.columns[i] * square.sqrt()).abs() < 1e-3, "{norm} {square}");
        }
    }

    #[test]
    fn ranks_count_ties_half() {
        assert_eq!([0.5, 1.0, 2.0, 9.0].map(|x| rank(&[1.0, 1.0, 2.0, 3.0], x)), [0.0, 0.25, 0.625, 1.0]);
    }
}
