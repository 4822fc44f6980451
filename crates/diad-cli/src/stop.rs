//! Ctrl-C stops cleanly; a second Ctrl-C ends at once.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use diad::table::{Source, Stoppable};

static REQUESTED: AtomicBool = AtomicBool::new(false);
/// Whether the program does nothing but wait for input, and leaves nothing behind.
static WAITING: AtomicBool = AtomicBool::new(false);

/// Listens for Ctrl-C from now on.
pub fn listen() -> Result<()> {
    ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) || WAITING.load(Ordering::Relaxed) {
            std::process::exit(crate::STOPPED.into());
        }
    })
    .context("cannot listen for Ctrl-C")
}

/// Waits for input, which Ctrl-C ends at once.
pub fn waiting<T>(wait: impl FnOnce() -> T) -> T {
    WAITING.store(true, Ordering::Relaxed);
    let found = wait();
    WAITING.store(false, Ordering::Relaxed);
    found
}

/// Whether Ctrl-C was pressed.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// The same table; reading it fails once Ctrl-C is pressed.
pub fn stoppable(source: &dyn Source) -> Stoppable<'_, fn() -> bool> {
    Stoppable::new(source, requested)
}

/// Whether the error comes from Ctrl-C.
pub fn is_stop(error: &anyhow::Error) -> bool {
    requested()
        || matches!(error.downcast_ref(), Some(diad::Error::Stopped))
        || matches!(error.downcast_ref(), Some(diad::table::Error::Stopped))
}
