//! How messages name settings: plainly, or as options of the command line.

use super::Error;
use crate::table::quoted;

/// How a message names settings and what is said about columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Naming {
    /// By their names in Rust and Python: `learning_rate`.
    Names,
    /// As options of the command line: `--learning-rate`.
    Options,
}

impl Naming {
    fn name(self, name: &str) -> String {
        match self {
            Self::Names => name.to_owned(),
            Self::Options => format!("--{}", name.replace('_', "-")),
        }
    }
}

impl Error {
    /// The message, with settings named that way. [`ToString`] gives that of [`Naming::Names`].
    ///
    /// ```
    /// use diad::{Naming, Error};
    ///
    /// let said = Error::TuningDiverged.message(Naming::Options);
    /// assert!(said.ends_with("use a smaller --learning-rate"), "{said}");
    /// ```
    pub fn message(&self, naming: Naming) -> String {
        match (self, naming) {
            (Self::Setting { name, value, must }, Naming::Options) => out_of_range(name, value, must),
            (Self::SettingKind { name, value, must }, Naming::Options) => out_of_range(name, value, must),
            (Self::OtherLearner { name, learner }, _) => other_learner(naming, name, learner),
            (Self::Diverged, _) => diverged(naming),
            (Self::TuningDiverged, _) => tuning_diverged(naming),
            (Self::TimeColumn { columns }, _) => time_column(naming, columns),
            (Self::AllLeftOut { name, reason, can_be_told }, _) => {
                all_left_out(naming, name, reason, *can_be_told)
            }
            _ => self.to_string(),
        }
    }
}

fn out_of_range(name: &str, value: &str, must: &str) -> String {
    format!("{} is {value}, but it must be {must}", name.replace('_', "-"))
}

pub fn other_learner(naming: Naming, name: &str, learner: &str) -> String {
    format!("{} only applies to {} {learner}; remove it", naming.name(name), naming.name("learner"))
}

pub fn diverged(naming: Naming) -> String {
    format!(
        "the training diverged; use a larger {} or a smaller {}",
        naming.name("smoothing"),
        naming.name("learning_rate")
    )
}

pub fn tuning_diverged(naming: Naming) -> String {
    format!("the tuning diverged; use a smaller {}", naming.name("learning_rate"))
}

pub fn time_column(naming: Naming, columns: &str) -> String {
    let time = naming.name("time");
    match columns.is_empty() {
        true => format!(
            "the model has no column of times, which a budget counts by; name one of the table with {time}"
        ),
        false => format!("the model has several columns of times, {columns}; name one with {time}"),
    }
}

pub fn all_left_out(naming: Naming, name: &str, reason: &str, can_be_told: bool) -> String {
    let remedy = match can_be_told {
        false => String::new(),
        true => {
            format!("say what it is with {} or {}, or ", naming.name("numeric"), naming.name("categorical"))
        }
    };
    format!(
        "no column is left to learn from: column {} is left out because {reason}; {remedy}give more columns",
        quoted(name)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_options_on_the_command_line_alone() {
        let left_out =
            Error::AllLeftOut { name: "id".into(), reason: "all its values are missing", can_be_told: false };
        assert_eq!(left_out.to_string(), left_out.message(Naming::Options));
        let share = crate::Params::default().feature_share(2.0).validate().unwrap_err();
        assert!(share.to_string().starts_with("feature_share is 2, "), "{share}");
        assert!(share.message(Naming::Options).starts_with("feature-share is 2, "));
        let diverged = Error::Diverged;
        assert!(diverged.to_string().ends_with("use a larger smoothing or a smaller learning_rate"));
        let options = diverged.message(Naming::Options);
        assert!(options.ends_with("use a larger --smoothing or a smaller --learning-rate"), "{options}");
    }
}
