//! What a table holds, gathered in one streaming pass: kinds, ranges, categories, missing values, identifiers.

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::column::{Bend, Column, Gaps, Kind, Level, MOST_LEVELS, places_of};
use super::notes;
use crate::Scale;
use crate::rng::{Purpose, Stream};
use crate::table::{self, About, DateOrder, Hints, Notation, Place, ReadAs, Selection, Source, Table};
use crate::table::{Tally, TimePart, Understood, Values, Version};
use crate::{Error, Result};

/// Most cells kept of a table to find medians and spreads.
const SAMPLE_CELLS: usize = 4 << 20;
/// Most different texts of a column that are counted.
const MOST_TEXTS: usize = 100_000;
/// The share of the memory, as one over this, that different texts of all columns may take.
const TEXT_SHARE: usize = 8;
/// Rows from which on identifiers are looked for.
const ROWS_TO_TELL: u64 = 20;
/// From which share of different texts on they are taken for identifiers.
const IDENTIFIER_SHARE: f64 = 0.9;

/// What the user says about columns. All others are taken as what they seem to be.
///
/// ```
/// use diad::encode::Roles;
///
/// let roles = Roles::default().ignore("customer").categorical("zip code").numeric("amount");
/// # let _ = roles;
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roles {
    ignored: Vec<String>,
    read_as: Vec<(String, ReadAs)>,
    dates: Option<DateOrder>,
}

impl Roles {
    /// Leaves out a column.
    pub fn ignore(mut self, name: impl Into<String>) -> Self {
        self.ignored.push(name.into());
        self
    }

    /// Takes the values of a column as categories, also if they are numbers or seem to be identifiers.
    pub fn categorical(mut self, name: impl Into<String>) -> Self {
        self.read_as.push((name.into(), ReadAs::Texts));
        self
    }

    /// Says whether the day or the month comes first in dates such as 01/02/2024.
    pub fn dates(mut self, order: DateOrder) -> Self {
        self.dates = Some(order);
        self
    }

    /// Takes the values of a column as numbers, also if they seem to be identifiers or codes. Other texts are missing values,
    /// or an error if they are half of the cells.
    pub fn numeric(mut self, name: impl Into<String>) -> Self {
        self.read_as.push((name.into(), ReadAs::Numbers));
        self
    }

    fn asked(&self, name: &str) -> Option<ReadAs> {
        self.read_as.iter().rev().find(|(known, _)| known == name).map(|(_, read_as)| *read_as)
    }
}

/// Why a column is left out although nobody asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// (Nearly) every row has its own value.
    Identifier,
    /// More different texts than can be counted.
    TooManyTexts,
    /// No row has a value.
    AllMissing,
    /// Every row has the same value.
    Constant,
    /// All times are the same.
    OneTime,
}

impl Reason {
    /// The reason in words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Identifier => "it seems to identify rows",
            Self::TooManyTexts => "it has too many different texts",
            Self::AllMissing => "all its values are missing",
            Self::Constant => "it has the same value in all rows",
            Self::OneTime => "all its times are the same",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// A column that is left out although nobody asked for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// The column's name.
    pub name: String,
    /// Why it is left out.
    pub reason: Reason,
}

/// What one column of a table holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Surveyed {
    /// The column's name.
    pub name: String,
    /// Whether its values are numbers, texts or times.
    pub read_as: ReadAs,
    /// Rows without a value.
    pub missing: u64,
    /// Smallest number or time.
    pub min: f64,
    /// Largest number or time.
    pub max: f64,
    /// Texts with their numbers of rows, most frequent first.
    pub texts: Vec<(String, u64)>,
    /// Rows of further texts, not counted one by one.
    pub uncounted: u64,
    /// Why it is left out, if it is.
    pub left_out: Option<Reason>,
    /// How its text is read.
    pub understood: Understood,
    /// Rows with an infinite number, and the first of them, if there are any. A fit refuses them.
    pub infinite: Option<(u64, Place)>,
    /// Whether it has no name in the table.
    pub unnamed: bool,
    /// Some of its numbers or times, in ascending order.
    sample: Vec<f64>,
    /// Smallest and largest value of each part of the times, over all rows.
    parts: PartRanges,
}

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
    rows: u64,
    columns: Vec<Surveyed>,
    ignored: Vec<String>,
    /// What the reader has to say of the table.
    said: Vec<String>,
    /// What tells whether the source has changed since.
    version: Option<Version>,
}

