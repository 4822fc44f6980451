use super::*;

const DAY: f64 = 86_400.0;

#[test]
fn the_common_ways_to_write_a_time_are_read() {
    let first = 946_684_800.0;
    for (text, seconds) in [
        ("2000-01-01", first),
        ("2000/1/1", first),
        ("1.1.2000", first),
        ("01.01.00", first),
        ("Jan 1 2000", first),
        ("January 1, 2000", first),
        ("1 January 2000", first),
        ("01-Jan-2000", first),
        ("1-Jan-00", first),
        ("1. Januar 2000", first),
        ("1st January 2000", first),
        ("01JAN2000", first),
        ("Jan 2000", first),
        ("2000-01", first),
        ("2000 Jan", first),
        ("2000-January", first),
        ("2000 Q1", first),
        ("2000Q1", first),
        ("Q1-2000", first),
        ("2000-Q2", first + 91.0 * DAY),
        ("Sat, 01 Jan 2000 00:00:00 GMT", first),
        ("Saturday 1 January 2000", first),
        ("2000-01-01T12:30:00.5Z", first + 12.5 * 3600.0 + 0.5),
        ("2000-01-01 12:30:00+02:00", first + 10.5 * 3600.0),
        ("2000-01-01 12:30 -0500", first + 17.5 * 3600.0),
        ("01/Jan/2000:12:30:00 +0000", first + 12.5 * 3600.0),
        ("Jan 1, 2000 1:30 PM", first + 13.5 * 3600.0),
        ("1.1.2000, 13:30", first + 13.5 * 3600.0),
        ("12:30", 12.5 * 3600.0),
        ("9:30:15 pm", 21.5 * 3600.0 + 15.0),
        ("12:00 AM", 0.0),
    ] {
        let read = read(text).unwrap_or_else(|| panic!("{text} is not read"));
        assert_eq!((read.dmy, read.mdy), (Some(seconds), Some(seconds)), "{text}");
    }
    let either = read("1/2/2000").unwrap();
    assert_eq!((either.dmy, either.mdy), (Some(first + 31.0 * DAY), Some(first + DAY)));
    assert_eq!(either.by(None), None);
    let american = read("1/31/2000 5:00 PM").unwrap();
    assert_eq!((american.dmy, american.mdy), (None, Some(first + 30.0 * DAY + 17.0 * 3600.0)));
}

#[test]
fn other_texts_are_no_times() {
    for text in [
        "",
        "2024",
        "1.5",
        "1.5.3",
        "2024-13-01",
        "31.02.2024",
        "May",
        "March",
        "Mar 5",
        "25:00",
        "12:60",
        "1/2",
        "V57",
        "10-20",
        "1-2-3",
        "2024-01-01x",
        "2024-01-01 ",
        "jan-feb",
        "5 apples 2000",
        "192.168.10.1",
        "2024-01-01 noon",
        "20240131",
        "12:30 12:30",
        "may 2000 x",
        "2000 Q5",
        "2000 Quarter",
        "Q1",
        "2000 apples",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}
