//! Pages: what a web server answers, with its status and headers, for a caller that decides what they mean.

use std::time::Duration;

use crate::failure::Failure;
use crate::{Client, HttpError, Method, body_of, failure};

/// The answer of a web server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its status: below 500, and not one of a trouble that passes.
    pub status: u16,
    /// The headers that are text, by their names in lower case.
    headers: Vec<(String, String)>,
    /// The body of a status 200; empty for another.
    pub body: Vec<u8>,
}

impl Page {
    /// The first header of a name, in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

impl Client {
    /// Gets the page at `path`, which begins with `/` and may hold a query, with these headers beside those of the
    /// client. Redirects are returned and not followed.
    ///
    /// # Errors
    ///
    /// A server that cannot be reached, is busy or fails after all attempts; a body over
    /// [`max_body_bytes`](crate::HttpOptions::max_body_bytes).
    pub fn page(&self, path: &str, headers: &[(&str, &str)]) -> Result<Page, HttpError> {
        let url = format!("{}{path}", self.base);
        self.repeated(|left| self.page_once(&url, headers, left))
    }

    fn page_once(&self, url: &str, headers: &[(&str, &str)], left: Duration) -> Result<Page, Failure> {
        let mut response = self
            .response(Method::Get, url, headers, None, left)
            .map_err(|error| Failure::connection(url, &error))?;
        let status = response.status().as_u16();
        let named = response.headers().iter();
        let headers: Vec<(String, String)> = named
            .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
            .collect();
        let mut page = Page { status, headers, body: Vec::new() };
        if failure::may_pass(status) || status >= 500 {
            let after = page.header("retry-after");
            let after = after.and_then(|value| crate::retry::after(value, self.clock.unix_seconds()));
            return Err(Failure::status(url, status, "the server failed".to_owned(), after));
        }
        if status == 200 {
            page.body = body_of(&mut response, url, self.options.max_body_bytes)?;
        }
        Ok(page)
    }
}
