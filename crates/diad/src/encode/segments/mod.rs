//! What is usual in each segment of a table, such as each machine: a number counts by where it lies among those of its segment.
//!
//! On the asinh scale of its column, a number has a place. The places of a segment have a mean and a variance. Both are drawn towards
//! those of all segments, the more the fewer rows the segment has (empirical Bayes): the mean by how far the means of segments differ
//! from one another beside the variance within them, the variance by how far variances differ (Smyth 2004). The place of a number in
//! its segment, in standard deviations of a new row, becomes the place among all segments that is as rare. A number that is far from
//! all others of its segment does not say what is usual there: else it would hide itself where rows are few.

mod baseline;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use self::baseline::{Baseline, Known};
use super::column::{Asinh, Column, Kind};
use super::odd::Stranger;
use super::survey::IDENTIFIER_SHARE;
use super::{Encoder, Survey};
use crate::table::{self, About, Reader, Selection, Source, Table, Texts, Values, Version};
use crate::{Error, Result, Scale};

/// Most numbers that are remembered, segments times columns, and most bytes of the names of segments, as a model file has them.
const MOST_BASELINES: usize = 1 << 20;
const MOST_NAMED: usize = 1 << 23;
/// Digits of whole numbers that are the same in every format.
const DIGITS: usize = 15;

/// What is usual in each segment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Segments {
    /// The column of the table that says which segment a row belongs to.
    column: String,
    /// The segments, in ascending order.
    names: Vec<String>,
    baselines: Vec<Baseline>,
    /// While rows are learned from: the baselines of all of them, which tell what is far from the others. Such a row did not say what
    /// is usual, and what the others say is taken without the row itself, as it will be for new rows.
    #[serde(skip)]
    first: Option<Vec<Baseline>>,
}

impl Segments {
    /// Those of a table, whose columns an encoder knows already. It is read twice.
    ///
    /// # Errors
    /// If the table has no such column, or more segments and columns than are kept.
    fn learned(source: &dyn Source, encoder: &Encoder, column: &str) -> Result<Self> {
        let (names, baselines) = counted(source, encoder, column, None)?;
        let first = Self { column: column.to_owned(), names, baselines, first: None };
        let (names, baselines) = counted(source, encoder, column, Some(&first))?;
        Ok(Self { names, baselines, first: Some(first.baselines), column: first.column })
    }

