//! Tables whose columns stand below each other, with spaces between them, as programs print them: `New York   NY   8.1`.

use std::io::{self, BufRead, Read};
use std::ops::Range;

use crate::budget::longest_row;
use crate::detect::Layout;
use crate::encoding::decoded;
use crate::{moment, number};

/// Lines that are looked at, at most, and that tell of such a table, at least, that of the names among them.
const LINES: usize = 500;
const TELLING: usize = 6;

/// What stands between cells once each is cut out.
pub(crate) const MARK: u8 = 0x1f;

/// Characters of the lines that belong to each column. What is between is empty in every line that was looked at.
pub(crate) type Places = Vec<Range<usize>>;

/// How such a table is laid out.
pub(crate) const LAYOUT: Layout =
    Layout { delimiter: MARK, before: 0, row_names: false, skipped: 0, lines: 0, commented: false };

/// Where the columns are, if that is certain: no line has anything between them, each has a name, but for the first, and the cells of
/// one are numbers or times. A wrong place would cut cells apart, so that anything else is no such table.
pub(crate) fn places(start: &[u8], whole: bool) -> Option<Places> {
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').take(LINES + 1).collect();
    if !whole || lines.len() > LINES {
        lines.pop();
    }
    let lines: Vec<Vec<char>> =
        lines.into_iter().map(line_of).filter(|line| line.iter().any(|&c| c != ' ')).collect();
    let tabs = lines.iter().flatten().any(|&c| c != ' ' && c.is_whitespace());
    let wide = lines.iter().filter(|line| has_wide_gap(line)).count();
    if lines.len() < TELLING || tabs || wide * 2 < lines.len() {
        return None;
    }
    let (names, rows) = lines.split_first()?;
    let rows: Vec<&Vec<char>> = rows.iter().filter(|line| !is_rule(line)).collect();
    let filled = |place: usize| lines.iter().any(|line| line.get(place).is_some_and(|&c| c != ' '));
    let places =
        named(runs(&(0..lines.iter().map(Vec::len).max()?).map(filled).collect::<Vec<bool>>()), names)?;
    let cell = |line: &Vec<char>, place: &Range<usize>| cut(line, place.clone());
    let is_value = |cell: &String| {
        number::written(cell, false).or_else(|| number::written(cell, true)).is_some()
            || moment::read(cell).is_some()
    };
    let measured = |place: &Range<usize>| {
        let cells: Vec<String> =
            rows.iter().map(|row| cell(row, place)).filter(|cell| !cell.is_empty()).collect();
        cells.len() * 2 > rows.len()
            && cells.iter().filter(|cell| is_value(cell)).count() * 10 >= cells.len() * 9
    };
    // Where names stand over the space between two columns, these seem to be one, with wide gaps in their cells.
    let torn = lines
        .iter()
        .any(|line| !is_rule(line) && places.iter().any(|place| cell(line, place).contains("  ")));
    // Numbers above the columns count these, as where several tables follow each other.
    let is_name = |place: &Range<usize>| number::written(&cut(names, place.clone()), false).is_none();
    let is_named = places.iter().skip(1).any(is_name);
    let is_table = places.len() > 1 && !torn && is_named && places.iter().any(measured);
    is_table.then_some(places)
}

/// The columns, each with its name. What has none is part of the cells beside it if a single space is between them; else nothing is
/// certain.
fn named(mut places: Places, names: &[char]) -> Option<Places> {
    let mut index = 1;
    while index < places.len() {
        if !cut(names, places[index].clone()).is_empty() {
            index += 1;
            continue;
        }
        let near =
            |a: usize, b: usize, places: &Places| b < places.len() && places[b].start - places[a].end == 1;
        let other = match (near(index - 1, index, &places), near(index, index + 1, &places)) {
            (true, false) => index - 1,
            (false, true) => index,
            _ => return None,
        };
        places[other].end = places[other + 1].end;
        places.remove(other + 1);
        index = index.min(other).max(1);
    }
    Some(places)
}

