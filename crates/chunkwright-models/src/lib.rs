//! All that knows a model: token counters, embedders, the vector cache.
//!
//! The core cuts by a [`TokenCounter`](chunkwright::TokenCounter) and never learns what stands
//! behind it; [`counter`] makes one from the name that a configuration holds.

pub mod counters;

pub use counters::{COUNTERS, CounterError, CounterInfo, counter};
