//! Messages on standard error: text, or JSON Lines for programs; with -v, also progress.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;
use diad::table::printable;
use tracing::Level;
use tracing_subscriber::filter::LevelFilter;

/// Format of the messages on stderr.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub enum Format {
    /// Plain text
    Text,
    /// One JSON object per line
    Json,
}

static JSON: AtomicBool = AtomicBool::new(false);
static VERBOSE: AtomicBool = AtomicBool::new(false);

/// Starts logging: warnings; from 1 on also progress, from 2 on also details.
pub fn start(verbosity: u8, format: Format) {
    let level = match verbosity {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    JSON.store(format == Format::Json, Ordering::Relaxed);
    VERBOSE.store(verbosity > 0, Ordering::Relaxed);
    let builder = tracing_subscriber::fmt().with_max_level(level).with_writer(io::stderr);
    // Fails only if called twice.
    let _ = match format {
        Format::Text => builder.with_ansi(io::stderr().is_terminal()).try_init(),
        Format::Json => builder.json().flatten_event(true).with_current_span(false).try_init(),
    };
}

/// Whether log lines are interleaved with other output on standard error.
pub fn is_busy() -> bool {
    VERBOSE.load(Ordering::Relaxed) || JSON.load(Ordering::Relaxed)
}

/// An error.
pub fn complain(sentence: &str) {
    say(Level::ERROR, "", sentence);
}

/// A warning.
pub fn warn(sentence: &str) {
    say(Level::WARN, "warning: ", sentence);
}

/// A note.
pub fn note(sentence: &str) {
    say(Level::WARN, "note: ", sentence);
}

fn say(level: Level, kind: &str, sentence: &str) {
    let sentence = printable(sentence);
    match (JSON.load(Ordering::Relaxed), level) {
        (true, Level::ERROR) => tracing::error!("{kind}{sentence}"),
        (true, _) => tracing::warn!("{kind}{sentence}"),
        // If standard error is closed, there is nowhere to report it.
        (false, _) => drop(writeln!(io::stderr(), "diad: {kind}{sentence}")),
    }
}
