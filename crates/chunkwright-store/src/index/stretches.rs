//! Work over many rows, in stretches that are worked on side by side.

use std::ops::Range;
use std::sync::LazyLock;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::threads::{is_in_pool, on_pool};

/// Threads of their own: those that cut documents take up nothing else before they are done, and a search cannot wait for that.
static THREADS: LazyLock<Option<ThreadPool>> = LazyLock::new(|| ThreadPoolBuilder::new().build().ok());

/// Stretches for each thread, so that none waits long for another.
const PER_THREAD: usize = 2;

/// What `work` makes of each stretch of `rows` rows, in order. A stretch has at least `least` rows and begins at a multiple of
/// it; where there is but one, no other thread has to be waited for. Indexes are read and made under locks, so a thread of
/// a pool does all of it.
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
