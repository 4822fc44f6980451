//! Columns to the scaled matrix the model sees, and back to words.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::Scale;
use crate::parallel;
use crate::rng::{Purpose, Stream};
use crate::table::{self, ReadAs, Selection, Source, Table, Values};
use crate::{Error, Result};

mod column;
mod copies;
mod found;
mod notes;
mod odd;
mod roles;
mod scaler;
mod segments;
mod survey;

#[cfg(test)]
pub(crate) use column::{Asinh, MOST_LEVELS};
pub use column::{Column, Gaps, Kind, Level};
pub(crate) use copies::Copies;
pub(crate) use found::Found;
pub use odd::{OddColumn, OddExample, Oddities, Oddity};
pub use roles::Roles;
pub(crate) use scaler::{Feature, Scaler, View};
use segments::Segments;
pub use survey::{Counted, Counting, LeftOut, Reason, Survey, Surveyed};

/// Rows encoded at a time.
const BLOCK_ROWS: usize = 64;

/// Most rows and values of a matrix to train on. Of a larger table a sample of the rows is taken.
pub(crate) const MOST_ROWS: usize = 1 << 20;
const MOST_CELLS: usize = 1 << 28;

/// Rows of scaled features, row after row: what the model is trained on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Matrix {
    /// Features per row.
    pub width: usize,
    /// `rows × width` values.
    pub values: Vec<f32>,
}

impl Matrix {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(0)
    }
    /// One row.
    pub fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.width..(index + 1) * self.width]
    }

    /// Some of the rows.
    pub fn part(&self, rows: impl ExactSizeIterator<Item = usize>) -> Self {
        let mut values = Vec::with_capacity(rows.len() * self.width);
        rows.for_each(|row| values.extend_from_slice(self.row(row)));
        Self { width: self.width, values }
    }
}

/// Knows which columns are features and how each is scaled. A column of one value is none: it tells nothing of any row.
///
/// ```
/// use diad::{Params, table::Table};
///
/// let names = vec!["id".into(), "height".into()];
/// let table = Table::new(names, vec![vec![7.0, 8.0, 9.0], vec![1.5, 2.0, 1.75]])?;
/// let training = Params::default().fitting(&table).ignore("id").read()?;
/// assert_eq!(training.encoder().columns()[0].name, "height");
/// # Ok::<(), diad::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encoder {
    columns: Vec<Column>,
    features: Vec<Feature>,
    left_out: Vec<LeftOut>,
    /// Columns that were to be ignored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<String>,
    /// What is usual in each segment, if numbers count by where they lie in theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    segments: Option<Segments>,
}

impl Encoder {
    /// Looks through all columns but the `ignored` ones in one streaming pass.
    ///
    /// # Errors
    /// If all columns are constant, or if there are fewer than two rows or no features.
    #[cfg(test)]
    pub(crate) fn fit(source: &dyn Source, ignored: &[&str], scale: Scale) -> Result<Self> {
        let roles = ignored.iter().fold(Roles::default(), |roles, &name| roles.ignore(name));
        Self::of(&Survey::of(source, &roles)?, scale)
    }

    /// Fits an encoder and encodes the same source with it: two streaming passes, and no memory beyond
    /// the matrix and a batch.
    ///
    /// # Errors
    /// As [`Encoder::fit`], or if the matrix does not fit into memory.
    #[cfg(test)]
    pub(crate) fn fit_encode(source: &dyn Source, ignored: &[&str], scale: Scale) -> Result<(Self, Matrix)> {
        let roles = ignored.iter().fold(Roles::default(), |roles, &name| roles.ignore(name));
        Self::fit_encode_as(source, &roles, scale)
    }

    /// As [`Encoder::fit_encode`], with more to say about columns. Of a large table a random sample of the rows is encoded, the
    /// same every time.
    ///
    /// # Errors
    /// As [`Encoder::fit_encode`].
    #[cfg(test)]
    pub(crate) fn fit_encode_as(source: &dyn Source, roles: &Roles, scale: Scale) -> Result<(Self, Matrix)> {
        Self::encode_surveyed(source, &Survey::of(source, roles)?, scale)
    }

