//! `chunkwright key`

use std::path::PathBuf;
use std::{fs, io};

use anyhow::{Context, Result};
use chunkwright_server::{Key as ApiKey, Keys, Scope, append_line, readable_by_us_alone};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use crate::app::{Global, Outcome};
use crate::output::print;

/// Make an API key for a client of `chunkwright serve`
///
/// Prints the key, which is shown once and kept nowhere, and adds its hash to the file. A server reads the file again when it
/// changes; to take a key back, delete its line.
#[derive(Debug, clap::Args)]
pub(crate) struct Key {
    /// Who holds it: letters, digits, `-`, `_` and `.`; the name that logs have
    name: String,
    /// What it allows: `read` (search and look), `write` (also change what is indexed, and remove documents by name) or `admin` (also
    /// remove collections and whatever a pattern names, change how the server works, and see where its files are)
    #[arg(long, value_name = "SCOPE", default_value = "read")]
    scope: Scope,
    /// Until when it can be used: a time from now, such as 90d or 12h, or a date, such as 2027-01-31, with which it ends. By default for
    /// good
    #[arg(long, value_name = "WHEN", value_parser = expiry)]
    expires: Option<Timestamp>,
    /// File of the server's keys; it is made if it does not exist
    #[arg(long, value_name = "FILE")]
    keys: PathBuf,
}

/// Parses an expiry: a duration from now, a date in UTC that ends with that day, or a time as in RFC 3339.
fn expiry(text: &str) -> Result<Timestamp, String> {
    let now = Timestamp::now();
    let after = |span: Span| now.to_zoned(TimeZone::UTC).checked_add(span).map(|at| at.timestamp());
    let end_of = |date: Date| date.tomorrow().and_then(|next| next.to_zoned(TimeZone::UTC)).map(|at| at.timestamp());
    let at = text.parse::<Timestamp>().or_else(|_| text.parse().and_then(end_of)).or_else(|_| text.parse().and_then(after));
    match at {
        Ok(at) if at > now => Ok(at),
        Ok(at) => Err(format!("{at} is over; it must be in the future")),
        Err(_) => Err("expected a time from now, such as `90d`, or a date, such as `2027-01-31`".to_owned()),
    }
}

impl Key {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let shown = self.keys.display();
        let before = match fs::read_to_string(&self.keys) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read.with_context(|| format!("`{shown}` cannot be read"))?,
        };
        let mut keys = Keys::parse(&before).with_context(|| format!("`{shown}` cannot be used"))?;
        let (mut key, secret) = ApiKey::generate(&self.name, self.scope)?;
        key.expires = self.expires;
        keys.add(key.clone())?;
        append_line(&self.keys, &key.to_string()).with_context(|| format!("`{shown}` cannot be written"))?;
        if let Some(warning) = readable_by_us_alone(&self.keys)? {
            global.say(&warning);
        }
        print(format!("{secret}\n").as_bytes())?;
        Ok(Outcome::Success)
    }
}