    /// The column that says which segment a row belongs to.
    pub fn column(&self) -> &str {
        &self.column
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// What numbers of a batch are relative to their segments. Numbers that were so already stay, and so does what is none. Gives the rows
    /// of no segment that the training had.
    ///
    /// # Errors
    /// If the batch lacks the column of the segments.
    pub(super) fn apply(
        &self,
        batch: &Table,
        columns: &mut [Cow<'_, [f64]>],
        is_relative: impl Fn(usize) -> bool,
    ) -> table::Result<Vec<Stranger>> {
        let wanted: Vec<(usize, &Baseline)> = self
            .baselines
            .iter()
            .enumerate()
            .filter(|(_, baseline)| !is_relative(baseline.column as usize))
            .collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let segments = segments_in(batch, &self.column)?;
        let places: Vec<Option<usize>> = segments.levels().iter().map(|name| self.place(name)).collect();
        let of_rows: Vec<Option<usize>> =
            segments.codes().map(|code| code.and_then(|code| places[code])).collect();
        for (index, baseline) in wanted {
            let first = self.first.as_ref().map(|first| &first[index]);
            let values = columns[baseline.column as usize].to_mut();
            for (value, segment) in values.iter_mut().zip(&of_rows).filter(|(value, _)| value.is_finite()) {
                let known = match (*segment, first) {
                    (None, _) => Known::NOTHING,
                    (Some(segment), Some(first))
                        if !baseline.is_stepped && !first.is_far(*value, segment) =>
                    {
                        baseline.without(segment, *value)
                    }
                    (Some(segment), _) => baseline.of(segment),
                };
                *value = baseline.relative(*value, known);
            }
        }
        let unknown = of_rows.iter().enumerate().filter(|(_, segment)| segment.is_none());
        Ok(unknown.map(|(row, _)| Stranger { row, cell: segments.get(row).map(str::to_owned) }).collect())
    }

    /// The place of a segment among the names.
    fn place(&self, name: &String) -> Option<usize> {
        self.names.binary_search(name).ok()
    }

    /// Whether they are such as a fit makes, of columns that exist.
    pub(super) fn is_valid(&self, columns: &[Column]) -> bool {
        self.names.len() > 1
            && self.names.windows(2).all(|two| two[0] < two[1])
            && self.names.len().saturating_mul(self.baselines.len()) <= MOST_BASELINES
            && self.baselines.windows(2).all(|two| two[0].column < two[1].column)
            && self.baselines.iter().all(|baseline| {
                let column = columns.get(baseline.column as usize);
                column.is_some_and(|column| column.kind == Kind::Number && column.table_column.is_some())
                    && baseline.is_valid(self.names.len())
            })
            && columns.iter().filter(|column| column.table_column.is_some()).count() == self.baselines.len()
    }
}

/// The segments of a table, in ascending order, and what is usual in each for every column of numbers; without the numbers that are far
/// off by what is known already.
fn counted(
    source: &dyn Source,
    encoder: &Encoder,
    column: &str,
    before: Option<&Segments>,
) -> Result<(Vec<String>, Vec<Baseline>)> {
    let scales: Vec<(u32, Asinh)> = (0..)
        .zip(&encoder.columns)
        .filter(|(_, given)| given.kind == Kind::Number)
        .filter_map(|(index, given)| Some((index, given.asinh?)))
        .collect();
    let (mut known, mut named): (HashMap<String, usize>, usize) = (HashMap::new(), 0);
    // Of each segment and column: rows, the mean of their places, and their squared distances from it.
    let mut sums: Vec<[f64; 3]> = Vec::new();
    let mut rows = 0u64;
    let mut reader = source.open(&encoder.lenient_selection().and_texts([column]))?;
    while let Some(batch) = reader.next_batch()? {
        let segments = segments_in(&batch, column)?;
        let place = |name: &String| {
            let next = known.len();
            let place = *known.entry(name.clone()).or_insert_with(|| {
                named += name.escape_default().count();
                next
            });
            (place, before.and_then(|before| before.place(name)))
        };
        let places: Vec<(usize, Option<usize>)> = segments.levels().iter().map(place).collect();
        if known.len().saturating_mul(scales.len().max(1)) > MOST_BASELINES || named > MOST_NAMED {
            return Err(Error::TooManySegments { column: column.to_owned() });
        }
        sums.resize(known.len() * scales.len(), [0.0; 3]);
        let found = encoder.find(&batch)?.columns;
        for (row, code) in segments.codes().enumerate() {
            let Some((segment, place)) = code.map(|code| places[code]) else { continue };
            rows += 1;
            let sums = &mut sums[segment * scales.len()..];
            for (index, (sums, (column, scale))) in sums.iter_mut().zip(&scales).enumerate() {
                let value = found[*column as usize][row];
                let baseline = before.map(|before| &before.baselines[index]);
                let is_far =
                    baseline.zip(place).is_some_and(|(baseline, place)| baseline.is_far(value, place));
                if value.is_finite() && !is_far {
                    let [count, mean, squares] = sums;
                    *count += 1.0;
                    let off = scale.apply(value) - *mean;
                    *mean += off / *count;
                    *squares += off * (scale.apply(value) - *mean);
                }
            }
        }
    }
    if known.len() < 2 {
        return Err(Error::OneSegment { column: column.to_owned() });
    }
    if known.len() as f64 >= IDENTIFIER_SHARE * rows as f64 {
        return Err(Error::SegmentsOfOneRow { column: column.to_owned() });
    }
    let mut order: Vec<(String, usize)> = known.into_iter().collect();
    order.sort_unstable();
    let of = |(index, &(column, scale)): (usize, &(u32, Asinh))| {
        let of_column: Vec<[f64; 3]> =
            order.iter().map(|(_, segment)| sums[segment * scales.len() + index]).collect();
        Baseline::among(column, scale, &of_column)
    };
    let baselines = scales.iter().enumerate().map(of).collect();
    Ok((order.into_iter().map(|(name, _)| name).collect(), baselines))
}

/// The segments of the rows of a batch. A number is the same whether it was read as text or not: `7.0` is `7`, but `007` is itself.
fn segments_in<'a>(batch: &'a Table, column: &str) -> table::Result<Cow<'a, Texts>> {
    let Some(index) = batch.names().iter().position(|name| name == column) else {
        let others = batch.names().to_vec();
        return Err(table::Error::MissingColumns { names: vec![column.to_owned()], others });
    };
    let texts = batch.values(index).as_texts();
    if texts.levels().iter().all(|name| plain_number(name).is_none()) {
        return Ok(texts);
    }
    let plain = |row: usize| texts.get(row).map(|name| plain_number(name).unwrap_or_else(|| name.to_owned()));
    Ok(Cow::Owned((0..batch.rows()).map(plain).collect()))
}

