//! Sites and repositories as folders: what an address names is mirrored into a folder, which is then indexed as any other.
//!
//! A mirror is brought in step by [`Mirrors::bring`], as often as a caller likes. It asks a server only for what changed
//! (`ETag`, `Last-Modified`), rewrites only files whose bytes changed, and deletes a file only if the server says that it
//! is gone: a page that cannot be fetched keeps its last version, and so does everything if a list of pages cannot be
//! read. A run that ends early leaves what it fetched, and the next one begins with what is missing.
//!
//! * A sitemap, or an index of sitemaps, names pages, and so does a list in a file of this machine; any other address is
//!   a page by itself. Links are not followed and no script runs.
//! * Only the host that the caller named is asked, or for a page of a list the host of its address, within what its
//!   `robots.txt` allows to [`AGENT`].
//! * Pages, bytes, time and redirects are bounded ([`Limits`]).
//! * Addresses of private networks are refused unless the caller named one, or allows them; a list does not name one.
//! * A repository is fetched by the system's `git`, one commit deep, over HTTP alone.
//!
//! The file of a page is `HOST/PATH`, so that ids of documents tell where they are from. A mirror is locked while it is
//! used: two runs of one address take turns.

mod address;
mod error;
mod folder;
mod get;
mod limits;
mod list;
mod name;
mod repository;
mod robots;
mod site;
mod sitemap;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chunkwright_http::{Clock, SystemClock};

pub use address::{Address, is_address};
pub use error::{MirrorError, PageError};
pub use limits::Limits;
pub use robots::{AGENT, Robots};
pub use sitemap::{Listed, Sitemap, read_sitemap};

use folder::Folder;

/// Texts about a file, by name.
pub type Meta = BTreeMap<String, String>;

/// The mirrors of a machine.
#[derive(Clone, Debug)]
pub struct Mirrors {
    folder: PathBuf,
    limits: Limits,
    cancel: Arc<AtomicBool>,
    clock: Arc<dyn Clock>,
}

/// A mirror that is in step, and stays locked until it is dropped.
#[derive(Debug)]
pub struct Mirrored {
    /// The address, without what changes from run to run.
    pub address: String,
    /// The folder to index. Paths in it begin with the host.
    pub folder: PathBuf,
    /// What is known of files: `url` of a page; `url` and `commit` of a file of a repository, that at which its present
    /// content was first seen.
    pub meta: Vec<(PathBuf, Meta)>,
    /// What happened.
    pub report: Report,
    _lock: File,
}

/// What bringing a mirror in step did.
#[derive(Debug, Default)]
pub struct Report {
    /// Pages whose content is new.
    pub changed: usize,
    /// Pages that are as they were.
    pub unchanged: usize,
    /// Pages that are gone.
    pub removed: usize,
    /// Pages that `robots.txt` excludes.
    pub excluded: usize,
    /// Pages on other hosts.
    pub elsewhere: usize,
    /// Pages that could not be fetched, and why. Those with a last version keep it.
    pub failed: Vec<PageError>,
    /// Pages that were not asked for, because a limit was reached, and which.
    pub left: Option<(usize, &'static str)>,
    /// Pages without a version: documents of them must not be taken for gone.
    pub missing: usize,
    /// The address of a sitemap that the host names, if a single page was asked for.
    pub sitemap: Option<String>,
}

impl Mirrors {
    /// The mirrors in `folder`, which is created.
    pub fn new(folder: impl Into<PathBuf>, limits: Limits) -> Self {
        let (cancel, clock) = (Arc::default(), Arc::new(SystemClock));
        Self { folder: folder.into(), limits, cancel, clock }
    }

    /// Ends early, with [`MirrorError::Cancelled`], when the flag becomes true.
    pub fn with_cancel(self, cancel: Arc<AtomicBool>) -> Self {
        Self { cancel, ..self }
    }

    /// Brings the mirror of an address in step. `on_progress` gets how many pages are done, and of how many.
    ///
    /// # Errors
    ///
    /// An address that cannot be asked at all, a list of pages that cannot be read, a disk that cannot be written. The
    /// mirror is then as it was.
    pub fn bring(
        &self,
        address: &Address,
        on_progress: &dyn Fn(usize, usize),
    ) -> Result<Mirrored, MirrorError> {
        let folder = Folder::open(&self.folder, &address.key(), &self.cancel, &*self.clock)?;
        match address {
            Address::Site(url) => site::bring(self, url, folder, on_progress),
            Address::Repository { url, reference } => {
                repository::bring(self, url, reference.as_deref(), folder)
            }
            Address::List { path, pages } => list::bring(self, (path, pages), folder, on_progress),
        }
    }

    /// Lets time pass, unless the caller ends the run meanwhile.
    fn pause(&self, time: Duration) {
        const STEP: Duration = Duration::from_millis(100);
        let mut left = time;
        while !left.is_zero() && !self.cancel.load(Ordering::SeqCst) {
            self.clock.sleep(left.min(STEP));
            left = left.saturating_sub(STEP);
        }
    }

    /// The folder that an address is mirrored into, whether it was or not.
    pub fn place(&self, address: &Address) -> PathBuf {
        folder::files_of(&self.folder.join(address.key()))
    }
}

/// What is known of one file.
fn about(path: &Path, texts: impl IntoIterator<Item = (&'static str, String)>) -> (PathBuf, Meta) {
    // Longer than any address that is of use, and more than a document's metadata holds.
    let fits = |(_, text): &(&str, String)| text.len() <= 1024;
    (path.to_owned(), texts.into_iter().filter(fits).map(|(name, text)| (name.to_owned(), text)).collect())
}
