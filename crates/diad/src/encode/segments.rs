//! What is usual in each segment of a table, such as each machine: a number counts by where it lies among those of its segment.
//!
//! On the asinh scale of its column, a number has a place. The places of a segment have a mean and a variance. Both are drawn towards
//! those of all segments, the more the fewer rows the segment has (empirical Bayes): the mean by how far the means of segments differ
//! from one another beside the variance within them, the variance by how far variances differ (Smyth 2004). The place of a number in
//! its segment, in standard deviations of a new row, becomes the place among all segments that is as rare.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::column::{Asinh, Column, Kind};
use super::{Encoder, Survey};
use crate::table::{self, About, Reader, Selection, Source, Table, Texts, Values, Version};
use crate::{Error, Result, Scale};

/// Most numbers that are remembered: segments times columns.
const MOST_BASELINES: usize = 1 << 21;
/// Most distance from the median, on the asinh scale: what lies further has no size that is a number.
const FARTHEST: f64 = 700.0;
/// The least deviation within segments, as a share of that of the whole column: the same number again and again is no proof that it
/// will never change.
const LEAST_DEVIATION: f64 = 1e-3;

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

/// What is usual in each segment for one of the encoder's columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Baseline {
    /// Which column.
    column: u32,
    scale: Asinh,
    /// The middle of all segments, the variance within a segment, and how many rows each is worth.
    middle: f64,
    variance: f64,
    middle_rows: f64,
    variance_rows: f64,
    /// The rows of each segment that have a number, and the mean and the variance of their places.
    rows: Vec<u32>,
    segments: Vec<[f32; 2]>,
}

impl Baseline {
    /// A value among a segment of so many rows as the same value among all segments.
    fn relative(&self, value: f64, (rows, [mean, variance]): (f64, [f64; 2])) -> f64 {
        let trust = if rows > 0.0 { rows / (rows + self.middle_rows) } else { 0.0 };
        let middle = self.middle + trust * (mean - self.middle);
        let degrees = (rows - 1.0).max(0.0);
        let squares = if rows > 0.0 { rows * variance } else { 0.0 };
        let within = match self.variance_rows + degrees {
            all if all.is_finite() && all > 0.0 => (self.variance_rows * self.variance + squares) / all,
            _ => self.variance,
        };
        // A new row is off by its own deviation and by what is not known of the middle.
        let new = within.max(LEAST_DEVIATION * LEAST_DEVIATION * self.variance)
            * (1.0 + 1.0 / (rows + self.middle_rows));
        let off = normal((self.scale.apply(value) - middle) / new.sqrt(), self.variance_rows + degrees);
        let place = self.middle + off * self.variance.sqrt();
        self.scale.median + self.scale.spread * libm::sinh(place.clamp(-FARTHEST, FARTHEST))
    }

