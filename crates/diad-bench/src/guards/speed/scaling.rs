//! The cost of a step with more features, more trees, more rows and a larger batch.

use anyhow::Result;
use diad::Params;
use diad::encode::{Encoder, Matrix};

use super::training::time_steps;
use super::{Bench, Measure, middle};

/// The set that the others are compared with.
const BASE: &str = "mammography";
/// A set of 500 features.
const WIDE: &str = "census";

/// A fit whose steps are timed.
struct Case<'a> {
    what: String,
    params: Params,
    encoder: &'a Encoder,
    matrix: &'a Matrix,
    seconds: Vec<f64>,
}

/// Fits with a short schedule, in turn.
pub fn measure(bench: &Bench) -> Result<Vec<Measure>> {
    let params = short(&bench.params, bench.options.scaling_steps);
    let (encoder, matrix) = bench.encoded(BASE)?;
    let (wide_encoder, wide_matrix) = bench.encoded(WIDE)?;
    let doubled = Matrix { width: matrix.width, values: matrix.values.repeat(2) };
    let trees = |factor| Params { trees: factor * params.trees, ..params.clone() };
    let case = |what: &str, params: Params| Case {
        what: format!("cost of a step, {what}"),
        params,
        encoder: &encoder,
        matrix: &matrix,
        seconds: Vec::new(),
    };
    let mut cases = [
        case("", params.clone()),
        Case {
            encoder: &wide_encoder,
            matrix: &wide_matrix,
            ..case(&format!("{WIDE} (500 features)"), params.clone())
        },
        case(&format!("{} trees a layer", 2 * params.trees), trees(2)),
        case(&format!("{} trees a layer", 4 * params.trees), trees(4)),
        Case { matrix: &doubled, ..case("rows of the table doubled", params.clone()) },
        case("batch doubled", Params { batch: 2 * params.batch, ..params.clone() }),
    ];
    for round in 1..=bench.options.rounds {
        for case in &mut cases {
            case.seconds.push(time_steps(&case.params, case.encoder, case.matrix)?.whole);
        }
        eprintln!("round {round}: {:?}", cases.each_ref().map(|case| case.seconds.last().copied()));
    }
    let base = middle(&cases[0].seconds)?;
    let against = format!("{BASE}, {} trees a layer", params.trees);
    cases[1..]
        .iter()
        .map(|case| {
            let seconds = middle(&case.seconds)?;
            let (what, against, unit) = (case.what.clone(), against.clone(), "ms/step".into());
            Ok(Measure { what, against, ratio: seconds / base, value: 1e3 * seconds, base: 1e3 * base, unit })
        })
        .collect()
}

/// The same settings with fewer steps, half of them annealing.
fn short(params: &Params, steps: usize) -> Params {
    Params { steps, anneal: steps / 2, warmup: steps / 2, ..params.clone() }
}
