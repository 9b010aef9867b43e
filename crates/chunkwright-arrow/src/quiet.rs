//! Libraries that panic over damaged files. A file is then in error, and whoever reads it is told so in a sentence;
//! what the panic would print beside that helps nobody.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether this thread is inside of [`caught`].
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// What `read` answers; none if it panicked, of which nothing is printed. Panics of other threads, and of this one
/// at other times, go to the hook that was there.
pub(crate) fn caught<T>(read: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_QUIET.get() {
                before(panic);
            }
        }));
    });
    let was_quiet = IS_QUIET.replace(true);
    // Nothing that the library has left half done outlives the call.
    let outcome = catch_unwind(AssertUnwindSafe(read));
    IS_QUIET.set(was_quiet);
    outcome.ok()
}
