//! Tables whose cells are separated by white space, as programs for statistics write them: `1.5   2  "a b"`.

use std::io::{self, Read};

use crate::detect::Layout;

/// Rows that are looked at, at most, and that tell of such a table, at least.
const ROWS: usize = 50;
const TELLING: usize = 3;

/// What stands between cells once there is one mark between any two.
pub(crate) const MARK: u8 = b' ';

/// How a table is laid out whose cells white space separates; nothing if that is not certain. Texts have spaces too, so that
/// every row must have as many cells, most of them numbers.
pub(crate) fn layout(start: &[u8], whole: bool) -> Option<Layout> {
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').take(ROWS + 1).collect();
    // The last line may be cut off.
    if lines.len() <= ROWS && !whole {
        lines.pop();
    }
    let rows: Vec<Vec<&[u8]>> = lines.into_iter().map(cells).filter(|cells| !cells.is_empty()).collect();
    let (names, rows) = rows.split_first()?;
    let width = rows.first()?.len();
    let row_names = names.len() + 1 == width;
    let is_number = |cell: &&&[u8]| std::str::from_utf8(cell).is_ok_and(|cell| cell.parse::<f64>().is_ok());
    let numbers: usize = rows.iter().map(|row| row.iter().filter(is_number).count()).sum();
    // Spaces may also stand between the thousands of one number.
    let is_thousands = |cell: &&[u8]| cell.len() == 3 && cell.iter().all(u8::is_ascii_digit);
    let thousands = rows.iter().all(|row| row.iter().skip(1).all(is_thousands));
    let fits = rows.len() >= TELLING
        && (width > 2 || width == 2 && numbers == rows.len() * width)
        && !thousands
        && (row_names || names.len() == width)
        && rows.iter().all(|row| row.len() == width)
        && numbers * 2 >= rows.len() * width;
    fits.then_some(Layout { delimiter: MARK, before: 0, row_names, skipped: 0, lines: 0, commented: false })
}

/// The cells of a line.
pub(crate) fn cells(line: &[u8]) -> Vec<&[u8]> {
    let mut quoted = false;
    let separates = |&byte: &u8| {
        quoted ^= byte == b'"';
        !quoted && byte.is_ascii_whitespace()
    };
    line.split(separates).filter(|cell| !cell.is_empty()).collect()
}

/// The same text with one mark between any two cells.
pub(crate) struct Squeezed<R> {
    input: R,
    read: Vec<u8>,
    given: Vec<u8>,
    place: usize,
    quoted: bool,
    /// Whether no cell of the line was given yet, and whether white space came after the last one.
    at_start: bool,
    pending: bool,
}

impl<R: Read> Squeezed<R> {
    pub(crate) fn new(input: R) -> Self {
        let read = vec![0; 1 << 16];
        Self { input, read, given: Vec::new(), place: 0, quoted: false, at_start: true, pending: false }
    }

    fn give(&mut self, byte: u8) {
        if !self.quoted && matches!(byte, b' ' | b'\t') {
            self.pending = true;
            return;
        }
        self.quoted ^= byte == b'"';
        let ends = matches!(byte, b'\n' | b'\r') && !self.quoted;
        if self.pending && !self.at_start && !ends {
            self.given.push(MARK);
        }
        self.given.push(byte);
        (self.at_start, self.pending) = (ends, false);
    }
}

impl<R: Read> Read for Squeezed<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.place == self.given.len() {
            self.given.clear();
            self.place = 0;
            let count = self.input.read(&mut self.read)?;
            if count == 0 {
                return Ok(0);
            }
            for index in 0..count {
                self.give(self.read[index]);
            }
        }
        let count = out.len().min(self.given.len() - self.place);
        out[..count].copy_from_slice(&self.given[self.place..self.place + count]);
        self.place += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Selection, read_stream};

    fn read(text: &str) -> (Vec<String>, Vec<Vec<Option<String>>>) {
        let mut reader = read_stream(Box::new(text.as_bytes()), "t".as_ref(), &Selection::all()).unwrap();
        let table = reader.next_batch().unwrap().unwrap();
        let row = |row: usize| (0..table.names().len()).map(|i| table.values(i).cell(row)).collect();
        (table.names().to_vec(), (0..table.rows()).map(row).collect())
    }

    #[test]
    fn white_space_separates_cells_where_that_is_certain() {
        let said = |cells: [&str; 3]| cells.map(|cell| Some(cell.to_owned())).to_vec();
        let text = "  x   y\tname \n 1  2.5   \"a b\"\r\n\n10\t-3 c\n 7 8   d  \n";
        let (names, rows) = read(text);
        assert_eq!(names, ["x", "y", "name"]);
        assert_eq!(rows, [said(["1", "2.5", "a b"]), said(["10", "-3", "c"]), said(["7", "8", "d"])]);
        let (names, rows) = read("x y\n\"r 1\" 1 2\n\"r 2\" 3 4\n\"r 3\" 5 6\n");
        assert_eq!((names.join("|").as_str(), rows.len()), ("column 1|x|y", 3));
        assert_eq!(read("year n\n1700   5\n1701 110\n1702 16\n").0, ["year", "n"]);
        assert_eq!(read("1 5 3\n4 5 6\n7 8 9\n1 1 1\n").1.len(), 4, "no names");
    }

    #[test]
    fn texts_with_spaces_stay_whole() {
        for text in [
            "full name\nAda King Lovelace\nGrace Brewster Hopper\nJohn von Neumann\nAlan M Turing\n",
            "time\n2024-01-01 12:30:00\n2024-01-02 12:30:00\n2024-01-03 12:30:00\n",
            "the total amount\n1 234 500\n2 345 600\n7 345 670\n",
            "the amount\n1 234\n12 500\n3 100\n4 200\n",
            "a b c\n1 2 3\n4 5\n6 7 8\n9 9 9\n",
            "a b c\n1 2 3\n",
        ] {
            assert_eq!(read(text).0.len(), 1, "{text}");
        }
        let (names, _) = read("a,b c d\n1,2 3 4\n5,6 7 8\n1,2 2 2\n");
        assert_eq!(names, ["a", "b c d"]);
    }
}
