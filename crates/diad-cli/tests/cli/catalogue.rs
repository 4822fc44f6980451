//! A catalogue of bad tables and what is said about each. The answers are in one reviewed file.

use std::fmt::Write;

use crate::common::{Answer, Folder};

/// Name, content, and more arguments of `diad fit`.
type Case = (&'static str, Vec<u8>, &'static [&'static str]);

fn text(name: &'static str, content: &str, args: &'static [&'static str]) -> Case {
    (name, content.as_bytes().to_vec(), args)
}

/// Column `x` with 60 different numbers, and one more row.
fn numbers_and(cell: &str) -> String {
    let rows: String = (0..60).map(|i| format!("{}.5;{}\n", i * 7 % 61, i % 4)).collect();
    format!("x;y\n{rows}{cell};1\n")
}

/// More than half numbers, the rest words and dates.
fn mixed() -> String {
    let cell = |i: usize| match i % 5 {
        0 => "word".to_owned(),
        1 => "2024-01-31".to_owned(),
        _ => format!("{}.25", i * 7 % 173),
    };
    let rows: String = (0..200).map(|i| format!("{},{}\n", cell(i), i % 4)).collect();
    format!("x,y\n{rows}")
}

/// A table with a cell of so many bytes.
fn field(bytes: usize) -> Vec<u8> {
    let mut content = b"x,note\n1,short\n2,".to_vec();
    content.resize(content.len() + bytes, b'z');
    content.extend(b"\n3,short\n");
    content
}

fn packed(content: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packer, content).expect("room");
    packer.finish().expect("room")
}

fn cases() -> Vec<Case> {
    let wide = |columns: usize| (0..columns).map(|i| format!("c{i}")).collect::<Vec<_>>().join(",");
    vec![
        text("nothing but white space", "  \n\t\n", &[]),
        text("nothing but a byte order mark", "\u{feff}", &[]),
        text("a header line and blank lines", "a;b\n\n\n", &[]),
        text("too many cells, semicolons", "a;b\n1;2\n3;4;5\n6;7\n8;9\n", &[]),
        text("an open quotation mark, semicolons", "a;b\n1;\"x\n2;y\n", &[]),
        text("a quotation mark opened in the header", "a,\"b\n1,2\n", &[]),
        text("texts called numbers", "x,y\nred,2\nblue,3\n", &["--numeric", "x"]),
        text("times called numbers", "t,y\n2024-01-31,2\n2024-02-01,3\n", &["--numeric", "t"]),
        text("a category that is not there", "x,y\n1,2\n3,4\n", &["--categorical", "z"]),
        text("a number column that is not there", "x,y\n1,2\n3,4\n", &["--numeric", "z"]),
        text("an ignored column that is not there", "x,y\n1,2\n3,4\n", &["--ignore", "X"]),
        text("a label that is not there", "x,y\n1,2\n3,4\n", &["--label", "class"]),
        text("every column ignored", "x,y\n1,2\n3,4\n", &["--ignore", "x", "--ignore", "y"]),
        text("no value anywhere", "x,y\n,\nNA,?\n", &[]),
        text("the same text everywhere", "x,y\na,1\na,1\na,1\n", &[]),
        text("one row", "x,y\na,1\n", &[]),
        text("one row of JSON", "{\"a\":1}\n", &[]),
        text(
            "row numbers alone",
            &format!("n\n{}", (0..50).map(|i| format!("{i}\n")).collect::<String>()),
            &[],
        ),
        text("names alone", &format!("n\n{}", (0..50).map(|i| format!("p{i}\n")).collect::<String>()), &[]),
        text("one moment alone", "t\n2024-01-31 12:00\n2024-01-31 12:00\n", &[]),
        text("too many columns", &format!("{}\n", wide(70_000)), &[]),
        text("JSON that is cut off", "{\"a\":1}\n{\"a\":\n", &[]),
        text("JSON that is none", "{\"a\":1}\n{a:1}\n", &[]),
        text("JSON with lists and objects as rows", "[[1,2],\n{\"a\":3}]\n", &[]),
        text("JSON with a number for a row", "{\"a\":1}\n7\n", &[]),
        ("Latin-1 in JSON", b"{\"a\":\"caf\xe9\"}\n".to_vec(), &[]),
        ("an archive", b"PK\x03\x04rest".to_vec(), &[]),
        ("xz", b"\xfd7zXZ\0\0".to_vec(), &[]),
        ("a database", b"SQLite format 3\0".to_vec(), &[]),
        ("an Arrow file that is cut off", b"ARROW1\0\0".to_vec(), &[]),
        ("an Arrow file of nothing", b"ARROW1\0\0\xff\xff\xff\xff\0\0\0\0".to_vec(), &[]),
        (
            "an Arrow stream that makes no sense",
            b"\xff\xff\xff\xff\x08\0\0\0\xff\xff\xff\xffrest".to_vec(),
            &[],
        ),
        ("Feather of the first version", b"FEA1rest".to_vec(), &[]),
        ("a model", b"DIAD\r\n\x1a\n\x01\0\0\0".to_vec(), &[]),
        ("gzip three times", packed(&packed(&packed(b"a,b\n1,2\n"))), &[]),
        ("a million columns", format!("{}\n", wide(1_000_000)).into_bytes(), &[]),
        ("a field of 100 MB", field(100 << 20), &[]),
        ("a field of 100 MB that is ignored", field(100 << 20), &["--ignore", "note"]),
        text("decimal points and commas", "x;y\n2.5;a\n1,5;b\n", &["--numeric", "x"]),
        text("a word among decimal commas", "x;y\n1,5;a\nabc;b\n", &["--numeric", "x"]),
        text("a value beyond a time", "t,y\n2024-01-31,2\n2024-02-30,3\n", &["--numeric", "t"]),
        text("a name that differs in case", "Age,y\n1,2\n3,4\n", &["--numeric", "age"]),
        ("Parquet that is cut off", b"PAR1rest".to_vec(), &[]),
    ]
}

/// Tables that people write, and that are read.
fn understood() -> Vec<Case> {
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let rows = |row: &str, count: usize| row.repeat(count);
    vec![
        text("numbers as header, semicolons", "1.5;2;3\n4;5;6\n", &[]),
        text("too few cells, tabs", "a\tb\tc\n1\t2\t3\n4\t5\n6\t7\t8\n", &[]),
        text("too many cells in one row", &format!("a,b\n{}5,6,7\n", rows("1,2\n3,4\n", 15)), &[]),
        text("a name twice, vertical bars", "a|b|a\n1|2|3\n4|5|6\n", &[]),
        text("a column without a name, tabs", "a\t\n1\t2\n3\t4\n", &[]),
        text("names of rows that have no name", &format!("a,b\n{}", rows("1,2,3\n2,5,8\n", 4)), &[]),
        text("a title", &format!("Sales of May\n\na,b,c\n{}", rows("1,2,3\n2,5,8\n", 4)), &[]),
        text("Excel's line", "sep=;\na;b\n1,5;2\n3,25;4\n", &[]),
        text("a word among numbers", &numbers_and("abc"), &[]),
        text("a number with a unit", &numbers_and("12 kg"), &[]),
        text("a decimal comma among numbers", &numbers_and("3,5"), &[]),
        text("a date among numbers", &numbers_and("2024-01-31"), &[]),
        text("numbers, texts and dates in one column", &mixed(), &[]),
        text("a column of numbers with two words", &numbers_and("abc;1\ndef"), &["--numeric", "x"]),
        text("zip codes", "zip,y\n01234,2\n90210,3\n01234,4\n", &[]),
        text("dates that can be read in two ways", "d,y\n02/03/2024,2\n05/04/2024,3\n01/02/2024,1\n", &[]),
        text("and are said to have the day first", "d,y\n02/03/2024,2\n05/04/2024,3\n", &["--dates", "dmy"]),
        text("thousands or fractions", "n,y\n\"1,234\",2\n\"5,678\",3\n", &[]),
        text("infinite numbers", "x,y\n1,2\ninf,3\n-1e400,2\n2,1\n", &[]),
        text("white space between cells", "  x   y  name\n1  2.5  \"a b\"\n10 -3 c\n 7 8   d\n", &[]),
        text("JSON that is a list", "[{\"a\":1,\"b\":2},\n {\"a\":2,\"b\":5}]\n", &[]),
        text(
            "JSON with lists and objects",
            "{\"a\":{\"b\":1,\"c\":7},\"l\":[]}\n{\"a\":{\"b\":2},\"l\":[1]}\n",
            &[],
        ),
        text("JSON with a late key", &format!("{}{{\"b\":2}}\n", "{\"a\":1}\n{\"a\":2}\n".repeat(500)), &[]),
        ("UTF-16", [b"\xff\xfe".to_vec(), utf16("a,b\nø,2\nå,3\n")].concat(), &[]),
        ("Latin-1 in a cell", b"a,b\ncaf\xe9,1\ntea,2\n".to_vec(), &[]),
        ("Latin-1 in a name", b"na\xefve,b\n1,2\n3,4\n".to_vec(), &[]),
    ]
}

#[test]
fn what_people_write_is_read_with_a_note() {
    let mut told = String::new();
    for (name, content, args) in understood() {
        let folder = Folder::new();
        folder.write("t", content);
        let Answer { code, stderr, .. } = folder.fit(&[&["t", "-o", "m.diad"], args].concat());
        assert_eq!(code, Some(0), "{name}: {stderr}");
        let scored = folder.diad(&["score", "m.diad", "t", "-o", "s.csv"]);
        assert_eq!(scored.code, Some(0), "{name}: {}", scored.stderr);
        let _ = writeln!(told, "{name}");
        stderr.lines().for_each(|line| told.push_str(&format!("  {line}\n")));
    }
    insta::assert_snapshot!(told);
}

/// Tables as a bank, an expense sheet and a German program write them: made-up data.
#[test]
fn exports_are_read_without_options() {
    for name in ["bank", "expenses", "rechnungen"] {
        let file = format!("{}/../../fixtures/tables/{name}.csv", env!("CARGO_MANIFEST_DIR"));
        let folder = Folder::new();
        folder.write("t.csv", std::fs::read(file).expect("a fixture"));
        insta::assert_snapshot!(name, folder.diad(&["inspect", "t.csv"]).succeeds());
        assert_eq!(folder.fit(&["t.csv", "-o", "m.diad"]).code, Some(0), "{name}");
        let scores = folder.diad(&["score", "m.diad", "t.csv", "-o", "-"]);
        assert_eq!((scores.code, scores.stdout.lines().count()), (Some(0), 121), "{name}: {}", scores.stderr);
    }
}

#[test]
fn every_bad_table_has_its_sentence() {
    let mut told = String::new();
    for (name, content, args) in cases() {
        let folder = Folder::new();
        folder.write("t", content);
        let sentence = folder.fit(&[&["t", "-o", "m.diad"], args].concat()).fails();
        assert_eq!(folder.files(), ["t"], "{name}");
        let _ = write!(told, "{name}\n  {sentence}");
    }
    insta::assert_snapshot!(told);
}

/// Gzip, bzip2 and zstd that are damaged: the words are those of the decoders, so only the rest is compared.
#[test]
fn damaged_compression_is_an_error() {
    for content in [&b"\x1f\x8b\x08\x00rest"[..], b"BZh91AY&SYrest", b"\x28\xb5\x2f\xfdrest"] {
        let folder = Folder::new();
        folder.write("t.csv", content);
        let sentence = folder.fit(&["t.csv", "-o", "m.diad"]).fails();
        assert!(sentence.starts_with("diad: cannot read t.csv: "), "{sentence}");
    }
}

/// Tables that look odd but are read.
#[test]
fn odd_tables_are_read() {
    let (mut rows, mut json) = (String::from("colour;n;when\n"), String::new());
    for i in 0..40 {
        let colour = ["red", "green", "", "blue"][i % 4];
        let n = if i % 9 == 0 { "NA".to_owned() } else { (i * i % 23).to_string() };
        let _ = writeln!(rows, "{colour};{n};2024-0{}-1{} 0{}:30", i % 3 + 1, i % 7, i % 10);
        let n = if i % 9 == 0 { "null".to_owned() } else { n };
        let _ = writeln!(
            json,
            "{{\"colour\":\"{colour}\",\"n\":{n},\"when\":\"2024-0{}-1{} 0{}:30\"}}",
            i % 3 + 1,
            i % 7,
            i % 10
        );
    }
    let folder = Folder::new();
    let fit = |name: &str, content: &str| {
        folder.write(name, content);
        folder.fit(&[name, "-o", "m.diad"]).succeeds();
        folder.diad(&["score", "m.diad", name, "-o", "-"]).succeeds()
    };
    let plain = fit("t.csv", &rows);
    assert_eq!(plain.lines().count(), 41);
    assert_eq!(fit("t.csv", &rows.replace(';', "\t").replace('\n', "\r\n")), plain);
    assert_eq!(fit("t.csv", &format!("\u{feff}{}", rows.replace(';', "|"))), plain);
    assert_eq!(fit("t.jsonl", &json), plain);
    // Reordered and further columns, new categories and standard input.
    let turned: String =
        rows.lines().map(|line| line.split(';').rev().collect::<Vec<_>>().join(",") + ",more\n").collect();
    folder.write("turned.csv", turned);
    let answer = folder.diad(&["score", "m.diad", "turned.csv", "-o", "-"]);
    assert_eq!(answer.stderr, "diad: note: column \"more\" is not in the model and is not used\n");
    assert_eq!((answer.code, answer.stdout), (Some(0), plain.clone()));
    folder.write("new.csv", "colour,n,when\nviolet,3,2024-01-10 00:30\n");
    assert_eq!(folder.diad(&["score", "m.diad", "new.csv", "-o", "-"]).succeeds().lines().count(), 2);
    let mut child = folder
        .command(&["score", "m.diad", "-", "-o", "-"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("diad starts");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), rows.as_bytes()).expect("written");
    assert_eq!(String::from_utf8(child.wait_with_output().expect("an end").stdout).expect("text"), plain);
}

#[test]
fn likely_identifiers_are_left_out_with_a_note() {
    let folder = Folder::new();
    let rows: String = (0..50).map(|i| format!("{},{},{}\n", i + 1, i % 7, ["a", "b", "c"][i % 3])).collect();
    folder.write("t.csv", format!("customer,x,kind\n{rows}"));
    let Answer { code, stderr, .. } = folder.fit(&["t.csv", "-o", "m.diad"]);
    assert_eq!(code, Some(0));
    insta::assert_snapshot!(stderr, @r#"diad: note: column "customer" is left out, because it seems to identify rows; keep it with --numeric or --categorical"#);
    let info = folder.diad(&["info", "m.diad"]).succeeds();
    assert!(info.ends_with("\nColumns\n  x     0 to 6\n  kind  3 categories: a, b, c\n\nLeft out\n  customer: it seems to identify rows\n"), "{info}");
    folder.fit(&["t.csv", "-o", "m.diad", "--numeric", "customer"]).succeeds();
    insta::assert_snapshot!(folder.diad(&["inspect", "t.csv"]).succeeds(), @r"
    t.csv: 50 rows and 3 columns

      customer  numbers, 1 to 50; left out, because it seems to identify rows
                  to keep it: --numeric customer or --categorical customer
      x         numbers, 0 to 6
      kind      3 categories: a, b, c
    ");
}
