use std::io;

use super::*;
use crate::budget::longest_row;
use crate::{BATCH_ROWS, Place, ReadAs, Values};

fn open(text: &[u8]) -> Result<CsvReader<&[u8]>> {
    CsvReader::new(text, b',', Path::new("t.csv"), &Selection::all())
}

fn first(text: &[u8]) -> Result<Table> {
    Ok(open(text)?.next_batch()?.expect("a first batch"))
}

#[test]
fn numbers_are_read_whatever_the_line_ends() {
    let expected =
        Table::new(vec!["a".into(), "b c".into()], vec![vec![1.0, -2.5e3], vec![0.5, 4.0]]).unwrap();
    for text in [
        "a,b c\n1,.5\n-2.5e3,4\n",
        "a,b c\r\n1,0.5\r\n-2.5e3,4",
        "\u{feff}a, b c \n\n 1,\"0.5\"\n\n\n-2500 , +4\n\n",
        "a,b c\r1,0.5\r-2500,4",
    ] {
        assert_eq!(first(text.as_bytes()).unwrap(), expected, "{text:?}");
    }
}

#[test]
fn lines_are_counted_past_blank_lines_and_line_breaks_in_cells() {
    for (text, line) in [
        ("a,b\n1,2\n3,x\n", 3),
        ("a,b\r\n1,2\r\n3,x\r\n", 3),
        ("\n\na,b\n1,2\n\n\n3,x\n", 7),
        ("a,b\r\n\r\n1,2\r\n\r\n3,x", 5),
        ("a,\"b\nb\"\n1,2\n3,x", 4),
        ("a,b\r1,2\r3,x\r", 3),
        ("\r\ra,b\r1,2\r\r\r3,x\r", 7),
        ("a,\"b\r\nb\"\r\n1,2\r\n3,x", 4),
        ("a,b\r\n1,2\n\r\n\n3,x", 5),
    ] {
        let numbers = Selection::all().reading("b", ReadAs::Numbers).reading("b\nb", ReadAs::Numbers);
        let numbers = numbers.reading("b\r\nb", ReadAs::Numbers);
        let mut reader = CsvReader::new(text.as_bytes(), b',', Path::new("t.csv"), &numbers).unwrap();
        match reader.next_batch() {
            Err(Error::NotNumber { place: Place::Line(found, 1), .. }) => {
                assert_eq!(found, line, "{text:?}")
            }
            other => panic!("{text:?} gives {other:?}"),
        }
    }
}

#[test]
fn decimal_commas_are_read_between_semicolons_alone() {
    let read = |text: &str, delimiter| {
        let path = Path::new("t.csv");
        let mut reader = CsvReader::new(text.as_bytes(), delimiter, path, &Selection::all()).unwrap();
        reader.next_batch().unwrap().unwrap()
    };
    let table = read("a;b;c\n1,5;x,1;10\n-2;y,2;0,5\n", b';');
    assert_eq!((table.column(0), table.column(2)), (&[1.5, -2.0][..], &[10.0, 0.5][..]));
    assert_eq!(table.values(1).text(0), Some("x,1"));
    assert_eq!(read("a;b\n1,5;2\n2.5;3\n", b';').values(0).text(1), Some("2.5"), "points and commas");
    assert_eq!(read("a,b\n\"1,5\",2\n\"2,5\",3\n", b',').values(0).text(0), Some("1,5"));
}

#[test]
fn missing_values_are_nan() {
    let table = first(b"a,b,c\n,NA,nan\n1,null,N/A\n").unwrap();
    assert!(table.column(0)[0].is_nan() && table.column(1).iter().all(|value| value.is_nan()));
    assert_eq!(table.place(1), Place::Line(3, 1));
    let gap = first(b"a\n\n1\n\n\n2\n").unwrap();
    assert!(gap.column(0)[1].is_nan() && gap.column(0)[2].is_nan());
    assert_eq!((gap.rows(), gap.place(1), gap.place(3)), (4, Place::Line(4, 1), Place::Line(6, 3)));
    assert_eq!(first(b"a\n1\n2\n\n\n").unwrap().rows(), 2);
    assert_eq!(first(b"a\r\n1\r\n2\r\n\r\n").unwrap().rows(), 2);
}

