//! Requests to the one host of a site.

use std::sync::Arc;

use chunkwright_http::{Client, Clock, HttpError, HttpOptions, Page};
use url::Url;

use crate::error::{MirrorError, PageError};
use crate::limits::Limits;
use crate::robots::Robots;
use crate::sitemap::MAX_BYTES;

/// Most redirects of one page.
const MAX_REDIRECTS: usize = 5;

/// The host of a site, and what it allows.
pub(crate) struct Host {
    /// An address of it: that which the caller named.
    url: Url,
    /// Its pages, and its sitemaps, which are larger.
    pages: Vec<(&'static str, Client)>,
    lists: Vec<(&'static str, Client)>,
    pub(crate) robots: Robots,
}

/// A page with the address that it was found at in the end.
pub(crate) struct Found {
    pub(crate) url: Url,
    pub(crate) page: Page,
}

impl Host {
    /// Reads what the host of `url` allows. Within `limits`, an address that says itself that it is private is none that
    /// was named.
    pub(crate) fn open(url: &Url, limits: &Limits, clock: &Arc<dyn Clock>) -> Result<Self, MirrorError> {
        let clients = |most: usize| -> Result<Vec<_>, MirrorError> {
            let mut clients = Vec::new();
            for scheme in ["https", "http"] {
                // Nothing leaves the encrypted connection that a caller asked for.
                if scheme == "http" && url.scheme() == "https" {
                    continue;
                }
                match client(url, scheme, most, limits) {
                    Ok(client) => clients.push((scheme, client.with_clock(Arc::clone(clock)))),
                    // A program without TLS has one scheme.
                    Err(error) if scheme == url.scheme() => return Err(PageError::Http(error).into()),
                    Err(_) => {}
                }
            }
            Ok(clients)
        };
        let (pages, lists) = (clients(limits.page_bytes)?, clients(MAX_BYTES as usize)?);
        let mut host = Self { url: url.clone(), pages, lists, robots: Robots::default() };
        let mut robots = url.clone();
        robots.set_path("/robots.txt");
        robots.set_query(None);
        let found = host.page(&robots, &[]).map_err(|error| match error {
            PageError::Http(HttpError::Private { address, .. }) => {
                MirrorError::Private { host: url.host_str().unwrap_or_default().to_owned(), address }
            }
            error => error.into(),
        })?;
        // Without rules everything is allowed; a server that fails has rules that are not known, and is an error above.
        if found.page.status == 200 {
            host.robots = Robots::parse(&String::from_utf8_lossy(&found.page.body));
        }
        Ok(host)
    }

    /// The address that a sitemap or a redirect names, if it is on this host.
    pub(crate) fn own(&self, text: &str) -> Option<Url> {
        let mut url = self.url.join(text).ok()?;
        url.set_fragment(None);
        let is_here = url.host_str() == self.url.host_str()
            && matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none();
        // Lists of a site that moved to TLS often name the old addresses.
        let has_usual_port = url.port().is_none() && self.url.port().is_none();
        if is_here && has_usual_port && self.url.scheme() == "https" {
            let _ = url.set_scheme("https");
        }
        (is_here && (has_usual_port || url.port_or_known_default() == self.url.port_or_known_default()))
            .then_some(url)
    }

    /// Whether the host allows to read a page.
    pub(crate) fn allows(&self, url: &Url) -> bool {
        self.robots.allow(&path_of(url))
    }

    /// Gets a page, through redirects on this host.
    pub(crate) fn page(&self, url: &Url, headers: &[(&str, &str)]) -> Result<Found, PageError> {
        self.get(&self.pages, url, headers)
    }

    /// Gets a page that may be a sitemap.
    pub(crate) fn list(&self, url: &Url, headers: &[(&str, &str)]) -> Result<Found, PageError> {
        self.get(&self.lists, url, headers)
    }

    fn get(
        &self,
        clients: &[(&'static str, Client)],
        url: &Url,
        headers: &[(&str, &str)],
    ) -> Result<Found, PageError> {
        let mut at = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            if !self.allows(&at) {
                return Err(PageError::Excluded { url: at.into() });
            }
            let elsewhere =
                |location: &str| PageError::Elsewhere { url: url.to_string(), location: location.to_owned() };
            let client = clients.iter().find(|(scheme, _)| *scheme == at.scheme());
            let (_, client) = client.ok_or_else(|| elsewhere(at.as_str()))?;
            let page = client.page(&path_of(&at), headers)?;
            if !matches!(page.status, 301 | 302 | 303 | 307 | 308) {
                return Ok(Found { url: at, page });
            }
            let location = page.header("location").unwrap_or_default();
            let next = at.join(location).ok().and_then(|next| self.own(next.as_str()));
            at = next.ok_or_else(|| elsewhere(&client.printable(location)))?;
        }
        Err(PageError::Redirects { url: url.to_string(), limit: MAX_REDIRECTS })
    }
}

fn client(url: &Url, scheme: &str, most: usize, limits: &Limits) -> Result<Client, HttpError> {
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
    let options = HttpOptions {
        max_body_bytes: most,
        retries: 2,
        timeout_ms: 60_000,
        deadline_ms: 120_000,
        allow_private: limits.allow_private,
        ..HttpOptions::default()
    };
    Client::new(&format!("{scheme}://{host}{port}"), options)
}

/// The path and the query of an address, as a request has them.
pub(crate) fn path_of(url: &Url) -> String {
    url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()))
}
