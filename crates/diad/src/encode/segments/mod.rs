//! What is usual in each segment of a table, such as each machine: a number counts by where it lies among those of its segment.
//!
//! On the asinh scale of its column, a number has a place. The places of a segment have a mean and a variance. Both are drawn towards
//! those of all segments, the more the fewer rows the segment has (empirical Bayes): the mean by how far the means of segments differ
//! from one another beside the variance within them, the variance by how far variances differ (Smyth 2004). The place of a number in
//! its segment, in standard deviations of a new row, becomes the place among all segments that is as rare.

mod baseline;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use self::baseline::Baseline;
use super::column::{Asinh, Column, Kind};
use super::{Encoder, Survey};
use crate::table::{self, About, Reader, Selection, Source, Table, Texts, Values, Version};
use crate::{Error, Result, Scale};

/// Most numbers that are remembered: segments times columns.
const MOST_BASELINES: usize = 1 << 21;
/// What is usual in each segment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Segments {
    /// The column of the table that says which segment a row belongs to.
    column: String,
    /// The segments, in ascending order.
    names: Vec<String>,
    baselines: Vec<Baseline>,
    /// Whether a row counts among the others of its segment, as it does while they are learned from: new rows are not among those that
    /// said what is usual.
    #[serde(skip)]
    among_others: bool,
}

