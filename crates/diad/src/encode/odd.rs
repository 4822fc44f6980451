//! Cells that do not fit their column: each is a value of its own, and its row is scored all the same.

use super::Encoder;
use super::column::{Column, Kind};
use super::found::Found;
use crate::table::{self, Place, Table, quoted};
use crate::{Error, Result};

/// Most examples of a column that are kept.
const EXAMPLES: usize = 3;
/// Most characters of a cell that are shown.
const LONGEST: usize = 40;
/// Most columns of which the summary speaks one by one.
const LISTED: usize = 20;

/// Why a cell does not fit its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Oddity {
    /// It is missing, which no cell of the column was in the training.
    Missing,
    /// It is no number or time, as all others of the column are.
    Unreadable,
    /// It is infinite.
    Infinite,
    /// It names no segment that the training had.
    Unknown,
}

/// Missing values are NaN; what cannot be read is NaN with a mark, which no calculation makes and no copy loses.
const MARKS: [(Oddity, u64); 2] =
    [(Oddity::Unreadable, 0x7ff8_0000_d1ad_0001), (Oddity::Infinite, 0x7ff8_0000_d1ad_0002)];

impl Oddity {
    /// The number that stands for such a cell.
    pub(crate) fn mark(self) -> f64 {
        let mark = MARKS.iter().find(|(oddity, _)| *oddity == self);
        mark.map_or(f64::NAN, |(_, bits)| f64::from_bits(*bits))
    }

    /// What a number stands for, if it is marked.
    fn marked(value: f64) -> Option<Self> {
        MARKS.iter().find(|(_, bits)| *bits == value.to_bits()).map(|(oddity, _)| *oddity)
    }

    /// In one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
            Self::Infinite => "infinite",
            Self::Unknown => "unknown",
        }
    }
}

shown_by!(Oddity, word);

impl Column {
    /// Why a value of the column is none that the training could have had, if so.
    pub fn oddity(&self, value: f64) -> Option<Oddity> {
        if !value.is_nan() {
            return (value.is_infinite() && !self.is_infinite_missing()).then_some(Oddity::Infinite);
        }
        let known = self.gaps.is_some() && !matches!(self.kind, Kind::Category { .. });
        Oddity::marked(value).or((!known).then_some(Oddity::Missing))
    }
}

/// A cell that does not fit its column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OddCell {
    /// Which of the encoder's columns; the first of those that are parts of one time.
    pub column: usize,
    /// Which row of the batch.
    pub row: usize,
    pub oddity: Oddity,
    /// What stands there.
    pub cell: Option<String>,
}

/// A row of no segment that the training had.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stranger {
    /// Which row of the batch.
    pub row: usize,
    /// What stands there.
    pub cell: Option<String>,
}

impl OddCell {
    /// The error of those who take no such cell.
    pub(crate) fn refused<T>(self, column: &Column, batch: &Table) -> Result<T> {
        let (name, place, cell) =
            (column.source().to_owned(), batch.place(self.row), self.cell.unwrap_or_default());
        Err(match (self.oddity, &column.kind) {
            (Oddity::Missing, _) => Error::Missing { column: name, place },
            (Oddity::Infinite, _) => Error::Infinite { column: name, place },
            (Oddity::Unreadable, Kind::Time { .. }) => {
                table::Error::NotTime { column: name, place, cell }.into()
            }
            (Oddity::Unreadable | Oddity::Unknown, _) => {
                table::Error::NotNumber { column: name, place, cell }.into()
            }
        })
    }
}

/// How many cells of some rows do not fit their columns, by column, with a few examples.
///
/// ```
/// use diad::{Params, table::{Table, Texts, Values}};
///
/// let numbers = (0..40).map(|i| f64::from(i % 7)).collect();
/// let detector = Params::default().with_steps(10).trees(4).fit(&Table::new(vec!["x".into()], vec![numbers])?)?;
/// let cells: Texts = [Some("3"), Some("n/k"), None].into_iter().collect();
/// let rows = Table::of(vec!["x".into()], vec![Values::Texts(cells)])?;
/// let (scores, oddities) = detector.score_all_noting::<f32>(&rows)?;
/// assert!(scores[1] > scores[0] && scores[2] > scores[0]);
/// assert_eq!(oddities.cells(), 2);
/// # Ok::<(), diad::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Oddities {
    rows: u64,
    columns: Vec<OddColumn>,
}

/// The cells of one column that do not fit it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OddColumn {
    /// The name of the column in the table.
    pub name: String,
    /// Cells that are missing, which none was in the training.
    pub missing: u64,
    /// Cells that are no numbers or times.
    pub unreadable: u64,
    /// Cells that are infinite.
    pub infinite: u64,
    /// Cells that name no segment of the training: their rows are compared with all segments.
    pub unknown: u64,
    /// The first few of them.
    pub examples: Vec<OddExample>,
}

/// One of the cells that do not fit their column.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OddExample {
    /// The row, counted from 0.
    pub row: u64,
    /// Where it stands in the file.
    pub place: Place,
    /// Why it does not fit.
    pub oddity: Oddity,
    /// What stands there; nothing if it is missing.
    pub cell: Option<String>,
}

impl Oddities {
    /// Whether every cell fits.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The columns that have such cells, in the order in which they were found.
    pub fn columns(&self) -> &[OddColumn] {
        &self.columns
    }

    /// How many such cells there are.
    pub fn cells(&self) -> u64 {
        self.columns.iter().map(OddColumn::cells).sum()
    }

