//! The commands from end to end, on small tables and with tiny settings.

use crate::common::{Folder, TINY};
use diad::Params;
use insta::assert_snapshot;

/// The scores in a CSV file, after a check of its rows.
fn scores(csv: &str) -> Vec<f32> {
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("row,score,percentile,p_value,severity"));
    let score = |(row, line): (usize, &str)| {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!((cells.len(), cells[0].parse()), (5, Ok(row)));
        let [percentile, p] = [cells[2], cells[3]].map(|cell| cell.parse::<f64>().expect("a number"));
        assert!((percentile - 100.0 * (1.0 - p)).abs() < 1e-6 && p > 0.0 && p <= 1.0, "{line}");
        cells[1].parse().expect("a number")
    };
    lines.enumerate().map(score).collect()
}

#[test]
fn fit_says_what_it_did_and_leaves_only_the_model() {
    let folder = Folder::new();
    folder.write("t.csv", "a,b\n1,2\n3,4\n5,0\n");
    let said = folder.fit(&["t.csv", "-o", "m.diad"]).succeeds();
    assert!(said.starts_with("Trained on 3 rows and 2 features in "), "{said}");
    assert!(said.ends_with(" s; the model is in m.diad.\n"), "{said}");
    assert_eq!(folder.files(), ["m.diad", "t.csv"]);
}

#[test]
fn one_column_is_enough() {
    let folder = Folder::new();
    folder.write("t.csv", "a\n1\n2\n5\n");
    folder.fit(&["t.csv", "-o", "m.diad"]).succeeds();
    folder.diad(&["score", "m.diad", "t.csv", "-o", "s.csv"]).succeeds();
    assert_eq!(scores(&folder.read_text("s.csv")).len(), 3);
}

#[test]
fn the_same_seed_gives_the_same_model() {
    let folder = Folder::with_model();
    let fit = |output, seed, threads| {
        let args = ["table.csv", "-o", output, "--label", "label", "--ignore", "name"];
        folder.fit(&[&args[..], &["--seed", seed, "--threads", threads]].concat()).succeeds();
        folder.read(output)
    };
    assert_eq!(fit("a.diad", "3", "1"), fit("b.diad", "3", "2"));
    assert_ne!(fit("a.diad", "3", "1"), fit("b.diad", "4", "1"));
}

#[test]
fn scores_are_the_same_in_every_format_and_column_order() {
    let folder = Folder::with_model();
    let said = folder.diad(&["score", "model.diad", "table.csv", "-o", "s.csv"]).succeeds();
    assert_snapshot!(said, @"Wrote the scores of 100 rows to s.csv.");
    let csv = folder.read_text("s.csv");
    assert_eq!(scores(&csv).len(), 100);
    assert!(scores(&csv).iter().all(|score| score.is_finite()));

    assert_eq!(folder.diad(&["score", "model.diad", "table.csv", "-o", "-"]).succeeds(), csv);

    let turned: Vec<String> = folder
        .read_text("table.csv")
        .lines()
        .map(|line| line.split(',').rev().collect::<Vec<&str>>().join(","))
        .collect();
    folder.write("turned.csv", turned.join("\r\n"));
    assert_eq!(folder.diad(&["score", "model.diad", "turned.csv", "-o", "-"]).succeeds(), csv);

    folder.diad(&["score", "model.diad", "table.csv", "-o", "s.parquet"]).succeeds();
    folder.fit(&["s.parquet", "-o", "of-scores.diad", "--numeric", "row"]).succeeds();
    let info = folder.diad(&["info", "of-scores.diad"]).succeeds();
    assert!(info.lines().any(|line| line.split_whitespace().eq(["row", "0", "to", "99"])), "{info}");
    assert_eq!(
        folder.files(),
        ["model.diad", "of-scores.diad", "s.csv", "s.parquet", "table.csv", "turned.csv"]
    );
}

