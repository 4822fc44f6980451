//! A deliberately plain twin of the model and of its unsupervised loss, written from the method's formulas:
//! dense loops in double precision that hold every row × leaf and share nothing with the engine but the
//! parameters.

use crate::model::{Model, Selectors};
use crate::tests::entmoid;

/// What the method adds to a match before its logarithm.
const MATCH_FLOOR: f64 = 1e-6;
/// What the logit of a feature counts as that a tree may not use.
const NOT_A_CANDIDATE: f64 = -20.0;

/// A model applied to rows.
pub struct Plain {
    /// `[row][tree][leaf]`, trees counted over all layers.
    pub leaves: Vec<Vec<Vec<f64>>>,
    /// `[row][tree][output]`.
    pub outputs: Vec<Vec<Vec<f64>>>,
    /// Every match before it is cut at one, to see how far a model is from the kink there.
    pub raw_matches: Vec<f64>,
}

/// τ by bisection: Σ max(z/2 - τ, 0)² falls from at least 1 at max/2 - 1 to 0 at max/2.
pub fn entmax15(z: &[f64]) -> Vec<f64> {
    let max = z.iter().copied().fold(f64::NEG_INFINITY, f64::max) / 2.0;
    let (mut low, mut high) = (max - 1.0, max);
    for _ in 0..60 {
        let tau = (low + high) / 2.0;
        let total: f64 = z.iter().map(|z| (z / 2.0 - tau).max(0.0).powi(2)).sum();
        if total >= 1.0 {
            low = tau;
        } else {
            high = tau;
        }
    }
    z.iter().map(|z| (z / 2.0 - low).max(0.0).powi(2)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The two distributions over all features of every tree, over all layers.
fn selectors(model: &Model<f64>, temperature: f64) -> Vec<[Vec<f64>; 2]> {
    let shape = model.shape;
    let mut all = Vec::new();
    for layer in &model.layers {
        for t in 0..shape.trees {
            all.push([0, 1].map(|s| match &layer.selectors {
                Selectors::Fixed(pairs) => {
                    let mut p = vec![0.0; shape.features];
                    p[pairs[t][s] as usize] = 1.0;
                    p
                }
                Selectors::Soft(soft) => {
                    let logits = if soft.logits[1].is_empty() { &soft.logits[0] } else { &soft.logits[s] };
                    let mut z = vec![NOT_A_CANDIDATE / temperature; shape.features];
                    for i in t * soft.width..(t + 1) * soft.width {
                        z[soft.candidates[i] as usize] = logits[i] / temperature;
                    }
                    entmax15(&z)
                }
            }));
        }
    }
    all
}

/// ω of every output of every earlier tree, `[tree][output]`. Earlier trees match by the selectors in `seen`.
fn attention(
    model: &Model<f64>,
    [p, seen]: [&[[Vec<f64>; 2]]; 2],
    tree: usize,
    raw_matches: &mut Vec<f64>,
) -> Vec<Vec<f64>> {
    let shape = model.shape;
    let (layer, t) = (&model.layers[tree / shape.trees], tree % shape.trees);
    let earlier = tree / shape.trees * shape.trees;
    let mut matches = Vec::new();
    let near = |q: usize| q % shape.trees / shape.grove == t / shape.grove;
    for q in 0..earlier {
        if !near(q) {
            matches.push(0.0);
            continue;
        }
        let raw = dot(&seen[q][0], &p[tree][0]) * dot(&seen[q][1], &p[tree][1])
            + dot(&seen[q][1], &p[tree][0]) * dot(&seen[q][0], &p[tree][1]);
        raw_matches.push(raw);
        matches.push(raw.min(1.0));
    }
    let mut logits = Vec::new();
    for (q, matched) in matches.iter().enumerate() {
        for k in 0..shape.outputs {
            let mut logit = if near(q) { (matched + MATCH_FLOOR).ln() } else { f64::NEG_INFINITY };
            for a in 0..shape.attention {
                let key = layer.keys[(k * shape.attention + a) * earlier + q];
                logit += key * layer.queries[t * shape.attention + a];
            }
            logits.push(logit);
        }
    }
    let alpha = if logits.is_empty() { Vec::new() } else { entmax15(&logits) };
    (0..earlier)
        .map(|q| (0..shape.outputs).map(|k| matches[q] * alpha[q * shape.outputs + k]).collect())
        .collect()
}

/// Runs rows through a model.
pub fn run(model: &Model<f64>, temperature: f64, rows: &[Vec<f64>]) -> Plain {
    run_seen(model, model, temperature, rows)
}

/// Runs rows through a model whose trees are matched by the selectors that the earlier one of two trees has in `seen`.
pub fn run_seen(model: &Model<f64>, seen: &Model<f64>, temperature: f64, rows: &[Vec<f64>]) -> Plain {
    let shape = model.shape;
    let [p, seen] = [model, seen].map(|model| selectors(model, temperature));
    let mut raw_matches = Vec::new();
    let omega: Vec<_> = (0..shape.layers * shape.trees)
        .map(|tree| attention(model, [&p, &seen], tree, &mut raw_matches))
        .collect();
    let mut plain = Plain { leaves: Vec::new(), outputs: Vec::new(), raw_matches };
    for x in rows {
        let (mut leaves, mut outputs) = (Vec::new(), Vec::<Vec<f64>>::new());
        for tree in 0..shape.layers * shape.trees {
            let (layer, t) = (&model.layers[tree / shape.trees], tree % shape.trees);
            let mut attended = 0.0;
            for (h, omega) in outputs.iter().zip(&omega[tree]) {
                attended += dot(h, omega);
            }
            let v = [dot(x, &p[tree][0]) + attended, dot(x, &p[tree][1]) + attended];
            let mut e = vec![1.0];
            for c in 0..shape.depth {
                let split = t * shape.depth + c;
                let place = (v[c % 2] - layer.thresholds[split]) * (-layer.log_slopes[split]).exp();
                let h = entmoid(place / temperature);
                let right: Vec<f64> = e.iter().map(|e| e * (1.0 - h)).collect();
                e.iter_mut().for_each(|e| *e *= h);
                e.extend(right);
            }
            let weights = |k: usize| {
                let start = (t * shape.outputs + k) * e.len();
                &layer.leaf_weights[start..start + e.len()]
            };
            outputs.push((0..shape.outputs).map(|k| dot(&e, weights(k))).collect());
            leaves.push(e);
        }
        plain.leaves.push(leaves);
        plain.outputs.push(outputs);
    }
    plain
}

impl Plain {
    /// Leaf sums of the first `count` rows, `[tree][leaf]` in one vector.
    pub fn leaf_sums(&self, count: usize) -> Vec<f64> {
        let mut sums = vec![0.0; self.leaves[0].iter().map(Vec::len).sum()];
        for row in &self.leaves[..count] {
            for (sum, e) in sums.iter_mut().zip(row.iter().flatten()) {
                *sum += e;
            }
        }
        sums
    }

    /// The score of every row.
    pub fn scores(&self) -> Vec<f64> {
        let score = |trees: &Vec<Vec<f64>>| trees.iter().map(|h| h[0]).sum::<f64>() / trees.len() as f64;
        self.outputs.iter().map(score).collect()
    }
}

/// The unsupervised loss from leaf sums of rows and of uniform points.
pub fn pid_loss(
    rows: &[f64],
    points: &[f64],
    leaves: usize,
    smoothing: f64,
    keep: &[bool],
    dropout: f64,
) -> f64 {
    let mut loss = 0.0;
    for tree in (0..keep.len()).filter(|&t| keep[t]) {
        let e: Vec<f64> = rows[tree * leaves..][..leaves].iter().map(|e| e + smoothing).collect();
        let u: Vec<f64> = points[tree * leaves..][..leaves].iter().map(|u| u + smoothing).collect();
        let (all_e, all_u) = (e.iter().sum::<f64>(), u.iter().sum::<f64>());
        for l in 0..leaves {
            let (d, v) = (e[l] / all_e, u[l] / all_u);
            loss -= v * v / d / (1.0 - dropout);
        }
    }
    loss
}
