//! Which rows are alerts: the rule, as people write it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which rows are alerts. Written as text: `top=50`, `share=1%`, `p=0.001`, `fdr=10%`, `budget=20/day`.
///
/// ```
/// use diad::Alert;
///
/// let rule: Alert = "share=1%".parse()?;
/// assert_eq!((rule, rule.to_string()), (Alert::Share(0.01), "share=1%".into()));
/// assert!("share=200%".parse::<Alert>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum Alert {
    /// So many rows of a table, those with the highest scores.
    Top(u64),
    /// Rows that score higher than all but this share of the rows like those of the training.
    Share(f64),
    /// Rows with such a p-value or a smaller one: the same as a share.
    PValue(f64),
    /// As many rows of a table as can be without more than this share of them being false, by Benjamini and Hochberg's rule.
    Fdr(f64),
    /// So many rows of a table a period on average, those with the highest scores.
    Budget(f64, Period),
}

/// What a budget is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    /// An hour.
    Hour,
    /// A day.
    Day,
    /// Seven days.
    Week,
}

impl Period {
    const ALL: [Self; 3] = [Self::Hour, Self::Day, Self::Week];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
        }
    }

    /// How long it is.
    pub fn seconds(self) -> f64 {
        match self {
            Self::Hour => 3600.0,
            Self::Day => 86_400.0,
            Self::Week => 604_800.0,
        }
    }
}

impl Alert {
    /// Whether a row can be judged by its score alone; otherwise by all rows of its table.
    pub fn is_of_the_model(self) -> bool {
        matches!(self, Self::Share(_) | Self::PValue(_))
    }
}

impl fmt::Display for Alert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Top(rows) => write!(f, "top={rows}"),
            Self::Share(share) => write!(f, "share={}%", percent(*share)),
            Self::PValue(p) => write!(f, "p={p}"),
            Self::Fdr(share) => write!(f, "fdr={}%", percent(*share)),
            Self::Budget(rows, period) => write!(f, "budget={rows}/{}", period.name()),
        }
    }
}

/// A share in %, without the noise of binary fractions.
fn percent(share: f64) -> f64 {
    let percent = 100.0 * share;
    let rounded = (percent * 1e9).round() / 1e9;
    if (rounded - percent).abs() < 1e-12 * percent { rounded } else { percent }
}

/// How a rule is written.
const FORMS: &str = "top=50, share=1%, p=0.001, fdr=10% or budget=20/day";

impl FromStr for Alert {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("write an alert rule as {FORMS}");
        let (kind, value) = text.trim().split_once('=').ok_or_else(unknown)?;
        let value = value.trim();
        let share = || {
            let (number, unit) = match value.strip_suffix('%') {
                Some(number) => (number, 0.01),
                None => (value, 1.0),
            };
            let share = number.trim().parse::<f64>().ok().map(|number| number * unit);
            let fits = |share: &f64| *share > 0.0 && *share < 1.0;
            let wrong =
                || format!("{kind} must be a share above 0 and below 1, such as {kind}=0.01 or {kind}=1%");
            share.filter(fits).ok_or_else(wrong)
        };
        match kind.trim() {
            "top" => {
                let rows = value.parse().ok().filter(|&rows| rows > 0);
                rows.map(Self::Top).ok_or_else(|| "top must be a number of rows, such as top=50".into())
            }
            "share" => share().map(Self::Share),
            "p" => share().map(Self::PValue),
            "fdr" => share().map(Self::Fdr),
            "budget" => {
                let wrong = || {
                    "budget must be a number of rows per hour, day or week, such as budget=20/day".to_owned()
                };
                let (rows, period) = value.split_once('/').ok_or_else(wrong)?;
                let period = Period::ALL.into_iter().find(|known| known.name() == period.trim());
                let rows = rows.trim().parse::<f64>().ok().filter(|rows| *rows > 0.0 && *rows < 1e12);
                rows.zip(period).map(|(rows, period)| Self::Budget(rows, period)).ok_or_else(wrong)
            }
            _ => Err(unknown()),
        }
    }
}

impl TryFrom<String> for Alert {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Alert> for String {
    fn from(rule: Alert) -> Self {
        rule.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_read_as_it_is_written() {
        let rules = [
            ("top=50", Alert::Top(50)),
            ("share=1%", Alert::Share(0.01)),
            ("share=0.7%", Alert::Share(0.007)),
            ("p=0.001", Alert::PValue(0.001)),
            ("fdr=10%", Alert::Fdr(0.1)),
            ("budget=20/day", Alert::Budget(20.0, Period::Day)),
            ("budget=0.5/week", Alert::Budget(0.5, Period::Week)),
        ];
        for (text, rule) in rules {
            let read: Alert = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
            assert_eq!(read.to_string().parse(), Ok(read));
            let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
            assert!(match (read, rule) {
                (Alert::Share(a), Alert::Share(b)) => near(a, b),
                (a, b) => a == b,
            });
        }
        assert_eq!("fdr=0.1".parse(), Ok(Alert::Fdr(0.1)));
        assert_eq!(" share = 2 % ".parse(), Ok(Alert::Share(0.02)));
    }

    #[test]
    fn what_is_no_rule_is_told_what_would_be() {
        for (text, said) in [
            ("50", "write an alert rule"),
            ("most=3", "write an alert rule"),
            ("top=0", "top must be"),
            ("top=-1", "top must be"),
            ("share=0", "share must be"),
            ("share=nan", "share must be"),
            ("p=1", "p must be"),
            ("fdr=150%", "fdr must be"),
            ("budget=20", "budget must be"),
            ("budget=20/year", "budget must be"),
            ("budget=inf/day", "budget must be"),
        ] {
            let error = text.parse::<Alert>().unwrap_err();
            assert!(error.starts_with(said), "{text}: {error}");
        }
    }
}
