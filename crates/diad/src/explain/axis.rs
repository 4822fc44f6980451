//! A column as the axis of a plot.

use super::Explainer;
use crate::encode::Scaler;
use crate::table::{Clock, TimePart};

/// Most marks on an axis, and the least distance between two as a share of its length.
const MOST_TICKS: usize = 7;
const LEAST_DISTANCE: f64 = 0.13;
/// Most characters of the name of a category at a mark.
const LONGEST_LABEL: usize = 12;
/// The least distance between categories with marks, whose names may be turned to make room.
const CATEGORY_DISTANCE: f64 = 0.055;
/// Most values for which each has a bar: months have one.
const MOST_BARS: usize = 12;
/// The least distance between bars with marks.
const BAR_DISTANCE: f64 = 0.09;
/// What the width of a letter is at most, as a share of an axis.
const LETTER: f64 = 0.023;
/// Most steps between marks on an even axis.
const EVEN_STEPS: f64 = 6.5;
/// Powers of ten, and steps, tried on an asinh axis, and what counts as a wide gap there.
const DECADES: i32 = 8;
const FINEST_STEP: usize = 12;
const WIDE_GAP: f64 = 0.18;
/// Steps of a clock in seconds: days, then those of a dial.
const CLOCK_STEPS: [f64; 18] = [
    86_400e3, 86_400e2, 86_400e1, 86_400.0, 43_200.0, 21_600.0, 14_400.0, 7200.0, 3600.0, 1800.0, 900.0,
    300.0, 60.0, 30.0, 15.0, 5.0, 1.0, 0.1,
];
/// Multiples of one step that are tried as marks.
const MOST_MULTIPLES: f64 = 400.0;

/// A column as the axis of a plot: the range of the training rows from 0 to 1, in the scale in which the model sees the
/// column first.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Axis {
    scaler: Scaler,
    /// The smallest training value.
    pub min: f64,
    /// The largest training value.
    pub max: f64,
    /// All values the training rows had, where these are few.
    pub distinct: Option<Vec<f64>>,
    /// The names of the categories, most frequent first; none for numbers.
    pub categories: Vec<String>,
    /// Whether numbers were missing in training rows.
    pub has_gaps: bool,
    /// Whether its numbers are dates, in days since the start of 1970.
    pub dates: bool,
    /// How its numbers are written, if they are times of a day or durations, in seconds.
    pub clock: Option<Clock>,
}

/// A mark on an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Where it is, from 0 to 1.
    pub position: f64,
    /// The value there, as text.
    pub label: String,
}

impl Axis {
    /// Where a missing number lies: beyond the end, since it is no number.
    pub const MISSING: f64 = 1.12;

    /// Where a value lies: from 0 to 1 within the range of the training rows, at [`Axis::MISSING`] for a missing number.
    pub fn position(&self, value: f64) -> f64 {
        if value.is_nan() && self.categories.is_empty() {
            return Self::MISSING;
        }
        (f64::from(self.scaler.scale(value)) + 1.0) / 2.0
    }

    /// The value at a position.
    pub fn value(&self, position: f64) -> f64 {
        self.scaler.original((position * 2.0 - 1.0) as f32).clamp(self.min, self.max)
    }

    /// Whether only certain values make sense: categories, or few enough values that each is known.
    pub fn is_discrete(&self) -> bool {
        self.distinct.is_some() || !self.categories.is_empty()
    }

    /// Whether each value is shown by a bar of its own: categories, or a few values.
    pub fn has_bars(&self) -> bool {
        let few = |distinct: &Vec<f64>| distinct.len() <= MOST_BARS;
        !self.categories.is_empty() || self.distinct.as_ref().is_some_and(few)
    }

    /// Whether the labels of marks need turning, since they would run into each other side by side.
    pub fn is_crowded(ticks: &[Tick]) -> bool {
        let half = |tick: &Tick| tick.label.chars().count() as f64 * LETTER / 2.0;
        let room = |pair: &[Tick]| pair[1].position - pair[0].position - LETTER / 2.0;
        ticks.windows(2).any(|pair| half(&pair[0]) + half(&pair[1]) > room(pair))
    }

