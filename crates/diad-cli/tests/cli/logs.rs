//! What is said on standard error with -v and with --log-format json; completions and manual pages.

use serde_json::Value;

use crate::common::{Answer, Folder, TINY};

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

#[test]
fn a_log_says_what_is_done() {
    let folder = Folder::with_model();
    let score = ["score", "model.diad", "table.csv", "-o", "s.csv"];
    assert_eq!(folder.diad(&[&score[..], &["-v"]].concat()).code, Some(0));
    let Answer { stderr, .. } = folder.diad(&[&["-v"], &score[..]].concat());
    assert!(stderr.contains(" INFO ") && stderr.contains("scored the table rows=100"), "{stderr}");
    assert!(!stderr.contains(" DEBUG "), "{stderr}");
    let Answer { stderr, .. } = folder.diad(&[&["-vv"], &score[..]].concat());
    assert!(stderr.contains(" DEBUG "), "{stderr}");

    let args = ["fit", "table.csv", "-o", "m.diad", "-v", "--log-format", "json", "--numeric", "label"];
    let answer = folder.diad(&[&args[..], &TINY].concat());
    let said = lines(&answer.stderr);
    let with = |message: &str| said.iter().find(|line| line["message"] == message);
    let read = with("looked through the table").unwrap_or_else(|| panic!("{}", answer.stderr));
    assert_eq!((read["rows"].as_u64(), read["level"].as_str()), (Some(100), Some("INFO")));
    assert!(with("wrote the model").is_some_and(|line| line["model"] == "m.diad"), "{}", answer.stderr);
    let note = "note: column \"name\" is left out, because it seems to identify rows; keep it with --numeric or --categorical";
    assert!(with(note).is_some_and(|line| line["level"] == "WARN"), "{}", answer.stderr);
}

#[test]
fn errors_are_json_too() {
    let folder = Folder::new();
    let answer = folder.diad(&["info", "none.diad", "--log-format", "json"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""));
    let said = lines(&answer.stderr);
    assert_eq!(said.len(), 1);
    assert_eq!(said[0]["level"], "ERROR");
    assert_eq!(said[0]["message"], "cannot read none.diad: there is no such file; check the path");
    assert!(said[0]["timestamp"].as_str().is_some_and(|time| time.ends_with('Z')));
}

#[test]
fn shells_and_manuals_know_the_commands() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = folder.diad(&["completions", shell]).succeeds();
        for word in ["checkpoint", "inspect", "log-format"] {
            assert!(script.contains(word), "{shell} lacks {word}");
        }
    }
    let page = folder.diad(&["man"]).succeeds();
    assert!(page.contains(".TH diad 1") && page.contains("Exit codes:"), "{page}");
    let said = folder.diad(&["man", "--dir", "pages"]).succeeds();
    let mut pages: Vec<String> = std::fs::read_dir(folder.path("pages"))
        .expect("a folder")
        .map(|page| page.expect("a page").file_name().to_string_lossy().into_owned())
        .collect();
    pages.sort();
    assert_eq!(said, format!("Wrote {} pages to pages.\n", pages.len()));
    for name in ["diad.1", "diad-fit.1", "diad-score.1", "diad-man.1"] {
        assert!(pages.contains(&name.to_owned()), "{pages:?}");
    }
    let fit = folder.read_text("pages/diad-fit.1");
    assert!(fit.contains("checkpoint") && fit.contains("diad fit table.csv"), "{fit}");
}
