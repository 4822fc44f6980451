//! The parts of the score that need no training: how far a row lies in the tails of its columns, how sparse the data
//! are around its values, how unlikely they are together, and how soon the row is alone when rows are cut apart.

mod column;
mod cuts;

use rayon::prelude::*;

use self::column::Column;
use self::cuts::Forest;
use crate::Params;
use crate::encode::{Encoder, Matrix, View};
use crate::model::{CUT_PAIRS, Curve, Grid, Tables, place, spaced};
use crate::rng::{Purpose, Stream};

/// Most rows the tables are made from, and most values.
const ROWS: usize = 1 << 16;
const CELLS: usize = 1 << 24;
/// How many spreads of the sum one column can add to what is usual.
const MOST_SPARSE: f32 = 8.0;
/// How much it can count, as a logarithm, that two values go together more or less often than by chance.
const RELATION_LIMITS: [f64; 2] = [-0.5, 1.0];
/// Most pairs among which relations are sought, and rows that are looked at for it.
const RELATION_PAIRS: usize = 3000;
const RELATION_ROWS: usize = 8192;
/// How many standard deviations above chance a relation must be to count as found.
const BEYOND_CHANCE: f64 = 3.0;

/// A sample of rows and what is known of their columns.
pub struct Sample {
    rows: Vec<usize>,
    columns: Vec<Column>,
    /// Which column of the table each belongs to.
    origins: Vec<u32>,
}

/// One part of the score, before it is weighed against the others.
pub struct Part {
    /// Its curves and grids.
    pub tables: Tables,
    /// What it gives to each row of the sample.
    pub scores: Vec<f32>,
}

impl Part {
    /// Adds the part, so many times, to tables that have a curve for the same columns or none.
    pub fn add_to(self, tables: &mut Tables, factor: f32) {
        if tables.curves.is_empty() {
            let zeros = |curve: &Curve| Curve { values: vec![0.0; curve.values.len()], ..curve.clone() };
            tables.curves = self.tables.curves.iter().map(zeros).collect();
        }
        for (total, curve) in tables.curves.iter_mut().zip(&self.tables.curves) {
            total.values.iter_mut().zip(&curve.values).for_each(|(total, value)| *total += factor * value);
        }
        let scaled = |mut grid: Grid| {
            grid.values.iter_mut().for_each(|value| *value *= factor);
            grid
        };
        tables.grids.extend(self.tables.grids.into_iter().map(scaled));
    }
}

