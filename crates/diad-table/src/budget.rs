//! How much memory the readers of a program may use, all limits of which follow from one number.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of memory, or 0 where nobody has said a number.
static LIMIT: AtomicUsize = AtomicUsize::new(0);

/// The limit where nobody says one, but no more than half of the machine's memory.
const USUAL: usize = 4 << 30;
/// The least limit: below it, tables of ordinary width do not fit.
const LEAST: usize = 64 << 20;
/// A row of text becomes no more than so many times as large while it is read.
const GROWTH: usize = 64;
/// A text that is looked through as a whole takes no more than so many times its bytes: itself, and where its values start.
const DOCUMENT: usize = 16;
/// Bytes of a row of text, at most, whatever the limit.
const LONGEST_ROW: usize = 64 << 20;

/// Sets the limit for this program: about so many bytes are used to read tables, and what does not fit is an error or is left out.
///
/// ```
/// diad_table::limit_memory(1 << 30);
/// assert_eq!(diad_table::memory_limit(), 1 << 30);
/// ```
pub fn limit_memory(bytes: usize) {
    LIMIT.store(bytes.max(LEAST), Ordering::Relaxed);
}

/// The limit of this program.
pub fn memory_limit() -> usize {
    match LIMIT.load(Ordering::Relaxed) {
        0 => {
            let usual = machine_memory().map_or(USUAL, |memory| USUAL.min(memory / 2)).max(LEAST);
            LIMIT.store(usual, Ordering::Relaxed);
            usual
        }
        limit => limit,
    }
}

/// Bytes of a row of text, at most.
pub(crate) fn longest_row() -> usize {
    (memory_limit() / GROWTH).min(LONGEST_ROW)
}

/// Bytes of a text that is looked through as a whole, at most.
pub(crate) fn longest_document() -> usize {
    memory_limit() / DOCUMENT
}

/// Bytes of text that are read ahead, about.
pub(crate) fn read_ahead() -> usize {
    memory_limit() / (4 * GROWTH)
}

/// Bytes of one piece of a file, once it is not compressed, at most.
pub(crate) fn largest_piece() -> u64 {
    (memory_limit() / 4) as u64
}

/// The memory of the machine, or of the group of processes that this one belongs to, where the system tells.
fn machine_memory() -> Option<usize> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let all = read("/proc/meminfo").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
    });
    let group = read("/sys/fs/cgroup/memory.max").and_then(|text| text.trim().parse::<usize>().ok());
    [all, group].into_iter().flatten().min()
}