#[test]
fn an_existing_output_is_replaced() {
    let folder = Folder::with_model();
    folder.write("s.csv", "old");
    folder.diad(&["score", "model.diad", "table.csv", "-o", "s.csv"]).succeeds();
    assert_eq!(scores(&folder.read_text("s.csv")).len(), 100);
}

#[cfg(unix)]
#[test]
fn outputs_have_the_usual_permissions_and_links_are_followed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with_model();
    folder.write("usual", "");
    folder.write("real.csv", "old");
    std::os::unix::fs::symlink("real.csv", folder.path("link.csv")).unwrap();
    folder.diad(&["score", "model.diad", "table.csv", "-o", "link.csv"]).succeeds();
    assert_eq!(scores(&folder.read_text("real.csv")).len(), 100);
    assert!(folder.path("link.csv").is_symlink());
    let mode = |name| std::fs::metadata(folder.path(name)).unwrap().permissions().mode();
    assert_eq!(mode("real.csv"), mode("usual"));
    assert_eq!(mode("model.diad"), mode("usual"));
}

/// The ROC-AUC that `diad eval` finds.
fn area_of(folder: &Folder, table: &str) -> f64 {
    let json = folder.diad(&["eval", "model.diad", table, "--label", "label", "--format", "json"]).succeeds();
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    json["roc_auc"].as_f64().expect("a number")
}

#[test]
fn eval_measures_the_ranking() {
    let folder = Folder::with_model();
    let text = folder.diad(&["eval", "model.diad", "table.csv", "--label", "label"]).succeeds();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["rows               100", "anomalies          2"]);
    assert_eq!(lines[2], format!("ROC-AUC            {:.4}", area_of(&folder, "table.csv")));
    assert!(lines[3].starts_with("average precision  "));

    let json =
        folder.diad(&["eval", "model.diad", "table.csv", "--label", "label", "--format", "json"]).succeeds();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let area = json["roc_auc"].as_f64().unwrap();
    assert!((area - 1.0).abs() <= 0.02, "{area}");
    assert_eq!((json["rows"].as_u64(), json["anomalies"].as_u64()), (Some(100), Some(2)));

    let table = folder.read_text("table.csv");
    folder
        .write("flipped.csv", table.replace(",1\n", ",A\n").replace(",0\n", ",1\n").replace(",A\n", ",0\n"));
    assert!((area_of(&folder, "flipped.csv") - (1.0 - area)).abs() < 1e-9);

    let words = folder.read_text("table.csv").replace(",1\n", ",Yes\n").replace(",0\n", ",no\n");
    folder.write("words.csv", words);
    assert_eq!(folder.diad(&["eval", "model.diad", "words.csv", "--label", "label"]).succeeds(), text);
    // Rows without a label are left out, and said to be.
    let unlabelled = table.lines().find(|line| line.ends_with(",0")).unwrap().trim_end_matches('0');
    folder.write("some.csv", format!("{table}{unlabelled}\n{unlabelled}\n"));
    let some = folder.diad(&["eval", "model.diad", "some.csv", "--label", "label"]);
    assert_eq!((some.stdout.as_str(), some.code), (text.as_str(), Some(0)), "{}", some.stderr);
    assert_eq!(some.stderr.trim(), "diad: warning: 2 rows without a label are left out");
}