    /// What a segment has without one of its rows.
    fn without(rows: f64, [mean, variance]: [f64; 2], place: f64) -> (f64, [f64; 2]) {
        let left = rows - 1.0;
        if left < 1.0 {
            return (0.0, [0.0; 2]);
        }
        let squares = rows * variance - (place - mean) * (place - mean) * rows / left;
        (left, [(rows * mean - place) / left, (squares / left).max(0.0)])
    }
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

impl Baseline {
    /// What is usual in each of some segments, of which rows, mean and squared distances are known, and how far they differ.
    fn among(column: u32, scale: Asinh, segments: &[[f64; 3]]) -> Self {
        let rows: f64 = segments.iter().map(|[rows, ..]| rows).sum();
        let middle = segments.iter().map(|[rows, mean, _]| rows * mean).sum::<f64>() / rows.max(1.0);
        let all: f64 =
            segments.iter().map(|[rows, mean, squares]| squares + rows * (mean - middle).powi(2)).sum();
        let whole = all / (rows - 1.0).max(1.0);
        let several = || segments.iter().filter(|[rows, ..]| *rows >= 2.0);
        let degrees: f64 = several().map(|[rows, ..]| rows - 1.0).sum();
        let pooled = several().map(|[.., squares]| squares).sum::<f64>() / degrees.max(1.0);
        let least = (LEAST_DEVIATION * LEAST_DEVIATION * whole).max(f64::MIN_POSITIVE);
        let (variance, variance_rows) = variances(segments, pooled.max(least));
        // Between the means, beside what they differ by chance.
        let present: Vec<&[f64; 3]> = segments.iter().filter(|[rows, ..]| *rows > 0.0).collect();
        let count = present.len() as f64;
        let centre = present.iter().map(|[_, mean, _]| mean).sum::<f64>() / count.max(1.0);
        let spread =
            present.iter().map(|[_, mean, _]| (mean - centre).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        let chance = present.iter().map(|[rows, ..]| pooled / rows).sum::<f64>() / count.max(1.0);
        let between = spread - chance;
        // Where the means do not differ beyond chance, no segment has one of its own.
        let middle_rows = if between > 0.0 { (pooled / between).clamp(1e-6, 1e9) } else { 1e9 };
        let rows = segments.iter().map(|[rows, ..]| *rows as u32).collect();
        let segments = segments
            .iter()
            .map(
                |&[rows, mean, squares]| {
                    if rows > 0.0 { [mean as f32, (squares / rows) as f32] } else { [centre as f32, 0.0] }
                },
            )
            .collect();
        Self { column, scale, middle: centre, variance, middle_rows, variance_rows, rows, segments }
    }
}

/// The variance within a segment, and how many degrees of freedom it is worth beside those of a segment: the moments of the logarithms
/// of the segments' variances, as if these were drawn from a scaled inverse chi-squared distribution.
fn variances(segments: &[[f64; 3]], pooled: f64) -> (f64, f64) {
    const MOST: f64 = 1e9;
    let logs: Vec<[f64; 2]> = segments
        .iter()
        .filter(|[rows, ..]| *rows >= 3.0)
        .map(|&[rows, _, squares]| {
            let half = (rows - 1.0) / 2.0;
            let variance = (squares / (rows - 1.0)).max(1e-5 * pooled);
            [libm::log(variance) - digamma(half) + libm::log(half), trigamma(half)]
        })
        .collect();
    if logs.len() < 3 {
        return (pooled, MOST);
    }
    let count = logs.len() as f64;
    let mean = logs.iter().map(|[log, _]| log).sum::<f64>() / count;
    let spread = logs.iter().map(|[log, _]| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let excess = spread - logs.iter().map(|[_, chance]| chance).sum::<f64>() / count;
    if excess <= 0.0 {
        return (libm::exp(mean).max(1e-5 * pooled), MOST);
    }
    let half = trigamma_inverse(excess);
    (libm::exp(mean + digamma(half) - libm::log(half)).max(1e-5 * pooled), (2.0 * half).min(MOST))
}

/// A number drawn from Student's distribution as one that is as rare in the normal distribution (Wallace 1959).
fn normal(t: f64, degrees: f64) -> f64 {
    if degrees >= 1e6 {
        return t;
    }
    let size = (degrees * libm::log1p(t * t / degrees)).sqrt();
    ((8.0 * degrees + 1.0) / (8.0 * degrees + 3.0) * size).copysign(t)
}

/// The derivative of the logarithm of the gamma function, of a number above 0.
fn digamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 10.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    sum + libm::log(x) - 0.5 / x - square * (1.0 / 12.0 - square * (1.0 / 120.0 - square / 252.0))
}

/// The derivative of that.
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    sum + 1.0 / x + square / 2.0 + square / x * (1.0 / 6.0 - square * (1.0 / 30.0 - square / 42.0))
}

/// Where [`trigamma`], which falls, has a value above 0.
fn trigamma_inverse(wanted: f64) -> f64 {
    let (mut low, mut high) = (1e-8f64, 1e9f64);
    for _ in 0..200 {
        let middle = (low * high).sqrt();
        if trigamma(middle) > wanted { low = middle } else { high = middle }
    }
    low
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
    fn open(&self, selection: &Selection) -> table::Result<Box<dyn Reader + '_>> {
        drop(selection.clone());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Params;
    use crate::encode::Roles;
    use crate::explain::Explainer;
    use crate::rng::{Purpose, Stream};

    /// Machines, each with its own temperature and load, and how much these vary in each.
    struct Fleet {
        random: Stream,
        usual: Vec<[f64; 3]>,
    }

    impl Fleet {
        fn new(machines: usize) -> Self {
            let mut random = Stream::new(5, Purpose::Shuffle, 0);
            let usual = (0..machines)
                .map(|_| {
                    [
                        60.0 + 15.0 * random.normal(),
                        100.0 + 30.0 * random.normal(),
                        libm::exp(0.3 * random.normal()),
                    ]
                })
                .collect();
            Self { random, usual }
        }

        /// So many rows of each machine.
        fn rows(&mut self, counts: &[usize]) -> Vec<(usize, [f64; 2])> {
            let mut rows = Vec::new();
            for (machine, &count) in counts.iter().enumerate() {
                for _ in 0..count {
                    let [temperature, load, varies] = self.usual[machine];
                    let values = [
                        temperature + varies * self.random.normal(),
                        load + 3.0 * varies * self.random.normal(),
                    ];
                    rows.push((machine, values));
                }
            }
            rows
        }
    }

    fn table(rows: &[(usize, [f64; 2])]) -> Table {
        let machines: Texts = rows.iter().map(|(machine, _)| Some(format!("M{machine:03}"))).collect();
        let column = |index: usize| Values::Numbers(rows.iter().map(|(_, values)| values[index]).collect());
        let names = ["machine", "temperature", "load"].map(str::to_owned).to_vec();
        Table::of(names, vec![machines.into(), column(0), column(1)]).unwrap()
    }

    fn params() -> Params {
        Params::default().with_steps(60).trees(40)
    }

    #[test]
    fn a_value_counts_by_its_segment() {
        let mut fleet = Fleet::new(60);
        let rows = fleet.rows(&[60; 60]);
        let by = params().fitting(&table(&rows)).roles(Roles::default().by("machine")).run().unwrap();
        let plain = params().fitting(&table(&rows)).ignore("machine").run().unwrap();
        assert_eq!(by.encoder().segments(), Some(("machine", 60)));
        assert_eq!(by.encoder().columns()[0].name, "temperature for its machine");
        // Machine 7 at what is usual for machine 11, and the other way round.
        let (mut first, mut last) = (0, 0);
        for machine in 0..60 {
            if fleet.usual[machine][0] < fleet.usual[first][0] {
                first = machine;
            }
            if fleet.usual[machine][0] > fleet.usual[last][0] {
                last = machine;
            }
        }
        let mut new = fleet.rows(&[20; 60]);
        let count = new.len();
        for (machine, other) in [(first, last), (last, first)] {
            let [temperature, ..] = fleet.usual[other];
            new.push((machine, [temperature, fleet.usual[machine][1]]));
        }
        let rank = |scores: &[f32], row: usize| scores.iter().filter(|&&score| score >= scores[row]).count();
        let (of_segments, of_all) = (by.score(&table(&new)).unwrap(), plain.score(&table(&new)).unwrap());
        assert!((count..count + 2).all(|row| rank(&of_segments, row) <= 2), "{:?}", &of_segments[count..]);
        assert!((count..count + 2).any(|row| rank(&of_all, row) > 10), "{:?}", &of_all[count..]);
        // It is said in words, adds up, and survives a file.
        let explainer = Explainer::new(&by);
        let explained = explainer.contributions(&table(&new)).unwrap();
        for (row, &score) in of_segments.iter().enumerate() {
            let sum = explainer.intercept() + explained.row(row).iter().sum::<f64>();
            assert!((sum - f64::from(score)).abs() < 1e-4 * f64::from(score).abs().max(1.0));
        }
        let again = crate::Detector::from_bytes(&by.to_bytes().unwrap()).unwrap();
        assert_eq!(again.score(&table(&new)).unwrap(), of_segments);
    }

    /// New rows of small segments, also of unknown ones, are alarms no more often than the calibration says, beyond chance.
    #[test]
    fn small_and_new_segments_do_not_alarm_more() {
        let mut fleet = Fleet::new(400);
        let counts: Vec<usize> = (0..400).map(|machine| [300, 30, 3, 0][machine % 4]).collect();
        let rows = fleet.rows(&counts);
        let by = params().fitting(&table(&rows)).roles(Roles::default().by("machine")).run().unwrap();
        for (size, kind) in [(0, 300), (1, 30), (2, 3), (3, 0)] {
            let counts: Vec<usize> =
                (0..400).map(|machine| if machine % 4 == size { 100 } else { 0 }).collect();
            let new = fleet.rows(&counts);
            let scores = by.score(&table(&new)).unwrap();
            let calibration = by.calibration();
            let alarms = scores.iter().filter(|&&score| calibration.p_value(score).value <= 0.01).count();
            let share = alarms as f64 / scores.len() as f64;
            assert!(share < 0.02, "segments of {kind} rows: {share}");
        }
    }

    #[test]
    fn columns_without_segments_are_errors() {
        let rows = Fleet::new(1).rows(&[50]);
        let fit = |by: &str| {
            params().fitting(&table(&rows)).roles(Roles::default().by(by)).run().unwrap_err().to_string()
        };
        assert_eq!(
            fit("machine"),
            "column \"machine\" has fewer than two different values, so there are no segments to tell apart"
        );
        assert!(fit("plant").contains("\"plant\""), "{}", fit("plant"));
    }

    #[test]
    fn gamma_functions_are_those_of_tables() {
        // Abramowitz and Stegun, table 6.1 and 6.4: psi(1), psi(1.5), psi'(1), psi'(2.5).
        // 99 % of Student's distribution with 5 and 30 degrees of freedom, and of the normal distribution.
        for (t, degrees) in [(3.364_93, 5.0), (2.457_26, 30.0)] {
            assert!((normal(t, degrees) - 2.326_35).abs() < 0.01, "{}", normal(t, degrees));
        }
        for (found, wanted) in [
            (digamma(1.0), -0.577_215_664_9),
            (digamma(1.5), 0.036_489_973_98),
            (trigamma(1.0), 1.644_934_066_8),
            (trigamma(2.5), 0.490_357_756_2),
        ] {
            assert!((found - wanted).abs() < 1e-9, "{found} {wanted}");
        }
        for x in [0.01, 0.7, 3.0, 250.0] {
            assert!((trigamma_inverse(trigamma(x)) / x - 1.0).abs() < 1e-6, "{x}");
        }
    }
}
