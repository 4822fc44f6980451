//! Rows at the end of a table that have the sums of the others.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::file::read_stream;
use crate::number;
use crate::text::printable;
use crate::{About, Reader, Result, Selection, Table};

/// What the first text of such a row says.
const WORDS: [&str; 28] = [
    "total",
    "totals",
    "sum",
    "sums",
    "grand total",
    "overall total",
    "total sum",
    "overall",
    "sum total",
    "summe",
    "gesamt",
    "gesamtsumme",
    "insgesamt",
    "gesamtergebnis",
    "endsumme",
    "total general",
    "total général",
    "totale",
    "totaal",
    "totalt",
    "totales",
    "suma",
    "suma total",
    "totaux",
    "somme",
    "somme totale",
    "razem",
    "итого",
];
/// Rows that are summed, at least.
const LEAST_ROWS: u64 = 3;
/// How far a sum may be off, as a share of the sum of all sizes: what adding in another order makes of it.
const ROUNDING: f64 = 1e-9;

/// Whether a text is what rows of sums begin with.
pub(crate) fn is_total(text: &str) -> bool {
    let plain = text.trim().trim_end_matches([':', '.', '=']).trim_end();
    plain.len() <= 32 && WORDS.contains(&plain.to_lowercase().as_str())
}

/// The sum of a column so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sum {
    sum: f64,
    sizes: f64,
    numbers: u64,
}

impl Sum {
    pub(crate) fn add(&mut self, number: Option<f64>) {
        if let Some(number) = number.filter(|number| !number.is_nan()) {
            self.sum += number;
            self.sizes += number.abs();
            self.numbers += 1;
        }
    }
}

/// Whether the numbers of a row are the sums of their columns: each of them, and one at least.
pub(crate) fn are_sums(sums: &[Sum], said: &[Option<f64>]) -> bool {
    let is_sum = |(sum, said): (&Sum, &Option<f64>)| {
        said.is_none_or(|said| {
            sum.numbers >= LEAST_ROWS && (said - sum.sum).abs() <= ROUNDING * sum.sizes.max(1e-300)
        })
    };
    said.iter().any(|said| said.is_some_and(|said| said != 0.0)) && sums.iter().zip(said).all(is_sum)
}

/// Bytes of a file's end in which its last line is sought, and of a file that is read to its end for it, at most.
const TAIL: u64 = 16 << 10;
const LONGEST: u64 = 64 << 20;

/// Where the last line of a text file starts, if it has the sums of the others. Files that do not end in a word for that are not
/// looked through.
pub(crate) fn start_of_total(file: &mut File, path: &Path) -> Option<u64> {
    let length = file.metadata().ok()?.len();
    let from = length.saturating_sub(TAIL);
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(from)).ok()?;
    file.by_ref().take(TAIL).read_to_end(&mut tail).ok()?;
    let line = tail.trim_ascii_end();
    let start = memchr::memrchr(b'\n', line)? + 1;
    let line = std::str::from_utf8(&line[start..]).ok()?;
    let marks = [',', ';', '\t', '|', '"', ' '];
    let first = line.trim_start_matches(marks).split(&marks[..5]).next()?;
    // A cell of several lines may end here.
    let is_whole = line.matches('"').count().is_multiple_of(2);
    if !is_whole || length > LONGEST || !is_total(first) {
        return None;
    }
    file.rewind().ok()?;
    let has_sums = is_sum_of_others(file, path).unwrap_or(false);
    has_sums.then_some(from + start as u64)
}

