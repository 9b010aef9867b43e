//! Turns panics of libraries over damaged files into errors.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static IS_CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread would be caught here and become an error. A program can keep its panic hook silent
/// then, so that its users only see the error; this crate does not change the hook.
pub fn is_catching() -> bool {
    IS_CATCHING.get()
}

/// The result of `read`; `None` if it panicked.
pub(crate) fn caught<T>(read: impl FnOnce() -> T) -> Option<T> {
    let before = IS_CATCHING.replace(true);
    // Nothing that the library has left half done outlives the call.
    let outcome = catch_unwind(AssertUnwindSafe(read));
    IS_CATCHING.set(before);
    outcome.ok()
}
