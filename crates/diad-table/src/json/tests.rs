use super::*;

fn read(text: &str, selection: &Selection) -> Result<Table> {
    let mut reader = JsonReader::new(text.as_bytes(), Path::new("t.jsonl"), selection)?;
    Ok(reader.next_batch()?.expect("rows"))
}

#[test]
fn keys_are_columns_and_what_is_not_there_is_missing() {
    let text = "{\"a\":1,\"b\":\"x\"}\n\n{\"b\":null,\"c\":true,\"a\":2.5}\r\n{\"a\":null,\"b\":\"y\"}";
    let table = read(text, &Selection::all()).unwrap();
    assert_eq!(table.names(), ["a", "b", "c"]);
    assert_eq!(table.column(0)[..2], [1.0, 2.5]);
    assert!(table.column(0)[2].is_nan());
    let texts = |column| (0..3).map(|row| table.values(column).text(row)).collect::<Vec<_>>();
    assert_eq!(texts(1), [Some("x"), None, Some("y")]);
    assert_eq!(texts(2), [None, Some("true"), None]);
}

#[test]
fn bad_lines_are_named() {
    for (text, message) in [
        (
            "{\"a\":1}\n[1]\n",
            "line 2 of t.jsonl is not a row (it is not an object); write one object on each line",
        ),
        (
            "{\"a\":1}\n{\n \"a\":2\n]}\n",
            "line 2 of t.jsonl is not a row (it is not JSON); write one object on each line",
        ),
        (
            "{\"a\":1}\n{\"a\":\n",
            "line 2 of t.jsonl is not a row (it is cut off); write one object on each line",
        ),
        ("{\"a\":1}\nx\n", "line 2 of t.jsonl is not a row (it is not JSON); write one object on each line"),
    ] {
        assert_eq!(read(text, &Selection::all()).unwrap_err().to_string(), message);
    }
}

#[test]
fn numbers_that_json_does_not_have_are_read_as_programs_write_them() {
    let text = "{\"a\":NaN,\"b\":\"NaN \\\"NaN\"}\n{\"a\":-Infinity,\"b\":\"x\"}\n{\"a\":1.5,\"b\":null}\n";
    let table = read(text, &Selection::all()).unwrap();
    let numbers = table.column(0);
    assert!(numbers[0].is_nan() && numbers[1] == f64::NEG_INFINITY && numbers[2] == 1.5, "{numbers:?}");
    assert_eq!(table.values(1).text(0), Some("NaN \"NaN"));
}

#[test]
fn objects_are_columns_lists_are_texts_and_late_keys_are_noted() {
    let late = format!(
        "{}{{\"b\":1}}\n",
        "{\"a\":{\"x\":1,\"y\":{\"z\":null}},\"l\":[1,\"q\"]}\n".repeat(FIRST_OBJECTS)
    );
    let mut reader = JsonReader::new(late.as_bytes(), Path::new("t.jsonl"), &Selection::all()).unwrap();
    let table = reader.next_batch().unwrap().unwrap();
    assert_eq!(
        (table.names(), table.rows()),
        (&["a.x", "a.y.z", "l"].map(String::from)[..], FIRST_OBJECTS + 1)
    );
    assert_eq!((table.column(0)[0], table.values(2).text(0)), (1.0, Some("[1,\"q\"]")));
    assert_eq!(
        reader.about().notes,
        [
            "\"a\", \"a.y\" hold objects; each of their keys is a column, such as \"a.b\" for the key \"b\" of \"a\"",
            "column \"l\" holds lists, which are read as text",
            "1 row has a key that none of the first 1000 has, such as \"b\" in line 1001; to include it, add it to the first row",
        ]
    );
    assert_eq!(read(&late, &Selection::only(["a.x"])).unwrap().rows(), FIRST_OBJECTS + 1);
}