#[test]
fn the_header_line_is_checked() {
    assert!(matches!(open(b""), Err(Error::EmptyFile { .. })));
    assert!(matches!(open(b"\n\r\n"), Err(Error::EmptyFile { .. })));
    let numbers = first(b"1.5,2,3\n4,5,6\n").unwrap();
    assert_eq!(
        (numbers.names(), numbers.column(0)),
        (&["column 1", "column 2", "column 3"].map(String::from)[..], &[1.5, 4.0][..])
    );
    assert_eq!(first(b"a,b,a\n1,2,3\n").unwrap().names(), ["a", "b", "a (2)"]);
    assert_eq!(first(b"a,na\xefve\n1,2\n").unwrap().names(), ["a", "naïve"]);
    assert_eq!(first(b"0,1,2\n4,5,6\n").unwrap().names(), ["0", "1", "2"]);
}

/// Any number of blank lines is read in batches of ordinary size.
#[test]
fn blank_lines_take_no_room() {
    let text = format!("a\n1\n{}2\n\n3\n", "\n".repeat(3 * BATCH_ROWS));
    let mut reader = open(text.as_bytes()).unwrap();
    let (mut rows, mut present) = (0, Vec::new());
    while let Some(batch) = reader.next_batch().unwrap() {
        assert!(batch.rows() <= BATCH_ROWS);
        for (row, value) in batch.column(0).iter().enumerate().filter(|(_, value)| !value.is_nan()) {
            present.push((rows + row, *value, batch.place(row)));
        }
        rows += batch.rows();
    }
    let last = 3 * BATCH_ROWS as u64;
    let place = |row: u64, value: f64| (row as usize, value, Place::Line(row + 2, row));
    assert_eq!(rows, 3 * BATCH_ROWS + 4);
    assert_eq!(present, [place(0, 1.0), place(last + 1, 2.0), place(last + 3, 3.0)]);
}

#[test]
fn bad_rows_are_errors() {
    assert!(matches!(first(b"a,b\n"), Err(Error::NoRows { .. })));
    assert!(matches!(first(b"a,b\n1,2,3\n"), Err(Error::Ragged { line: 2, found: 3, expected: 2 })));
    assert_eq!(first(b"a,b\n1,caf\xe9\n").unwrap().values(1).text(0), Some("café"));
    let mut endless = b"a,b\n1,2\n3,\"".to_vec();
    endless.resize(longest_row() + 5000, b'x');
    assert!(matches!(first(&endless), Err(Error::LongRow { line: 3, column: 2, .. })));
}

#[test]
fn rows_of_other_lengths_are_read_where_they_have_one_reading() {
    let text = format!("a,b\n{}3\n4,5,,\n6,7,8\n", "1,2\n".repeat(30));
    let mut reader = open(text.as_bytes()).unwrap();
    let table = reader.next_batch().unwrap().unwrap();
    assert_eq!(
        (table.rows(), table.column(0)[30], table.column(1)[31], table.column(1)[32]),
        (33, 3.0, 5.0, 7.0)
    );
    assert!(table.column(1)[30].is_nan());
    assert_eq!(
        reader.about().notes,
        [
            "line 32 has too few cells; the rest are treated as missing",
            "line 34 has too many cells; cells beyond the last column are ignored"
        ]
    );
}

