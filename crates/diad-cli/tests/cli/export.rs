//! Models for other programs.

use serde_json::Value;

use super::common::{Folder, TINY};

const DIALECTS: [&str; 7] = ["duckdb", "postgres", "sqlite", "spark", "snowflake", "bigquery", "tsql"];

/// A model of numbers, categories and times, with names and values that would end a text of SQL.
fn with_model() -> Folder {
    let folder = Folder::new();
    let jobs = ["it's", "a\\", "plain", "x'; DROP TABLE data;--"];
    let row = |i: usize| {
        let (day, job) = (1 + i % 28, jobs[i * i % 4]);
        format!("{},{},{job},2024-05-{day:02} 08:{:02}:00\n", i % 13, i * 7 % 31, i % 60)
    };
    let rows: String = (0..120).map(row).collect();
    folder.write("table.csv", format!("x,\"a\"\"b'`]\",job,when\n{rows}"));
    // Of the tiny settings, the layers alone are 2.
    let one_layer = TINY.map(|word| if word == "2" { "1" } else { word });
    let fit = ["fit", "table.csv", "-o", "model.diad"];
    folder.diad(&[&fit[..], &one_layer].concat()).succeeds();
    folder
}

/// Parentheses, and the texts they stand outside of, close in every dialect.
#[test]
fn every_dialect_gets_a_statement() {
    let folder = with_model();
    for dialect in DIALECTS {
        let to =
            ["export", "model.diad", "--to", "sql", "--dialect", dialect, "--reasons", "-o", "score.sql"];
        folder.diad(&to).succeeds();
        let text = folder.read_text("score.sql");
        let code: String = text.lines().filter(|line| !line.starts_with("--")).collect();
        let escapes = matches!(dialect, "spark" | "snowflake" | "bigquery");
        let close = |c| match (dialect, c) {
            ("spark" | "bigquery", '`') => Some('`'),
            ("tsql", '[') => Some(']'),
            ("spark" | "bigquery" | "tsql", '"') => None,
            (_, '"') => Some('"'),
            (_, '\'') => Some('\''),
            _ => None,
        };
        let (mut depth, mut end, mut cells) = (0i32, None, code.chars());
        while let Some(c) = cells.next() {
            match end {
                Some(_) if c == '\\' && (escapes && end == Some('\'') || dialect == "bigquery") => {
                    cells.next();
                }
                Some(quote) if c == quote => end = None,
                Some(_) => {}
                None => {
                    end = close(c);
                    depth += i32::from(c == '(') - i32::from(c == ')');
                    assert!(depth >= 0, "{dialect}");
                }
            }
        }
        assert_eq!((depth, end), (0, None), "{dialect}");
        assert!(!code.replace("x''; DROP", "").replace("x\\'; DROP", "").contains("DROP"), "{dialect}");
    }
}

#[test]
fn forms_are_written_and_what_cannot_be_is_refused() {
    let folder = with_model();
    folder.diad(&["export", "model.diad", "--to", "json", "--check", "table.csv", "-o", "m.json"]).succeeds();
    let plan: Value = serde_json::from_str(&folder.read_text("m.json")).unwrap();
    assert_eq!(
        (&plan["diad_export"], plan["check"]["rows"].as_array().unwrap().len()),
        (&Value::from(1), 120)
    );
    folder.diad(&["export", "model.diad", "--to", "onnx", "--explain", "-o", "m.onnx"]).succeeds();
    assert!(folder.read("m.onnx").len() > 1000);

    let refused = |args: &[&str]| folder.diad(&[&["export"], args].concat());
    let answer = refused(&["model.diad", "--to", "sql", "--dialect", "oracle", "-o", "x.sql"]);
    assert!(
        answer.code == Some(2) && answer.stderr.contains("the dialects are duckdb, "),
        "{}",
        answer.stderr
    );
    let answer = refused(&["model.diad", "--to", "sql", "-o", "x.sql"]);
    assert!(answer.code == Some(2) && answer.stderr.contains("--dialect"), "{}", answer.stderr);
    folder.fit(&["table.csv", "-o", "deep.diad"]).succeeds();
    let sentence = refused(&["deep.diad", "--to", "onnx", "-o", "x.onnx"]).fails();
    assert!(sentence.contains("--layers 1"), "{sentence}");
    assert!(folder.files().iter().all(|name| !name.starts_with("x.")));
}
