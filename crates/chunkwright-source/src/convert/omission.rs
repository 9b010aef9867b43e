//! What a file holds and its converted text does not, for people.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What was left out of a converted file, or could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Omission {
    /// Pages without text in a document that has some, from 1, ascending.
    Pages(Vec<u32>),
    /// Names of the hidden sheets of a workbook.
    HiddenSheets(Vec<String>),
}

impl fmt::Display for Omission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pages(pages) => {
                let (noun, verb) = if pages.len() == 1 { ("page", "has") } else { ("pages", "have") };
                let shown = ranges(pages);
                write!(f, "{noun} {shown} {verb} no text; scanned pages need text recognition (OCR) first")
            }
            Self::HiddenSheets(names) => {
                let (noun, verb) = if names.len() == 1 { ("sheet", "is") } else { ("sheets", "are") };
                let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
                write!(f, "the hidden {noun} {} {verb} left out", names.join(", "))
            }
        }
    }
}

/// Ascending numbers, neighbours as ranges: `2, 5-7`.
fn ranges(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let shown = runs.map(|run| match *run {
        [one] => one.to_string(),
        _ => format!("{}-{}", run[0], run[run.len() - 1]),
    });
    shown.collect::<Vec<_>>().join(", ")
}
