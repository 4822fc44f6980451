//! Texts that are neither numbers nor times.

use crate::Place;

/// What stands for a missing value where numbers or times are expected. Marks without any letter or digit do too.
const GAPS: [&str; 36] = [
    "pending",
    "unknown",
    "unk",
    "tbd",
    "tba",
    "not available",
    "no data",
    "nodata",
    "missing",
    "blank",
    "(blank)",
    "nil",
    "void",
    "suppressed",
    "confidential",
    "withheld",
    "not reported",
    "not applicable",
    "error",
    "err",
    "#div/0!",
    "#value!",
    "#ref!",
    "#num!",
    "#name?",
    "#error",
    "#null!",
    "undefined",
    "invalid",
    "k. a.",
    "k.a.",
    "keine angabe",
    "nd",
    "n.d.",
    "n/d",
    "not recorded",
];

/// A text that is neither a number nor a time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stray {
    /// The text.
    pub text: String,
    /// Rows that have it.
    pub rows: u64,
    /// The first of them.
    pub place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Gap,
    /// Letters and digits, such as V57.
    Code,
    Word,
}

pub(super) fn class_of(text: &str) -> Class {
    let letters = text.chars().any(char::is_alphabetic);
    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
    let gap = |text: &str| GAPS.iter().any(|word| text.eq_ignore_ascii_case(word));
    match (letters, digits) {
        (false, false) => Class::Gap,
        _ if gap(text) => Class::Gap,
        (true, true) if text.len() <= 12 && !text.contains(' ') => Class::Code,
        _ => Class::Word,
    }
}
