//! Isolation: how soon a row is alone when rows are cut apart, in planes of two columns.
//!
//! Trees cut by turns at random, as the extended isolation forest does; where both sides together vary least within themselves, as
//! the fair-cut forest does; and where the mean of both sides does, as SCiForest does, so that small groups of rows that lie apart
//! are found as well. The plane of two uneven columns counts more than that of two columns of noise. A column of categories is one of
//! each of them ([`super::sides`]).

use std::collections::{BTreeMap, BTreeSet};

use super::column::Column;
use super::sides::{Side, kinds};
use super::{Part, Sample};
use crate::Params;
use crate::function::{Curve, Functions, Grid};
use crate::parallel;
use crate::rng::{Purpose, Stream};

/// Nodes of each side of a grid between which equally many rows lie.
const NODES: usize = 12;
/// Trees in all, of which every plane has as many, and rows that each cuts apart.
const TREES: usize = 900;
const ROWS: usize = 128;

/// Isolation by cuts in planes.
pub struct Isolation;

impl Part for Isolation {
    named!("isolation", weight_isolation);

    fn functions(&self, sample: &Sample, params: &Params) -> Functions {
        let sides = sample.timeless_sides(params);
        let planes = sample.planes(&sides, params);
        // Without planes, a single side is a plane whose other side says nothing.
        let alone: Vec<usize> = if planes.is_empty() { (0..sides.len()).collect() } else { Vec::new() };
        let trees = TREES.div_ceil((planes.len() + alone.len()).max(1)).max(CUTS.len());
        let weights = parallel::map(&sides, &|side| side.unevenness(&sample.columns[side.feature as usize]));
        let plane = Planes { sample, sides: &sides, weights, trees, seed: params.seed };
        let grids = by_features(&planes, |plane| plane.map(|side| sides[side].feature));
        let curves = by_features(&alone, |side| sides[side].feature);
        Functions {
            curves: parallel::map(&curves, &|(feature, alone)| plane.curve(*feature, alone)),
            grids: parallel::map(&grids, &|(features, planes)| plane.grid(*features, planes)),
        }
    }
}

/// Planes, or single sides, by their features.
fn by_features<P: Copy, F: Copy + PartialEq + Ord>(
    planes: &[P],
    features: impl Fn(P) -> F,
) -> Vec<(F, Vec<P>)> {
    let mut places = BTreeMap::new();
    let mut groups: Vec<(F, Vec<P>)> = Vec::new();
    for &plane in planes {
        let features = features(plane);
        let place = *places.entry(features).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, planes)) => planes.push(plane),
            None => groups.push((features, vec![plane])),
        }
    }
    groups
}

/// Makes functions of what isolation says in planes of two sides.
struct Planes<'a> {
    sample: &'a Sample,
    sides: &'a [Side],
    /// How much each side counts.
    weights: Vec<f64>,
    /// Trees of each plane.
    trees: usize,
    seed: u64,
}