#[test]
fn texts_times_and_numbers_are_told_apart() {
    let table = first(b"n,w,t,m\n1,a,2024-01-31,7\n,b,,x\n2.5,,2024-02-01 06:00,\n3,a,NA,?\n").unwrap();
    assert!(matches!(table.values(0), Values::Numbers(_)));
    assert!(matches!(table.values(2), Values::Times(times) if times[2] - times[0] == 30.0 * 3600.0));
    let words: Vec<Option<&str>> = (0..4).map(|row| table.values(1).text(row)).collect();
    assert_eq!(words, [Some("a"), Some("b"), None, Some("a")]);
    let mixed: Vec<Option<&str>> = (0..4).map(|row| table.values(3).text(row)).collect();
    assert_eq!(mixed, [Some("7"), Some("x"), None, None]);
    let texts = Selection::only(["n"]).reading("n", ReadAs::Texts);
    let mut reader = CsvReader::new(&b"n\n01\n1\n"[..], b',', Path::new("t.csv"), &texts).unwrap();
    assert_eq!(reader.next_batch().unwrap().unwrap().values(0).text(0), Some("01"));
}

#[test]
fn an_open_quotation_mark_is_an_error_in_any_column() {
    let read = |text: &str| {
        let mut reader =
            CsvReader::new(text.as_bytes(), b',', Path::new("t.csv"), &Selection::except(&["name"]))?;
        Ok(reader.next_batch()?.expect("rows").column(0).to_vec())
    };
    for (text, line) in [
        ("x,name\n1,\"Bob\n2,Eve\n3,Tom\n", 2),
        ("x,name\n1,Bob\n2,\"Eve\n3,Tom", 3),
        ("name,x\nBob,1\nEve,\"2\nTom,3\n", 3),
        ("x,name\n1,\"Bob\"\"\n2,Eve\n", 2),
        ("x,name\n1,Bob\n2,\"", 3),
        ("x,\"name\n1,Bob\n2,Eve\n", 1),
    ] {
        let error: Error = read(text).unwrap_err();
        assert!(matches!(error, Error::OpenQuote { line: found } if found == line), "{text:?}: {error}");
    }
    for text in [
        "x,name\n1,\"Bob\n\nEve\"\n\"2\",\"To\"\"m\"\n",
        "x,name\n1,\"Bob\"\n2,\"Eve\nTom\"",
        "x,name\r\n1,Bob\r\n2,\"Eve\"\"\r\n\"",
    ] {
        assert_eq!(read(text).unwrap(), [1.0, 2.0], "{text:?}");
    }
}

#[test]
fn columns_that_are_not_selected_may_hold_anything() {
    let selection = Selection::except(&["name"]);
    let text = b"name,x\n\"a, b\nc\",1\n\xff\xfe,2\n";
    let mut reader = CsvReader::new(&text[..], b',', Path::new("t.csv"), &selection).unwrap();
    assert_eq!(reader.next_batch().unwrap().unwrap().column(0), [1.0, 2.0]);
    assert!(reader.next_batch().unwrap().is_none());
}

#[test]
fn a_wide_table_has_short_batches() {
    assert_eq!([0, 1, 512, 1024, 10_000_000].map(batch_rows), [8192, 8192, 8192, 4096, 1]);
}

/// A buffer of a few bytes never has a whole line, so that every row goes the long way.
#[test]
fn plain_lines_are_read_as_all_others_are() {
    let mut state = 7u64;
    for case in 0..20_000 {
        let marks = [b"a", b"1", b",", b",", b"\n", b"\n", b"\r", b"\"", b" ", b"."];
        let mut text = b"x,y\n".to_vec();
        for _ in 0..case % 40 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.extend(marks[(state >> 40) as usize % marks.len()]);
        }
        let read = |capacity: usize| {
            let input = io::BufReader::with_capacity(capacity, &text[..]);
            let mut reader = CsvReader::new(input, b',', Path::new("t.csv"), &Selection::all())?;
            let table = reader.next_batch()?.expect("rows");
            let cell = |index| (0..table.rows()).map(move |row| (row, index));
            let cells = (0..2).flat_map(cell).map(|(row, index)| table.values(index).cell(row));
            let places = (0..table.rows()).map(|row| table.place(row));
            Ok::<_, Error>((cells.collect::<Vec<_>>(), places.collect::<Vec<_>>()))
        };
        let (long, plain) = (read(2), read(1 << 16));
        assert_eq!(
            long.map_err(|error| error.to_string()),
            plain.map_err(|error| error.to_string()),
            "{:?}",
            String::from_utf8_lossy(&text)
        );
    }
}

