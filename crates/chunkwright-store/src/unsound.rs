//! A document that a check found to be inconsistent.

/// An inconsistent document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsound {
    /// The document.
    pub doc_id: String,
    /// What is wrong with it.
    pub problem: String,
}
