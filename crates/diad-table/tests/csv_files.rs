//! CSV files: what was written is read again, and no bytes make the reader panic.

mod common;

use std::fmt::Write;
use std::path::Path;

use diad_table::{Error, Result};
use diad_table::{Selection, Table};
use proptest::prelude::*;

use common::read;

/// Reads `content` from a file.
fn read_bytes(content: &[u8], selection: &Selection) -> Result<Vec<Table>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    std::fs::write(&path, content).expect("a file");
    read(&path, selection)
}

proptest! {
    #[test]
    fn numbers_survive_the_way_through_a_file(
        rows in proptest::collection::vec(proptest::array::uniform3(any::<f64>()), 1..50),
        line_end in prop_oneof!["\n", "\r\n", "\n\n"],
        quote in prop_oneof!["", "\""],
    ) {
        let mut text = format!("a,name,b,c{line_end}");
        for [a, b, c] in &rows {
            write!(text, "{quote}{a}{quote},\"x, \n\"\"y\"\"\",{b:e}, {c:?} {line_end}").expect("a string grows");
        }
        let batches = read_bytes(text.as_bytes(), &Selection::except(&["name"])).expect("a table");
        prop_assert_eq!(batches.len(), 1);
        prop_assert_eq!(batches[0].names(), ["a", "b", "c"]);
        for (index, row) in rows.iter().enumerate() {
            for (column, &value) in row.iter().enumerate() {
                let found = batches[0].column(column)[index];
                prop_assert!(found == value || (found.is_nan() && value.is_nan()), "{found} for {value}");
            }
        }
    }

    #[test]
    fn any_bytes_are_a_table_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read_bytes(&bytes, &Selection::all());
    }

    #[test]
    fn any_text_of_csv_marks_is_a_table_or_an_error(text in "[ab1,\"\r\n .-]{0,60}") {
        if let Err(error) = read_bytes(text.as_bytes(), &Selection::all()) {
            prop_assert!(!error.to_string().contains('\n'));
        }
    }
}

#[test]
fn a_folder_is_not_a_table() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(matches!(read(folder.path(), &Selection::all()), Err(Error::File { action: "read", .. })));
}

#[test]
fn the_fixture_is_read_in_one_batch() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../diad-cli/data/thyroid.csv");
    let batches = read(&path, &Selection::only(["TSH"]).with_label("label")).expect("a table");
    assert_eq!(batches.len(), 1);
    assert_eq!((batches[0].names(), batches[0].rows()), (&["TSH".to_owned(), "label".to_owned()][..], 7200));
    assert_eq!(batches[0].column(1).iter().sum::<f64>(), 534.0);
}
