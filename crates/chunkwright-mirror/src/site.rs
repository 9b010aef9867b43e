//! Mirrors a site: the pages of a sitemap, or one page.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use url::Url;

use crate::address::is_named_private;
use crate::error::{MirrorError, PageError};
use crate::folder::{Folder, Page};
use crate::get::{Found, Host};
use crate::name::file_of;
use crate::sitemap::{Listed, Sitemap, read_sitemap};
use crate::{Limits, Mirrored, Mirrors, Report, about};

/// Pages that are asked for at the same time, unless the host asks for a delay.
const WORKERS: usize = 4;

/// Longest delay between two pages that a host can ask for.
const MAX_DELAY: Duration = Duration::from_secs(10);

/// Pages after which what is known is written, so that a run that is killed loses little.
const SAVED_EVERY: usize = 64;

/// What became of a page.
enum Outcome {
    New(Box<Found>),
    Same,
    Gone,
    Failed(PageError),
}

/// Brings the mirror of a site in step.
pub(crate) fn bring(
    mirrors: &Mirrors,
    url: &Url,
    folder: Folder,
    on_progress: &dyn Fn(usize, usize),
) -> Result<Mirrored, MirrorError> {
    let started = mirrors.clock.elapsed();
    let allow_private = mirrors.limits.allow_private || is_named_private(url);
    let limits = Limits { allow_private, ..mirrors.limits.clone() };
    let host = Arc::new(Host::open(url, &limits, &mirrors.clock)?);
    let mut run = Run { mirrors, host, folder, started, report: Report::default(), gone: 0, bytes: 0 };
    let wanted = match run.listed(url)? {
        Some(pages) => {
            run.fetch(&pages, on_progress)?;
            pages
        }
        None => vec![url.clone()],
    };
    run.end(&wanted, url.to_string())
}

/// A run over the pages of a host.
pub(crate) struct Run<'a> {
    pub(crate) mirrors: &'a Mirrors,
    pub(crate) host: Arc<Host>,
    pub(crate) folder: Folder,
    pub(crate) started: Duration,
    pub(crate) report: Report,
    /// Pages of the list that the server says are gone.
    pub(crate) gone: usize,
    /// Bytes of pages that were fetched.
    pub(crate) bytes: u64,
}

