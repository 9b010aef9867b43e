//! Cancels work whose caller no longer waits for it.
//!
//! The flag belongs to the working thread, as a span of `tracing` does: the loops that check it lie deep below methods
//! that have nothing else to do with it. Work shared by all callers, such as deriving an index, is not cancelled.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::StoreError;

thread_local! {
    static FLAG: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Restores the previous flag.
struct Restore(Option<Arc<AtomicBool>>);

impl Drop for Restore {
    fn drop(&mut self) {
        FLAG.set(self.0.take());
    }
}

/// Runs `work` on this thread. Once `flag` is true, searches and lists inside end with [`StoreError::Cancelled`].
pub fn stoppable<T>(flag: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    let _restore = Restore(FLAG.replace(Some(Arc::clone(flag))));
    work()
}

/// Fails if the caller of the work on this thread no longer waits for it.
///
/// # Errors
///
/// [`StoreError::Cancelled`] if the work is to stop.
pub fn check() -> Result<(), StoreError> {
    let is_cancelled =
        FLAG.with_borrow(|flag| flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)));
    if is_cancelled { Err(StoreError::Cancelled) } else { Ok(()) }
}
