//! A score as an ONNX graph of few, large operators: all columns, nodes, grids and trees at once.

mod ensemble;
mod features;
mod proto;

use super::plan::{Grid, Plan, Tree};
use crate::{Error, Result};
use ensemble::{Pieces, piecewise};
use features::{Features, features, rows, slice};
use proto::{Attribute, Element, Graph};

/// Functions as rows of a matrix with a column for each row of the table, and the terms they belong to.
struct Values {
    matrix: String,
    terms: Vec<usize>,
}

impl Plan {
    /// The score as an ONNX file. If it `explains`, the contributions of all terms are a second output, a column for each.
    ///
    /// # Errors
    /// If the trees do not have the same number of splits.
    pub fn to_onnx(&self, explains: bool) -> Result<Vec<u8>> {
        let mut graph = Graph::default();
        let found = features(self, &mut graph);
        let mut values = self.curves_and_grids(explains, &found, &mut graph);
        values.extend(self.trees(&found, &mut graph)?);
        let mut doubled: Vec<Values> = Vec::new();
        for Values { matrix, terms } in values {
            let matrix = graph.op("Cast", &[&matrix], &[("to", Attribute::Int(Element::Double as i64))]);
            doubled.push(Values { matrix, terms });
        }
        if let Some(matrix) = found.penalties {
            let terms = found.of.iter().map(|&input| self.inputs[input].term).collect();
            doubled.push(Values { matrix, terms });
        }
        if explains {
            self.explained(&doubled, &mut graph);
        } else {
            self.score_alone(&doubled, &mut graph);
        }
        graph.end(12, "score", Element::Double, 1);
        let names: Vec<&str> = self.terms.iter().map(|term| term.name.as_str()).collect();
        let metadata = [
            ("diad_export", self.diad_export.to_string()),
            ("diad_model", self.model.clone()),
            ("diad_terms", super::json(&names)?),
            (
                "diad_inputs",
                super::json(&self.inputs.iter().map(|input| input.name.as_str()).collect::<Vec<_>>())?,
            ),
            ("diad_check", super::json(&self.check)?),
        ];
        Ok(graph.finished("diad", &metadata))
    }

    /// The sum of everything.
    fn score_alone(&self, values: &[Values], graph: &mut Graph) {
        let axes = graph.ints(&[1], &[0]);
        let mut total = graph.doubles(&[1], &[self.base]);
        for Values { matrix, .. } in values {
            let sum = graph.op("ReduceSum", &[matrix, &axes], &[("keepdims", Attribute::Int(1))]);
            total = graph.op("Add", &[&total, &sum], &[]);
        }
        graph.node(("", "Transpose"), &[&total], "score", &[]);
    }

    /// The contribution of each term, and their sum.
    fn explained(&self, values: &[Values], graph: &mut Graph) {
        let matrices: Vec<&str> = values.iter().map(|values| values.matrix.as_str()).collect();
        let all = graph.op("Concat", &matrices, &[("axis", Attribute::Int(0))]);
        let terms: Vec<usize> = values.iter().flat_map(|values| values.terms.iter().copied()).collect();
        let (width, count) = (self.terms.len(), terms.len());
        let mut belongs = vec![0.0; width * count];
        terms.iter().enumerate().for_each(|(column, term)| belongs[term * count + column] = 1.0);
        let belongs = graph.doubles(&[width, count], &belongs);
        let sums = graph.op("MatMul", &[&belongs, &all], &[]);
        let sums = graph.op("Transpose", &[&sums], &[]);
        let means: Vec<f64> = self.terms.iter().map(|term| term.mean).collect();
        let means = graph.doubles(&[1, width], &means);
        graph.node(("", "Sub"), &[&sums, &means], "contributions", &[]);
        graph.end(12, "contributions", Element::Double, width);
        let (axes, intercept) = (graph.ints(&[1], &[1]), graph.doubles(&[1], &[self.intercept]));
        let sum = graph.op("ReduceSum", &["contributions", &axes], &[("keepdims", Attribute::Int(1))]);
        graph.node(("", "Add"), &[&sum, &intercept], "score", &[]);
    }

    /// Curves, those that are moved if asked for, and grids.
    fn curves_and_grids(&self, moved: bool, found: &Features, graph: &mut Graph) -> Vec<Values> {
        let sides = self.sides.iter().map(|side| Pieces::of_side(side, found.place[side.feature]));
        let mut functions: Vec<Pieces> = sides.collect();
        let mut terms = Vec::new();
        for (index, term) in self.terms.iter().enumerate() {
            let moved = if moved { &term.moved[..] } else { &[] };
            for curve in term.curves.iter().chain(moved) {
                functions.push(Pieces::of_curve(curve, found.place[curve.feature]));
                terms.push(index);
            }
        }
        if functions.is_empty() {
            return Vec::new();
        }
        let [start, rise] = piecewise(&functions, found, graph);
        let (sides, all) = (self.sides.len(), functions.len());
        let mut values = Vec::new();
        if all > sides {
            let parts = [&start, &rise].map(|matrix| slice(graph, matrix, sides..all));
            values.push(Values { matrix: graph.op("Add", &[&parts[0], &parts[1]], &[]), terms });
        }
        values.extend(self.grids([&start, &rise], graph));
        values
    }

