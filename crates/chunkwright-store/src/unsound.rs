//! A document that a check found not to be sound.

/// A document that is not sound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsound {
    /// The document.
    pub doc_id: String,
    /// What is wrong with it.
    pub problem: String,
}
