//! The gradients of labelled rows against finite differences, in double precision.

use super::super::Labelled;
use super::super::tests::{first, table};
use super::*;
use crate::model::{Layer, Selectors};
use crate::{Loss, Scale};

fn widen(model: &Model<f32>) -> Model<f64> {
    let wide = |values: &[f32]| values.iter().map(|&v| f64::from(v)).collect::<Vec<f64>>();
    let layers = model.layers.iter().map(|layer| {
        let Selectors::Fixed(pairs) = &layer.selectors else { panic!("trained") };
        // Outputs that differ, so that every weight has a part of its own.
        let mut leaf_weights = wide(&layer.leaf_weights);
        leaf_weights.iter_mut().enumerate().for_each(|(i, w)| *w += 0.1 * ((i * 37 % 11) as f64 - 5.0));
        Layer {
            selectors: Selectors::Fixed(pairs.clone()),
            thresholds: wide(&layer.thresholds),
            log_slopes: wide(&layer.log_slopes),
            leaf_weights,
            keys: wide(&layer.keys),
            queries: wide(&layer.queries),
        }
    });
    Model { shape: model.shape, layers: layers.collect() }
}

fn examples() -> (Detector, Examples) {
    let detector = first(2, Scale::Both);
    let labelled = Labelled::read(&detector, &table(300, |_, _| true), "label").unwrap();
    let examples = Examples::new(&detector, &labelled).unwrap();
    (detector, examples)
}

#[test]
fn gradients_are_those_of_the_loss() {
    let (detector, examples) = examples();
    let rest: Vec<f64> = examples.scores.iter().map(|&score| 0.1 * f64::from(score)).collect();
    let model = widen(detector.model());
    for (loss, margin) in [(Loss::Auc, 1.0), (Loss::Bce, 0.0)] {
        let mut value = 0.0;
        let mut at = |model: &Model<f64>| {
            let mut trees = Trees::new(model.clone(), 0.5);
            let gradients = trees.gradients(&examples.matrix, &rest, 3.0, |scores| {
                let (found, slopes) = loss.evaluate(&examples.labels, scores, margin);
                value = found;
                slopes
            });
            (value, gradients)
        };
        let (_, gradients) = at(&model);
        type Pick = fn(&mut Layer<f64>) -> &mut Vec<f64>;
        type Part = fn(&LayerGradient<f64>) -> &Vec<f64>;
        let groups: [(&str, Pick, Part); 5] = [
            ("thresholds", |l| &mut l.thresholds, |g| &g.thresholds),
            ("log slopes", |l| &mut l.log_slopes, |g| &g.log_slopes),
            ("leaf weights", |l| &mut l.leaf_weights, |g| &g.leaf_weights),
            ("keys", |l| &mut l.keys, |g| &g.keys),
            ("queries", |l| &mut l.queries, |g| &g.queries),
        ];
        for (layer, by_layer) in gradients.iter().enumerate() {
            for (name, pick, part) in groups {
                let gradient = part(by_layer).clone();
                let mut nonzero = 0;
                for i in (0..gradient.len()).step_by(gradient.len() / 7 + 1) {
                    let shifted = |shift: f64| {
                        let mut model = model.clone();
                        pick(&mut model.layers[layer])[i] += shift;
                        model
                    };
                    let (high, low) = (at(&shifted(1e-6)).0, at(&shifted(-1e-6)).0);
                    let difference = (high - low) / 2e-6;
                    let close = (difference - gradient[i]).abs() < 2e-6 + 1e-4 * gradient[i].abs();
                    assert!(close, "{loss:?} layer {layer} {name} {i}: {difference} is not {}", gradient[i]);
                    nonzero += usize::from(gradient[i] != 0.0);
                }
                assert!(
                    nonzero > 0 || layer == 0 || name == "keys" || name == "queries",
                    "{name} of layer {layer}"
                );
            }
        }
    }
}

#[test]
fn frozen_structure_stays_and_leaves_move() {
    let (detector, examples) = examples();
    for freeze_structure in [true, false] {
        let params = DescentParams::default().freeze_structure(freeze_structure).steps(20);
        let model =
            Run::new(&detector, &examples, &params).to(20, &mut |_| ControlFlow::Continue(())).unwrap();
        let before = &detector.model().layers[0];
        assert_eq!(model.layers[0].thresholds == before.thresholds, freeze_structure);
        assert_eq!(model.layers[0].log_slopes == before.log_slopes, freeze_structure);
        assert_ne!(model.layers[0].leaf_weights, before.leaf_weights);
    }
}

#[test]
fn batches_have_as_many_anomalies_as_normal_rows_if_wanted() {
    let (detector, examples) = examples();
    let anomalies = |upsample: bool| {
        let params = DescentParams::default().upsample(upsample).batch(100);
        let rows = Run::new(&detector, &examples, &params).draw(3);
        (rows.len(), rows.iter().filter(|&&row| examples.labels[row]).count())
    };
    assert_eq!(anomalies(true), (100, 50));
    let (rows, some) = anomalies(false);
    assert!(rows == 100 && some < 40, "{some}");
}
