//! Guards which addresses may be called.
//!
//! A name is resolved and checked here, and the connection then goes to exactly that address: a name that resolves to
//! another address the second time gains nothing. This prevents DNS rebinding.

use std::fmt::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use crate::{HttpError, HttpOptions};

/// Metadata service of Amazon's cloud; that of the others is in 169.254.0.0/16.
const METADATA: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

/// Resolves names, and refuses those of addresses that may not be called.
#[derive(Debug)]
pub(crate) struct Guard {
    resolver: DefaultResolver,
    allow_link_local: bool,
    allow_private: bool,
}

impl Guard {
    pub(crate) fn new(options: &HttpOptions) -> Self {
        let HttpOptions { allow_link_local, allow_private, .. } = *options;
        Self { resolver: DefaultResolver::default(), allow_link_local, allow_private }
    }

    fn refuses(&self, address: IpAddr) -> bool {
        if is_link_local(address) {
            !self.allow_link_local
        } else {
            !self.allow_private && is_private(address)
        }
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
        match found.iter().find(|address| self.refuses(address.ip())) {
            Some(address) => Err(ureq::Error::Other(Box::new(Refused(address.ip())))),
            None => Ok(found),
        }
    }
}

/// A name that resolved to this address was not called.
#[derive(Debug)]
pub(crate) struct Refused(pub(super) IpAddr);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} may not be called", self.0)
    }
}

impl std::error::Error for Refused {}

pub(crate) fn is_link_local(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local() || address == METADATA,
    }
}

/// Whether an address is not one of the public internet: of this machine, a private or shared network, a test range, or
/// IPv6 that stands for such an address of IPv4 (RFC 6890).
///
/// ```
/// assert!(chunkwright_http::is_private("10.0.0.1".parse()?));
/// assert!(!chunkwright_http::is_private("8.8.8.8".parse()?));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
pub fn is_private(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let [a, b, c, _] = address.octets();
            let is_of_range =
                matches!((a, b, c), (0 | 240.., ..) | (100, 64..=127, _) | (192, 0, 0) | (198, 18..=19, _));
            is_of_range
                || address.is_loopback()
                || address.is_private()
                || address.is_link_local()
                || address.is_multicast()
        }
        IpAddr::V6(address) => {
            let [first, second, .., high, low] = address.segments();
            // NAT64 and 6to4 carry an address of IPv4.
            let inner = match (first, second) {
                (0x64, 0xff9b) => Some((high, low)),
                (0x2002, _) => Some((second, address.segments()[2])),
                _ => None,
            };
            let inner = inner.map(|(high, low)| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)));
            address.is_loopback()
                || address.is_unspecified()
                || address.is_multicast()
                || address.is_unique_local()
                || address.is_unicast_link_local()
                || inner.is_some_and(|inner| is_private(inner.into()))
        }
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
    fn private_addresses_are_told_from_public_ones_in_every_spelling() {
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "100.64.0.1",
            "0.0.0.0",
            "169.254.169.254",
            "255.255.255.255",
            "198.18.0.1",
            "::1",
            "::",
            "::ffff:127.0.0.1",
            "fd00::1",
            "fe80::1",
            "64:ff9b::7f00:1",
            "2002:0a00:0001::",
        ] {
            assert!(is_private(private.parse().unwrap()), "{private}");
        }
        for public in ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "64:ff9b::808:808"] {
            assert!(!is_private(public.parse().unwrap()), "{public}");
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