/// Whether the numbers of the last row of a text file are the sums of the other rows, by either decimal mark.
fn is_sum_of_others(file: &mut File, path: &Path) -> Result<bool> {
    let texts = Selection::only([""; 0]).and_all_texts();
    let mut reader = read_stream(Box::new(file), path, &texts)?;
    let width = reader.names().len();
    let mut sums = [vec![Sum::default(); width], vec![Sum::default(); width]];
    let mut last: [Vec<Option<f64>>; 2] = Default::default();
    while let Some(batch) = reader.next_batch()? {
        for row in 0..batch.rows() {
            for (comma, (sums, last)) in [false, true].into_iter().zip(sums.iter_mut().zip(&mut last)) {
                sums.iter_mut().zip(&*last).for_each(|(sum, &number)| sum.add(number));
                // What has digits and is no number, by this decimal mark, is no sum.
                let other = |text: &str| text.bytes().any(|byte| byte.is_ascii_digit()).then_some(f64::NAN);
                let number = |text: &str| match number::written(text, comma) {
                    Some(found) => Some(found.value),
                    None => other(text),
                };
                *last = (0..width).map(|column| batch.values(column).text(row).and_then(number)).collect();
            }
        }
    }
    Ok(sums.iter().zip(&last).any(|(sums, last)| are_sums(sums, last)))
}

/// A reader of the rows before one with their sums.
pub(crate) struct WithoutTotal<'a> {
    pub(crate) inner: Box<dyn Reader + 'a>,
    pub(crate) path: &'a Path,
}

impl Reader for WithoutTotal<'_> {
    fn names(&self) -> &[String] {
        self.inner.names()
    }

    fn unread(&self) -> &[String] {
        self.inner.unread()
    }

    fn about(&self) -> About {
        let mut about = self.inner.about();
        let path = printable(&self.path.to_string_lossy());
        about.notes.push(format!("the last line of {path} has the sums of the others; it is left out"));
        about
    }

    fn next_batch(&mut self) -> Result<Option<Table>> {
        self.inner.next_batch()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_sums_are_told() {
        assert!(
            ["Total", " GRAND TOTAL:", "Summe", "Gesamt", "TOTAL GÉNÉRAL", "Suma"]
                .iter()
                .all(|text| is_total(text))
        );
        assert!(["Total Wine", "subtotal", "", "sumo", "Totals 2024"].iter().all(|text| !is_total(text)));
    }

    #[test]
    fn a_last_line_of_sums_is_left_out() {
        use crate::{FileSource, Source};
        let folder = tempfile::tempdir().unwrap();
        let rows = |text: &str| {
            let path = folder.path().join("t.csv");
            std::fs::write(&path, text).unwrap();
            let source = FileSource::new(path);
            let mut reader = source.open(&Selection::all()).unwrap();
            let rows = reader.next_batch().unwrap().unwrap().rows();
            (rows, reader.about().notes.iter().filter(|note| note.contains("sums of the others")).count())
        };
        let body = "shop,sum,n\nBern,\"1,000.10\",1\nBasel,20.20,2\nChur,,3\nZug,5,4\n";
        for end in ["Total,\"1,025.30\",10\n", "\"Total\",1025.3,", "\n\nGrand total:,1025.30,10\r\n\n"] {
            assert_eq!(rows(&format!("{body}{end}")), (4, 1), "{end}");
        }
        for end in [
            "Total,1025.31,10\n",
            "Total,,\n",
            "Total,1025.30,11\n",
            "Chur,1025.3,10",
            "Total Wine,1025.3,10",
        ] {
            assert_eq!(rows(&format!("{body}{end}")), (5, 0), "{end}");
        }
        assert_eq!(rows("Laden;Umsatz\nBern;1.000,10\nBasel;20,20\nChur;5\nSumme;1.025,30 €\n"), (3, 1));
    }

    #[test]
    fn every_number_must_be_a_sum() {
        let mut sums = [Sum::default(); 3];
        for i in 0..100 {
            sums[0].add(Some(f64::from(i) / 10.0));
            sums[1].add(Some(1.0));
        }
        assert!(are_sums(&sums, &[Some(495.0), None, None]));
        assert!(are_sums(&sums, &[Some(495.0), Some(100.0), None]));
        for said in [
            [Some(495.0), Some(1.0), None],
            [None; 3],
            [Some(495.0), None, Some(0.0)],
            [Some(495.01), None, None],
        ] {
            assert!(!are_sums(&sums, &said), "{said:?}");
        }
    }
}
