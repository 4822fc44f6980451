use std::sync::OnceLock;

use proptest::prelude::*;

use super::Detector;
use crate::encode::Matrix;
use crate::model::BLOCK_ROWS;
use crate::rng::{Purpose, Stream};
use crate::table::BATCH_ROWS;
use crate::tests::{fitted, normal, small};
use crate::{Params, Scale};

const NAMES: [&str; 4] = ["c0", "c1", "c2", "c3"];
const WIDTH: usize = NAMES.len();

fn rows(seed: u64, count: usize) -> Matrix {
    let mut random = Stream::new(seed, Purpose::Uniform, 0);
    let values = (0..count * WIDTH).map(|_| (random.unit() * 3.0 - 1.5) as f32).collect();
    Matrix { width: WIDTH, values }
}

/// A detector whose later layers build on earlier ones.
fn detector() -> &'static Detector {
    static DETECTOR: OnceLock<Detector> = OnceLock::new();
    DETECTOR.get_or_init(|| {
        let mut random = Stream::new(11, Purpose::Shuffle, 0);
        let params = Params { scale: Scale::Linear, layers: 3, trees: 20, steps: 40, anneal: 20, ..small() };
        let detector = fitted(&params, &normal(&mut random, NAMES, 400));
        assert!(detector.wiring.trees.iter().any(|tree| !tree.columns.is_empty()));
        detector
    })
}

fn bits(matrix: &Matrix) -> Vec<u32> {
    let mut scores = vec![f32::NAN; matrix.rows()];
    detector().score_encoded(matrix, &mut scores);
    scores.iter().map(|s| s.to_bits()).collect()
}

#[test]
fn no_rows_no_scores() {
    assert!(bits(&rows(0, 0)).is_empty());
}

#[test]
fn a_source_is_scored_and_explained_batch_by_batch_as_a_table() {
    let mut random = Stream::new(3, Purpose::Shuffle, 0);
    let table = normal(&mut random, NAMES, BATCH_ROWS + 77);
    let scores = detector().score_all(&table).unwrap();
    assert_eq!(scores, detector().score(&table).unwrap());
    let explainer = crate::explain::Explainer::new(detector());
    let (all, whole) =
        (explainer.contributions_all(&table).unwrap(), explainer.contributions(&table).unwrap());
    assert_eq!((all.scores(), all.values()), (whole.scores(), whole.values()));
    let last = BATCH_ROWS + 76;
    let picked = detector().pick(&table, &[last, 0, last]).unwrap();
    assert_eq!(picked.column(1), [last, 0, last].map(|row| table.column(1)[row]));
    let beyond = detector().pick(&table, &[last + 1]).unwrap_err().to_string();
    assert_eq!(beyond, "there is no row 8269; the table has 8269 rows, numbered from 0");
}

#[test]
fn bytes_are_those_of_the_file() {
    let bytes = detector().to_bytes().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.diad");
    detector().save(&path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    assert_eq!(Detector::from_bytes(&bytes).unwrap().to_bytes().unwrap(), bytes);
}

/// Whatever stands beside it, and wherever in a block it stands.
#[test]
fn a_row_scores_the_same_in_every_position() {
    let alone = rows(5, 1);
    let want = bits(&alone)[0];
    for position in 0..2 * BLOCK_ROWS {
        let mut many = rows(position as u64 + 100, 2 * BLOCK_ROWS);
        many.values[position * WIDTH..(position + 1) * WIDTH].copy_from_slice(&alone.values);
        assert_eq!(bits(&many)[position], want, "at position {position}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn scores_do_not_depend_on_the_order_of_rows(seed: u64, count in 1usize..600) {
        let matrix = rows(seed, count);
        let mut order: Vec<usize> = (0..count).collect();
        Stream::new(seed, Purpose::Shuffle, 1).shuffle_front(&mut order, count);
        let values = order.iter().flat_map(|&row| matrix.row(row).to_vec()).collect();
        let (scores, shuffled) = (bits(&matrix), bits(&Matrix { width: WIDTH, values }));
        for (got, &row) in shuffled.iter().zip(&order) {
            prop_assert_eq!(*got, scores[row]);
        }
    }

    #[test]
    fn scores_do_not_depend_on_other_rows(seed: u64, count in 1usize..600, kept in 0usize..600) {
        let kept = kept.min(count);
        let matrix = rows(seed, count);
        let mut other = rows(!seed, count);
        other.values[..kept * WIDTH].copy_from_slice(&matrix.values[..kept * WIDTH]);
        let some = Matrix { width: WIDTH, values: matrix.values[..kept * WIDTH].to_vec() };
        let scores = bits(&matrix);
        prop_assert_eq!(&bits(&other)[..kept], &scores[..kept]);
        prop_assert_eq!(&bits(&some)[..], &scores[..kept]);
    }
}
