//! `diad demo`.

use crate::common::Folder;

/// The least of the 12 slips that are among the first 20 (12 when this was written), and of the 8 purchases at night that are after five
/// labels (8).
const SLIPS: usize = 11;
const NIGHTS: usize = 8;

const EXPENSES: [&str; 7] =
    ["expenses.csv", "expenses.diad", "scores.csv", "report.html", "answers.csv", "labels.csv", "tuned.diad"];

#[test]
fn demo_replaces_only_what_a_demo_wrote() {
    let folder = Folder::new();
    let demo = || folder.diad(&["demo", "--dir", ".", "--steps", "1"]);
    for name in EXPENSES {
        folder.write(name, "mine");
        assert_eq!(
            demo().fails(),
            format!(
                "diad: ./{name} already exists and is not from a demo; choose another folder with --dir\n"
            )
        );
        assert_eq!((folder.files(), folder.read_text(name)), (vec![name.to_owned()], "mine".to_owned()));
        std::fs::remove_file(folder.path(name)).unwrap();
    }
    demo().succeeds();
    demo().succeeds();
}

fn written(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path("diad-demo")).expect("a folder");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("a name").file_name().into_string().expect("a name")).collect();
    names.sort();
    names
}

/// The numbers in a line of the text that has all of some words.
fn counts(text: &str, words: &str) -> Vec<usize> {
    let line = text.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}: {text}"));
    line.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

// With default settings: the table is made by rules that know nothing of scores.
#[test]
fn the_planted_expenses_come_up_and_five_labels_make_the_list_better() {
    let folder = Folder::new();
    let text = folder.diad(&["demo"]).succeeds();
    let [slips, of_slips, nights_before, nights, ..] =
        counts(&text, "purchases at night are among them. ")[..]
    else {
        panic!("{text}")
    };
    let nights_after = counts(&text, "are among them now")[0];
    assert_eq!((of_slips, nights), (12, 8));
    assert!(slips >= SLIPS && nights_before <= 4 && nights_after >= NIGHTS, "{text}");
    let listed = |line: &&str| line.trim_start_matches([' ', '*', 'L']).starts_with("E-1");
    let lists: Vec<&str> = text.lines().filter(listed).collect();
    assert_eq!(lists.len(), 40, "{text}");
    let marked = |lists: &[&str]| lists.iter().filter(|line| line[..4].contains('*')).count();
    assert_eq!([marked(&lists[..20]), marked(&lists[20..])], [slips + nights_before, nights_after]);
    assert_eq!(lists[20..].iter().filter(|line| line.starts_with(" L* ")).count(), 3, "{text}");
    // Each has its identifier, its score and a reason in words.
    assert!(
        lists.iter().all(|line| line.trim_start_matches([' ', '*', 'L']).split_whitespace().count() >= 5),
        "{text}"
    );

    let mut names = EXPENSES.map(String::from).to_vec();
    names.sort();
    assert_eq!(written(&folder), names);
    let labels = folder.read_text("diad-demo/labels.csv");
    assert_eq!((labels.lines().next(), labels.lines().count()), (Some("id,label,comment"), 6));
    assert!(text.contains("\n  diad-demo/report.html\n"), "{text}");
    assert!(std::fs::metadata(folder.path("diad-demo/report.html")).unwrap().len() < 1_200_000);
}

#[test]
fn the_thyroid_tests_are_another_demo() {
    let folder = Folder::new();
    let text = folder.diad(&["demo", "thyroid", "--steps", "2"]).succeeds();
    assert!(text.contains("CC BY 4.0"), "{text}");
    let area = text.lines().find_map(|line| line.strip_prefix("ROC-AUC ")?.get(..5)?.parse::<f64>().ok());
    assert!(area.is_some_and(|area| (0.8..0.92).contains(&area)), "{text}");
    let table: Vec<&str> = text.lines().skip_while(|line| !line.contains("row   score")).take(11).collect();
    assert_eq!(table[0], "    row   score      age      TSH       T3      TT4      T4U      FTI    label");
    assert!(table.iter().all(|line| line.split_whitespace().count() == 9), "{text}");
    assert_eq!(written(&folder), ["report.html", "scores.csv", "thyroid.csv", "thyroid.diad"]);
    assert_eq!(folder.read_text("diad-demo/scores.csv").lines().count(), 7201);

    folder.write("file", "");
    let sentence = folder.diad(&["demo", "--dir", "file/in"]).fails();
    assert!(sentence.starts_with("diad: cannot write file/in: "), "{sentence}");
}
