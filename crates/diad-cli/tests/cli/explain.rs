//! `diad explain` and `diad report`, from end to end.

use insta::assert_snapshot;
use serde_json::Value;

use crate::common::Folder;

fn json(folder: &Folder, args: &[&str]) -> Value {
    let args = [&["explain", "model.diad", "table.csv", "--format", "json"], args].concat();
    serde_json::from_str(&folder.diad(&args).succeeds()).expect("JSON")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn explanations_add_up_to_the_scores() {
    let folder = Folder::with_model();
    folder.diad(&["score", "model.diad", "table.csv", "-o", "s.csv"]).succeeds();
    let scores = folder.read_text("s.csv");
    let scores: Vec<f64> =
        scores.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect();
    let found = json(&folder, &["--top", "100", "--terms", "1"]);
    assert_eq!(found["schema"], "diad-explanations");
    assert_eq!(found["version"], 2);
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 100);
    for row in rows {
        let score = scores[row["row"].as_u64().unwrap() as usize];
        let terms: f64 =
            row["terms"].as_array().unwrap().iter().map(|term| number(&term["contribution"])).sum();
        let sum = number(&found["intercept"]) + terms + number(&row["rest"]);
        assert!(
            (number(&row["score"]) - score).abs() < 1e-6 && (sum - score).abs() < 1e-6 * score.abs().max(1.0)
        );
        assert!((0.0..=100.0).contains(&number(&row["percentile"])));
    }
    let top: Vec<f64> = rows.iter().map(|row| number(&row["score"])).collect();
    assert!(top.windows(2).all(|pair| pair[0] >= pair[1]));
}

#[test]
fn rows_are_explained_in_words() {
    let folder = Folder::with_model();
    let text =
        folder.diad(&["explain", "model.diad", "table.csv", "--rows", "7,3", "--terms", "2"]).succeeds();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("Row 7: score ") && lines[0].ends_with("of ordinary rows"), "{text}");
    assert!(lines.iter().any(|line| line.starts_with("Row 3: score ")), "{text}");
    assert!(lines[1].contains(" rows") && (lines[1].contains("x = ") || lines[1].contains("y = ")), "{text}");
    assert!(
        lines[3].ends_with(" 1 other term") && lines[4].ends_with("every row starts from this"),
        "{text}"
    );
    let threshold = ["--threshold=-5"];
    let args = ["explain", "model.diad", "table.csv", "--rows", "7"];
    let text = folder.diad(&[&args[..], &threshold].concat()).succeeds();
    assert!(text.contains("No change of one or two columns brings it below -5.0000."), "{text}");
}

/// What the text and the JSON say of a change holds when the changed row is scored.
#[test]
fn changes_that_are_proposed_hold() {
    let folder = Folder::with_model();
    let found = json(&folder, &["--top", "5"]);
    let threshold = number(&found["threshold"]);
    let mut checked = 0;
    for row in found["rows"].as_array().unwrap() {
        let line = folder
            .read_text("table.csv")
            .lines()
            .nth(row["row"].as_u64().unwrap() as usize + 1)
            .unwrap()
            .to_owned();
        let cells: Vec<&str> = line.split(',').collect();
        for counterfactual in row["counterfactuals"].as_array().unwrap() {
            let (mut x, mut y) = (cells[1].to_owned(), cells[2].to_owned());
            for change in counterfactual["changes"].as_array().unwrap() {
                let to = number(&change["to"]).to_string();
                if change["column"] == "x" { x = to } else { y = to }
            }
            folder.write("changed.csv", format!("x,y\n{x},{y}\n"));
            let again = folder.diad(&["score", "model.diad", "changed.csv", "-o", "-"]).succeeds();
            let again: f64 = again.lines().nth(1).unwrap().split(',').nth(1).unwrap().parse().unwrap();
            assert!((again - number(&counterfactual["score"])).abs() < 1e-6 && again < threshold);
            checked += 1;
        }
    }
    assert!(checked > 0, "{found}");
}

