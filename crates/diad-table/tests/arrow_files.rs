//! Arrow files and streams: every type, the layouts of several programs, and damaged files.

#![cfg(feature = "compression")]

use std::path::{Path, PathBuf};

use diad_table::{Error, Result};
use diad_table::{FileSource, ReadAs, Reader, Selection, Source, Table, Values, read_stream};
use proptest::prelude::*;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/arrow").join(name)
}

fn all(mut reader: Box<dyn Reader + '_>) -> Result<Vec<Table>> {
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        batches.push(batch);
    }
    Ok(batches)
}

fn read(name: &str, selection: &Selection) -> Result<Vec<Table>> {
    all(FileSource::new(fixture(name)).open(selection)?)
}

fn read_bytes(bytes: &[u8], selection: &Selection) -> Result<Vec<Table>> {
    all(read_stream(Box::new(bytes), Path::new("t.arrow"), selection)?)
}

/// The cells of a column as text.
fn cells(batches: &[Table], name: &str) -> Vec<Option<String>> {
    let cell = |values: &Values, row: usize| match values {
        Values::Texts(texts) => texts.get(row).map(str::to_owned),
        Values::Numbers(values) | Values::Times(values) => {
            (!values[row].is_nan()).then(|| values[row].to_string())
        }
        _ => None,
    };
    let of = |batch: &Table| {
        let index = batch.names().iter().position(|known| known == name).expect("the column");
        (0..batch.rows()).map(|row| cell(batch.values(index), row)).collect::<Vec<_>>()
    };
    batches.iter().flat_map(of).collect()
}

const WORDS: [&str; 3] = ["red", "green", "a colour with a longer name"];
/// The start of 31 January 2024.
const DAY: f64 = 1_706_659_200.0;

/// What `make_arrow.py` wrote into a cell.
fn expected(name: &str, i: u32) -> Option<String> {
    let n = f64::from(i);
    let gap = i % 7 == 3;
    let number = match name {
        "i8" if !gap => f64::from(i % 200) - 100.0,
        "u16" => n * 200.0,
        "i64" if !gap => n * 3.0 - 7.0,
        "u64" => 2f64.powi(63) + 2048.0 * n,
        "f16" => n / 4.0,
        "f32" if !gap => n / 4.0,
        "f64" => n / 10.0,
        "price" => (n - 150.0) / 100.0,
        "day" => DAY + n * 86_400.0,
        "when" if !gap => DAY + (n + 6.0) * 3600.0,
        "last" => n,
        "bool" if !gap => return Some(i.is_multiple_of(3).to_string()),
        "text" | "word" if !gap => return Some(WORDS[i as usize % 3].to_owned()),
        "large" => return Some(WORDS[i as usize % 3].to_owned()),
        _ => return None,
    };
    Some(number.to_string())
}

fn check(name: &str, batches: &[Table]) {
    for column in batches[0].names() {
        let wanted: Vec<Option<String>> = (0..300).map(|i| expected(column, i)).collect();
        assert_eq!(cells(batches, column), wanted, "{name}: {column}");
    }
}

#[test]
fn every_type_of_every_program_is_read() {
    for (name, columns) in [
        ("plain.feather", 16),
        ("lz4.feather", 16),
        ("zstd.feather", 16),
        ("views.arrows", 16),
        ("polars.arrow", 14),
        ("pandas.feather", 6),
    ] {
        let ignored: &[&str] = if columns == 16 { &["list"] } else { &[] };
        let batches = read(name, &Selection::except(ignored)).unwrap();
        assert_eq!(batches[0].names().len(), columns, "{name}");
        check(name, &batches);
        // The same bytes as a stream, as standard input gives them.
        let bytes = std::fs::read(fixture(name)).unwrap();
        check(name, &read_bytes(&bytes, &Selection::except(ignored)).unwrap());
    }
}

