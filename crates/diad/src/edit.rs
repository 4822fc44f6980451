//! Edits of a model: what people know better about one column is added to the score as one more function of that column.
//!
//! The functions of all edits are a part of the score of their own, so that the sum stays exact, explanations show what is left, and an
//! edit can be taken back.

use std::fmt;
use std::str::FromStr;

use crate::encode::Kind;
use crate::explain::Explainer;
use crate::function::{Curve, Functions};
use crate::score::additive::{EDITS, Summand};
use crate::table::quoted;
use crate::{Detector, Error, Result};

/// Nodes of an edit of a number, at most.
const NODES: usize = 1000;
/// Where the slope of a term beyond its range is measured, in scaled units beyond the end.
const BEYOND: f64 = 1.0;

/// An edit of what one column alone adds to the score. What it adds together with another column stays.
///
/// ```
/// use diad::Edit;
///
/// let edit: Edit = "mute Memo=gift".parse()?;
/// assert_eq!((edit.column(), edit.to_string()), ("Memo", "mute Memo=gift".into()));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Edit {
    /// A category of a column raises no score.
    Mute {
        /// The column.
        column: String,
        /// The category.
        value: String,
    },
    /// A column raises no score by more than this.
    Cap {
        /// The column.
        column: String,
        /// The most that it adds.
        most: f64,
    },
    /// A column adds the same to all scores.
    Flat {
        /// The column.
        column: String,
    },
    /// A column adds the more to scores the larger (`up`), or the smaller, its value is.
    Monotone {
        /// The column.
        column: String,
        /// Whether larger values add more.
        up: bool,
    },
}

impl Edit {
    /// The column.
    pub fn column(&self) -> &str {
        match self {
            Self::Mute { column, .. } | Self::Cap { column, .. } | Self::Flat { column } => column,
            Self::Monotone { column, .. } => column,
        }
    }
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mute { column, value } => write!(f, "mute {column}={value}"),
            Self::Cap { column, most } => write!(f, "cap {column}={most}"),
            Self::Flat { column } => write!(f, "flat {column}"),
            Self::Monotone { column, up } => {
                write!(f, "monotone {column}={}", if *up { "up" } else { "down" })
            }
        }
    }
}

impl FromStr for Edit {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let wrong =
            || "write an edit as mute COL=VALUE, cap COL=NUMBER, flat COL or monotone COL=up".to_owned();
        let (kind, rest) = text.split_once(' ').ok_or_else(wrong)?;
        if kind == "flat" && !rest.is_empty() {
            return Ok(Self::Flat { column: rest.to_owned() });
        }
        // Names of columns and categories may have = in them; a category rarely does.
        let (column, value) = rest.rsplit_once('=').ok_or_else(wrong)?;
        let column = column.to_owned();
        match kind {
            "mute" => Ok(Self::Mute { column, value: value.to_owned() }),
            "cap" => {
                let most = value.parse::<f64>().ok().filter(|most| (0.0..1e6).contains(most));
                let wrong = || "a cap must be a number from 0 on, such as cap amount=3".to_owned();
                most.map(|most| Self::Cap { column, most }).ok_or_else(wrong)
            }
            "monotone" => match value {
                "up" => Ok(Self::Monotone { column, up: true }),
                "down" => Ok(Self::Monotone { column, up: false }),
                _ => Err("write monotone COL=up or monotone COL=down".into()),
            },
            _ => Err(wrong()),
        }
    }
}

impl Detector {
    /// The same detector with these edits and no others. Edits are made one after another; with none, the detector is as it was fitted.
    ///
    /// The calibration stays that of the fit: edits that lower scores make p-values larger, never smaller.
    ///
    /// # Errors
    /// If an edit names a column or a category that the model does not know, or does not fit the kind of its column.
    pub fn edited(&self, edits: &[Edit]) -> Result<Self> {
        let mut additive = self.additive().clone();
        additive.parts.retain(|part| part.name != EDITS);
        let copy = |additive| {
            let copy = self.with_model(self.model().clone(), additive);
            let copy = match self.origin() {
                Some(origin) => copy.coming_from(origin.clone()),
                None => copy,
            };
            match self.kept_calibration() {
                Some(calibration) => copy.calibrated(calibration.clone()),
                None => copy,
            }
        };
        let mut detector = copy(additive.clone());
        let mut functions = Functions::default();
        for edit in edits {
            functions.add(&Functions { curves: vec![curve(&detector, edit)?], grids: Vec::new() }, 1.0);
            let mut with = additive.clone();
            let edited =
                Summand { name: EDITS.into(), factor: 1.0, deviation: 0.0, functions: functions.clone() };
            with.parts.push(edited);
            detector = copy(with);
        }
        Ok(detector.certified().noting_edits(edits.iter().map(Edit::to_string).collect()))
    }
}

