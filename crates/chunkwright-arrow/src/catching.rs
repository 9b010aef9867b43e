//! Libraries that panic over damaged files. A file is then in error, and whoever reads it is told so in a sentence.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static IS_CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread would be caught here and become an error. A program whose panic hook stays silent
/// then tells its users only what the error says; this crate leaves the hook alone.
pub fn is_catching() -> bool {
    IS_CATCHING.get()
}

/// What `read` answers; none if it panicked.
pub(crate) fn caught<T>(read: impl FnOnce() -> T) -> Option<T> {
    let before = IS_CATCHING.replace(true);
    // Nothing that the library has left half done outlives the call.
    let outcome = catch_unwind(AssertUnwindSafe(read));
    IS_CATCHING.set(before);
    outcome.ok()
}