#[test]
fn batches_follow_each_other() {
    let mut text = String::from("x\n");
    (0..2 * BATCH_ROWS + 5).for_each(|i| text.push_str(&format!("{i}\n")));
    let mut reader = open(text.as_bytes()).unwrap();
    let mut rows = Vec::new();
    while let Some(batch) = reader.next_batch().unwrap() {
        assert!(batch.column(0)[0] == rows.iter().sum::<usize>() as f64);
        rows.push(batch.rows());
    }
    assert_eq!(rows, [BATCH_ROWS, BATCH_ROWS, 5]);
}

/// The same rows with quotation marks around every cell take the way of one row at a time.
#[test]
fn rows_cut_many_at_once_are_those_read_one_at_a_time() {
    let mut state = 7u64;
    let mut random = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    for (round, width) in [2, 3, 7, 2, 40, 3].into_iter().enumerate() {
        let names: Vec<String> = (0..width).map(|column| format!("c{column}")).collect();
        let [mut plain, mut quoted] = [names.join(",") + "\n", names.join(",") + "\n"];
        // Rows enough for more than one batch and one block; odd ones are rare in some rounds, frequent in others.
        let odd = [1 << 40, 3, 500][round % 3];
        for row in 0..(400_000 / width).min(20_000) {
            let end = if random(odd) == 0 { "\r\n" } else { "\n" };
            let cells: Vec<String> = (0..width)
                .map(|_| match random(5) {
                    0 => random(1000).to_string(),
                    1 => format!("-{}.{}", random(100), random(10_000)),
                    2 => format!(" town{} ", random(300)),
                    3 => String::new(),
                    _ => format!("é{}", random(1 << 20)),
                })
                .collect();
            // Too few cells, a blank line, a quotation mark that the other text has too.
            let cells = &cells[..if row > 20 && random(odd) == 0 { width - 1 } else { width }];
            let marked = random(odd) == 0;
            let marks = |cell: &String| format!("\"{cell}\"");
            let all = cells.iter().map(marks).collect::<Vec<_>>().join(",");
            plain += &(if marked { all.clone() } else { cells.join(",") });
            quoted += &all;
            for text in [&mut plain, &mut quoted] {
                text.push_str(end);
            }
            if random(odd) == 0 {
                plain += "\n";
                quoted += "\n";
            }
        }
        let read = |text: &str| {
            let input = io::BufReader::with_capacity([1 << 18, 5000][round / 3], text.as_bytes());
            let mut reader = CsvReader::new(input, b',', Path::new("t.csv"), &Selection::all()).unwrap();
            let mut batches = Vec::new();
            while let Some(batch) = reader.next_batch().unwrap() {
                let lines: Vec<Place> = (0..batch.rows()).map(|row| batch.place(row)).collect();
                batches.push((format!("{batch:?}"), lines));
            }
            (batches, reader.about().notes)
        };
        let (plain, quoted) = (read(&plain), read(&quoted));
        assert!(plain == quoted, "round {round}");
        assert!(plain.0.len() > 1);
    }
}

#[test]
fn a_carriage_return_within_a_line_ends_it_wherever_it_is() {
    let plain = "a,b\n1,2\n".to_owned() + &"3,4\n".repeat(5000);
    for (text, rows) in [
        (plain.clone() + "5,6\r7,8\n9,10\n", 5004),
        (plain.clone() + "5,6\r\n7,8\r\n\r\n9,10", 5004),
        (plain.replace('\n', "\r"), 5001),
        (plain.replace('\n', "\r\n"), 5001),
        (plain.clone() + "5,6,\n7,8\n", 5003),
    ] {
        let mut reader = open(text.as_bytes()).unwrap();
        let mut found = 0;
        while let Some(batch) = reader.next_batch().unwrap() {
            found += batch.rows();
            assert!(batch.values(0).numbers().is_some() && batch.values(1).numbers().is_some());
        }
        assert_eq!(found, rows);
    }
}

