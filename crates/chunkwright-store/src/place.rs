//! The location of a store, as users write it: a folder, or the address of a server.

use std::fmt;
use std::path::{Path, PathBuf};

use chunkwright_http::{HttpOptions, Secret};

use crate::error::StoreError;

/// The location of a store, with the options to open it.
#[derive(Clone)]
pub struct StoreLocation {
    /// A folder, or an address such as `qdrant://HOST:6333?prefix=team_`.
    pub location: String,
    /// The API key of a server.
    pub key: Option<Secret>,
    /// Folder of the local cache for a server's store.
    pub cache: PathBuf,
    /// Local folder whose lock keeps writers to a server's store apart; without it, nothing does.
    pub lock: Option<PathBuf>,
    /// Timeouts and retries of calls to a server.
    pub http: HttpOptions,
    /// Most bytes of what searches read of a folder's store that stay in memory, posting lists and vectors. What they
    /// need of every chunk comes on top: about 100 bytes, and a bit for each dimension of its vector.
    pub memory: u64,
}

impl fmt::Debug for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreLocation").field("address", &self.address()).finish_non_exhaustive()
    }
}

impl Default for StoreLocation {
    fn default() -> Self {
        Self {
            location: String::new(),
            key: None,
            cache: PathBuf::new(),
            lock: None,
            http: HttpOptions::default(),
            memory: Self::MEMORY,
        }
    }
}

impl StoreLocation {
    /// The default of `memory`: half of it holds the vectors of 170,000 chunks by a model of 384 dimensions.
    pub const MEMORY: u64 = 512 << 20;

    /// A folder on this machine.
    pub fn folder(path: &Path) -> Self {
        Self { location: path.display().to_string(), cache: path.to_owned(), ..Self::default() }
    }

    /// Whether it is a server.
    pub fn is_remote(&self) -> bool {
        self.location.contains("://")
    }

    /// The part before `://`; `None` for a folder.
    pub fn scheme(&self) -> Option<&str> {
        self.location.split_once("://").map(|(scheme, _)| scheme)
    }

    /// The address without its options and without a user and password, for messages.
    pub fn address(&self) -> String {
        let Some((scheme, rest)) = self.location.split_once("://") else { return self.location.clone() };
        // A password may have a `?` in it.
        let rest = rest.split_once('@').map_or(rest, |(_, rest)| rest);
        format!("{scheme}://{}", rest.split('?').next().unwrap_or_default())
    }

    /// The HTTP address, with `port` added if it has none and TLS does not imply one.
    pub fn url(&self, port: u16) -> String {
        let address = self.location.split('?').next().unwrap_or_default();
        let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
        let secure = scheme.ends_with("+https");
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let has_port = host.rsplit(':').next().is_some_and(|end| end.parse::<u16>().is_ok());
        let port = if has_port || secure { String::new() } else { format!(":{port}") };
        format!("{}://{host}{port}{path}", if secure { "https" } else { "http" })
    }

    /// The options after the `?`, as names and values.
    pub fn options(&self) -> impl Iterator<Item = (&str, &str)> {
        let options = self.location.split_once('?').map_or("", |(_, options)| options);
        let pairs = options.split('&').filter(|pair| !pair.is_empty());
        pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")))
    }

    /// The error for an unknown option, or one with a wrong value.
    pub fn wrong_option(&self, name: &str, right: &str) -> StoreError {
        let reason = format!("the option `{name}` is not understood; {right}");
        StoreError::Location { location: self.address(), reason }
    }
}

impl From<&Path> for StoreLocation {
    fn from(path: &Path) -> Self {
        Self::folder(path)
    }
}

impl From<&PathBuf> for StoreLocation {
    fn from(path: &PathBuf) -> Self {
        Self::folder(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_stores_become_those_of_http() {
        for (location, url) in [
            ("qdrant://h", "http://h:6333"),
            ("qdrant://h:1/path?prefix=a", "http://h:1/path"),
            ("qdrant+https://h", "https://h"),
            ("qdrant+https://h:6333?x", "https://h:6333"),
            ("qdrant://[::1]", "http://[::1]:6333"),
        ] {
            let place = StoreLocation { location: location.into(), ..StoreLocation::default() };
            assert_eq!(place.url(6333), url);
        }
    }

    #[test]
    fn no_password_in_an_address_is_shown() {
        for (location, shown) in [
            ("postgres://me:secret@h/db?schema=a", "postgres://h/db"),
            ("postgres://me:sec?ret@h/db", "postgres://h/db"),
            ("postgres:///db?host=/run&password=secret", "postgres:///db"),
            ("/a?b", "/a?b"),
        ] {
            let place = StoreLocation { location: location.into(), ..StoreLocation::default() };
            assert_eq!(place.address(), shown);
            assert!(!format!("{place:?}").contains("sec"));
        }
    }
}