#[test]
fn columns_are_found_after_nested_ones_and_in_any_order() {
    let batches = read("lz4.feather", &Selection::only(["last", "text"])).unwrap();
    assert_eq!(batches.iter().map(Table::rows).collect::<Vec<_>>(), [128, 128, 44]);
    assert_eq!(batches[0].names(), ["last", "text"]);
    assert_eq!(batches[2].place(3).to_string(), "row 259 (counted from 0)");
    check("lz4.feather", &batches);
}

#[test]
fn a_dictionary_may_grow() {
    let words = cells(&read("delta.arrows", &Selection::all()).unwrap(), "word");
    let wanted = (1..4).flat_map(|known| (0..10).map(move |i| Some(WORDS[i % known].to_owned())));
    assert_eq!(words, wanted.collect::<Vec<_>>());
}

#[test]
fn columns_are_read_as_asked() {
    let numbers = Selection::only(["bool"]).reading("bool", ReadAs::Numbers);
    let batches = read("zstd.feather", &numbers).unwrap();
    assert_eq!(batches[0].column(0)[..3], [1.0, 0.0, 0.0]);
    let texts = Selection::only(["i64"]).reading("i64", ReadAs::Texts);
    assert_eq!(read("zstd.feather", &texts).unwrap()[0].values(0).text(1), Some("-4"));
    let error =
        read("zstd.feather", &Selection::only(["word"]).reading("word", ReadAs::Numbers)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column \"word\", row 0 (counted from 0): \"red\" is not a number; correct the cell"
    );
    let error = read("zstd.feather", &Selection::all()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column \"list\" has type list, which is not supported; write it as numbers or text"
    );
}

#[test]
fn a_file_that_is_cut_off_is_an_error() {
    for name in ["plain.feather", "lz4.feather", "polars.arrow"] {
        let bytes = std::fs::read(fixture(name)).unwrap();
        for length in (8..bytes.len()).step_by(61) {
            let error = read_bytes(&bytes[..length], &Selection::only(["last"])).map(drop).unwrap_err();
            assert!(matches!(error, Error::Arrow { .. }), "{name}, {length}: {error}");
        }
    }
}

/// Rows of a column of nulls have no bytes, so a file could announce any number of them.
#[test]
fn more_rows_than_a_file_can_hold_are_an_error() {
    let bytes = std::fs::read(fixture("nulls.arrows")).unwrap();
    let rows = |batches: &[Table]| batches.iter().map(Table::rows).sum::<usize>();
    assert_eq!(rows(&read_bytes(&bytes, &Selection::all()).unwrap()), 7777);
    let announced = 7777i64.to_le_bytes();
    for more in [1i64 << 23, 1 << 40, i64::MAX, -1] {
        let mut forged = bytes.clone();
        let places: Vec<usize> = (0..bytes.len() - 7).filter(|&i| bytes[i..i + 8] == announced).collect();
        assert!(!places.is_empty());
        places.iter().for_each(|&i| forged[i..i + 8].copy_from_slice(&more.to_le_bytes()));
        let error = read_bytes(&forged, &Selection::all()).map(drop).unwrap_err();
        assert!(matches!(error, Error::Arrow { .. }), "{more}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn damaged_files_are_tables_or_errors(
        name in prop_oneof![Just("plain.feather"), Just("lz4.feather"), Just("delta.arrows"), Just("views.arrows")],
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..8),
        late in any::<bool>(),
    ) {
        let mut bytes = std::fs::read(fixture(name)).unwrap();
        // Half of the damage is to the last bytes, where a file says what it holds.
        let start = if late { bytes.len().saturating_sub(3000) } else { 0 };
        let reach = bytes.len() - start;
        for (place, byte) in changes {
            let place = start + place.index(reach);
            bytes[place] = byte;
        }
        match read_bytes(&bytes, &Selection::all()) {
            Err(error) => prop_assert!(!error.to_string().contains('\n')),
            Ok(batches) => prop_assert!(batches.iter().all(|batch| batch.rows() > 0)),
        }
    }
}
