//! The benchmarks of DIAD: accuracy on the paper's data sets, robustness to noise, speed and peers.

mod contest;
mod data;
mod environment;
mod evaluate;
mod few_labels;
mod growth;
mod noise;
mod options;
mod paper;
mod peers;
mod python;
mod raw;
mod recipes;
mod render;
mod runs;
mod sets;
mod small;
mod speed;
mod stats;
mod summary;
mod unsupervised;

use clap::{Parser, Subcommand};

/// Measures DIAD against the paper, against other detectors and against PyTorch.
#[derive(Debug, Parser)]
#[command(name = "diad-bench", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// AUC without labels on the paper's 18 sets.
    Unsupervised(unsupervised::Options),
    /// AUC with 50 columns of noise added, beside the clean result.
    Noise(noise::Options),
    /// Tables with texts and gaps, as they come, against the same tables prepared as numbers.
    Raw(raw::Options),
    /// Speed of training and scoring, and peak memory.
    Speed(speed::Options),
    /// Time, memory and size against other programs.
    Contest(contest::Options),
    /// How time grows with rows, columns and trees.
    Growth(growth::Options),
    /// AUC of other detectors on the same sets.
    Peers(peers::Options),
    /// AUC with few labels: the paper's table, and supervised methods on the same splits.
    FewLabels(few_labels::Options),
    /// What each part of tuning is good for.
    Ablation(few_labels::Options),
    /// Few labels with smaller validation parts.
    ValidationSize(few_labels::Options),
    /// The search for the default settings.
    Recipes(recipes::Options),
    /// Small tables and tables of two-valued columns, against IsolationForest.
    Small(small::Options),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Unsupervised(options) => unsupervised::run(&options),
        Command::Noise(options) => noise::run(&options),
        Command::Raw(options) => raw::run(&options),
        Command::Speed(options) => speed::run(&options),
        Command::Contest(options) => contest::run(&options),
        Command::Growth(options) => growth::run(&options),
        Command::Peers(options) => peers::run(&options),
        Command::FewLabels(options) => few_labels::run(&options),
        Command::Ablation(options) => few_labels::run_ablation(&options),
        Command::ValidationSize(options) => few_labels::run_validation_size(&options),
        Command::Recipes(options) => recipes::run(&options),
        Command::Small(options) => small::run(&options),
    }
}
