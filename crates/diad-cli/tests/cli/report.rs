//! Identifiers and kept columns in `diad report`.

use serde_json::Value;

use crate::common::Folder;

/// What the page knows.
fn data(folder: &Folder, name: &str) -> Value {
    let html = folder.read_text(name);
    let (_, rest) = html.split_once("type=\"application/json\">").expect("data");
    serde_json::from_str(rest.split_once("</script>").expect("JSON").0).expect("JSON")
}

fn texts(kept: &Value) -> Vec<&str> {
    kept["texts"].as_array().expect("texts").iter().map(|text| text.as_str().expect("texts")).collect()
}

fn orders() -> Folder {
    let folder = Folder::new();
    let row =
        |i: usize| format!("0{i}-x,\"{},000.50 €\",2024-03-{:02},{}\n", 1 + i % 40, 1 + i % 28, (i * i) % 17);
    folder.write("t.csv", format!("order,price,day,x\n{}", (0..90).map(row).collect::<String>()));
    folder.fit(&["t.csv", "-o", "m.diad", "--ignore", "order"]).succeeds();
    folder
}

#[test]
fn identifiers_and_kept_columns_are_shown_as_they_are_written() {
    let folder = orders();
    let report = ["report", "m.diad", "t.csv", "-o", "r.html", "--id", "order", "--keep", "price,day"];
    folder.diad(&report).succeeds();
    let kept = &data(&folder, "r.html")["rows"]["kept"];
    let names: Vec<&str> = kept.as_array().unwrap().iter().map(|k| k["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["order", "price", "day"]);
    assert_eq!([0, 1].map(|k| kept[k]["identifier"].as_bool().unwrap()), [true, false]);
    assert!(texts(&kept[0]).contains(&"07-x") && texts(&kept[1]).contains(&"8,000.50 €"), "{kept}");
    assert!(texts(&kept[2]).contains(&"2024-03-08"), "{kept}");

    folder.diad(&["report", "m.diad", "t.csv", "-o", "all.html", "--keep", "all"]).succeeds();
    let all = &data(&folder, "all.html")["rows"]["kept"];
    assert_eq!(all.as_array().unwrap().len(), 4);
    folder.diad(&["report", "m.diad", "t.csv", "-o", "none.html"]).succeeds();
    assert!(data(&folder, "none.html")["rows"]["kept"].as_array().unwrap().is_empty());
}

#[test]
fn a_kept_column_that_is_not_there_is_named() {
    let folder = orders();
    for wrong in [["--id", "number"], ["--keep", "x,number"]] {
        let report = [&["report", "m.diad", "t.csv", "-o", "r.html"], &wrong[..]].concat();
        let sentence = folder.diad(&report).fails();
        assert!(sentence.contains("\"number\"") && sentence.lines().count() == 1, "{sentence}");
        assert!(!folder.files().contains(&"r.html".to_owned()));
    }
}

#[test]
fn every_listed_row_has_a_similar_ordinary_row() {
    let folder = orders();
    folder.diad(&["report", "m.diad", "t.csv", "-o", "r.html", "--top", "10"]).succeeds();
    let rows = &data(&folder, "r.html")["rows"];
    assert_eq!(rows["listed"], 10);
    let ways = rows["ways_out"].as_array().unwrap();
    assert_eq!(ways.len(), 10);
    let count = rows["count"].as_u64().unwrap();
    assert!(ways.iter().all(|way| (10..count).contains(&way["similar"].as_u64().unwrap())), "{rows}");
}
