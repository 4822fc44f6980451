//! The benchmarks of DIAD: accuracy on the paper's data sets, robustness to noise, speed and peers.

mod data;
mod environment;
mod evaluate;
mod guards;
mod options;
mod paper;
mod picture;
mod python;
mod render;
mod research;
mod rivals;
mod runs;
mod sets;
mod stats;
mod study;
mod summary;

use clap::{Parser, Subcommand};

use crate::guards::alerts::Alerts;
use crate::guards::contest::Contest;
use crate::guards::drift::DriftStudy;
use crate::guards::few_labels::{MainTable, Tuning};
use crate::guards::growth::Growth;
use crate::guards::next::NextRows;
use crate::guards::noise::Noise;
use crate::guards::peers::Peers;
use crate::guards::planted::PlantedRows;
use crate::guards::raw::RawTables;
use crate::guards::reasons::Reasons;
use crate::guards::regressions::Regressions;
use crate::guards::segments::SegmentsStudy;
use crate::guards::small::Small;
use crate::guards::speed::Speed;
use crate::guards::unsupervised::Unsupervised;
use crate::research::reproduce::Reproduce;
use crate::research::tuning::{Ablation, ValidationSize};
use crate::rivals::Forests;
use crate::study::Options;

/// Measures DIAD against the paper, against other detectors and against PyTorch.
#[derive(Debug, Parser)]
#[command(name = "diad-bench", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The default settings on 199 tables, against other detectors.
    Regressions(Options<Regressions>),
    /// P-values and false discovery rates on rows never seen.
    Alerts(Options<Alerts>),
    /// Drift: false alarms, and changes that are there.
    Drift(Options<DriftStudy>),
    /// Baselines of segments: alarms, and time.
    Segments(Options<SegmentsStudy>),
    /// Which row to label next, with an oracle.
    Next(Options<NextRows>),
    /// Made-up tables with known oddities: are they found, and for the right reason?
    Planted(Options<PlantedRows>),
    /// Whether reasons are small, the same with another seed, and shared by a column and its copy.
    Reasons(Options<Reasons>),
    /// AUC without labels on the paper's 18 sets.
    Unsupervised(Options<Unsupervised>),
    /// AUC with 50 columns of noise added, beside the clean result.
    Noise(Options<Noise>),
    /// Tables with texts and gaps, as they come, against the same tables prepared as numbers.
    Raw(Options<RawTables>),
    /// Speed of training and scoring, and peak memory.
    Speed(Options<Speed>),
    /// Time, memory and size against other programs.
    Contest(Options<Contest>),
    /// How time grows with rows, columns and trees.
    Growth(Options<Growth>),
    /// AUC of other detectors on the same sets.
    Peers(Options<Peers>),
    /// AUC of PIDForest and GIF, written from their papers.
    Forests(Options<Forests>),
    /// AUC with few labels: the paper's table, and supervised methods on the same splits.
    FewLabels(Options<Tuning<MainTable>>),
    /// What each part of tuning is good for.
    Ablation(Options<Tuning<Ablation>>),
    /// Few labels with smaller validation parts.
    ValidationSize(Options<Tuning<ValidationSize>>),
    /// Every table of the paper, one after the other, and a page that puts them beside ours.
    Reproduce(Reproduce),
    /// Small tables and tables of two-valued columns, against IsolationForest.
    Small(Options<Small>),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Regressions(options) => options.run(),
        Command::Alerts(options) => options.run(),
        Command::Drift(options) => options.run(),
        Command::Segments(options) => options.run(),
        Command::Next(options) => options.run(),
        Command::Planted(options) => options.run(),
        Command::Reasons(options) => options.run(),
        Command::Unsupervised(options) => options.run(),
        Command::Noise(options) => options.run(),
        Command::Raw(options) => options.run(),
        Command::Speed(options) => options.run(),
        Command::Contest(options) => options.run(),
        Command::Growth(options) => options.run(),
        Command::Peers(options) => options.run(),
        Command::Forests(options) => options.run(),
        Command::FewLabels(options) => options.run(),
        Command::Ablation(options) => options.run(),
        Command::ValidationSize(options) => options.run(),
        Command::Reproduce(options) => options.run(),
        Command::Small(options) => options.run(),
    }
}
