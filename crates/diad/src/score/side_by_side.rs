//! Work on several threads that may be waited for from anywhere.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Does something with every item, on as many threads as the pool has, but not on those: they may all be waiting for
/// the score that is being compiled. Each thread has working space of its own.
pub fn side_by_side<T: Sync, W, R: Send>(
    items: &[T],
    space: impl Fn() -> W + Sync,
    run: impl Fn(&T, &mut W) -> R + Sync,
) -> Vec<R> {
    let threads = rayon::current_num_threads().min(items.len()).max(1);
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut done, mut index) = (Vec::new(), next.fetch_add(1, Ordering::Relaxed));
        let mut own = None;
        while let Some(item) = items.get(index) {
            done.push((index, run(item, own.get_or_insert_with(&space))));
            index = next.fetch_add(1, Ordering::Relaxed);
        }
        done
    };
    let mut done = std::thread::scope(|scope| {
        let others: Vec<_> =
            (1..threads).filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, work).ok()).collect();
        let mut done = work();
        for other in others {
            match other.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
