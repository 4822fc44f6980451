//! Parquet files: every numeric type, nulls, many batches, and damaged files.

#![cfg(feature = "parquet")]
#![expect(clippy::unwrap_used, reason = "a test that cannot write its file may panic")]

mod common;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use diad_table::{BATCH_ROWS, Error, FileSource, ReadAs, Selection, Source, Table, Values};
use parquet::basic::Compression;
use parquet::data_type::DoubleType;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use common::read;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)
}

fn column(batches: &[Table], name: &str) -> Vec<f64> {
    batches.iter().flat_map(|batch| batch.column_named(name).expect("the column").to_vec()).collect()
}

/// Writes `x` = 0, 1, 2, … in row groups of the given sizes.
fn write(path: &Path, groups: &[usize], compression: Compression) {
    let schema = Arc::new(parse_message_type("message table { REQUIRED DOUBLE x; }").unwrap());
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), schema, properties).unwrap();
    let mut next = 0;
    for &rows in groups {
        let values: Vec<f64> = (next..next + rows).map(|i| i as f64).collect();
        next += rows;
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
}

#[test]
fn every_numeric_type_is_read() {
    let numbers = Selection::except(&["text", "when", "answer"]).reading("bool", ReadAs::Numbers);
    let batches = read(&fixture("types.parquet"), &numbers).unwrap();
    let rows: Vec<usize> = batches.iter().map(Table::rows).collect();
    assert_eq!(rows, [450, 450, 100]);
    type Formula = fn(u32) -> f64;
    let expected: [(&str, Formula); 10] = [
        ("i8", |i| f64::from(i % 200) - 100.0),
        ("u8", |i| f64::from(i % 256)),
        ("i32", |i| f64::from(i) - 500.0),
        ("u32", |i| f64::from(u32::MAX - i)),
        ("i64", |i| f64::from(i) * 3.0 - 7.0),
        ("u64", |i| 2f64.powi(63) + 2048.0 * f64::from(i)),
        ("f32", |i| f64::from(i) / 4.0),
        ("f64", |i| f64::from(i) / 10.0),
        ("bool", |i| f64::from(i % 3 == 0)),
        ("price", |i| f64::from(i) / 100.0),
    ];
    for (name, value) in expected {
        assert_eq!(column(&batches, name), (0..1000).map(value).collect::<Vec<f64>>(), "{name}");
    }
}

#[test]
fn nulls_are_missing_values() {
    let batches = read(&fixture("nulls.parquet"), &Selection::all()).unwrap();
    let missing = |name| column(&batches, name).iter().map(|value| value.is_nan()).collect::<Vec<bool>>();
    assert_eq!(missing("x"), [false, true, false, true]);
    assert_eq!(missing("n"), [true, false, false, false]);
    assert_eq!(column(&batches, "n")[1..], [7.0, 8.0, 9.0]);
}

