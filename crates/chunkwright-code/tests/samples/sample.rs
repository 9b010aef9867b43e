#!/usr/bin/env rust-script
//! A ring of the last readings, and what is wrong with them.
//!
//! `fn not_a_function() {}` in a comment.
use std::fmt;
// Ordered by time.
#[cfg(feature = "std")]
use std::collections::{
    BTreeMap,
    VecDeque,
};

mod clock;
pub mod units;
#![allow(dead_code)]

/// The last readings of a sensor: последние, 最新, 🌡.
#[derive(Clone, Debug)]
// The capacity is fixed at first use.
pub struct Ring<T>
where
    T: Copy,
{
    /// Oldest first.
    items: VecDeque<T>,
    #[cfg(test)]
    writes: usize,
}
struct Empty;
pub struct Span(u32, u32);

/// Why a reading was refused.
pub enum Refusal { Late, Early { by: u32 }, Unknown }

const LIMIT: f64 = 40.0;
/// Names of the sensors.
static NAMES: &[&str] = &[
    "inlet",
    // Filled in by the installer.
    "outlet",
];

impl<T: Copy> fmt::Display for &'_ Ring<T>
where
    T: fmt::Display,
{
    /// Oldest first, a line each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written = match self.items.len() {
            // Nothing to show.
            0 => {
                f.write_str("empty")?;
                f.write_str("\n")
            }
            _ => Ok(()),
        };
        written?;

        self.items.iter().try_for_each(|item| {
            let text = format!("{item} {{}} }}");
            writeln!(f, "{text}")
        })
    } // fmt

    const RAW: &str = r#"fn raw() { " }"#;
}

impl<T: Copy> Ring<T> {
    pub const CAPACITY: usize = 16;

    #[must_use]

    pub fn push(
        &mut self,
        item: T,
    ) -> Option<T> {
        fn full<T>(items: &VecDeque<T>) -> bool {
            items.len() == 16
        }
        let oldest = if full(&self.items) { self.items.pop_front() } else { None };
        self.items.push_back(item);
        oldest
    }
    pub fn clear(&mut self) { self.items.clear() }
    // Readings are never removed one by one.
}

/// Makes a ring of what it is given.
#[macro_export]
macro_rules! ring {
    () => { Ring::default() };
    ($($item:expr),+ $(,)?) => {{
        let mut ring = Ring::default();
        $(ring.push($item);)+
        ring
    }};
}
ring! { 1, 2 }

pub trait Sensor: Sized {
    type Item;
    /// Reads once.
    fn read(&self) -> Self::Item;
    fn read_all(&self,
        into: &mut Ring<Self::Item>) {
        into.push(self.read());
    }
}

extern "C" {
    fn ticks() -> u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic = "late"]
    fn late_readings_are_refused() {
        ring![1, 2, 3];
    }

    mod deeper {
        const N: usize = 3;
    }
} // tests

// Only where ports are files.
cfg_unix! {
    /// Opens a port.
    #[inline]
    pub fn open(number: u16) -> Port {
        Port(number)
    }

    cfg_serial! {
        pub struct Port(u16);
        // Closed when it is dropped.
    }
}

impl Ring<u8> {
    cfg_unix! {
        pub fn send(&self, port: &Port) {}
    }

    fn sum(&self) -> u8 { 0 }
}

markup! { <p>{ text }</p> }
settings! { name = "ring"; fn is no item }
