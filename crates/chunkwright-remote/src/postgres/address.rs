//! Addresses of PostgreSQL, as libpq reads them.
//!
//! [`postgres::Config`] reads most of an address. This module takes out what it does not know: the schema, and all
//! about certificates.

use std::path::PathBuf;
use std::time::Duration;

use postgres::Config;
#[cfg(unix)]
use postgres::config::Host;
use postgres::config::SslMode;

use super::tls::{Tls, Verify};
use chunkwright_store::{StoreError, StoreLocation};

/// Where the database is, and how it is reached.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) tls: Tls,
    /// The schema of the tables; `None`: the one that the role finds first.
    pub(super) schema: Option<String>,
}

const RIGHT: &str = "options are those of libpq's URLs but for files of client certificates and passwords, and `schema` (a name)";

impl Address {
    /// Reads an address such as `postgres://user@host/db?sslmode=verify-full&schema=team`.
    pub(super) fn of(place: &StoreLocation) -> Result<Self, StoreError> {
        let wrong = |name: &str| place.wrong_option(name, RIGHT);
        let (mut schema, mut verify, mut roots) = (None, None, None);
        let mut others = Vec::new();
        for (name, value) in place.options() {
            match name {
                "schema" => {
                    schema = Some(decoded(value).filter(|name| !name.is_empty()).ok_or_else(|| wrong(name))?);
                }
                "sslrootcert" => roots = Some(decoded(value).ok_or_else(|| wrong(name))?),
                "sslmode" => match value {
                    "verify-ca" => verify = Some(Verify::Issuer),
                    "verify-full" => verify = Some(Verify::Host),
                    "allow" | "prefer" => others.push("sslmode=prefer".to_owned()),
                    _ => others.push(format!("sslmode={value}")),
                },
                _ => others.push(format!("{name}={value}")),
            }
        }
        let bare = place.location.split_once('?').map_or(&*place.location, |(bare, _)| bare);
        let location = format!("{bare}?{}", others.join("&"));
        let refused = |reason: String| StoreError::Location { location: place.address(), reason };
        let mut config: Config = location.parse().map_err(|error: postgres::Error| {
            let why =
                std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            refused(format!("{why}; {RIGHT}"))
        })?;
        if verify.is_some() {
            config.ssl_mode(SslMode::Require);
        }
        let roots = roots.filter(|roots| roots != "system").map(PathBuf::from);
        if roots.is_some() && verify.is_none() && config.get_ssl_mode() == SslMode::Require {
            // As in libpq, named issuers are verified.
            verify = Some(Verify::Issuer);
        }
        let tls = Tls::new(verify.unwrap_or(Verify::Nothing), roots.as_deref())
            .map_err(|error| refused(format!("the certificates of `sslrootcert` cannot be used: {error}")))?;
        if let (None | Some([]), Some(key)) = (config.get_password(), &place.key) {
            config.password(key.expose());
        }
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(refused("it names no host; a folder of sockets is `?host=/run/postgresql`".into()));
        }
        #[cfg(unix)]
        if config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_))) {
            // Sockets have no TLS, and libpq asks for none of them, whatever the address says.
            config.ssl_mode(SslMode::Disable);
        }
        fill(&mut config, place);
        Ok(Self { config, tls, schema })
    }
}

/// Sets what the address leaves open.
fn fill(config: &mut Config, place: &StoreLocation) {
    let http = &place.http;
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_millis(http.connect_ms));
    }
    if config.get_application_name().is_none() {
        config.application_name("chunkwright");
    }
    if config.get_keepalives_interval().is_none() {
        // A server that is gone without a word is noticed after two minutes, instead of two hours.
        let read = Duration::from_millis(http.read_ms);
        config.keepalives_idle(read).keepalives_interval(read / 4).keepalives_retries(4);
        config.tcp_user_timeout(read * 2);
    }
    // What comes later wins: options of the address are the user's.
    let own = config.get_options().unwrap_or_default();
    let options =
        format!("-c lock_timeout={} -c statement_timeout={} {own}", http.read_ms / 2, http.timeout_ms);
    config.options(options.trim_end());
}

/// A value of a URL without percent signs.
fn decoded(value: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::with_capacity(value.len()), value.as_bytes());
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = after;
        } else {
            bytes.push(*byte);
        }
    }
    String::from_utf8(bytes).ok()
}
