//! The plan of a detector.

use std::collections::BTreeMap;

use super::plan::{Check, Curve, FORMAT, Feature, Grid, Input, InputKind, Plan, Side, Term, Tree};
use crate::encode::{Column, Feature as Seen, Kind, Scaler, View};
use crate::explain::Explainer;
use crate::function;
use crate::origin::Digest;
use crate::score::purify;
use crate::table::{TRUTHS, is_whole};
use crate::{Detector, Error, Result};

impl Plan {
    /// The plan of a detector whose model file has this digest.
    ///
    /// # Errors
    /// If its score is no sum of functions of one and two columns that can be written down.
    pub(super) fn of(detector: &Detector, digest: Digest) -> Result<Self> {
        refuse(detector)?;
        let mut draft = Draft::new(detector);
        draft.add_functions();
        draft.add_trees();
        draft.add_moved();
        draft.centre();
        Ok(draft.finished(digest))
    }
}

/// Refuses what cannot be exported.
fn refuse(detector: &Detector) -> Result<()> {
    let refused = |reason: &str| Err(Error::Export { reason: reason.to_owned() });
    if detector.encoder().segments().is_some() {
        return refused(
            "its numbers count by what is usual in segments, of which an export would need a table; fit it without --by",
        );
    }
    if detector.model().shape.layers > 1 {
        return refused(
            "its trees look at other trees, so its score is not a sum of curves, grids and trees; train one with --layers 1",
        );
    }
    if detector.model().shape.layers == 1 && !detector.wiring().one_hot {
        return refused("its trees still look at several columns at once; train one with more --steps");
    }
    if !detector.held() {
        return refused("it was written by the first version of diad; fit it again");
    }
    Ok(())
}

/// A plan in the making. Features have the numbers of the encoder's.
struct Draft<'a> {
    detector: &'a Detector,
    seen: &'a [Seen],
    scalers: &'a [Scaler],
    /// The terms by how many and which columns they have, as explanations order them.
    terms: BTreeMap<(usize, Vec<usize>), Term>,
    sides: Vec<Side>,
    means: f64,
}

impl<'a> Draft<'a> {
    fn new(detector: &'a Detector) -> Self {
        Self {
            detector,
            seen: detector.encoder().features(),
            scalers: detector.scalers(),
            terms: BTreeMap::new(),
            sides: Vec::new(),
            means: 0.0,
        }
    }

    /// The term of some features, and terms of its columns.
    fn term(&mut self, features: &[usize]) -> &mut Term {
        let mut columns: Vec<usize> = features.iter().map(|&f| self.seen[f].column as usize).collect();
        columns.sort_unstable();
        columns.dedup();
        let given = self.detector.encoder().columns();
        let empty = |columns: &[usize]| Term {
            name: columns.iter().map(|&c| given[c].name.as_str()).collect::<Vec<_>>().join(" × "),
            curves: Vec::new(),
            grids: Vec::new(),
            trees: Vec::new(),
            moved: Vec::new(),
            mean: 0.0,
        };
        for &column in &columns {
            self.terms.entry((1, vec![column])).or_insert_with(|| empty(&[column]));
        }
        self.terms.entry((columns.len(), columns.clone())).or_insert_with(|| empty(&columns))
    }

    /// Curves of the same feature as one, and grids with the places of their nodes.
    fn add_functions(&mut self) {
        let functions = self.detector.functions();
        let mut by_feature: BTreeMap<usize, Vec<&function::Curve>> = BTreeMap::new();
        for curve in &functions.curves {
            by_feature.entry(curve.feature as usize).or_default().push(curve);
        }
        for (feature, curves) in by_feature {
            let curve = sum(feature, &curves);
            self.term(&[feature]).curves.push(curve);
        }
        for grid in &functions.grids {
            let sides = [0, 1].map(|side| self.side(grid, side));
            let values = kept(grid, sides.map(|side| &self.sides[side]));
            self.term(&grid.features.map(|feature| feature as usize)).grids.push(Grid { sides, values });
        }
    }

    /// The side of a grid: its nodes, with one place for neighbours between which no grid of these nodes changes.
    fn side(&mut self, grid: &function::Grid, side: usize) -> usize {
        let (feature, nodes) = (grid.features[side] as usize, &grid.nodes[side]);
        let as_given: Vec<f64> = nodes.iter().map(|&node| f64::from(node)).collect();
        let known = |known: &Side| known.feature == feature && known.nodes == as_given;
        if let Some(found) = self.sides.iter().position(known) {
            return found;
        }
        let grids = &self.detector.functions().grids;
        let same = grids
            .iter()
            .flat_map(|grid| [(grid, 0), (grid, 1)])
            .filter(|(other, k)| other.features[*k] as usize == feature && other.nodes[*k] == *nodes);
        let same: Vec<(&function::Grid, usize)> = same.collect();
        let changes = |node: usize| same.iter().any(|(grid, k)| changes(grid, *k, node));
        let mut places = vec![0];
        for node in 1..nodes.len() {
            places.push(places[node - 1] + u32::from(changes(node)));
        }
        if places[nodes.len() - 1] == 0 {
            places = (0..nodes.len() as u32).collect();
        }
        self.sides.push(Side { feature, nodes: as_given, places });
        self.sides.len() - 1
    }

