//! A progress bar on standard error, for work that takes over a second.

use parking_lot::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, WeakProgressBar};

use crate::app::Global;

/// Delay before a bar appears.
const PATIENCE: Duration = Duration::from_secs(1);

/// The visible bar, to be removed if the command is ended early.
static SHOWN: Mutex<Option<WeakProgressBar>> = Mutex::new(None);

/// Removes the visible bar, so that a last sentence has its own line.
pub(crate) fn clear() {
    let shown = SHOWN.lock().take();
    if let Some(bar) = shown.and_then(|bar| bar.upgrade()) {
        bar.finish_and_clear();
    }
}

/// A bar that appears only if the work takes longer than a second, and only on a terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    started: Instant,
    quiet: bool,
}

impl Progress {
    /// Starts a bar for `total` items, called `noun`.
    pub(crate) fn new(global: &Global, total: usize, noun: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::hidden());
        let template = format!("{{bar:30}} {{human_pos}} of {{human_len}} {noun}, {{eta}} left");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        Self { bar, started: Instant::now(), quiet: global.quiet }
    }

    /// Starts a bar for this many bytes of files, advanced by [`reach`](Self::reach).
    pub(crate) fn of_bytes(global: &Global, bytes: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(bytes.max(1)), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {msg}, {eta} left") {
            bar.set_style(style);
        }
        Self { bar, started: Instant::now(), quiet: global.quiet }
    }

    /// Sets the number of bytes done, and its description.
    pub(crate) fn reach(&self, bytes: u64, words: String) {
        self.bar.set_message(words);
        if bytes > self.bar.position() {
            self.bar.set_position(bytes);
        }
        self.advance(0);
    }

    /// The elapsed time.
    pub(crate) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Hides the bar if results appear on the same terminal meanwhile.
    pub(crate) fn hidden_if(mut self, hidden: bool) -> Self {
        self.quiet |= hidden;
        self
    }

    /// Advances by `done` items.
    pub(crate) fn advance(&self, done: usize) {
        self.bar.inc(done as u64);
        if self.bar.is_hidden() && !self.quiet && self.started.elapsed() > PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            *SHOWN.lock() = Some(self.bar.downgrade());
        }
    }

    /// Sets the number of items done.
    pub(crate) fn advance_to(&self, done: usize) {
        self.advance(done.saturating_sub(self.bar.position() as usize));
    }

    /// Removes the bar.
    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }
}
