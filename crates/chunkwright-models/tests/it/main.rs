//! The crate seen from outside.

mod counters;