/// What an edit adds to the score: what the term of its column is to be, less what it is.
fn curve(detector: &Detector, edit: &Edit) -> Result<Curve> {
    let wrong = |reason: &str| Error::Edit { edit: edit.to_string(), reason: reason.to_owned() };
    let columns = detector.encoder().columns();
    let column = columns.iter().position(|column| column.name == edit.column()).or_else(|| {
        // A number that counts by its segment goes by the name it has in the table, too.
        columns.iter().position(|column| column.kind == Kind::Number && column.source() == edit.column())
    });
    let Some(column) = column else {
        let names: Vec<String> = columns.iter().take(8).map(|column| quoted(&column.name)).collect();
        return Err(wrong(&format!("the model has no such column; it has {}", names.join(", "))));
    };
    let (given, scaler) = (&columns[column], &detector.encoder().scalers()[column]);
    let explainer = Explainer::new(detector);
    let Some(term) = explainer.find(&[column]) else {
        return Err(wrong("the model does not look at that column"));
    };
    let is_category = given.positions() > 0;
    let values: Vec<f64> = match is_category {
        true => (0..=given.positions()).map(|position| position as f64).collect(),
        false => nodes(detector, column).into_iter().map(|node| scaler.original(node)).collect(),
    };
    let points: Vec<&[f64]> = values.iter().map(std::slice::from_ref).collect();
    let now = explainer.evaluate(term, &points);
    let wanted = wanted(edit, given, &now).map_err(wrong)?;
    // Values beyond what single precision tells apart fall together.
    let mut placed: Vec<(f32, f32)> = values
        .iter()
        .zip(now.iter().zip(&wanted))
        .map(|(&value, (now, wanted))| (scaler.scale(value), (wanted - now) as f32))
        .collect();
    placed.sort_by(|a, b| a.0.total_cmp(&b.0));
    placed.dedup_by(|a, b| a.0 == b.0);
    if placed.len() < 2 {
        return Err(wrong("the column has a single value"));
    }
    let beyond = match is_category {
        true => [0.0; 2],
        false => beyond(&explainer, term, column, edit),
    };
    let (nodes, values) = placed.into_iter().unzip();
    Ok(Curve { feature: column as u32, nodes, values, beyond })
}

/// What the term of a column is to be where it has these values now.
fn wanted(
    edit: &Edit,
    column: &crate::encode::Column,
    now: &[f64],
) -> std::result::Result<Vec<f64>, &'static str> {
    Ok(match edit {
        Edit::Mute { value, .. } => {
            let Kind::Category { levels, .. } = &column.kind else {
                return Err("the column has no categories; use cap, flat or monotone");
            };
            let known = levels.iter().position(|level| level.name.as_deref().unwrap_or("missing") == value);
            let Some(known) = known else { return Err("there was no such category in training") };
            let mute = |(place, &now): (usize, &f64)| if place == known { now.min(0.0) } else { now };
            now.iter().enumerate().map(mute).collect()
        }
        Edit::Cap { most, .. } => now.iter().map(|now| now.min(*most)).collect(),
        Edit::Flat { .. } => vec![0.0; now.len()],
        Edit::Monotone { .. } if column.positions() > 0 => {
            return Err("categories are neither larger nor smaller; use mute, cap or flat");
        }
        Edit::Monotone { up, .. } => monotone(now, *up),
    })
}

/// The nodes of a column's functions, and equally spaced ones between its ends.
fn nodes(detector: &Detector, column: usize) -> Vec<f32> {
    let curves = detector.functions().curves.iter().filter(|curve| curve.feature as usize == column);
    let mut nodes: Vec<f32> = curves.flat_map(|curve| curve.nodes.iter().copied()).collect();
    nodes.retain(|node| (-1.0..=1.0).contains(node));
    let room = NODES.saturating_sub(nodes.len()).max(NODES / 2);
    nodes.extend(crate::function::spaced(room));
    nodes.sort_unstable_by(f32::total_cmp);
    nodes.dedup();
    while nodes.len() > NODES {
        // Every second one of the inner nodes goes.
        let (last, mut place) = (nodes.len() - 1, 0);
        nodes.retain(|_| {
            place += 1;
            place == 1 || place == last + 1 || place % 2 == 1
        });
    }
    nodes
}

