//! Every bad input gives one sentence that says what to do, exit code 2, and no output.

use crate::common::Folder;
use insta::assert_snapshot;

/// The sentence about fitting to a table with this content; nothing else may be left behind.
fn fit_table(content: impl AsRef<[u8]>) -> String {
    fit_table_with(content, &[])
}

fn fit_table_with(content: impl AsRef<[u8]>, args: &[&str]) -> String {
    let folder = Folder::new();
    folder.write("t.csv", content);
    let sentence = folder.fit(&[&["t.csv", "-o", "m.diad"], args].concat()).fails();
    assert_eq!(folder.files(), ["t.csv"]);
    sentence
}

#[test]
fn a_file_that_is_not_there() {
    let folder = Folder::new();
    assert_snapshot!(folder.fit(&["t.csv", "-o", "m.diad"]).fails(), @"diad: cannot read t.csv: there is no such file; check the path");
    assert_eq!(folder.files().len(), 0);
}

#[test]
fn an_empty_file() {
    assert_snapshot!(fit_table(""), @"diad: t.csv is empty; give a CSV file with a header line, JSON Lines, Arrow, Excel or Parquet");
    assert_snapshot!(fit_table("\n\n"), @"diad: t.csv is empty; give a CSV file with a header line, JSON Lines, Arrow, Excel or Parquet");
}

#[test]
fn tables_with_too_little_in_them() {
    assert_snapshot!(fit_table("a,b\n"), @"diad: t.csv has no rows, only column names; give a table with rows");
    assert_snapshot!(fit_table("a,b\n1,2\n"), @"diad: a fit needs at least 2 rows, but the table has 1; give more rows");
    assert_snapshot!(fit_table("a,b\n1,2\n1,2\n"), @"diad: every feature has the same value in all rows; give a table with at least one column that varies");
}

#[test]
fn no_column_left() {
    assert_snapshot!(fit_table_with("a\n1\n2\n", &["--ignore", "a"]), @"diad: no column is left to learn from; ignore fewer columns");
}

