//! The declared settings as options.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use diad::settings::{Kind, Setting, Value, Word};
use diad::{Learner, Naming, Params};

/// The settings of a fit.
#[derive(Clone)]
pub struct FitSettings(Given);

/// The settings of a tuning.
#[derive(Clone)]
pub struct TuneSettings(Given);

/// What was given: the preset or learner, if any, and settings by name.
#[derive(Clone)]
struct Given {
    choice: Option<String>,
    settings: Vec<(&'static str, Value)>,
}

impl FitSettings {
    /// The settings of a fit, checked.
    pub fn params(&self) -> diad::Result<Params> {
        let preset = self.0.choice.as_deref().unwrap_or("default");
        Params::of(preset, self.0.settings.iter().cloned())
    }
}

impl TuneSettings {
    /// The learner and its settings, checked.
    pub fn learner(&self) -> diad::Result<Learner> {
        Learner::of(self.0.choice.as_deref(), self.0.settings.iter().cloned())
    }
}

impl Args for FitSettings {
    fn augment_args(command: Command) -> Command {
        let preset = choice("preset", "The settings to start from", Params::PRESETS).default_value("default");
        let heading = "Settings of the training";
        let options = Params::declared().iter().map(option);
        command.args(std::iter::once(preset).chain(options).map(|option| option.help_heading(heading)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FitSettings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(Given::of(matches, "preset", Params::declared().iter())))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for TuneSettings {
    fn augment_args(command: Command) -> Command {
        let help = "How to learn [default: functions, or descent if --loss is given]";
        let learner = choice("learner", help, Learner::NAMES).help_heading("Settings of the tuning");
        let options = Learner::declared().into_iter().map(|(setting, learners)| match learners[..] {
            [only] => option(setting).help_heading(format!("Settings of --learner {only}")),
            _ => option(setting).help_heading("Settings of the tuning"),
        });
        command.arg(learner).args(options)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for TuneSettings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let declared = Learner::declared();
        Ok(Self(Given::of(matches, "learner", declared.into_iter().map(|(setting, _)| setting))))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Given {
    fn of(matches: &ArgMatches, choice: &str, declared: impl Iterator<Item = &'static Setting>) -> Self {
        let given =
            |setting: &'static Setting| Some((setting.name, matches.get_one::<Value>(setting.name)?.clone()));
        Self {
            choice: matches.get_one::<String>(choice).cloned(),
            settings: declared.filter_map(given).collect(),
        }
    }
}

/// The option of a choice among words.
fn choice(name: &'static str, help: &'static str, words: &[Word]) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name("NAME")
        .help(help)
        .value_parser(PossibleValuesParser::new(named(words)))
}

fn named(words: &[Word]) -> Vec<PossibleValue> {
    words.iter().map(|word| PossibleValue::new(word.name).help(word.help)).collect()
}

/// The option of a setting.
fn option(setting: &'static Setting) -> Arg {
    let mut notes = vec![format!("default: {}", setting.default.typed())];
    notes.extend(setting.paper.as_ref().map(|paper| format!("paper: {}", paper.typed())));
    notes.extend(setting.range.map(str::to_owned));
    let help = format!("{} [{}]", setting.help, notes.join("; "));
    let option = Arg::new(setting.name).long(setting.option()).help(help).allow_negative_numbers(true);
    match setting.kind {
        Kind::Word(words) => {
            let parser = PossibleValuesParser::new(named(words)).map(Value::Word);
            option.value_name("NAME").value_parser(parser)
        }
        // --name alone turns it on; --name=false turns it off.
        Kind::Switch => option
            .value_name("true|false")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_parser(Typed(setting)),
        Kind::Count => option.value_name("N").value_parser(Typed(setting)),
        _ => option.value_name("X").value_parser(Typed(setting)),
    }
}

/// Reads the value of a setting.
#[derive(Clone)]
struct Typed(&'static Setting);

impl TypedValueParser for Typed {
    type Value = Value;

    fn parse_ref(
        &self,
        command: &Command,
        _: Option<&Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<Value, clap::Error> {
        self.0.parse(&value.to_string_lossy()).map_err(|error| {
            clap::Error::raw(ErrorKind::ValueValidation, error.message(Naming::Options)).with_cmd(command)
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Fit {
        #[command(flatten)]
        settings: FitSettings,
    }

    #[derive(Parser)]
    struct Tune {
        #[command(flatten)]
        settings: TuneSettings,
    }

    fn params(args: &[&str]) -> Params {
        Fit::parse_from([&["fit"], args].concat()).settings.params().unwrap()
    }

    fn learner(args: &[&str]) -> Learner {
        Tune::parse_from([&["tune"], args].concat()).settings.learner().unwrap()
    }

    #[test]
    fn the_presets_are_those_of_the_library() {
        assert_eq!(params(&[]), Params::default());
        assert_eq!(params(&["--preset", "paper"]), Params::paper());
        assert_eq!(params(&["--preset", "paper", "--trees", "9"]), Params::paper().trees(9));
        assert_eq!(params(&["--steps", "100"]), Params::default().with_steps(100));
    }

    #[test]
    fn every_setting_has_an_option() {
        let wanted = Params::paper().steps(2001).seed(7);
        let args: Vec<String> =
            wanted.listed().into_iter().map(|(name, value)| format!("--{name}={value}")).collect();
        assert_eq!(params(&args.iter().map(String::as_str).collect::<Vec<_>>()), wanted);
        let command = <Tune as clap::CommandFactory>::command();
        for (setting, _) in Learner::declared() {
            assert!(command.get_arguments().any(|option| option.get_long() == Some(&setting.option())));
        }
    }

    #[test]
    fn switches_can_be_turned_on_and_off() {
        let Learner::Descent(given) = learner(&["--loss", "bce", "--freeze-structure", "--upsample=false"])
        else {
            panic!("a loss descends");
        };
        assert!(given.freeze_structure && !given.upsample && given.loss == diad::Loss::Bce);
        assert_eq!(
            learner(&["--prior", "0", "--seed", "3"]),
            diad::FunctionParams::default().prior(0.0).seed(3).into()
        );
    }
}