#[test]
fn names_once_more_are_left_out() {
    let rows = "1,x\n2,y\n".repeat(5000);
    for (names, marked) in [("n,word\n", false), ("\"n\",\"word\"\n", true), ("n , word\r\n", false)] {
        let text = format!("n,word\n{rows}{names}{rows}{names}");
        let mut reader = open(text.as_bytes()).unwrap();
        let mut found = Vec::new();
        while let Some(batch) = reader.next_batch().unwrap() {
            assert!(batch.values(0).numbers().is_some(), "{marked}");
            found.extend((0..batch.rows()).map(|row| batch.place(row)));
        }
        assert_eq!(found.len(), 20_000);
        assert_eq!([found[9_999], found[10_000]], [Place::Line(10_001, 9_999), Place::Line(10_003, 10_000)]);
        assert_eq!(
            reader.about().notes,
            ["2 rows have the names of the columns once more, the first in line 10002; they are left out"]
        );
    }
    let mut reader = open(b"n\n1\nn\n2\n").unwrap();
    assert_eq!(reader.next_batch().unwrap().unwrap().rows(), 3, "a single cell may be a value");
    let only = "a,b\n".repeat(20_000);
    assert_eq!(first(only.as_bytes()).unwrap().rows(), 8192);
}

#[test]
fn a_first_row_that_comes_again_is_a_row_where_nothing_tells_names() {
    let rows = |text: &str| first(text.as_bytes()).unwrap().rows();
    assert_eq!(rows("red,big\nblue,small\nred,big\nred,small\n"), 3);
    assert_eq!(rows("red,7\nblue,8\nred,7\nred,9\n"), 3, "the first line has a number itself");
    assert_eq!(rows("shop,day\nBern,2024-01-31\nshop,day\nChur,NA\n"), 2);
    assert_eq!(rows("shop,n\nshop,n\n\"Bern\",12:30\nChur,9:05\n"), 2);
    let all = "a,b\n".repeat(9000) + "x,1\n";
    let mut reader = open(all.as_bytes()).unwrap();
    let mut found = 0;
    while let Some(batch) = reader.next_batch().unwrap() {
        found += batch.rows();
    }
    assert_eq!(found, 8193, "a batch without other rows tells nothing");
}

#[test]
fn lines_that_are_drawn_between_rows_are_left_out() {
    for (text, names) in [
        ("a|b\n---|---:\n1|x\n2|y\n", "a|b"),
        (" a | b \n---+---\n 1 | x \n 2 | y \n", "a|b"),
        ("a|b\n:--|:-:\n1|x\n----+---\n2|y\n", "a|b"),
    ] {
        let mut reader =
            CsvReader::new(text.as_bytes(), b'|', Path::new("t.csv"), &Selection::all()).unwrap();
        let table = reader.next_batch().unwrap().unwrap();
        assert_eq!((table.names().join("|").as_str(), table.rows()), (names, 2), "{text}");
        assert_eq!(table.column(0), [1.0, 2.0]);
    }
    assert_eq!(first(b"a,b\n--,--\n1,2\n").unwrap().rows(), 2);
    for text in ["a|b\n--|--\n1|x\n", "a|b\n1|x\n---|---\n", "a|b\n1|x\n+|--\n", "a|b\n1|x\n\"---\"|---\n"] {
        let mut reader =
            CsvReader::new(text.as_bytes(), b'|', Path::new("t.csv"), &Selection::all()).unwrap();
        assert_eq!(reader.next_batch().unwrap().unwrap().rows(), 2, "marks of missing values: {text}");
    }
}
