//! Compiles a score: pieces to functions of axes, these to parabolas.

use std::collections::BTreeMap;

use super::axis::{points, refine};
use super::factors::{Product, shortest};
use super::layout::assemble;
use super::split::{Branch, Position, Split, Warp};
use super::{Compiled, LARGEST_SHARE};
use crate::encode::{Encoder, View};
use crate::function::{Functions, Grid, interpolate, locate};
use crate::model::{Model, Wiring};
use crate::parallel;
use crate::profile::Profile;
use crate::score::purify::Moved;

/// How the allowed error is divided: among parabolas and products that are left out.
const FOR_PARABOLAS: f64 = 0.6;
const FOR_PRODUCTS: f64 = 0.4;
/// The largest factor by which a parabola through three values, the middle one halfway, can exceed them.
const OVERSHOOT: f64 = 1.25;
/// An axis must not need to reach further than this for all splits to be constant beyond.
const FURTHEST: f64 = 1e4;
/// A value that at least this share of the training rows has gets a node of its own.
const FREQUENT: f64 = 1e-3;

/// More products than this are many for a pair of axes.
const MANY_TERMS: usize = 64;
/// Most multiplications, about, by which pairs of many products may be made shorter: a second or two of processor time.
const MOST_WORK: f64 = 4e9;

/// What is compiled.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    pub encoder: &'a Encoder,
    pub model: &'a Model<f32>,
    pub wiring: &'a Wiring<f32>,
    pub tree_factor: f32,
    pub shift: f32,
    pub functions: &'a Functions,
    pub profile: &'a Profile,
    /// What is moved from pairs of columns to either of them, between which nodes of each column.
    pub moved: &'a [Moved],
    pub nodes: &'a [Vec<f32>],
    /// Whether values beyond the training range count as its ends.
    pub held: bool,
}

/// A tree times its factor: a polynomial in its splits, each on an axis.
struct Tree {
    coefficients: Vec<f64>,
    splits: Vec<(usize, Split)>,
}

/// An axis under construction.
pub struct Draft {
    pub nodes: Vec<f32>,
    places: Vec<Position>,
    /// The sum of all functions of this axis alone, at the points.
    pub own: Vec<f64>,
    /// A bound of the error of its parabolas.
    error: f64,
}

/// Two axes and products of functions of them.
pub type Products = ([usize; 2], Vec<Product>);

/// A sum of products of functions of two axes: those of the first axis, and those of the second.
type Sum = [Vec<Vec<f64>>; 2];

/// What the function of two axes is the sum of.
#[derive(Default)]
struct Shares<'a> {
    trees: Vec<&'a Tree>,
    grids: Vec<&'a Grid>,
    moved: Vec<&'a Moved>,
}

/// Compiles a score whose values have this standard deviation over the training rows. `None` if the model has trees
/// that look at other trees, or if the required accuracy would need tables that are too large.
pub fn compile(sources: Sources, deviation: f64) -> Option<Compiled> {
    let allowed = LARGEST_SHARE * deviation;
    if !(allowed.is_finite() && allowed > 0.0) || sources.model.shape.layers > 1 {
        return None;
    }
    let warps = warps(sources.encoder);
    let trees = trees(sources, &warps)?;
    let mut drafts = drafts(sources, &trees, &warps, allowed * FOR_PARABOLAS / OVERSHOOT)?;
    if is_too_wide(&sources.functions.grids, &drafts) {
        return None;
    }
    let shares: Vec<_> = functions(sources, &trees, &mut drafts)?.into_iter().collect();
    // One sum after another: all of them are larger than the tables.
    let pairs = parallel::map_outside(&shares, &|(axes, shares)| {
        let [first, second] = shares.sum(*axes, &drafts, sources.nodes);
        (*axes, if first.is_empty() { Vec::new() } else { shortest(&first, &second) })
    });
    let (pairs, left_out) = leave_out(pairs, allowed * FOR_PRODUCTS / (OVERSHOOT * OVERSHOOT));
    let error = OVERSHOOT * drafts.iter().map(|draft| draft.error).sum::<f64>();
    let compiled = assemble(sources, drafts, &pairs, error + OVERSHOOT * OVERSHOOT * left_out)?;
    tracing::debug!(
        bound = compiled.bound,
        allowed,
        bytes = compiled.bytes(),
        pairs = compiled.cells.pairs().len(),
        "compiled the score"
    );
    (compiled.bound <= allowed).then_some(compiled)
}

