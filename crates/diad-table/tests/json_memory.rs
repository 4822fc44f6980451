//! What JSON may take is bounded by the memory for reading, which is one number for a whole program.

use diad_table::{Error, FileSource, Selection, Source, limit_memory};

#[test]
fn an_object_that_is_a_row_is_no_longer_than_any_other_row() {
    // Rows may have a 64th of it, and objects that hold a table a sixteenth.
    limit_memory(64 << 20);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    let open = |values: usize| {
        std::fs::write(&path, format!("{{\"b\":1,\n\"a\":[{}0]}}", "0,".repeat(values))).unwrap();
        FileSource::new(path.clone()).open(&Selection::all()).map(|reader| reader.names().to_vec())
    };
    assert_eq!(open(500_000).unwrap(), ["b", "a"]);
    assert!(matches!(open(600_000), Err(Error::LongRow { line: 1, column: 1, most: 1 })));
}
