//! Progress on standard error, where that is a terminal; nothing elsewhere.

use std::ops::ControlFlow;
use std::time::Duration;

use diad::table::printable;
use diad::{Progress, TuneProgress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::{log, stop};

/// A progress bar that does not break up log lines.
fn bar(bar: ProgressBar) -> ProgressBar {
    if log::is_busy() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar
}

/// Shows that a table is being read, until it is dropped.
pub struct Reading(ProgressBar);

impl Reading {
    pub fn start(name: &str) -> Self {
        Self::start_with(&format!("Reading {}", printable(name)))
    }

    /// Shows that something else is being done.
    pub fn start_with(message: &str) -> Self {
        tracing::info!("{}", printable(message));
        let spinner = bar(ProgressBar::new_spinner()).with_message(message.to_owned());
        spinner.enable_steady_tick(Duration::from_millis(100));
        Self(spinner)
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// The progress of a training, until dropped.
pub struct Training(ProgressBar);

impl Training {
    pub fn start(steps: usize) -> Self {
        let style = ProgressStyle::with_template("Training {bar:30} {percent:>3}%  {msg}  {eta} left");
        tracing::info!(steps, "training");
        let bar = bar(ProgressBar::new(steps as u64));
        Self(style.map_or(bar.clone(), |style| bar.with_style(style)))
    }

    /// Shows a step; stops the training after Ctrl-C.
    pub fn step(&self, progress: Progress) -> ControlFlow<()> {
        if progress.step.is_multiple_of(100) {
            let Progress { step, loss, temperature, .. } = progress;
            tracing::debug!(step, loss, temperature, "training");
        }
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

/// The progress of a tuning, until dropped.
pub struct Tuning(ProgressBar);

impl Tuning {
    pub fn start() -> Self {
        let style = ProgressStyle::with_template("Tuning {spinner} {bar:30} {pos}/{len}");
        tracing::info!("tuning");
        let bar = bar(ProgressBar::new(1));
        let bar = style.map_or(bar.clone(), |style| bar.with_style(style));
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }

    /// Shows a step; stops the tuning after Ctrl-C.
    pub fn step(&self, progress: TuneProgress) -> ControlFlow<()> {
        self.0.set_length(progress.all as u64);
        self.0.set_position(progress.done as u64);
        if stop::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Drop for Tuning {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
