//! Putting the parts of the score together.

use super::profile;
use super::tables::{Part, Sample, middle_and_spread};
use crate::encode::{Encoder, Matrix};
use crate::model::{Combination, Model, Tables};
use crate::{Detector, Params, ScorePart, metrics};

/// The sum of the parts so far.
struct Sum {
    /// What is to be computed.
    combination: Combination,
    /// What it gives to the rows of the sample.
    scores: Vec<f32>,
    /// How many there are.
    parts: usize,
    /// Columns of the table.
    columns: usize,
}

impl Sum {
    /// Adds a part: scaled so that over the rows its middle is 0 and its spread 1, times its weight, times how far it agrees
    /// with the sum of those before it. Tells what the part is to be multiplied by.
    fn add(&mut self, part: ScorePart, weight: f64, scores: &[f32]) -> f32 {
        let (middle, spread) = middle_and_spread(scores);
        if !spread.is_normal() || spread < 1e-12 {
            return 0.0;
        }
        let agreement = if self.parts == 0 { 1.0 } else { metrics::correlation(&self.scores, scores) };
        self.parts += 1;
        let counted = part.counted(agreement, self.columns);
        tracing::debug!(?part, weight, agreement, counted, "added a part of the score");
        let factor = (weight * counted) as f32 / spread;
        self.combination.shift += factor * middle;
        self.scores.iter_mut().zip(scores).for_each(|(sum, score)| *sum += factor * (score - middle));
        factor
    }

    /// The whole, scaled so that over the rows its middle is 0 and its spread 1.
    fn scaled(self) -> Combination {
        let (middle, spread) = middle_and_spread(&self.scores);
        let factor = if spread > 1e-12 { spread.recip() } else { 1.0 };
        let mut whole = self.combination;
        whole.tree_factor *= factor;
        whole.shift = (whole.shift + middle) * factor;
        let curves = whole.tables.curves.iter_mut().flat_map(|curve| &mut curve.values);
        let grids = whole.tables.grids.iter_mut().flat_map(|grid| &mut grid.values);
        curves.chain(grids).for_each(|value| *value *= factor);
        whole
    }
}

/// Weighs the parts of the score against each other.
pub fn combine(params: &Params, encoder: Encoder, matrix: &Matrix, model: Model<f32>) -> Detector {
    let sample = Sample::new(matrix, &encoder, params.seed);
    let rows = sample.matrix(matrix);
    let trees = Combination { tree_factor: 1.0, ..Combination::default() };
    let detector = Detector::new(params.clone(), encoder, model, matrix.rows() as u64).with(trees);
    let of_trees = || {
        let mut scores = vec![0.0; sample.rows()];
        detector.score_encoded(&rows, &mut scores);
        Part { tables: Tables::default(), scores }
    };
    let mut sum = Sum {
        combination: Combination::default(),
        scores: vec![0.0; sample.rows()],
        parts: 0,
        columns: detector.encoder().columns().len(),
    };
    for part in ScorePart::ALL.into_iter().filter(|&part| params.weight(part) > 0.0) {
        let made = match part {
            ScorePart::Tails => sample.tails(),
            ScorePart::Columns => sample.sparsity(),
            ScorePart::Trees => of_trees(),
            ScorePart::Relations => sample.relations(params),
            ScorePart::Cuts => sample.cuts(params),
        };
        let factor = sum.add(part, params.weight(part), &made.scores);
        if part == ScorePart::Trees {
            sum.combination.tree_factor = factor;
        } else if factor != 0.0 {
            made.add_to(&mut sum.combination.tables, factor);
        }
    }
    profile::remember(detector.with(sum.scaled()), &rows).certified()
}
