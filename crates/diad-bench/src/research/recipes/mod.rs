//! The search for the default settings: which parts the score is made of and how much each weighs, judged over all
//! sets together. The labels are used to read the result, never by a fit.

mod ingredients;
mod judge;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::options::Common;
use crate::study::Bench;

/// The options of `diad-bench recipes`.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    common: Common,
    /// Where the scores of the parts are kept, so that a stopped search goes on.
    #[arg(long, default_value = "target/recipes", value_name = "DIR")]
    cache: PathBuf,
}

impl Options {
    /// Fits what is missing, judges all recipes, and writes `recipes.md` and `recipes.csv`.
    ///
    /// # Errors
    /// If a set cannot be read or fitted, or a file cannot be written.
    pub fn run(&self) -> Result<()> {
        self.common.settings.start_threads(None)?;
        let bench = Bench::new(&self.common)?;
        let (data, sets, seeds) = (self.common.data()?, bench.sets(true)?, bench.seeds(2));
        let ingredients = ingredients::all();
        let mut judged = Vec::new();
        for (index, set) in sets.iter().enumerate() {
            let labels = ingredients::labels(set, &data)?;
            let mut found = Vec::new();
            for seed in 0..seeds {
                let scores = ingredients::scores(&ingredients, set, seed, &labels, &data, &self.cache)?;
                found.push(judge::judge(&ingredients, &scores, &labels));
            }
            judged.push(judge::Judged { set: *set, found });
            eprintln!("{}/{} {}", index + 1, sets.len(), set.name);
        }
        let command = format!("recipes --data DIR --seeds {seeds}");
        bench.write(["recipes"; 2], &judge::page(&judged, command, &bench.commit)?)
    }
}