    /// Notes the cells of the next rows.
    pub(crate) fn note(&mut self, encoder: &Encoder, batch: &Table, found: Found) {
        let first = self.rows;
        self.rows += batch.rows() as u64;
        let of_columns = found
            .odd
            .into_iter()
            .map(|odd| (encoder.columns()[odd.column].source(), odd.row, odd.oddity, odd.cell));
        let by = encoder.segments().map_or("", |(column, _)| column);
        let of_segments =
            found.strangers.into_iter().map(|stranger| (by, stranger.row, Oddity::Unknown, stranger.cell));
        for (column, row, oddity, cell) in of_columns.chain(of_segments) {
            let place = batch.place(row);
            let column = self.column(column);
            match oddity {
                Oddity::Missing => column.missing += 1,
                Oddity::Unreadable => column.unreadable += 1,
                Oddity::Infinite => column.infinite += 1,
                Oddity::Unknown => column.unknown += 1,
            }
            if column.examples.len() < EXAMPLES {
                column.examples.push(OddExample { row: first + row as u64, place, oddity, cell });
            }
        }
    }

    /// Adds those of the rows after these.
    pub fn append(&mut self, more: Self) {
        let first = self.rows;
        self.rows += more.rows;
        for OddColumn { name, missing, unreadable, infinite, unknown, examples } in more.columns {
            let column = self.column(&name);
            column.missing += missing;
            column.unreadable += unreadable;
            column.infinite += infinite;
            column.unknown += unknown;
            let room = EXAMPLES.saturating_sub(column.examples.len());
            let moved =
                examples.into_iter().map(|example| OddExample { row: first + example.row, ..example });
            column.examples.extend(moved.take(room));
        }
    }

    fn column(&mut self, name: &str) -> &mut OddColumn {
        let place = self.columns.iter().position(|column| column.name == name);
        let place = place.unwrap_or_else(|| {
            let (missing, unreadable, infinite, unknown) = (0, 0, 0, 0);
            let name = name.to_owned();
            self.columns.push(OddColumn {
                name,
                missing,
                unreadable,
                infinite,
                unknown,
                examples: Vec::new(),
            });
            self.columns.len() - 1
        });
        &mut self.columns[place]
    }

    /// A sentence for each column, and one for all further columns if there are very many.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences: Vec<String> = self.columns.iter().take(LISTED).map(OddColumn::sentence).collect();
        let more = self.columns.len().saturating_sub(LISTED);
        if more > 0 {
            sentences.push(format!("{more} more columns have such cells"));
        }
        sentences
    }
}

impl OddColumn {
    fn cells(&self) -> u64 {
        self.missing + self.unreadable + self.infinite + self.unknown
    }

    fn sentence(&self) -> String {
        if self.unknown > 0 {
            return self.sentence_of_segments();
        }
        let counts =
            [(self.unreadable, "unreadable"), (self.infinite, "infinite"), (self.missing, "missing")];
        let counts: Vec<String> = (counts.iter().filter(|(count, _)| *count > 0))
            .map(|(count, word)| format!("{count} {word} cell{}", if *count == 1 { "" } else { "s" }))
            .collect();
        let examples: Vec<String> = self.examples.iter().map(OddExample::words).collect();
        let all = self.cells();
        let (counts_as, such) = match all {
            1 => ("counts", "correct it if it is a mistake"),
            _ => ("count", "correct them if they are mistakes"),
        };
        format!(
            "column {}: {} ({}{}) {counts_as} as rarer than any value, since no training row had anything like it; {such}",
            quoted(&self.name),
            counts.join(" and "),
            if all > examples.len() as u64 { "for example " } else { "" },
            examples.join("; ")
        )
    }

    fn sentence_of_segments(&self) -> String {
        let examples: Vec<String> = self.examples.iter().map(OddExample::words).collect();
        let (rows, are, such) = match self.unknown {
            1 => ("1 row".to_owned(), "is", "its numbers are"),
            rows => (format!("{rows} rows"), "are", "their numbers are"),
        };
        format!(
            "column {}: {rows} ({}{}) {are} of no segment that the training had; {such} compared with those of all segments",
            quoted(&self.name),
            if self.unknown > examples.len() as u64 { "for example " } else { "" },
            examples.join("; ")
        )
    }
}

impl OddExample {
    fn words(&self) -> String {
        let cell = match &self.cell {
            Some(cell) if cell.chars().count() > LONGEST => {
                quoted(&cell.chars().take(LONGEST - 1).chain(['…']).collect::<String>()) + " in "
            }
            Some(cell) => quoted(cell) + " in ",
            None => String::new(),
        };
        match self.place {
            Place::Line(line, _) => format!("{cell}row {}, line {line}", self.row),
            Place::Row(_) => format!("{cell}row {}", self.row),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Gaps;

    #[test]
    fn marks_survive_copies_and_are_missing_numbers_to_all_others() {
        for oddity in [Oddity::Missing, Oddity::Unreadable, Oddity::Infinite] {
            let copies = [oddity.mark(); 3].to_vec();
            assert!(copies.iter().all(|value| value.is_nan()));
            assert_eq!(Column::default().oddity(copies[1]), Some(oddity));
        }
        let gaps = Some(Gaps { rows: 1, ..Gaps::default() });
        let column = Column { gaps, ..Column::default() };
        let found =
            [f64::NAN, Oddity::Unreadable.mark(), f64::NEG_INFINITY, 1.0].map(|value| column.oddity(value));
        assert_eq!(found, [None, Some(Oddity::Unreadable), Some(Oddity::Infinite), None]);
    }
}
