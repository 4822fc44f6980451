//! Values of settings, whatever their type.

use std::fmt;

/// A value of any setting.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A whole number from 0 on.
    Count(u64),
    /// Any number.
    Number(f64),
    /// Yes or no.
    Switch(bool),
    /// One of a few words.
    Word(String),
}

impl Value {
    /// As it is typed; a number always has a decimal point or an exponent.
    ///
    /// ```
    /// use diad::settings::Value;
    ///
    /// assert_eq!([Value::Count(3), Value::Number(3.0)].map(|value| value.typed()), ["3", "3.0"]);
    /// ```
    pub fn typed(&self) -> String {
        match self {
            Self::Number(number) => serde_json::Value::from(*number).to_string(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, text: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(text),
            Self::Number(number) => number.fmt(text),
            Self::Switch(switch) => switch.fmt(text),
            Self::Word(word) => word.fmt(text),
        }
    }
}

/// What values a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Whole numbers from 0 on.
    Count,
    /// Numbers.
    Number,
    /// Yes or no.
    Switch,
    /// One of these words.
    Word(&'static [Word]),
}

/// One of the words that a setting may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Word {
    /// The word.
    pub name: &'static str,
    /// What it stands for, in one sentence without a full stop.
    pub help: &'static str,
}

/// A type that a setting can have.
pub(crate) trait Field: Sized {
    const KIND: Kind;

    fn value(&self) -> Value;

    /// Nothing if the value is of another kind.
    fn of(value: &Value) -> Option<Self>;
}

impl Field for usize {
    const KIND: Kind = Kind::Count;

    fn value(&self) -> Value {
        Value::Count(*self as u64)
    }

    fn of(value: &Value) -> Option<Self> {
        u64::of(value).and_then(|count| count.try_into().ok())
    }
}

/// Types that one kind of value holds as they are.
macro_rules! plain {
    ($($field:ty => $kind:ident),*) => {$(
        impl Field for $field {
            const KIND: Kind = Kind::$kind;

            fn value(&self) -> Value {
                Value::$kind(*self)
            }

            fn of(value: &Value) -> Option<Self> {
                if let Value::$kind(value) = value { Some(*value) } else { None }
            }
        }
    )*};
}

plain!(u64 => Count, bool => Switch);

impl Field for f64 {
    const KIND: Kind = Kind::Number;

    fn value(&self) -> Value {
        Value::Number(*self)
    }

    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => Some(*number),
            Value::Count(count) => Some(*count as f64),
            _ => None,
        }
    }
}

/// A choice among words.
pub(crate) trait Words: Copy + 'static {
    const WORDS: &'static [Word];
    const ALL: &'static [Self];

    /// Its place among all.
    fn place(self) -> usize;
}

impl<W: Words> Field for W {
    const KIND: Kind = Kind::Word(W::WORDS);

    fn value(&self) -> Value {
        Value::Word(W::WORDS[self.place()].name.to_owned())
    }

    fn of(value: &Value) -> Option<Self> {
        let Value::Word(given) = value else { return None };
        let place = W::WORDS.iter().position(|word| word.name == given)?;
        W::ALL.get(place).copied()
    }
}
