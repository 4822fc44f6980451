//! A score as plain data, for programs other than this one: how cells become features, and what functions of them are added up.
//! docs/exports.md describes it field by field.

use serde::Serialize;

/// The version of the form.
pub const FORMAT: u32 = 1;

/// A score.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Plan {
    /// The version of the form, [`FORMAT`].
    pub diad_export: u32,
    /// The digest of the model file.
    pub model: String,
    /// The columns of the table that are read.
    pub inputs: Vec<Input>,
    /// What functions look at: numbers, mostly between -1 and 1.
    pub features: Vec<Feature>,
    /// Places along features, which grids look at.
    pub sides: Vec<Side>,
    /// What is added to every score. The score is this and the functions of all terms.
    pub base: f64,
    /// The same for contributions: the score is this and the contributions of all terms.
    pub intercept: f64,
    /// What is added up.
    pub terms: Vec<Term>,
    /// Rows whose scores are known.
    pub check: Check,
}

/// A column of the table.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Input {
    /// Its name.
    pub name: String,
    /// What its cells are.
    pub kind: InputKind,
    /// Whether a missing cell adds the penalty, since no training row had one.
    pub missing_is_odd: bool,
    /// Whether an infinite number adds the penalty. It counts as missing either way.
    pub infinite_is_odd: bool,
    /// What an odd cell adds to the score.
    pub penalty: f64,
    /// The term that the penalty belongs to.
    pub term: usize,
}

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum InputKind {
    /// Numbers.
    Number,
    /// Texts.
    Category,
    /// Times, as seconds since the start of 1970.
    Time,
}

/// How a cell becomes a number.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "view", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Feature {
    /// A number, or a part of a time: (x - low) / (high - low) · 2 - 1, in single precision, where x is the number itself or
    /// asinh((number - median) / spread).
    Number {
        /// Which input.
        input: usize,
        /// Which part of a time: month, weekday, hour or date.
        #[serde(skip_serializing_if = "Option::is_none")]
        part: Option<&'static str>,
        /// Median and spread of the asinh scale; nothing for a scale in proportion.
        #[serde(skip_serializing_if = "Option::is_none")]
        asinh: Option<[f64; 2]>,
        /// What becomes -1.
        low: f64,
        /// What becomes 1.
        high: f64,
        /// What stands for a missing or odd cell.
        missing: f64,
    },
    /// The place of a text.
    Category {
        /// Which input.
        input: usize,
        /// Whether texts are trimmed, and words such as `NA` are missing.
        trimmed: bool,
        /// Texts in small letters that are looked up first, whatever the case of the cell, and their places.
        folded: Vec<(String, f64)>,
        /// Texts and their places.
        texts: Vec<(String, f64)>,
        /// The place of a missing text.
        missing: f64,
        /// The place of any other text.
        other: f64,
    },
    /// 1 for a missing or odd cell, -1 for any other.
    Missing {
        /// Which input.
        input: usize,
    },
}

/// Nodes along a feature and the place of each, a whole number; linear in between, constant beyond.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Side {
    /// Which feature.
    pub feature: usize,
    /// The nodes, ascending.
    pub nodes: Vec<f64>,
    /// Their places, not descending.
    pub places: Vec<u32>,
}

impl Side {
    /// The number of places.
    pub fn places(&self) -> usize {
        self.places.last().map_or(0, |&last| last as usize + 1)
    }
}

/// What one column adds, or two together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Term {
    /// Its name, as explanations have it.
    pub name: String,
    /// Functions of one feature.
    pub curves: Vec<Curve>,
    /// Functions of two features, at nodes.
    pub grids: Vec<Grid>,
    /// Functions of two features, as soft trees.
    pub trees: Vec<Tree>,
    /// What explanations move between a pair of columns and either of them. Over all terms it adds up to nothing.
    pub moved: Vec<Curve>,
    /// What is subtracted to get a contribution.
    pub mean: f64,
}

/// A function of one feature: linear between nodes, and by given slopes beyond.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Curve {
    /// Which feature.
    pub feature: usize,
    /// The nodes, ascending.
    pub nodes: Vec<f64>,
    /// The values there.
    pub values: Vec<f64>,
    /// The rise per unit away from the first node below it, and from the last one above it.
    pub beyond: [f64; 2],
}

/// A function of two places, linear in each of them between whole numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Grid {
    /// Which sides.
    pub sides: [usize; 2],
    /// The values at whole places, the second side the fastest index.
    pub values: Vec<f64>,
}

/// A polynomial of splits. Split k looks at the first feature if k is even and at the second if it is odd, cut to [-1, 1]:
/// with u = (x - threshold) · steepness, cut to [-1, 1], it is u √(2 - u²).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Tree {
    /// Which features.
    pub features: [usize; 2],
    /// One threshold per split.
    pub thresholds: Vec<f64>,
    /// One steepness per split.
    pub steepness: Vec<f64>,
    /// One coefficient per set of splits, a bit mask with the first split the lowest bit; it multiplies the splits of the set.
    pub coefficients: Vec<f64>,
}

/// Rows and their scores.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Check {
    /// Where the rows are from.
    pub rows_are: String,
    /// For each row a cell for each input.
    pub rows: Vec<Vec<Cell>>,
    /// The exact score of each row.
    pub scores: Vec<f32>,
}

/// A cell of the table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// There is none.
    Missing,
    /// A number, or a time as seconds since the start of 1970.
    Number(f64),
    /// A text.
    Text(String),
}

impl Serialize for Cell {
    /// JSON has no infinite numbers, so that they are texts.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Missing => serializer.serialize_none(),
            Self::Number(number) if number.is_finite() => serializer.serialize_f64(*number),
            Self::Number(number) if number.is_nan() => serializer.serialize_none(),
            Self::Number(number) => serializer.serialize_str(if *number > 0.0 { "inf" } else { "-inf" }),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl Feature {
    /// The input it looks at.
    pub fn input(&self) -> usize {
        match self {
            Self::Number { input, .. } | Self::Category { input, .. } | Self::Missing { input } => *input,
        }
    }
}
