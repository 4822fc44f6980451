//! The search for the default settings: which parts the score is made of and how much each weighs, judged over all
//! sets together. The labels are used to read the result, never by a fit.

mod ingredients;
mod judge;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::environment;
use crate::options::Folders;
use crate::sets;

/// The options of `diad-bench recipes`.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    folders: Folders,
    /// Seeds 0 to this less one.
    #[arg(long, default_value_t = 2)]
    seeds: u64,
    /// Only these sets.
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    sets: Vec<String>,
    /// Where the scores of the parts are kept, so that a stopped search goes on.
    #[arg(long, default_value = "target/recipes", value_name = "DIR")]
    cache: PathBuf,
    /// Threads (all cores by default).
    #[arg(long)]
    threads: Option<usize>,
}

/// Fits what is missing, judges all recipes, and writes `recipes.md` and `recipes.csv`.
///
/// # Errors
/// If a set cannot be read or fitted, or a file cannot be written.
pub fn run(options: &Options) -> Result<()> {
    if let Some(threads) = options.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    }
    let data = options.folders.data()?;
    let sets = sets::select(&options.sets, true)?;
    let ingredients = ingredients::all();
    let mut judged = Vec::new();
    for (index, set) in sets.iter().enumerate() {
        let labels = ingredients::labels(set, &data)?;
        let mut found = Vec::new();
        for seed in 0..options.seeds {
            let scores = ingredients::scores(&ingredients, set, seed, &labels, &data, &options.cache)?;
            found.push(judge::judge(&ingredients, &scores, &labels));
        }
        judged.push(judge::Judged { set: *set, found });
        eprintln!("{}/{} {}", index + 1, sets.len(), set.name);
    }
    let command = format!("recipes --data DIR --seeds {}", options.seeds);
    judge::write(&options.folders.out, &judged, &command, &environment::commit())
}
