//! The parts a score can be made of, each fitted alone, and their scores.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use diad::encode::Encoder;
use diad::table::{FileSource, Source};
use diad::{Params, Scale, ScorePart};

use crate::data::{LABEL, labelled};
use crate::evaluate::{fit, score};
use crate::options::digest;
use crate::sets::Set;

/// Most rows of a set that are compared: of the normal ones and of the anomalies.
const NORMAL: usize = 40_000;
const ANOMALOUS: usize = 20_000;

/// One way to make a part.
#[derive(Debug, Clone, PartialEq)]
pub struct Ingredient {
    /// Which part: a recipe has at most one ingredient of each.
    pub part: ScorePart,
    /// Its name in the tables.
    pub name: &'static str,
    /// The settings that make a score of it alone.
    pub params: Params,
}

/// Every way to make a part that the search looks at, in the order in which parts are added.
pub fn all() -> Vec<Ingredient> {
    let nothing = Params {
        weight_trees: 0.0,
        weight_tails: 0.0,
        weight_columns: 0.0,
        weight_relations: 0.0,
        weight_cuts: 0.0,
        scale: Scale::Bent,
        ..Params::default()
    };
    let trees = Params { weight_trees: 1.0, ..nothing.clone() };
    let columns = Params { weight_columns: 1.0, ..nothing.clone() };
    let ingredient = |part, name, params| Ingredient { part, name, params };
    let linear = |params: &Params| Params { scale: Scale::Linear, ..params.clone() };
    let both = Params { scale: Scale::Both, ..trees.clone() };
    let layers = Params { layers: 3, trees: 100, outputs: 2, ..both.clone() };
    use ScorePart::{Columns, Cuts, Relations, Tails, Trees};
    vec![
        ingredient(Tails, "tails", Params { weight_tails: 1.0, ..nothing.clone() }),
        ingredient(Columns, "columns, linear", linear(&columns)),
        ingredient(Columns, "columns, bent", columns),
        ingredient(Trees, "trees, linear", Params { feature_share: 0.4, ..linear(&trees) }),
        ingredient(Trees, "trees, bent", trees),
        ingredient(Trees, "trees, both", both),
        ingredient(Trees, "trees, both, three layers", layers),
        ingredient(Relations, "relations", Params { weight_relations: 1.0, ..nothing.clone() }),
        ingredient(Cuts, "cuts, no pairs", Params { weight_cuts: 1.0, interactions: 1, ..nothing.clone() }),
        ingredient(Cuts, "cuts", Params { weight_cuts: 1.0, ..nothing }),
    ]
}

/// The labels of the rows of a set that are compared.
#[derive(Debug)]
pub struct Labels {
    /// Which rows, ascending.
    rows: Vec<usize>,
    /// Whether each of them is an anomaly.
    pub chosen: Vec<bool>,
    /// How many rows of the set each of them stands for.
    pub weights: Vec<f64>,
    /// Columns of the set.
    pub columns: usize,
}

/// Reads the labels of a set and chooses rows, evenly spread over the file.
pub fn labels(set: &Set, data: &Path) -> Result<Labels> {
    let source = FileSource::new(set.path(data));
    let columns = Encoder::fit(&source, &[LABEL], Scale::Linear)?.columns().len();
    let mut all = Vec::new();
    let mut reader = source.open(&labelled())?;
    while let Some(batch) = reader.next_batch()? {
        let column = batch.column_named(LABEL).context("there is no label column")?;
        all.extend(column.iter().map(|value| *value > 0.5));
    }
    let of = |anomaly: bool, most: usize| {
        let rows: Vec<usize> = (0..all.len()).filter(|&row| all[row] == anomaly).collect();
        let count = rows.len().min(most);
        (0..count).map(|i| rows[i * rows.len() / count]).collect::<Vec<_>>()
    };
    let mut rows = [of(false, NORMAL), of(true, ANOMALOUS)].concat();
    rows.sort_unstable();
    let chosen: Vec<bool> = rows.iter().map(|&row| all[row]).collect();
    let share = |anomaly: bool| {
        let count = |labels: &[bool]| labels.iter().filter(|&&label| label == anomaly).count() as f64;
        count(&all) / count(&chosen).max(1.0)
    };
    let shares = [share(false), share(true)];
    let weights = chosen.iter().map(|&anomaly| shares[usize::from(anomaly)]).collect();
    Ok(Labels { rows, chosen, weights, columns })
}

#[cfg(test)]
impl Labels {
    /// Rows of a wide table that stand for themselves.
    pub fn of(chosen: Vec<bool>) -> Self {
        Self { rows: (0..chosen.len()).collect(), weights: vec![1.0; chosen.len()], chosen, columns: 200 }
    }
}

/// The scores of the chosen rows by each ingredient, from the cache or from a fit on all rows.
pub fn scores(
    ingredients: &[Ingredient],
    set: &Set,
    seed: u64,
    labels: &Labels,
    data: &Path,
    cache: &Path,
) -> Result<Vec<Vec<f32>>> {
    fs::create_dir_all(cache).with_context(|| format!("cannot make {}", cache.display()))?;
    let source = FileSource::new(set.path(data));
    let one = |ingredient: &Ingredient| {
        let name = format!("{}-{seed}-{}.f32", set.name, digest(&ingredient.params)?);
        let path = cache.join(name);
        if let Some(scores) = stored(&path, labels.rows.len()) {
            return Ok(scores);
        }
        let params = Params { seed, ..ingredient.params.clone() };
        let (_, all) = score(&fit(&params, &source, &[LABEL])?, &source, LABEL)?;
        ensure!(all.len() == set.rows, "{} has {} rows, not {}", set.name, all.len(), set.rows);
        let scores: Vec<f32> = labels.rows.iter().map(|&row| all[row]).collect();
        let bytes: Vec<u8> = scores.iter().flat_map(|score| score.to_le_bytes()).collect();
        // Written beside its place first, so that a stopped search leaves no half file.
        let part = path.with_extension("part");
        fs::write(&part, bytes).with_context(|| format!("cannot write {}", part.display()))?;
        fs::rename(&part, &path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(scores)
    };
    ingredients.iter().map(one).collect()
}

/// The scores in a file, if it is there and as long as it should be.
fn stored(path: &Path, rows: usize) -> Option<Vec<f32>> {
    let bytes = fs::read(path).ok()?;
    let scores = bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    (bytes.len() == 4 * rows).then_some(scores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ingredient_is_one_part_alone_and_no_two_are_the_same() {
        let all = all();
        for (index, ingredient) in all.iter().enumerate() {
            assert!(ingredient.params.validate().is_ok());
            for part in ScorePart::ALL {
                let alone = f64::from(u8::from(part == ingredient.part));
                assert_eq!(ingredient.params.weight(part), alone, "{}", ingredient.name);
            }
            for other in &all[..index] {
                assert_ne!(ingredient.params, other.params);
                assert_ne!(ingredient.name, other.name);
            }
        }
    }
}
