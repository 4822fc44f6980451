//! The data sets of the benchmarks, in the paper's order.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

/// Sets with more rows than this are run with [`SEEDS_OF_LARGE`] seeds.
const LARGE: usize = 200_000;
/// Most seeds for a large set.
const SEEDS_OF_LARGE: u64 = 4;

/// One data set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Set {
    /// The file's name without its ending.
    pub name: &'static str,
    /// Rows of the file.
    pub rows: usize,
    /// Whether it is one of the further sets, which the paper does not have.
    pub extra: bool,
}

impl Set {
    /// Its Parquet file below the data folder.
    pub fn path(&self, data: &Path) -> PathBuf {
        let folder = if self.extra { data.join("extra") } else { data.to_path_buf() };
        folder.join(format!("{}.parquet", self.name))
    }

    /// How many of the wanted seeds it is run with: fewer where it is large.
    pub fn seeds(&self, wanted: u64) -> u64 {
        if self.rows > LARGE { wanted.min(SEEDS_OF_LARGE) } else { wanted }
    }
}

const fn paper(name: &'static str, rows: usize) -> Set {
    Set { name, rows, extra: false }
}

const fn extra(name: &'static str, rows: usize) -> Set {
    Set { name, rows, extra: true }
}

/// The paper's 18 sets, then the eight further ones.
pub const SETS: [Set; 26] = [
    paper("vowels", 1_456),
    paper("siesmic", 2_584),
    paper("musk", 3_062),
    paper("satimage-2", 5_803),
    paper("thyroid", 7_200),
    paper("at", 7_258),
    paper("nyc", 10_311),
    paper("mammography", 11_183),
    paper("cpu", 18_041),
    paper("mt", 22_686),
    paper("campaign", 41_188),
    paper("smtp", 95_156),
    paper("backdoor", 95_329),
    paper("celeba", 202_599),
    paper("fraud", 284_807),
    paper("census", 299_285),
    paper("http", 567_498),
    paper("donors", 619_326),
    extra("cover", 286_048),
    extra("pendigits", 6_870),
    extra("shuttle", 49_097),
    extra("letter", 1_600),
    extra("magic.gamma", 19_020),
    extra("satellite", 6_435),
    extra("InternetAds", 1_966),
    extra("Lymphography", 148),
];

/// The set of that name.
///
/// # Errors
/// If there is none; the message lists all names.
pub fn find(name: &str) -> Result<Set> {
    match SETS.iter().find(|set| set.name == name) {
        Some(set) => Ok(*set),
        None => {
            let names: Vec<_> = SETS.iter().map(|set| set.name).collect();
            bail!("there is no data set {name}; there are {}", names.join(", "))
        }
    }
}

/// The sets named, in the order of [`SETS`]; without names the paper's sets, and the further ones if wanted.
///
/// # Errors
/// If a name is unknown.
pub fn select(names: &[String], with_extra: bool) -> Result<Vec<Set>> {
    for name in names {
        find(name)?;
    }
    let wanted = |set: &Set| match names {
        [] => with_extra || !set.extra,
        names => names.iter().any(|name| name == set.name),
    };
    Ok(SETS.iter().copied().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_sets_get_four_seeds() {
        assert_eq!(find("backdoor").map(|set| set.seeds(8)).ok(), Some(8));
        assert_eq!(find("celeba").map(|set| set.seeds(8)).ok(), Some(4));
        assert_eq!(find("celeba").map(|set| set.seeds(2)).ok(), Some(2));
    }

    #[test]
    fn selection_keeps_the_papers_order() {
        let names = |sets: Vec<Set>| sets.iter().map(|set| set.name).collect::<Vec<_>>();
        assert_eq!(select(&[], false).map(|sets| sets.len()).ok(), Some(18));
        assert_eq!(select(&[], true).map(|sets| sets.len()).ok(), Some(26));
        let asked = ["cover".to_string(), "vowels".to_string()];
        assert_eq!(select(&asked, false).map(names).ok(), Some(vec!["vowels", "cover"]));
        assert!(select(&["bowels".to_string()], false).is_err());
    }
}