#[test]
fn info_shows_settings_and_columns() {
    let folder = Folder::with_model();
    let text = folder.diad(&["info", "model.diad"]).succeeds();
    let (first, rest) = text.split_once('\n').unwrap();
    assert!(first.starts_with("model.diad, ") && first.ends_with("B") || first.ends_with("bytes"), "{first}");
    let (identity, rest) = rest.split_once('\n').unwrap();
    let (before, shares) = rest.split_once("Parts ").unwrap();
    let (shares, after) = shares.split_once("\n\n").unwrap();
    let lines = || shares.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    let names: Vec<&str> = lines().map(|words| words[0]).collect();
    assert_eq!(names[0], "trees");
    let total: f64 = lines().map(|words| words[1].parse::<f64>().unwrap()).sum();
    assert!((total - 100.0).abs() < 0.5, "{shares}");
    let json: serde_json::Value =
        serde_json::from_str(&folder.diad(&["info", "model.diad", "--format", "json"]).succeeds()).unwrap();
    let parts = json["parts"].as_array().unwrap();
    assert!(parts.iter().map(|part| part["part"].as_str().unwrap()).eq(names), "{json}");
    assert!((parts.iter().map(|part| part["share"].as_f64().unwrap()).sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(identity.starts_with("identity ") && identity.len() == 9 + 32, "{identity}");
    assert_snapshot!(before, @r"
    trained on 100 rows and 2 columns
    calibrated by 100 rows held out
    scored exactly
    ");
    let (settings, columns) = after.trim_start().split_once("\n\n").unwrap();
    let listed: Vec<(&str, &str)> =
        settings.lines().skip(1).map(|line| line.trim_start().split_once(' ').unwrap()).collect();
    let declared = Params::declared();
    assert_eq!((settings.lines().next(), listed.len()), (Some("Settings"), declared.len()));
    for ((name, value), setting) in listed.iter().zip(declared) {
        assert_eq!(*name, setting.option());
        let given = TINY.iter().position(|word| word.strip_prefix("--") == Some(name));
        let expected = given.map_or_else(|| setting.default.typed(), |place| TINY[place + 1].to_owned());
        assert_eq!(value.trim_start(), expected, "{name}");
    }
    assert_snapshot!(columns, @r"
    Columns
      x  -0.984996 to 1
      y  -0.979178 to 0.999996
    ");
}

/// The bound that `diad info` shows is one.
#[test]
fn scores_by_tables_are_within_the_bound_of_exact_ones() {
    let folder = Folder::with_model();
    let settings: Vec<&str> = TINY.iter().map(|&word| if word == "2" { "1" } else { word }).collect();
    let fit = ["fit", "table.csv", "-o", "one.diad", "--label", "label", "--ignore", "name"];
    folder.diad(&[&fit[..], &settings].concat()).succeeds();
    let info = folder.diad(&["info", "one.diad"]).succeeds();
    let line = info.lines().find(|line| line.starts_with("scored by tables")).unwrap();
    let bound: f32 =
        line.trim_start_matches("scored by tables: within ").split(' ').next().unwrap().parse().unwrap();
    assert!(line.ends_with(" of its standard deviation over the training rows"), "{line}");
    let score = |model: &str, more: &[&str]| {
        let args = ["score", model, "table.csv", "-o", "-"];
        scores(&folder.diad(&[&args[..], more].concat()).succeeds())
    };
    let (tables, exact) = (score("one.diad", &[]), score("one.diad", &["--exact"]));
    assert!(tables.iter().zip(&exact).all(|(a, b)| (a - b).abs() <= 1.1 * bound + 1e-5), "{bound}");
    assert_eq!(score("model.diad", &[]), score("model.diad", &["--exact"]));
    for command in
        [&["explain", "one.diad", "table.csv"][..], &["report", "one.diad", "table.csv", "-o", "r.html"]]
    {
        folder.diad(&[command, &["--exact"]].concat()).succeeds();
    }
}

#[test]
fn info_shows_long_numbers_in_powers_of_ten() {
    let folder = Folder::new();
    folder.write("t.csv", "a,b\n-1e300,1e-9\n0,2\n123456,3\n");
    folder.fit(&["t.csv", "-o", "m.diad"]).succeeds();
    let text = folder.diad(&["info", "m.diad"]).succeeds();
    assert!(text.ends_with("\n  a  -1e300 to 123456\n  b  1e-9 to 3\n"), "{text}");
}

#[test]
fn every_command_has_examples() {
    let folder = Folder::new();
    let all = folder.diad(&["--help"]).succeeds();
    assert!(all.contains("Examples:"));
    let listed =
        all.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<&str> = listed.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() > 10, "{all}");
    for command in commands.into_iter().filter(|command| *command != "help") {
        let help = folder.diad(&[command, "--help"]).succeeds();
        assert!(help.contains("Example") && help.contains(&format!("diad {command} ")), "{help}");
    }
    let score = folder.diad(&["score", "--help"]).succeeds();
    assert!(score.contains("With -o -, rows are written as they are scored"), "{score}");
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_error() {
    let folder = Folder::with_model();
    let mut long = folder.read_text("table.csv");
    let rows = long.split_once('\n').unwrap().1.repeat(200);
    long.push_str(&rows);
    folder.write("long.csv", long);
    let mut child = folder
        .command(&["score", "model.diad", "long.csv", "-o", "-"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_a_training_and_leaves_nothing() {
    let folder = Folder::new();
    folder.write("t.csv", "a,b\n1,2\n3,4\n5,0\n");
    let endless = ["fit", "t.csv", "-o", "m.diad", "--steps", "10000000"];
    let child = folder.command(&endless).stderr(std::process::Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @"diad: stopped before it finished; nothing was written");
    assert_eq!(folder.files(), ["t.csv"]);
}

#[test]
fn tiny_settings_are_valid_alone() {
    // Guards the settings the other tests use against changed limits.
    let folder = Folder::new();
    let sentence = folder.diad(&[&["fit", "none.csv", "-o", "m.diad"], &TINY[..]].concat()).fails();
    assert!(sentence.contains("none.csv"), "{sentence}");
}

/// Every machine has a baseline of its own, which scores, reasons and the model file know of.
#[test]
fn numbers_count_by_their_segments() {
    let folder = Folder::new();
    let rows = (0..400).map(|i| {
        let (machine, noise) = (i % 8, f64::from(i * 37 % 101) / 101.0);
        format!("M{machine},{},{}\n", f64::from(machine) * 20.0 + noise, i * 53 % 97)
    });
    let table: String = std::iter::once("machine,heat,load\n".to_owned()).chain(rows).collect();
    folder.write("t.csv", table);
    folder.fit(&["t.csv", "-o", "m.diad", "--by", "machine"]).succeeds();
    let info = folder.diad(&["info", "m.diad"]).succeeds();
    assert!(info.contains("numbers count by what is usual for each of 8 values of \"machine\""), "{info}");
    folder.write("new.csv", "machine,heat,load\nM1,20.5,40\nM1,100.5,40\nM5,100.5,40\nnew,60,40\n,60,40\n");
    let scored = folder.diad(&["score", "m.diad", "new.csv", "-o", "s.csv"]);
    assert_eq!(scored.code, Some(0));
    insta::assert_snapshot!(scored.stderr, @r#"diad: warning: column "machine": 2 rows ("new" in row 3, line 5; row 4, line 6) are of no segment that the training had; their numbers are compared with those of all segments"#);
    let found = scores(&folder.read_text("s.csv"));
    assert!(found[1] > found[0] + 1.0 && found[1] > found[2] + 1.0, "{found:?}");
    assert!((found[3] - found[4]).abs() < 1e-6, "{found:?}");
    let said = folder.diad(&["explain", "m.diad", "new.csv", "--rows", "1"]).succeeds();
    assert!(said.contains("heat for its machine, higher than all 400 rows"), "{said}");
    folder.write("without.csv", "heat,load\n20.5,40\n");
    let error = folder.diad(&["score", "m.diad", "without.csv", "-o", "s.csv"]).fails();
    assert!(error.contains("machine"), "{error}");
    let error =
        folder.diad(&["export", "m.diad", "--to", "sql", "--dialect", "duckdb", "-o", "s.sql"]).fails();
    assert!(error.contains("fit it without --by"), "{error}");
}