impl Survey {
    /// Looks through a whole table.
    ///
    /// # Errors
    /// If it cannot be read, a number is infinite, a column that is to hold numbers does not, or a named column is not there.
    pub fn of(source: &dyn Source, roles: &Roles) -> Result<Self> {
        let survey = Self::gather(source, roles, false)?;
        match survey.columns.iter().find_map(|column| Some((column, column.infinite?))) {
            Some((column, (_, place))) => Err(Error::Infinite { column: column.name.clone(), place }),
            None => Ok(survey),
        }
    }

    /// Looks through a whole table, and goes on where a fit would stop: at infinite numbers, and at texts in columns that are
    /// to hold numbers.
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

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
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

impl Surveyed {
    /// A number or time of the column in words.
    pub fn in_words(&self, value: f64) -> String {
        let values = if self.read_as == ReadAs::Times { Values::Times } else { Values::Numbers };
        values(vec![value]).cell(0).unwrap_or_else(|| "missing".into())
    }

    fn encoded(&self, scale: Scale, rows: u64) -> Vec<Column> {
        match self.read_as {
            ReadAs::Texts => vec![self.category()],
            ReadAs::Times => {
                let parts = TimePart::ALL.into_iter().filter_map(|part| self.part(part, scale));
                let mut parts: Vec<Column> = parts.collect();
                // One feature for the gaps of a time is enough.
                parts
                    .iter_mut()
                    .skip(1)
                    .filter_map(|part| part.gaps.as_mut())
                    .for_each(|gaps| gaps.told = true);
                parts
            }
            _ => {
                let (min, max) = (self.min, self.max);
                let bend = if scale == Scale::Linear { None } else { find_bend(&self.sample) };
                let middle = self.sample.get(self.sample.len() / 2).copied().unwrap_or(min);
                let gaps = (self.missing > 0).then_some(Gaps { rows: self.missing, middle, told: false });
                debug_assert!(self.missing < rows);
                let notation = self.notation();
                vec![Column { name: self.name.clone(), kind: Kind::Number, min, max, bend, gaps, notation }]
            }
        }
    }

    fn notation(&self) -> Option<Notation> {
        Some(self.understood.notation.clone())
    }

    fn category(&self) -> Column {
        let level = |(name, rows): &(String, u64)| Level { name: Some(name.clone()), rows: *rows };
        let mut levels: Vec<Level> = self.texts.iter().map(level).collect();
        if self.missing > 0 {
            let place = levels.partition_point(|level| level.rows >= self.missing);
            levels.insert(place, Level { name: None, rows: self.missing });
        }
        let rest = levels.split_off(levels.len().min(MOST_LEVELS));
        let others = self.uncounted + rest.iter().map(|level| level.rows).sum::<u64>();
        let max = (levels.len() + usize::from(others > 0) - 1) as f64;
        // Rarer ones that share a place are each no more frequent than the last that has its own.
        let mut counts: Vec<u64> = levels.iter().map(|level| level.rows).collect();
        counts.extend(counts.last().copied().filter(|_| others > 0));
        let kind = Kind::Category { levels, others, places: places_of(&counts) };
        let notation = self.notation();
        Column { name: self.name.clone(), kind, min: 0.0, max, bend: None, gaps: None, notation }
    }

    /// A part of the time, if it differs between rows. When it was is only judged on a bent scale.
    fn part(&self, part: TimePart, scale: Scale) -> Option<Column> {
        let (min, max) = self.parts[part as usize];
        let mut values: Vec<f64> = self.sample.iter().map(|&time| part.of(time)).collect();
        values.sort_by(f64::total_cmp);
        let middle = *values.get(values.len() / 2)?;
        let gaps = (self.missing > 0).then_some(Gaps { rows: self.missing, middle, told: false });
        let kind = Kind::Time { part, column: self.name.clone() };
        let name = format!("{} of {}", part.name(), self.name);
        let is_date = part == TimePart::Date;
        let bend = if is_date { find_bend(&values) } else { None };
        let used = min < max && !(is_date && scale == Scale::Linear);
        let notation = self.notation();
        used.then_some(Column { name, kind, min, max, bend, gaps, notation })
    }
}

/// What one pass has seen.
struct Pass {
    columns: Vec<Seen>,
    rows: u64,
    sample: RowSample,
    about: About,
}

/// What one pass has seen of a column.
struct Seen {
    name: String,
    numbers: bool,
    texts: bool,
    times: bool,
    missing: u64,
    min: f64,
    max: f64,
    parts: PartRanges,
    /// Whether all numbers are whole, and whether each is one more, or each one less, than the one before.
    whole: bool,
    counts_by: Option<f64>,
    last: f64,
    counts: HashMap<String, u64>,
    /// Bytes of the texts that are counted.
    bytes: usize,
    uncounted: u64,
    infinite: Option<(u64, Place)>,
    tally: Tally,
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
        Survey { rows, columns, ignored: roles.ignored.clone(), said: about.notes, version }
    }
}