    /// Round numbers along the axis, or all its values if there are only a few.
    pub fn ticks(&self) -> Vec<Tick> {
        let label = |value: f64| match self.clock {
            _ if self.dates => TimePart::date_in_words(value),
            Some(clock) => clock.words(value),
            None => super::number(value),
        };
        let tick = |value: f64| Tick { position: self.position(value), label: label(value) };
        if !self.categories.is_empty() {
            return self.category_ticks();
        }
        if let Some(distinct) = self.distinct.as_ref().filter(|distinct| distinct.len() <= MOST_BARS) {
            let mut ticks: Vec<Tick> = Vec::new();
            for tick in distinct.iter().map(|&value| tick(value)) {
                if ticks.last().is_none_or(|last| tick.position - last.position >= BAR_DISTANCE) {
                    ticks.push(tick);
                }
            }
            return ticks;
        }
        let range = self.max - self.min;
        if !(range.is_normal() && range > 0.0) {
            return vec![tick(self.min)];
        }
        let is_even = (self.position(self.min + range / 2.0) - 0.5).abs() < 1e-3;
        if is_even {
            let few = |&(factor, power): &(f64, f64)| range / (factor * libm::pow(10.0, power)) <= EVEN_STEPS;
            let step = match self.clock {
                Some(_) => CLOCK_STEPS.map(|step| (step, 0.0)).into_iter().take_while(few).last(),
                None => None,
            };
            let step = step.or_else(|| steps(range).take_while(few).last());
            return step.map_or(Vec::new(), |step| self.multiples(step).into_iter().map(tick).collect());
        }
        // No single step fits an asinh axis: powers of ten, their halves and fifths, then whatever fills wide gaps.
        let mut ticks: Vec<Tick> = Vec::new();
        let mut add = |value: f64, distance: f64| {
            let position = self.position(value);
            let apart = |tick: &Tick| (tick.position - position).abs() >= distance;
            if value >= self.min && value <= self.max && ticks.len() < MOST_TICKS && ticks.iter().all(apart) {
                ticks.push(tick(value));
            }
        };
        if self.clock.is_some() {
            let seconds = CLOCK_STEPS.into_iter().filter(|step| *step <= range);
            seconds.flat_map(|step| self.multiples((step, 0.0))).for_each(|value| add(value, LEAST_DISTANCE));
            ticks.sort_by(|a, b| a.position.total_cmp(&b.position));
            return ticks;
        }
        let largest = libm::floor(libm::log10(self.min.abs().max(self.max.abs()))) as i32;
        add(0.0, 0.0);
        for factor in [1.0, 5.0, 2.0] {
            for power in (0..DECADES).map(|finer| largest - finer) {
                // Division by a power of ten keeps decimal fractions short.
                let scale = libm::pow(10.0, f64::from(power.abs()));
                let value = if power < 0 { factor / scale } else { factor * scale };
                add(value, LEAST_DISTANCE);
                add(-value, LEAST_DISTANCE);
            }
        }
        for value in steps(range).take(FINEST_STEP).flat_map(|step| self.multiples(step)) {
            add(value, WIDE_GAP);
        }
        ticks.sort_by(|a, b| a.position.total_cmp(&b.position));
        ticks
    }

    /// The most frequent categories that leave room for each other.
    fn category_ticks(&self) -> Vec<Tick> {
        let mut ticks: Vec<Tick> = Vec::new();
        for (value, name) in self.categories.iter().enumerate() {
            let position = self.position(value as f64);
            if ticks.last().is_none_or(|last| position - last.position >= CATEGORY_DISTANCE) {
                ticks.push(Tick { position, label: shortened(name) });
            }
        }
        ticks
    }

    /// The multiples of a step within the range; none if there are very many, or the step is finer than the numbers.
    fn multiples(&self, (factor, power): (f64, f64)) -> Vec<f64> {
        let step = factor * libm::pow(10.0, power);
        let first = libm::ceil(self.min / step);
        if (self.max - self.min) / step > MOST_MULTIPLES || first.abs() > 1e12 {
            return Vec::new();
        }
        let multiples = (0..=MOST_MULTIPLES as u32).map(|k| first + f64::from(k));
        // Division by a power of ten keeps decimal fractions short.
        let value = |multiple: f64| {
            if power < 0.0 { multiple * factor / libm::pow(10.0, -power) } else { multiple * step }
        };
        multiples.map(value).take_while(|&value| value <= self.max).map(|value| value + 0.0).collect()
    }
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= LONGEST_LABEL {
        return name.to_owned();
    }
    name.chars().take(LONGEST_LABEL - 1).chain(['…']).collect()
}

