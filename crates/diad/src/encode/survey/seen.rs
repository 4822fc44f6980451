//! What one pass over a table has seen of a column.

use std::collections::HashMap;

use super::PartRanges;
use super::surveyed::{Reason, Surveyed};
use crate::table::{Notation, Place, ReadAs, Table, Tally, TimePart, Understood, Values};

/// Most different texts of a column that are counted.
pub(super) const MOST_TEXTS: usize = 100_000;
/// Rows from which on identifiers are looked for.
const ROWS_TO_TELL: u64 = 20;
/// From which share of different texts on they are taken for identifiers.
pub(in crate::encode) const IDENTIFIER_SHARE: f64 = 0.9;

/// What one pass has seen of a column.
pub(super) struct Seen {
    pub(super) name: String,
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
    pub(super) bytes: usize,
    uncounted: u64,
    infinite: Option<(u64, Place)>,
    pub(super) tally: Tally,
}

impl Seen {
    pub(super) fn new(name: &str) -> Self {
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
    pub(super) fn is_read_as(&self, read_as: ReadAs) -> bool {
        match read_as {
            ReadAs::Texts => !self.numbers && !self.times,
            ReadAs::Times => !self.numbers && !self.texts,
            _ => !self.texts && !self.times,
        }
    }

    /// Adds the cells of a batch. Of different texts no more than `most` bytes are kept.
    pub(super) fn add(&mut self, batch: &Table, index: usize, most: usize) {
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
        for &value in values {
            if !value.is_finite() {
                self.missing += 1;
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
        values.iter().any(|value| !value.is_nan())
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

    pub(super) fn finish(
        self,
        sample: Vec<f64>,
        rows: u64,
        asked: Option<ReadAs>,
        understood: Understood,
        unnamed: bool,
    ) -> Surveyed {
        let texts = counted(self.counts, &understood.notation);
        let read_as = understood.read_as;
        let counted = self.counts_by.is_some_and(|by| !by.is_nan()) && self.missing == 0;
        let named = unnamed || named_like_identifier(&self.name);
        let named = self.whole && named && sample.windows(2).all(|p| p[0] < p[1]);
        let mut surveyed = Surveyed {
            name: self.name,
            read_as,
            missing: self.missing,
            min: self.min,
            max: self.max,
            texts,
            uncounted: self.uncounted,
            left_out: None,
            understood,
            infinite: self.infinite.map(|(rows, place)| (rows, Some(place))),
            identifies: counted || named,
            unnamed,
            sample,
            parts: self.parts,
        };
        surveyed.left_out = Found { rows, asked }.reason(&surveyed);
        surveyed
    }
}

/// What is known of a column beside what it holds.
pub(super) struct Found {
    /// Rows of the table.
    pub(super) rows: u64,
    /// What the user says that it holds.
    pub(super) asked: Option<ReadAs>,
}

impl Found {
    /// Why the column is left out, if it is.
    pub(super) fn reason(&self, column: &Surveyed) -> Option<Reason> {
        let present = self.rows - column.missing;
        let enough = present >= ROWS_TO_TELL;
        let distinct = column.texts.len() as f64;
        let is_one = column.min == column.max;
        match (present, column.read_as, self.asked) {
            (0, ..) => Some(Reason::AllMissing),
            (_, ReadAs::Texts, _) if column.texts.len() == 1 && column.missing == 0 => Some(Reason::Constant),
            (_, ReadAs::Numbers, _) if is_one && column.missing == 0 => Some(Reason::Constant),
            (_, ReadAs::Times, _) if is_one => Some(Reason::OneTime),
            (_, _, Some(_)) => None,
            (_, ReadAs::Texts, _) if enough && distinct >= IDENTIFIER_SHARE * present as f64 => {
                Some(Reason::Identifier)
            }
            (_, ReadAs::Texts, _) if column.uncounted > 0 => Some(Reason::TooManyTexts),
            (_, ReadAs::Numbers, _) if enough && column.identifies => Some(Reason::Identifier),
            _ => None,
        }
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
    // As R and pandas call the names of rows that were written as a column.
    let of_programs = ["row.names", "rownames", "row names", "unnamed: 0", "__index_level_0__"];
    whole.contains(&lower.as_str())
        || of_programs.contains(&lower.as_str())
        || ["_id", " id", "-id", ".id", "_key", "_uuid", "_nr"].iter().any(|end| lower.ends_with(end))
        || name.ends_with("Id")
        || name.ends_with("ID")
}
