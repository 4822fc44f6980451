//! Few labels: the paper's table, its ablation, and smaller validation parts.

mod measure;
mod peers;
mod split;
mod tables;
mod variants;

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;

use crate::options::{Folders, Settings};
use crate::runs::Store;
use crate::sets::{self, Set};
use measure::LabelRun;
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

/// The options of `diad-bench few-labels`, `ablation` and `validation-size`.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    folders: Folders,
    #[command(flatten)]
    settings: Settings,
    /// The Python interpreter; by default one is made in target/bench-venv.
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Splits of each set, at most 10.
    #[arg(long, default_value_t = 10)]
    splits: u64,
    /// Only these sets.
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    sets: Vec<String>,
    /// Only these methods.
    #[arg(long, value_delimiter = ';', value_name = "A;B")]
    methods: Vec<String>,
    /// Leave out the methods that need Python.
    #[arg(long)]
    no_peers: bool,
    /// Only write the tables from the runs there are.
    #[arg(long)]
    render: bool,
}

impl Options {
    fn sets(&self) -> Result<Vec<Set>> {
        for name in &self.sets {
            ensure!(SETS.contains(&name.as_str()), "there is no set {name}; there are {}", SETS.join(", "));
        }
        let wanted = |name: &&&str| self.sets.is_empty() || self.sets.iter().any(|asked| asked == **name);
        SETS.iter().filter(wanted).map(|name| sets::find(name)).collect()
    }

    fn wants(&self, method: &str) -> bool {
        self.methods.is_empty() || self.methods.iter().any(|asked| asked == method)
    }

    fn measure(&self, name: &str, variants: Vec<Variant>) -> Result<Store<LabelRun>> {
        ensure!((1..=10).contains(&self.splits), "--splits is {}, but it must be from 1 to 10", self.splits);
        let store = Store::new(&self.folders.out, &format!("{name}.jsonl"));
        if !self.render {
            self.settings.start_threads(None)?;
            let variants: Vec<Variant> =
                variants.into_iter().filter(|variant| self.wants(variant.name)).collect();
            let (params, data) = (self.settings.params()?, self.folders.data()?);
            measure::run_missing(&self.sets()?, self.splits, &params, &variants, &data, &store)?;
        }
        Ok(store)
    }
}

/// The paper's table.
///
/// # Errors
/// If a run fails or a file cannot be written.
pub fn run(options: &Options) -> Result<()> {
    let store = options.measure("few-labels", variants::few_labels())?;
    if !options.render && !options.no_peers {
        let methods: Vec<&str> = peers::METHODS.into_iter().filter(|method| options.wants(method)).collect();
        peers::run_missing(&options.sets()?, options.splits, &methods, options, &store)?;
    }
    tables::few_labels(options, &store.load()?)
}

/// The ablation.
///
/// # Errors
/// If a run fails or a file cannot be written.
pub fn run_ablation(options: &Options) -> Result<()> {
    let store = options.measure("ablation", variants::ablation())?;
    tables::ablation(options, &store.load()?)
}

/// Smaller validation parts.
///
/// # Errors
/// If a run fails or a file cannot be written.
pub fn run_validation_size(options: &Options) -> Result<()> {
    let store = options.measure("validation-size", variants::validation_sizes())?;
    tables::validation_size(options, &store.load()?)
}
