//! Every setting, declared once: name, type, default, the paper's value, range and help. The fields of the settings' structs,
//! their checks, the options of the command line, the arguments of the Python package and the reference in the documentation
//! all follow from the declarations in `fit` and `tune`.

#[macro_use]
mod declare;
mod fit;
mod stored;
mod tune;
mod value;

use crate::error::Error;
pub use fit::{Annealing, FinalSplits, LeafScale, MatchGradient, Params, Scale};
pub(crate) use stored::of_any_version;
pub use tune::{DescentParams, FunctionParams, Learner, Loss};
pub(crate) use value::{Field, Words};
pub use value::{Kind, Value, Word};

/// What is known of one setting.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Setting {
    /// Its name: a field in Rust, an argument in Python.
    pub name: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// Its default.
    pub default: Value,
    /// The paper's value, where that is another one.
    pub paper: Option<Value>,
    /// What fits did before this was a setting, where it came later: model files without it stand for that.
    pub before: Option<Value>,
    /// What values are allowed, such as `from 1 to 8`; nothing where all are.
    pub range: Option<&'static str>,
    /// What it does, in one sentence without a full stop.
    pub help: &'static str,
}

impl Setting {
    /// Its name on the command line, without the dashes before it.
    ///
    /// ```
    /// let share = diad::Params::declared().iter().find(|setting| setting.name == "feature_share");
    /// assert_eq!(share.map(|share| share.option()), Some("feature-share".into()));
    /// ```
    pub fn option(&self) -> String {
        self.name.replace('_', "-")
    }

    /// A value that is written as text.
    ///
    /// # Errors
    /// If the text is no value of this kind.
    pub fn parse(&self, text: &str) -> crate::Result<Value> {
        let parsed = match self.kind {
            Kind::Count => text.parse().ok().map(Value::Count),
            Kind::Number => text.parse().ok().map(Value::Number),
            Kind::Switch => text.parse().ok().map(Value::Switch),
            Kind::Word(_) => Some(Value::Word(text.to_owned())),
        };
        let given = Value::Word(text.to_owned());
        let value = parsed.ok_or_else(|| wrong_kind(self.name, self.kind, &given))?;
        match self.kind {
            Kind::Word(words) if !words.iter().any(|word| word.name == text) => {
                Err(wrong_kind(self.name, self.kind, &value))
            }
            _ => Ok(value),
        }
    }
}

/// The values of a number from `low` to `high`; the ends belong to them unless they are open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub low: f64,
    pub high: f64,
    pub open_low: bool,
    pub open_high: bool,
    pub must: &'static str,
}

impl Range {
    /// NaN is in no range.
    fn has(&self, value: f64) -> bool {
        let above = if self.open_low { value > self.low } else { value >= self.low };
        let below = if self.open_high { value < self.high } else { value <= self.high };
        above && below
    }

    fn check(&self, name: &'static str, value: &Value) -> crate::Result<()> {
        let number = match value {
            Value::Count(count) => *count as f64,
            Value::Number(number) => *number,
            Value::Switch(_) | Value::Word(_) => return Ok(()),
        };
        require(self.has(number), name, value, self.must)
    }
}

/// An error unless a setting is as it must be.
fn require(ok: bool, name: &'static str, value: impl ToString, must: &'static str) -> crate::Result<()> {
    if ok { Ok(()) } else { Err(Error::Setting { name, value: value.to_string(), must: must.into() }) }
}

/// The error of a value that a setting cannot take.
fn wrong_kind(name: &'static str, kind: Kind, value: &Value) -> Error {
    let shown = match value {
        Value::Word(word) => crate::table::quoted(word),
        other => other.to_string(),
    };
    match kind {
        Kind::Count => Error::SettingKind { name, value: shown, must: "a whole number" },
        Kind::Number => Error::SettingKind { name, value: shown, must: "a number" },
        Kind::Switch => Error::SettingKind { name, value: shown, must: "true or false" },
        Kind::Word(words) => Error::Setting { name, value: shown, must: one_of(words).into() },
    }
}

/// Words as a sentence lists them: `"a", "b" or "c"`.
fn one_of(words: &[Word]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{}\"", word.name)).collect();
    match quoted.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => quoted.concat(),
    }
}

/// The error of a name that no setting has.
fn unknown(name: &str, known: impl IntoIterator<Item = &'static str>) -> Error {
    Error::UnknownSetting { name: name.to_owned(), known: known.into_iter().collect() }
}

#[cfg(test)]
mod tests;