impl Seen {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            numbers: false,
            texts: false,
            times: false,
            missing: 0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            parts: [(f64::INFINITY, f64::NEG_INFINITY); TimePart::ALL.len()],
            whole: true,
            counts_by: None,
            last: f64::NAN,
            counts: HashMap::new(),
            bytes: 0,
            uncounted: 0,
            infinite: None,
            tally: Tally::default(),
        }
    }

    /// Whether all its values were read as what they are.
    fn is_read_as(&self, read_as: ReadAs) -> bool {
        match read_as {
            ReadAs::Texts => !self.numbers && !self.times,
            ReadAs::Times => !self.numbers && !self.texts,
            _ => !self.texts && !self.times,
        }
    }

    /// Adds the cells of a batch. Of different texts no more than `most` bytes are kept.
    fn add(&mut self, batch: &Table, index: usize, most: usize) {
        match batch.values(index) {
            Values::Numbers(values) | Values::Encoded(values) => {
                if let Some(row) = values.iter().position(|value| value.is_infinite()) {
                    let rows = values.iter().filter(|value| value.is_infinite()).count() as u64;
                    self.infinite.get_or_insert((0, batch.place(row))).0 += rows;
                }
                self.numbers |= self.add_numbers(values);
            }
            Values::Times(values) => {
                self.times |= self.add_numbers(values);
                for (part, (min, max)) in TimePart::ALL.into_iter().zip(&mut self.parts) {
                    // The smallest and the largest of two numbers, of which NaN is none.
                    let found = values.iter().map(|&time| part.of(time));
                    (*min, *max) =
                        found.fold((*min, *max), |(min, max), value| (min.min(value), max.max(value)));
                }
            }
            Values::Texts(texts) => {
                self.texts = true;
                let mut rows = vec![0u64; texts.levels().len()];
                for code in texts.codes() {
                    match code {
                        Some(code) => rows[code] += 1,
                        None => self.missing += 1,
                    }
                }
                for (text, &rows) in texts.levels().iter().zip(&rows) {
                    self.count(text, rows, most);
                }
            }
        }
    }

    /// Adds numbers or times; says whether there were any.
    fn add_numbers(&mut self, values: &[f64]) -> bool {
        let before = self.missing;
        for &value in values {
            if value.is_nan() {
                self.missing += 1;
                continue;
            }
            if value.is_infinite() {
                continue;
            }
            self.min = self.min.min(value);
            self.max = self.max.max(value);
            self.whole &= value.fract() == 0.0;
            let step = value - self.last;
            match self.counts_by {
                None if step.abs() == 1.0 => self.counts_by = Some(step),
                Some(by) if by == step => {}
                _ if self.last.is_nan() => {}
                _ => self.counts_by = Some(f64::NAN),
            }
            self.last = value;
        }
        self.missing - before < values.len() as u64
    }

    fn count(&mut self, text: &str, rows: u64, most: usize) {
        if let Some(count) = self.counts.get_mut(text) {
            *count += rows;
        } else if self.counts.len() < MOST_TEXTS && self.bytes + text.len() <= most {
            self.bytes += text.len();
            self.counts.insert(text.to_owned(), rows);
        } else {
            self.uncounted += rows;
        }
    }

    fn finish(
        self,
        sample: Vec<f64>,
        rows: u64,
        asked: Option<ReadAs>,
        understood: Understood,
        unnamed: bool,
    ) -> Surveyed {
        let texts = counted(self.counts, &understood.notation);
        let read_as = understood.read_as;
        let present = rows - self.missing;
        let enough = present >= ROWS_TO_TELL;
        let distinct = texts.len() as f64;
        let counted = self.counts_by.is_some_and(|by| !by.is_nan()) && self.missing == 0;
        let named = unnamed || named_like_identifier(&self.name);
        let named = self.whole && named && sample.windows(2).all(|p| p[0] < p[1]);
        let left_out = match (present, read_as, asked) {
            (0, ..) => Some(Reason::AllMissing),
            (_, ReadAs::Texts, _) if texts.len() == 1 && self.missing == 0 => Some(Reason::Constant),
            (_, ReadAs::Numbers, _) if self.min == self.max && self.missing == 0 => Some(Reason::Constant),
            (_, _, Some(_)) => None,
            (_, ReadAs::Texts, _) if enough && distinct >= IDENTIFIER_SHARE * present as f64 => {
                Some(Reason::Identifier)
            }
            (_, ReadAs::Texts, _) if self.uncounted > 0 => Some(Reason::TooManyTexts),
            (_, ReadAs::Numbers, _) if enough && (counted || named) => Some(Reason::Identifier),
            _ => None,
        };
        let mut surveyed = Surveyed {
            name: self.name,
            read_as,
            missing: self.missing,
            min: self.min,
            max: self.max,
            texts,
            uncounted: self.uncounted,
            left_out,
            understood,
            infinite: self.infinite,
            unnamed,
            sample,
            parts: self.parts,
        };
        if read_as == ReadAs::Times && surveyed.min == surveyed.max {
            surveyed.left_out.get_or_insert(Reason::OneTime);
        }
        surveyed
    }
}