#[test]
fn a_list_of_objects_is_read_as_lines_of_them_are() {
    let lines = "{\"a\":1,\"b\":\"x]}\\\"{\"}\n{\"b\":null,\"a\":2.5}\n";
    let list = " [ {\"a\":1,\n \"b\":\"x]}\\\"{\"}\n,\n{\"b\":null,\"a\":2.5}\n]\n";
    for text in [list.to_owned(), format!("\u{feff}{list}")] {
        let read = read(&text, &Selection::all()).unwrap();
        assert_eq!(read, self::read(lines, &Selection::all()).unwrap());
        assert_eq!(
            [0, 1].map(|row| read.place(row)),
            [(1, 0), (4, 1)].map(|(line, row)| crate::Place::Line(line, row))
        );
    }
    for (text, reason) in [
        (
            "[{\"a\":1},\n2]",
            "line 2 of t.jsonl is not a row (it is not an object); write one object on each line",
        ),
        (
            "[{\"a\":1},\n{\"a\":",
            "line 2 of t.jsonl is not a row (it is cut off); write one object on each line",
        ),
        ("[{\"a\":1}", "line 1 of t.jsonl is not a row (it is cut off); write one object on each line"),
        ("[{\"a\":x}]", "line 1 of t.jsonl is not a row (it is not JSON); write one object on each line"),
    ] {
        assert_eq!(read(text, &Selection::all()).unwrap_err().to_string(), reason);
    }
}

/// Long names within long names would be of any length.
#[test]
fn names_of_columns_stay_short() {
    let key = "k".repeat(200);
    let text = format!("{{\"{key}\":{{\"{key}\":{{\"x\":1}},\"y\":2}}}}\n");
    let table = read(&text, &Selection::all()).unwrap();
    assert_eq!(table.names(), [format!("{key}.{key}"), format!("{key}.y")]);
    assert_eq!(table.values(0).text(0), Some("{\"x\":1}"));
}

/// The names, the cells of every row, and the notes.
fn all(text: &str) -> (Vec<String>, Vec<String>, Vec<String>) {
    let mut reader = JsonReader::new(text.as_bytes(), Path::new("t.json"), &Selection::all()).unwrap();
    let table = reader.next_batch().unwrap().unwrap();
    let cell = |row: usize| {
        let cells = (0..table.names().len()).map(|column| table.values(column).cell(row).unwrap_or_default());
        cells.collect::<Vec<_>>().join("|")
    };
    (table.names().to_vec(), (0..table.rows()).map(cell).collect(), reader.about().notes)
}

#[test]
fn the_rows_of_one_object_are_those_of_the_list_in_it() {
    let text = "{\n  \"count\": 2,\n  \"data\": [\n    {\"a\": 1, \"b\": \"x\"},\n    {\"a\": 2}\n  ]\n}\n";
    for text in [text.to_owned(), text.replace('\n', "")] {
        let (names, rows, notes) = all(&text);
        assert_eq!((names.join(" "), rows.join(" ")), ("a b".into(), "1|x 2|".into()));
        assert_eq!(notes, ["the rows are the objects of \"data\" in t.json"]);
    }
    let table = read(text, &Selection::all()).unwrap();
    assert_eq!(
        [0, 1].map(|row| table.place(row)),
        [(4, 0), (5, 1)].map(|(line, row)| crate::Place::Line(line, row))
    );
    let (names, rows, notes) = all(
        r#"{"meta": {"links": [{"rel": "n"}], "tags": ["x", "y"]}, "answer": {"items": [{"a": {"b": 1}}, {"a": {"b": NaN}}, {}]}}"#,
    );
    assert_eq!((names.join(" "), rows.join(" ")), ("a.b".into(), "1  ".into()));
    assert_eq!(
        notes[..2],
        [
            "the rows are the objects of \"answer.items\" in t.json",
            "other lists of t.json are not read: \"meta.links\""
        ]
    );
}

#[test]
fn columns_that_are_asked_for_tell_what_is_read() {
    let text = r#"{"few": [{"a": 1}], "many": [{"b": 1}, {"b": 2}], "c": 7}"#;
    let names = |selection: &Selection| read(text, selection).map(|table| table.names().join(" "));
    assert_eq!(names(&Selection::all()).unwrap(), "b");
    assert_eq!(names(&Selection::only(["a"])).unwrap(), "a");
    assert_eq!(names(&Selection::only(["c"])).unwrap(), "c", "one row");
    assert_eq!(
        names(&Selection::only(["b"]).reading("b", crate::ReadAs::Written).and_all_texts()).unwrap(),
        "b"
    );
    assert!(matches!(names(&Selection::only(["z"])), Err(Error::MissingColumns { .. })));
}

