//! What all rows of a table hold where they are in parts, such as on several machines: a survey of some rows says how columns are read,
//! each part is counted by itself, and the counts are put together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::seen::{Found, MOST_TEXTS};
use super::{PartRanges, Survey};
use crate::encode::Roles;
use crate::table::{Notation, ReadAs, Selection, Source, TimePart, Values};
use crate::{Error, Result};

/// Most bytes of different texts of a column that are counted. The same on every machine, so that the counts are.
const MOST_BYTES: usize = 16 << 20;

/// Counts the rows of a table of which a survey knows some: ranges, gaps, and categories.
///
/// What is counted is exact, and depends neither on how the rows are divided nor on the order in which counts are put together.
///
/// ```
/// use diad::encode::{Counting, Roles, Survey};
/// use diad::table::Table;
///
/// let table = |from, to| Table::new(vec!["x".into()], vec![(from..to).map(f64::from).collect()]);
/// let roles = Roles::default();
/// let sample = Survey::of(&table(40, 50)?, &roles)?;
/// let mut all = Counting::new(&sample);
/// for (from, to) in [(0, 70), (70, 100)] {
///     let mut part = Counting::new(&sample);
///     part.add(&table(from, to)?)?;
///     all.append(part.counted())?;
/// }
/// let survey = sample.knowing(all.counted(), &roles)?;
/// assert_eq!((survey.rows(), survey.columns()[0].min, survey.columns()[0].max), (100, 0.0, 99.0));
/// # Ok::<(), diad::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counting {
    columns: Vec<Read>,
    counted: Counted,
}

/// How a column is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    name: String,
    kind: Kind,
    notation: Notation,
    /// The texts that the survey knows, in ascending order. They are counted one by one however many others there are.
    known: Vec<String>,
}

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Numbers,
    Texts,
    Times,
}

/// What was counted of some rows: with that of all others, [`Survey::knowing`] makes a survey of the whole table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counted {
    rows: u64,
    columns: Vec<Cells>,
}

/// The cells of a column.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cells {
    /// Cells without a value, those with an infinite number and those that cannot be read among them.
    missing: u64,
    infinite: u64,
    unreadable: u64,
    range: Option<[f64; 2]>,
    /// Of times, the range of each of [`TimePart::ALL`].
    parts: Option<PartRanges>,
    /// Rows of each text that the survey knows.
    known: Vec<u64>,
    /// Rows of each other text, unless there are too many of them; and those of all of them together then.
    new: BTreeMap<String, u64>,
    crowd: Option<u64>,
    /// Bytes of the other texts.
    #[serde(skip)]
    bytes: usize,
}

impl Counting {
    /// No rows yet, of a table of which these are known.
    pub fn new(survey: &Survey) -> Self {
        let read = |column: &super::Surveyed| {
            let mut known: Vec<String> = column.texts.iter().map(|(text, _)| text.clone()).collect();
            known.sort_unstable();
            let kind = match column.read_as {
                ReadAs::Texts => Kind::Texts,
                ReadAs::Times => Kind::Times,
                _ => Kind::Numbers,
            };
            // What cannot be read is told from what is missing.
            let notation = Notation { stray: false, ..column.understood.notation.clone() };
            Read { name: column.name.clone(), kind, notation, known }
        };
        let columns: Vec<Read> = survey.columns().iter().map(read).collect();
        let none = |read: &Read| Cells { known: vec![0; read.known.len()], ..Cells::default() };
        let counted = Counted { rows: 0, columns: columns.iter().map(none).collect() };
        Self { columns, counted }
    }

    /// Counts the rows of a table. Cells that cannot be read as those of the survey count as missing.
    ///
    /// # Errors
    /// If the table cannot be read or lacks a column.
    pub fn add(&mut self, table: &dyn Source) -> Result<()> {
        let selection = Selection::only(self.columns.iter().map(|read| &read.name[..])).leniently();
        let selection = self.columns.iter().fold(selection, |selection, read| {
            let read_as = match read.kind {
                Kind::Numbers => ReadAs::Numbers,
                Kind::Texts => ReadAs::Texts,
                Kind::Times => ReadAs::Times,
            };
            selection.reading_by(&read.name[..], read_as, read.notation.clone())
        });
        let mut reader = table.open(&selection)?;
        while let Some(batch) = reader.next_batch()? {
            for (index, (read, cells)) in self.columns.iter().zip(&mut self.counted.columns).enumerate() {
                cells.add(read, batch.values(index));
            }
            self.counted.rows += batch.rows() as u64;
        }
        Ok(())
    }

    /// Adds what was counted of other rows of the table.
    ///
    /// # Errors
    /// If it was counted by another survey.
    pub fn append(&mut self, counted: Counted) -> Result<()> {
        if !counted.is_by(&self.columns) {
            return Err(Error::CountedOtherwise);
        }
        self.counted.rows += counted.rows;
        for ((read, own), more) in self.columns.iter().zip(&mut self.counted.columns).zip(counted.columns) {
            own.append(read, more);
        }
        Ok(())
    }

    /// What was counted so far.
    pub fn counted(self) -> Counted {
        self.counted
    }
}

impl Counted {
    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    fn is_by(&self, columns: &[Read]) -> bool {
        self.columns.len() == columns.len()
            && self.columns.iter().zip(columns).all(|(cells, read)| cells.known.len() == read.known.len())
    }
}