    /// An encoder for a table that was looked through, and its rows. Of a table of more than [`MOST_ROWS`] rows, or whose matrix
    /// would have more than [`MOST_CELLS`] values, a random sample of the rows is encoded, the same every time.
    ///
    /// # Errors
    /// As [`Encoder::of`], or if the matrix does not fit into memory.
    pub(crate) fn encode_surveyed(
        source: &dyn Source,
        survey: &Survey,
        scale: Scale,
    ) -> Result<(Self, Matrix)> {
        let mut encoder = match survey.by() {
            Some(by) => Self::by_segments(source, survey, scale, by)?,
            None => Self::of(survey, scale)?,
        };
        tracing::info!(
            rows = survey.rows(),
            columns = encoder.columns.len(),
            features = encoder.features.len(),
            left_out = encoder.left_out.len(),
            "looked through the table"
        );
        let cells = MOST_CELLS.min(table::memory_limit() / (2 * size_of::<f32>()));
        let most = (cells / encoder.features.len()).clamp(2, MOST_ROWS);
        let rows = usize::try_from(survey.read()).unwrap_or(usize::MAX);
        let matrix = encoder.fill(source, rows, most)?;
        encoder.learned();
        // What the first pass saw lies within [-1, 1]; anything else was not there then.
        if source.version() != survey.version()
            || matrix.rows() != rows.min(most)
            || matrix.values.iter().any(|value| value.abs() > 1.0)
        {
            return Err(Error::Changed);
        }
        debug_assert!(matrix.values.iter().all(|value| value.is_finite()));
        tracing::info!(rows = matrix.rows(), "read the training rows");
        Ok((encoder, matrix))
    }

    /// An encoder for the columns of a survey.
    ///
    /// # Errors
    /// If all columns are constant or left out, or if there are fewer than two rows.
    pub(crate) fn of(survey: &Survey, scale: Scale) -> Result<Self> {
        if survey.rows() < 2 {
            return Err(Error::TooFewRows { rows: survey.rows() as usize });
        }
        let (columns, left_out) = (survey.encoded(scale), survey.left_out());
        if columns.is_empty() {
            let other = left_out.into_iter().find(|column| column.reason != Reason::Constant);
            return Err(match other {
                Some(LeftOut { name, reason }) => {
                    let can_be_told = reason != Reason::AllMissing;
                    Error::AllLeftOut { name, reason: reason.words(), can_be_told }
                }
                None => Error::AllConstant,
            });
        }
        let view = |column: &Column| if column.asinh.is_some() { View::Asinh } else { View::Plain };
        let numbered = || (0..).zip(&columns);
        let mut features: Vec<Feature> =
            numbered().map(|(column, given)| Feature { column, view: view(given) }).collect();
        let gaps = numbered().filter(|(_, given)| given.tells_gaps());
        features.extend(gaps.map(|(column, _)| Feature { column, view: View::Missing }));
        if scale == Scale::Both {
            let scaled = numbered().filter(|(_, given)| given.asinh.is_some() && !given.is_date());
            features.extend(scaled.map(|(column, _)| Feature { column, view: View::Plain }));
        }
        Ok(Self { columns, features, left_out, ignored: survey.ignored().to_vec(), segments: None })
    }

    /// The columns of the table that are features; of a column of times, each of its parts.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// What the model sees, in order: every column once, then whether the value is missing for those with gaps, then
    /// some columns in a second scale.
    pub(crate) fn features(&self) -> &[Feature] {
        &self.features
    }

    /// The columns that were left out although nobody asked for it.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Names for the columns of a table that has none: `x0`, `x1` and so on.
    ///
    /// ```
    /// assert_eq!(diad::encode::Encoder::plain_names(3), ["x0", "x1", "x2"]);
    /// ```
    pub fn plain_names(width: usize) -> Vec<String> {
        (0..width).map(|column| format!("x{column}")).collect()
    }

