//! Caller metadata of documents: what their files do not contain, such as the course that they belong to.
//!
//! Metadata maps names to texts. A document keeps its metadata until it is changed, and a new file of a folder gets
//! what all documents of that folder have, so that a later run need not repeat it.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::document::DocumentInfo;

/// Texts by name.
pub type Values = BTreeMap<String, String>;

/// Metadata that a caller gives documents. An empty text removes a name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// Metadata of every document; it overrides that of `folders`.
    pub all: Values,
    /// Metadata of the documents below absolute paths; the longest matching path takes precedence.
    pub folders: Vec<(PathBuf, Values)>,
}

/// Why metadata cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetaError {
    /// It is not of the form `NAME=TEXT`.
    #[error("`{0}` is not `NAME=TEXT`, such as `course_id=13`")]
    Pair(String),
    /// A name that filters cannot express.
    #[error(
        "`{0}` cannot be a name of metadata: expected letters and digits of any script, `_` and `-`, at most {MAX_NAME} bytes"
    )]
    Name(String),
    /// A text that is too long, or holds control characters.
    #[error("the text of `{0}` cannot be used: expected one line of at most {MAX_TEXT} bytes")]
    Text(String),
}

/// Longest name, in bytes.
pub const MAX_NAME: usize = 64;

/// Longest text, in bytes.
pub const MAX_TEXT: usize = 1024;

/// Whether a character may be in a name.
pub(crate) fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

/// Checks a name and its text.
///
/// # Errors
///
/// [`MetaError`].
pub fn check(name: &str, text: &str) -> Result<(), MetaError> {
    if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(is_of_name) {
        return Err(MetaError::Name(name.into()));
    }
    if text.len() > MAX_TEXT || text.chars().any(char::is_control) {
        return Err(MetaError::Text(name.into()));
    }
    Ok(())
}

/// Reads `NAME=TEXT`.
///
/// # Errors
///
/// [`MetaError`].
pub fn parse_pair(pair: &str) -> Result<(String, String), MetaError> {
    let (name, text) = pair.split_once('=').ok_or_else(|| MetaError::Pair(pair.into()))?;
    let (name, text) = (name.trim(), text.trim());
    check(name, text)?;
    Ok((name.to_owned(), text.to_owned()))
}

/// The metadata of documents, as a run knows it.
#[derive(Debug, Default)]
pub struct KnownMeta {
    /// What was given for all documents, and for those below a path.
    all: Values,
    below: HashMap<PathBuf, Values>,
    documents: HashMap<String, Values>,
    /// Metadata that all documents of a folder share.
    folders: HashMap<String, Values>,
}

impl KnownMeta {
    /// Combines the metadata given now with that of `known` documents.
    pub fn new<'a>(said: &Meta, known: impl Iterator<Item = &'a DocumentInfo>) -> Self {
        let mut all = Self { all: said.all.clone(), ..Self::default() };
        for (path, values) in &said.folders {
            all.below.entry(path.clone()).or_default().extend(values.clone());
        }
        for info in known {
            if !info.root.is_empty() {
                let shared = all.folders.entry(info.root.clone()).or_insert_with(|| info.meta.clone());
                shared.retain(|name, text| info.meta.get(name) == Some(text));
            }
            all.documents.insert(info.doc_id.clone(), info.meta.clone());
        }
        all
    }

    /// The metadata of a document of the folder `root`, whose file is at `path` if it has one.
    pub fn of(&self, doc_id: &str, root: &str, path: Option<&Path>) -> Values {
        let before = self.documents.get(doc_id).or_else(|| self.folders.get(root));
        let mut values = before.cloned().unwrap_or_default();
        let path = path.filter(|_| !self.below.is_empty()).and_then(|path| path.canonicalize().ok());
        let around: Vec<&Path> = path.iter().flat_map(|path| path.ancestors()).collect();
        let given = around.into_iter().rev().filter_map(|around| self.below.get(around)).chain([&self.all]);
        given.for_each(|given| values.extend(given.clone()));
        values.retain(|_, text| !text.is_empty());
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_that_cannot_be_used_says_what_would_be_right() {
        assert_eq!(parse_pair("课程 = 13 =x"), Ok(("课程".into(), "13 =x".into())));
        assert_eq!(parse_pair("a="), Ok(("a".into(), String::new())));
        for (pair, said) in [
            ("a", "`a` is not `NAME=TEXT`, such as `course_id=13`"),
            ("=a", "`` cannot be a name of metadata"),
            ("a.b=c", "`a.b` cannot be a name of metadata"),
            ("a=\u{7}", "the text of `a` cannot be used"),
        ] {
            let error = parse_pair(pair).expect_err(pair).to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