impl Cells {
    fn add(&mut self, read: &Read, values: &Values) {
        match (read.kind, values) {
            (Kind::Texts, values) => {
                let texts = values.as_texts();
                let mut rows = vec![0u64; texts.levels().len()];
                for code in texts.codes() {
                    match code {
                        Some(code) => rows[code] += 1,
                        None => self.missing += 1,
                    }
                }
                for (text, rows) in texts.levels().iter().zip(rows).filter(|(_, rows)| *rows > 0) {
                    match read.notation.text(text) {
                        Some(text) => self.count(read, &text, rows),
                        None => self.missing += rows,
                    }
                }
            }
            (Kind::Numbers, Values::Numbers(values) | Values::Encoded(values)) => self.add_numbers(values),
            (Kind::Numbers, Values::Times(values)) if read.notation.clock.is_some() => {
                self.add_numbers(values)
            }
            (Kind::Times, Values::Times(values)) => self.add_times(values),
            // Some cells of the batch are not what the column holds.
            (kind, Values::Texts(texts)) => {
                let value = |text: &String| match kind {
                    Kind::Times => read.notation.time(text),
                    _ => read.notation.number(text),
                };
                let said: Vec<Option<f64>> = texts.levels().iter().map(value).collect();
                let found: Vec<Option<f64>> =
                    texts.codes().map(|code| code.map_or(Some(f64::NAN), |code| said[code])).collect();
                self.unreadable += found.iter().filter(|value| value.is_none()).count() as u64;
                let values: Vec<f64> = found.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect();
                if kind == Kind::Times { self.add_times(&values) } else { self.add_numbers(&values) }
            }
            (_, Values::Numbers(values) | Values::Times(values) | Values::Encoded(values)) => {
                self.unreadable += values.iter().filter(|value| !value.is_nan()).count() as u64;
                self.missing += values.len() as u64;
            }
        }
    }

    fn add_numbers(&mut self, values: &[f64]) {
        for &value in values {
            if value.is_finite() {
                // Noughts of either sign are equal, and which comes first depends on the order.
                self.widen([value + 0.0; 2]);
            } else {
                self.missing += 1;
                self.infinite += u64::from(value.is_infinite());
            }
        }
    }

    fn add_times(&mut self, values: &[f64]) {
        self.add_numbers(values);
        for &time in values.iter().filter(|time| time.is_finite()) {
            self.widen_parts(TimePart::ALL.map(|part| (part.of(time), part.of(time))));
        }
    }

    fn widen(&mut self, [low, high]: [f64; 2]) {
        let [min, max] = self.range.unwrap_or([low, high]);
        self.range = Some([min.min(low), max.max(high)]);
    }

    fn widen_parts(&mut self, parts: PartRanges) {
        let own = self.parts.get_or_insert(parts);
        for ((min, max), (low, high)) in own.iter_mut().zip(parts) {
            (*min, *max) = (min.min(low), max.max(high));
        }
    }

    fn count(&mut self, read: &Read, text: &str, rows: u64) {
        if let Ok(place) = read.known.binary_search_by(|known| known.as_str().cmp(text)) {
            self.known[place] += rows;
        } else if let Some(crowd) = &mut self.crowd {
            *crowd += rows;
        } else {
            if let Some(count) = self.new.get_mut(text) {
                *count += rows;
            } else {
                self.bytes += text.len();
                self.new.insert(text.to_owned(), rows);
            }
            if self.known.len() + self.new.len() > MOST_TEXTS || self.bytes > MOST_BYTES {
                self.crowd();
            }
        }
    }

    /// Gives up telling new texts apart. Whether there are too many in all does not depend on the order in which they come.
    fn crowd(&mut self) {
        let rows: u64 = std::mem::take(&mut self.new).into_values().sum();
        *self.crowd.get_or_insert(0) += rows;
        self.bytes = 0;
    }

    fn append(&mut self, read: &Read, more: Self) {
        self.missing += more.missing;
        self.infinite += more.infinite;
        self.unreadable += more.unreadable;
        if let Some(range) = more.range {
            self.widen(range);
        }
        if let Some(parts) = more.parts {
            self.widen_parts(parts);
        }
        self.known.iter_mut().zip(more.known).for_each(|(own, more)| *own += more);
        if let Some(crowd) = more.crowd {
            self.crowd();
            *self.crowd.get_or_insert(0) += crowd;
        }
        more.new.iter().for_each(|(text, &rows)| self.count(read, text, rows));
    }
}

impl Survey {
    /// The same survey, with what was counted of all rows of the table: how many there are, ranges, gaps, and categories. How columns
    /// are read, medians and spreads stay those of the rows that it has looked through.
    ///
    /// # Errors
    /// If the rows were counted by another survey.
    pub fn knowing(mut self, counted: Counted, roles: &Roles) -> Result<Self> {
        let columns = Counting::new(&self).columns;
        if !counted.is_by(&columns) || counted.rows < self.read {
            return Err(Error::CountedOtherwise);
        }
        self.rows = counted.rows;
        for ((read, cells), column) in columns.into_iter().zip(counted.columns).zip(&mut self.columns) {
            let is_category = read.kind == Kind::Texts;
            column.missing = cells.missing;
            let [min, max] = cells.range.unwrap_or([f64::INFINITY, f64::NEG_INFINITY]);
            (column.min, column.max) = (min, max);
            if let Some(parts) = cells.parts {
                column.parts = parts;
            }
            let texts = read.known.into_iter().zip(cells.known).chain(cells.new);
            column.texts = texts.filter(|(_, rows)| is_category && *rows > 0).collect();
            column.texts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            column.uncounted = cells.crowd.unwrap_or(0);
            let place = column.infinite.and_then(|(_, place)| place);
            column.infinite = (cells.infinite > 0).then_some((cells.infinite, place));
            column.understood.notation.stray |= cells.unreadable > 0;
            column.understood.stray_rows = cells.unreadable;
            let asked = roles.asked(&column.name);
            column.left_out = Found { rows: self.rows, asked }.reason(column);
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests;