impl Planes<'_> {
    /// The sum over all planes of two columns.
    fn grid(&self, features: [u32; 2], planes: &[[usize; 2]]) -> Grid {
        let columns = features.map(|feature| &self.sample.columns[feature as usize]);
        let nodes = columns.map(|column| column.side(NODES));
        let kinds = |k: usize| {
            let own: BTreeSet<usize> = planes.iter().map(|plane| plane[k]).collect();
            let own: Vec<&Side> = own.into_iter().map(|side| &self.sides[side]).collect();
            kinds(&own, columns[k], &nodes[k])
        };
        let [(examples, of_nodes), (other_examples, of_other_nodes)] = [0, 1].map(kinds);
        let mut sums = vec![0.0; examples.len() * other_examples.len()];
        for &[a, b] in planes {
            let weight = (self.weights[a] + self.weights[b]) / 2.0;
            let value =
                |side: usize, column: &Column, row: usize| self.sides[side].value(column, column.values[row]);
            let point = |row: usize| [value(a, columns[0], row), value(b, columns[1], row)];
            let forest = grow(&CUTS, (self.sample.rows(), &point), self.trees, self.random([a, b]));
            let (first, of_first) = self.sides[a].values(columns[0], &examples);
            let (second, of_second) = self.sides[b].values(columns[1], &other_examples);
            let points = first.iter().flat_map(|&a| second.iter().map(move |&b| [a, b]));
            let said: Vec<f64> = points.map(|point| weight * forest.at(point)).collect();
            let across = second.len();
            let places = of_first.iter().flat_map(|a| of_second.iter().map(move |b| a * across + b));
            sums.iter_mut().zip(places).for_each(|(sum, place)| *sum += said[place]);
        }
        let sums: Vec<f32> = sums.into_iter().map(|sum| sum as f32).collect();
        let mut values = Vec::with_capacity(of_nodes.len() * of_other_nodes.len());
        for kind in of_nodes {
            let row = &sums[kind * other_examples.len()..];
            values.extend(of_other_nodes.iter().map(|&other| row[other]));
        }
        Grid { features, values, nodes }
    }

    /// The sum over all sides of a column, each with nothing beside it.
    fn curve(&self, feature: u32, alone: &[usize]) -> Curve {
        let column = &self.sample.columns[feature as usize];
        let nodes = column.side(NODES);
        let mut sums = vec![0.0; nodes.len()];
        for &side in alone {
            let point = |row: usize| [self.sides[side].value(column, column.values[row]), 0.0];
            let forest = grow(&CUTS, (self.sample.rows(), &point), self.trees, self.random([side; 2]));
            let said =
                |&node: &f32| self.weights[side] * forest.at([self.sides[side].value(column, node), 0.0]);
            sums.iter_mut().zip(&nodes).for_each(|(sum, node)| *sum += said(node));
        }
        Curve { feature, values: sums.into_iter().map(|sum| sum as f32).collect(), nodes, beyond: [0.0; 2] }
    }

    /// Random numbers of a plane: those of a number go by its feature, those of a category by numbers that no feature has.
    fn random(&self, plane: [usize; 2]) -> Stream {
        let features = self.sample.columns.len() as u64;
        let [a, b] = plane.map(|side| {
            let Side { feature, category, .. } = &self.sides[side];
            u64::from(*feature) + category.map_or(0, |category| (u64::from(category) + 1) * features)
        });
        Stream::new(self.seed, Purpose::Isolation, a << 32 | b)
    }
}

/// How rows are cut apart.
#[derive(Clone, Copy, PartialEq)]
enum Cut {
    /// In a random direction, uniformly between the outermost rows.
    Random,
    /// In a random direction, where the standard deviations of both sides, by their rows, are least.
    Fair,
    /// In the best of some random directions, where the mean of the standard deviations of both sides is least. A point further
    /// beyond the cut than the rows reach is no longer cut apart from them: it was before.
    Apart,
}

/// How trees cut, by turns.
const CUTS: [Cut; 3] = [Cut::Random, Cut::Fair, Cut::Apart];
/// Directions of which [`Cut::Apart`] takes the best.
const DIRECTIONS: usize = 5;
/// How deep the trees of [`Cut::Fair`] are at most. Those of the others are as deep as a balanced tree.
const DEEPEST: usize = 20;

/// The trees of one plane, from so many rows and the point of each.
fn grow(
    cuts: &[Cut],
    (rows, point): (usize, &dyn Fn(usize) -> [f64; 2]),
    trees: usize,
    mut random: Stream,
) -> Forest {
    let chosen = ROWS.min(rows);
    let balanced = libm::ceil(libm::log2(chosen as f64)).max(1.0) as usize;
    let mut order: Vec<usize> = (0..rows).collect();
    let tree = |index: usize| {
        random.shuffle_front(&mut order, chosen);
        let mut points: Vec<[f64; 2]> = order[..chosen].iter().map(|&row| point(row)).collect();
        let cut = cuts[index % cuts.len()];
        let deepest = if cut == Cut::Fair { DEEPEST } else { balanced };
        let mut tree = Vec::new();
        cut_apart(&mut tree, &mut points, (cut, deepest), &mut random);
        tree
    };
    Forest { trees: (0..trees).map(tree).collect() }
}

/// Trees of one plane.
struct Forest {
    trees: Vec<Vec<Node>>,
}

/// Points go on at the next node if they lie on the lower side of a cut, else at `upper`.
enum Node {
    /// A point further than `reach` from the cut counts as not cut.
    Cut { slopes: [f64; 2], at: f64, reach: f64, upper: usize },
    /// How many cuts it takes to be alone here.
    End { cuts: f64 },
}

impl Forest {
    /// Minus the mean number of cuts after which a point is alone.
    fn at(&self, point: [f64; 2]) -> f64 {
        -self.trees.iter().map(|tree| cuts(tree, point)).sum::<f64>() / self.trees.len() as f64
    }
}

