//! Checks `Host` and `Origin`, against DNS rebinding and cross-site requests.
//!
//! A page of any site can point its name at 127.0.0.1 (DNS rebinding) and then read the answers of a server there as
//! its own. `Host` reveals it. Other pages can still send requests (CSRF), which `Origin` and `Sec-Fetch-Site` reveal.

use std::net::{IpAddr, SocketAddr};

use axum::extract::Request;
use axum::http::header::{HOST, HeaderMap, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderValue, Method};

use super::refusal::Refusal;
use crate::options::Admission;

/// The names of a server.
pub(crate) struct Hosts {
    address: SocketAddr,
    usual_port: u16,
    /// Listed names, each with its port if it is listed with one.
    listed: Vec<(String, Option<u16>)>,
    origins: Vec<String>,
}

impl Hosts {
    pub(crate) fn new(address: SocketAddr, is_tls: bool, admission: &Admission) -> Self {
        let parse = |host: &String| {
            let host: Authority = host.parse().ok()?;
            Some((host.host().to_ascii_lowercase(), host.port_u16()))
        };
        Self {
            address,
            usual_port: if is_tls { 443 } else { 80 },
            listed: admission.hosts.iter().filter_map(parse).collect(),
            origins: admission.origins.iter().map(|origin| origin.to_ascii_lowercase()).collect(),
        }
    }

    /// Refuses requests that call the server by another name, and requests from pages of other sites.
    pub(crate) fn check(&self, request: &Request) -> Result<(), Refusal> {
        let authority =
            authority(request).filter(|authority| self.is_known(authority)).ok_or(Refusal::Host)?;
        let mut origins = request.headers().get_all(ORIGIN).iter().peekable();
        if origins.peek().is_some() {
            let is_own =
                |origin: &HeaderValue| origin.to_str().is_ok_and(|origin| self.is_friend(origin, &authority));
            return if origins.all(is_own) { Ok(()) } else { Err(Refusal::Origin) };
        }
        let of_site = header(request.headers(), "sec-fetch-site");
        let is_foreign = matches!(of_site, Some("cross-site" | "same-site"));
        // Following a link to the server is allowed: the page with the link cannot see the result.
        let is_visit = *request.method() == Method::GET
            && header(request.headers(), "sec-fetch-mode") == Some("navigate");
        if is_foreign && !is_visit { Err(Refusal::Origin) } else { Ok(()) }
    }

    fn is_known(&self, authority: &Authority) -> bool {
        let host = authority.host().to_ascii_lowercase();
        let port = authority.port_u16();
        if self.listed.iter().any(|(name, only)| *name == host && only.is_none_or(|only| port == Some(only)))
        {
            return true;
        }
        if port.unwrap_or(self.usual_port) != self.address.port() {
            return false;
        }
        let listens = self.address.ip();
        let ip: Option<IpAddr> = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
        match ip {
            // An IP address has no name that could be pointed elsewhere.
            Some(_) if listens.is_unspecified() => true,
            Some(ip) => ip == listens || listens.is_loopback() && ip.is_loopback(),
            None => host == "localhost" && (listens.is_loopback() || listens.is_unspecified()),
        }
    }

    /// Returns whether an origin is that of the server itself, or listed.
    fn is_friend(&self, origin: &str, authority: &Authority) -> bool {
        let origin = origin.to_ascii_lowercase();
        if self.origins.contains(&origin) {
            return true;
        }
        let own = |scheme: &str, usual: u16| {
            let other: Authority = origin.strip_prefix(scheme)?.parse().ok()?;
            let port = |authority: &Authority| authority.port_u16().unwrap_or(usual);
            Some(other.host().eq_ignore_ascii_case(authority.host()) && port(&other) == port(authority))
        };
        own("http://", 80).or_else(|| own("https://", 443)).unwrap_or(false)
    }
}

/// The host that a request names; `None` if there is none, several, or an invalid one.
fn authority(request: &Request) -> Option<Authority> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let host = hosts.next();
    if hosts.next().is_some() {
        return None;
    }
    let host: Authority = host?.to_str().ok()?.parse().ok()?;
    let is_same =
        request.uri().authority().is_none_or(|named| named.as_str().eq_ignore_ascii_case(host.as_str()));
    (is_same && !host.as_str().contains('@')).then_some(host)
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
