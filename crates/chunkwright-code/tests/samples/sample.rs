#!/usr/bin/env x
//! Doc of
//! module
use std::fmt;
// about
#[cfg(x)]
use std::io;

mod a;
pub mod b;
#![allow(x)]

/// Doc
#[derive(Debug)]
// c
pub struct Foo<T>
where T: X {
    /// a
    a: T,
    b: u32,
}
struct Unit;
struct Tup(u32, u32);

/// Enum
enum E { A, B }

impl<T> fmt::Display for &Foo<T> where T: X {
    const A: u32 = 1;
    /// fmt
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match x {
            // arm
            A => {
                1;
                2;
            }
            B => 3,
        }

        foo(|x| {
            1;
            2
        })
    } // trailing

    fn g() {}
    type X = u32;
}

/// mac
macro_rules! foo {
    (a) => { 1 };
    (b) => { 2 };
}
foo! { x }
trait T: Sized {
    /// a
    fn a(&self) -> u32;
    fn b(&self,
       x: u32);
}
const X: u32 = 1;
/// about Y
static Y: u32 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x() {}
}