impl Run<'_> {
    /// The pages that a sitemap lists and that may be read, in its order; `None` for a page by itself, which is stored.
    fn listed(&mut self, url: &Url) -> Result<Option<Vec<Url>>, MirrorError> {
        let known = self.folder.state.pages.get(url.as_str()).filter(|page| self.folder.has(page)).cloned();
        let found = self.host.list(url, &known.as_ref().map_or_else(Vec::new, validators))?;
        if found.page.status == 304 {
            self.take(url, Outcome::Same);
            return Ok(None);
        }
        let Some(sitemap) = sitemap_of(&found)? else {
            if found.page.status != 200 {
                return Err(PageError::Status { url: url.to_string(), status: found.page.status }.into());
            }
            self.report.sitemap = self.host.robots.sitemaps.first().cloned();
            self.take(url, Outcome::New(Box::new(found)));
            return Ok(None);
        };
        let mut pages = Vec::new();
        match sitemap.listed {
            Listed::Pages => pages = sitemap.addresses,
            Listed::Sitemaps => {
                for inner in &sitemap.addresses {
                    let Some(inner) = self.host.own(inner) else {
                        self.report.elsewhere += 1;
                        continue;
                    };
                    let found = self.host.list(&inner, &[])?;
                    let status = found.page.status;
                    let Some(Sitemap { listed: Listed::Pages, addresses }) = sitemap_of(&found)? else {
                        let url = inner.to_string();
                        return Err(if status == 200 {
                            MirrorError::Sitemap { url, problem: "it is not a list of pages".into() }
                        } else {
                            PageError::Status { url, status }.into()
                        });
                    };
                    pages.extend(addresses);
                    if pages.len() > self.mirrors.limits.pages {
                        break;
                    }
                }
            }
        }
        let (mut seen, mut wanted) = (BTreeSet::new(), Vec::new());
        for page in pages {
            match self.host.own(&page) {
                None => self.report.elsewhere += 1,
                Some(url) if !seen.insert(url.clone()) => {}
                Some(url) if !self.host.allows(&url) => self.report.excluded += 1,
                Some(url) => wanted.push(url),
            }
        }
        if wanted.is_empty() {
            let host = url.host_str().unwrap_or_default().to_owned();
            return Err(MirrorError::NoPage { url: url.to_string(), host });
        }
        let most = self.mirrors.limits.pages;
        if wanted.len() > most {
            self.report.left = Some((wanted.len() - most, "the limit of pages"));
            wanted.truncate(most);
        }
        Ok(Some(wanted))
    }

    /// Removes the pages that are not wanted any more, and says what is there.
    pub(crate) fn end(mut self, wanted: &[Url], address: String) -> Result<Mirrored, MirrorError> {
        self.remove_others(wanted);
        self.folder.save()?;
        if self.mirrors.cancel.load(Ordering::SeqCst) {
            return Err(MirrorError::Cancelled);
        }
        let Run { folder, mut report, gone, .. } = self;
        let is_here = |url: &&Url| folder.state.pages.get(url.as_str()).is_some_and(|page| folder.has(page));
        report.missing = wanted.len() - gone - wanted.iter().filter(is_here).count();
        let files = folder.files();
        let meta = folder.state.pages.iter();
        let meta = meta.map(|(url, page)| about(&files.join(&page.file), [("url", url.clone())])).collect();
        Ok(Mirrored { address, folder: files, meta, report, _lock: folder.lock })
    }

    /// Asks for the pages: first for those without a version, then for those that were not asked for the longest time.
    pub(crate) fn fetch(
        &mut self,
        wanted: &[Url],
        on_progress: &dyn Fn(usize, usize),
    ) -> Result<(), MirrorError> {
        let known = self.folder.state.pages.iter().filter(|(_, page)| self.folder.has(page));
        let known: BTreeMap<String, Page> = known.map(|(url, page)| (url.clone(), page.clone())).collect();
        let mut order: Vec<&Url> = wanted.iter().collect();
        order.sort_by_key(|url| known.get(url.as_str()).map_or(i64::MIN, |page| page.checked));
        let delay = self
            .host
            .robots
            .delay
            .map(|seconds| Duration::from_secs_f64(seconds.min(MAX_DELAY.as_secs_f64())));
        let workers = if delay.is_some() { 1 } else { WORKERS };
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (mirrors, started) = (self.mirrors, self.started);
        let host = Arc::clone(&self.host);
        let (sender, receiver) = sync_channel(WORKERS);
        let result = thread::scope(|scope| {
            for _ in 0..workers {
                let (sender, order, known, next, stop, host) =
                    (sender.clone(), &order, &known, &next, &stop, &host);
                scope.spawn(move || {
                    while !stop.load(Ordering::SeqCst) && !mirrors.cancel.load(Ordering::SeqCst) {
                        let at = next.fetch_add(1, Ordering::SeqCst);
                        let Some(url) = order.get(at) else { return };
                        let outcome = ask(host, url, known.get(url.as_str()));
                        if sender.send(((*url).clone(), outcome)).is_err() {
                            return;
                        }
                        mirrors.pause(delay.unwrap_or_default());
                    }
                });
            }
            drop(sender);
            let mut done = 0;
            for (url, outcome) in receiver {
                if let Outcome::New(found) = &outcome {
                    self.bytes += found.page.body.len() as u64;
                }
                self.take(&url, outcome);
                done += 1;
                on_progress(done, order.len());
                if done % SAVED_EVERY == 0 {
                    self.folder.save()?;
                }
                let time = mirrors.clock.elapsed().saturating_sub(started).as_millis();
                let which = if self.bytes > mirrors.limits.bytes {
                    "the limit of bytes"
                } else if time > u128::from(mirrors.limits.time_ms) {
                    "the limit of time"
                } else {
                    continue;
                };
                stop.store(true, Ordering::SeqCst);
                self.report.left.get_or_insert((0, which));
            }
            if let Some((left, _)) = &mut self.report.left {
                *left += order.len() - done;
            }
            Ok(())
        });
        // Nothing that was fetched is lost, whatever ended the run.
        self.folder.save()?;
        result
    }

    /// Stores what became of a page.
    fn take(&mut self, url: &Url, outcome: Outcome) {
        let now = self.mirrors.clock.unix_seconds();
        match outcome {
            Outcome::New(found) => {
                if let Err(error) = self.store(url, &found, now) {
                    self.report
                        .failed
                        .push(PageError::Store { url: url.to_string(), reason: error.to_string() });
                }
            }
            Outcome::Same => {
                self.report.unchanged += 1;
                if let Some(page) = self.folder.state.pages.get_mut(url.as_str()) {
                    page.checked = now;
                }
            }
            Outcome::Gone => {
                self.gone += 1;
                self.forget(url.as_str());
            }
            Outcome::Failed(error) => self.report.failed.push(error),
        }
    }

    fn store(&mut self, url: &Url, found: &Found, now: i64) -> std::io::Result<()> {
        let header = |name: &str| found.page.header(name).map(str::to_owned);
        let media = header("content-type").unwrap_or_default().to_ascii_lowercase();
        let media = media.split(';').next().unwrap_or_default().trim();
        let (before, bytes) = (self.folder.state.pages.get(url.as_str()), &found.page.body);
        let is_other = |known: &&Page| before.is_none_or(|before| before.file != known.file);
        let is_taken = |file: &str| {
            let mut others = self.folder.state.pages.values().filter(is_other);
            others.any(|known| known.file.eq_ignore_ascii_case(file))
        };
        let file = before.map_or_else(|| file_of(url, media, is_taken), |before| before.file.clone());
        let page = Page {
            bytes: bytes.len() as u64,
            hash: blake3::hash(bytes).to_hex().to_string(),
            etag: header("etag"),
            last_modified: header("last-modified"),
            checked: now,
            file,
        };
        // A file that stays as it is keeps its time, and is not even read by the run that indexes it.
        if before.is_some_and(|before| before.hash == page.hash && self.folder.has(before)) {
            self.report.unchanged += 1;
        } else {
            self.folder.write(&page.file, bytes)?;
            self.report.changed += 1;
        }
        self.folder.state.pages.insert(url.to_string(), page);
        Ok(())
    }

    fn forget(&mut self, url: &str) {
        if let Some(page) = self.folder.state.pages.remove(url) {
            self.folder.remove(&page.file);
            self.report.removed += 1;
        }
    }

    /// Removes the pages that the list has no more, unless a limit cut it off.
    fn remove_others(&mut self, wanted: &[Url]) {
        if self.report.left.is_some() || self.mirrors.cancel.load(Ordering::SeqCst) {
            return;
        }
        let wanted: BTreeSet<&str> = wanted.iter().map(Url::as_str).collect();
        let known: Vec<String> = self.folder.state.pages.keys().cloned().collect();
        known.iter().filter(|url| !wanted.contains(url.as_str())).for_each(|url| self.forget(url));
    }
}

