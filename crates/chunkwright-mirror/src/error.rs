//! Why an address, or a page of it, was not fetched.

use std::io;

use chunkwright_http::HttpError;

/// Why a mirror was not brought in step. It is as it was before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MirrorError {
    /// An address that names nothing which can be fetched.
    #[error("`{address}` cannot be fetched: {reason}")]
    Address {
        /// The address, without what may be secret.
        address: String,
        /// What would be right.
        reason: &'static str,
    },
    /// A line of a list of pages that is not the address of one.
    #[error(
        "line {line} of `{path}` is not the address of a page such as `https://HOST/PATH`; a list has one a line, and `#` before a comment"
    )]
    Line {
        /// The list.
        path: String,
        /// The line, from 1.
        line: usize,
    },
    /// A list of pages without any.
    #[error("`{path}` lists no page; nothing was removed")]
    EmptyList {
        /// The list.
        path: String,
    },
    /// Two addresses of one mirror, such as two references of a repository.
    #[error("`{address}` is given twice, or with two references; index one reference at a time")]
    Twice {
        /// The second of them.
        address: String,
    },
    /// An address, or a list of some, that is to be watched.
    #[error(
        "`{address}` is no folder, so it has no events to watch; run `chunkwright index` again when it may have changed: only what changed is fetched"
    )]
    Watched {
        /// The address.
        address: String,
    },
    /// An address in a request over a network.
    #[error(
        "`{address}` is an address, and a request may not have the server fetch one; `chunkwright index ADDRESS` does, on the server's machine"
    )]
    Remote {
        /// The address.
        address: String,
    },
    /// A host that the caller did not say may be private.
    #[error("`{host}` is at the private address {address}; name that address itself, or set `allow_private`")]
    Private {
        /// The host.
        host: String,
        /// What its name resolves to.
        address: std::net::IpAddr,
    },
    /// The page itself, the list of pages, or `robots.txt`.
    #[error(transparent)]
    Page(#[from] PageError),
    /// A sitemap that is cut off or not one.
    #[error("the sitemap `{url}` is damaged: {problem}; nothing was removed")]
    Sitemap {
        /// Its address.
        url: String,
        /// The first thing that is wrong.
        problem: String,
    },
    /// A sitemap without a page of its host that may be read.
    #[error("the sitemap `{url}` lists no page of `{host}` that may be fetched; nothing was removed")]
    NoPage {
        /// Its address.
        url: String,
        /// The host.
        host: String,
    },
    /// `git` failed.
    #[error("`git` could not fetch `{url}`: {reason}")]
    Git {
        /// The repository.
        url: String,
        /// The words of `git`.
        reason: String,
    },
    /// A limit was reached before a repository was complete.
    #[error("`{url}` was not fetched: {which}")]
    Limit {
        /// The repository.
        url: String,
        /// The limit.
        which: &'static str,
    },
    /// The folder of the mirror cannot be read or written.
    #[error("the mirror `{path}` could not be used: {error}")]
    Io {
        /// The file or folder.
        path: String,
        /// The system's error.
        error: io::Error,
    },
    /// The caller ended it.
    #[error("the fetch was cancelled")]
    Cancelled,
}

/// Why a page was not fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// The server could not be asked, or failed.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The server answers something else than a page.
    #[error("`{url}` answered {status}")]
    Status {
        /// The page.
        url: String,
        /// The status.
        status: u16,
    },
    /// The page is on another host now, or no longer encrypted.
    #[error("`{url}` redirects to `{location}`, which is not on the host that was named")]
    Elsewhere {
        /// The page.
        url: String,
        /// Where it is said to be.
        location: String,
    },
    /// Redirects that do not end.
    #[error("`{url}` redirects more than {limit} times")]
    Redirects {
        /// The page.
        url: String,
        /// The limit.
        limit: usize,
    },
    /// The host of the page cannot be asked at all.
    #[error("`{url}`: {reason}")]
    Host {
        /// The page.
        url: String,
        /// Why.
        reason: String,
    },
    /// The host asks programs not to read the page.
    #[error("`{url}` is excluded by the host's `robots.txt`")]
    Excluded {
        /// The page.
        url: String,
    },
    /// The file of the page cannot be written.
    #[error("`{url}` could not be stored: {reason}")]
    Store {
        /// The page.
        url: String,
        /// The system's error.
        reason: String,
    },
}
