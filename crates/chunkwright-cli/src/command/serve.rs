//! `chunkwright serve`

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, Result};
use chunkwright_engine::Access;
use chunkwright_server::{Limits, Server, ServerOptions, Stopped, Watch};

use crate::app::{CollectionFlags, Global, Outcome};
use crate::interrupt;

/// Serve the HTTP API
///
/// Answers on a loopback address until it is interrupted.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    listen: SocketAddr,
    /// Let requests index files below this folder; may be given several times
    #[arg(long, value_name = "FOLDER")]
    root: Vec<PathBuf>,
    /// Keep the collection in step with this file or folder; may be given several times
    #[arg(long, value_name = "PATH")]
    watch: Vec<PathBuf>,
    #[command(flatten)]
    collection: CollectionFlags,
}

impl Serve {
    pub(crate) fn run(&self, global: &Global) -> Result<Outcome> {
        let engine = global.builder(None, &[&self.collection])?.owner().open(Access::Write)?;
        let limits = Limits::default();
        interrupt::keeps("the server has stopped; stored data is intact");
        interrupt::wait_at_most(limits.shutdown_timeout);
        let watch = (!self.watch.is_empty()).then(|| Watch::start(&engine, self.watch.clone())).transpose()?;
        let server = Server::new(engine, ServerOptions { listen: self.listen, roots: self.root.clone(), limits })?;
        let stopped = server
            .run(&interrupt::flag(), |address| global.say(&format!("listening on http://{address}")))
            .with_context(|| format!("`{}` cannot be listened on", self.listen))?;
        drop(watch);
        if stopped == Stopped::CutShort {
            global.say("requests that took too long were ended");
        }
        Ok(Outcome::Success)
    }
}
