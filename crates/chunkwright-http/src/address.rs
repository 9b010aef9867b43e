//! Guards which addresses may be called.
//!
//! A name is resolved and checked here, and the connection then goes to exactly that address: a name that resolves to
//! another address the second time gains nothing. This prevents DNS rebinding.

use std::fmt::{self, Write as _};
use std::net::{IpAddr, Ipv6Addr};

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use crate::HttpError;

/// Metadata service of Amazon's cloud; that of the others is in 169.254.0.0/16.
const METADATA: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

/// Resolves names, and refuses those of addresses that may not be called.
#[derive(Debug)]
pub(crate) struct Guard {
    resolver: DefaultResolver,
    allow_link_local: bool,
}

impl Guard {
    pub(crate) fn new(allow_link_local: bool) -> Self {
        Self { resolver: DefaultResolver::default(), allow_link_local }
    }
}

impl Resolver for Guard {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.resolver.resolve(uri, config, timeout)?;
        match found.iter().find(|address| is_link_local(address.ip())) {
            Some(address) if !self.allow_link_local => {
                Err(ureq::Error::Other(Box::new(Refused(address.ip()))))
            }
            _ => Ok(found),
        }
    }
}

/// A name that resolved to this address was not called.
#[derive(Debug)]
pub(crate) struct Refused(pub(super) IpAddr);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is link-local", self.0)
    }
}

impl std::error::Error for Refused {}

fn is_link_local(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local() || address == METADATA,
    }
}

/// A name as one segment of a path: all but the unreserved characters of RFC 3986 are percent-encoded. `.` and `..`
/// stay, since servers interpret them in any spelling.
///
/// ```
/// assert_eq!(chunkwright_http::path_segment("a/b c.课"), "a%2Fb%20c.%E8%AF%BE");
/// ```
pub fn path_segment(name: &str) -> String {
    let mut segment = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            segment.push(byte.into());
        } else {
            let _ = write!(segment, "%{byte:02X}");
        }
    }
    segment
}

/// The required form of an address.
const FORM: &str = "it must begin with `http://` or `https://` and a host";

/// `url` without the `/` at its end, if it is the plain address of a service.
pub(crate) fn checked_url(url: &str) -> Result<String, HttpError> {
    let wrong = |reason| HttpError::Url { url: without_secrets(url), reason };
    let parsed: Uri = url.parse().map_err(|_| wrong(FORM))?;
    if !matches!(parsed.scheme_str(), Some("http" | "https")) {
        return Err(wrong(FORM));
    }
    if cfg!(not(feature = "tls")) && parsed.scheme_str() == Some("https") {
        return Err(wrong("this program is built without TLS; it must begin with `http://`"));
    }
    let host = parsed.authority().filter(|authority| !authority.host().is_empty());
    let host = host.ok_or_else(|| wrong(FORM))?;
    if host.as_str().contains('@') || url.contains(['?', '#']) {
        return Err(wrong("it must hold no user, password, query or fragment; a key is configured apart"));
    }
    Ok(url.trim_end_matches('/').to_owned())
}

/// `url` without what stands where passwords and keys do.
fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let host = rest.rsplit('@').next().unwrap_or_default();
    if scheme.is_empty() { host.to_owned() } else { format!("{scheme}://{host}") }
}

/// `path` at `base`; a first segment that `base` ends with is not repeated.
pub(crate) fn joined(base: &str, path: &str) -> String {
    let end =
        path.char_indices().skip(1).find(|(_, c)| matches!(c, '/' | '?')).map_or(path.len(), |(at, _)| at);
    let first = &path[..end];
    let after = base.split_once("://").map_or(base, |(_, after)| after);
    match base.strip_suffix(first) {
        Some(shorter) if first.len() > 1 && after.len() > first.len() => format!("{shorter}{path}"),
        _ => format!("{base}{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_local_and_metadata_addresses_are_told_from_private_ones() {
        for refused in ["169.254.169.254", "::ffff:169.254.1.1", "fe80::1", "febf::1", "fd00:ec2::254"] {
            assert!(is_link_local(refused.parse().unwrap()), "{refused}");
        }
        for allowed in ["127.0.0.1", "10.0.0.1", "192.168.1.1", "::1", "fd00::1", "8.8.8.8"] {
            assert!(!is_link_local(allowed.parse().unwrap()), "{allowed}");
        }
    }

    #[test]
    fn a_path_joins_a_base_that_has_its_version_already() {
        let check = |base: &str, path: &str, expected: &str| assert_eq!(joined(base, path), expected);
        check("http://h:1", "/v1/embeddings", "http://h:1/v1/embeddings");
        check("http://h:1/v1", "/v1/embeddings", "http://h:1/v1/embeddings");
        check("http://h/api/v1", "/v1/rerank", "http://h/api/v1/rerank");
        check("http://h/v1beta", "/v1/rerank", "http://h/v1beta/v1/rerank");
        check("http://h/embed", "/embed", "http://h/embed");
        check("http://v1", "/v1/rerank", "http://v1/v1/rerank");
        check("http://h", "/collections?x=1", "http://h/collections?x=1");
    }

    #[test]
    fn an_address_with_a_secret_is_refused_without_showing_it() {
        for url in
            ["http://user:word@h/", "http://h/?key=word", "http://h/#word", "ftp://u:word@h", "word@h", ""]
        {
            let error = checked_url(url).unwrap_err().to_string();
            assert!(!error.contains("word@") && !error.contains("=word"), "{error}");
        }
        assert_eq!(checked_url("http://h:8/v1/").unwrap(), "http://h:8/v1");
        assert_eq!(checked_url("https://h:8/v1/").is_ok(), cfg!(feature = "tls"));
    }
}
