//! The runs of one set over its seeds.

use std::collections::BTreeMap;

use crate::runs::Run;
use crate::sets::Set;
use crate::stats::{mean, standard_error};

/// Which runs a table is made of.
#[derive(Debug, Clone)]
pub struct Filter<'a> {
    /// Columns of noise.
    pub noise: usize,
    /// Digest of the settings.
    pub settings: &'a str,
    /// Seeds below this (fewer on large sets).
    pub seeds: u64,
}

/// The figures of one set.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The data set.
    pub set: Set,
    /// Number of seeds.
    pub seeds: usize,
    /// Mean AUC in %.
    pub auc: f64,
    /// Its standard error, with two seeds or more.
    pub auc_error: Option<f64>,
    /// Mean average precision in %.
    pub ap: f64,
    /// Its standard error, with two seeds or more.
    pub ap_error: Option<f64>,
    /// Features of the set.
    pub features: usize,
    /// Commits of the runs.
    pub commits: Vec<String>,
}

/// Sums up the runs of a set; `None` where there is none. Where a run was repeated the last one counts.
pub fn summarise(runs: &[Run], set: Set, filter: &Filter) -> Option<Summary> {
    let by_seed: BTreeMap<u64, &Run> = runs
        .iter()
        .filter(|run| run.is(set.name, filter.noise, run.seed, filter.settings))
        .filter(|run| run.seed < set.seeds(filter.seeds))
        .map(|run| (run.seed, run))
        .collect();
    let auc: Vec<_> = by_seed.values().map(|run| run.auc).collect();
    let ap: Vec<_> = by_seed.values().map(|run| run.ap).collect();
    Some(Summary {
        set,
        seeds: auc.len(),
        auc: mean(&auc)?,
        auc_error: standard_error(&auc),
        ap: mean(&ap)?,
        ap_error: standard_error(&ap),
        features: by_seed.values().next()?.features,
        commits: by_seed.values().map(|run| run.commit.clone()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::sample;
    use crate::sets::find;

    #[test]
    fn the_last_run_of_a_seed_counts() {
        let set = find("vowels").expect("a set");
        let runs = [sample("vowels", 0, 70.0), sample("vowels", 1, 90.0), sample("vowels", 0, 80.0)];
        let filter = Filter { noise: 0, settings: "s1", seeds: 8 };
        let summary = summarise(&runs, set, &filter).expect("two seeds");
        assert_eq!((summary.seeds, summary.auc, summary.auc_error), (2, 85.0, Some(5.0)));
        let one = summarise(&runs, set, &Filter { seeds: 1, ..filter.clone() }).expect("one seed");
        assert_eq!((one.seeds, one.auc, one.auc_error), (1, 80.0, None));
        assert!(summarise(&runs, set, &Filter { settings: "s2", ..filter }).is_none());
    }
}