    /// What the columns of a table without names are called: as [`Encoder::plain_names`] if the training table was of that
    /// kind, or else as the columns of the training table, if there are as many and none was left out.
    ///
    /// # Errors
    /// If the number of columns does not fit.
    pub fn names_for(&self, width: usize) -> Result<Vec<String>> {
        let mut sources: Vec<&str> = self.columns.iter().map(Column::source).collect();
        sources.dedup();
        let plain = Self::plain_names(width);
        let known: HashSet<&str> = plain.iter().map(String::as_str).collect();
        if sources.iter().all(|source| known.contains(source)) {
            return Ok(plain);
        }
        // Nothing tells which of the columns would be that of the segments.
        if self.left_out.is_empty() && self.segments.is_none() && sources.len() == width {
            return Ok(sources.into_iter().map(str::to_owned).collect());
        }
        if let Some(segments) = &self.segments {
            let others = sources.into_iter().map(str::to_owned).collect();
            return Err(
                table::Error::MissingColumns { names: vec![segments.column().to_owned()], others }.into()
            );
        }
        Err(Error::ColumnCount { found: width, expected: sources.len() + self.left_out.len() })
    }

    /// The columns that were to be ignored.
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// How many of the features, from the first on, tell all there is to know of a row: the others are the same
    /// columns in a second scale.
    pub(crate) fn telling_features(&self) -> usize {
        self.columns.len() + self.columns.iter().filter(|column| column.tells_gaps()).count()
    }

    /// The features that trees look at: all but places in time, since every new row is later than those of the training, and marks
    /// of gaps, which would make every row with one a lonely one. All if there is nothing else.
    pub(crate) fn tree_features(&self) -> Vec<u32> {
        let timeless = |feature: &Feature| {
            !self.columns[feature.column as usize].is_date() && feature.view != View::Missing
        };
        let all = || (0..).zip(&self.features);
        let chosen: Vec<u32> =
            all().filter(|(_, feature)| timeless(feature)).map(|(index, _)| index).collect();
        if chosen.is_empty() { all().map(|(index, _)| index).collect() } else { chosen }
    }

    /// Whether a feature has values beyond its range: numbers do, categories and marks of missing values do not.
    pub(crate) fn is_open(&self, feature: usize) -> bool {
        let Feature { column, view } = self.features[feature];
        view != View::Missing && self.columns[column as usize].positions() == 0
    }

    /// The scales of the features, in order.
    pub(crate) fn scalers(&self) -> Vec<Scaler> {
        let scaler = |feature: &Feature| Scaler::new(&self.columns[feature.column as usize], feature.view);
        self.features.iter().map(scaler).collect()
    }

    /// What the features of a row mean, column by column, such as `job = student` or `age = missing`.
    #[cfg(test)]
    pub(crate) fn describe(&self, features: &[f32]) -> Vec<String> {
        let missing: HashSet<u32> = (self.features.iter().zip(features))
            .filter(|(feature, value)| feature.view == View::Missing && **value > 0.0)
            .map(|(feature, _)| feature.column)
            .collect();
        let words = |((index, column), (scaler, &value)): ((u32, &Column), (Scaler, &f32))| {
            let value = if missing.contains(&index) { f64::NAN } else { scaler.original(value) };
            format!("{} = {}", column.name, column.words(value))
        };
        (0..).zip(&self.columns).zip(self.scalers().into_iter().zip(features)).map(words).collect()
    }

