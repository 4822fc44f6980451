//! Comments above a table: lines that start with `#`, as programs of scientists write them. The last of them may have the names.

use crate::detect;
use crate::spaces;

const MARK: u8 = b'#';

/// What stands above a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Comments {
    /// Its bytes, with the mark before the names, if they are in the last comment.
    pub(crate) bytes: usize,
    /// The lines that end in it.
    pub(crate) lines: u64,
}

/// The comments above a table; none where lines that start so are its names or its rows.
pub(crate) fn above(start: &[u8], whole: bool) -> Comments {
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let mark = start.len() - text.len();
    let commented = text.split_inclusive(|&byte| byte == b'\n').take_while(|line| line.starts_with(&[MARK]));
    let comments: Vec<&[u8]> = commented.collect();
    let length: usize = comments.iter().map(|line| line.len()).sum();
    let below = &text[length..];
    let (Some(&last), Some(row)) = (comments.last(), below.split(|&byte| byte == b'\n').next()) else {
        return Comments::default();
    };
    if below.trim_ascii().is_empty() {
        return Comments::default();
    }
    let names = uncommented(last);
    let delimiter = |text: &[u8]| detect::uncommented(text, whole).delimiter;
    // Names that stand in the line above numbers, as many as there are cells.
    let named = delimiter(&text[length - names.len()..]);
    let row_cells = cells(row, named);
    let is_named =
        cells(names, named).len() == row_cells.len() && row_cells.iter().any(|cell| is_number(cell));
    // Rows of the table, by their cells.
    let below = delimiter(below);
    let width = cells(row, below).len();
    let alike = comments.iter().filter(|line| cells(line, below).len() == width).count();
    if width > 1 && comments.len() > 1 && alike * 2 > comments.len() {
        return Comments::default();
    }
    match is_named {
        true => Comments { bytes: mark + length - names.len(), lines: comments.len() as u64 - 1 },
        false => Comments { bytes: mark + length, lines: comments.len() as u64 },
    }
}

/// A comment without its mark. A mark that is a name of its own, or a part of one, stays.
fn uncommented(comment: &[u8]) -> &[u8] {
    match comment {
        [MARK, b' ' | b'\t', text @ ..] => text.trim_ascii_start(),
        _ => comment,
    }
}

/// The cells of a line, those in quotation marks taken apart: good enough to count them.
fn cells(line: &[u8], delimiter: u8) -> Vec<&[u8]> {
    match delimiter {
        spaces::MARK => spaces::cells(line),
        _ => line.split(|&byte| byte == delimiter).map(<[u8]>::trim_ascii).collect(),
    }
}

fn is_number(cell: &[u8]) -> bool {
    std::str::from_utf8(cell).is_ok_and(|cell| cell.parse::<f64>().is_ok_and(f64::is_finite))
}

#[cfg(test)]
mod tests {
    use crate::{Selection, read_stream};

    /// The names and the first row of a table, and the line of it.
    fn read(text: &str) -> (String, String, usize) {
        let mut reader = read_stream(Box::new(text.as_bytes()), "t".as_ref(), &Selection::all()).unwrap();
        let table = reader.next_batch().unwrap().unwrap();
        let cells = (0..table.names().len()).map(|i| table.values(i).cell(0).unwrap_or_default());
        (table.names().join("|"), cells.collect::<Vec<_>>().join("|"), table.rows())
    }

    #[test]
    fn comments_above_a_table_are_left_out() {
        let found = |text: &str| {
            let (names, row, rows) = read(text);
            format!("{names} / {row} / {rows}")
        };
        assert_eq!(found("# made by hand, today\n# twice\nid,name\n1,a\n2,b\n"), "id|name / 1|a / 2");
        assert_eq!(
            found("\u{feff}#\n# Day;GHI;DHI\r\n2020;1.5;2\r\n2021;2;3\r\n"),
            "Day|GHI|DHI / 2020|1.5|2 / 2"
        );
        assert_eq!(found("#-----\n#  x  y\n 0.5  1\n 1.5  2\n 2.5  3\n"), "x|y / 0.5|1 / 3");
        assert_eq!(
            found("# Moon by the hour, in degrees\n170 10.5\n171 9.5\n172 8.5\n173 8\n"),
            "column 1|column 2 / 170|10.5 / 4"
        );
        assert_eq!(found("# units none none\nx y\n1 2\n3 4\n5 6\n"), "x|y / 1|2 / 3");
    }

    #[test]
    fn names_and_rows_that_start_with_a_mark_stay() {
        assert_eq!(read("#,Name\n1,Bulbasaur\n2,Ivysaur\n").0, "#|Name");
        assert_eq!(read("#tag,n\n#a,3\nb,4\n").2, 2);
        assert_eq!(read("#tag,n\n#a,3\n#b,4\n").2, 2);
        assert_eq!(read("#id,n\n7,3\n8,4\n").0, "#id|n");
    }

    #[test]
    fn lines_are_counted_with_the_comments() {
        let text = format!("# a\n# b\nx,y\n{}1,2,3\n", "1,2\n".repeat(40));
        let mut reader = read_stream(Box::new(text.as_bytes()), "t".as_ref(), &Selection::all()).unwrap();
        while reader.next_batch().unwrap().is_some() {}
        let notes = reader.about().notes.join("\n");
        assert!(notes.contains("line 44 has too many cells"), "{notes}");
        assert!(notes.contains("start with #"), "{notes}");
    }
}
