//! What the user says about columns.

use crate::table::{DateOrder, ReadAs};

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
    pub(super) ignored: Vec<String>,
    pub(super) read_as: Vec<(String, ReadAs)>,
    pub(super) dates: Option<DateOrder>,
    pub(super) by: Option<String>,
}

impl Roles {
    /// Leaves out a column.
    pub fn ignore(mut self, name: impl Into<String>) -> Self {
        self.ignored.push(name.into());
        self
    }

    /// Numbers count by where they lie among those of rows with the same value in a column, such as one that names machines: each
    /// segment has a baseline of its own. What is known of a small segment leans on all others.
    pub fn by(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        if !self.ignored.contains(&name) {
            self.ignored.push(name.clone());
        }
        self.by = Some(name);
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

    pub(super) fn asked(&self, name: &str) -> Option<ReadAs> {
        self.read_as.iter().rev().find(|(known, _)| known == name).map(|(_, read_as)| *read_as)
    }
}