/// Texts by what they mean, the most frequent first.
fn counted(counts: HashMap<String, u64>, notation: &Notation) -> Vec<(String, u64)> {
    let mut meant: HashMap<String, u64> = HashMap::with_capacity(counts.len());
    for (text, rows) in counts {
        if let Some(meaning) = notation.text(&text) {
            let same = *meaning == *text;
            let meaning = if same { None } else { Some(meaning.into_owned()) };
            *meant.entry(meaning.unwrap_or(text)).or_default() += rows;
        }
    }
    let mut texts: Vec<(String, u64)> = meant.into_iter().collect();
    texts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    texts
}

/// Whether a column is named as columns of identifiers are.
fn named_like_identifier(name: &str) -> bool {
    let lower = name.to_lowercase();
    let whole = ["id", "ids", "uuid", "guid", "index", "rowid", "row", "key", "nr", "no"];
    whole.contains(&lower.as_str())
        || ["_id", " id", "-id", ".id", "_key", "_uuid", "_nr"].iter().any(|end| lower.ends_with(end))
        || name.ends_with("Id")
        || name.ends_with("ID")
}

/// A uniform sample of the rows of a stream, the same every time.
struct RowSample {
    width: usize,
    capacity: usize,
    seen: usize,
    values: Vec<f64>,
    random: Stream,
}

impl RowSample {
    fn new(width: usize) -> Self {
        let capacity = (SAMPLE_CELLS / width).clamp(2_000, 20_000);
        Self { width, capacity, seen: 0, values: Vec::new(), random: Stream::new(0, Purpose::Sample, 0) }
    }

    fn add(&mut self, batch: &Table) {
        let columns: Vec<Option<&[f64]>> = (0..self.width)
            .map(|index| match batch.values(index) {
                Values::Numbers(values) | Values::Times(values) | Values::Encoded(values) => {
                    Some(values.as_slice())
                }
                Values::Texts(_) => None,
            })
            .collect();
        for row in 0..batch.rows() {
            let cells = columns.iter().map(|column| column.map_or(f64::NAN, |values| values[row]));
            if self.seen < self.capacity {
                self.values.extend(cells);
            } else {
                let slot = self.random.below(self.seen + 1);
                if slot < self.capacity {
                    let slots = &mut self.values[slot * self.width..(slot + 1) * self.width];
                    slots.iter_mut().zip(cells).for_each(|(slot, cell)| *slot = cell);
                }
            }
            self.seen += 1;
        }
    }

    /// The numbers of a column that are not missing, in ascending order.
    fn column(&self, index: usize) -> Vec<f64> {
        let values = self.values.iter().skip(index).step_by(self.width).copied();
        let mut values: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
        values.sort_by(f64::total_cmp);
        values
    }
}

/// How a column is bent: from its median over four interquartile ranges, or standard deviations where more than
/// half of the values are the same. Nothing for columns of one or two values. The values are in ascending order.
fn find_bend(values: &[f64]) -> Option<Bend> {
    let mut distinct = values.to_vec();
    distinct.dedup();
    if distinct.len() <= 2 {
        return None;
    }
    let quantile = |share: f64| values[(share * (values.len() - 1) as f64) as usize];
    let (median, range) = (quantile(0.5), quantile(0.75) - quantile(0.25));
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt();
    let spread = 4.0 * if range > 0.0 { range } else { deviation };
    (spread.is_normal() && median.is_finite()).then_some(Bend { median, spread })
}
