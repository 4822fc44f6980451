//! The settings of a fit as options, and back as lines of text.

use clap::Args;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use diad::{Params, Scale};

/// Every setting of a fit.
#[derive(Args)]
#[command(next_help_heading = "Settings of the training")]
pub struct Settings {
    /// How columns are scaled: in proportion, or bent so that huge values do not squeeze all others together
    #[arg(long, value_name = "SCALE", default_value = name(Params::default().scale), value_parser = scales())]
    scale: Scale,
    /// Whether the score counts how far into the tails of its columns a row lies
    #[arg(long, value_name = "true|false", default_value_t = Params::default().tails, action = clap::ArgAction::Set)]
    tails: bool,
    /// How many pairs of columns at most get a table of their sparsity; 0 for none
    #[arg(long, value_name = "N", default_value_t = Params::default().tables)]
    tables: usize,
    /// Layers of trees; a layer's trees may build on the outputs of all earlier layers
    #[arg(long, value_name = "N", default_value_t = Params::default().layers)]
    layers: usize,
    /// Trees in each layer
    #[arg(long, value_name = "N", default_value_t = Params::default().trees)]
    trees: usize,
    /// Splits in each tree; a tree has 2^depth leaves
    #[arg(long, value_name = "N", default_value_t = Params::default().depth)]
    depth: usize,
    /// Outputs of each tree: the first is its score, all are offered to later layers
    #[arg(long, value_name = "N", default_value_t = Params::default().outputs)]
    outputs: usize,
    /// Length of the attention keys and queries between layers
    #[arg(long, value_name = "N", default_value_t = Params::default().attention)]
    attention: usize,
    /// Share of the features a tree may choose from (at least two)
    #[arg(long, value_name = "X", default_value_t = Params::default().feature_share)]
    feature_share: f64,
    /// Most features a tree may use: 2 for a GA²M, 1 for a GAM
    #[arg(long, value_name = "N", default_value_t = Params::default().interactions)]
    interactions: usize,
    /// Rows per training step, and uniform points per step
    #[arg(long, value_name = "N", default_value_t = Params::default().batch)]
    batch: usize,
    /// Training steps
    #[arg(long, value_name = "N", default_value_t = Params::default().steps)]
    steps: usize,
    /// Steps over which the learning rate rises to its full value [default: 1000, at most half the steps]
    #[arg(long, value_name = "N")]
    warmup: Option<usize>,
    /// Adam's learning rate after the warm-up
    #[arg(long, value_name = "X", default_value_t = Params::default().learning_rate)]
    learning_rate: f64,
    /// Steps over which the temperature falls from 1 to its minimum [default: 1000, at most half the steps]
    #[arg(long, value_name = "N")]
    anneal: Option<usize>,
    /// The temperature of the splits after annealing, in training and in scoring
    #[arg(long, value_name = "X", default_value_t = Params::default().min_temperature)]
    min_temperature: f64,
    /// Added to the count and the volume of every leaf
    #[arg(long, value_name = "X", default_value_t = Params::default().smoothing)]
    smoothing: f64,
    /// Share of the new sparsity in each update of the leaf weights
    #[arg(long, value_name = "X", default_value_t = Params::default().damping)]
    damping: f64,
    /// Chance that a tree is left out of the loss at a step
    #[arg(long, value_name = "X", default_value_t = Params::default().dropout)]
    dropout: f64,
    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = Params::default().seed)]
    seed: u64,
}

/// A scale by the name of its option.
fn name(scale: Scale) -> &'static str {
    match scale {
        Scale::Linear => "linear",
        Scale::Bent => "bent",
    }
}

fn scales() -> impl TypedValueParser<Value = Scale> {
    PossibleValuesParser::new(["linear", "bent"])
        .map(|given| if given == "bent" { Scale::Bent } else { Scale::Linear })
}

/// The default settings for that many steps: few steps shorten the warm-up and the annealing.
pub fn with_steps(steps: usize) -> Params {
    let default = Params::default();
    Params { steps, warmup: default.warmup.min(steps / 2), anneal: default.anneal.min(steps / 2), ..default }
}

impl From<Settings> for Params {
    fn from(settings: Settings) -> Self {
        let default = with_steps(settings.steps);
        Self {
            scale: settings.scale,
            tails: settings.tails,
            tables: settings.tables,
            layers: settings.layers,
            trees: settings.trees,
            depth: settings.depth,
            outputs: settings.outputs,
            attention: settings.attention,
            feature_share: settings.feature_share,
            interactions: settings.interactions,
            batch: settings.batch,
            steps: settings.steps,
            warmup: settings.warmup.unwrap_or(default.warmup),
            learning_rate: settings.learning_rate,
            anneal: settings.anneal.unwrap_or(default.anneal),
            min_temperature: settings.min_temperature,
            smoothing: settings.smoothing,
            damping: settings.damping,
            dropout: settings.dropout,
            seed: settings.seed,
        }
    }
}

/// Every setting by the name of its option, with its value.
pub fn listed(params: &Params) -> [(&'static str, String); 20] {
    [
        ("scale", name(params.scale).to_owned()),
        ("tails", params.tails.to_string()),
        ("tables", params.tables.to_string()),
        ("layers", params.layers.to_string()),
        ("trees", params.trees.to_string()),
        ("depth", params.depth.to_string()),
        ("outputs", params.outputs.to_string()),
        ("attention", params.attention.to_string()),
        ("feature-share", params.feature_share.to_string()),
        ("interactions", params.interactions.to_string()),
        ("batch", params.batch.to_string()),
        ("steps", params.steps.to_string()),
        ("warmup", params.warmup.to_string()),
        ("learning-rate", params.learning_rate.to_string()),
        ("anneal", params.anneal.to_string()),
        ("min-temperature", params.min_temperature.to_string()),
        ("smoothing", params.smoothing.to_string()),
        ("damping", params.damping.to_string()),
        ("dropout", params.dropout.to_string()),
        ("seed", params.seed.to_string()),
    ]
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
    fn the_defaults_are_those_of_the_library() {
        assert_eq!(params(&[]), Params::default());
    }

    #[test]
    fn every_setting_has_an_option_and_is_listed() {
        let params_json = serde_json::to_value(Params::default()).unwrap();
        let names = listed(&Params::default()).map(|(name, _)| name);
        for field in params_json.as_object().unwrap().keys() {
            assert!(names.contains(&field.replace('_', "-").as_str()), "{field} is not listed");
        }
    }

    fn plain(value: &serde_json::Value) -> String {
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    }

    #[test]
    fn every_option_sets_its_own_setting() {
        // No value is another's or a default, so that no two can be mixed up unseen.
        let given = Params {
            scale: Scale::Bent,
            tails: true,
            tables: 77,
            layers: 4,
            trees: 301,
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
            .map(|(field, value)| format!("--{}={}", field.replace('_', "-"), plain(value)))
            .collect();
        assert_eq!(params(&args.iter().map(String::as_str).collect::<Vec<&str>>()), given);
        for (name, value) in listed(&given) {
            assert_eq!(value, plain(&options[&name.replace('-', "_")]), "{name}");
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