impl Sample {
    /// Rows drawn without replacement, and the features that tell all there is to know of them.
    pub fn new(matrix: &Matrix, encoder: &Encoder, seed: u64) -> Self {
        let mut rows: Vec<usize> = (0..matrix.rows()).collect();
        let most = (CELLS / matrix.width).clamp(RELATION_ROWS, ROWS);
        if rows.len() > most {
            Stream::new(seed, Purpose::TableRows, 0).shuffle_front(&mut rows, most);
            rows.truncate(most);
            rows.sort_unstable();
        }
        let origins: Vec<u32> =
            encoder.features()[..encoder.telling_features()].iter().map(|feature| feature.column).collect();
        let telling = encoder.features()[..origins.len()].par_iter().enumerate();
        let columns = telling.map(|(feature, told)| {
            let column = &encoder.columns()[told.column as usize];
            let bent = column.second_scale().filter(|_| told.view == View::Bent);
            let bend = bent.map(|[start, rate, ..]| [start, rate]);
            match column.positions() {
                0 => Column::of_numbers(matrix, &rows, feature).bent_by(bend),
                positions => Column::of_categories(matrix, &rows, feature, positions),
            }
        });
        Self { columns: columns.collect(), rows, origins }
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The rows of the sample.
    pub fn matrix(&self, matrix: &Matrix) -> Matrix {
        let values = self.rows.iter().flat_map(|&row| matrix.row(row)).copied().collect();
        Matrix { width: matrix.width, values }
    }

    /// The logarithm of one over the share of rows at or beyond a value, towards the nearer end, times the column's
    /// unevenness.
    pub fn tails(&self) -> Part {
        self.part(self.curves(Column::tails), Vec::new())
    }

    /// Volume over rows in each column. A column adds no more than a few spreads of the sum of all to what it gives to
    /// most rows, so that none outweighs all others.
    pub fn sparsity(&self) -> Part {
        let mut all = self.part(self.curves(Column::sparsity), Vec::new());
        let most = MOST_SPARSE * middle_and_spread(&all.scores).1;
        all.tables.curves.par_iter_mut().for_each(|curve| {
            let limit = self.columns[curve.feature as usize].usual_sparsity() + most;
            curve.values.iter_mut().for_each(|value| *value = value.min(limit));
        });
        self.part(all.tables.curves, Vec::new())
    }

    /// How much less likely values are together than apart, as a logarithm, for the pairs of columns that tell most of each
    /// other: the branches of the tree of Chow and Liu.
    pub fn relations(&self, params: &Params) -> Part {
        if params.interactions < 2 {
            return self.part(Vec::new(), Vec::new());
        }
        let grid = |&features: &[u32; 2]| {
            let counts = self.count(features, 1);
            let [least, most] = RELATION_LIMITS;
            let values = counts.apart().iter().map(|log| log.clamp(least, most) as f32).collect();
            Grid { features, nodes: counts.nodes, values }
        };
        self.part(Vec::new(), self.tree(params.seed).par_iter().map(grid).collect())
    }

    /// How soon a row is alone when rows are cut apart: by each column, and by each pair of columns if there are not too many.
    pub fn cuts(&self, params: &Params) -> Part {
        let varied = self.features(Column::varies);
        let random =
            |[a, b]: [u32; 2]| Stream::new(params.seed, Purpose::Cuts, u64::from(a) << 32 | u64::from(b));
        let curve = |&feature: &u32| {
            let column = &self.columns[feature as usize];
            let point = |row: usize| [column.plain(column.values[row])];
            let forest = Forest::grow(self.rows.len(), point, random([feature; 2]));
            let value = |&node: &f32| forest.alone([column.plain(node)]) as f32;
            let values = column.nodes().iter().map(value).collect();
            Curve { feature, nodes: column.nodes().to_vec(), values }
        };
        let grid = |&features: &[u32; 2]| {
            let columns = features.map(|feature| &self.columns[feature as usize]);
            let point = |row: usize| columns.map(|column| column.plain(column.values[row]));
            let forest = Forest::grow(self.rows.len(), point, random(features));
            let sides = columns.map(|column| -> Vec<f64> {
                spaced(column.cut_nodes()).into_iter().map(|node| column.plain(node)).collect()
            });
            let beside = |a: f64| sides[1].iter().map(move |&b| [a, b]);
            let values = sides[0].iter().flat_map(|&a| beside(a)).map(|point| forest.alone(point) as f32);
            Grid { features, nodes: sides.each_ref().map(Vec::len), values: values.collect() }
        };
        let pairs = if params.interactions < 2 { Vec::new() } else { self.cut_pairs(&varied) };
        self.part(varied.par_iter().map(curve).collect(), pairs.par_iter().map(grid).collect())
    }

    /// All pairs of two columns, or none if they are too many.
    fn cut_pairs(&self, varied: &[u32]) -> Vec<[u32; 2]> {
        // A column has two features at most, so that more of them have too many pairs in any case.
        if varied.len() > 2 * CUT_PAIRS {
            return Vec::new();
        }
        let mut pairs = all_pairs(varied);
        pairs.retain(|pair| self.of_two_columns(pair));
        if pairs.len() > CUT_PAIRS { Vec::new() } else { pairs }
    }

    /// The branches of the tree.
    fn tree(&self, seed: u64) -> Vec<[u32; 2]> {
        let varied = self.features(Column::varies);
        let mut pairs = choose_pairs(&varied, seed);
        pairs.retain(|pair| self.of_two_columns(pair));
        let step = self.rows.len().div_ceil(RELATION_ROWS);
        let told = |&pair: &[u32; 2]| (self.count(pair, step).information(), pair);
        let mut told: Vec<(f64, [u32; 2])> = pairs.par_iter().map(told).collect();
        told.retain(|&(information, _)| information > 0.0);
        told.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut group: Vec<usize> = (0..self.columns.len()).collect();
        let mut branches = Vec::new();
        for (_, pair) in told {
            let [a, b] = pair.map(|feature| group[feature as usize]);
            if a != b {
                group.iter_mut().filter(|g| **g == b).for_each(|g| *g = a);
                branches.push(pair);
            }
        }
        branches
    }

    /// Whether a pair is of two columns: two features of one column always go together.
    fn of_two_columns(&self, pair: &[u32; 2]) -> bool {
        let [a, b] = pair.map(|feature| self.origins[feature as usize]);
        a != b
    }

    fn features(&self, wanted: impl Fn(&Column) -> bool) -> Vec<u32> {
        (0..).zip(&self.columns).filter(|(_, column)| wanted(column)).map(|(feature, _)| feature).collect()
    }

    fn curves(&self, values: impl Fn(&Column) -> Vec<f32> + Sync) -> Vec<Curve> {
        let varied = self.features(Column::varies);
        let curve = |feature: u32| {
            let column = &self.columns[feature as usize];
            Curve { feature, nodes: column.nodes().to_vec(), values: values(column) }
        };
        varied.into_par_iter().map(curve).collect()
    }

    /// Every so many rows of a pair of columns, counted on a grid.
    fn count(&self, features: [u32; 2], step: usize) -> Counts {
        let columns = features.map(|feature| &self.columns[feature as usize]);
        let nodes = columns.map(Column::relation_nodes);
        let mut counts = vec![0.0f64; nodes[0] * nodes[1]];
        let mut rows = 0;
        for (&x, &y) in columns[0].values.iter().zip(&columns[1].values).step_by(step) {
            let ((i, a), (j, b)) = (place(x, nodes[0]), place(y, nodes[1]));
            for (di, wa) in [(0, 1.0 - a), (1, a)] {
                for (dj, wb) in [(0, 1.0 - b), (1, b)] {
                    counts[(i + di) * nodes[1] + j + dj] += f64::from(wa * wb);
                }
            }
            rows += 1;
        }
        Counts { nodes, counts, rows: rows as f64 }
    }

    fn part(&self, curves: Vec<Curve>, grids: Vec<Grid>) -> Part {
        let value = |row: usize, feature: u32| self.columns[feature as usize].values[row];
        let score = |row: usize| {
            let curves = curves.iter().map(|curve| curve.at(value(row, curve.feature)));
            let grids =
                grids.iter().map(|grid| grid.at(value(row, grid.features[0]), value(row, grid.features[1])));
            curves.chain(grids).sum()
        };
        let scores = (0..self.rows.len()).into_par_iter().with_min_len(256).map(score).collect();
        Part { tables: Tables { curves, grids }, scores }
    }
}

/// Rows of a pair of columns, each shared among the four nodes around it.
struct Counts {
    nodes: [usize; 2],
    counts: Vec<f64>,
    rows: f64,
}

impl Counts {
    /// Shares of the rows at the nodes of both sides, one added to every count.
    fn margins(&self) -> [Vec<f64>; 2] {
        let across = self.nodes[1];
        let share = |count: f64, nodes: usize| (count + 1.0) / (self.rows + nodes as f64);
        let first = self.counts.chunks(across).map(|row| share(row.iter().sum(), self.nodes[0])).collect();
        let second = (0..across)
            .map(|j| share(self.counts.iter().skip(j).step_by(across).sum(), self.nodes[1]))
            .collect();
        [first, second]
    }