    /// Whether a fit could have produced this; rejects forged files.
    pub(crate) fn is_valid(&self) -> bool {
        let names: HashSet<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let columns = self.columns.len();
        let known = |f: &Feature| {
            self.columns.get(f.column as usize).is_some_and(|column| match f.view {
                View::Plain => true,
                View::Asinh => column.asinh.is_some(),
                View::Missing => column.tells_gaps(),
            })
        };
        let distinct: HashSet<&Feature> = self.features.iter().collect();
        let first = self.features.iter().take(columns).zip(0..);
        let gaps = self.features.iter().filter(|feature| feature.view == View::Missing).count();
        let telling = self.telling_features();
        let marks = self.features.get(columns..telling);
        !names.is_empty()
            && names.len() == columns
            && self.columns.iter().all(Column::is_valid)
            && self.features.len() >= columns
            && first
                .clone()
                .all(|(feature, column)| feature.column == column && feature.view != View::Missing)
            && distinct.len() == self.features.len()
            && self.features.iter().all(known)
            && gaps == telling - columns
            && marks.is_some_and(|marks| marks.iter().all(|feature| feature.view == View::Missing))
            && self.segments.as_ref().is_none_or(|segments| segments.is_valid(&self.columns))
    }

    /// The column of the table that says which segment a row belongs to, and how many segments there are, if numbers count by where they
    /// lie in theirs.
    pub fn segments(&self) -> Option<(&str, usize)> {
        self.segments.as_ref().map(|segments| (segments.column(), segments.count()))
    }

    /// What to read from a table: the features, nothing else.
    pub fn selection(&self) -> Selection {
        self.selected(|selection, column| selection.reading(column.source(), column.read_as()))
    }

    /// What to read from a table whose cells need not fit: as [`Encoder::selection`], but numbers and times are what they
    /// are found to be where a cell cannot be read as the training was.
    pub fn lenient_selection(&self) -> Selection {
        let found = |selection: Selection, column: &Column| match column.kind {
            Kind::Category { .. } => selection.reading(column.source(), ReadAs::Texts),
            _ => selection,
        };
        self.selected(found).leniently()
    }

    /// The columns of the table, read by their notations; those that have none, `otherwise`.
    fn selected(&self, otherwise: impl Fn(Selection, &Column) -> Selection) -> Selection {
        let mut sources: Vec<&str> = self.columns.iter().map(Column::source).collect();
        sources.dedup();
        let selection =
            self.columns.iter().fold(Selection::only(sources), |selection, column| match &column.notation {
                Some(notation) => selection.reading_by(column.source(), column.read_as(), notation.clone()),
                None => otherwise(selection, column),
            });
        selection.and_texts(self.segments.as_ref().map(Segments::column))
    }

