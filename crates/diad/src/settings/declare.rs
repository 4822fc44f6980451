//! The two macros by which settings are declared.

/// A choice among words, each with its help.
macro_rules! words {
    (
        $(#[$outer:meta])*
        pub enum $name:ident {
            $($(#[doc = $help:literal])+ $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[doc = $help])+ #[serde(rename = $word)] $variant,)+
        }

        impl $crate::settings::Words for $name {
            const WORDS: &'static [$crate::settings::Word] =
                &[$($crate::settings::Word { name: $word, help: sentence!($($help)+) },)+];
            const ALL: &'static [Self] = &[$(Self::$variant,)+];

            fn place(self) -> usize {
                self as usize
            }
        }
    };
}

/// A struct of settings. Each has its help as a comment, its type, its default, the paper's value if that is another one, what
/// fits did before it was a setting if it came later, and what it must be: `from 1 to 8`, `above 0 to 1`, `from 0 to below 1`, `at most 100`, a text where a range does not say all, or
/// `any`. The fields are written to model files in this order.
macro_rules! settings {
    (
        $(#[$outer:meta])*
        pub struct $group:ident {
            $(
                $(#[doc = $help:literal])+
                $name:ident: $type:ty = $default:expr $(, paper $paper:expr)? $(, before $before:expr)?, [$($range:tt)+];
            )+
        }
    ) => {
        $(#[$outer])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        #[non_exhaustive]
        pub struct $group {
            $($(#[doc = $help])+ pub $name: $type,)+
        }

        impl Default for $group {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        impl $group {
            $(
                #[doc = concat!("The same settings with this `", stringify!($name), "`.")]
                #[must_use]
                pub fn $name(mut self, $name: $type) -> Self {
                    self.$name = $name;
                    self
                }
            )+

            /// Every setting, in order.
            pub fn declared() -> &'static [$crate::settings::Setting] {
                use $crate::settings::{Field, Setting};
                static DECLARED: std::sync::LazyLock<Vec<Setting>> = std::sync::LazyLock::new(|| {
                    let (default, paper) = ($group::default(), $group::with_values_of_the_paper());
                    vec![$(Setting {
                        name: stringify!($name),
                        kind: <$type as Field>::KIND,
                        default: default.$name.value(),
                        paper: (paper.$name != default.$name).then(|| paper.$name.value()),
                        before: before!($type $(, $before)?),
                        range: must!($($range)+),
                        help: sentence!($($help)+),
                    },)+]
                });
                &DECLARED
            }

            /// The defaults, but for what the paper has otherwise.
            fn with_values_of_the_paper() -> Self {
                let paper = Self::default();
                $($(let paper = Self { $name: $paper, ..paper };)?)+
                paper
            }

            /// Every setting by name, with its value.
            pub fn values(&self) -> Vec<(&'static str, $crate::settings::Value)> {
                use $crate::settings::Field;
                vec![$((stringify!($name), self.$name.value()),)+]
            }

            /// Sets a setting by its name. Its range is checked by `validate`.
            ///
            /// # Errors
            /// If there is no such setting, or the value is of another kind.
            pub fn set(&mut self, name: &str, value: &$crate::settings::Value) -> $crate::Result<()> {
                use $crate::settings::{Field, unknown, wrong_kind};
                match name {
                    $(stringify!($name) => {
                        let kind = <$type as Field>::KIND;
                        self.$name = <$type as Field>::of(value)
                            .ok_or_else(|| wrong_kind(stringify!($name), kind, value))?;
                    })+
                    _ => return Err(unknown(name, Self::declared().iter().map(|setting| setting.name))),
                }
                Ok(())
            }

            /// Checks each setting against its own range.
            fn check_ranges(&self) -> $crate::Result<()> {
                use $crate::settings::Field;
                $(if let Some(range) = range!($($range)+) {
                    range.check(stringify!($name), &self.$name.value())?;
                })+
                Ok(())
            }
        }
    };
}

/// What fits did before something was a setting.
macro_rules! before {
    ($type:ty) => {
        None
    };
    ($type:ty, $before:expr) => {
        Some(<$type as $crate::settings::Field>::value(&$before))
    };
}

/// The lines of a comment as one sentence.
macro_rules! sentence {
    ($($line:literal)+) => { concat!($($line),+).trim_ascii() };
}

/// What a setting must be, in words.
macro_rules! must {
    (any) => { None };
    ($text:literal) => { Some($text) };
    ($($range:tt)+) => { range!($($range)+).map(|range| range.must) };
}

/// The range of a setting, where it has one of its own.
macro_rules! range {
    (any) => { None::<$crate::settings::Range> };
    ($text:literal) => { None::<$crate::settings::Range> };
    (from $low:literal to $high:literal) => {
        range!(from $low to $high, concat!("from ", $low, " to ", $high))
    };
    (from $low:literal to $high:literal, $must:expr) => { range!(@ $low, $high, false, false, $must) };
    (from $low:literal to below $high:literal) => {
        range!(@ $low, $high, false, true, concat!("from ", $low, " to below ", $high))
    };
    (above $low:literal to $high:literal) => {
        range!(@ $low, $high, true, false, concat!("above ", $low, " and at most ", $high))
    };
    (at most $high:literal) => { range!(@ 0, $high, false, false, concat!("at most ", $high)) };
    (@ $low:literal, $high:literal, $open_low:literal, $open_high:literal, $must:expr) => {
        Some($crate::settings::Range {
            low: $low as f64,
            high: $high as f64,
            open_low: $open_low,
            open_high: $open_high,
            must: $must,
        })
    };
}