#[test]
fn infinite_values() {
    assert_snapshot!(fit_table("a\ninf\n1e999\n"), @r#"diad: no column is left to learn from: column "a" is left out because all its values are missing; give more columns"#);
}

#[test]
fn text_in_a_column_of_numbers() {
    assert_snapshot!(fit_table_with("id,x\n1,2\nanna,3\n", &["--numeric", "id"]), @r#"diad: column "id", line 3, row 1: "anna" is not a number; correct the cell, or leave the column out with --ignore id"#);
}

#[test]
fn names_from_the_data_never_become_commands() {
    let name = format!("x' ; rm -r {} '", "~".repeat(100));
    let sentence = fit_table_with(format!("{name},y\n1,2\nz,3\n"), &["--numeric", &name]);
    let shown: String = name.chars().take(60).collect();
    assert_eq!(
        sentence,
        format!(
            "diad: column \"{shown}…\", line 3, row 1: \"z\" is not a number; correct the cell, or leave the column \
             out with --ignore\n"
        )
    );
    let folder = Folder::new();
    folder.write("t.csv", format!("{name},y\n1,2\n3,4\n"));
    folder.fit(&["t.csv", "-o", "m.diad"]).succeeds();
    assert_eq!(
        folder.diad(&["eval", "m.diad", "t.csv", "--label", &name]).fails(),
        format!(
            "diad: the model was trained with column \"{shown}…\" as a feature; train it again with --label and \
             its name\n"
        )
    );
}

#[test]
fn an_open_quotation_mark() {
    let open = "x,name\n1,Ann\n2,\"Bob\n3,Eve\n4,Tom\n";
    assert_snapshot!(fit_table_with(open, &["--ignore", "name"]), @"diad: the row that starts at line 3 does not end; close its quotation mark");
}

#[test]
fn control_characters_never_reach_the_terminal() {
    assert_snapshot!(fit_table_with("a\u{1b}[2J,b\n\u{7}\u{202e},1\n", &["--numeric", "a\u{1b}[2J"]), @r#"diad: column "a\u{1b}[2J", line 2, row 0: "\u{7}\u{202e}" is not a number; correct the cell, or leave the column out with --ignore"#);
}

#[test]
fn rows_of_different_lengths() {
    assert_snapshot!(fit_table("a,b\n1,2\n3,4,5\n"), @"diad: line 3 has 3 cells, but the header line has 2; make them the same");
}

#[test]
fn a_column_that_is_not_there() {
    assert_snapshot!(fit_table_with("a,b\n1,2\n", &["--label", "fraud"]), @r#"diad: the table has no column "fraud"; its columns are "a", "b""#);
    assert_snapshot!(fit_table_with("a,b\n1,2\n", &["--ignore", "id"]), @r#"diad: the table has no column "id"; its columns are "a", "b""#);
}

#[test]
fn a_damaged_parquet_file() {
    let whole = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/nulls.parquet")).unwrap();
    for length in 4..whole.len() {
        if length % 40 == 0 || length < 16 {
            let sentence = fit_table(&whole[..length]);
            assert!(sentence.starts_with("diad: cannot read t.csv as Parquet ("), "{sentence}");
        }
    }
}

#[test]
fn flipped_bytes_in_a_parquet_file_give_no_panic_message() {
    let whole = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/nulls.parquet")).unwrap();
    let folder = Folder::new();
    // These make the Parquet library panic.
    let panics = [(278, 205), (282, 166), (283, 9), (378, 223), (383, 166), (384, 213)];
    let others = (4..whole.len()).step_by(7).map(|place| (place, !whole[place]));
    for (place, byte) in others.chain(panics) {
        let mut bytes = whole.clone();
        bytes[place] = byte;
        folder.write("t.parquet", bytes);
        // A flip may also change a value, or nothing that matters.
        let answer = folder.fit(&["t.parquet", "-o", "m.diad"]);
        if answer.code == Some(0) {
            assert!(!panics.contains(&(place, byte)), "{place}: {}", answer.stdout);
            continue;
        }
        let sentence = answer.fails();
        let panicked = sentence.contains("its parts contradict each other");
        assert!(panicked || !panics.contains(&(place, byte)), "{place}: {sentence}");
    }
}

#[test]
fn an_output_that_cannot_be_written() {
    let folder = Folder::new();
    folder.write("t.csv", "a\n1\n2\n");
    let fit = |output| folder.fit(&["t.csv", "-o", output]).fails();
    assert_snapshot!(fit("no/folder/m.diad"), @"diad: cannot write no/folder/m.diad: its folder does not exist; create it");
    assert_snapshot!(fit("."), @"diad: cannot write .: it is a folder; name a file in it");
    assert_snapshot!(fit("t.csv"), @"diad: t.csv is both input and output; choose another output");
    #[cfg(unix)]
    assert_snapshot!(fit("/dev/null"), @"diad: cannot write /dev/null: it is not a plain file");
    assert_eq!(folder.files(), ["t.csv"]);
}

#[test]
fn settings_outside_their_range() {
    let folder = Folder::new();
    assert_snapshot!(folder.diad(&["fit", "t.csv", "-o", "m.diad", "--depth", "9"]).fails(), @"diad: depth is 9, but it must be from 1 to 6");
    assert_snapshot!(folder.diad(&["fit", "t.csv", "-o", "m.diad", "--dropout", "nan"]).fails(), @"diad: dropout is NaN, but it must be from 0 to below 1");
    assert_snapshot!(folder.diad(&["fit", "t.csv", "-o", "m.diad", "--stepz", "9"]).fails(), @"diad: unexpected argument '--stepz' found; a similar argument exists: '--steps'; try --help");
    assert_snapshot!(folder.diad(&["fit", "t.csv"]).fails(), @"diad: the following required arguments were not provided: --output <MODEL>; try --help");
}

#[test]
fn a_model_file_that_is_not_there() {
    let folder = Folder::new();
    folder.write("t.csv", "a\n1\n");
    let sentence = folder.diad(&["score", "m.diad", "t.csv", "-o", "s.csv"]).fails();
    assert!(sentence.contains("m.diad"), "{sentence}");
    assert_eq!(folder.files(), ["t.csv"]);
}

#[test]
fn a_foreign_or_truncated_model_file() {
    let folder = Folder::with_model();
    let whole = folder.read("model.diad");
    let halves = [1, 8, 100, whole.len() / 2, whole.len() - 1].map(|length| whole[..length].to_vec());
    let foreign = [b"".to_vec(), b"a,b\n1,2\n".to_vec(), b"PAR1".repeat(100), vec![0xff; 5000]];
    for content in halves.into_iter().chain(foreign) {
        folder.write("bad.diad", &content);
        for args in [
            &["score", "bad.diad", "table.csv", "-o", "s.csv"][..],
            &["eval", "bad.diad", "table.csv", "--label", "label"],
            &["info", "bad.diad"],
        ] {
            let sentence = folder.diad(args).fails();
            assert!(sentence.contains("bad.diad"), "{sentence}");
        }
    }
    assert_eq!(folder.files(), ["bad.diad", "model.diad", "table.csv"]);
}

#[test]
fn a_table_that_does_not_match_the_model() {
    let folder = Folder::with_model();
    folder.write("other.csv", "y,z\n1,2\n");
    let score = |output| folder.diad(&["score", "model.diad", "other.csv", "-o", output, "--strict"]).fails();
    assert_snapshot!(score("s.csv"), @r#"diad: the table lacks column "x" of the model; if you meant its column "z", rename it; otherwise give a table with all columns the model was trained on"#);
    assert_eq!(score("s.csv"), score("s.parquet"));
    assert_eq!(score("s.csv"), score("-"));
    folder.write("other.csv", "y,x\n1,2\n3,\n");
    assert_snapshot!(score("s.csv"), @r#"diad: column "x", line 3, row 1: the value is missing, but this column had no gaps in training; fill it in or remove the row"#);
    for bad in ["y,x\n1,2\n3,\n", "y,x\n1,z\n", "y,x\n1,inf\n", "y\n1\n", ",y\n1,2\n"] {
        folder.write("other.csv", bad);
        let eval = folder.diad(&["eval", "model.diad", "other.csv", "--label", "y", "--strict"]).fails();
        for sentence in [score("s.csv"), eval] {
            assert!(!sentence.contains("--ignore"), "{sentence}");
        }
    }
    assert_eq!(folder.files(), ["model.diad", "other.csv", "table.csv"]);
}

#[test]
fn an_output_for_scores_of_an_unknown_kind() {
    let folder = Folder::with_model();
    let score = |output| folder.diad(&["score", "model.diad", "table.csv", "-o", output]).fails();
    assert_snapshot!(score("scores.txt"), @"diad: cannot write scores.txt: its name must end in .csv, .jsonl, .parquet or .xlsx");
    assert_snapshot!(score("no/scores.csv"), @"diad: cannot write no/scores.csv: its folder does not exist; create it");
    assert_snapshot!(score("table.csv"), @"diad: table.csv is both input and output; choose another output");
}

#[test]
fn labels_that_are_not_labels() {
    let folder = Folder::with_model();
    let eval = |table: &str, label: &str| {
        folder.write("t.csv", table);
        folder.diad(&["eval", "model.diad", "t.csv", "--label", label]).fails()
    };
    assert_snapshot!(eval("x,y,l\n1,2,0\n1,2,2\n", "l"), @r#"diad: label column "l", line 3, row 1: "2" is not a label; write 1 for an anomaly and 0 for a normal row"#);
    assert_snapshot!(eval("x,y,l\n1,2,maybe\n", "l"), @r#"diad: label column "l", line 2, row 0: "maybe" is not a label; write 1 for an anomaly and 0 for a normal row"#);
    assert_snapshot!(eval("x,y,l\n1,2,\n1,3,\n", "l"), @r#"diad: label column "l" is empty in all 2 rows; label some of them"#);
    let report = folder.diad(&["report", "model.diad", "t.csv", "--label", "l", "-o", "r.html"]).fails();
    assert_snapshot!(report, @r#"diad: label column "l", line 2, row 0: there is no label; write 1 for an anomaly and 0 for a normal row, or leave out rows without a label"#);
    assert_snapshot!(eval("x,y,l\n1,2,no\n1,2,no\n", "l"), @r#"diad: label column "l" is 0 in all 2 rows; give a table with both anomalies and normal rows"#);
    assert_snapshot!(eval("x,y,l\n1,2,0\n", "fraud"), @r#"diad: the table has no column "fraud"; its columns are "x", "y", "l""#);
    assert_snapshot!(eval("x,y,l\n1,2,0\n", "x"), @r#"diad: the model was trained with column "x" as a feature; train it again with --label x"#);
}