/// From the first scale of each axis to the second one.
fn warps(encoder: &Encoder) -> Vec<Option<Warp>> {
    let warp = |axis: usize| {
        let feature = encoder.features()[axis];
        let column = &encoder.columns()[feature.column as usize];
        let [start, rate, factor, offset] = column.second_scale().filter(|_| feature.view == View::Asinh)?;
        Some(Warp { start, rate, factor, offset }).filter(Warp::is_sane)
    };
    (0..encoder.telling_features()).map(warp).collect()
}

/// The trees, if each looks at axes only.
fn trees(sources: Sources, warps: &[Option<Warp>]) -> Option<Vec<Tree>> {
    let Sources { encoder, model, wiring, tree_factor, .. } = sources;
    let depth = model.shape.depth;
    let factor = f64::from(tree_factor) / model.shape.all_trees().max(1) as f64;
    let axis_of = |feature: u32| {
        let seen = encoder.features()[feature as usize];
        if (feature as usize) < warps.len() {
            return Some((feature as usize, false));
        }
        let axis = seen.column as usize;
        (seen.view == View::Plain && warps[axis].is_some()).then_some((axis, true))
    };
    let tree = |tree: usize| {
        let (layer, t) = model.locate(tree);
        let split = |i: usize| {
            let [feature] = wiring.trees[tree].features[i % 2][..] else { return None };
            let (axis, warped) = axis_of(feature)?;
            let threshold = f64::from(layer.thresholds[t * depth + i]);
            let steepness = f64::from(wiring.steepness[tree * depth + i]);
            let sane = steepness.is_finite() && steepness > 1.0 / FURTHEST;
            sane.then_some((axis, Split { threshold, steepness, warped }))
        };
        let coefficients =
            wiring.coefficients(model, tree, 0).iter().map(|&c| f64::from(c) * factor).collect();
        Some(Tree { coefficients, splits: (0..depth).map(split).collect::<Option<_>>()? })
    };
    if factor == 0.0 {
        return Some(Vec::new());
    }
    (wiring.one_hot || model.shape.layers == 0).then(|| (0..model.shape.all_trees()).map(tree).collect())?
}

impl Tree {
    /// The set of its splits that are on an axis.
    fn on(&self, axis: usize) -> usize {
        self.splits.iter().enumerate().filter(|(_, (of, _))| *of == axis).map(|(i, _)| 1 << i).sum()
    }

    /// Its splits on an axis.
    fn branch(&self, axis: usize) -> Option<Branch> {
        let chosen = self.on(axis);
        let splits = self.splits.iter().filter(|(of, _)| *of == axis).map(|(_, split)| *split).collect();
        (chosen != 0).then(|| Branch::new(&self.coefficients, chosen, splits))
    }

    /// The products of all sets of its splits on an axis, each with the set: functions of the axis.
    fn products(&self, axis: usize, places: &[Position]) -> Vec<(usize, Vec<f64>)> {
        let mut products = vec![(0, vec![1.0; places.len()])];
        for (i, (_, split)) in self.splits.iter().enumerate().filter(|(_, (of, _))| *of == axis) {
            let values: Vec<f64> = places.iter().map(|place| split.at(place)).collect();
            let with = |(set, product): &(usize, Vec<f64>)| {
                (set | 1 << i, product.iter().zip(&values).map(|(a, b)| a * b).collect())
            };
            products.extend(products.iter().map(with).collect::<Vec<_>>());
        }
        products
    }
}

