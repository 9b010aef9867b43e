//! Addresses as callers write them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use url::{Host, Url};

use crate::error::MirrorError;
use crate::folder::failed;

/// What can be mirrored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A sitemap, or a page: `https://HOST/PATH`.
    Site(Url),
    /// A repository: `git+https://HOST/PATH@REF`.
    Repository {
        /// Where it is fetched from: `https://HOST/PATH`.
        url: Url,
        /// A branch, tag or commit; without it, the branch that the repository shows first.
        reference: Option<String>,
    },
    /// The pages that a file of this machine lists.
    List {
        /// The file, as the system names it.
        path: PathBuf,
        /// The pages, each once, in the order of the file.
        pages: Vec<Url>,
    },
}

/// Whether a path that was given is an address of a kind that is fetched.
pub fn is_address(path: &Path) -> bool {
    let begins =
        |text: &str, start: &str| text.get(..start.len()).is_some_and(|it| it.eq_ignore_ascii_case(start));
    path.to_str().is_some_and(|text| ["http://", "https://", "git+"].iter().any(|start| begins(text, start)))
}

impl Address {
    /// Reads an address for which [`is_address`] holds.
    ///
    /// # Errors
    ///
    /// [`MirrorError::Address`], which says what would be right.
    pub fn parse(text: &str) -> Result<Self, MirrorError> {
        // What may be a password is not shown.
        let shown = text.rsplit_once('@').map_or(text, |(_, after)| after);
        let wrong = |shown: &str, reason| MirrorError::Address { address: shown.to_owned(), reason };
        let (text, is_repository) = match text.get(..4) {
            Some(start) if start.eq_ignore_ascii_case("git+") => (&text[4..], true),
            _ => (text, false),
        };
        let mut url =
            Url::parse(text).map_err(|_| wrong(shown, "it is not an address such as `https://HOST/PATH`"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong(
                text,
                "only `https://`, `http://`, `git+https://` and `git+http://` are fetched",
            ));
        }
        if url.host().is_none() {
            return Err(wrong(shown, "it has no host"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            let reason = "it holds a user or a password; give the address alone, and for a repository let `git` know them (`git credential`)";
            return Err(wrong(shown, reason));
        }
        url.set_fragment(None);
        if !is_repository {
            return Ok(Self::Site(url));
        }
        if url.query().is_some() {
            return Err(wrong(shown, "the address of a repository has no query"));
        }
        let (path, reference) = match url.path().split_once('@') {
            Some((path, reference)) => (path.to_owned(), Some(reference.to_owned())),
            None => (url.path().to_owned(), None),
        };
        if path.trim_matches('/').is_empty() {
            return Err(wrong(shown, "it names no repository: `git+https://HOST/OWNER/REPOSITORY@REF`"));
        }
        if reference.as_deref().is_some_and(|reference| !is_reference(reference)) {
            return Err(wrong(shown, "after `@` stands a branch, tag or commit"));
        }
        url.set_path(path.trim_end_matches('/'));
        Ok(Self::Repository { url, reference })
    }

    /// Reads a list of pages from a file: an address a line; blank lines and lines that begin with `#` say nothing.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, a line that is not the address of a page, a file without any.
    pub fn of_list(file: &Path) -> Result<Self, MirrorError> {
        let wrong = |error| failed(file, error);
        let path = file.canonicalize().map_err(wrong)?;
        let text = fs::read_to_string(&path).map_err(wrong)?;
        let mut pages: Vec<Url> = Vec::new();
        let mut seen = HashSet::new();
        for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let parsed = if is_address(line.as_ref()) { Self::parse(line).ok() } else { None };
            let Some(Self::Site(url)) = parsed else {
                let path = file.display().to_string();
                return Err(MirrorError::Line { path, line: at + 1 });
            };
            if seen.insert(url.clone()) {
                pages.push(url);
            }
        }
        if pages.is_empty() {
            return Err(MirrorError::EmptyList { path: file.display().to_string() });
        }
        Ok(Self::List { path, pages })
    }

    /// The name of the mirror's folder: readable, and another for another address. That of a repository is the same
    /// whatever is asked of it, so that ids stay and what it has in common is not fetched again.
    pub(crate) fn key(&self) -> String {
        let (url, kind) = match self {
            Self::Site(url) => (url, ""),
            Self::Repository { url, .. } => (url, "git+"),
            Self::List { path, .. } => {
                let hash = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex();
                return format!("list-{}", &hash[..16]);
            }
        };
        let hash = blake3::hash(format!("{kind}{url}").as_bytes()).to_hex();
        format!("{}-{}", host_of(url), &hash[..16])
    }
}

/// The host and the port that is not the usual one, as a name of a folder.
pub(crate) fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).replace(':', "_");
    url.port().map_or_else(|| host.clone(), |port| format!("{host}_{port}"))
}

/// Whether the caller named a private host as such: by an address, as this machine, or by a name that no public server
/// can have (RFC 6761, RFC 6762, RFC 8375 and the name that ICANN reserves for private use).
pub(crate) fn is_named_private(url: &Url) -> bool {
    const SUFFIXES: [&str; 5] = [".localhost", ".local", ".internal", ".home.arpa", ".test"];
    match url.host() {
        Some(Host::Domain(name)) => !name.contains('.') || SUFFIXES.iter().any(|end| name.ends_with(end)),
        Some(Host::Ipv4(address)) => chunkwright_http::is_private(address.into()),
        Some(Host::Ipv6(address)) => chunkwright_http::is_private(address.into()),
        None => false,
    }
}

/// Whether a text names one commit and can be nothing else to `git`: no option, no range, no expression.
fn is_reference(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '+');
    let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    begins && text.len() <= 255 && text.chars().all(is_plain) && !text.contains("..") && !text.contains("//")
}
