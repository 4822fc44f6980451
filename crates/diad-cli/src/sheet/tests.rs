use std::fs::File;

use diad::table::{FileSource, Notation, Selection, Source, Values};

use super::*;

const ROWS: usize = 9000;

/// All four formats hold the same rows, in order, whatever stands in the texts.
#[test]
fn every_format_is_read_back_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let numbers: Vec<u64> = (0..ROWS as u64).collect();
    let scores: Vec<f32> = numbers.iter().map(|&n| n as f32 / 3.0).collect();
    let (values, texts) = ([0.5, 1e-7], ["0.5".to_owned(), "0.0000001".to_owned()]);
    let codes: Vec<u32> = numbers.iter().map(|&n| u32::from(n % 3 == 0)).collect();
    let truths: Vec<bool> = codes.iter().map(|&code| code == 1).collect();
    let odd = ["plain", "a,b", "say \"yes\"", "two\nlines", "=1+1", "<b>&", "007"];
    let names: Vec<Option<String>> =
        (0..ROWS).map(|row| (row % 8 != 7).then(|| odd[row % 8].to_owned())).collect();
    let amounts: Vec<Option<String>> =
        (0..ROWS).map(|row| (row % 5 != 4).then(|| (row as f64 / 4.0).to_string())).collect();
    for ending in ["csv", "jsonl", "parquet", "xlsx"] {
        let path = folder.path().join(format!("t.{ending}"));
        let mut writer = Format::of(&path).unwrap().writer(File::create(&path).unwrap()).unwrap();
        for start in (0..ROWS).step_by(1000) {
            let part = start..ROWS.min(start + 1000);
            let columns = [
                Column { name: "row", cells: Cells::Whole(&numbers[part.clone()]) },
                Column { name: "score", cells: Cells::Scores(&scores[part.clone()]) },
                Column { name: "p", cells: Cells::Coded(&values, &texts, &codes[part.clone()]) },
                Column { name: "word", cells: Cells::Words(&["no", "yes"], &codes[part.clone()]) },
                Column { name: "alert", cells: Cells::Truths(&truths[part.clone()]) },
                Column { name: "a, name", cells: Cells::Texts(&names[part.clone()]) },
                Column { name: "amount", cells: Cells::Numerals(&amounts[part], &Notation::default()) },
            ];
            writer.add(&columns).unwrap();
        }
        writer.finish().unwrap();
        let source = FileSource::new(path);
        let mut reader = source.open(&Selection::all()).unwrap();
        assert_eq!(reader.names(), ["row", "score", "p", "word", "alert", "a, name", "amount"], "{ending}");
        let mut rows = 0;
        while let Some(batch) = reader.next_batch().unwrap() {
            for row in 0..batch.rows() {
                let at = rows + row;
                assert_eq!(batch.column(0)[row], at as f64, "{ending}");
                assert_eq!(batch.column(1)[row] as f32, scores[at], "{ending}");
                assert_eq!(batch.column(2)[row], values[codes[at] as usize], "{ending}");
                assert_eq!(batch.values(3).text(row), Some(["no", "yes"][codes[at] as usize]), "{ending}");
                let Values::Texts(found) = batch.values(5) else { panic!("{ending}: texts") };
                assert_eq!(found.get(row), names[at].as_deref(), "{ending} {at}");
                let amount = batch.column(6)[row];
                let expected = (at % 5 != 4).then_some(at as f64 / 4.0);
                assert_eq!((!amount.is_nan()).then_some(amount), expected, "{ending} {at}");
            }
            rows += batch.rows();
        }
        assert_eq!(rows, ROWS, "{ending}");
    }
}

#[test]
fn other_endings_are_refused() {
    let error = Format::of(Path::new("scores.txt")).unwrap_err().to_string();
    assert_eq!(error, "cannot write scores.txt: its name must end in .csv, .jsonl, .parquet or .xlsx");
}
