//! Kinds of tables as offices keep them: what their columns are called and how they depend on each other.

use std::sync::LazyLock;

use serde::Deserialize;

/// A kind of table. The amount and the hours depend on the kind of row; the place implies another category.
#[derive(Debug, Deserialize)]
pub struct Spec {
    /// What the table is.
    pub name: &'static str,
    /// The time stamp.
    pub time: &'static str,
    /// Whether nothing happens on Saturdays and Sundays.
    pub weekdays: bool,
    /// The column with the kind of a row, and the kinds.
    pub group: (&'static str, Vec<Group>),
    /// The column with the place, and the column that the place implies.
    pub place: [&'static str; 2],
    /// The places, what each implies, and how frequent each is.
    pub places: Vec<(&'static str, &'static str, u32)>,
    /// A category that depends on nothing, with how frequent each value is.
    pub free: (&'static str, Vec<(&'static str, u32)>),
    /// A value of it that is rare.
    pub rare: &'static str,
    /// The column with the amount.
    pub amount: &'static str,
    /// Further numbers. The first is of another size than the amount.
    pub numbers: Vec<(&'static str, Law)>,
}

/// A kind of row.
#[derive(Debug, Deserialize)]
pub struct Group {
    /// What it is called.
    pub name: &'static str,
    /// How frequent it is.
    pub weight: u32,
    /// The median of its amounts.
    pub usual: f64,
    /// The standard deviation of their logarithm.
    pub spread: f64,
    /// The first and the last hour of the day it occurs in.
    pub hours: [u32; 2],
}

/// How a number is distributed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Law {
    /// Normal, with that mean and deviation, in whole numbers and never below one.
    Whole(f64, f64),
    /// The logarithm is normal: the median, and the deviation of the logarithm.
    Skewed(f64, f64),
    /// A share of the amount, with that deviation of the logarithm.
    Follows(f64, f64),
}

/// All kinds of tables.
pub static SPECS: LazyLock<Vec<Spec>> =
    LazyLock::new(|| serde_json::from_str(include_str!("specs.json")).expect("specs.json describes tables"));
