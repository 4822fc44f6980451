//! The parts a score can be made of, each fitted alone, and their scores.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use diad::encode::Encoder;
use diad::table::{FileSource, Source};
use diad::{Params, Scale};

use crate::data::{LABEL, labelled};
use crate::options::digest;
use crate::sets::Set;

/// Most rows of a set that are compared: of the normal ones and of the anomalies.
const NORMAL: usize = 40_000;
const ANOMALOUS: usize = 20_000;

/// A kind of part: at most one of each kind is in a recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Trees,
    Tails,
    Columns,
    Relations,
}

/// One way to make a part.
#[derive(Debug, Clone, PartialEq)]
pub struct Ingredient {
    /// Its kind.
    pub kind: Kind,
    /// Its name in the tables.
    pub name: &'static str,
    /// The settings that make a score of it alone.
    pub params: Params,
}

/// Every way to make a part that the search looks at.
pub fn all() -> Vec<Ingredient> {
    let nothing = Params {
        weight_trees: 0.0,
        weight_tails: 0.0,
        weight_columns: 0.0,
        weight_relations: 0.0,
        scale: Scale::Bent,
        ..Params::default()
    };
    let trees = Params { weight_trees: 1.0, ..nothing.clone() };
    let columns = Params { weight_columns: 1.0, ..nothing.clone() };
    let relations =
        |relation_strength| Params { weight_relations: 1.0, relation_strength, ..nothing.clone() };
    let ingredient = |kind, name, params| Ingredient { kind, name, params };
    vec![
        ingredient(
            Kind::Trees,
            "trees, linear",
            Params { scale: Scale::Linear, feature_share: 0.4, ..trees.clone() },
        ),
        ingredient(Kind::Trees, "trees, bent", trees.clone()),
        ingredient(Kind::Trees, "trees, both", Params { scale: Scale::Both, ..trees.clone() }),
        ingredient(
            Kind::Trees,
            "trees, both, three layers",
            Params { scale: Scale::Both, layers: 3, trees: 100, outputs: 2, ..trees },
        ),
        ingredient(Kind::Tails, "tails", Params { weight_tails: 1.0, ..nothing.clone() }),
        ingredient(Kind::Columns, "columns, linear", Params { scale: Scale::Linear, ..columns.clone() }),
        ingredient(Kind::Columns, "columns, bent", columns),
        ingredient(Kind::Relations, "relations, 0", relations(0.0)),
        ingredient(Kind::Relations, "relations, 2", relations(2.0)),
        ingredient(Kind::Relations, "relations, 4", relations(4.0)),
    ]
}

/// The labels of the rows of a set that are compared.
#[derive(Debug)]
pub struct Labels {
    /// Which rows, ascending.
    rows: Vec<usize>,
    /// Whether each of them is an anomaly.
    pub chosen: Vec<bool>,
}

/// Reads the labels of a set and chooses rows, evenly spread over the file.
pub fn labels(set: &Set, data: &Path) -> Result<Labels> {
    let mut all = Vec::new();
    let source = FileSource::new(set.path(data));
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
    let chosen = rows.iter().map(|&row| all[row]).collect();
    Ok(Labels { rows, chosen })
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
        let (encoder, matrix) = Encoder::fit_encode(&source, &[LABEL], params.scale)?;
        ensure!(matrix.rows() == set.rows, "{} has {} rows, not {}", set.name, matrix.rows(), set.rows);
        let detector = diad::fit(&params, encoder, &matrix, &mut |_| ControlFlow::Continue(()))?;
        drop(matrix);
        let mut all = Vec::new();
        let mut reader = source.open(&labelled())?;
        while let Some(batch) = reader.next_batch()? {
            all.extend(detector.score(&batch)?);
        }
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
            let weights = ingredient.params.weights();
            let alone: Vec<f64> =
                (0..4).map(|part| f64::from(u8::from(part == ingredient.kind as usize))).collect();
            assert_eq!(weights.to_vec(), alone, "{}", ingredient.name);
            for other in &all[..index] {
                assert_ne!(ingredient.params, other.params);
                assert_ne!(ingredient.name, other.name);
            }
        }
    }
}
