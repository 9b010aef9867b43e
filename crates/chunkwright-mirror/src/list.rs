//! Mirrors the pages of a list, host by host.
//!
//! What holds of a sitemap holds of each page by itself: only the host of its address is asked, as that allows, and
//! redirects stay on it. Nobody named the hosts one by one, so one at a private address is refused however it is written.
//! A host that cannot be asked costs its pages only, which stay as they were.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use url::{Origin, Url};

use crate::error::{MirrorError, PageError};
use crate::folder::Folder;
use crate::get::Host;
use crate::site::Run;
use crate::{Mirrored, Mirrors, Report};

/// Brings the mirror of a list in step.
pub(crate) fn bring(
    mirrors: &Mirrors,
    (path, pages): (&Path, &[Url]),
    mut folder: Folder,
    on_progress: &dyn Fn(usize, usize),
) -> Result<Mirrored, MirrorError> {
    let (started, most) = (mirrors.clock.elapsed(), mirrors.limits.pages);
    let mut report = Report::default();
    if pages.len() > most {
        report.left = Some((pages.len() - most, "the limit of pages"));
    }
    let pages = &pages[..pages.len().min(most)];
    let mut hosts: Vec<(Origin, Vec<Url>)> = Vec::new();
    for url in pages {
        match hosts.iter_mut().find(|(origin, _)| *origin == url.origin()) {
            Some((_, urls)) => urls.push(url.clone()),
            None => hosts.push((url.origin(), vec![url.clone()])),
        }
    }
    let (mut wanted, mut gone, mut bytes, mut last, mut refused) = (Vec::new(), 0, 0, None, None);
    for (_, mut urls) in hosts {
        let is_over = matches!(report.left, Some((_, which)) if which != "the limit of pages");
        if is_over || mirrors.cancel.load(Ordering::SeqCst) {
            if let Some((left, _)) = &mut report.left {
                *left += urls.len();
            }
            wanted.extend(urls);
            continue;
        }
        let host = match Host::open(&urls[0], &mirrors.limits, &mirrors.clock) {
            Ok(host) => Arc::new(host),
            Err(error) => {
                let reason = error.to_string();
                let failed = |url: &Url| PageError::Host { url: url.to_string(), reason: reason.clone() };
                report.failed.extend(urls.iter().map(failed));
                refused.get_or_insert(error);
                wanted.extend(urls);
                continue;
            }
        };
        let all = urls.len();
        urls.retain(|url| host.allows(url));
        report.excluded += all - urls.len();
        let done = wanted.len();
        let mut run = Run { mirrors, host: Arc::clone(&host), folder, started, report, gone, bytes };
        run.fetch(&urls, &|of_host, _| on_progress(done + of_host, pages.len()))?;
        Run { folder, report, gone, bytes, .. } = run;
        last = Some(host);
        wanted.extend(urls);
    }
    match (last, refused) {
        (Some(host), _) => {
            let run = Run { mirrors, host, folder, started, report, gone, bytes };
            run.end(&wanted, path.display().to_string())
        }
        (None, Some(error)) => Err(error),
        (None, None) => Err(MirrorError::Cancelled),
    }
}