/// By how much an edit rises beyond the ends: a term that is flat, or capped, goes on level; one that is monotone does not turn round.
fn beyond(explainer: &Explainer, term: usize, column: usize, edit: &Edit) -> [f32; 2] {
    let scaler = &explainer.detector().encoder().scalers()[column];
    let at = |x: f64| explainer.evaluate(term, &[&[scaler.original(x as f32)]])[0];
    let rises = [(at(-1.0 - BEYOND) - at(-1.0)) / BEYOND, (at(1.0 + BEYOND) - at(1.0)) / BEYOND];
    let changed = match edit {
        Edit::Mute { .. } => [0.0; 2],
        Edit::Cap { .. } => rises.map(|rise| -rise.max(0.0)),
        Edit::Flat { .. } => rises.map(|rise| -rise),
        Edit::Monotone { up: true, .. } => [-rises[0].max(0.0), -rises[1].min(0.0)],
        Edit::Monotone { up: false, .. } => [-rises[0].min(0.0), -rises[1].max(0.0)],
    };
    changed.map(|change| change as f32)
}

/// The nearest values that never fall (or never rise), by pooling neighbours that do.
fn monotone(values: &[f64], up: bool) -> Vec<f64> {
    let sign = if up { 1.0 } else { -1.0 };
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for value in values {
        pools.push((sign * value, 1));
        while let [.., before, last] = pools[..]
            && before.0 / before.1 as f64 > last.0 / last.1 as f64
        {
            pools.pop();
            if let Some(pool) = pools.last_mut() {
                *pool = (before.0 + last.0, before.1 + last.1);
            }
        }
    }
    pools.into_iter().flat_map(|(sum, count)| std::iter::repeat_n(sign * sum / count as f64, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Params;
    use crate::rng::{Purpose, Stream};
    use crate::score::additive::TREES;
    use crate::table::{Table, Texts, Values};

    fn table() -> Table {
        let mut random = Stream::new(9, Purpose::Shuffle, 0);
        let amounts: Vec<f64> = (0..1500).map(|_| 100.0 + 20.0 * random.normal()).collect();
        let memos: Texts =
            (0..1500).map(|i| Some(if i % 300 == 7 { "gift" } else { ["rent", "food"][i % 2] })).collect();
        Table::of(vec!["amount".into(), "Memo".into()], vec![Values::Numbers(amounts), memos.into()]).unwrap()
    }

    fn detector() -> Detector {
        Params::default().with_steps(30).trees(20).fit(&table()).unwrap()
    }

    fn edits(texts: &[&str]) -> Vec<Edit> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn at(detector: &Detector, column: usize, values: &[f64]) -> Vec<f64> {
        let explainer = Explainer::new(detector);
        let term = explainer.find(&[column]).unwrap();
        values.iter().map(|value| explainer.evaluate(term, &[&[*value]])[0]).collect()
    }

    #[test]
    fn a_muted_category_raises_nothing_and_others_stay() {
        let first = detector();
        let edited = first.edited(&edits(&["mute Memo=gift"])).unwrap();
        let (before, after) = (at(&first, 1, &[0.0, 1.0, 2.0]), at(&edited, 1, &[0.0, 1.0, 2.0]));
        assert!(before[2] > 1.0, "{before:?}");
        // All are moved alike by the mean of the term.
        let moved = after[0] - before[0];
        assert!((after[1] - before[1] - moved).abs() < 1e-3, "{before:?} {after:?}");
        assert!((after[2] - moved).abs() < 1e-3, "{before:?} {after:?}");
        let (scores, plain) = (edited.score(&table()).unwrap(), first.score(&table()).unwrap());
        let gifts = |row: usize| row % 300 == 7;
        assert!((0..1500).all(|row| if gifts(row) {
            scores[row] < plain[row] - 0.5
        } else {
            (scores[row] - plain[row]).abs() < 1e-3
        }));
    }

    #[test]
    fn a_cap_a_flat_and_a_monotone_column() {
        let first = detector();
        let values = [20.0, 60.0, 90.0, 100.0, 110.0, 140.0, 180.0, 1000.0];
        let plain = at(&first, 0, &values);
        let capped = at(&first.edited(&edits(&["cap amount=0.5"])).unwrap(), 0, &values);
        for (plain_now, now) in plain.iter().zip(&capped) {
            // The mean of the term has moved, for all values alike.
            let [wanted, found] = [plain_now.min(0.5) - plain[3].min(0.5), now - capped[3]];
            assert!((wanted - found).abs() < 0.05, "{plain:?} {capped:?}");
        }
        let flat = at(&first.edited(&edits(&["flat amount"])).unwrap(), 0, &values);
        assert!(flat.iter().all(|value| value.abs() < 0.02), "{flat:?}");
        let up = at(&first.edited(&edits(&["monotone amount=up"])).unwrap(), 0, &values);
        // Between nodes the edit is linear and the term is not.
        assert!(up.windows(2).all(|two| two[0] <= two[1] + 0.01), "{up:?}");
    }

    #[test]
    fn edits_add_up_and_can_be_taken_back() {
        let first = detector();
        let edited = first.edited(&edits(&["mute Memo=gift", "cap amount=1"])).unwrap();
        assert_eq!(edited.edits(), ["mute Memo=gift", "cap amount=1"]);
        let explainer = Explainer::new(&edited);
        let explained = explainer.contributions(&table()).unwrap();
        for (row, score) in edited.score(&table()).unwrap().into_iter().enumerate() {
            let sum = explainer.intercept() + explained.row(row).iter().sum::<f64>();
            assert!((sum - f64::from(score)).abs() < 1e-5);
        }
        let again = Detector::from_bytes(&edited.to_bytes().unwrap()).unwrap();
        assert_eq!(again.edits(), edited.edits());
        let back = again.edited(&[]).unwrap();
        assert!(back.edits().is_empty());
        assert_eq!(back.score(&table()).unwrap(), first.score(&table()).unwrap());
    }

    /// Far outside, a cap takes back nearly all that the tails add: the score is a small difference of large numbers.
    #[test]
    fn exact_scores_far_outside_are_those_of_a_plain_sum_in_double_precision() {
        let edited = detector().edited(&edits(&["cap amount=0.5", "mute Memo=gift"])).unwrap();
        let amounts: Vec<f64> = (0..40).map(|k| 100.0 + 30.0 * libm::exp2(25.0 * f64::from(k))).collect();
        let memos: Texts = (0..40).map(|k| Some(["rent", "food", "gift"][k % 3])).collect();
        let names = vec!["amount".into(), "Memo".into()];
        let far = Table::of(names, vec![Values::Numbers(amounts), memos.into()]).unwrap();
        let rows = edited.encoder().encode(&far).unwrap();
        // The parts but for the trees, which are constant out there.
        let mut parts = edited.additive().clone();
        parts.parts.retain(|part| part.name != TREES);
        let (found, functions) = (edited.score_component(&parts, &rows), parts.functions());
        let mut largest = 0.0_f64;
        for (row, found) in found.into_iter().enumerate() {
            let plain = functions.at(rows.row(row)) - f64::from(parts.shift);
            let x = f64::from(rows.row(row)[0]);
            let of_amount = functions.curves.iter().filter(|curve| curve.feature == 0);
            largest = of_amount.map(|curve| curve.at(x).abs()).fold(largest, f64::max);
            let near = 1e-6 * plain.abs().max(1.0);
            assert!((f64::from(found) - plain).abs() < near, "row {row}: {found} instead of {plain}");
        }
        assert!(largest > 1e3, "{largest}");
    }

    #[test]
    fn what_cannot_be_edited_is_told() {
        let first = detector();
        for (edit, said) in [
            ("flat age", "the model has no such column"),
            ("mute amount=3", "the column has no categories"),
            ("mute Memo=none", "there was no such category in training"),
            ("monotone Memo=up", "categories are neither larger nor smaller"),
        ] {
            let error = first.edited(&edits(&[edit])).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        for text in ["", "flat", "mute x", "cap x=-1", "cap x=nan", "monotone x=left", "lift x=1"] {
            assert!(text.parse::<Edit>().is_err(), "{text}");
        }
    }

    #[test]
    fn pooling_neighbours_gives_the_nearest_monotone_values() {
        assert_eq!(monotone(&[1.0, 3.0, 2.0, 4.0], true), [1.0, 2.5, 2.5, 4.0]);
        assert_eq!(monotone(&[1.0, 3.0, 2.0, 4.0], false), [2.5; 4]);
        assert_eq!(monotone(&[3.0, 2.0, 1.0], false), [3.0, 2.0, 1.0]);
    }
}
