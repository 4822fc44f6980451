//! What a table holds, gathered in one streaming pass: kinds, ranges, categories, missing values, identifiers.

use std::collections::HashSet;

use super::column::{Column, Kind};
use super::notes;
use super::roles::Roles;
use crate::Scale;
use crate::table::{self, About, Hints, ReadAs, Selection, Source, Tally, TimePart, Understood, Version};
use crate::{Error, Result};
use sample::RowSample;
pub(super) use seen::IDENTIFIER_SHARE;
use seen::Seen;

mod counting;
mod sample;
mod seen;
mod surveyed;

pub use counting::{Counted, Counting};
pub use surveyed::{LeftOut, Reason, Surveyed};

/// The share of the memory, as one over this, that different texts of all columns may take.
const TEXT_SHARE: usize = 8;

/// The smallest and the largest value of each of [`TimePart::ALL`].
type PartRanges = [(f64, f64); TimePart::ALL.len()];

/// What a table holds.
///
/// ```
/// use diad::encode::{Roles, Survey};
/// use diad::table::{Table, Texts, Values};
///
/// let jobs: Texts = [Some("baker"), None, Some("baker")].into_iter().collect();
/// let columns = vec![Values::Numbers(vec![31.0, 44.0, 58.0]), Values::Texts(jobs)];
/// let table = Table::of(vec!["age".into(), "job".into()], columns)?;
/// let survey = Survey::of(&table, &Roles::default())?;
/// assert_eq!(survey.columns()[1].texts, [("baker".to_owned(), 2)]);
/// assert_eq!(survey.columns()[1].missing, 1);
/// # Ok::<(), diad::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// Rows of the table, and how many of them were looked through.
    rows: u64,
    read: u64,
    columns: Vec<Surveyed>,
    ignored: Vec<String>,
    /// What the reader has to say of the table.
    said: Vec<String>,
    /// The column that says which segment a row belongs to.
    by: Option<String>,
    /// What tells whether the source has changed since.
    version: Option<Version>,
}

impl Survey {
    /// Looks through a whole table.
    ///
    /// # Errors
    /// If it cannot be read, a column that is to hold numbers does not, or a named column is not there.
    pub fn of(source: &dyn Source, roles: &Roles) -> Result<Self> {
        Self::gather(source, roles, false)
    }

    /// Looks through a whole table, and goes on where a fit would stop: at texts in columns that are to hold numbers.
    ///
    /// # Errors
    /// If the table cannot be read, or a named column is not there.
    pub fn of_any(source: &dyn Source, roles: &Roles) -> Result<Self> {
        Self::gather(source, roles, true)
    }

    fn gather(source: &dyn Source, roles: &Roles, lenient: bool) -> Result<Self> {
        let version = source.version();
        let first = Pass::over(source, roles, None)?;
        let tallies: Vec<Tally> = first.columns.iter().map(|seen| seen.tally.clone()).collect();
        let category = |name: &String| first.about.categories.contains(name).then_some(ReadAs::Texts);
        let asked = first.columns.iter().map(|seen| roles.asked(&seen.name).or_else(|| category(&seen.name)));
        let asked: Vec<Option<ReadAs>> = asked.collect();
        let hints = Hints { semicolons: first.about.semicolons, dates: roles.dates };
        let mut understood = table::understood(&tallies, &asked, hints);
        if lenient {
            understood.iter_mut().for_each(|column| column.notation.stray |= column.stray_rows > 0);
        }
        // Columns that were not read at once as what they are in the end are read once more.
        let is_done = |(seen, understood): (&Seen, &Understood)| seen.is_read_as(understood.read_as);
        if first.columns.iter().zip(&understood).all(is_done) {
            return Ok(first.finish(roles, understood, version));
        }
        drop(first);
        Ok(Pass::over(source, roles, Some(&understood))?.finish(roles, understood, version))
    }

    /// What the source had to say of whether it has changed, before it was looked through.
    pub(super) fn version(&self) -> Option<Version> {
        self.version
    }

    /// The column that says which segment a row belongs to.
    pub(super) fn by(&self) -> Option<&str> {
        self.by.as_deref()
    }

    /// Whether a number of a column is so frequent that cuts between numbers come to lie at it.
    pub(super) fn has_steps(&self, name: &str) -> bool {
        /// One in so many rows.
        const FREQUENT: usize = 50;
        let column = self.columns.iter().find(|column| column.name == name);
        let mut values: Vec<f64> = column.map(|column| column.sample.clone()).unwrap_or_default();
        values.retain(|value| value.is_finite());
        values.sort_unstable_by(f64::total_cmp);
        values.chunk_by(|a, b| a == b).any(|same| same.len() > 1 && same.len() * FREQUENT >= values.len())
    }

