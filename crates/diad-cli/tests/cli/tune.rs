//! `diad tune` as a user meets it.

use insta::assert_snapshot;

use super::common::{Answer, Folder};

const TUNE: [&str; 7] = ["tune", "model.diad", "labels.csv", "--label", "label", "-o", "tuned.diad"];

/// A model, and the labels of every third row of its table.
fn with_labels() -> Folder {
    let folder = Folder::with_model();
    let table = folder.read_text("table.csv");
    let line = |(index, line): (usize, &str)| match line.rsplit_once(',') {
        Some((row, label)) if index > 0 && index % 3 != 2 && label != "1" => format!("{row},\n"),
        _ => format!("{line}\n"),
    };
    let labels: String = table.lines().enumerate().map(line).collect();
    folder.write("labels.csv", labels);
    folder
}

fn tune(folder: &Folder, more: &[&str]) -> Answer {
    folder.diad(&[&TUNE, more].concat())
}

#[test]
fn a_model_learns_from_labels_and_says_what_changed() {
    let folder = with_labels();
    let before = folder.read("model.diad");
    let text = tune(&folder, &[]).succeeds();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("Learned from 2 anomalies and 32 normal rows in "), "{text}");
    assert!(lines[0].ends_with("the model is in tuned.diad."), "{text}");
    assert!(lines[1].starts_with("ROC-AUC, cross-validated ") && lines[1].ends_with(" after"), "{text}");
    assert!(lines[2].starts_with("With so few labels"), "{text}");
    assert_eq!(lines[3], "Changed most");
    assert!(lines.len() == 7 && lines[4..].iter().any(|line| line.starts_with("  x and y ")), "{text}");
    assert!(folder.read("model.diad") == before, "the first model is untouched");

    let info = folder.diad(&["info", "tuned.diad"]).succeeds();
    let first = folder.diad(&["info", "model.diad"]).succeeds();
    let identity = first.lines().nth(1).expect("an identity").trim_start_matches("identity ").to_owned();
    assert!(
        info.contains(&format!("tuned with 2 anomalies and 32 normal rows\n  from model  {identity}\n")),
        "{info}"
    );

    // The order of the rows does not matter, and the result is a model like any other.
    let labels = folder.read_text("labels.csv");
    let mut turned: Vec<&str> = labels.lines().skip(1).collect();
    turned.reverse();
    folder.write("labels.csv", format!("name,x,y,label\n{}\n", turned.join("\n")));
    let tuned = folder.read("tuned.diad");
    tune(&folder, &[]).succeeds();
    assert!(folder.read("tuned.diad") == tuned);
    folder.diad(&["score", "tuned.diad", "table.csv", "-o", "scores.csv"]).succeeds();
    assert_eq!(folder.read_text("scores.csv").lines().count(), 101);
}

#[test]
fn losses_descend_and_a_validation_table_is_looked_at() {
    let folder = with_labels();
    let table = folder.read_text("table.csv");
    let other = |(index, line): &(usize, &str)| index % 3 != 2 || line.ends_with(",1");
    let valid: Vec<&str> = table.lines().enumerate().filter(other).map(|(_, line)| line).collect();
    folder.write("valid.csv", valid.join("\n"));
    for more in [
        &["--loss", "auc", "--margin", "0", "--seed", "3"][..],
        &["--loss", "bce", "--freeze-structure"],
        &["--learner", "descent", "--steps", "40", "--valid", "valid.csv"],
        &["--valid", "valid.csv"],
    ] {
        let text = tune(&folder, more).succeeds();
        let validated = text.contains("ROC-AUC, validation table");
        assert_eq!(validated, more.contains(&"--valid"), "{more:?}: {text}");
        folder.diad(&["info", "tuned.diad"]).succeeds();
    }
}

#[test]
fn anomalies_alone_are_learned_from() {
    let folder = with_labels();
    folder.write("labels.csv", folder.read_text("table.csv").replace(",0\n", ",\n"));
    let text = tune(&folder, &[]).succeeds();
    assert!(text.contains("\n98 unlabelled rows stood in for normal ones.\n"), "{text}");
}