/// Round steps from the size of a range downwards: a factor and a power of ten.
fn steps(range: f64) -> impl Iterator<Item = (f64, f64)> {
    let power = libm::floor(libm::log10(range));
    (0..).flat_map(move |finer| [5.0, 2.0, 1.0].map(|factor| (factor, power - f64::from(finer))))
}
impl Explainer<'_> {
    /// A column as the axis of a plot.
    pub fn axis(&self, column: usize) -> Axis {
        let given = &self.detector.encoder().columns()[column];
        let scaler = self.scalers[column].clone();
        let values = self.detector.profile().columns[column].distinct();
        let original = |&value: &f32| scaler.original(value).clamp(given.min, given.max);
        let distinct = values.map(|values| values.iter().map(original).collect());
        let categories: Vec<String> =
            (0..given.positions()).map(|position| given.words(position as f64)).collect();
        Axis {
            scaler,
            min: given.min,
            max: given.max,
            distinct,
            has_gaps: categories.is_empty() && given.gaps.is_some(),
            categories,
            dates: given.is_date(),
            clock: given.clock(),
        }
    }

    /// The shares of the training rows in so many equal parts of a column's axis, without those whose number is missing.
    pub fn density(&self, column: usize, bins: usize) -> Vec<f64> {
        let spread = &self.detector.profile().columns[column];
        let end = |bin: usize| (bin as f64 / bins as f64 * 2.0 - 1.0) as f32;
        let before = |bin: usize| match bin {
            0 => 0.0,
            bin if bin == bins => 1.0,
            bin => spread.below(end(bin)),
        };
        let mut shares: Vec<f64> = (0..bins).map(|bin| (before(bin + 1) - before(bin)).max(0.0)).collect();
        let given = &self.detector.encoder().columns()[column];
        if let Some(gaps) = given.gaps.filter(|_| given.positions() == 0) {
            // A missing number has the median as its feature.
            let place = (f64::from(self.scalers[column].scale(f64::NAN)) + 1.0) / 2.0;
            let bin = ((place * bins as f64) as usize).min(bins - 1);
            let missing = gaps.rows as f64 / self.detector.training_rows().max(1) as f64;
            shares[bin] = (shares[bin] - missing).max(0.0);
        }
        shares
    }

    /// What a term of one column contributes where the number is missing, if any was in training.
    ///
    /// # Panics
    /// If there is no such term, or it has two columns.
    pub fn missing(&self, term: usize) -> Option<f64> {
        let &[column] = self.terms[term].columns() else {
            panic!("a missing value needs a term of one column")
        };
        self.axis(column).has_gaps.then(|| self.evaluate(term, &[&[f64::NAN]])[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Asinh, Column, View};

    fn labels(min: f64, max: f64, asinh: Option<Asinh>) -> Vec<String> {
        let scaler =
            Scaler::new(&Column { name: "c".into(), min, max, asinh, ..Column::default() }, View::Asinh);
        marks(scaler, [min, max], None)
    }

    fn marks(scaler: Scaler, [min, max]: [f64; 2], clock: Option<Clock>) -> Vec<String> {
        let (categories, distinct) = (Vec::new(), None);
        let axis = Axis { scaler, min, max, distinct, categories, has_gaps: false, dates: false, clock };
        axis.ticks().into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn marks_of_a_clock_are_those_of_a_dial() {
        let labels = |min: f64, max: f64, clock: Clock| {
            let column = Column { name: "c".into(), min, max, ..Column::default() };
            marks(Scaler::new(&column, View::Plain), [min, max], Some(clock))
        };
        assert_eq!(labels(600.0, 86_000.0, Clock::Minutes), ["04:00", "08:00", "12:00", "16:00", "20:00"]);
        assert_eq!(labels(100.0, 190.0, Clock::Short), ["1:45", "2:00", "2:15", "2:30", "2:45", "3:00"]);
    }

    #[test]
    fn marks_are_round_numbers() {
        assert_eq!(labels(0.0, 1.0, None), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(labels(-3.0, 47.0, None), ["0", "10", "20", "30", "40"]);
        assert_eq!(labels(5.0, 5.0, None), ["5"]);
        let asinh = labels(0.0, 1000.0, Some(Asinh { median: 3.0, spread: 8.0 }));
        assert!(asinh.len() >= 4 && asinh.contains(&"1000".to_owned()), "{asinh:?}");
    }

    #[test]
    fn extreme_ranges_have_marks_or_none_but_end() {
        for (min, max) in [(-1e300, 1e300), (0.0, 1e-300), (1e15, 1e15 + 2.0), (-f64::MAX, f64::MAX)] {
            assert!(labels(min, max, None).len() <= MOST_TICKS);
        }
    }
}
