//! One meaning in every format: the same rows give the same model and the same scores, bit for bit.

use std::path::{Path, PathBuf};

use diad::table::{FileSource, Source};
use diad::{Detector, Params};

/// The same rows in every format; `fixtures/make_same.py` writes them.
const FILES: [&str; 9] = [
    "same.csv",
    "same.csv.bz2",
    "same-utf16.csv",
    "same.jsonl",
    "same.xlsx",
    "same-gzip.parquet",
    "same-lz4.parquet",
    "same.feather",
    "same.arrows",
];

/// More formats, made of the files: cells between tabs and vertical bars, and a list of JSON objects.
fn made(folder: &Path) -> Vec<PathBuf> {
    let text = |name: &str| std::fs::read_to_string(path(name)).expect("a fixture");
    let separated = |mark: char| {
        let mut quoted = false;
        let cell = |c: char| {
            quoted ^= c == '"';
            if c == ',' && !quoted { mark } else { c }
        };
        text("same.csv").chars().map(cell).collect::<String>()
    };
    let list = format!("[{}]", text("same.jsonl").trim_end().replace('\n', ",\n"));
    let files = [("same.tsv", separated('\t')), ("same.txt", separated('|')), ("same.json", list)];
    let write = |(name, text): (&str, String)| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a file");
        path
    };
    files.into_iter().map(write).collect()
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/tables").join(name)
}

fn source(name: &str) -> FileSource {
    FileSource::new(path(name))
}

fn fit(name: &str) -> Detector {
    Params::default()
        .with_steps(10)
        .trees(4)
        .fit(&source(name))
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn bits(detector: &Detector, name: &str) -> Vec<u32> {
    let source = source(name);
    let mut reader =
        source.open(&detector.encoder().selection()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut bits = Vec::new();
    while let Some(batch) = reader.next_batch().unwrap_or_else(|error| panic!("{name}: {error}")) {
        let scores = detector.score(&batch).unwrap_or_else(|error| panic!("{name}: {error}"));
        bits.extend(scores.iter().map(|score| score.to_bits()));
    }
    bits
}

#[test]
fn the_same_rows_give_the_same_scores_in_every_format() {
    let first = fit(FILES[0]);
    let names: Vec<&str> = first.encoder().columns().iter().map(|column| column.name.as_str()).collect();
    for part in [
        "n",
        "card",
        "flag",
        "word",
        "hour of t",
        "hour of z",
        "month of day",
        "clock",
        "price",
        "amount",
        "zip",
    ] {
        assert!(names.contains(&part), "{part} is not among {names:?}");
    }
    let expected = bits(&first, FILES[0]);
    let folder = tempfile::tempdir().expect("a folder");
    let more = made(folder.path());
    let more = more.iter().map(|path| path.to_str().expect("a plain name"));
    for name in FILES.into_iter().chain(more) {
        assert!(bits(&first, name) == expected, "{name} scores otherwise with the model of {}", FILES[0]);
        let own = fit(name);
        for (a, b) in own.encoder().columns().iter().zip(first.encoder().columns()) {
            assert_eq!(
                (&a.name, a.min.to_bits(), a.max.to_bits(), &a.gaps),
                (&b.name, b.min.to_bits(), b.max.to_bits(), &b.gaps),
                "{name}"
            );
        }
        assert!(bits(&own, name) == expected, "{name} gives another model");
    }
}
