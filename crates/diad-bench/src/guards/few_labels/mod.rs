//! Few labels: every way of tuning, and supervised methods, on the same splits.

mod measure;
mod peers;
mod split;
pub mod tables;
pub mod variants;

use std::cell::RefCell;
use std::marker::PhantomData;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::options::{asked, known};
use crate::python::Worker;
use crate::sets::{self, Set};
use crate::study::{Bench, Page, Study};
use measure::{ANOMALIES, First, LabelRun};
use tables::Results;
use variants::Variant;

/// The sets of the paper's tables with few labels.
const SETS: [&str; 15] = [
    "vowels",
    "siesmic",
    "satimage-2",
    "thyroid",
    "mammography",
    "at",
    "nyc",
    "cpu",
    "mt",
    "campaign",
    "backdoor",
    "celeba",
    "fraud",
    "census",
    "donors",
];
/// There are so many splits.
const SPLITS: u64 = 10;

/// A table of ways of tuning.
pub trait Topic: std::fmt::Debug + Send + Sync + 'static {
    /// Names the files.
    const NAME: &'static str;
    /// The ways of tuning.
    fn variants() -> Vec<Variant>;
    /// Other methods, run by a script.
    const PEERS: &'static [&'static str] = &[];
    /// The text of the page, and how many splits it is of.
    fn text(results: &Results, variants: &[Variant]) -> (String, usize);
}

/// Few labels, for a table of ways of tuning.
#[derive(Debug, Args)]
pub struct Tuning<T: Topic> {
    /// Splits of each set, at most 10.
    #[arg(long, default_value_t = SPLITS)]
    splits: u64,
    /// Only these methods.
    #[arg(long, value_delimiter = ';', value_name = "A;B")]
    methods: Vec<String>,
    /// Leave out the methods that need Python.
    #[arg(long)]
    no_peers: bool,
    #[arg(skip)]
    topic: PhantomData<T>,
    /// What stays between measurements.
    #[arg(skip)]
    kept: RefCell<State>,
}

/// One method on one split of one set.
#[derive(Debug)]
pub struct Case {
    set: Set,
    split: u64,
    /// Labelled anomalies; none for the first model.
    anomalies: usize,
    method: Method,
}

#[derive(Debug, Clone)]
enum Method {
    /// The first model, or one tuned in some way, and the digest of all settings.
    Ours(Option<Variant>, String),
    Peer(&'static str),
}

impl Method {
    fn name(&self) -> &'static str {
        match self {
            Self::Ours(None, _) => variants::UNTUNED,
            Self::Ours(Some(variant), _) => variant.name,
            Self::Peer(name) => name,
        }
    }
}

/// The first model of the last split, and the script of the other methods.
#[derive(Debug, Default)]
pub struct State {
    first: Option<First>,
    worker: Option<Worker>,
}

impl<T: Topic> Tuning<T> {
    /// Ours first, with every number of labels, then the peers.
    fn methods(&self, bench: &Bench) -> Result<[Vec<(usize, Method)>; 2]> {
        let mut ours = vec![(0, Method::Ours(None, measure::settings(&bench.params, None)?))];
        for variant in T::variants().into_iter().filter(|variant| asked(&self.methods, variant.name)) {
            let digest = measure::settings(&bench.params, Some(&variant))?;
            let method = Method::Ours(Some(variant), digest);
            ours.extend(ANOMALIES.map(|anomalies| (anomalies, method.clone())));
        }
        let names = || T::PEERS.iter().filter(|name| !self.no_peers && asked(&self.methods, name));
        let peers = ANOMALIES.into_iter().flat_map(|n| names().map(move |name| (n, Method::Peer(name))));
        Ok([ours, peers.collect()])
    }
}

impl<T: Topic> Study for Tuning<T> {
    const NAME: &'static str = T::NAME;
    type Case = Case;
    type Row = LabelRun;

    fn cases(&self, bench: &Bench) -> Result<Vec<Case>> {
        let splits = self.splits;
        ensure!((1..=SPLITS).contains(&splits), "--splits is {splits}, but it must be from 1 to {SPLITS}");
        known("set", &bench.options.sets, &SETS)?;
        let mut cases = Vec::new();
        for methods in self.methods(bench)? {
            for split in 0..splits {
                for name in SETS.into_iter().filter(|name| bench.options.wants(name)) {
                    let set = sets::find(name)?;
                    let case = |(anomalies, method): &(usize, Method)| Case {
                        set,
                        split,
                        anomalies: *anomalies,
                        method: method.clone(),
                    };
                    cases.extend(methods.iter().map(case));
                }
            }
        }
        Ok(cases)
    }

    fn is_done(&self, case: &Case, run: &LabelRun, _: &Bench) -> bool {
        let current = match &case.method {
            Method::Ours(_, digest) => run.settings == *digest,
            Method::Peer(_) => true,
        };
        run.is(case.method.name(), case.set.name, case.split, case.anomalies) && current
    }

    fn measure(&self, case: &Case, bench: &Bench) -> Result<Option<LabelRun>> {
        let state = &mut *self.kept.borrow_mut();
        let run = match &case.method {
            Method::Peer(name) => peers::measure(case, name, bench, &mut state.worker),
            Method::Ours(variant, digest) => {
                if state.first.as_ref().is_none_or(|first| !first.is(case)) {
                    state.first = None;
                    state.first = Some(First::new(case, bench)?);
                }
                let first = state.first.as_ref().context("there is no first model")?;
                first.measure(case, variant.as_ref(), digest, bench).map(Some)
            }
        };
        run.with_context(|| format!("{} failed", case.set.name))
    }

    fn words(run: &LabelRun) -> String {
        let LabelRun { set, split, anomalies, method, auc, seconds, .. } = run;
        format!("{set}, split {split}, {anomalies} anomalies, {method}: AUC {auc:.2}, {seconds:.1} s")
    }

    fn page(&self, runs: Vec<LabelRun>, bench: &Bench) -> Result<Page> {
        let variants = T::variants();
        let results = Results::new(bench, &runs, &variants)?;
        let (text, splits) = T::text(&results, &variants);
        let command = bench.command(&format!("{} --data DIR --splits {splits}", T::NAME));
        Ok(Page::new(text, tables::csv(&results), command, results.commits()))
    }
}

/// The paper's table.
#[derive(Debug)]
pub struct MainTable;

impl Topic for MainTable {
    const NAME: &'static str = "few-labels";
    const PEERS: &'static [&'static str] = &peers::METHODS;

    fn variants() -> Vec<Variant> {
        variants::few_labels()
    }

    fn text(results: &Results, variants: &[Variant]) -> (String, usize) {
        tables::few_labels(results, variants)
    }
}
