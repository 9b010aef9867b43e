//! Keys of services, which nothing prints.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A key, always formatted as `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// A key of this text, without white space around it.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(text.as_ref().trim().into())
    }

    /// The key in the environment variable `name`; `None` if that is not set or blank.
    ///
    /// The one place where this crate reads the environment: so a key need not pass through the
    /// layers of a configuration that can be printed.
    pub fn from_variable(name: &str) -> Option<Self> {
        #[expect(
            clippy::disallowed_methods,
            reason = "keys come from the environment, by the name that is configured"
        )]
        let value = std::env::var(name).ok()?;
        Some(Self::new(value)).filter(|secret| !secret.0.is_empty())
    }

    /// The key that is all of a file but white space around it.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is blank.
    pub fn from_file(path: &Path) -> Result<Self, SecretError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| SecretError::Unreadable { path: path.to_owned(), source })?;
        let secret = Self::new(text);
        if secret.0.is_empty() {
            return Err(SecretError::Empty { path: path.to_owned() });
        }
        Ok(secret)
    }

    /// The key itself, for a header.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// `text` with the key in it replaced.
    pub(crate) fn hidden_in(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&*self.0, "***") }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// The file cannot be read.
    #[error("cannot read the key in `{}`: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file holds nothing.
    #[error("`{}` is blank; it must hold the key and nothing else", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}
