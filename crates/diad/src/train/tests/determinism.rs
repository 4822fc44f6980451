//! The same seed gives the same bytes, whatever the number of threads; and small tables work.

use std::ops::ControlFlow;

use super::super::{fit_model, train};
use crate::encode::{Encoder, Matrix};
use crate::fit::fit;
use crate::kernel::Isa;
use crate::rng::{Purpose, Stream};
use crate::table::Table;
use crate::{Detector, Error, Params, persist};

/// Correlated columns with a few rows far from the rest.
fn data(rows: usize, columns: usize) -> (Encoder, Matrix) {
    let mut random = Stream::new(42, Purpose::Shuffle, 1);
    let mut values = vec![Vec::new(); columns];
    for row in 0..rows {
        let common = random.normal();
        let spread = if row % 50 == 7 { 4.0 } else { 1.0 };
        for (c, column) in values.iter_mut().enumerate() {
            column.push(spread * (0.5 * c as f64 * common + random.normal()));
        }
    }
    let names = (0..columns).map(|c| format!("c{c}")).collect();
    Encoder::fit_encode(&Table::new(names, values).unwrap(), &[], crate::Scale::Linear).unwrap()
}

fn small() -> Params {
    Params { seed: 5, ..crate::tests::small() }
}

fn fit_on(params: &Params, (encoder, matrix): &(Encoder, Matrix)) -> Detector {
    fit(params, encoder.clone(), matrix).unwrap()
}

#[test]
fn bytes_do_not_depend_on_the_number_of_threads() {
    // Batches of several blocks, the last of them short, and more trees than one thread takes at a time.
    let params = Params { layers: 3, trees: 40, batch: 600, ..small() };
    let data = data(700, 5);
    let bytes = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| persist::to_bytes(&fit_on(&params, &data)))
    };
    let one = bytes(1);
    assert!(one == bytes(1), "two fits with one thread differ");
    assert!(one == bytes(2), "two threads differ from one");
    assert!(one == bytes(16), "sixteen threads differ from one");
}

#[test]
fn scores_do_not_depend_on_the_number_of_threads() {
    let data = data(700, 5);
    let detector = fit_on(&small(), &data);
    let scores = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut scores = vec![0.0f32; 700];
        pool.install(|| detector.score_encoded(&data.1, &mut scores));
        scores.iter().map(|s| s.to_bits()).collect::<Vec<_>>()
    };
    let one = scores(1);
    assert_eq!(one, scores(2));
    assert_eq!(one, scores(16));
}

#[test]
fn seeds_matter() {
    let data = data(300, 5);
    let first = fit_on(&small(), &data);
    let second = fit_on(&Params { seed: 6, ..small() }, &data);
    assert_ne!(first.model(), second.model());
    assert_ne!(fingerprint_of(&first), fingerprint_of(&second));
}

/// Fewer rows than a batch, one row in the last block, a single row beyond a lane group, and one feature.
#[test]
fn small_and_odd_tables_can_be_fitted() {
    for (rows, columns, batch) in [(2, 2, 2048), (17, 3, 2048), (257, 2, 257), (513, 1, 2048), (40, 1, 16)] {
        let data = data(rows, columns);
        let detector = fit_on(&Params { batch, ..small() }, &data);
        let mut scores = vec![f32::NAN; rows];
        detector.score_encoded(&data.1, &mut scores);
        assert!(scores.iter().all(|s| s.is_finite()), "{rows} rows of {columns} columns: {scores:?}");
        assert!(scores.iter().any(|s| *s != scores[0]), "{rows} rows of {columns} columns get one score");
    }
}

#[test]
fn extreme_settings_can_be_fitted() {
    let data = data(300, 3);
    for params in [
        Params { anneal: 0, warmup: 0, ..small() },
        Params { steps: 1, anneal: 0, warmup: 1, ..small() },
        Params { depth: 6, outputs: 8, layers: 8, trees: 2, interactions: 1, ..small() },
        Params { min_temperature: 1e-3, learning_rate: 1.0, dropout: 0.0, ..small() },
        Params { dropout: 0.999, damping: 1.0, smoothing: 1e-6, ..small() },
        // Steep splits empty most leaves, and next to nothing is added to their counts.
        Params { depth: 6, min_temperature: 1e-3, smoothing: 1e-6, ..small() },
        Params { depth: 6, min_temperature: 1e-3, smoothing: 1e-6, dropout: 0.0, seed: 1, ..small() },
    ] {
        let detector = fit_on(&params, &data);
        let mut scores = vec![f32::NAN; 300];
        detector.score_encoded(&data.1, &mut scores);
        assert!(scores.iter().all(|s| s.is_finite()), "{params:?}: {scores:?}");
        let bytes = persist::to_bytes(&detector).unwrap();
        assert!(persist::from_bytes(&bytes).is_ok(), "{params:?}: cannot be read again");
    }
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let (encoder, matrix) = data(50, 2);
    let (_, wide) = data(50, 3);
    assert!(matches!(fit(&small(), encoder.clone(), &wide), Err(Error::Width { found: 3, expected: 2 })));
    let one = Matrix { width: 2, values: matrix.values[..2].to_vec() };
    assert!(matches!(fit(&small(), encoder.clone(), &one), Err(Error::TooFewRows { rows: 1 })));
    let detector = fit(&small(), encoder, &matrix).unwrap();
    let names = detector.encoder().columns().iter().map(|column| column.name.clone()).collect();
    let table = crate::table::Table::new(names, vec![vec![0.0; 4], vec![1.0; 4]]).unwrap();
    for room in [3, 5] {
        let error = detector.score_into(&table, &mut vec![0.0; room]).unwrap_err();
        assert!(matches!(error, Error::Room { rows: 4, room: found } if found == room));
    }
}

#[test]
fn a_fit_can_be_stopped() {
    let (_, matrix) = data(50, 2);
    let mut seen = Vec::new();
    let result = train(&small(), (&matrix, &[0, 1]), None, &mut |progress| {
        seen.push(progress.step);
        if progress.step == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(result, Err(Error::Stopped)));
    assert_eq!(seen, [1, 2, 3]);
}

/// The CRC-32 of a model file without the checksum at its end, since every file with it has the same.
fn fingerprint_of(detector: &Detector) -> u32 {
    let bytes = persist::to_bytes(detector).unwrap();
    crc32fast::hash(&bytes[..bytes.len() - 4])
}

/// Pins the bytes of one tiny model, so that nobody changes the result of a fit without noticing.
///
/// When the method, the random streams or the file format change on purpose, run this test, put the new value
/// here, and say so in the change log: models fitted with the same seed will differ from those of the last
/// version. When nothing was meant to change, a new value is a bug. Machines without fused multiply-add round
/// differently and are left out.
#[test]
fn fingerprint() {
    const EXPECTED: u32 = 0xda13_a0c5;
    let (encoder, matrix) = data(300, 5);
    let fused = |isa: &Isa| *isa != Isa::Portable || cfg!(target_arch = "aarch64");
    for isa in Isa::available().iter().copied().filter(fused) {
        let chosen = encoder.tree_features();
        let model =
            fit_model(&small(), (&matrix, &chosen), isa, None, &mut |_| ControlFlow::Continue(())).unwrap();
        let found = fingerprint_of(&Detector::new(small(), encoder.clone(), model, 300));
        assert_eq!(found, EXPECTED, "the fingerprint of the tiny model on {isa:?} is {found:#010x}");
    }
}