/// Divides the axes into cells.
fn drafts(sources: Sources, trees: &[Tree], warps: &[Option<Warp>], allowed: f64) -> Option<Vec<Draft>> {
    let branches: Vec<Vec<Branch>> =
        (0..warps.len()).map(|axis| trees.iter().filter_map(|tree| tree.branch(axis)).collect()).collect();
    // These shares minimise the number of cells if it grows with the inverse square root of the allowed error.
    let needs: Vec<f64> = branches
        .iter()
        .map(|branches| libm::cbrt(branches.iter().map(Branch::bending).sum::<f64>()))
        .collect();
    let all: f64 = needs.iter().sum();
    let draft = |axis: usize| {
        let feature = sources.encoder.features()[axis];
        let column = &sources.encoder.columns()[feature.column as usize];
        let place = |x: f64| match sources.held {
            true => Position::held(x, warps[axis]),
            false => Position::new(x, warps[axis]),
        };
        let (nodes, error) = match feature.view {
            // Only certain values occur: exact at each of them.
            View::Missing => (vec![-1.0, 1.0], 0.0),
            _ if column.positions() > 0 => (column.places(), 0.0),
            _ => {
                let nodes = first_nodes(sources, axis, &branches[axis], warps[axis])?;
                refine(&nodes, &branches[axis], place, allowed * needs[axis] / all.max(1e-300))?
            }
        };
        let places: Vec<Position> = points(&nodes).into_iter().map(place).collect();
        Some(Draft { own: vec![0.0; places.len()], nodes, places, error })
    };
    let axes: Vec<usize> = (0..warps.len()).collect();
    parallel::map_outside(&axes, &|&axis| draft(axis)).into_iter().collect()
}

/// The nodes an axis needs: the ends, beyond which nothing changes; those of curves and grids; values that many training
/// rows have, which are then looked up faster; and those at which pairs are purified.
fn first_nodes(sources: Sources, axis: usize, branches: &[Branch], warp: Option<Warp>) -> Option<Vec<f32>> {
    let mut nodes = vec![-1.0, 1.0];
    if sources.held {
        // Beyond the range lies one more cell at either end, without an end of its own.
        nodes.extend([-2.0, 2.0]);
    } else {
        let reach = branches.iter().flat_map(|branch| &branch.splits).map(|split| split.reach(warp));
        let [low, high] =
            reach.fold([-1.0_f64, 1.0_f64], |[low, high], [from, to]| [low.min(from), high.max(to)]);
        if !(low >= -FURTHEST && high <= FURTHEST) {
            return None;
        }
        // A little further, for rounding.
        nodes.extend([(low - 1e-5 * low.abs()) as f32, (high + 1e-5 * high.abs()) as f32]);
    }
    if let Some(spread) = sources.profile.columns.get(axis) {
        nodes.extend(spread.frequent(FREQUENT));
        nodes.extend(&sources.nodes[axis]);
    }
    let (functions, axis) = (sources.functions, axis as u32);
    let curves = functions.curves.iter().filter(|curve| curve.feature == axis);
    nodes.extend(curves.flat_map(|curve| &curve.nodes));
    let sides = functions.grids.iter().flat_map(|grid| grid.features.iter().zip(&grid.nodes));
    nodes.extend(sides.filter(|(feature, _)| **feature == axis).flat_map(|(_, nodes)| nodes));
    nodes.sort_unstable_by(f32::total_cmp);
    nodes.dedup();
    if sources.held {
        // A curve may begin to rise beyond that cell; it goes on in one of its own.
        let [first, last] = [nodes[0], nodes[nodes.len() - 1]];
        nodes.splice(0..0, (first < -2.0).then_some(first * 2.0));
        nodes.extend((last > 2.0).then_some(last * 2.0));
    }
    Some(nodes)
}

