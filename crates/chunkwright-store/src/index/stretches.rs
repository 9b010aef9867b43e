//! Parallel work over ranges of rows.

use std::ops::Range;
use std::sync::LazyLock;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::threads::{is_in_pool, on_pool};

/// A separate pool: threads that cut documents take up no other work until they are done, and a search cannot wait for
/// that.
static THREADS: LazyLock<Option<ThreadPool>> = LazyLock::new(|| ThreadPoolBuilder::new().build().ok());

/// Ranges per thread, so that no thread waits long for another.
const PER_THREAD: usize = 2;

/// Runs `work` on each range of `rows` rows, in parallel, and returns the results in order. A range has at least
/// `least` rows and begins at a multiple of it; a single range runs on the calling thread. Indexes are read and built
/// under locks, so a pool thread does all of the work itself.
pub(super) fn stretches<T: Send>(
    rows: usize,
    least: usize,
    work: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    let threads = if rows > least && !is_in_pool() { THREADS.as_ref() } else { None };
    let most = threads.map_or(1, |threads| PER_THREAD * threads.current_num_threads());
    let size = rows.div_ceil(most).max(1).next_multiple_of(least);
    let stretch = |at: usize| work(at * size..((at + 1) * size).min(rows));
    match threads {
        Some(threads) => on_pool(threads, || (0..rows.div_ceil(size)).into_par_iter().map(stretch).collect()),
        None => (0..rows.div_ceil(size)).map(stretch).collect(),
    }
}