    /// All grids: of each the cell, and the four numbers that a function has there that is linear in either place.
    fn grids(&self, [start, share]: [&str; 2], graph: &mut Graph) -> Option<Values> {
        let (mut table, mut offsets, mut across, mut terms) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut sides = [Vec::new(), Vec::new()];
        for (index, term) in self.terms.iter().enumerate() {
            for grid in &term.grids {
                offsets.push((table.len() / 4) as f64);
                across.push(self.sides[grid.sides[1]].places() as f64);
                (0..2).for_each(|k| sides[k].push(grid.sides[k]));
                self.cells(grid, &mut table);
                terms.push(index);
            }
        }
        let count = terms.len();
        if count == 0 {
            return None;
        }
        let [i, j] = sides.each_ref().map(|sides| rows(graph, start, sides));
        let [a, b] = sides.each_ref().map(|sides| rows(graph, share, sides));
        let (across, offsets) = (graph.floats(&[count, 1], &across), graph.floats(&[count, 1], &offsets));
        let row = graph.op("Mul", &[&i, &across], &[]);
        let cell = graph.op("Add", &[&row, &j], &[]);
        let cell = graph.op("Add", &[&cell, &offsets], &[]);
        let cell = graph.op("Cast", &[&cell], &[("to", Attribute::Int(6))]);
        // Four numbers at a time are found as fast as one.
        let cells = table.len() / 4;
        let table = graph.floats(&[cells, 4], &table);
        let found = graph.op("Gather", &[&table, &cell], &[("axis", Attribute::Int(0))]);
        let turned = graph.op("Transpose", &[&found], &[("perm", Attribute::Ints(vec![2, 0, 1]))]);
        let [c, by_a, by_b, by_both] = [0, 1, 2, 3].map(|k| {
            let index = graph.ints(&[], &[k]);
            graph.op("Gather", &[&turned, &index], &[("axis", Attribute::Int(0))])
        });
        let twice = graph.op("Mul", &[&a, &by_both], &[]);
        let along = graph.op("Add", &[&by_b, &twice], &[]);
        let along = graph.op("Mul", &[&b, &along], &[]);
        let down = graph.op("Mul", &[&a, &by_a], &[]);
        let sum = graph.op("Add", &[&c, &down], &[]);
        Some(Values { matrix: graph.op("Add", &[&sum, &along], &[]), terms })
    }

    /// A cell for each node of a grid: its value, and how it changes towards the next ones. At the last places nothing changes.
    fn cells(&self, grid: &Grid, table: &mut Vec<f64>) {
        let [down, across] = grid.sides.map(|side| self.sides[side].places());
        let value = |i: usize, j: usize| grid.values[i.min(down - 1) * across + j.min(across - 1)];
        for i in 0..down {
            for j in 0..across {
                let (here, below, beside) = (value(i, j), value(i + 1, j), value(i, j + 1));
                let both = value(i + 1, j + 1) - below - beside + here;
                table.extend([here, below - here, beside - here, both]);
            }
        }
    }

    /// All trees: their splits, and the polynomials of them.
    fn trees(&self, found: &Features, graph: &mut Graph) -> Result<Option<Values>> {
        let all = || {
            self.terms
                .iter()
                .enumerate()
                .flat_map(|(index, term)| term.trees.iter().map(move |tree| (index, tree)))
        };
        let (terms, trees): (Vec<usize>, Vec<&Tree>) = all().unzip();
        let Some(depth) = trees.first().map(|tree| tree.thresholds.len()) else { return Ok(None) };
        if trees.iter().any(|tree| tree.thresholds.len() != depth) {
            let reason =
                "its trees do not all have the same number of splits; train one with a single --depth";
            return Err(Error::Export { reason: reason.to_owned() });
        }
        let count = trees.len();
        let (least, most) = (graph.floats(&[], &[-1.0]), graph.floats(&[], &[1.0]));
        let two = graph.floats(&[1], &[2.0]);
        let cut = graph.op("Clip", &[&found.turned, &least, &most], &[]);
        // All splits at once: the first of all trees, then the second of all trees, and so on.
        let splits = || (0..depth).flat_map(|k| trees.iter().map(move |tree| (k, *tree)));
        let columns: Vec<usize> = splits().map(|(k, tree)| found.place[tree.features[k % 2]]).collect();
        let thresholds: Vec<f64> = splits().map(|(k, tree)| tree.thresholds[k]).collect();
        let steepness: Vec<f64> = splits().map(|(k, tree)| tree.steepness[k]).collect();
        let (thresholds, steepness) =
            (graph.floats(&[depth * count, 1], &thresholds), graph.floats(&[depth * count, 1], &steepness));
        let x = rows(graph, &cut, &columns);
        let u = graph.op("Sub", &[&x, &thresholds], &[]);
        let u = graph.op("Mul", &[&u, &steepness], &[]);
        let u = graph.op("Clip", &[&u, &least, &most], &[]);
        let square = graph.op("Mul", &[&u, &u], &[]);
        let root = graph.op("Sub", &[&two, &square], &[]);
        let root = graph.op("Sqrt", &[&root], &[]);
        let splits = graph.op("Mul", &[&u, &root], &[]);
        let splits: Vec<String> =
            (0..depth).map(|k| slice(graph, &splits, k * count..(k + 1) * count)).collect();
        let mut parts: Vec<String> = (0..1 << depth)
            .map(|set| {
                graph
                    .floats(&[count, 1], &trees.iter().map(|tree| tree.coefficients[set]).collect::<Vec<_>>())
            })
            .collect();
        for split in &splits {
            let next = parts.chunks_exact(2).map(|two| {
                let with = graph.op("Mul", &[split, &two[1]], &[]);
                graph.op("Add", &[&two[0], &with], &[])
            });
            parts = next.collect();
        }
        Ok(Some(Values { matrix: parts.remove(0), terms }))
    }
}