fn cuts(tree: &[Node], point: [f64; 2]) -> f64 {
    let (mut node, mut made) = (0, 0.0);
    loop {
        match tree[node] {
            Node::Cut { slopes, at, reach, upper } => {
                let beyond = along(slopes, point) - at;
                node = if beyond <= 0.0 { node + 1 } else { upper };
                made += if beyond.abs() <= reach { 1.0 } else { 0.0 };
            }
            Node::End { cuts } => return made + cuts,
        }
    }
}

fn along(slopes: [f64; 2], point: [f64; 2]) -> f64 {
    slopes[0] * point[0] + slopes[1] * point[1]
}

/// Cuts points apart, by lines whose directions are random where each column has the unit of its standard deviation among these
/// points.
fn cut_apart(tree: &mut Vec<Node>, points: &mut [[f64; 2]], (cut, left): (Cut, usize), random: &mut Stream) {
    let here = tree.len();
    tree.push(Node::End { cuts: more_cuts(points.len()) });
    if points.len() < 2 || left == 0 {
        return;
    }
    let deviations = [deviation(points, 0), deviation(points, 1)];
    let mut best: Option<Line> = None;
    for _ in 0..if cut == Cut::Apart { DIRECTIONS } else { 1 } {
        let slopes =
            deviations.map(|deviation| if deviation > 0.0 { random.normal() / deviation } else { 0.0 });
        let line = match cut {
            Cut::Random => Line::random(points, slopes, random.unit()),
            Cut::Fair | Cut::Apart => Line::best(points, slopes, cut),
        };
        best = match (best, line) {
            (Some(best), Some(line)) if line.within >= best.within => Some(best),
            (best, line) => line.or(best),
        };
    }
    // None where all points are the same.
    let Some(Line { slopes, at, reach, .. }) = best else { return };
    let mut lower = 0;
    for i in 0..points.len() {
        if along(slopes, points[i]) <= at {
            points.swap(i, lower);
            lower += 1;
        }
    }
    if lower == 0 || lower == points.len() {
        return;
    }
    let reach = if cut == Cut::Apart { reach } else { f64::INFINITY };
    let (below, above) = points.split_at_mut(lower);
    cut_apart(tree, below, (cut, left - 1), random);
    let upper = tree.len();
    cut_apart(tree, above, (cut, left - 1), random);
    tree[here] = Node::Cut { slopes, at, reach, upper };
}

/// A line that cuts points apart.
struct Line {
    slopes: [f64; 2],
    at: f64,
    /// How far apart the outermost points are across it.
    reach: f64,
    /// How much the sides vary within themselves, of what all vary.
    within: f64,
}

impl Line {
    fn random(points: &[[f64; 2]], slopes: [f64; 2], share: f64) -> Option<Self> {
        let ends = points.iter().map(|&point| along(slopes, point));
        let [low, high] =
            ends.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)]);
        (high > low).then_some(Self {
            slopes,
            at: low + (high - low) * share,
            reach: high - low,
            within: 1.0,
        })
    }

    /// Where the sides vary least.
    fn best(points: &[[f64; 2]], slopes: [f64; 2], cut: Cut) -> Option<Self> {
        let mut across: Vec<f64> = points.iter().map(|&point| along(slopes, point)).collect();
        across.sort_unstable_by(f64::total_cmp);
        let (n, low, high) = (across.len() as f64, across[0], across[across.len() - 1]);
        let reach = high - low;
        let add = |[sum, squares]: [f64; 2], x: f64| [sum + x, squares + x * x];
        let share = |x: f64| (x - low) / reach;
        let deviation =
            |[sum, squares]: [f64; 2], n: f64| (squares / n - (sum / n) * (sum / n)).max(0.0).sqrt();
        let all = across.iter().map(|&x| share(x)).fold([0.0; 2], add);
        let whole = deviation(all, n);
        if !(reach > 0.0 && whole > 0.0) {
            return None;
        }
        let (mut found, mut below, mut within) = (None, [0.0; 2], f64::INFINITY);
        for (i, two) in across.windows(2).enumerate() {
            below = add(below, share(two[0]));
            if two[0] == two[1] {
                continue;
            }
            let (rows, above) = ((i + 1) as f64, [all[0] - below[0], all[1] - below[1]]);
            let [lower, upper] = [deviation(below, rows), deviation(above, n - rows)];
            let sides = match cut {
                Cut::Apart => (lower + upper) / 2.0,
                _ => (rows * lower + (n - rows) * upper) / n,
            };
            if sides < within {
                (found, within) = (Some(two[0] + (two[1] - two[0]) / 2.0), sides);
            }
        }
        found.map(|at| Self { slopes, at, reach, within: within / whole })
    }
}