#[test]
fn rows_out_of_range_are_said_to_be() {
    let folder = Folder::with_model();
    folder.write("far.csv", "x,y\n1e300,-50\n");
    let text = folder.diad(&["explain", "model.diad", "far.csv", "--top", "1"]).succeeds();
    assert!(text.contains("x = 1e300, outside everything seen: "), "{text}");
    assert!(text.contains("y = -50, outside everything seen: "), "{text}");
    let json = folder.diad(&["explain", "model.diad", "far.csv", "--format", "json"]).succeeds();
    let json: Value = serde_json::from_str(&json).unwrap();
    let first = json["rows"][0]["terms"][0]["text"].as_str().unwrap();
    assert!(text.contains(first), "{first}");
    let columns: Vec<&Value> = json["rows"][0]["terms"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|term| term["columns"].as_array().unwrap())
        .collect();
    assert!(
        columns.iter().any(|c| c["outside"] == "above") && columns.iter().any(|c| c["outside"] == "below")
    );
    folder.diad(&["report", "model.diad", "far.csv", "-o", "far.html"]).succeeds();
    assert!(folder.read_text("far.html").contains("outside everything seen: "));
}

#[test]
fn tables_and_models_that_do_not_fit() {
    let folder = Folder::with_model();
    folder.write("other.csv", "y,z\n1,2\n");
    folder.write("empty.csv", "x,y\n");
    folder.write("gap.csv", "x,y\n1,\n");
    folder.fit(&["table.csv", "-o", "unrelated.diad", "--ignore", "name"]).succeeds();
    let files = folder.files();
    let explain = |table| folder.diad(&["explain", "model.diad", table, "--strict"]).fails();
    let report = |table| folder.diad(&["report", "model.diad", table, "-o", "r.html", "--strict"]).fails();
    assert_snapshot!(explain("other.csv"), @r#"diad: the table lacks column "x" of the model; if you meant its column "z", rename it; otherwise give a table with all columns the model was trained on"#);
    assert_snapshot!(explain("empty.csv"), @"diad: empty.csv has no rows, only column names; give a table with rows");
    assert_snapshot!(explain("gap.csv"), @r#"diad: column "y", line 2, row 0: the value is missing, but this column had no gaps in training; fill it in or remove the row"#);
    for table in ["other.csv", "empty.csv", "gap.csv"] {
        assert_eq!(explain(table), report(table));
    }
    let before = ["report", "model.diad", "table.csv", "--before", "unrelated.diad", "-o", "r.html"];
    assert_snapshot!(folder.diad(&before).fails(), @r#"diad: the two models differ in column "label"; compare models that were trained on the same table"#);
    let plots = ["explain", "model.diad", "table.csv", "--plots", "p", "--before", "unrelated.diad"];
    assert_eq!(folder.diad(&plots).fails(), folder.diad(&before).fails());
    let rows = ["explain", "model.diad", "table.csv", "--rows", "3,100"];
    assert_snapshot!(folder.diad(&rows).fails(), @"diad: there is no row 100; the table has 100 rows, numbered from 0");
    let threshold = ["explain", "model.diad", "table.csv", "--threshold", "nan"];
    assert_snapshot!(folder.diad(&threshold).fails(), @"diad: the threshold must be a number");
    let plots = ["explain", "model.diad", "table.csv", "--plots", "table.csv"];
    assert_snapshot!(folder.diad(&plots).fails(), @"diad: cannot write plots to table.csv: it is a file; name a folder");
    let label = ["report", "model.diad", "table.csv", "--label", "x", "-o", "r.html"];
    assert_snapshot!(folder.diad(&label).fails(), @r#"diad: the model was trained with column "x" as a feature; train it again with --label x"#);
    let input = ["report", "model.diad", "table.csv", "-o", "table.csv"];
    assert_snapshot!(folder.diad(&input).fails(), @"diad: table.csv is both input and output; choose another output");
    assert_eq!(folder.files(), files, "nothing half-written is left");
}

#[test]
fn a_report_is_one_file_that_needs_nothing() {
    let folder = Folder::with_model();
    let said =
        folder.diad(&["report", "model.diad", "table.csv", "--label", "label", "-o", "r.html"]).succeeds();
    assert_snapshot!(said, @"Wrote the report to r.html.");
    let html = folder.read_text("r.html");
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("default-src 'none'"));
    assert!(!html.contains("{{"), "a place was not filled in");
    for outside in ["src=", "<link", "@import", "url("] {
        let page = &html[..html.find("<script>").unwrap()];
        assert!(!page.contains(outside), "{outside}");
    }
    assert_eq!(folder.files(), ["model.diad", "r.html", "table.csv"]);
}

#[test]
fn plots_show_an_earlier_model() {
    let folder = Folder::with_model();
    folder
        .fit(&["table.csv", "-o", "later.diad", "--ignore", "name", "--label", "label", "--seed", "1"])
        .succeeds();
    let plots = ["explain", "later.diad", "table.csv", "--top", "1", "--plots", "plots"];
    let lines = || {
        let entries = std::fs::read_dir(folder.path("plots")).unwrap().map(|entry| entry.unwrap().path());
        let texts = entries.filter(|path| path.extension().is_some_and(|extension| extension == "svg"));
        let texts: Vec<String> = texts.map(|path| std::fs::read_to_string(path).unwrap()).collect();
        let with = |what: &str| texts.iter().filter(|svg| svg.contains(what)).count();
        (with("<polyline"), with("stroke-dasharray"), with("grey: before"))
    };
    folder.diad(&plots).succeeds();
    let (terms, ..) = lines();
    assert_eq!(lines(), (terms, 0, 0));
    std::fs::remove_dir_all(folder.path("plots")).unwrap();
    folder.diad(&[&plots[..], &["--before", "model.diad"]].concat()).succeeds();
    assert_eq!(lines(), (terms, terms, terms));
    assert!(terms >= 2, "{terms}");
}

/// Names from the data are text in the report, in SVG and on the terminal.
#[test]
fn names_with_scripts_are_text() {
    let folder = Folder::new();
    let rows: String = (0..40).map(|i| format!("{},{}\n", i % 7, i * i % 11)).collect();
    folder.write("t.csv", format!("</script><script>alert(1)</script>,\"a\u{1b}[31m<b>&\"\n{rows}"));
    folder.fit(&["t.csv", "-o", "m.diad"]).succeeds();
    let text = folder.diad(&["explain", "m.diad", "t.csv", "--plots", "plots"]).succeeds();
    assert!(!text.contains('\u{1b}') && text.contains("</script>"), "{text}");
    folder.diad(&["report", "m.diad", "t.csv", "-o", "r.html"]).succeeds();
    let html = folder.read_text("r.html");
    assert_eq!(html.matches("</script>").count(), 3, "a name ends a script");
    assert!(!html.contains("<script>alert"));
    let (mut texts, mut pictures) = (0, 0);
    for entry in std::fs::read_dir(folder.path("plots")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        if path.extension().is_some_and(|extension| extension == "png") {
            assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 3000, "{}", path.display());
            pictures += 1;
        } else {
            let svg = String::from_utf8(bytes).unwrap();
            assert!(!svg.contains("<script") && !svg.contains("<b>") && !svg.contains('\u{1b}'), "{svg}");
            assert!(svg.contains("&lt;/script&gt;") || svg.contains("&lt;b&gt;&amp;"), "{svg}");
            texts += 1;
        }
    }
    assert!(texts >= 2, "{texts} plots");
    assert_eq!(pictures, if cfg!(feature = "png") { texts } else { 0 });
}

/// 60 columns and 1000 listed rows, with the ordinary ones they are compared with, stay small enough for an e-mail.
#[test]
fn a_large_report_stays_small() {
    let folder = Folder::new();
    let names: Vec<String> = (0..60).map(|c| format!("column {c}")).collect();
    let mut table = names.join(",");
    let mut state = 1u64;
    for _ in 0..1200 {
        let cells: Vec<String> = (0..60)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let u = (state >> 33) as f64 / f64::from(1u32 << 31);
                format!("{:.5}", u * u)
            })
            .collect();
        table.push('\n');
        table.push_str(&cells.join(","));
    }
    folder.write("wide.csv", table);
    folder.diad(&["fit", "wide.csv", "-o", "wide.diad", "--steps", "20"]).succeeds();
    folder.diad(&["report", "wide.diad", "wide.csv", "--before", "wide.diad", "-o", "wide.html"]).succeeds();
    let [model, report] = ["wide.diad", "wide.html"].map(|name| folder.read(name).len());
    assert!(report <= 3_100_000, "{report} bytes");
    assert!(model <= 2_000_000, "{model} bytes");
}