    /// The same columns, with the numbers that another survey has of some of them.
    pub(super) fn with_numbers_of(&self, other: &Self) -> Self {
        let mut survey = self.clone();
        for column in &mut survey.columns {
            if let Some(found) = other.columns.iter().find(|found| found.name == column.name) {
                (column.min, column.max) = (found.min, found.max);
                column.sample.clone_from(&found.sample);
            }
        }
        survey
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// How many of them were looked through: all, unless others were counted elsewhere.
    pub(super) fn read(&self) -> u64 {
        self.read
    }

    /// What each column holds, in the order of the table, but for those that were to be ignored.
    pub fn columns(&self) -> &[Surveyed] {
        &self.columns
    }

    /// The columns that were to be ignored.
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// What the reader has to say of the table as a whole, a sentence each.
    pub fn said(&self) -> &[String] {
        &self.said
    }

    /// What the user should know of how the table was read, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        self.said.iter().cloned().chain(self.columns.iter().flat_map(notes::of_column)).collect()
    }

    /// The columns that are left out although nobody asked for it.
    pub fn left_out(&self) -> Vec<LeftOut> {
        let left_out =
            |column: &Surveyed| column.left_out.map(|reason| LeftOut { name: column.name.clone(), reason });
        self.columns.iter().filter_map(left_out).collect()
    }

    /// The columns of an encoder.
    pub(super) fn encoded(&self, scale: Scale) -> Vec<Column> {
        let used = self.columns.iter().filter(|column| column.left_out.is_none());
        let mut columns: Vec<Column> = used.flat_map(|column| column.encoded(scale, self.rows)).collect();
        self.tell_apart(&mut columns);
        columns
    }

    /// Renames parts of times that are called as a column of the table is.
    fn tell_apart(&self, columns: &mut [Column]) {
        let mut taken: HashSet<String> = self.columns.iter().map(|column| column.name.clone()).collect();
        for column in columns.iter_mut().filter(|column| matches!(column.kind, Kind::Time { .. })) {
            let plain = std::mem::take(&mut column.name);
            let numbered = (2..).map(|number| format!("{plain} ({number})"));
            let free = std::iter::once(plain.clone()).chain(numbered).find(|name| !taken.contains(name));
            column.name = free.unwrap_or(plain);
            taken.insert(column.name.clone());
        }
    }
}

/// What one pass has seen.
struct Pass {
    columns: Vec<Seen>,
    rows: u64,
    sample: RowSample,
    about: About,
}

impl Pass {
    /// Looks through a table whose columns are not known yet, or are.
    fn over(source: &dyn Source, roles: &Roles, known: Option<&[Understood]>) -> Result<Self> {
        let ignored: Vec<&str> = roles.ignored.iter().map(String::as_str).collect();
        let mut selection = Selection::except(&ignored).as_written();
        if let Some(known) = known {
            let names = source.open(&selection)?.names().to_vec();
            for (name, column) in names.into_iter().zip(known) {
                selection = selection.reading_by(name, column.read_as, column.notation.clone());
            }
        }
        let mut reader = source.open(&selection)?;
        let names = reader.names().to_vec();
        for (name, _) in &roles.read_as {
            if roles.by.as_ref() == Some(name) {
                return Err(Error::SegmentsAsFeature { column: name.clone() });
            }
            if !names.contains(name) {
                return Err(table::Error::UnknownColumn { name: name.clone(), known: names }.into());
            }
        }
        let columns: Vec<Seen> = names.iter().map(|name| Seen::new(name)).collect();
        if columns.is_empty() {
            return Err(Error::NoFeatures);
        }
        let mut pass =
            Self { sample: RowSample::new(columns.len()), columns, rows: 0, about: About::default() };
        while let Some(batch) = reader.next_batch()? {
            // What all columns have left of their share of the memory.
            let kept: usize = pass.columns.iter().map(|seen| seen.bytes + seen.tally.bytes()).sum();
            let left = (table::memory_limit() / TEXT_SHARE).saturating_sub(kept);
            for (index, seen) in pass.columns.iter_mut().enumerate() {
                seen.add(&batch, index, seen.bytes + left);
                if known.is_none() {
                    seen.tally.add(&batch, index, seen.tally.bytes() + left);
                }
            }
            pass.sample.add(&batch);
            pass.rows += batch.rows() as u64;
        }
        pass.about = reader.about();
        Ok(pass)
    }

    fn finish(self, roles: &Roles, understood: Vec<Understood>, version: Option<Version>) -> Survey {
        let (rows, sample, about) = (self.rows, self.sample, self.about);
        let column = |(index, (seen, understood)): (usize, (Seen, Understood))| {
            let asked = roles.asked(&seen.name);
            let unnamed = about.unnamed.contains(&seen.name);
            seen.finish(sample.column(index), rows, asked, understood, unnamed)
        };
        let columns = self.columns.into_iter().zip(understood).enumerate().map(column).collect();
        let (ignored, by) = (roles.ignored.clone(), roles.by.clone());
        Survey { rows, read: rows, columns, ignored, said: about.notes, by, version }
    }
}
