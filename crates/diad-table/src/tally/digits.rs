//! Columns of dates without marks, such as 20150803.

use crate::time;

/// Rows and different days after the twelfth that tell of dates, at least.
const ROWS: u64 = 5;
const LATE_DAYS: u32 = 2;

/// Whether all cells of a column are dates of eight digits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Digits {
    /// Whether a cell is none.
    others: bool,
    pub(super) rows: u64,
    /// The days and months that come up, a bit for each.
    days: u32,
    months: u32,
}

impl Digits {
    /// Adds numbers, of which a missing one is NaN. Once one is no date, nothing is left to tell.
    pub(super) fn add_numbers(&mut self, values: &[f64]) {
        for &value in values.iter().filter(|value| !value.is_nan()) {
            if self.others {
                return;
            }
            self.add(Some(value), 1);
        }
    }

    /// Adds a text that is a number, or not.
    pub(super) fn add_text(&mut self, text: &str, rows: u64) {
        let digits = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit());
        self.add(if digits { text.parse().ok() } else { None }, rows);
    }

    pub(super) fn add(&mut self, value: Option<f64>, rows: u64) {
        match value.and_then(time::of_digits) {
            Some((_, month, day)) => {
                self.rows += rows;
                self.days |= 1 << day;
                self.months |= 1 << month;
            }
            None => self.others = true,
        }
    }

    /// Whether they are dates and no codes: days and months that change, and days that no month could be.
    pub(super) fn are_dates(&self) -> bool {
        const LATE: u32 = !0 << 13;
        !self.others
            && self.rows >= ROWS
            && (self.days & LATE).count_ones() >= LATE_DAYS
            && self.months.count_ones() > 1
    }
}
