//! The prefix of a folder: what stands before paths in the ids of its documents.

use std::fmt;
use std::str::FromStr;

use chunkwright_source::doc_id;
use serde::{Deserialize, Serialize};

/// A name for a folder in a collection that has several: `NAME` makes `NAME/README.md` of `README.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub struct Prefix(String);

/// An invalid [`Prefix`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` cannot be a prefix: {reason}; a prefix is a name or a relative path, such as `api` or `libs/api`",
    .prefix.escape_debug()
)]
pub struct PrefixError {
    /// The text.
    prefix: String,
    /// What is wrong with it.
    reason: &'static str,
}

impl Prefix {
    /// The prefix as ids begin with it, without a trailing slash.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Prefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Self, PrefixError> {
        let path = text.strip_suffix('/').unwrap_or(text);
        // Ids escape `%`; everything else that they escape is unprintable.
        let is_printable = doc_id(path.replace('%', "").as_ref()) == path.replace('%', "");
        let reason = if path.trim().is_empty() {
            "it is empty"
        } else if path.starts_with('/') {
            "it begins with a slash"
        } else if path.split('/').any(|name| matches!(name, "" | "." | "..")) {
            "it has an empty name, `.` or `..` between its slashes"
        } else if !is_printable {
            "it has characters that cannot be seen"
        } else {
            return Ok(Self(path.replace('%', "%25")));
        };
        Err(PrefixError { prefix: text.to_owned(), reason })
    }
}

impl TryFrom<String> for Prefix {
    type Error = PrefixError;

    fn try_from(text: String) -> Result<Self, PrefixError> {
        text.parse()
    }
}

impl From<Prefix> for String {
    fn from(prefix: Prefix) -> Self {
        prefix.0
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_a_relative_path_that_can_be_seen() {
        for (text, prefix) in [
            ("api", "api"),
            ("libs/api/", "libs/api"),
            ("库/док", "库/док"),
            ("100%", "100%25"),
            ("a b", "a b"),
        ] {
            assert_eq!(text.parse::<Prefix>().unwrap().as_str(), prefix);
        }
        for text in [
            "",
            " ",
            "/",
            "//",
            "/a",
            "a//b",
            ".",
            "..",
            "a/../b",
            "./a",
            "a\nb",
            "a\u{0}",
            "\u{202e}a",
            "a/.",
        ] {
            assert!(text.parse::<Prefix>().is_err(), "{text:?}");
        }
        assert_eq!(
            "a\n".parse::<Prefix>().unwrap_err().to_string(),
            "`a\\n` cannot be a prefix: it has characters that cannot be seen; a prefix is a name or a relative path, such as `api` or `libs/api`"
        );
    }
}