    fn add_trees(&mut self) {
        let (model, wiring, additive) =
            (self.detector.model(), self.detector.wiring(), self.detector.additive());
        let (trees, depth) = (model.shape.all_trees(), model.shape.depth);
        let factor = f64::from(additive.tree_factor()) / trees.max(1) as f64;
        if factor == 0.0 {
            return;
        }
        let wide = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect::<Vec<f64>>();
        for tree in 0..trees {
            let (layer, index) = model.locate(tree);
            let features = [0, 1].map(|side| wiring.trees[tree].features[side][0] as usize);
            let coefficients = wiring.coefficients(model, tree, 0);
            let made = Tree {
                features,
                thresholds: wide(&layer.thresholds[index * depth..(index + 1) * depth]),
                steepness: wide(&wiring.steepness[tree * depth..(tree + 1) * depth]),
                coefficients: coefficients.iter().map(|&c| f64::from(c) * factor).collect(),
            };
            self.term(&features).trees.push(made);
        }
    }

    /// What purification moves from pairs to their columns.
    fn add_moved(&mut self) {
        let nodes = purify::nodes(self.detector.encoder(), self.detector.profile());
        let mut given: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        let curve = |feature: usize, values: Vec<f64>| {
            let nodes = nodes[feature].iter().map(|&node| f64::from(node)).collect();
            Curve { feature, nodes, values, beyond: [0.0; 2] }
        };
        for moved in self.detector.moved(&nodes) {
            for (column, values) in moved.columns.into_iter().zip(moved.values) {
                let own = given.entry(column).or_insert_with(|| vec![0.0; values.len()]);
                own.iter_mut().zip(&values).for_each(|(own, value)| *own += value);
                let taken = values.iter().map(|value| -value).collect();
                // The first features are the columns.
                self.term(&moved.columns).moved.push(curve(column, taken));
            }
        }
        for (column, values) in given {
            self.term(&[column]).moved.push(curve(column, values));
        }
    }

    /// Explanations centre every term. What they subtract is found where all columns have their smallest values.
    fn centre(&mut self) {
        let explainer = Explainer::new(self.detector);
        let columns = self.detector.encoder().columns();
        let x: Vec<f64> = (self.seen.iter().zip(self.scalers))
            .map(|(seen, scaler)| f64::from(scaler.scale(columns[seen.column as usize].min)))
            .collect();
        let plan = Plan { sides: std::mem::take(&mut self.sides), ..empty() };
        for ((_, of), term) in &mut self.terms {
            let Some(index) = explainer.find(of) else { continue };
            let point: Vec<f64> = of.iter().map(|&column| columns[column].min).collect();
            let value = plan.functions(term, &x) + super::evaluate::moved(term, &x);
            term.mean = value - explainer.evaluate(index, &[&point])[0];
            self.means += term.mean;
        }
        self.sides = plan.sides;
    }

    /// The plan, with no more features than are looked at.
    fn finished(self, digest: Digest) -> Plan {
        let base = -f64::from(self.detector.additive().shift);
        let mut plan = Plan {
            model: digest.to_string(),
            base,
            intercept: base + self.means,
            sides: self.sides,
            ..empty()
        };
        let columns = self.detector.encoder().columns();
        let places: Vec<Vec<usize>> = self.terms.keys().map(|(_, columns)| columns.clone()).collect();
        plan.terms = self.terms.into_values().collect();
        let mut used = vec![false; self.seen.len()];
        plan.each_feature(|feature| used[*feature] = true);
        let mut number = vec![0; used.len()];
        let own = |column: usize| places.iter().position(|place| *place == [column]);
        let mut input_of_column = Vec::new();
        for (index, column) in columns.iter().enumerate() {
            // The first of the parts of a time speaks for it.
            if index == 0 || columns[index - 1].source() != column.source() {
                plan.inputs.push(input_of(column, self.detector.penalty(index), own(index).unwrap_or(0)));
            }
            input_of_column.push(plan.inputs.len() - 1);
        }
        for (feature, seen) in self.seen.iter().enumerate().filter(|(feature, _)| used[*feature]) {
            let column = seen.column as usize;
            number[feature] = plan.features.len();
            let input = input_of_column[column];
            plan.features.push(feature_of(&columns[column], seen.view, &self.scalers[feature], input));
        }
        plan.each_feature(|feature| *feature = number[*feature]);
        plan
    }
}

impl Plan {
    fn each_feature(&mut self, mut visit: impl FnMut(&mut usize)) {
        self.sides.iter_mut().for_each(|side| visit(&mut side.feature));
        for term in &mut self.terms {
            term.curves.iter_mut().chain(&mut term.moved).for_each(|curve| visit(&mut curve.feature));
            term.trees.iter_mut().flat_map(|tree| &mut tree.features).for_each(&mut visit);
        }
    }
}

