//! A source whose reading can be stopped from outside.

use std::ops::Range;

use crate::{About, Error, Reader, Result, Selection, Shared, Source, Table, Version};

/// A source whose reading ends with [`Error::Stopped`] once a function says so.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use diad_table::{Error, Selection, Source, Stoppable, Table};
///
/// let table = Table::new(vec!["x".into()], vec![vec![1.0, 2.0]])?;
/// let stop = AtomicBool::new(false);
/// let source = Stoppable::new(&table, || stop.load(Ordering::Relaxed));
/// let mut reader = source.open(&Selection::all())?;
/// stop.store(true, Ordering::Relaxed);
/// assert!(matches!(reader.next_batch(), Err(Error::Stopped)));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Stoppable<'a, F> {
    source: &'a dyn Source,
    stopped: F,
}

impl<'a, F: Fn() -> bool + Sync> Stoppable<'a, F> {
    /// Reads from `source` until `stopped` is true, which is asked before every batch.
    pub fn new(source: &'a dyn Source, stopped: F) -> Self {
        Self { source, stopped }
    }
}

impl<F> std::fmt::Debug for Stoppable<'_, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stoppable").finish_non_exhaustive()
    }
}

impl<F: Fn() -> bool + Sync> Source for Stoppable<'_, F> {
    fn open(&self, selection: &Selection) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(Checked { inner: self.source.open(selection)?, stopped: &self.stopped }))
    }

    fn version(&self) -> Option<Version> {
        self.source.version()
    }

    fn share(&self, selection: &Selection) -> Result<Option<Box<dyn Shared + '_>>> {
        let checked = |inner| Box::new(Checked { inner, stopped: &self.stopped }) as Box<dyn Shared + '_>;
        Ok(self.source.share(selection)?.map(checked))
    }
}

/// A reader or shared rows, behind the question whether to go on.
struct Checked<'a, T: ?Sized, F> {
    stopped: &'a F,
    inner: Box<T>,
}

impl<T: ?Sized, F: Fn() -> bool> Checked<'_, T, F> {
    fn check(&self) -> Result<()> {
        if (self.stopped)() { Err(Error::Stopped) } else { Ok(()) }
    }
}

impl<F: Fn() -> bool> Reader for Checked<'_, dyn Reader + '_, F> {
    fn names(&self) -> &[String] {
        self.inner.names()
    }

    fn unread(&self) -> &[String] {
        self.inner.unread()
    }

    fn about(&self) -> About {
        self.inner.about()
    }

    fn rows(&self) -> Option<u64> {
        self.inner.rows()
    }

    fn next_batch(&mut self) -> Result<Option<Table>> {
        self.check()?;
        self.inner.next_batch()
    }
}

impl<F: Fn() -> bool + Sync> Shared for Checked<'_, dyn Shared + '_, F> {
    fn rows(&self) -> usize {
        self.inner.rows()
    }

    fn batch(&self, rows: Range<usize>) -> Result<Table> {
        self.check()?;
        self.inner.batch(rows)
    }
}
