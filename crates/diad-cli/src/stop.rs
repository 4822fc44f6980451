//! Ctrl-C: the work in hand is given up cleanly; a second Ctrl-C ends at once.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use diad::table::{Reader, Selection, Source, Table};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Listens for Ctrl-C from now on.
pub fn listen() -> Result<()> {
    ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            std::process::exit(crate::STOPPED.into());
        }
    })
    .context("cannot listen for Ctrl-C")
}

/// Whether Ctrl-C was pressed.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// A source whose reading ends with an error once Ctrl-C is pressed.
pub struct Stoppable<'a, S>(pub &'a S);

impl<S: Source> Source for Stoppable<'_, S> {
    fn open(&self, selection: &Selection) -> diad::Result<Box<dyn Reader + '_>> {
        Ok(Box::new(StoppableReader(self.0.open(selection)?)))
    }
}

struct StoppableReader<'a>(Box<dyn Reader + 'a>);

impl Reader for StoppableReader<'_> {
    fn names(&self) -> &[String] {
        self.0.names()
    }

    fn unread(&self) -> &[String] {
        self.0.unread()
    }

    fn rows(&self) -> Option<u64> {
        self.0.rows()
    }

    fn next_batch(&mut self) -> diad::Result<Option<Table>> {
        if requested() { Err(diad::Error::Stopped) } else { self.0.next_batch() }
    }
}