/// How a number is written that formats write in several ways; nothing for what is written so already, and for codes.
fn plain_number(name: &str) -> Option<String> {
    let digits = name.strip_prefix('-').unwrap_or(name);
    let is_code = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    let may_be = digits.len() <= DIGITS && digits.starts_with(|c: char| c.is_ascii_digit());
    let number: f64 = name.parse().ok().filter(|_| may_be && !is_code)?;
    let plain = if number == 0.0 { "0".to_owned() } else { number.to_string() };
    (plain != name).then_some(plain)
}

/// The numbers of a table relative to their segments, a column of that name for each of the encoder's.
struct Relative<'a> {
    source: &'a dyn Source,
    encoder: &'a Encoder,
    segments: &'a Segments,
}

impl Source for Relative<'_> {
    fn open(&self, _: &Selection) -> table::Result<Box<dyn Reader + '_>> {
        let reader =
            self.source.open(&self.encoder.lenient_selection().and_texts([self.segments.column()]))?;
        let column = |baseline: &Baseline| self.encoder.columns[baseline.column as usize].name.clone();
        Ok(Box::new(RelativeReader {
            reader,
            table: self,
            names: self.segments.baselines.iter().map(column).collect(),
        }))
    }

    fn version(&self) -> Option<Version> {
        self.source.version()
    }
}

struct RelativeReader<'a> {
    reader: Box<dyn Reader + 'a>,
    table: &'a Relative<'a>,
    names: Vec<String>,
}

impl Reader for RelativeReader<'_> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn about(&self) -> About {
        About::default()
    }

    fn next_batch(&mut self) -> table::Result<Option<Table>> {
        let Some(batch) = self.reader.next_batch()? else { return Ok(None) };
        let Relative { encoder, segments, .. } = self.table;
        let mut columns = encoder.find(&batch)?.columns;
        segments.apply(&batch, &mut columns, |_| false)?;
        let of = |baseline: &Baseline| Values::Numbers(columns[baseline.column as usize].to_vec());
        Table::of(self.names.clone(), segments.baselines.iter().map(of).collect()).map(Some)
    }
}

impl Encoder {
    /// An encoder for a table that was looked through, in which numbers count by where they lie in their segments.
    ///
    /// # Errors
    /// As [`Encoder::of`], or if the table has no such column, a single segment, or too many, or no numbers that segments tell anything of.
    pub(super) fn by_segments(source: &dyn Source, survey: &Survey, scale: Scale, by: &str) -> Result<Self> {
        let plain = Self::of(survey, Scale::Asinh)?;
        let mut segments = Segments::learned(source, &plain, by)?;
        if segments.baselines.is_empty() {
            return Err(Error::NoBaselines { column: by.to_owned() });
        }
        for baseline in &mut segments.baselines {
            baseline.is_stepped = survey.has_steps(&plain.columns[baseline.column as usize].name);
        }
        let relative =
            Survey::of(&Relative { source, encoder: &plain, segments: &segments }, &super::Roles::default())?;
        let mut encoder = Self::of(&survey.with_numbers_of(&relative), scale)?;
        let taken: Vec<String> = encoder.columns.iter().map(|column| column.name.clone()).collect();
        let all = segments.first.iter_mut().flatten().chain(&mut segments.baselines);
        for baseline in all {
            // Another scale has other columns, but all of numbers.
            let name = &plain.columns[baseline.column as usize].name;
            let place = taken.iter().position(|taken| taken == name);
            baseline.column = place.map_or(u32::MAX, |place| place as u32);
        }
        let is_there = |baseline: &Baseline| (baseline.column as usize) < taken.len();
        segments.baselines.retain(is_there);
        segments.first.iter_mut().for_each(|first| first.retain(is_there));
        for baseline in &segments.baselines {
            let column = &mut encoder.columns[baseline.column as usize];
            let name = format!("{} for its {by}", column.name);
            let numbered = (2..).map(|number| format!("{name} ({number})"));
            let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name));
            column.table_column = Some(std::mem::replace(&mut column.name, free.unwrap_or(name)));
        }
        encoder.segments = Some(segments);
        Ok(encoder)
    }

    /// The same encoder, once the table was learned from: rows that come are new ones.
    pub(super) fn learned(&mut self) {
        if let Some(segments) = &mut self.segments {
            segments.first = None;
        }
    }
}
