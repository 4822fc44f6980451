//! A catalogue of tables and models that do not quite belong together, and what is said about each. The answers are in one
//! reviewed file.

use std::fmt::Write;

use crate::common::Folder;

const WIDTH: usize = 5;

/// A model of `colour`, `n` (with gaps), `x` and `when`; `id` was ignored.
fn folder() -> Folder {
    let folder = Folder::new();
    let mut rows = String::from("id,colour,n,x,when\n");
    for i in 0..60 {
        let colour = ["red", "green", "", "blue"][i % 4];
        let n = if i % 9 == 0 { String::new() } else { (i * i % 23).to_string() };
        let _ = writeln!(
            rows,
            "k{i},{colour},{n},{}.5,2024-0{}-1{} 0{}:30",
            i * 7 % 31,
            i % 3 + 1,
            i % 7,
            i % 10
        );
    }
    folder.write("train.csv", rows);
    folder.fit(&["train.csv", "-o", "m.diad", "--ignore", "id"]).succeeds();
    folder
}

/// Two good rows, and a third with one cell changed.
fn rows(header: &str, cell: usize, value: &str) -> String {
    let good = ["k1", "red", "3", "7.5", "2024-01-10 00:30"];
    let mut third = good;
    third[cell] = value;
    format!("{header}\n{}\n{}\n{}\n", good.join(","), good.join(","), third.join(","))
}

/// The columns of a table, without those of some positions.
fn without(dropped: &[usize], table: &str) -> String {
    let line = |line: &str| {
        let cells = line.split(',').enumerate().filter(|(i, _)| !dropped.contains(i)).map(|(_, cell)| cell);
        cells.collect::<Vec<_>>().join(",") + "\n"
    };
    table.lines().map(line).collect()
}

fn with(more: &str, value: &str, table: &str) -> String {
    let line = |(i, line): (usize, &str)| format!("{line},{}\n", if i == 0 { more } else { value });
    table.lines().enumerate().map(line).collect()
}

fn tables() -> Vec<(&'static str, String)> {
    let header = "id,colour,n,x,when";
    let good = rows(header, 0, "k9");
    let turned: String =
        good.lines().map(|line| line.split(',').rev().collect::<Vec<_>>().join(",") + "\n").collect();
    let many: Vec<String> = (0..10).map(|i| format!("extra{i}")).collect();
    assert_eq!(good.lines().next().map(|line| line.split(',').count()), Some(WIDTH));
    vec![
        ("reordered columns", turned),
        ("without an ignored column", without(&[0], &good)),
        ("a further column", with("weight", "7", &good)),
        ("labels that the training did not have", with("is_fraud", "0", &good)),
        ("ten further columns", with(&many.join(","), &["1"; 10].join(","), &good)),
        ("a new category", rows(header, 1, "violet")),
        ("a value far out", rows(header, 3, "1e300")),
        ("a missing value where the training had gaps", rows(header, 2, "")),
        ("a missing value where the training had none", rows(header, 3, "NA")),
        ("a missing time where the training had none", rows(header, 4, "")),
        ("a renamed column", rows("id,color,n,x,when", 0, "k9")),
        ("a name with a blank", rows("id,colour,n,x,when at", 0, "k9")),
        ("two columns short", without(&[2, 4], &good)),
        ("another table", "a,b\n1,2\n3,4\n".into()),
        ("no header line", good.lines().skip(1).map(|line| format!("{line}\n")).collect()),
        ("a word among numbers", rows(header, 3, "seven")),
        ("a number with a comma", rows(header, 3, "\"1,5\"")),
        ("an infinite number", rows(header, 3, "-inf")),
        ("a word among times", rows(header, 4, "yesterday")),
        ("a day that does not exist", rows(header, 4, "2024-02-30")),
        ("a number among times", rows(header, 4, "1706659200")),
        ("a row too short", format!("{good}k1,red,3\n")),
        ("a row too long", format!("{good}k1,red,3,7.5,2024-01-10 00:30,more\n")),
        ("an open quotation mark", rows(header, 1, "\"red")),
        ("a column twice", rows("id,colour,n,x,x", 0, "k9")),
        ("a header line alone", format!("{header}\n")),
        ("nothing", String::new()),
        ("JSON Lines with other keys", "{\"colour\":\"red\",\"N\":1}\n".into()),
        ("JSON Lines with a list", "{\"colour\":\"red\",\"n\":[1],\"x\":1,\"when\":\"2024-01-10\"}\n".into()),
    ]
}

