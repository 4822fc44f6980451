use super::*;
use crate::{Clock, ReadAs};

fn tally<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> Tally {
    let texts: Texts = cells.into_iter().map(Some).collect();
    let batch = Table::of(vec!["x".into()], vec![texts.into()]).unwrap();
    let mut tally = Tally::default();
    tally.add(&batch, 0, usize::MAX);
    tally
}

fn one<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> Understood {
    understood(&[tally(cells)], &[], Hints::default()).remove(0)
}

#[test]
fn the_decimal_mark_is_decided_by_the_whole_column() {
    let comma = |cells: &[&str]| one(cells).notation.decimal_comma;
    assert!(comma(&["1,5", "1,234", "7"]));
    assert!(comma(&["1.234,50 €", "12,00 €"]));
    assert!(!comma(&["1,234.50", "1,234"]));
    assert!(!comma(&["1,234", "12,345"]), "thousands, unless something else tells");
    assert!(!comma(&["1.234", "12.345"]));
    let beside = |cells: &[&str], hints| understood(&[tally(cells), tally(["0,5"])], &[], hints);
    assert!(beside(&["1.234", "950"], Hints::default())[0].notation.decimal_comma, "as the other column");
    assert!(!beside(&["1.5", "950"], Hints::default())[0].notation.decimal_comma);
    let semicolons = Hints { semicolons: true, ..Hints::default() };
    assert!(understood(&[tally(["1,234"])], &[], semicolons)[0].notation.decimal_comma);
    assert!(!understood(&[tally(["48.123", "11.567"])], &[], semicolons)[0].notation.decimal_comma);
}

#[test]
fn the_order_of_day_and_month_is_decided_by_the_whole_column() {
    let order = |cells: &[&str]| one(cells).notation.dates;
    assert_eq!(order(&["01/02/2024", "31/01/2024"]), Some(DateOrder::Dmy));
    assert_eq!(order(&["01/02/2024", "01/31/2024"]), Some(DateOrder::Mdy));
    assert_eq!(order(&["01/02/2024", "01/03/2024"]), Some(DateOrder::Dmy), "the first of each month");
    assert_eq!(order(&["02/03/2024", "01/02/2024"]), Some(DateOrder::Mdy));
    assert_eq!(order(&["31.01.2024", "2024-01-31"]), None);
    let asked = Hints { dates: Some(DateOrder::Dmy), ..Hints::default() };
    assert_eq!(understood(&[tally(["02/03/2024", "01/02/2024"])], &[], asked)[0].notation.dates, asked.dates);
}

#[test]
fn stray_texts_become_gaps_and_codes_become_categories() {
    let numbers = |extra: &[&str]| {
        let cells =
            (0..200).map(|i| format!("{}.5", i % 90)).chain(extra.iter().map(|&text| text.to_owned()));
        one(cells)
    };
    for extra in
        [&["-"][..], &["--", "**"], &["pending"], &["oops"], &["At-Large"], &["12a"], &["<5", "2024-01-31"]]
    {
        let read = numbers(extra);
        assert_eq!((read.read_as, read.stray_rows), (ReadAs::Numbers, extra.len() as u64), "{extra:?}");
        assert!(read.notation.stray);
    }
    for words in [["Refused"; 2], ["n/k", "s.d."], ["continuous", "<1"]] {
        let whole = (0..120).map(|i| (i % 12).to_string()).chain(words.map(str::to_owned));
        assert_eq!(one(whole).read_as, ReadAs::Numbers, "{words:?}");
    }
    let grades = (0..120).map(|i| if i % 13 == 0 { "K".to_owned() } else { (i % 13).to_string() });
    assert_eq!(one(grades).read_as, ReadAs::Texts);
    let codes = numbers(&["V57", "E909", "V58"]);
    assert_eq!((codes.read_as, codes.remarks), (ReadAs::Texts, vec![Remark::Codes]));
    assert_eq!(one(["1", "2", "many", "3", "2", "1", "1", "1"]).read_as, ReadAs::Texts);
    assert_eq!(one(["1", "2", "-", "3", "2", "1", "1", "1"]).read_as, ReadAs::Numbers);
}

#[test]
fn digits_may_be_codes() {
    assert_eq!(one(["01234", "90210", "10001"]).remarks, [Remark::Digits]);
    assert_eq!(one(["4929123412341234", "5500005555555559"]).read_as, ReadAs::Texts);
    assert_eq!(one(["0", "10", "5"]).read_as, ReadAs::Numbers);
    let typo = (0..100).map(|i| if i == 7 { "007".to_owned() } else { (i * i).to_string() });
    assert_eq!(one(typo).read_as, ReadAs::Numbers);
}

#[test]
fn truth_values_are_told() {
    let read = one(["TRUE", "False", "false", "TRUE"]);
    assert_eq!(read.notation.truths, Some(["False".into(), "TRUE".into()]));
    assert_eq!(one(["Y", "N"]).notation.truths, Some(["N".into(), "Y".into()]));
    assert_eq!(one(["YES", "YES"]).notation.truths, Some(["FALSE".into(), "YES".into()]));
    assert_eq!(one(["yes", "no", "maybe"]).notation.truths, None);
}

#[test]
fn times_of_a_day_and_durations_are_told_by_the_whole_column() {
    let clock = |cells: &[&str]| {
        let found = one(cells);
        (found.read_as == ReadAs::Numbers).then_some(found.notation.clock).flatten()
    };
    assert_eq!(clock(&["12:30", "9:05", "23:59"]), Some(Clock::Minutes));
    assert_eq!(clock(&["12:30", "9:05:10", "23:59"]), Some(Clock::Seconds));
    assert_eq!(clock(&["3:45", "45:30", "1:02:15"]), Some(Clock::Short));
    assert_eq!(clock(&["0 days 00:05:00", "12 days 01:02:03"]), Some(Clock::Seconds));
    assert_eq!(clock(&["2h 15m", "45m", "1h"]), Some(Clock::Seconds));
    assert_eq!(clock(&["45m", "30m", "20m"]), None);
    assert_eq!(clock(&["3:1", "2:0", "1:1"]), None);
    assert_eq!(clock(&["2024-01-31 12:30", "2024-02-01 12:31"]), None);
    let mut cells = vec!["12:30:00"; 60];
    cells.extend(["24:61:00", "late"]);
    let found = one(cells);
    assert_eq!((found.notation.clock, found.stray_rows), (Some(Clock::Seconds), 2));
    assert_eq!(found.strays.iter().map(|stray| &stray.text[..]).collect::<Vec<_>>(), ["24:61:00", "late"]);
}

#[test]
fn times_of_typed_columns_without_a_date_are_those_of_a_day() {
    let typed = |times: Vec<f64>| {
        let batch = Table::of(vec!["x".into()], vec![Values::Times(times)]).unwrap();
        let mut tally = Tally::default();
        tally.add(&batch, 0, usize::MAX);
        understood(&[tally], &[], Hints::default()).remove(0)
    };
    let day = typed(vec![45_000.0, f64::NAN, 86_399.0]);
    assert_eq!((day.read_as, day.notation.clock), (ReadAs::Numbers, Some(Clock::Seconds)));
    assert_eq!(day.stray_rows, 0);
    assert_eq!(typed(vec![45_000.0, 86_400.0]).read_as, ReadAs::Times);
}