    /// Each node's share of the rows, and what it were if the columns did not depend on each other. As many rows as
    /// there are nodes are added in proportion to the latter.
    fn shares(&self) -> impl Iterator<Item = (f64, f64)> {
        let [first, second] = self.margins();
        let (across, added) = (self.nodes[1], self.counts.len() as f64);
        self.counts.iter().enumerate().map(move |(node, count)| {
            let independent = first[node / across] * second[node % across];
            ((count + added * independent) / (self.rows + added), independent)
        })
    }

    /// How much less likely than apart, as a logarithm, two values are together.
    fn apart(&self) -> Vec<f64> {
        self.shares().map(|(share, independent)| libm::log(independent / share)).collect()
    }

    /// How much one column tells of the other, or 0 if chance would tell as much.
    fn information(&self) -> f64 {
        let told: f64 =
            self.shares().map(|(share, independent)| share * libm::log(share / independent)).sum();
        let freedom = ((self.nodes[0] - 1) * (self.nodes[1] - 1)) as f64;
        let chance = freedom + BEYOND_CHANCE * (2.0 * freedom).sqrt();
        if 2.0 * self.rows * told > chance { told } else { 0.0 }
    }
}

/// The middle of some numbers, and how far they spread: from the lower to the upper quartile, but at least a fifth of the
/// mean distance from the middle, since most of them may be the same.
pub fn middle_and_spread(values: &[f32]) -> (f32, f32) {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let quantile = |share: f64| sorted[(share * (sorted.len() - 1) as f64).round() as usize];
    let middle = quantile(0.5);
    let distances: f64 = sorted.iter().map(|&value| f64::from((value - middle).abs())).sum();
    let spread = (quantile(0.75) - quantile(0.25)).max((0.2 * distances / sorted.len() as f64) as f32);
    (middle, spread)
}

/// All pairs of some features.
fn all_pairs(features: &[u32]) -> Vec<[u32; 2]> {
    let pairs = |(i, &a): (usize, &u32)| features[..i].iter().map(move |&b| [b, a]);
    features.iter().enumerate().flat_map(pairs).collect()
}

/// All pairs of some features, or a random choice of them.
fn choose_pairs(features: &[u32], seed: u64) -> Vec<[u32; 2]> {
    let all = features.len() * features.len().saturating_sub(1) / 2;
    if all <= RELATION_PAIRS {
        return all_pairs(features);
    }
    let mut random = Stream::new(seed, Purpose::Relations, 0);
    let mut chosen = std::collections::BTreeSet::new();
    while chosen.len() < RELATION_PAIRS {
        let (i, j) = (random.below(features.len()), random.below(features.len()));
        if i != j {
            chosen.insert([features[i.min(j)], features[i.max(j)]]);
        }
    }
    chosen.into_iter().collect()
}