impl Segments {
    /// Those of a table, whose columns an encoder knows already.
    ///
    /// # Errors
    /// If the table has no such column, or more segments and columns than are kept.
    fn learned(source: &dyn Source, encoder: &Encoder, column: &str) -> Result<Self> {
        let scales: Vec<(u32, Asinh)> = (0..)
            .zip(&encoder.columns)
            .filter(|(_, given)| given.kind == Kind::Number)
            .filter_map(|(index, given)| Some((index, given.asinh?)))
            .collect();
        let mut known: HashMap<String, usize> = HashMap::new();
        // Of each segment and column: rows, the mean of their places, and their squared distances from it.
        let mut sums: Vec<[f64; 3]> = Vec::new();
        let mut reader = source.open(&encoder.lenient_selection().and_texts([column]))?;
        while let Some(batch) = reader.next_batch()? {
            let segments = segments_in(&batch, column)?;
            let place = |name: &String| {
                let next = known.len();
                *known.entry(name.clone()).or_insert(next)
            };
            let places: Vec<usize> = segments.levels().iter().map(place).collect();
            if known.len().saturating_mul(scales.len().max(1)) > MOST_BASELINES {
                return Err(Error::TooManySegments { column: column.to_owned() });
            }
            sums.resize(known.len() * scales.len(), [0.0; 3]);
            let found = encoder.find(&batch)?.columns;
            for (row, code) in segments.codes().enumerate() {
                let Some(segment) = code.map(|code| places[code]) else { continue };
                for (sums, (column, scale)) in sums[segment * scales.len()..].iter_mut().zip(&scales) {
                    let value = found[*column as usize][row];
                    if value.is_finite() {
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
        let mut order: Vec<(String, usize)> = known.into_iter().collect();
        order.sort_unstable();
        let of = |(index, &(column, scale)): (usize, &(u32, Asinh))| {
            let of_column: Vec<[f64; 3]> =
                order.iter().map(|(_, segment)| sums[segment * scales.len() + index]).collect();
            Baseline::among(column, scale, &of_column)
        };
        let baselines = scales.iter().enumerate().map(of).collect();
        let names = order.into_iter().map(|(name, _)| name).collect();
        Ok(Self { column: column.to_owned(), names, baselines, among_others: true })
    }

    /// The column that says which segment a row belongs to.
    pub fn column(&self) -> &str {
        &self.column
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// What numbers of a batch are relative to their segments. Numbers that were so already stay, and so does what is none.
    ///
    /// # Errors
    /// If the batch lacks the column of the segments.
    pub(super) fn apply(
        &self,
        batch: &Table,
        columns: &mut [Cow<'_, [f64]>],
        is_relative: impl Fn(usize) -> bool,
    ) -> Result<()> {
        let wanted: Vec<&Baseline> =
            self.baselines.iter().filter(|baseline| !is_relative(baseline.column as usize)).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let segments = segments_in(batch, &self.column)?;
        let place = |name: &String| self.names.binary_search(name).ok();
        let places: Vec<Option<usize>> = segments.levels().iter().map(place).collect();
        let of_rows: Vec<Option<usize>> =
            segments.codes().map(|code| code.and_then(|code| places[code])).collect();
        for baseline in wanted {
            let values = columns[baseline.column as usize].to_mut();
            for (value, segment) in values.iter_mut().zip(&of_rows).filter(|(value, _)| value.is_finite()) {
                let known = segment.map_or((0.0, [0.0; 2]), |segment| {
                    (f64::from(baseline.rows[segment]), baseline.segments[segment].map(f64::from))
                });
                let known = match segment {
                    Some(_) if self.among_others => {
                        Baseline::without(known.0, known.1, baseline.scale.apply(*value))
                    }
                    _ => known,
                };
                *value = baseline.relative(*value, known);
            }
        }
        Ok(())
    }

    /// Whether they are such as a fit makes, of columns that exist.
    pub(super) fn is_valid(&self, columns: &[Column]) -> bool {
        let sane = |number: f64| number.is_finite() && number.abs() <= 1e12;
        self.names.len() > 1
            && self.names.windows(2).all(|two| two[0] < two[1])
            && self.names.len().saturating_mul(self.baselines.len()) <= MOST_BASELINES
            && self.baselines.windows(2).all(|two| two[0].column < two[1].column)
            && self.baselines.iter().all(|baseline| {
                columns.get(baseline.column as usize).is_some_and(|column| column.kind == Kind::Number)
                    && baseline.segments.len() == self.names.len()
                    && baseline.rows.len() == self.names.len()
                    && baseline.scale.median.is_finite()
                    && baseline.scale.spread.is_finite()
                    && baseline.scale.spread > 0.0
                    && sane(baseline.middle)
                    && sane(baseline.variance)
                    && baseline.variance > 0.0
                    && baseline.middle_rows >= 0.0
                    && baseline.variance_rows >= 0.0
                    && baseline.segments.iter().flatten().all(|&number| sane(f64::from(number)))
                    && baseline.segments.iter().all(|&[_, variance]| variance >= 0.0)
            })
    }
}

/// The segments of the rows of a batch.
fn segments_in<'a>(batch: &'a Table, column: &str) -> Result<Cow<'a, Texts>> {
    let Some(index) = batch.names().iter().position(|name| name == column) else {
        let others = batch.names().to_vec();
        return Err(table::Error::MissingColumns { names: vec![column.to_owned()], others }.into());
    };
    Ok(batch.values(index).as_texts())
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
        let failed = |error| match error {
            Error::Table(error) => error,
            _ => table::Error::Stopped,
        };
        let mut columns = encoder.find(&batch).map_err(failed)?.columns;
        segments.apply(&batch, &mut columns, |_| false).map_err(failed)?;
        let of = |baseline: &Baseline| Values::Numbers(columns[baseline.column as usize].to_vec());
        Table::of(self.names.clone(), segments.baselines.iter().map(of).collect()).map(Some)
    }
}

impl Encoder {
    /// An encoder for a table that was looked through, in which numbers count by where they lie in their segments.
    ///
    /// # Errors
    /// As [`Encoder::of`], or if the table has no such column, a single segment, or too many.
    pub(super) fn by_segments(source: &dyn Source, survey: &Survey, scale: Scale, by: &str) -> Result<Self> {
        let plain = Self::of(survey, Scale::Asinh)?;
        let segments = Segments::learned(source, &plain, by)?;
        let relative =
            Survey::of(&Relative { source, encoder: &plain, segments: &segments }, &super::Roles::default())?;
        let mut encoder = Self::of(&survey.with_numbers_of(&relative), scale)?;
        let taken: Vec<String> = encoder.columns.iter().map(|column| column.name.clone()).collect();
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
            segments.among_others = false;
        }
    }
}