/// The functions of one axis, given to the drafts, and what those of two consist of.
fn functions<'a>(
    sources: Sources<'a>,
    trees: &'a [Tree],
    drafts: &mut [Draft],
) -> Option<BTreeMap<[usize; 2], Shares<'a>>> {
    let mut pairs: BTreeMap<[usize; 2], Shares> = BTreeMap::new();
    for tree in trees {
        let mut axes: Vec<usize> = tree.splits.iter().map(|(axis, _)| *axis).collect();
        axes.sort_unstable();
        axes.dedup();
        match axes[..] {
            [axis] => {
                for (set, product) in tree.products(axis, &drafts[axis].places) {
                    add(&mut drafts[axis].own, &product, tree.coefficients[set]);
                }
            }
            [a, b] => pairs.entry([a, b]).or_default().trees.push(tree),
            _ => return None,
        }
    }
    for curve in &sources.functions.curves {
        let draft = drafts.get_mut(curve.feature as usize)?;
        let values: Vec<f64> = draft.places.iter().map(|place| curve.at(place.x)).collect();
        add(&mut draft.own, &values, 1.0);
    }
    for grid in &sources.functions.grids {
        let [a, b] = grid.features.map(|feature| feature as usize);
        if a == b || a.max(b) >= drafts.len() {
            return None;
        }
        pairs.entry([a.min(b), a.max(b)]).or_default().grids.push(grid);
    }
    // What a pair of columns says of either alone is moved to that column's own function. The first axes are the columns.
    for moved in sources.moved {
        for (side, column) in moved.columns.into_iter().enumerate() {
            let values = along(&drafts[column], &sources.nodes[column], &moved.values[side]);
            add(&mut drafts[column].own, &values, 1.0);
        }
        pairs.entry(moved.columns).or_default().moved.push(moved);
    }
    Some(pairs)
}

impl Shares<'_> {
    /// The sum itself, of two axes, which are cut at these nodes where anything is moved.
    fn sum(&self, [a, b]: [usize; 2], drafts: &[Draft], nodes: &[Vec<f32>]) -> Sum {
        let mut sum = Sum::default();
        for tree in &self.trees {
            let second = tree.products(b, &drafts[b].places);
            for (set, product) in tree.products(a, &drafts[a].places) {
                let mut factor = vec![0.0; drafts[b].places.len()];
                for (other, values) in &second {
                    add(&mut factor, values, tree.coefficients[set | other]);
                }
                give(product, factor, &mut sum);
            }
        }
        self.grids.iter().for_each(|grid| give_grid(grid, drafts, &mut sum));
        for moved in &self.moved {
            let [first, second] = moved.columns.map(|column| &drafts[column]);
            let ones = |draft: &Draft| vec![1.0; draft.places.len()];
            let taken = |side: usize, draft: &Draft| {
                let values = along(draft, &nodes[moved.columns[side]], &moved.values[side]);
                values.iter().map(|value| -value).collect::<Vec<f64>>()
            };
            sum[0].extend([taken(0, first), ones(first)]);
            sum[1].extend([ones(second), taken(1, second)]);
        }
        sum
    }
}

/// A function that is given at nodes, at the points of an axis.
fn along<T: Copy + Into<f64>>(draft: &Draft, nodes: &[f32], values: &[T]) -> Vec<f64> {
    draft.places.iter().map(|place| interpolate(locate(place.x, nodes), values)).collect()
}

fn add(sum: &mut [f64], values: &[f64], factor: f64) {
    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
}

