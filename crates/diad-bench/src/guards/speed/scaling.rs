//! The cost of a step with more features, more trees, more rows and a larger batch.

use anyhow::Result;
use diad::Params;
use diad::table::{Reader, Selection, Source, Table};

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
    source: &'a dyn Source,
    seconds: Vec<f64>,
}

/// Fits with a short schedule, in turn.
pub fn measure(bench: &Bench) -> Result<Vec<Measure>> {
    let params = short(&bench.params, bench.options.scaling_steps);
    let (source, wide) = (bench.source(BASE)?, bench.source(WIDE)?);
    let doubled = Twice(&source);
    let trees = |factor| params.clone().trees(factor * params.trees);
    let case = |what: &str, params: Params| Case {
        what: format!("cost of a step, {what}"),
        params,
        source: &source,
        seconds: Vec::new(),
    };
    let mut cases = [
        case("", params.clone()),
        Case { source: &wide, ..case(&format!("{WIDE} (500 features)"), params.clone()) },
        case(&format!("{} trees a layer", 2 * params.trees), trees(2)),
        case(&format!("{} trees a layer", 4 * params.trees), trees(4)),
        Case { source: &doubled, ..case("rows of the table doubled", params.clone()) },
        case("batch doubled", params.clone().batch(2 * params.batch)),
    ];
    for round in 1..=bench.options.rounds {
        for case in &mut cases {
            case.seconds.push(time_steps(&case.params, case.source)?.whole);
        }
        eprintln!("round {round}: {:?}", cases.each_ref().map(|case| case.seconds.last().copied()));
    }
    let base = middle(&cases[0].seconds)?;
    let against = format!("{BASE}, {} trees a layer", params.trees);
    cases[1..]
        .iter()
        .map(|case| {
            let seconds = middle(&case.seconds)?;
            Ok(Measure::new(case.what.clone(), against.as_str(), [1e3 * seconds, 1e3 * base], "ms/step"))
        })
        .collect()
}

/// The same settings with fewer steps, half of them annealing.
fn short(params: &Params, steps: usize) -> Params {
    params.clone().steps(steps).anneal(steps / 2).warmup(steps / 2)
}

/// A table whose rows come twice.
struct Twice<'a>(&'a dyn Source);

struct TwiceReader<'a> {
    reader: Box<dyn Reader + 'a>,
    again: Option<Box<dyn Reader + 'a>>,
}

impl Source for Twice<'_> {
    fn open(&self, selection: &Selection) -> diad::table::Result<Box<dyn Reader + '_>> {
        let (reader, again) = (self.0.open(selection)?, Some(self.0.open(selection)?));
        Ok(Box::new(TwiceReader { reader, again }))
    }
}

impl Reader for TwiceReader<'_> {
    fn names(&self) -> &[String] {
        self.reader.names()
    }

    fn rows(&self) -> Option<u64> {
        self.reader.rows().map(|rows| 2 * rows)
    }

    fn next_batch(&mut self) -> diad::table::Result<Option<Table>> {
        match (self.reader.next_batch()?, self.again.take()) {
            (None, Some(again)) => {
                self.reader = again;
                self.reader.next_batch()
            }
            (batch, again) => {
                self.again = again;
                Ok(batch)
            }
        }
    }
}
