//! API keys, and the scope of each.
//!
//! A key is 32 random bytes. The server stores only its BLAKE3 hash, in a file with a line `NAME SCOPE HASH` for each
//! key, optionally followed by its expiry date. So reading the file reveals no key. A key that was chosen by hand, in a
//! variable, is hashed when the server starts.

mod file;

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use jiff::Timestamp;
use subtle::{ConditionallySelectable, ConstantTimeEq};

use self::file::KeyFile;
pub use self::file::KeyFileError;
pub use crate::openapi::Scope;

/// The context for deriving key hashes, which makes them useless elsewhere.
const CONTEXT: &str = "chunkwright 2026-11 API key";

/// Prefix of all keys, by which scanners for leaked secrets recognise them.
const PREFIX: &str = "chunkwright_";

/// Minimum length of a key that was chosen by hand.
const SHORTEST: usize = 16;

/// The keys of clients.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    keys: Vec<Key>,
    /// Further keys from a file, which may change while the server runs.
    file: Option<Arc<KeyFile>>,
}

/// A key, without the key itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    /// The name of its holder in logs.
    pub name: Arc<str>,
    /// Its scope.
    pub scope: Scope,
    /// When it expires; `None` if it does not.
    pub expires: Option<Timestamp>,
    hash: [u8; 32],
}

/// Why a key cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// A line that is not an entry of a file of keys.
    #[error(
        "line {line} has no key; expected `NAME SCOPE HASH`, and perhaps when it expires, as `chunkwright key` writes it"
    )]
    Line {
        /// Its number, from 1.
        line: usize,
    },
    /// A name that already has a key.
    #[error("the name `{name}` has two keys; give each its own")]
    Name {
        /// The name.
        name: String,
    },
    /// A name that cannot stand in a file of keys.
    #[error("`{name}` is not a name for a key; expected letters, digits, `-`, `_` and `.`")]
    BadName {
        /// The name.
        name: String,
    },
    /// A key that can be guessed.
    #[error(
        "the key has fewer than {SHORTEST} characters; `chunkwright key` makes one that cannot be guessed"
    )]
    Short,
    /// The system has no randomness.
    #[error("the system gives no random bytes; a key cannot be made")]
    Random,
}

/// An unknown scope.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown scope `{0}`; known are `read`, `write`, `admin`")]
pub struct ScopeError(String);

impl FromStr for Scope {
    type Err = ScopeError;

    fn from_str(name: &str) -> Result<Self, ScopeError> {
        match name {
            "read" => Ok(Self::Read),
            "write" => Ok(Self::Write),
            "admin" => Ok(Self::Admin),
            other => Err(ScopeError(other.to_owned())),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        })
    }
}

impl Key {
    /// The key of `name`, whose holder sends `secret`.
    ///
    /// # Errors
    ///
    /// A key that is too short, a name that has other characters than it may.
    pub fn new(name: &str, scope: Scope, secret: &str) -> Result<Self, KeyError> {
        if secret.chars().count() < SHORTEST {
            return Err(KeyError::Short);
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(KeyError::BadName { name: name.to_owned() });
        }
        Ok(Self { name: name.into(), scope, expires: None, hash: hash(secret) })
    }

    /// A new key for `name`, and the secret that its holder sends. The secret is stored nowhere and shown once.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), and a system without random bytes.
    pub fn generate(name: &str, scope: Scope) -> Result<(Self, String), KeyError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|_| KeyError::Random)?;
        let secret = format!("{PREFIX}{}", hex(&bytes));
        Ok((Self::new(name, scope, &secret)?, secret))
    }
}

/// Formats the line of a file of keys.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.name, self.scope, hex(&self.hash))?;
        self.expires.map_or(Ok(()), |expires| write!(f, " {expires}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({}, {})", self.name, self.scope)
    }
}

impl Keys {
    /// Parses the keys of a file.
    ///
    /// # Errors
    ///
    /// A line that is none, a name that comes twice.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let mut keys = Self::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let mut words = line.split_ascii_whitespace();
            let mut read = || {
                let (name, scope) = (words.next()?, words.next()?.parse().ok()?);
                let hash = blake3::Hash::from_hex(words.next()?).ok()?.into();
                let expires = words.next().map(str::parse).transpose().ok()?;
                words.next().is_none().then(|| Key { name: name.into(), scope, expires, hash })
            };
            keys.add(read().ok_or(KeyError::Line { line: number + 1 })?)?;
        }
        Ok(keys)
    }

    /// Opens the file of keys at `path`, which is read again when it changes; also returns a warning if all users may
    /// read it.
    ///
    /// # Errors
    ///
    /// A file that cannot be used, or that has no key.
    pub fn open(path: &Path) -> Result<(Self, Option<String>), KeyFileError> {
        let (file, warning) = KeyFile::open(path)?;
        Ok((Self { keys: Vec::new(), file: Some(Arc::new(file)) }, warning))
    }

    /// Adds a key.
    ///
    /// # Errors
    ///
    /// A name that is there already.
    pub fn add(&mut self, key: Key) -> Result<(), KeyError> {
        if self.keys.iter().any(|known| known.name == key.name) {
            return Err(KeyError::Name { name: key.name.to_string() });
        }
        self.keys.push(key);
        Ok(())
    }

    /// Returns whether clients need no key: there are none, and no file that could have some.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.file.is_none()
    }

    /// Finds the key that a client sent. The time that this takes reveals neither which key it is, nor how much of it
    /// is right.
    pub(crate) fn find(&self, secret: &str) -> Option<Key> {
        let given = hash(secret);
        let of_file = self.file.as_ref().map(|file| file.keys());
        let all = || self.keys.iter().chain(of_file.iter().flat_map(|of_file| &of_file.keys));
        let mut found = u64::MAX;
        for (index, key) in all().enumerate() {
            found.conditional_assign(&(index as u64), key.hash.ct_eq(&given));
        }
        usize::try_from(found).ok().and_then(|index| all().nth(index)).cloned()
    }
}

fn hash(secret: &str) -> [u8; 32] {
    blake3::derive_key(CONTEXT, secret.as_bytes())
}

fn hex(bytes: &[u8; 32]) -> String {
    blake3::Hash::from(*bytes).to_hex().to_string()
}