#[test]
fn what_pandas_writes_is_read() {
    let expected = ("a b".to_owned(), "1|x 2| 3|z".to_owned());
    for (text, note) in [
        (
            r#"{"a":{"0":1,"1":2,"2":3},"b":{"0":"x","1":null,"2":"z"}}"#,
            "the columns are the entries of t.json",
        ),
        (
            r#"{"0":{"a":1,"b":"x"},"1":{"a":2,"b":null},"2":{"a":3,"b":"z"}}"#,
            "the rows are the entries of t.json",
        ),
        (r#"{"a":[1,2,3],"b":["x",null,"z"]}"#, "the columns are the entries of t.json"),
        (
            r#"{"columns":["a","b"],"index":[0,1,2],"data":[[1,"x"],[2,null],[3,"z"]]}"#,
            "the rows are the lists of \"data\" in t.json",
        ),
        (
            r#"{"schema":{"fields":[{"name":"a","type":"integer"}],"pandas_version":"1.4.0"},
            "data":[{"a":1,"b":"x"},{"a":2,"b":null},{"a":3,"b":"z"}]}"#,
            "the rows are the objects of \"data\" in t.json",
        ),
        (r#"[["a","b"],[1,"x"],[2,null],[3,"z"]]"#, ""),
    ] {
        let (names, rows, notes) = all(text);
        assert_eq!((names.join(" "), rows.join(" ")), expected, "{text}");
        assert_eq!(notes.first().map_or("", |note| note), note);
    }
    let (names, rows, _) = all(r#"{"a":{"r s":1,"t":2,"u":4},"b":{"r s":3,"t":4,"u":4}}"#);
    assert_eq!((names.join(" "), rows.join(" ")), ("column 1 a b".into(), "r s|1|3 t|2|4 u|4|4".into()));
    let (names, rows, _) = all(r#"{"Ada":{"n":1,"m":2},"Bob":{"m":4,"n":3},"Eve":{"n":3,"m":5}}"#);
    assert_eq!((names.join(" "), rows.join(" ")), ("column 1 n m".into(), "Ada|1|2 Bob|3|4 Eve|3|5".into()));
    let (names, rows, notes) = all("[[1, 2],\n[3, 4, 5], [6]]");
    assert_eq!((names.join(" "), rows.join(" ")), ("column 1 column 2".into(), "1|2 3|4 6|".into()));
    assert_eq!(
        notes,
        [
            "the first list of t.json has values and no names, so the columns are called \"column 1\" and so on",
            "1 list of t.json has more values than there are names; those are ignored"
        ]
    );
}

#[test]
fn a_list_in_a_cell_is_text_as_pandas_writes_it() {
    for text in [
        r#"{"columns":["a","tags"],"index":[0,1],"data":[[1,["x","y"]],[2,[]]]}"#,
        r#"{"a":{"0":1,"1":2},"tags":{"0":["x","y"],"1":[]}}"#,
        r#"{"0":{"a":1,"tags":["x","y"]},"1":{"a":2,"tags":[]}}"#,
    ] {
        let (names, rows, _) = all(text);
        assert_eq!(
            (names.join(" "), rows.join(" ")),
            ("a tags".into(), "1|[\"x\",\"y\"] 2|[]".into()),
            "{text}"
        );
    }
}

#[test]
fn lists_of_one_row_come_behind_others() {
    let long = "x".repeat(60);
    let text =
        format!(r#"{{"meta": [{{"about": "{long}"}}], "data": [{{"a": 1, "b": 2}}, {{"a": 3, "b": 4}}]}}"#);
    let (names, rows, notes) = all(&text);
    assert_eq!((names.join(" "), rows.join(" ")), ("a b".into(), "1|2 3|4".into()));
    assert_eq!(notes[0], "the rows are the objects of \"data\" in t.json");
}

#[test]
fn long_names_are_kept_once() {
    let long = "k".repeat(100_000);
    let rows = "[1,2],".repeat(20_000) + "[{\"x\":1},2]";
    for text in [
        format!("[[\"{long}\",\"b\"],{rows}]"),
        format!("{{\"columns\":[\"{long}\",\"b\"],\"data\":[{rows}]}}"),
    ] {
        let mut reader = JsonReader::new(text.as_bytes(), Path::new("t.json"), &Selection::all()).unwrap();
        assert_eq!(reader.names(), [&long, "b"]);
        let mut last = None;
        while let Some(batch) = reader.next_batch().unwrap() {
            last = batch.values(0).text(batch.rows() - 1).map(str::to_owned);
        }
        assert_eq!(last.as_deref(), Some("{\"x\":1}"));
    }
    let tables: Vec<String> =
        (0..2000).map(|i| format!(r#""{i}":{{"p":{{"0":1,"1":2}},"q":{{"0":1,"1":2}}}}"#)).collect();
    let (_, rows, notes) = all(&format!("{{\"{long}\":{{{}}}}}", tables.join(",")));
    assert_eq!(rows.len(), 1);
    assert_eq!(notes[0], "t.json holds no table that is most of it, so it is read as one row");
    let (_, rows, notes) = all(&format!("{{\"{long}\":[{}]}}", vec!["{\"a\":1}"; 50_000].join(",")));
    assert_eq!(rows.len(), 8192);
    assert_eq!(notes[0], format!("the rows are the objects of \"{}…\" in t.json", "k".repeat(60)));
}

#[test]
fn one_object_without_a_table_is_one_row() {
    for text in [
        r#"{"id": 7, "tags": ["a", "b"], "at": {"x": 1, "y": 2}, "of": {"z": 1}}"#,
        "{\n\"id\": 7, \"tags\": [\"a\", \"b\"],\n\"at\": {\"x\": 1, \"y\": 2}, \"of\": {\"z\": 1}}\n",
    ] {
        let (names, rows, _) = all(text);
        assert_eq!(
            (names.join(" "), rows.join(" ")),
            ("id tags at.x at.y of.z".into(), "7|[\"a\",\"b\"]|1|2|1".into())
        );
    }
}

#[test]
fn settings_and_descriptions_are_no_tables() {
    for text in [
        r#"{"name": "a package with a long description", "scripts": {"build": "make", "test": "make test"}, "people": [{"name": "A"}]}"#,
        r#"{"a": [{"x": 1}, {"x": 2}], "b": [{"y": 1}, {"y": 3}], "c": [{"z": 1}, {"z": 3}]}"#,
        r#"{"one": {"url": "http://a.b", "size": 7}, "all": {"of": {"k": 1, "l": 2}, "it": {"k": 1, "l": 3}}, "more": {"text": "and so on and so on and so on"}, "x": 1}"#,
    ] {
        let (_, rows, notes) = all(text);
        assert_eq!(
            (rows.len(), &notes[0][..]),
            (1, "t.json holds no table that is most of it, so it is read as one row")
        );
    }
}

#[test]
fn objects_over_many_lines_follow_each_other() {
    let table = read("{\n \"a\": 1\n}\n{\n \"a\": {\n}}{\"a\":\n3}\n", &Selection::all());
    let table = table.unwrap();
    assert_eq!((table.names(), table.rows()), (&["a".to_owned()][..], 3));
    assert_eq!(
        [0, 1, 2].map(|row| table.place(row)),
        [(1, 0), (4, 1), (6, 2)].map(|(l, r)| crate::Place::Line(l, r))
    );
    assert_eq!([0, 2].map(|row| table.column(0)[row]), [1.0, 3.0]);
}

/// Texts of braces and of what comes between them, none of which may be more than a table or an error.
#[test]
fn no_text_of_marks_is_more_than_an_error() {
    let marks =
        ["{", "}", "[", "]", ",", ":", "\"a\"", "\"b\"", "\"0\"", "\"", "\\", "1", "null", " ", "\n", "x"];
    let mut state = 7u64;
    for case in 0..200_000 {
        let mut text = ["{", "[[", "{\"a\":[", "{\"a\":{"][case % 4].to_owned();
        for _ in 0..case % 23 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(marks[(state >> 40) as usize % marks.len()]);
        }
        text.push_str(["", "}", "]}", "}}"][case / 4 % 4]);
        if let Ok(mut reader) = JsonReader::new(text.as_bytes(), Path::new("t.json"), &Selection::all()) {
            let _ = reader.next_batch();
        }
    }
    let deep = "{\"a\":".repeat(100_000);
    assert!(read(&deep, &Selection::all()).is_err());
    let closed = format!("{deep}1{}", "}".repeat(100_000));
    assert!(read(&closed, &Selection::all()).is_err());
    let lists = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(read(&lists, &Selection::all()).is_err());
}
