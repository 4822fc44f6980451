//! Alerts: who, how sure, how many, what changed.

use std::fmt::Write;

use insta::assert_snapshot;

use crate::common::Folder;

/// Payments: 600 ordinary ones, six of a huge amount and four of a memo that nobody else has.
fn payments(rows: usize, factor: f64) -> String {
    let mut text = String::from("number,booked,amount,memo,note\n");
    for i in 0..rows {
        let huge = rows == 600 && i % 100 == 50;
        let amount = if huge { 9000.0 + i as f64 } else { (40 + (i * 37) % 60) as f64 * factor };
        let memo = if rows == 600 && i % 150 == 11 { "gift" } else { ["rent", "food", "fuel"][(i * 7) % 3] };
        let (day, hour) = (1 + i / 24 % 25, i % 24);
        let note = if i == 50 { "\"a, b\"" } else { "" };
        writeln!(text, "P{i:04},2024-03-{day:02} {hour:02}:00,{amount},{memo},{note}")
            .expect("a string grows");
    }
    text
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", payments(600, 1.0));
    let ignored = ["--ignore", "number", "--ignore", "note", "--ignore", "booked"];
    folder.fit(&[&["t.csv", "-o", "m.diad"], &ignored[..]].concat()).succeeds();
    folder
}

fn lines(folder: &Folder, name: &str) -> Vec<Vec<String>> {
    let text = folder.read_text(name);
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn alerts_have_identifiers_reasons_and_kept_columns() {
    let folder = folder();
    let score = ["score", "m.diad", "t.csv", "--id", "number", "--keep", "amount,memo", "--top", "6"];
    let said = folder
        .diad(&[&score[..], &["--reasons", "2", "--alert", "top=6", "-o", "a.csv"]].concat())
        .succeeds();
    assert_eq!(said, "Wrote the highest 6 of 600 rows to a.csv. 6 rows are alerts (top=6).\n");
    let lines = lines(&folder, "a.csv");
    assert_eq!(
        lines[0].join(","),
        "number,row,score,percentile,p_value,severity,alert,reason_1,reason_2,amount,memo"
    );
    assert_eq!(lines.len(), 7);
    let scores: Vec<f32> = lines[1..].iter().map(|line| line[2].parse().unwrap()).collect();
    assert!(scores.windows(2).all(|two| two[0] >= two[1]));
    for line in &lines[1..] {
        assert_eq!(line[0], format!("P{:0>4}", line[1]), "the identifier is that of the row");
        assert_eq!(line[6], "1");
    }
    let plain = folder.diad(&["score", "m.diad", "t.csv", "-o", "-"]).succeeds();
    for line in &lines[1..] {
        let row: usize = line[1].parse().unwrap();
        assert!(plain.lines().nth(row + 1).unwrap().starts_with(&format!("{row},{},", line[2])));
    }
}

#[test]
fn every_format_has_the_same_alerts() {
    let folder = folder();
    let mut found = Vec::new();
    for name in ["a.csv", "a.jsonl", "a.parquet", "a.xlsx"] {
        folder
            .diad(&["score", "m.diad", "t.csv", "--keep", "all", "--sort", "--alert", "share=2%", "-o", name])
            .succeeds();
        // A file that was written is read as a table again.
        folder.diad(&["score", "m.diad", name, "-o", "again.csv"]);
        found.push(folder.read_text("again.csv"));
    }
    assert!(found.iter().all(|scores| *scores == found[0] && scores.lines().count() == 601));
}

#[test]
fn groups_name_what_alerts_have_in_common() {
    let folder = folder();
    let said =
        folder.diad(&["score", "m.diad", "t.csv", "--alert", "top=10", "--groups", "-o", "a.csv"]).succeeds();
    assert!(said.contains("10 alerts in ") && said.contains("high amount"), "{said}");
}

#[test]
fn a_budget_counts_by_time() {
    let folder = folder();
    let budget = ["score", "m.diad", "t.csv", "--alert", "budget=1/day", "-o", "a.csv"];
    assert_snapshot!(folder.diad(&budget).fails(), @"diad: the model has no column of times, which a budget counts by; name one of the table with --time");
    let said = folder.diad(&[&budget[..], &["--time", "booked"]].concat()).succeeds();
    // 25 days; of rows with equal scores at the border, none is an alert.
    let told = said
        .split_once("to a.csv. ")
        .and_then(|(_, rest)| rest.split_once(" rows are alerts (budget=1/day)"));
    let alerts: usize = told.expect("a count").0.parse().unwrap();
    assert!((10..=25).contains(&alerts), "{said}");
}

#[test]
fn a_rule_and_edits_are_stored_in_the_model() {
    let folder = folder();
    folder.diad(&["edit", "m.diad", "--alert", "share=5%", "--mute", "memo=gift", "-o", "e.diad"]).succeeds();
    let info = folder.diad(&["info", "e.diad"]).succeeds();
    assert!(info.contains("alerts: share=5%\n") && info.contains("edited: mute memo=gift\n"), "{info}");
    let said = folder.diad(&["score", "e.diad", "t.csv", "-o", "a.csv"]).succeeds();
    assert!(said.contains("(share=5%)"), "{said}");
    folder.diad(&["score", "m.diad", "t.csv", "-o", "b.csv"]).succeeds();
    let of = |name: &str, row: usize| lines(&folder, name)[row + 1][1].parse::<f32>().unwrap();
    assert!(of("a.csv", 11) < of("b.csv", 11) - 0.1 && (of("a.csv", 12) - of("b.csv", 12)).abs() < 1e-3);
    folder.diad(&["edit", "e.diad", "--undo", "all", "--alert", "none", "-o", "u.diad"]).succeeds();
    folder.diad(&["score", "u.diad", "t.csv", "-o", "c.csv"]).succeeds();
    assert_eq!(folder.read_text("b.csv"), folder.read_text("c.csv"));
    assert_snapshot!(folder.diad(&["edit", "m.diad", "--flat", "age", "-o", "x.diad"]).fails(), @r#"diad: cannot edit the model with "flat age": the model has no such column; it has "amount", "memo""#);
    assert_snapshot!(folder.diad(&["edit", "m.diad", "-o", "x.diad"]).fails(), @"diad: there is nothing to change; give --mute, --cap, --flat, --monotone, --undo or --alert");
}

/// The rule of a model means the same in every command, and so do percentiles and severities.
#[test]
fn a_stored_rule_is_used_alike() {
    let folder = folder();
    folder.write("labels.csv", {
        let mut text = String::from("number,label\n");
        (0..600).for_each(|i| writeln!(text, "P{i:04},{}", u8::from(i % 100 == 50)).expect("a string grows"));
        text
    });
    let rows = |name: &str| {
        let lines = lines(&folder, name);
        lines[1..].iter().filter(|line| line[6] == "1").map(|line| line[1].clone()).collect::<Vec<_>>()
    };
    for (rule, time) in [
        ("share=1%", None),
        ("p=0.02", None),
        ("top=7", None),
        ("fdr=50%", None),
        ("budget=1/day", Some("booked")),
    ] {
        folder.diad(&["edit", "m.diad", "--alert", rule, "-o", "e.diad"]).succeeds();
        let time: Vec<&str> = time.into_iter().flat_map(|time| ["--time", time]).collect();
        // A rule may say on standard error that nothing can be an alert.
        let with = |args: &[&str]| {
            let answer = folder.diad(&[args, &time[..]].concat());
            assert_eq!(answer.code, Some(0), "{}", answer.stderr);
            answer.stdout
        };
        with(&["score", "e.diad", "t.csv", "--id", "number", "-o", "s.csv"]);
        let alerts = rows("s.csv");
        let scored = lines(&folder, "s.csv");
        let told = with(&["explain", "e.diad", "t.csv", "--id", "number", "--top", "40", "--format", "json"]);
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told["rule"], rule);
        let mut found = 0;
        for row in told["rows"].as_array().unwrap() {
            let number = row["row"].as_u64().unwrap() as usize;
            let line = &scored[number + 1];
            assert_eq!(row["id"].as_str().unwrap(), line[0], "{rule}");
            assert_eq!(row["percentile"].as_f64().unwrap().to_string(), line[3], "{rule}");
            assert_eq!(row["p_value"].as_f64().unwrap().to_string(), line[4], "{rule}");
            assert_eq!(row["severity"].as_str().unwrap(), line[5], "{rule}");
            assert_eq!(row["alert"].as_bool().unwrap(), line[6] == "1", "{rule}");
            found += usize::from(line[6] == "1");
        }
        assert_eq!(found, alerts.len(), "{rule}");
        let eval =
            with(&["eval", "e.diad", "labels.csv", "--table", "t.csv", "--id", "number", "--format", "json"]);
        let eval: serde_json::Value = serde_json::from_str(&eval).unwrap();
        let highest = eval["highest"].as_array().unwrap();
        let of_rule = highest.iter().find(|of| of["of"] == format!("alerts {rule}")).expect("the rule");
        assert_eq!(of_rule["rows"].as_u64(), Some(alerts.len() as u64), "{rule}");
        with(&["report", "e.diad", "t.csv", "-o", "r.html"]);
        let html = folder.read_text("r.html");
        let data =
            html.split_once("type=\"application/json\">").and_then(|(_, rest)| rest.split_once("</script>"));
        let data: serde_json::Value = serde_json::from_str(data.expect("data").0).unwrap();
        assert_eq!(data["rule"], rule);
        let least: Vec<f64> =
            scored[1..].iter().filter(|line| line[6] == "1").map(|line| line[2].parse().unwrap()).collect();
        let threshold = data["scores"]["threshold"].as_f64().unwrap();
        let above = scored[1..].iter().filter(|line| line[2].parse::<f64>().unwrap() >= threshold).count();
        if !least.is_empty() {
            assert_eq!(above, alerts.len(), "{rule}: {threshold}");
        }
    }
}

#[test]
fn identifiers_that_were_left_out_are_offered() {
    let folder = Folder::new();
    folder.write("t.csv", payments(600, 1.0));
    let fit = folder.fit(&["t.csv", "-o", "m.diad", "--ignore", "note", "--ignore", "booked"]);
    assert!(fit.stderr.contains("column \"number\" is left out"), "{}", fit.stderr);
    let offered = |args: &[&str]| folder.diad(args).succeeds();
    for top in [&[][..], &["--top", "3"]] {
        let said = offered(&[&["score", "m.diad", "t.csv", "-o", "s.csv"], top].concat());
        assert!(said.ends_with("Column \"number\" names the rows: --id writes it first.\n"), "{said}");
    }
    let said = offered(&["report", "m.diad", "t.csv", "-o", "r.html"]);
    assert!(said.contains("Column \"number\" names the rows: --id shows it first."), "{said}");
    let said = offered(&["explain", "m.diad", "t.csv", "--top", "1"]);
    assert!(said.contains("--id names them by it"), "{said}");
    let said = offered(&["next", "m.diad", "t.csv", "-k", "2"]);
    assert!(said.contains("--id names them by it"), "{said}");
    folder.write("l.csv", "number,label\nP0050,1\nP0150,1\nP0001,0\nP0002,0\n");
    let tune = folder.diad(&["tune", "m.diad", "l.csv", "--table", "t.csv", "-o", "tuned.diad"]);
    assert!(tune.stderr.contains("labels go by column \"number\""), "{}", tune.stderr);
    folder.write("l.csv", "key,label\nP0050,1\n");
    let eval = ["eval", "m.diad", "l.csv", "--table", "t.csv"];
    assert_snapshot!(folder.diad(&eval).fails(), @"diad: say with --id which column names the rows, in the table and in the labels");
}

#[test]
fn kept_numbers_are_numbers() {
    let folder = folder();
    for name in ["k.jsonl", "k.parquet", "k.xlsx"] {
        folder.diad(&["score", "m.diad", "t.csv", "--keep", "amount,memo", "-o", name]).succeeds();
    }
    let text = folder.read_text("k.jsonl");
    let row: serde_json::Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    assert_eq!((row["amount"].as_f64(), row["memo"].as_str()), (Some(77.0), Some("food")));
    // Columns of numbers are found as such again.
    for name in ["k.parquet", "k.xlsx"] {
        let inspected = folder.diad(&["inspect", name]).succeeds();
        assert!(
            inspected.lines().any(|line| line.contains("amount") && line.contains("number")),
            "{inspected}"
        );
    }
}

#[test]
fn drift_names_what_has_changed() {
    let folder = folder();
    folder.write("same.csv", payments(500, 1.0));
    folder.write("cents.csv", payments(500, 100.0));
    let same = folder.diad(&["drift", "m.diad", "same.csv"]).succeeds();
    assert!(same.contains("Of 500 new rows"), "{same}");
    let cents = folder.diad(&["drift", "m.diad", "cents.csv", "--by", "memo"]).succeeds();
    assert!(
        cents.contains("large change") && cents.contains("100 times larger, as in another unit"),
        "{cents}"
    );
    assert!(cents.contains("\nGroups") && cents.contains("fuel"), "{cents}");
    let json = folder.diad(&["drift", "m.diad", "cents.csv", "--format", "json"]).succeeds();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let sum: f64 =
        json["terms"].as_array().unwrap().iter().map(|term| term["mean_score"].as_f64().unwrap()).sum();
    let [before, after] = [0, 1].map(|at| json["mean_score"][at].as_f64().unwrap());
    assert!((after - before - sum).abs() < 1e-9);
    folder.diad(&["drift", "m.diad", "cents.csv", "--format", "html", "-o", "d.html"]).succeeds();
    assert!(folder.read_text("d.html").starts_with("<!doctype html>"));
    let note = folder.diad(&["score", "m.diad", "cents.csv", "-o", "s.csv"]).stderr;
    assert!(note.contains("looks unlike the training"), "{note}");
}

#[test]
fn labels_go_by_identifier() {
    let folder = folder();
    folder.write(
        "l.csv",
        "number,verdict,comment\nP0050,fraud,stolen\nP0150,fraud,\nP0001,ok,\nP0002,ok,\"asked, fine\"\n",
    );
    let by = ["--table", "t.csv", "--id", "number", "--label", "verdict"];
    folder.diad(&[&["tune", "m.diad", "l.csv", "-o", "tuned.diad"], &by[..]].concat()).succeeds();
    let eval = folder.diad(&[&["eval", "m.diad", "l.csv", "--format", "json"], &by[..]].concat());
    assert!(eval.stderr.contains("596 rows without a label are left out"), "{}", eval.stderr);
    let json: serde_json::Value = serde_json::from_str(&eval.stdout).unwrap();
    assert_eq!((json["rows"].as_u64(), json["anomalies"].as_u64()), (Some(4), Some(2)));
    let next = ["next", "m.diad", "t.csv", "--id", "number", "-k", "5", "--format", "json"];
    let told = folder.diad(&[&next[..], &["--labels", "l.csv", "--label", "verdict"]].concat()).succeeds();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let names: Vec<&str> = told.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 5);
    assert!(!names.contains(&"P0050") && !names.contains(&"P0150"), "{names:?}");
    let expected = |row: usize| told[row]["expected"].as_f64().unwrap();
    assert!((1..5).all(|row| expected(row - 1) >= expected(row)), "{told}");
    assert!(expected(0) > 0.0 && names[0].ends_with("50"), "the other huge amounts come first: {told}");
    folder.write("bad.csv", "number,verdict\nP0050,perhaps\n");
    let bad = ["tune", "m.diad", "bad.csv", "-o", "x.diad", "--table", "t.csv", "--id", "number"];
    assert_snapshot!(folder.diad(&bad).fails(), @r#"diad: column "verdict", line 2, row 0: "perhaps" is not a label; write 1 or 0, yes or no, fraud or ok, or say which word means an anomaly"#);
    folder.write("bad.csv", "number,verdict\nP9999,1\nP9998,0\n");
    assert_snapshot!(folder.diad(&bad).fails(), @r#"diad: 2 labels name rows that column "number" of the table does not have, such as "P9998", "P9999"; give the table the labels belong to"#);
}

/// Kept cells are those of the table, also where the model reads them otherwise or not at all.
#[test]
fn kept_cells_are_written_as_they_stand() {
    let folder = folder();
    let mut text = String::from("amount;when;ok;weight\n");
    for i in 0..60 {
        let ok = ["yes", "No", "YES"][i % 3];
        writeln!(text, "1.{:03},50 €;{:02}.03.2024;{ok};{}.0 kg", 100 + i * 37 % 211, 1 + i % 28, 50 + i % 9)
            .unwrap();
    }
    folder.write("german.csv", &text);
    folder.diad(&["fit", "german.csv", "-o", "g.diad", "--steps", "10", "--trees", "4"]).succeeds();
    let requires = b"\"notations\"";
    assert!(folder.read("g.diad").windows(requires.len()).any(|bytes| bytes == requires));
    let plain = folder.diad(&["score", "g.diad", "german.csv", "-o", "-"]).succeeds();
    text.push_str("many;soon;perhaps;12 stone\n;;;\nNA;31.02.2024;no;51.50 kg\n");
    folder.write("german.csv", &text);
    // Cells that are not understood are told of.
    let scored = |kept: &str, out: &str| {
        let answer = folder.diad(&["score", "g.diad", "german.csv", "--keep", kept, "-o", out]);
        assert!(answer.code == Some(0) && answer.stderr.contains("many"), "{}", answer.stderr);
        answer.stdout
    };
    let all = scored("all", "-");
    let kept = |line: &str| line.splitn(6, ',').nth(5).map(str::to_owned);
    let kept: Vec<String> = all.lines().filter_map(kept).collect();
    assert_eq!(kept[0], "amount,when,ok,weight");
    assert_eq!(kept[1], "\"1.100,50 €\",01.03.2024,yes,50.0 kg");
    assert_eq!(kept[61..], ["many,soon,perhaps,12 stone", ",,,", "NA,31.02.2024,no,51.50 kg"]);
    // What is kept changes no score.
    let scores = |text: &str| -> Vec<String> {
        text.lines()
            .skip(1)
            .take(60)
            .map(|line| line.splitn(6, ',').take(5).collect::<Vec<_>>().join(","))
            .collect()
    };
    assert_eq!(scores(&all), scores(&plain));
    scored("amount,weight", "k.jsonl");
    let rows: Vec<serde_json::Value> =
        folder.read_text("k.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((rows[0]["amount"].as_f64(), rows[0]["weight"].as_f64()), (Some(1100.5), Some(50.0)));
    assert_eq!((rows[60]["amount"].as_str(), rows[60]["weight"].as_str()), (Some("many"), Some("12 stone")));
}

#[test]
fn segments_of_one_row_each_are_refused() {
    let folder = folder();
    let rows: String = (0..50).map(|i| format!("k{i},{},{}\n", i % 5, i * i % 17)).collect();
    folder.write("s.csv", format!("key,machine,x\n{rows}"));
    let fit = |by: &str| {
        let others = ["--ignore", "key", "--steps", "10", "--trees", "4"];
        folder.diad(&[&["fit", "s.csv", "-o", "s.diad", "--by", by], &others[..]].concat())
    };
    assert_snapshot!(fit("key").fails(), @r#"diad: column "key" has another value in nearly every row, so no segment tells what is usual in it; take one whose values come back"#);
    fit("machine").succeeds();
    let inspect = |by: &str| folder.diad(&["inspect", "s.csv", "--by", by]).succeeds();
    assert!(inspect("machine").contains("machine  5 segments: 0, 1, 2, 3, 4"), "{}", inspect("machine"));
    assert!(inspect("key").contains("another value in nearly every row; diad fit refuses it with --by"));
}