fn deviation(points: &[[f64; 2]], side: usize) -> f64 {
    let first = points[0][side];
    let [sum, squares] = points.iter().fold([0.0; 2], |[sum, squares], point| {
        let x = point[side] - first;
        [sum + x, squares + x * x]
    });
    let n = points.len() as f64;
    (squares / n - (sum / n) * (sum / n)).max(0.0).sqrt()
}

/// How many cuts it takes until a row is alone among so many, were they cut at random: c(n) of Liu, Ting and Zhou, or
/// 2 (H(n) - 1), where H(n) is the sum of 1, 1/2, … 1/n.
fn more_cuts(rows: usize) -> f64 {
    let harmonic: f64 = (1..=rows).map(|i| (i as f64).recip()).sum();
    2.0 * (harmonic - 1.0).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[f64]) -> Column {
        Column::of_numbers(values.iter().map(|&x| x as f32).collect(), None)
    }

    fn grown(cuts: &[Cut], columns: [&Column; 2], trees: usize) -> Forest {
        let point = |row: usize| columns.map(|column| column.plain(column.values[row]));
        let rows = columns[0].values.len();
        grow(cuts, (rows, &point), trees, Stream::new(1, Purpose::Isolation, 0))
    }

    /// Plainly: every place between two points.
    #[test]
    fn the_best_line_leaves_the_least_within_its_sides() {
        let mut random = Stream::new(2, Purpose::Shuffle, 0);
        let spread = |values: &[f64]| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            (values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / values.len() as f64).sqrt()
        };
        for _ in 0..50 {
            let mut x: Vec<f64> = (0..20).map(|_| (random.normal() * 3.0).round()).collect();
            x.sort_unstable_by(f64::total_cmp);
            let points: Vec<[f64; 2]> = x.iter().map(|&x| [x, 0.0]).collect();
            for cut in [Cut::Fair, Cut::Apart] {
                let within = |i: usize| {
                    let (below, above) = (spread(&x[..i]), spread(&x[i..]));
                    if cut == Cut::Apart {
                        (below + above) / 2.0
                    } else {
                        (i as f64 * below + (20 - i) as f64 * above) / 20.0
                    }
                };
                let least = (1..20).filter(|&i| x[i - 1] < x[i]).map(within).fold(f64::INFINITY, f64::min);
                let line = Line::best(&points, [1.0, 0.0], cut).unwrap();
                let cut_at = x.partition_point(|&x| x <= line.at);
                assert!(within(cut_at) <= least + 1e-6 && (line.within - least / spread(&x)).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn cuts_of_so_many_rows_at_random_are_those_of_isolation_forests() {
        assert_eq!([more_cuts(1), more_cuts(2)], [0.0, 1.0]);
        let plain = 2.0 * (1..256).map(|i| 1.0 / f64::from(i)).sum::<f64>() - 2.0 * 255.0 / 256.0;
        assert!((more_cuts(256) - plain).abs() < 1e-12);
    }

    #[test]
    fn a_point_beside_a_line_is_alone_sooner_than_one_on_it() {
        let mut random = Stream::new(3, Purpose::Shuffle, 0);
        let a: Vec<f64> = (0..2000).map(|_| random.unit() * 2.0 - 1.0).collect();
        let b: Vec<f64> = a.iter().map(|a| a + 0.02 * random.normal()).collect();
        for cut in CUTS {
            let forest = grown(&[cut], [&column(&a), &column(&b)], 200);
            let (on, beside, away) = (forest.at([0.5, 0.5]), forest.at([0.5, -0.5]), forest.at([8.0, 8.0]));
            assert!(beside > on + 0.3 && away > on + 0.3, "{on} {beside} {away}");
        }
    }

    /// On a line it would lie among the others.
    #[test]
    fn a_rare_category_is_alone_sooner_wherever_its_place() {
        let places: Vec<f32> = (0..=6).map(|place| place as f32 / 3.0 - 1.0).collect();
        let mut random = Stream::new(4, Purpose::Shuffle, 0);
        let category = |row: usize| if row.is_multiple_of(50) { 3 } else { [0, 1, 2, 4, 5][row % 5] };
        let texts = (0..2000).map(|row| places[category(row)]).collect();
        let numbers = (0..2000).map(|_| (random.normal() / 4.0) as f32).collect();
        let columns = vec![Column::of_categories(texts, places.clone()), Column::of_numbers(numbers, None)];
        let sample = Sample::of_columns((0..2000).collect(), columns, vec![0, 1], vec![0, 1]);
        let functions = Isolation.functions(&sample, &Params::default());
        let [grid] = &functions.grids[..] else { panic!("{} grids", functions.grids.len()) };
        let at = |category: usize| grid.at(f64::from(places[category]), 0.0);
        let usual = [0, 1, 2, 4, 5].map(at).into_iter().fold(f64::NEG_INFINITY, f64::max);
        assert!(at(3) > usual + 0.1, "{} {usual}", at(3));
        let alone = Isolation.functions(&sample, &Params { interactions: 1, ..Params::default() });
        assert_eq!((alone.curves.len(), alone.grids.len()), (2, 0));
        let curve = &alone.curves[0];
        assert!([0, 1, 2, 4, 5].iter().all(|&other| curve.values[3] > curve.values[other] + 0.1));
    }

    /// Plainly: every plane at every node. Of 30 categories some are sides.
    #[test]
    fn a_grid_is_the_sum_of_its_planes_at_every_node() {
        let mut random = Stream::new(6, Purpose::Shuffle, 0);
        let places: Vec<f32> = (0..=30).map(|place| place as f32 / 15.0 - 1.0).collect();
        let texts = (0..600).map(|_| places[random.below(31).min(random.below(31))]).collect();
        let others = (0..600).map(|row| places[row * row % 31]).collect();
        let numbers = (0..600).map(|row| ((row * 7 % 600) as f32 / 300.0 - 1.0).powi(3)).collect();
        let columns = vec![
            Column::of_categories(texts, places.clone()),
            Column::of_categories(others, places),
            Column::of_numbers(numbers, None),
        ];
        let sample = Sample::of_columns((0..600).collect(), columns, vec![0, 1, 2], vec![0, 1, 2]);
        let sides = sample.sides(&[0, 1, 2], 40);
        let of = [0, 1, 2].map(|feature| {
            let own = (0..sides.len()).filter(|&side| sides[side].feature == feature);
            own.step_by(2).collect::<Vec<usize>>()
        });
        let weights = (0..sides.len()).map(|side| 1.0 + side as f64 / 7.0).collect();
        let planes = Planes { sample: &sample, sides: &sides, weights, trees: 6, seed: 3 };
        for features in [[0, 1], [0, 2], [1, 2]] {
            let [a, b] = features.map(|feature| &of[feature as usize]);
            let of_grid: Vec<[usize; 2]> = a.iter().flat_map(|&a| b.iter().map(move |&b| [a, b])).collect();
            let grid = planes.grid(features, &of_grid);
            let columns = features.map(|feature| &sample.columns[feature as usize]);
            let mut sums = vec![0.0; grid.values.len()];
            for &[a, b] in &of_grid {
                let value = |side: usize, k: usize, x: f32| sides[side].value(columns[k], x);
                let point =
                    |row: usize| [value(a, 0, columns[0].values[row]), value(b, 1, columns[1].values[row])];
                let forest = grow(&CUTS, (600, &point), 6, planes.random([a, b]));
                let nodes = grid.nodes[0].iter().flat_map(|&x| grid.nodes[1].iter().map(move |&y| (x, y)));
                let weight = (planes.weights[a] + planes.weights[b]) / 2.0;
                for (sum, (x, y)) in sums.iter_mut().zip(nodes) {
                    *sum += weight * forest.at([value(a, 0, x), value(b, 1, y)]);
                }
            }
            assert!(of_grid.len() > 2);
            assert_eq!(grid.values, sums.into_iter().map(|sum| sum as f32).collect::<Vec<f32>>());
        }
    }

    #[test]
    fn few_rows_and_strange_values_do_no_harm() {
        for values in [
            vec![1.0, 2.0],
            vec![5.0; 9],
            vec![0.0, -0.0, 0.0, -0.0],
            vec![1e-30, 2e-30, 1e15, -1e15, 3.0],
            vec![1.0, 1.0 + f64::from(f32::EPSILON), 1.0],
        ] {
            let column = column(&values);
            let forest = grown(&CUTS, [&column, &column], 21);
            for &value in &values {
                assert!(forest.at([value; 2]).is_finite(), "{value} in {values:?}");
            }
        }
    }
}
