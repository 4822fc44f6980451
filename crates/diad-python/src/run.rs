//! Work without the interpreter lock, on threads of its own, that Ctrl-C stops.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use diad::table::{Source, Stoppable};
use diad::{Progress, TuneProgress};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::raise;

/// How often signals are looked for.
const INTERVAL: Duration = Duration::from_millis(50);

/// What work tells the thread that waits for it.
pub struct Monitor {
    stop: Arc<AtomicBool>,
    /// Where steps are told. The other end learns from it, too, when the work is over.
    steps: SyncSender<Progress>,
    /// Whether somebody wants to hear of steps.
    wanted: bool,
}

impl Monitor {
    /// Tells of a step of a training. Breaks off where the work is to be stopped.
    pub fn step(&self, progress: Progress) -> ControlFlow<()> {
        if self.wanted {
            // The other end listens until this one is gone.
            let _ = self.steps.send(progress);
        }
        self.go_on()
    }

    /// As [`Monitor::step`], of a tuning.
    pub fn tuning(&self, _progress: TuneProgress) -> ControlFlow<()> {
        self.go_on()
    }

    fn go_on(&self) -> ControlFlow<()> {
        if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The same table, whose reading ends once the work is to be stopped.
    pub fn watch<'a>(&'a self, source: &'a dyn Source) -> impl Source + 'a {
        Stoppable::new(source, || self.go_on().is_break())
    }
}

/// Runs work on `threads` threads, or one for each processor core. Meanwhile other Python threads run, `callback` is called
/// on this one after each step, and an exception of it, or of Ctrl-C, stops the work and is raised.
pub fn run<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Monitor) -> diad::Result<T> + Send,
) -> PyResult<T> {
    let pool = pool(threads)?;
    let callback = callback.map(|callback| callback.clone().unbind());
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, steps) = sync_channel(1);
    let monitor = Monitor { stop: stop.clone(), steps: sender, wanted: callback.is_some() };
    let mut result = None;
    let mut raised = None;
    py.detach(|| {
        let (result, raised) = (&mut result, &mut raised);
        pool.in_place_scope(move |scope| {
            scope.spawn(move |_| {
                let monitor = monitor;
                *result = Some(work(&monitor));
            });
            loop {
                let message = steps.recv_timeout(INTERVAL);
                if raised.is_none() {
                    let listened = Python::attach(|py| {
                        if let (Ok(progress), Some(callback)) = (&message, &callback) {
                            call(callback.bind(py), progress)?;
                        }
                        py.check_signals()
                    });
                    if let Err(error) = listened {
                        *raised = Some(error);
                        stop.store(true, Ordering::Relaxed);
                    }
                }
                if matches!(message, Err(RecvTimeoutError::Disconnected)) {
                    break;
                }
            }
        });
    });
    match (raised, result) {
        (Some(error), _) => Err(error),
        (None, Some(done)) => done.map_err(raise),
        (None, None) => Err(PyRuntimeError::new_err("the work ended without a result")),
    }
}

fn call(callback: &Bound<'_, PyAny>, progress: &Progress) -> PyResult<()> {
    callback.call1((progress.step, progress.steps, progress.loss, progress.temperature)).map(|_| ())
}

/// Runs short work on this very thread. Ctrl-C is seen when it is done.
pub fn run_here<T: Send>(py: Python<'_>, work: impl FnOnce() -> diad::Result<T> + Send) -> PyResult<T> {
    py.detach(|| diad::on_this_thread(work)).map_err(raise)
}

/// The threads of the last work: the process they live in (a child process of a fork has none of its parent's), how many were
/// asked for, and they themselves.
static POOL: Mutex<Option<(u32, usize, Arc<ThreadPool>)>> = Mutex::new(None);

/// So many threads, or one for each processor core: those of the last work, if it had as many.
fn pool(threads: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    let (process, threads) = (std::process::id(), threads.unwrap_or(0));
    let mut last = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match &*last {
        Some((owner, count, pool)) if (*owner, *count) == (process, threads) => Ok(pool.clone()),
        _ => {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().map(Arc::new);
            let pool =
                pool.map_err(|error| PyRuntimeError::new_err(format!("cannot start the threads: {error}")))?;
            // A pool of the parent process must not be dropped: that would wait for its threads.
            match last.replace((process, threads, pool.clone())) {
                Some((owner, ..)) if owner == process => {}
                parents => std::mem::forget(parents),
            }
            Ok(pool)
        }
    }
}
