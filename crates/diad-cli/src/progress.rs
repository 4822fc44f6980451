//! Progress on standard error, where that is a terminal; nothing elsewhere.

use std::ops::ControlFlow;
use std::time::Duration;

use diad::Progress;
use diad::table::printable;
use indicatif::{ProgressBar, ProgressStyle};

use crate::stop;

/// Shows that a table is being read, until it is dropped.
pub struct Reading(ProgressBar);

impl Reading {
    pub fn start(name: &str) -> Self {
        let spinner = ProgressBar::new_spinner().with_message(format!("Reading {}", printable(name)));
        spinner.enable_steady_tick(Duration::from_millis(100));
        Self(spinner)
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Shows how far a training is, until it is dropped.
pub struct Training(ProgressBar);

impl Training {
    pub fn start(steps: usize) -> Self {
        let style = ProgressStyle::with_template("Training {bar:30} {percent:>3}%  {msg}  {eta} left");
        let bar = ProgressBar::new(steps as u64);
        Self(style.map_or(bar.clone(), |style| bar.with_style(style)))
    }

    /// Shows a step; breaks the training off once Ctrl-C was pressed.
    pub fn step(&self, progress: Progress) -> ControlFlow<()> {
        self.0.set_position(progress.step as u64);
        self.0.set_message(format!("loss {:.4}  temperature {:.2}", progress.loss, progress.temperature));
        if stop::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Drop for Training {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
