//! Ctrl-C stops cleanly; a second Ctrl-C ends at once.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use diad::table::{Source, Stoppable};

static REQUESTED: AtomicBool = AtomicBool::new(false);
/// Whether the program does something that leaves nothing behind.
static HARMLESS: AtomicBool = AtomicBool::new(false);

/// Listens for Ctrl-C from now on.
pub fn listen() -> Result<()> {
    ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) || HARMLESS.load(Ordering::Relaxed) {
            std::process::exit(crate::STOPPED.into());
        }
    })
    .context("cannot listen for Ctrl-C")
}

/// Does something that leaves nothing behind, such as waiting for input or working out an explanation: Ctrl-C ends it at once.
pub fn at_once<T>(run: impl FnOnce() -> T) -> T {
    let before = HARMLESS.swap(true, Ordering::Relaxed);
    let done = run();
    HARMLESS.store(before, Ordering::Relaxed);
    done
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
    matches!(error.downcast_ref(), Some(diad::Error::Stopped))
        || matches!(error.downcast_ref(), Some(diad::table::Error::Stopped))
}
