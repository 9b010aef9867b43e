//! Enters pools of threads, so that no lock can be waited for by the thread that holds it.
//!
//! A thread of a pool that waits, for its own pool or for another, takes up other work of its pool meanwhile. If it holds a
//! lock, or initializes a value, that work may need the same one, and waits for ever. Two rules exclude this:
//!
//! * a thread of a pool enters no other pool ([`on_pool`], the only door);
//! * work that may be done under a lock is never shared by a thread of a pool ([`is_in_pool`]): it does all of it.

use rayon::ThreadPool;

/// Runs `work`, and what it does in parallel, on `pool`. A thread of a pool stays in its own.
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

/// Whether this thread belongs to a pool.
pub(crate) fn is_in_pool() -> bool {
    rayon::current_thread_index().is_some()
}
