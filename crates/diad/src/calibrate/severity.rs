//! How severe a score is, in words.

/// How severe a score is: by the share of ordinary rows that score lower.
///
/// ```
/// use diad::calibrate::Severity;
///
/// let words = [50.0, 95.0, 99.5, 99.99].map(|percentile| Severity::of(percentile).to_string());
/// assert_eq!(words, ["ordinary", "unusual", "rare", "extreme"]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Below the 95th percentile: as most rows.
    Ordinary,
    /// From the 95th percentile on: at most 1 of 20 ordinary rows.
    Unusual,
    /// From the 99th percentile on: at most 1 of 100 ordinary rows.
    Rare,
    /// From the 99.9th percentile on: at most 1 of 1,000 ordinary rows.
    Extreme,
}

impl Severity {
    /// All of them, the mildest first, each with the percentile that it starts at.
    pub const CUTS: [(Self, f64); 4] =
        [(Self::Ordinary, 0.0), (Self::Unusual, 95.0), (Self::Rare, 99.0), (Self::Extreme, 99.9)];

    /// That of a score with such a percentile; see [`Calibration::percentile`](crate::Calibration::percentile).
    pub fn of(percentile: f64) -> Self {
        let reached = Self::CUTS.iter().rev().find(|(_, from)| percentile >= *from);
        reached.map_or(Self::Ordinary, |(severity, _)| *severity)
    }

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ordinary => "ordinary",
            Self::Unusual => "unusual",
            Self::Rare => "rare",
            Self::Extreme => "extreme",
        }
    }
}

shown_by!(Severity, name);
