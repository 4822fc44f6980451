//! What the program says on standard error: sentences for people, or one JSON object a line for programs; and with -v,
//! what it does.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;
use diad::table::printable;
use tracing::Level;
use tracing_subscriber::filter::LevelFilter;

/// How standard error is written.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub enum Format {
    /// Sentences and lines for people
    Text,
    /// One JSON object a line
    Json,
}

static JSON: AtomicBool = AtomicBool::new(false);
static VERBOSE: AtomicBool = AtomicBool::new(false);

/// Begins to log: warnings, with 1 also what is done, with 2 and more also its parts.
pub fn start(verbosity: u8, format: Format) {
    let level = match verbosity {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    JSON.store(format == Format::Json, Ordering::Relaxed);
    VERBOSE.store(verbosity > 0, Ordering::Relaxed);
    let builder = tracing_subscriber::fmt().with_max_level(level).with_writer(io::stderr);
    // Only a second start fails, and there is none.
    let _ = match format {
        Format::Text => builder.with_ansi(io::stderr().is_terminal()).try_init(),
        Format::Json => builder.json().flatten_event(true).with_current_span(false).try_init(),
    };
}

/// Whether lines of a log come between what else is on standard error.
pub fn is_busy() -> bool {
    VERBOSE.load(Ordering::Relaxed) || JSON.load(Ordering::Relaxed)
}

/// One sentence about an error.
pub fn complain(sentence: &str) {
    say(Level::ERROR, "", sentence);
}

/// One sentence about something that may not be as it should be.
pub fn warn(sentence: &str) {
    say(Level::WARN, "warning: ", sentence);
}

/// One sentence about something good to know.
pub fn note(sentence: &str) {
    say(Level::WARN, "note: ", sentence);
}

fn say(level: Level, kind: &str, sentence: &str) {
    let sentence = printable(sentence);
    match (JSON.load(Ordering::Relaxed), level) {
        (true, Level::ERROR) => tracing::error!("{kind}{sentence}"),
        (true, _) => tracing::warn!("{kind}{sentence}"),
        // Nobody is left to tell if standard error is closed.
        (false, _) => drop(writeln!(io::stderr(), "diad: {kind}{sentence}")),
    }
}
