//! Piecewise linear functions of features by one ensemble of balanced decision trees: a leaf has the value at the start of its piece, where
//! that is, and the slope.

use super::features::{Features, rows, slice};
use super::proto::{Attribute, Graph};
use crate::export::plan::{Curve, Side};

/// A piecewise linear function: the pieces by where they start, the first of them without a start.
pub struct Pieces {
    /// Which column of the features.
    pub column: usize,
    /// For each piece its start, value, the place the value is at, and slope.
    pieces: Vec<[f64; 4]>,
}

impl Pieces {
    /// A curve.
    pub fn of_curve(curve: &Curve, column: usize) -> Self {
        let (nodes, values, last) = (&curve.nodes, &curve.values, curve.nodes.len() - 1);
        let mut pieces = vec![[f64::NEG_INFINITY, values[0], nodes[0], -curve.beyond[0]]];
        for k in 0..last {
            let slope = (values[k + 1] - values[k]) / (nodes[k + 1] - nodes[k]);
            pieces.push([nodes[k], values[k], nodes[k], slope]);
        }
        pieces.push([nodes[last], values[last], nodes[last], curve.beyond[1]]);
        Self { column, pieces }
    }

    /// The place along a side. Its value at the start of a piece is a whole number.
    pub fn of_side(side: &Side, column: usize) -> Self {
        let values = side.places.iter().map(|&place| f64::from(place)).collect();
        let curve = Curve { feature: 0, nodes: side.nodes.clone(), values, beyond: [0.0; 2] };
        let mut pieces = Self::of_curve(&curve, column).pieces;
        // What is constant is one piece.
        pieces.dedup_by(|next, before| next[1] == before[1] && next[3] == 0.0 && before[3] == 0.0);
        Self { column, pieces }
    }
}

/// The nodes of an ensemble, as the operator has them.
#[derive(Default)]
struct Nodes {
    trees: Vec<i64>,
    ids: Vec<i64>,
    columns: Vec<i64>,
    values: Vec<f32>,
    modes: Vec<String>,
    less: Vec<i64>,
    more: Vec<i64>,
    target_trees: Vec<i64>,
    target_nodes: Vec<i64>,
    targets: Vec<i64>,
    weights: Vec<f32>,
}

impl Nodes {
    /// Adds the nodes that choose among pieces, and returns the number of the first.
    fn add(&mut self, tree: usize, column: usize, count: usize, pieces: &[[f64; 4]], next: &mut i64) -> i64 {
        let (id, at) = (*next, self.ids.len());
        *next += 1;
        self.trees.push(tree as i64);
        self.ids.push(id);
        self.columns.push(column as i64);
        self.values.push(0.0);
        self.modes.push("LEAF".to_owned());
        self.less.push(0);
        self.more.push(0);
        if let [[_, value, node, slope]] = pieces {
            for (k, weight) in [value, node, slope].into_iter().enumerate() {
                self.target_trees.push(tree as i64);
                self.target_nodes.push(id);
                self.targets.push((k * count + tree) as i64);
                self.weights.push(*weight as f32);
            }
            return id;
        }
        let (low, high) = pieces.split_at(pieces.len() / 2);
        self.values[at] = high[0][0] as f32;
        self.modes[at] = "BRANCH_LT".to_owned();
        self.less[at] = self.add(tree, column, count, low, next);
        self.more[at] = self.add(tree, column, count, high, next);
        id
    }
}

/// The functions of features: of each what it is at the start of its piece, and what is added to that, as two matrices with a row for each.
pub fn piecewise(
    functions: &[Pieces],
    Features { x, turned, .. }: &Features,
    graph: &mut Graph,
) -> [String; 2] {
    let (mut nodes, count) = (Nodes::default(), functions.len());
    for (tree, function) in functions.iter().enumerate() {
        nodes.add(tree, function.column, count, &function.pieces, &mut 0);
    }
    let Nodes {
        trees,
        ids,
        columns,
        values,
        modes,
        less,
        more,
        target_trees,
        target_nodes,
        targets,
        weights,
    } = nodes;
    let attributes = [
        ("n_targets", Attribute::Int(3 * count as i64)),
        ("aggregate_function", Attribute::Text("SUM")),
        ("post_transform", Attribute::Text("NONE")),
        ("nodes_treeids", Attribute::Ints(trees)),
        ("nodes_nodeids", Attribute::Ints(ids)),
        ("nodes_featureids", Attribute::Ints(columns)),
        ("nodes_values", Attribute::Floats(values)),
        ("nodes_modes", Attribute::Texts(modes)),
        ("nodes_truenodeids", Attribute::Ints(less)),
        ("nodes_falsenodeids", Attribute::Ints(more)),
        ("target_treeids", Attribute::Ints(target_trees)),
        ("target_nodeids", Attribute::Ints(target_nodes)),
        ("target_ids", Attribute::Ints(targets)),
        ("target_weights", Attribute::Floats(weights)),
    ];
    let found = graph.ml("TreeEnsembleRegressor", &[x], &attributes);
    let found = graph.op("Transpose", &[&found], &[]);
    let [start, node, slope] = [0, 1, 2].map(|k| slice(graph, &found, k * count..(k + 1) * count));
    let own = rows(graph, turned, &functions.iter().map(|function| function.column).collect::<Vec<_>>());
    let far = graph.op("Sub", &[&own, &node], &[]);
    let rise = graph.op("Mul", &[&far, &slope], &[]);
    [start, rise]
}
