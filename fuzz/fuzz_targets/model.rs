#![no_main]
//! Model files. The checksum is made right, so that what comes after it is reached; a model that is accepted must score.

use diad::Detector;
use diad::encode::Kind;
use diad::table::{Table, Values};

libfuzzer_sys::fuzz_target!(init: diad_fuzz::begin(), |bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    if let Some(end) = bytes.len().checked_sub(4) {
        let check = crc32fast::hash(&bytes[..end]);
        bytes[end..].copy_from_slice(&check.to_le_bytes());
    }
    let Ok(detector) = diad_fuzz::as_file(&bytes, Detector::load) else { return };
    let columns = detector.encoder().columns();
    let value = |column: &diad::encode::Column| match column.kind {
        Kind::Category { .. } => 0.0,
        _ => column.min,
    };
    let names = columns.iter().map(|column| column.name.clone()).collect();
    let values = columns.iter().map(|column| Values::Encoded(vec![value(column), f64::MAX])).collect();
    let row = Table::of(names, values).expect("columns of different names");
    let scores = detector.score(&row).expect("scores");
    assert!(scores.iter().all(|score| score.is_finite()), "{scores:?}");
});
