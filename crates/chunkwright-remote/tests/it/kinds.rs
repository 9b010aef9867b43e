//! The kinds of stores that these tests run over: those whose servers are available.

use std::sync::OnceLock;

use chunkwright_http::{Client, HttpOptions, Method};
use chunkwright_index::STORES;
use serde_json::json;

use crate::servers;

/// All of them; of others it is said that they are not checked.
pub(crate) fn kinds() -> impl Iterator<Item = &'static str> {
    STORES.iter().filter(|kind| !kind.schemes.is_empty()).map(|kind| kind.name).filter(|kind| {
        assert!(
            servers::variable(kind).is_some(),
            "tests have no server of the store `{kind}`: start one in `stores.py`"
        );
        let is_there = servers::url(kind).is_some();
        if !is_there {
            println!("not checked with `{kind}`: `CHUNKWRIGHT_SERVERS` does not say where it is");
        }
        is_there
    })
}

/// Where a new store is.
pub(crate) fn location(kind: &str) -> Option<String> {
    Some(on_server(&servers::url(kind)?, &unique()))
}

/// The address of a store of its own on the server at `url`, which may be reached by a proxy.
pub(crate) fn on_server(url: &str, prefix: &str) -> String {
    static DATABASE: OnceLock<String> = OnceLock::new();
    if url.starts_with("postgres") {
        return format!("{url}{}schema={prefix}-", if url.contains('?') { '&' } else { '?' });
    }
    let location = format!("{url}?prefix={prefix}-");
    if !url.starts_with("chroma") {
        return location;
    }
    // Chroma lists the collections of a database only whole: in one that all tests share, every list would have hundreds.
    let database = DATABASE.get_or_init(|| {
        let (server, name) = (servers::url("chroma").unwrap().replace("chroma", "http"), unique());
        let client = Client::new(&server, HttpOptions::default()).unwrap();
        let path = "/api/v2/tenants/default_tenant/databases";
        client.send(Method::Post, path, Some(&json!({"name": name}))).unwrap();
        name
    });
    format!("{location}&database={database}")
}

/// A name that no other test has.
pub(crate) fn unique() -> String {
    let folder = tempfile::Builder::new().prefix("t").rand_bytes(12).tempdir().unwrap();
    folder.path().file_name().unwrap().to_str().unwrap().to_owned()
}