#[test]
fn labels_that_cannot_be_learned_from() {
    let folder = with_labels();
    let model = folder.read("model.diad");
    let with = |labels: &str| {
        folder.write("labels.csv", labels);
        tune(&folder, &[]).fails()
    };
    assert_snapshot!(with("x,y,label\n1,2,0\n1,3,\n"), @"diad: no row is labelled as an anomaly; label at least one row with 1");
    assert_snapshot!(with("x,y,label\n1,2,0\n1,2,2\n"), @r#"diad: label column "label", line 3, row 1: "2" is not a label; write 1 for an anomaly and 0 for a normal row"#);
    assert_snapshot!(with("x,y,label\n1,2,1\n"), @"diad: all labelled rows are anomalies; label some normal rows with 0, or add rows with an empty label to stand in for them");
    assert_snapshot!(with("x,label\n1,1\n2,0\n"), @r#"diad: the table lacks column "y" of the model; give a table with all columns the model was trained on"#);
    assert_snapshot!(with("x,y\n1,1\n"), @r#"diad: the table has no column "label"; its columns are "x", "y""#);
    let labels = "x,y,label\n1,2,1\n0,1,0\n0.5,1,0\n";
    folder.write("labels.csv", labels);
    folder.write("valid.csv", "x,y,label\n1,2,0\n1,3,\n");
    assert_snapshot!(tune(&folder, &["--valid", "valid.csv"]).fails(), @"diad: the validation table has no anomalies (label 1); give one with both");
    folder.write("valid.csv", "x,y\n1,2\n");
    assert_snapshot!(tune(&folder, &["--valid", "valid.csv"]).fails(), @r#"diad: validation table valid.csv: the table has no column "label"; its columns are "x", "y""#);
    assert_snapshot!(tune(&folder, &["--prior", "-1"]).fails(), @"diad: prior is -1, but it must be from 0 to 1000");
    assert_snapshot!(tune(&folder, &["--steps", "10"]).fails(), @"diad: --steps only applies to --learner descent; remove it");
    assert_snapshot!(tune(&folder, &["--learner", "functions", "--loss", "bce"]).fails(), @"diad: --loss only applies to --learner descent; remove it");
    assert_snapshot!(tune(&folder, &["--loss", "auc", "--prior", "1"]).fails(), @"diad: --prior only applies to --learner functions; remove it");
    assert_snapshot!(tune(&folder, &["--amplitude", "0"]).fails(), @"diad: amplitude is 0, but it must be from 0.001 to 1000");
    let same =
        folder.diad(&["tune", "model.diad", "labels.csv", "--label", "label", "-o", "model.diad"]).fails();
    assert_snapshot!(same, @"diad: model.diad is both input and output; choose another output");
    assert_snapshot!(folder.diad(&["tune", "model.diad", "labels.csv", "--label", "x", "-o", "t.diad"]).fails(), @r#"diad: column "x" is a feature of the model, so it cannot be the label; fit the model without it"#);
    assert_eq!(folder.files(), ["labels.csv", "model.diad", "table.csv", "valid.csv"]);
    tune(&folder, &[]).succeeds();
    let again =
        folder.diad(&["tune", "tuned.diad", "labels.csv", "--label", "label", "-o", "t.diad"]).fails();
    assert!(again.contains("the model has been tuned before; tune the original model"), "{again}");
    assert!(folder.read("model.diad") == model);
}

#[test]
fn contradictory_labels_are_counted() {
    let folder = with_labels();
    folder.write("labels.csv", "x,y,label\n1,2,1\n1,2,0\n0,1,0\n0.5,1,0\n");
    let answer = tune(&folder, &[]);
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    assert_snapshot!(answer.stderr, @"diad: warning: 2 labelled rows are identical to a row with the opposite label; they contradict each other");
}

#[test]
fn a_validation_table_of_the_labelled_rows_is_noticed() {
    let folder = with_labels();
    let answer = tune(&folder, &["--valid", "labels.csv"]);
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    assert_snapshot!(answer.stderr, @"diad: warning: the validation table has the labelled rows themselves, and cannot check what was learned from them; give other rows, or leave it out");
}