/// Subtracts the mean from values.
pub fn centre(values: &mut [f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter_mut().for_each(|value| *value -= mean);
    mean
}

/// Adds a product of functions of two axes.
fn give(first: Vec<f64>, second: Vec<f64>, sum: &mut Sum) {
    if [&first, &second].iter().all(|side| side.iter().any(|value| *value != 0.0)) {
        sum[0].push(first);
        sum[1].push(second);
    }
}

/// A grid is, for each node of one feature, a hat around it times a curve of the other.
fn give_grid(grid: &Grid, drafts: &[Draft], sum: &mut Sum) {
    let axes = grid.features.map(|feature| feature as usize);
    let across = grid.nodes[1].len();
    let (hats, curves) = sides(grid);
    let count = grid.nodes[hats].len();
    let along = |values: &[f64], side: usize| along(&drafts[axes[side]], &grid.nodes[side], values);
    for i in 0..count {
        let hat: Vec<f64> = (0..count).map(|node| f64::from(u8::from(node == i))).collect();
        let value =
            |j: usize| f64::from(grid.values[if hats == 0 { i * across + j } else { j * across + i }]);
        let curve: Vec<f64> = (0..grid.nodes[curves].len()).map(value).collect();
        let (hat, curve) = (along(&hat, hats), along(&curve, curves));
        let [low, high] = if axes[hats] < axes[curves] { [hat, curve] } else { [curve, hat] };
        give(low, high, sum);
    }
}

/// Of which feature a grid has hats, and of which curves: a column of many categories has curves, so that there are few products.
fn sides(grid: &Grid) -> (usize, usize) {
    let [down, across] = grid.nodes.each_ref().map(Vec::len);
    if down > MANY_TERMS && down > across { (1, 0) } else { (0, 1) }
}

/// Whether it would take too long to make the sums of products short: where two columns have hundreds of categories each, the work grows with the
/// cube of their number, and what comes out is hardly shorter.
fn is_too_wide(grids: &[Grid], drafts: &[Draft]) -> bool {
    let mut terms: BTreeMap<[usize; 2], usize> = BTreeMap::new();
    for grid in grids {
        let mut axes = grid.features.map(|feature| feature as usize);
        axes.sort_unstable();
        *terms.entry(axes).or_default() += grid.nodes[sides(grid).0].len();
    }
    let work = |(axes, terms): (&[usize; 2], &usize)| {
        let points = axes.map(|axis| drafts.get(axis).map_or(0, |draft| draft.places.len()));
        let rank = *terms.min(&points[0]).min(&points[1]);
        if rank > MANY_TERMS {
            (rank * rank) as f64 * (points[0] + points[1] + 10 * rank) as f64
        } else {
            0.0
        }
    };
    terms.iter().map(work).sum::<f64>() > MOST_WORK
}

/// Drops the smallest products, as many as add up to no more than `allowed`; returns their sum.
fn leave_out(mut pairs: Vec<Products>, allowed: f64) -> (Vec<Products>, f64) {
    let mut sizes: Vec<f64> = pairs.iter().flat_map(|(_, products)| products).map(|p| p.size).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    let (mut sum, mut least) = (0.0, 0.0);
    for size in sizes {
        if sum + size > allowed {
            break;
        }
        (sum, least) = (sum + size, size);
    }
    let mut left_out = 0.0;
    for (_, products) in &mut pairs {
        let kept = products.partition_point(|product| product.size > least);
        left_out += products.drain(kept..).map(|product| product.size).sum::<f64>();
    }
    pairs.retain(|(_, products)| !products.is_empty());
    (pairs, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_many_categories_are_too_wide_together_and_no_others() {
        let draft = |points: usize| {
            let places = vec![Position::new(0.0, None); points];
            Draft { nodes: Vec::new(), own: vec![0.0; points], places, error: 0.0 }
        };
        let wide = |grids: &[[usize; 2]]| {
            let nodes = |count: usize| (0..count).map(|node| node as f32).collect::<Vec<f32>>();
            let grids: Vec<Grid> = grids
                .iter()
                .zip(0..)
                .map(|(&[down, across], pair)| Grid {
                    features: [2 * pair, 2 * pair + 1],
                    nodes: [nodes(down), nodes(across)],
                    values: vec![0.0; down * across],
                })
                .collect();
            let drafts: Vec<Draft> =
                grids.iter().flat_map(|grid| &grid.nodes).map(|nodes| draft(2 * nodes.len() - 1)).collect();
            is_too_wide(&grids, &drafts)
        };
        assert!(wide(&[[1000, 1000]]));
        assert!(!wide(&[[1000, 18], [18, 1000], [1000, 130]]));
        assert!(!wide(&[[60, 1000]; 300]) && !wide(&[[200, 200]; 3]));
        assert!(wide(&[[200, 200]; 100]));
    }
}
