//! Runs work on thread pools without self-deadlock: no thread waits for a lock that it holds itself.
//!
//! A pool thread that waits, for its own pool or another, takes up other work of its pool meanwhile. If it holds a
//! lock, or initializes a value, that work may need the same one and would wait forever. Two rules exclude this:
//!
//! * a thread of a pool enters no other pool ([`on_pool`], the only door);
//! * a pool thread never shares work that may be done under a lock ([`is_in_pool`]): it does all of it itself.

use rayon::ThreadPool;

/// Runs `work`, and its parallel parts, on `pool`. A thread that belongs to a pool stays in it.
pub fn on_pool<T: Send>(pool: &ThreadPool, work: impl FnOnce() -> T + Send) -> T {
    if is_in_pool() {
        return work();
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "this thread belongs to no pool, so it waits and does nothing else"
    )]
    pool.install(work)
}

/// Returns whether this thread belongs to a pool.
pub(crate) fn is_in_pool() -> bool {
    rayon::current_thread_index().is_some()
}
