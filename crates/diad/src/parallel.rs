//! Work on many things at once, on the threads of the current rayon pool. What comes out stands in the order of what goes in,
//! whichever thread did it.
//!
//! Work is passed as `&dyn Fn`: what is around it is compiled once for each type of result, not at each place that has work.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Runs through the numbers from 0 to a count.
type Runner<'a> = &'a dyn Fn(usize, &(dyn Fn(usize) + Sync));

thread_local! {
    /// A thread that is all of a pool.
    static ALONE: OnceCell<ThreadPool> = const { OnceCell::new() };
}

/// Does short work on this very thread, which costs less than to hand it to others, and leaves these to the other work of an
/// engine that comes with some thousand rows at a time. From then on, whatever rayon does for this thread it does on it alone.
pub fn on_this_thread<T>(work: impl FnOnce() -> T) -> T {
    ALONE.with(|alone| {
        if alone.get().is_none()
            && let Ok(pool) = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build()
        {
            let _ = alone.set(pool);
        }
    });
    work()
}

/// The results for the numbers from 0 to `count`.
pub fn map_indices<R: Send>(count: usize, work: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    gather(count, &|count, work| run(count, count, work), work)
}

/// The results for all items.
pub fn map<T: Sync, R: Send>(items: &[T], work: &(dyn Fn(&T) -> R + Sync)) -> Vec<R> {
    map_indices(items.len(), &|index| work(&items[index]))
}

/// The results for all items, from as many threads as the pool has, but not from those: they may all be waiting for what comes
/// out.
pub fn map_outside<T: Sync, R: Send>(items: &[T], work: &(dyn Fn(&T) -> R + Sync)) -> Vec<R> {
    gather(items.len(), &run_outside, &|index| work(&items[index]))
}

fn gather<R: Send>(count: usize, runner: Runner, work: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    let results: Vec<Mutex<Option<R>>> = (0..count).map(|_| Mutex::new(None)).collect();
    runner(count, &|index| {
        let result = work(index);
        *lock(&results[index]) = Some(result);
    });
    let result = |slot: Mutex<Option<R>>| slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().map(|slot| result(slot).expect("every number has its turn")).collect()
}

/// Does something with each item and its number. Items should be large, such as blocks of rows: each is handed out on its own.
pub fn for_each<T: Send>(items: impl Iterator<Item = T>, work: &(dyn Fn(usize, T) + Sync)) {
    let items: Vec<Mutex<Option<T>>> = items.map(|item| Mutex::new(Some(item))).collect();
    run(items.len(), 1, &|index| {
        let item = lock(&items[index]).take();
        work(index, item.expect("an item is handed out once"));
    });
}

/// Runs through the numbers from 0 to `count`; a thread takes at most so many without offering half of them to others.
fn run(count: usize, longest: usize, work: &(dyn Fn(usize) + Sync)) {
    match count {
        0 => {}
        1 => work(0),
        _ => (0..count).into_par_iter().with_max_len(longest).for_each(work),
    }
}

fn run_outside(count: usize, work: &(dyn Fn(usize) + Sync)) {
    let next = AtomicUsize::new(0);
    let take = || {
        let indices = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        indices.take_while(|&index| index < count).for_each(work);
    };
    std::thread::scope(|scope| {
        let others = 1..rayon::current_num_threads().min(count);
        let others: Vec<_> =
            others.filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, take).ok()).collect();
        take();
        for other in others {
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}

fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Working spaces that are used again, as many as there are threads at work.
#[derive(Debug)]
pub struct Spaces<T>(Mutex<Vec<T>>);

impl<T> Default for Spaces<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Spaces<T> {
    /// Works in a space that is free, or in a new one.
    pub fn with<R>(&self, new: impl FnOnce() -> T, work: impl FnOnce(&mut T) -> R) -> R {
        let free = lock(&self.0).pop();
        let mut space = free.unwrap_or_else(new);
        let result = work(&mut space);
        lock(&self.0).push(space);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_threads(threads: usize, work: impl FnOnce() + Send) {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work);
    }

    #[test]
    fn results_are_in_order() {
        for threads in [1, 3] {
            on_threads(threads, || {
                for count in [0, 1, 2, 1000] {
                    let squares: Vec<usize> = (0..count).map(|i| i * i).collect();
                    assert_eq!(map_indices(count, &|i| i * i), squares);
                    assert_eq!(map(&squares, &|square| square + 1), map_indices(count, &|i| i * i + 1));
                    assert_eq!(
                        map_outside(&squares, &|square| square + 1),
                        map(&squares, &|square| square + 1)
                    );
                }
            });
        }
    }

    #[test]
    fn every_item_has_its_turn() {
        for threads in [1, 3] {
            on_threads(threads, || {
                let (mut numbers, doubled) =
                    (vec![0; 1000], (0..1000).map(|i| 2 * i).collect::<Vec<usize>>());
                for_each(numbers.chunks_mut(7).zip(doubled.chunks(7)), &|chunk, (to, from)| {
                    to.iter_mut().zip(from).zip(7 * chunk..).for_each(|((to, from), i)| *to = from + i);
                });
                assert_eq!(numbers, (0..1000).map(|i| 3 * i).collect::<Vec<usize>>());
            });
        }
    }

    #[test]
    fn work_stays_on_its_thread() {
        std::thread::scope(|scope| {
            let here = scope.spawn(|| {
                let this = std::thread::current().id();
                let threads = on_this_thread(|| map_indices(1000, &|_| std::thread::current().id()));
                threads.into_iter().all(|thread| thread == this)
            });
            assert!(here.join().unwrap());
        });
    }

    #[test]
    fn a_space_is_used_again_but_not_by_two_at_once() {
        on_threads(3, || {
            let (spaces, made) = (Spaces::default(), AtomicUsize::new(0));
            let new = || {
                made.fetch_add(1, Ordering::Relaxed);
                Vec::new()
            };
            let lengths = map_indices(1000, &|index| {
                spaces.with(new, |space| {
                    space.push(index);
                    space.len()
                })
            });
            assert!(made.load(Ordering::Relaxed) <= 3);
            assert!(lengths.iter().max() >= Some(&334), "{} spaces", made.load(Ordering::Relaxed));
        });
    }

    #[test]
    #[should_panic(expected = "number 70")]
    fn a_panic_is_passed_on() {
        map_indices(100, &|index| assert!(index != 70, "number {index}"));
    }

    #[test]
    #[should_panic(expected = "number 0")]
    fn a_panic_outside_is_passed_on() {
        map_outside(&[0; 100], &|number| assert!(*number != 0, "number {number}"));
    }
}
