//! The settings of a fit as options.

use std::fmt::Display;

use clap::{Args, ValueEnum};
use diad::{Params, Scale};

/// Where the settings start from.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub enum Preset {
    /// What did best over many tables
    Default,
    /// What the paper describes: trees alone, three times as many, trained twice as long
    Paper,
}

impl Preset {
    fn params(self) -> Params {
        match self {
            Self::Default => Params::default(),
            Self::Paper => Params::paper(),
        }
    }
}

/// The help of a setting, with its default.
fn help<T: Display + PartialEq>(text: &str, default: T, paper: T) -> String {
    if default == paper {
        format!("{text} [default: {default}]")
    } else {
        format!("{text} [default: {default}; paper: {paper}]")
    }
}

/// Declares every setting once: as an option and as a field of [`Params`].
macro_rules! settings {
    ($($name:ident: $type:ty, $value:literal, $text:literal;)*) => {
        /// Every setting of a fit.
        #[derive(Args)]
        #[command(next_help_heading = "Settings of the training")]
        pub struct Settings {
            /// The settings to start from
            #[arg(long, value_enum, value_name = "NAME", default_value_t = Preset::Default)]
            preset: Preset,
            $(#[arg(
                long,
                value_name = $value,
                help = help($text, shown(&Params::default().$name), shown(&Params::paper().$name)),
            )]
            $name: Option<$type>,)*
        }

        impl From<Settings> for Params {
            fn from(given: Settings) -> Self {
                let preset = given.preset.params();
                let preset = given.steps.map_or(preset.clone(), |steps| preset.with_steps(steps));
                Self { $($name: given.$name.map_or(preset.$name, Into::into),)* }
            }
        }
    };
}

settings! {
    scale: Scales, "SCALE", "In which scale the model sees columns: in proportion, bent so that huge values do not squeeze all others together, or both";
    weight_trees: f64, "X", "Weight of the trees in the score; 0 trains none";
    weight_tails: f64, "X", "Weight of how far into the tails of its columns a row lies";
    weight_isolation: f64, "X", "Weight of how soon a row is alone when rows are cut apart at random, in planes of two columns";
    weight_clusters: f64, "X", "Weight of the same with cuts that look for small groups of rows";
    weight_surprise: f64, "X", "Weight of how much rarer two values are together than their columns alone would have it";
    layers: usize, "N", "Layers of trees; a layer's trees may build on the outputs of all earlier layers";
    trees: usize, "N", "Trees in each layer";
    grove: usize, "N", "Trees of a layer that build on the same earlier trees; where there are more, they form several groves";
    depth: usize, "N", "Splits in each tree; a tree has 2^depth leaves";
    outputs: usize, "N", "Outputs of each tree: the first is its score, all are offered to later layers";
    attention: usize, "N", "Length of the attention keys and queries between layers";
    feature_share: f64, "X", "Share of the features a tree may choose from (at least two)";
    interactions: usize, "N", "Most features a tree may use: 2 for a GA²M, 1 for a GAM";
    batch: usize, "N", "Rows per training step, and uniform points per step";
    steps: usize, "N", "Training steps";
    warmup: usize, "N", "Steps over which the learning rate rises to its full value, at most half the steps";
    learning_rate: f64, "X", "Adam's learning rate after the warm-up";
    anneal: usize, "N", "Steps over which the temperature falls from 1 to its minimum, at most half the steps";
    min_temperature: f64, "X", "The temperature of the splits after annealing, in training and in scoring";
    smoothing: f64, "X", "Added to the count and the volume of every leaf";
    damping: f64, "X", "Share of the new sparsity in each update of the leaf weights";
    dropout: f64, "X", "Chance that a tree is left out of the loss at a step";
    seed: u64, "N", "Seed of every random choice";
}

/// The scales by the names of their options.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub enum Scales {
    Linear,
    Bent,
    Both,
}

impl From<Scales> for Scale {
    fn from(scale: Scales) -> Self {
        match scale {
            Scales::Linear => Self::Linear,
            Scales::Bent => Self::Bent,
            Scales::Both => Self::Both,
        }
    }
}

/// A setting as it is typed.
fn shown<T: serde::Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        Ok(value) => value.to_string(),
        Err(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        settings: Settings,
    }

    fn params(args: &[&str]) -> Params {
        Line::parse_from([&["line"], args].concat()).settings.into()
    }

    #[test]
    fn the_presets_are_those_of_the_library() {
        assert_eq!(params(&[]), Params::default());
        assert_eq!(params(&["--preset", "paper"]), Params::paper());
        assert_eq!(params(&["--preset", "paper", "--trees", "9"]), Params { trees: 9, ..Params::paper() });
    }

    #[test]
    fn every_setting_has_an_option_and_is_listed() {
        let params_json = serde_json::to_value(Params::default()).unwrap();
        let listed = Params::default().listed();
        for field in params_json.as_object().unwrap().keys() {
            let name = field.replace('_', "-");
            assert!(listed.iter().any(|(listed, _)| *listed == name), "{field} is not listed");
        }
    }

    #[test]
    fn every_option_sets_its_own_setting() {
        // No value is another's or a default, so that no two can be mixed up unseen.
        let given = Params {
            scale: Scale::Bent,
            weight_trees: 1.25,
            weight_tails: 0.75,
            weight_isolation: 0.25,
            weight_clusters: 2.5,
            weight_surprise: 1.75,
            layers: 4,
            trees: 301,
            grove: 302,
            depth: 5,
            outputs: 6,
            attention: 13,
            feature_share: 0.45,
            interactions: 1,
            batch: 2049,
            steps: 2001,
            warmup: 1001,
            learning_rate: 0.002,
            anneal: 1002,
            min_temperature: 0.11,
            smoothing: 51.5,
            damping: 0.12,
            dropout: 0.76,
            seed: 14,
        };
        assert!(given.validate().is_ok());
        let options = serde_json::to_value(&given).unwrap();
        let options = options.as_object().unwrap();
        let values: std::collections::HashSet<String> = options.values().map(ToString::to_string).collect();
        assert_eq!(values.len(), options.len());
        let args: Vec<String> = options
            .iter()
            .map(|(field, value)| format!("--{}={}", field.replace('_', "-"), shown(value)))
            .collect();
        assert_eq!(params(&args.iter().map(String::as_str).collect::<Vec<&str>>()), given);
        for (name, value) in given.listed() {
            assert_eq!(value, shown(&options[&name.replace('-', "_")]), "{name}");
        }
    }

    #[test]
    fn few_steps_shorten_the_warmup_and_the_annealing() {
        let few = params(&["--steps", "100"]);
        assert_eq!((few.warmup, few.anneal), (50, 50));
        assert!(few.validate().is_ok());
        assert_eq!(params(&["--steps", "100", "--warmup", "80"]).warmup, 80);
    }
}
