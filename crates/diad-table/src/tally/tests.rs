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
    assert_eq!(clock(&["235 m", "12 m", "7 m", "8 m", "9 m", "0:30"]), None);
    assert_eq!(clock(&["9:45 pm", "12:30", "45:30"]), Some(Clock::Minutes));
    let hours: Vec<String> = (0..200).map(|i| format!("{:02}:00", i % 24 + 1)).collect();
    assert_eq!(one(&hours).notation.clock, Some(Clock::Minutes), "24:00 is the end of a day");
    let slip = hours.into_iter().chain(["45:30".to_owned()]);
    assert_eq!(one(slip).notation.clock, Some(Clock::Minutes));
    let events: Vec<String> = (0..60)
        .map(|i| if i % 6 == 0 { "09:15".to_owned() } else { format!("2024-03-{:02} 09:15", 1 + i % 28) })
        .collect();
    assert_eq!(one(events).read_as, ReadAs::Times, "times of day beside dates");
    let some = one(["12:30:00", "45", "13:30:00", "14:30:00"]);
    assert_eq!((some.stray_rows, some.notation.number("45")), (0, Some(45.0)));
    let epoch = one(["1970-01-01 00:00:00", "1970-01-01 00:00:10"]);
    assert_eq!(epoch.notation.number("1970-01-01 00:00:10").unwrap_or(10.0), 10.0);
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

#[test]
fn numbers_with_the_same_unit_are_numbers() {
    let unit = |cells: &[&str]| {
        let read = one(cells.iter().cycle().take(60));
        (read.read_as, read.notation.unit.map(|unit| unit.concat()), read.stray_rows)
    };
    let numbers = |unit: &str| (ReadAs::Numbers, Some(unit.to_owned()), 0);
    assert_eq!(unit(&["72.3 kg", "80 kg", "65.1kg", "90 kg", "n/a", "77 kg"]), numbers("kg"));
    assert_eq!(unit(&["180cm", "175cm", "169cm", "181cm", "190cm"]), numbers("cm"));
    assert_eq!(unit(&["1 day", "2 days", "5 days", "7 days", "9 days"]), numbers("day"));
    assert_eq!(unit(&["$5/mo", "$6/mo", "$7/mo", "$8/mo", "$12/mo"]), numbers("$/mo"));
    assert_eq!(unit(&["€132K", "€260K", "€33K", "€350K", "€90K"]), numbers("€K"));
    assert_eq!(unit(&["1.5V", "2V", "3V", "4.5V", "5V"]), numbers("V"));
    let comma = one(["1.072,3 kg", "80,5 kg", "7 kg", "8 kg", "9,1 kg"]);
    assert!(comma.notation.decimal_comma && comma.notation.number("1.072,3 kg") == Some(1072.3));
    assert_eq!(comma.remarks, [Remark::DecimalComma, Remark::Unit]);
    let texts = |cells: &[&str]| assert_eq!(unit(cells), (ReadAs::Texts, None, 0), "{cells:?}");
    texts(&["72 kg", "160 lb", "65 kg", "150 lb", "70 kg", "71 kg"]);
    texts(&["A12", "B13", "C14", "D15", "E16"]);
    texts(&["12A", "13A", "14A", "15A", "16A", "17A"]);
    texts(&["12A", "13B", "14A", "15C", "16A", "17A"]);
    texts(&["XL", "2XL", "3XL", "L", "M"]);
    texts(&["2XL", "3XL", "4XL"]);
    texts(&["1st", "2nd", "3rd", "4th", "5th", "6th"]);
    texts(&["1B", "2B", "3B", "SS", "C"]);
    texts(&["I10", "E11.9", "J45", "V57", "12A"]);
    texts(&["008615US", "018616US", "108617US", "208618US", "308619US"]);
    texts(&[
        "284269312477296076ab",
        "284269312477296077ab",
        "28426931247729608ab",
        "3842693124772960ab",
        "1842693124772960ab",
    ]);
    texts(&["6786 UA", "6487 UA", "12 UA", "993 UA", "17 UA"]);
    texts(&["670ABC", "671ABC", "672ABC", "67ABC", "1ABC"]);
    texts(&["1960s", "1970s", "1980s", "1990s", "2000s"]);
    texts(&["108b", "450b", "266b", "12b", "300b"]);
    texts(&["6.10b", "6.11b", "7.1b", "7.2b", "8.0b"]);
    texts(&["8B", "10M", "9B", "7M", "11B", "12M"]);
    assert_eq!(unit(&["12s", "1970s", "35s", "40s", "55s"]), numbers("s"));
    assert_eq!(unit(&["512 MB", "16 MB", "32 MB", "64 MB", "128 MB"]), numbers("MB"));
}