/// A line as its characters, without what ends it.
fn line_of(line: &[u8]) -> Vec<char> {
    decoded(line.strip_suffix(b"\r").unwrap_or(line)).0.chars().collect()
}

/// Whether two spaces or more stand within a line.
fn has_wide_gap(line: &[char]) -> bool {
    let text: String = line.iter().collect();
    text.trim().contains("  ")
}

/// Whether a line is one below or above others, of dashes.
fn is_rule(line: &[char]) -> bool {
    line.len() > 2 && line.iter().all(|&c| matches!(c, '-' | '=' | ' ')) && line.iter().any(|&c| c != ' ')
}

fn runs(filled: &[bool]) -> Places {
    let mut runs: Places = Vec::new();
    for (place, _) in filled.iter().enumerate().filter(|(_, filled)| **filled) {
        match runs.last_mut() {
            Some(run) if run.end == place => run.end += 1,
            _ => runs.push(place..place + 1),
        }
    }
    runs
}

fn cut(line: &[char], place: Range<usize>) -> String {
    let (start, end) = (place.start.min(line.len()), place.end.min(line.len()));
    line[start..end].iter().collect::<String>().trim().to_owned()
}

/// The same text with one mark between any two cells.
pub(crate) struct Cut<R> {
    input: R,
    places: Places,
    given: Vec<u8>,
    next: usize,
    line: u64,
}

impl<R: BufRead> Cut<R> {
    pub(crate) fn new(input: R, places: Places) -> Self {
        Self { input, places, given: Vec::new(), next: 0, line: 0 }
    }

    /// Cuts the next line; says whether there was one.
    fn give_line(&mut self) -> io::Result<bool> {
        let (mut line, most) = (Vec::new(), longest_row());
        if (&mut self.input).take(most as u64).read_until(b'\n', &mut line)? == 0 {
            return Ok(false);
        }
        if line.len() >= most {
            return Err(io::Error::other(format!("line {} is longer than {} MB", self.line + 1, most >> 20)));
        }
        self.given.clear();
        self.next = 0;
        self.line += 1;
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let text = if self.line == 1 { text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text) } else { text };
        let line = line_of(text);
        if !is_rule(&line) && line.iter().any(|&c| c != ' ') {
            let mut start = 0;
            for index in 0..self.places.len() {
                let end = self.end(index, &line)?;
                if index > 0 {
                    self.given.push(MARK);
                }
                let cell = cut(&line, start..end);
                if cell.contains(['"', char::from(MARK)]) {
                    self.given.extend(format!("\"{}\"", cell.replace('"', "\"\"")).bytes());
                } else {
                    self.given.extend(cell.bytes());
                }
                start = end;
            }
        }
        self.given.push(b'\n');
        Ok(true)
    }

    /// Where a cell ends: at the spaces before the next column, which must be in one place. Cells may be longer than those of the
    /// first lines.
    fn end(&self, index: usize, line: &[char]) -> io::Result<usize> {
        let Some(next) = self.places.get(index + 1) else { return Ok(line.len()) };
        let is_space = |&place: &usize| line.get(place).is_none_or(|&c| c == ' ');
        let between = self.places[index].end..next.start;
        let first = between.clone().find(is_space);
        let last = between.rev().find(is_space);
        first.zip(last).filter(|&(first, last)| (first..last).all(|place| is_space(&place))).map(|(_, last)| last).ok_or_else(|| {
            io::Error::other(format!(
                "line {} has text between columns {} and {}, which the first lines have apart; put commas between cells",
                self.line,
                index + 1,
                index + 2
            ))
        })
    }
}