fn empty() -> Plan {
    Plan {
        diad_export: FORMAT,
        model: String::new(),
        inputs: Vec::new(),
        features: Vec::new(),
        sides: Vec::new(),
        base: 0.0,
        intercept: 0.0,
        terms: Vec::new(),
        check: Check::default(),
    }
}

/// The sum of curves of one feature, given at all their nodes. Between them a feature is cut to [-1, 1].
fn sum(feature: usize, curves: &[&function::Curve]) -> Curve {
    let mut nodes: Vec<f64> = curves.iter().flat_map(|c| &c.nodes).map(|&node| f64::from(node)).collect();
    if nodes.iter().any(|node| node.abs() > 1.0) {
        nodes.extend([-1.0, 1.0]);
    }
    nodes.sort_by(f64::total_cmp);
    nodes.dedup();
    let at = |x: f64| -> f64 {
        let inside = x.clamp(-1.0, 1.0);
        let beyond = |c: &&function::Curve| c.at(x) - flat(c).at(x);
        curves.iter().map(|c| flat(c).at(inside) + beyond(c)).sum()
    };
    let rise = |end: usize| curves.iter().map(|c| f64::from(c.beyond[end])).sum();
    Curve { feature, values: nodes.iter().map(|&node| at(node)).collect(), nodes, beyond: [rise(0), rise(1)] }
}

/// A curve that is constant beyond its nodes.
fn flat(curve: &function::Curve) -> function::Curve {
    function::Curve { beyond: [0.0; 2], ..curve.clone() }
}

/// Whether the values of a grid along one side differ between a node and the one before it.
fn changes(grid: &function::Grid, side: usize, node: usize) -> bool {
    let across = grid.nodes[1].len();
    let (stride, step, count) =
        if side == 0 { (across, 1, across) } else { (1, across, grid.nodes[0].len()) };
    (0..count).any(|k| grid.values[node * stride + k * step] != grid.values[(node - 1) * stride + k * step])
}

/// The values of a grid at its places: those at the first node of each.
fn kept(grid: &function::Grid, sides: [&Side; 2]) -> Vec<f64> {
    let first = |side: &Side| -> Vec<usize> {
        let nodes = 0..side.nodes.len();
        nodes.filter(|&node| node == 0 || side.places[node] != side.places[node - 1]).collect()
    };
    let (down, across) = (first(sides[0]), first(sides[1]));
    let width = grid.nodes[1].len();
    let value = |i: usize, j: usize| f64::from(grid.values[i * width + j]);
    down.iter().flat_map(|&i| across.iter().map(move |&j| value(i, j))).collect()
}

fn input_of(column: &Column, penalty: f64, term: usize) -> Input {
    let (kind, missing_is_odd) = match &column.kind {
        Kind::Number => (InputKind::Number, column.gaps.is_none()),
        Kind::Time { .. } => (InputKind::Time, column.gaps.is_none()),
        Kind::Category { levels, .. } => {
            (InputKind::Category, levels.iter().all(|level| level.name.is_some()))
        }
    };
    let infinite_is_odd = column.gaps.is_none_or(|gaps| !gaps.infinite);
    let name = column.source().to_owned();
    // Scores are single-precision numbers, and so is what is added to them.
    Input { name, kind, missing_is_odd, infinite_is_odd, penalty: f64::from(penalty as f32), term }
}

fn feature_of(column: &Column, view: View, scaler: &Scaler, input: usize) -> Feature {
    let missing = f64::from(scaler.scale(f64::NAN));
    let part = match &column.kind {
        _ if view == View::Missing => return Feature::Missing { input },
        Kind::Category { levels, .. } => {
            let place = |position: usize| f64::from(scaler.scale(position as f64));
            let named = |name: Option<&str>| levels.iter().position(|level| level.name.as_deref() == name);
            let other = place(levels.len());
            let truths = column.notation.as_ref().and_then(|notation| notation.truths.as_ref());
            let folded = truths.into_iter().flat_map(|truths| {
                let spelt = |k: usize| {
                    TRUTHS.iter().map(move |words| words[k]).chain([["0", "1"], ["0.0", "1.0"]].map(|w| w[k]))
                };
                let place = |k: usize| named(Some(truths[k].as_str())).map_or(other, place);
                (0..2)
                    .flat_map(move |k| spelt(k).map(move |word| (word.to_owned(), place(k))))
                    .collect::<Vec<_>>()
            });
            let mut texts = Vec::new();
            for (position, level) in levels.iter().enumerate() {
                let Some(name) = &level.name else { continue };
                texts.push((name.clone(), place(position)));
                if column.notation.is_some() && is_whole(name) {
                    texts.push((format!("{name}.0"), place(position)));
                }
            }
            return Feature::Category {
                input,
                trimmed: column.notation.is_some(),
                folded: folded.collect(),
                texts,
                missing: named(None).map_or(missing, place),
                other,
            };
        }
        Kind::Time { part, .. } => Some(part.name()),
        Kind::Number => None,
    };
    let [low, high] = scaler.ends();
    let asinh = column.asinh.filter(|_| view == View::Asinh).map(|asinh| [asinh.median, asinh.spread]);
    Feature::Number { input, part, asinh, low, high, missing }
}