/// The sitemap that was found, if it is one.
fn sitemap_of(found: &Found) -> Result<Option<Sitemap>, MirrorError> {
    if found.page.status != 200 {
        return Ok(None);
    }
    let is_text = found.page.header("content-type").is_some_and(|media| media.starts_with("text/plain"));
    read_sitemap(&found.page.body, is_text)
        .map_err(|problem| MirrorError::Sitemap { url: found.url.to_string(), problem })
}

/// Asks for a page, of which `known` is there.
fn ask(host: &Host, url: &Url, known: Option<&Page>) -> Outcome {
    match host.page(url, &known.map_or_else(Vec::new, validators)) {
        Ok(Found { page, .. }) if page.status == 304 && known.is_some() => Outcome::Same,
        Ok(Found { page, .. }) if matches!(page.status, 404 | 410) => Outcome::Gone,
        Ok(found) if found.page.status == 200 => Outcome::New(Box::new(found)),
        Ok(found) => Outcome::Failed(PageError::Status { url: url.to_string(), status: found.page.status }),
        Err(error) => Outcome::Failed(error),
    }
}

/// The headers by which a server answers only a page that changed.
fn validators(page: &Page) -> Vec<(&str, &str)> {
    let etag = page.etag.as_deref().map(|etag| ("if-none-match", etag));
    let modified = page.last_modified.as_deref().map(|time| ("if-modified-since", time));
    etag.into_iter().chain(modified).collect()
}