impl<R: BufRead> Read for Cut<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.next == self.given.len() {
            if !self.give_line()? {
                return Ok(0);
            }
        }
        let count = out.len().min(self.given.len() - self.next);
        out[..count].copy_from_slice(&self.given[self.next..self.next + count]);
        self.next += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Reader, Result, Selection, read_stream};

    fn open(text: &str) -> Result<Box<dyn Reader + '_>> {
        read_stream(Box::new(text.as_bytes()), "t".as_ref(), &Selection::all())
    }

    /// The names, the first row, the number of rows.
    fn read(text: &str) -> (String, String, usize) {
        let table = open(text).unwrap().next_batch().unwrap().unwrap();
        let cells = (0..table.names().len()).map(|index| table.values(index).cell(0).unwrap_or_default());
        (table.names().join("|"), cells.collect::<Vec<_>>().join("|"), table.rows())
    }

    fn seen(names: &str, first: &str, rows: usize) -> (String, String, usize) {
        (names.to_owned(), first.to_owned(), rows)
    }

    const STATIONS: &str = "\
Station Name    State  Elev   Temp
New York City   NY       33   55.1
Los Angeles     CA      305   64.0
Reno            NV     4505
Zürich \"A\"      CH     1339   49.5
St. Louis       MO      466   57.0
";

    #[test]
    fn columns_that_stand_apart_are_read() {
        assert_eq!(read(STATIONS), seen("Station Name|State|Elev|Temp", "New York City|NY|33|55.1", 5));
        let ruled = STATIONS.replacen('\n', "\r\n--------------- ------ ------ ----\r\n", 1);
        assert_eq!(read(&ruled), seen("Station Name|State|Elev|Temp", "New York City|NY|33|55.1", 5));
        let table = open(STATIONS).unwrap().next_batch().unwrap().unwrap();
        assert_eq!(table.values(0).text(3), Some("Zürich \"A\""));
        assert!(table.column(3)[2].is_nan() && table.column(3)[4] == 57.0);
        let mut reader = open(STATIONS).unwrap();
        reader.next_batch().unwrap();
        assert_eq!(reader.about().notes, ["the columns of t are told apart by their places in the lines"]);
        // As pandas prints it: names of rows without a name, texts at the right.
        let printed = "         day      city     x\n0 2023-01-01  New York -0.33\n1 2023-01-02  New York  1.50\n\
                       2 2023-01-03 Las Vegas   NaN\n3 2023-01-04  New York  0.25\n4 2023-01-05  New York  7.00\n";
        assert_eq!(read(printed), seen("column 1|day|city|x", "0|2023-01-01|New York|-0.33", 5));
    }

    #[test]
    fn what_is_not_certain_is_left_whole() {
        let names = "  name          value\n".to_owned() + &"  two  words    three\n".repeat(9);
        let tabs = STATIONS.replace("   ", "  \t");
        let prose = "Some text  that is\nwritten  in lines of\nany  length with 12\nand  34 in them\nto the  end 9\nof it  all\n";
        let unnamed = "name            x\nAda   King      1\nBob   Smith     2\nEve   Jones     3\nTom   Brown     4\nKim   Clark     5\n";
        let askew = "            mpg cyl\n".to_owned() + &"Fiat 128    32.4   4\n".repeat(9);
        let counted = "a          1\n".to_owned() + &"x y        7\n".repeat(9);
        for text in [&names, &tabs, prose, unnamed, &askew, &counted, &STATIONS[..120]] {
            let columns = open(text).map(|reader| reader.names().len());
            assert!(columns.is_err() || columns.is_ok_and(|columns| columns == 1), "{text}");
        }
    }

    #[test]
    fn a_later_line_that_is_not_so_is_an_error() {
        let many =
            "name       n\n".to_owned() + &"a b        1\n".repeat(600) + "longer    12\nmore than fits 1\n";
        let mut reader = open(&many).unwrap();
        let mut failed = String::new();
        loop {
            match reader.next_batch() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => {
                    failed = error.to_string();
                    break;
                }
            }
        }
        assert!(failed.contains("line 603 has text between columns 1 and 2"), "{failed}");
    }
}