#[test]
fn labels_may_be_words_numbers_or_truth_values() {
    let labels = |name| {
        let batches = read(&fixture("types.parquet"), &Selection::only(["f64"]).with_label(name))?;
        Ok::<_, Error>(column(&batches, name))
    };
    assert_eq!(labels("answer").unwrap()[..4], [0.0, 1.0, 0.0, 1.0]);
    assert_eq!(labels("bool").unwrap()[..4], [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(
        labels("u8").unwrap_err().to_string(),
        "label column \"u8\", row 2 (counted from 0): \"2\" is not a label; write 1 for an anomaly and 0 for a \
         normal row"
    );
    assert!(matches!(labels("text"), Err(Error::Label { .. })));
}

#[test]
fn texts_times_and_truth_values_are_read() {
    let batches = read(&fixture("types.parquet"), &Selection::only(["text", "when", "bool"])).unwrap();
    for row in 0..450 {
        assert_eq!(batches[1].values(0).text(row), Some(format!("t{}", row % 5).as_str()));
        assert_eq!(batches[0].values(2).text(row), Some(if row % 3 == 0 { "true" } else { "false" }));
    }
    let day = 18_262.0 * 86_400.0;
    assert!(matches!(batches[2].values(1), Values::Times(times) if times.iter().all(|&time| time == day)));
    let numbers = Selection::only(["text"]).reading("text", ReadAs::Numbers);
    let error = read(&fixture("types.parquet"), &numbers).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column \"text\", row 0 (counted from 0): \"t0\" is not a number; correct the cell"
    );
    let categories = Selection::only(["i32"]).reading("i32", ReadAs::Texts);
    assert_eq!(read(&fixture("types.parquet"), &categories).unwrap()[0].values(0).text(1), Some("-499"));
}

#[test]
fn batches_stay_within_their_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.parquet");
    write(&path, &[2 * BATCH_ROWS + 1, 0, 3], Compression::SNAPPY);
    let source = FileSource::new(&path);
    assert_eq!(source.open(&Selection::all()).unwrap().rows(), Some(2 * BATCH_ROWS as u64 + 4));
    let batches = read(&path, &Selection::all()).unwrap();
    let rows: Vec<usize> = batches.iter().map(Table::rows).collect();
    assert_eq!(rows, [BATCH_ROWS, BATCH_ROWS, 1, 3]);
    assert_eq!(column(&batches, "x"), (0..2 * BATCH_ROWS + 4).map(|i| i as f64).collect::<Vec<f64>>());
    assert_eq!(batches[3].place(2).to_string(), format!("row {} (counted from 0)", 2 * BATCH_ROWS + 3));
}

#[test]
fn a_file_without_rows_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.parquet");
    write(&path, &[], Compression::UNCOMPRESSED);
    assert!(matches!(read(&path, &Selection::all()), Err(Error::NoRows { .. })));
}

#[test]
fn a_text_file_named_parquet_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.parquet");
    std::fs::write(&path, "a,b\n1,2\n").unwrap();
    assert!(matches!(read(&path, &Selection::all()), Err(Error::Parquet { .. })));
}

/// A header that announces two thousand million values takes no longer to refuse than any other.
#[test]
fn an_announced_list_is_not_passed_over_for_minutes() {
    let start = Instant::now();
    let refused = |path: &Path| read(path, &Selection::all()).unwrap_err().to_string();
    let message = refused(&fixture("endless-header.parquet"));
    assert!(message.contains("in the middle of a header"), "{message}");
    let message = refused(&fixture("endless-dictionary.parquet"));
    assert!(message.contains("announces more than it can hold"), "{message}");

    // The footer with one more field, a list of truth values.
    let mut bytes = std::fs::read(fixture("types.parquet")).unwrap();
    let tail = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[tail..tail + 4].try_into().unwrap());
    let list = [0xa9, 0xf1, 0xff, 0xff, 0xff, 0xff, 7, 0];
    bytes.splice(tail - 1..tail + 4, list.into_iter().chain((length + 7).to_le_bytes()));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list.parquet");
    std::fs::write(&path, bytes).unwrap();
    let message = refused(&path);
    assert!(message.contains("announces what no table has"), "{message}");
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
}

#[test]
fn a_damaged_file_is_an_error_or_other_numbers_but_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(fixture("types.parquet")).unwrap();
    let selection = Selection::except(&["text", "when"]).with_label("answer");
    let path = folder.path().join("damaged.parquet");
    for length in (4..whole.len()).step_by(97) {
        std::fs::write(&path, &whole[..length]).unwrap();
        assert!(matches!(read(&path, &selection), Err(Error::Parquet { .. })), "cut to {length} bytes");
    }
    let mut random = 0x9E37_79B9_7F4A_7C15u64;
    for _ in 0..600 {
        let mut bytes = whole.clone();
        for _ in 0..3 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let place = (random >> 33) as usize % bytes.len();
            bytes[place] = (random >> 24) as u8;
        }
        std::fs::write(&path, &bytes).unwrap();
        if let Err(error) = read(&path, &selection) {
            assert!(!error.to_string().is_empty());
        }
    }
}