/// What is said of each table; scores are those of three rows, and of the short one.
fn told_of_tables(options: &[&str]) -> String {
    let folder = folder();
    let mut told = String::new();
    for (name, content) in tables() {
        let lines = match name {
            "a row too short" => 5,
            "JSON Lines with a list" => 2,
            _ => 4,
        };
        folder.write("t.csv", content);
        let answer = folder.diad(&[&["score", "m.diad", "t.csv", "-o", "s.csv"], options].concat());
        let _ = writeln!(told, "{name}");
        if answer.code == Some(0) {
            assert_eq!(folder.read_text("s.csv").lines().count(), lines, "{name}");
            std::fs::remove_file(folder.path("s.csv")).expect("scores");
            let said = if answer.stderr.is_empty() { "(scored without a word)\n" } else { &answer.stderr };
            let _ = write!(told, "  {said}");
        } else {
            let _ = write!(told, "  {}", answer.fails());
        }
        assert_eq!(folder.files(), ["m.diad", "t.csv", "train.csv"], "{name}");
    }
    told
}

#[test]
fn every_table_that_does_not_fit_its_model_is_spoken_of() {
    insta::assert_snapshot!(told_of_tables(&[]));
}

#[test]
fn a_strict_model_refuses_cells_that_do_not_fit() {
    insta::assert_snapshot!(told_of_tables(&["--strict"]));
}

#[test]
fn every_model_that_cannot_be_used_is_spoken_of() {
    let folder = folder();
    let whole = folder.read("m.diad");
    let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/models/v1.diad");
    let older = std::fs::read(stored).expect("a fixture");
    let changed = |place: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[place] = byte;
        bytes
    };
    let mut told = String::new();
    for (name, content) in [
        ("an older model of another table", older),
        ("a model of a newer version", changed(8, 3)),
        ("a model of version 0", changed(8, 0)),
        ("a changed number", changed(whole.len() - 40, 7)),
        ("a changed header", changed(30, b'#')),
        ("cut off in its first bytes", whole[..12].to_vec()),
        ("cut off in its header", whole[..100].to_vec()),
        ("cut off in its numbers", whole[..whole.len() - 1000].to_vec()),
        ("a byte too many", [&whole[..], b"x"].concat()),
        ("an empty file", Vec::new()),
        ("a table", folder.read("train.csv")),
        ("a Parquet file", b"PAR1".repeat(50)),
    ] {
        folder.write("bad.diad", content);
        let _ = write!(
            told,
            "{name}\n  {}",
            folder.diad(&["score", "bad.diad", "train.csv", "-o", "s.csv"]).fails()
        );
    }
    for (name, args) in [
        ("model and table in the wrong order", ["score", "train.csv", "m.diad", "-o", "s.csv"]),
        ("a model for a table", ["score", "m.diad", "m.diad", "-o", "s.csv"]),
        ("a folder for a table", ["score", "m.diad", ".", "-o", "s.csv"]),
        ("a folder for a model", ["score", ".", "train.csv", "-o", "s.csv"]),
        ("a table that is not there", ["score", "m.diad", "none.csv", "-o", "s.csv"]),
        ("no label in the table", ["eval", "m.diad", "train.csv", "--label", "is_fraud"]),
        ("a label that is a feature", ["eval", "m.diad", "train.csv", "--label", "colour"]),
        ("a label that is none", ["eval", "m.diad", "train.csv", "--label", "id"]),
    ] {
        let _ = write!(told, "{name}\n  {}", folder.diad(&args).fails());
    }
    assert_eq!(folder.files(), ["bad.diad", "m.diad", "train.csv"]);
    insta::assert_snapshot!(told);
}

/// The stored model of the first version is read as it was, in every command that takes a model.
#[test]
fn an_older_model_is_read() {
    let folder = Folder::new();
    let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/models/v1.diad");
    folder.write("old.diad", std::fs::read(stored).expect("a fixture"));
    let info = folder.diad(&["info", "old.diad"]).succeeds();
    assert!(info.contains("\nColumns\n"), "{info}");
}

/// A million categories, and a column without any value: both are left out, and the rest is learned.
#[test]
fn columns_that_tell_nothing_are_left_out_with_a_note() {
    let folder = Folder::new();
    let mut rows = String::from("colour,nothing,x\n");
    for i in 0..1_200_000 {
        let _ = writeln!(rows, "c{},,{}", i * 7 % 1_000_003, i % 13);
    }
    folder.write("t.csv", rows);
    let answer = folder.fit(&["t.csv", "-o", "m.diad"]);
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    insta::assert_snapshot!(answer.stderr, @r#"
    diad: note: the table has 1,200,000 rows; 1,048,576 of them, drawn at random, are trained on
    diad: note: column "colour" is left out, because it has too many different texts; keep it with --numeric or --categorical
    diad: note: column "nothing" is left out, because all its values are missing
    "#);
}
