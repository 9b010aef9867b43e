//! `chunkwright serve`

mod flags;

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use chunkwright_engine::{Access, IndexRequest};
use chunkwright_server::{Server, ServerOptions, Stopped, Watch};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::interrupt;
use super::index::PruneFlag;
use flags::{AdmissionFlags, LimitFlags, LogFlags, ProxyFlags};

/// Serve the HTTP API
///
/// Answers on a loopback address until it is interrupted. On another address every client needs an API key (`chunkwright key`).
/// `/health` and `/ready` are for process managers, `/metrics` for Prometheus.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    listen: SocketAddr,
    /// Let requests index files below this folder; may be given several times
    #[arg(long, value_name = "FOLDER")]
    root: Vec<PathBuf>,
    /// Answer searches and refuse every change; any number of such servers may read one store while another process writes to it
    #[arg(long, conflicts_with = "watch")]
    read_only: bool,
    /// Keep the collection in step with this file or folder; may be given several times
    ///
    /// A document is removed when its file was deleted, even while the server was down. It stays where its folder is missing,
    /// cannot be read or may not be mounted, and where more than half of a path's documents would be removed.
    #[arg(long, value_name = "PATH")]
    watch: Vec<PathBuf>,
    /// What becomes of documents whose files are gone from the paths watched: `keep` lets all stay, `force` removes them even
    /// if they are more than half
    #[arg(long, value_name = "keep|force", requires = "watch", hide_possible_values = true)]
    prune: Option<PruneFlag>,
    /// Keep the queries of clients and agents in a file beside the store, for the page `Log`
    #[arg(long)]
    log_queries: bool,
    #[command(flatten)]
    admission: AdmissionFlags,
    #[command(flatten)]
    proxy: ProxyFlags,
    #[command(flatten)]
    limits: LimitFlags,
    #[command(flatten)]
    log: LogFlags,
    #[command(flatten)]
    collection: CollectionFlags,
}

impl Serve {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        // The last traces are sent after everything else has ended.
        let _traces = self.log.begin()?;
        let (admission, warnings) = self.admission.read()?;
        for warning in &warnings {
            global.say(warning);
        }
        let limits = self.limits.read(self.listen);
        let tls = self.admission.tls();
        let options = ServerOptions { listen: self.listen, roots: self.root.clone(), admission, proxy: self.proxy.read(), limits, tls, log_queries: self.log_queries, ..ServerOptions::default() };
        // Errors in flags are reported before a store is opened, which may take long.
        options.check()?;
        let builder = global.builder(None, &[&self.collection])?;
        let engine = if self.read_only { builder.open(Access::Read) } else { builder.owner().or_read().open(Access::Write) }?;
        if engine.is_read_only() && !self.read_only {
            global.say("the store can only be read here: searches are answered, and changes are refused");
        }
        if !self.watch.is_empty() {
            engine.check_writable().context("`--watch` changes the store")?;
        }

        interrupt::keeps("the server has stopped; stored data is intact");
        interrupt::wait_at_most(limits.shutdown_timeout);
        let base = options.proxy.base_path.as_str().to_owned();
        let scheme = if options.tls.is_some() { "https" } else { "http" };
        let watch = (!self.watch.is_empty()).then(|| Watch::start(&engine, self.followed())).transpose()?;
        let stopped = Server::new(engine, options)?
            .run(&interrupt::flag(), |address| global.say(&format!("listening on {scheme}://{address}{base}")))?;
        drop(watch);
        if stopped == Stopped::CutShort {
            global.say("requests that took too long were ended");
        }
        Ok(Outcome::Success)
    }

    /// The request that keeps the collection in step with the watched paths.
    fn followed(&self) -> IndexRequest {
        let usual = IndexRequest::following(self.watch.clone());
        IndexRequest { prune: self.prune.map_or(usual.prune, |flag| flag.prune(true)), ..usual }
    }
}