    /// The values of the columns of a batch, found by name whatever their order: numbers, positions of categories, parts of times;
    /// and the cells that do not fit: those that are infinite, not of their column's kind, or missing where the training had none
    /// missing.
    ///
    /// # Errors
    /// Names the columns that are missing.
    pub(crate) fn find<'a>(&self, batch: &'a Table) -> table::Result<Found<'a>> {
        let positions: HashMap<&str, usize> =
            batch.names().iter().enumerate().map(|(index, name)| (name.as_str(), index)).collect();
        let place = |column: &Column| {
            positions.get(column.source()).or_else(|| positions.get(column.name.as_str())).copied()
        };
        let places: Vec<Option<usize>> = self.columns.iter().map(place).collect();
        let Some(places) = places.iter().copied().collect::<Option<Vec<usize>>>() else {
            let lacking = self.columns.iter().zip(&places).filter(|(_, place)| place.is_none());
            let mut names: Vec<String> = lacking.map(|(column, _)| column.source().to_owned()).collect();
            names.dedup();
            let known = |name: &&String| self.columns.iter().any(|column| column.source() == name.as_str());
            let others = batch.names().iter().filter(|name| !known(name)).cloned().collect();
            return Err(table::Error::MissingColumns { names, others });
        };
        // A cell with a time is reported once, by the first of its parts.
        let found = |index: usize| {
            let column = &self.columns[index];
            let tells = index == 0 || self.columns[index - 1].source() != column.source();
            found::values_of((index, column, tells), batch.values(places[index]))
        };
        let (mut columns, odd): (Vec<_>, Vec<_>) =
            parallel::map_indices(places.len(), &found).into_iter().unzip();
        let strangers = match &self.segments {
            Some(segments) => {
                let is_relative = |column: usize| matches!(batch.values(places[column]), Values::Encoded(_));
                segments.apply(batch, &mut columns, is_relative)?
            }
            None => Vec::new(),
        };
        Ok(Found { columns, odd: odd.into_iter().flatten().collect(), strangers })
    }

    /// The columns of a batch as a table with one column for each of the encoder's: numbers, positions of categories,
    /// parts of times, and marks that [`Column::oddity`] knows where a cell is not one that the column can have.
    ///
    /// # Errors
    /// If a column is missing from the batch.
    pub fn find_table(&self, batch: &Table) -> Result<Table> {
        self.table_of(self.find(batch)?)
    }

    /// As [`Encoder::find_table`], of columns that were found.
    pub(crate) fn table_of(&self, found: Found) -> Result<Table> {
        let columns = found.columns.into_iter().map(|values| Values::Encoded(values.into_owned()));
        let names = self.columns.iter().map(|column| column.name.clone()).collect();
        Ok(Table::of(names, columns.collect())?)
    }

    /// Encodes a whole source.
    ///
    /// # Errors
    /// If a column is missing, a value is missing or infinite, or the matrix does not fit into memory.
    pub(crate) fn encode(&self, source: &dyn Source) -> Result<Matrix> {
        let rows = match source.open(&self.selection())?.rows() {
            Some(rows) => usize::try_from(rows).unwrap_or(usize::MAX),
            None => count_rows(source)?,
        };
        self.fill(source, rows, usize::MAX)
    }

    /// Encodes one batch, appending to `out`.
    ///
    /// # Errors
    /// As [`Encoder::find`], or names the first cell that does not fit.
    pub(crate) fn encode_batch(&self, batch: &Table, out: &mut Vec<f32>) -> Result<()> {
        let columns = self.find(batch)?.or_refuse(&self.columns, batch)?.columns;
        let scalers = self.scalers();
        let (start, width) = (out.len(), self.features.len());
        out.resize(start + batch.rows() * width, 0.0);
        // Blocks of rows that stay in the cache while the columns are written across them.
        parallel::for_each(out[start..].chunks_mut(BLOCK_ROWS * width), &|block, rows| {
            for (offset, (feature, scaler)) in self.features.iter().zip(&scalers).enumerate() {
                let column = &columns[feature.column as usize][block * BLOCK_ROWS..];
                let slots = rows[offset..].iter_mut().step_by(width);
                slots.zip(column).for_each(|(slot, &value)| *slot = scaler.scale(value));
            }
        });
        Ok(())
    }

    /// Encodes the `rows` rows of a source, or `most` of them, drawn without replacement and in their order.
    fn fill(&self, source: &dyn Source, rows: usize, most: usize) -> Result<Matrix> {
        let width = self.features.len();
        let mut values = Vec::new();
        let (mut wanted, mut left) = (rows.min(most), rows);
        let count = wanted.saturating_mul(width);
        let reserved = values.try_reserve_exact(count);
        reserved.map_err(|_| Error::Memory { bytes: count.saturating_mul(size_of::<f32>()) })?;
        let mut random = Stream::new(0, Purpose::Sample, 1);
        let mut reader = source.open(&self.selection())?;
        let mut encoded = Vec::new();
        while let Some(batch) = reader.next_batch()? {
            if wanted == left {
                self.encode_batch(&batch, &mut values)?;
                left = left.saturating_sub(batch.rows());
                wanted = left;
                continue;
            }
            encoded.clear();
            self.encode_batch(&batch, &mut encoded)?;
            for row in encoded.chunks_exact(width) {
                if wanted > 0 && random.below(left.max(1)) < wanted {
                    values.extend_from_slice(row);
                    wanted -= 1;
                }
                left = left.saturating_sub(1);
            }
        }
        Ok(Matrix { width, values })
    }
}

fn count_rows(source: &dyn Source) -> Result<usize> {
    let mut reader = source.open(&Selection::only::<String>([]))?;
    let mut rows = 0;
    while let Some(batch) = reader.next_batch()? {
        rows += batch.rows();
    }
    Ok(rows)
}

#[cfg(test)]
mod tests;
