//! Proposition 1 of the paper: training turns the trees away from columns of uniform noise.

use std::ops::ControlFlow;

use super::super::fit_model;
use crate::Params;
use crate::encode::Matrix;
use crate::kernel::Isa;
use crate::model::Selectors;
use crate::rng::{Purpose, Stream};

const INFORMATIVE: usize = 2;
const COLUMNS: usize = 8;

/// Two tight clusters and a few outliers in the first two columns, uniform noise in the others.
fn clusters_and_noise(seed: u64) -> Matrix {
    let mut random = Stream::new(seed, Purpose::Shuffle, 99);
    let mut values = Vec::new();
    for row in 0..1000 {
        let centre = if row % 2 == 0 { 0.5 } else { -0.4 };
        for column in 0..COLUMNS {
            let uniform = random.unit() * 2.0 - 1.0;
            let outlier = row % 50 == 0;
            let tight = if outlier { uniform } else { centre + 0.05 * random.normal() };
            values.push(if column < INFORMATIVE { tight } else { uniform } as f32);
        }
    }
    Matrix { width: COLUMNS, values }
}

/// The share of selectors on informative columns.
fn informative_share(seed: u64, learning_rate: f64) -> f64 {
    let params = Params {
        layers: 2,
        trees: 60,
        steps: 300,
        warmup: 50,
        anneal: 200,
        batch: 512,
        feature_share: 1.0,
        learning_rate,
        seed,
        ..Params::default()
    };
    let matrix = clusters_and_noise(seed);
    let chosen: Vec<u32> = (0..matrix.width as u32).collect();
    let go_on = &mut |_| ControlFlow::Continue(());
    let model = fit_model(&params, (&matrix, &chosen), Isa::detect(), None, go_on).unwrap();
    let mut count = [0, 0];
    for layer in &model.layers {
        let Selectors::Fixed(pairs) = &layer.selectors else { panic!("selectors are one-hot after a fit") };
        for &feature in pairs.iter().flatten() {
            count[usize::from(feature as usize >= INFORMATIVE)] += 1;
        }
    }
    f64::from(count[0]) / f64::from(count[0] + count[1])
}

/// Chance is a quarter of the selectors: learning must at least double it (it reaches 0.66 to 0.82), and without
/// learning it must stay within five standard errors (0.25 ± 0.14 of 240 selectors).
#[test]
fn trees_turn_away_from_noise() {
    for seed in 1..=3 {
        let (learned, unlearned) = (informative_share(seed, 0.01), informative_share(seed, 0.0));
        assert!(learned > 0.5, "seed {seed}: {learned} of the selectors are on informative columns");
        assert!((0.11..0.39).contains(&unlearned), "seed {seed}: {unlearned} without learning");
    }
}