#[test]
fn a_slip_among_units_is_a_stray_cell() {
    let cells = (0..99).map(|i| format!("{} kg", 50 + i % 40)).chain(["160 lb".to_owned()]);
    let read = one(cells);
    assert_eq!((read.read_as, read.stray_rows), (ReadAs::Numbers, 1));
    assert_eq!(read.strays[0].text, "160 lb");
    assert!(read.notation.number("72.3 kg") == Some(72.3) && read.notation.number("72") == Some(72.0));
    assert!(read.notation.number("160 lb").is_some_and(f64::is_nan));
}

#[test]
fn letters_for_thousands_are_multiples_beside_plain_numbers() {
    let views = one(["950", "3.5k", "1.2M", "12k", "700", "88", "1M"]);
    assert_eq!(
        (views.read_as, views.stray_rows, &views.remarks[..]),
        (ReadAs::Numbers, 0, &[Remark::Multiples][..])
    );
    assert_eq!(
        ["950", "3.5k", "1.2M"].map(|cell| views.notation.number(cell)),
        [950.0, 3500.0, 1.2e6].map(Some)
    );
    let values = one(["€110.5M", "€77M", "€565K", "€1.1M", "€900K", "€0"]);
    assert_eq!(values.notation.number("€565K"), Some(565_000.0));
    assert_eq!(values.notation.unit, Some(["€".into(), String::new()]));
    for few in 1..10 {
        let cells = (0..200).map(|i| i.to_string()).chain((0..few).map(|i| format!("1.{i}4K")));
        let read = one(cells.chain(["8K".to_owned()]));
        assert_eq!((read.read_as, read.stray_rows), (ReadAs::Numbers, 0), "{few}");
        assert_eq!(
            ["1.4K", "8K", "17"].map(|cell| read.notation.number(cell)),
            [1400.0, 8000.0, 17.0].map(Some)
        );
    }
    let houses: Vec<String> =
        (1..200).map(|i| i.to_string()).chain(["98B", "12M", "9K"].map(str::to_owned)).collect();
    assert!(!one(houses).notation.multiples);
    for houses in [&["12", "12B", "14", "15", "7", "9"][..], &["12", "12B", "14A", "15", "7", "9K"]] {
        assert_eq!(one(houses).read_as, ReadAs::Texts, "{houses:?}");
    }
    assert_eq!(one(["12k", "13k", "14k", "15k", "16k"]).notation.unit, Some([String::new(), "k".into()]));
}

#[test]
fn eight_digits_may_be_dates() {
    let dates = ["20150803", "20150814", "20150928", "NA", "20151101", "20151231"];
    let read = one(dates);
    assert_eq!((read.read_as, &read.remarks[..]), (ReadAs::Times, &[Remark::EightDigits][..]));
    assert_eq!(read.notation.time("19700103"), Some(2.0 * 86_400.0));
    let numbers = Table::new(
        vec!["x".into()],
        vec![vec![20_150_803.0, f64::NAN, 20_150_814.0, 20_150_928.0, 20_151_101.0, 20_151_231.0]],
    );
    let mut tally = Tally::default();
    tally.add(&numbers.unwrap(), 0, usize::MAX);
    assert_eq!(understood(&[tally.clone()], &[], Hints::default())[0].read_as, ReadAs::Times);
    assert_eq!(understood(&[tally], &[Some(ReadAs::Numbers)], Hints::default())[0].read_as, ReadAs::Numbers);
    for other in [
        // One is no date, no late days, one month, few rows, years out of the ordinary, one has fewer digits.
        &["20150803", "20150814", "20150928", "20151301", "20151231", "20151130"][..],
        &["20150801", "20150901", "20151001", "20151101", "20151201"],
        &["20150813", "20150814", "20150815", "20150816", "20150817"],
        &["20150813", "20150914", "20150815", "20150916"],
        &["18150813", "18150914", "18150815", "18150916", "18151231"],
        &["20150813", "20150914", "20150815", "20150916", "2015123"],
        &["20150230", "20150214", "20150315", "20150416", "20151231"],
    ] {
        assert_eq!(one(other).read_as, ReadAs::Numbers, "{other:?}");
    }
}
