//! A server for stores, and a link to it that injects failures: a real server behind a proxy, or the in-memory double.

use std::path::Path;
use std::sync::Arc;

use chunkwright_index::{Access, Store};
use chunkwright_remote::{Double, Fault as Lost};

use crate::kinds::unique;
use crate::proxy::{Fault, Proxy};
use crate::remote::{for_each_server, open};
use crate::stride::one_in;

/// See the module.
pub(crate) enum World {
    Server { url: String, prefix: String, proxy: Proxy },
    Double(Double),
}

/// Runs `body` over the double and each server that is to be had.
pub(crate) fn for_each_world(body: impl Fn(&mut World)) {
    body(&mut World::Double(Double::default()));
    for_each_server(|url| {
        body(&mut World::Server { url: url.into(), prefix: unique(), proxy: Proxy::before(url) });
    });
}

impl World {
    /// What it is, for messages.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Server { url, .. } => url,
            Self::Double(_) => "double",
        }
    }

    /// Puts an empty store in place of the one before, and a link without a fault.
    pub(crate) fn renew(&mut self) {
        match self {
            Self::Server { url, prefix, proxy } => (*prefix, *proxy) = (unique(), Proxy::before(url)),
            Self::Double(double) => *double = Double::default(),
        }
    }

    /// A store by the link that may fail. `cache` is a folder of this machine.
    pub(crate) fn open(&self, cache: &Path) -> Arc<dyn Store> {
        match self {
            Self::Server { url, prefix, proxy } => open(&proxy.url(url), prefix, cache, 0),
            Self::Double(double) => Arc::new(double.open(cache, Access::Write).unwrap()),
        }
    }

    /// The same store by a link that never fails.
    pub(crate) fn beside(&self, cache: &Path) -> Arc<dyn Store> {
        match self {
            Self::Server { url, prefix, .. } => open(url, prefix, cache, 0),
            Self::Double(double) => Arc::new(double.beside().open(cache, Access::Write).unwrap()),
        }
    }

    /// Fails so from now on; requests are counted anew.
    pub(crate) fn set(&self, fault: Fault) {
        match self {
            Self::Server { proxy, .. } => proxy.set(fault),
            Self::Double(double) => double.set(match fault {
                Fault::LostFrom(from) => Lost::LostFrom(from),
                Fault::UnansweredFrom(from) => Lost::UnansweredFrom(from),
                _ => Lost::None,
            }),
        }
    }

    /// Requests since then.
    pub(crate) fn requests(&self) -> usize {
        match self {
            Self::Server { proxy, .. } => proxy.requests(),
            Self::Double(double) => double.requests(),
        }
    }

    /// The numbers of requests to fail at: all of the double, and one in `coarse` of a server.
    pub(crate) fn faults(&self, coarse: usize) -> impl Iterator<Item = usize> + use<> {
        (0..).step_by(if matches!(self, Self::Double(_)) { 1 } else { one_in(coarse) })
    }

    /// Writes `by` in place of `what` in the JSON of every entry that is put from now on.
    pub(crate) fn rewrite(&self, what: &str, by: &str) {
        match self {
            Self::Server { url, proxy, .. } if url.starts_with("postgres") => proxy.rewrite(what, by),
            // Entries are JSON in JSON there.
            Self::Server { proxy, .. } => proxy.rewrite(&what.replace('"', "\\\""), &by.replace('"', "\\\"")),
            Self::Double(double) => double.rewrite(what, by),
        }
    }
}
