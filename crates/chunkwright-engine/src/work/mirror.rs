//! Addresses among the paths of a run: each is mirrored into a folder of the data folder, and that is indexed.

use std::path::{Path, PathBuf};

use chunkwright_index::{Progress, Prune};
use chunkwright_mirror::{Address, Limits, MirrorError, Mirrored, Mirrors, Report, is_address};
use chunkwright_source::doc_id;

use crate::error::Error;
use crate::notice::{Notice, NoticeCode};
use crate::request::index::{IndexAnswer, IndexRequest};
use crate::words::count;
use crate::work::index::Indexer;

/// Pages that a notice names.
const SHOWN: usize = 3;

/// The first address among paths, for those who cannot fetch it.
pub(super) fn address_in<P: AsRef<Path>>(paths: &[P]) -> Option<String> {
    paths.iter().map(AsRef::as_ref).find(|path| is_address(path)).map(|path| path.display().to_string())
}

impl Indexer {
    /// Brings the mirrors of the request's addresses in step, and runs over their folders. Only this process fetches: the
    /// owner of a store is asked to index folders.
    pub(super) fn run_mirrored(&self, on_progress: &dyn Fn(Progress<'_>)) -> Result<IndexAnswer, Error> {
        let engine = self.collection().engine();
        let limits = Limits { allow_private: self.request().allow_private, ..Limits::default() };
        let mirrors =
            Mirrors::new(engine.data_dir()?.join("mirrors"), limits).with_cancel(engine.cancel_flag());
        let mut request = self.request().clone();
        let mut mirrored: Vec<Mirrored> = Vec::new();
        let mut places = Vec::new();
        let mut bring = |given: &Path, address: Address| -> Result<PathBuf, Error> {
            let place = mirrors.place(&address);
            if places.contains(&place) {
                return Err(MirrorError::Twice { address: given.display().to_string() }.into());
            }
            places.push(place);
            let mirror =
                mirrors.bring(&address, &|pages, found| on_progress(Progress::Fetched(pages, found)))?;
            let folder = mirror.folder.clone();
            mirrored.push(mirror);
            Ok(folder)
        };
        for path in request.paths.iter_mut().filter(|path| is_address(path)) {
            *path = bring(path, Address::parse(&path.display().to_string())?)?;
        }
        for list in std::mem::take(&mut request.urls) {
            request.paths.push(bring(&list, Address::of_list(&list)?)?);
        }
        // A page that is not here is not gone.
        if mirrored.iter().any(|mirror| mirror.report.missing > 0) {
            request.prune = Prune::Keep;
        }
        request.files_meta =
            mirrored.iter_mut().flat_map(|mirror| std::mem::take(&mut mirror.meta)).collect();
        let answer = self.collection().indexer(request)?.run(on_progress)?;
        Ok(told(answer, &mirrored))
    }
}

/// The answer with what the mirrors have to tell, in which folders of mirrors have the names of their addresses.
fn told(mut answer: IndexAnswer, mirrored: &[Mirrored]) -> IndexAnswer {
    for Mirrored { folder, address, .. } in mirrored {
        let folder = doc_id(folder);
        for notice in &mut answer.notices {
            notice.message = notice.message.replace(&folder, address);
        }
    }
    let notices = mirrored.iter().flat_map(|mirror| notices_of(&mirror.address, &mirror.report));
    answer.notices = notices.chain(answer.notices).collect();
    answer
}

fn notices_of(address: &str, report: &Report) -> Vec<Notice> {
    let Report { changed, unchanged, removed, excluded, elsewhere, failed, left, sitemap, .. } = report;
    let noun = if address.starts_with("git+") { "file" } else { "page" };
    let of = |number: usize, what: &str| (number > 0).then(|| format!("{} {what}", count(number, noun)));
    let parts = [
        of(*changed, "new or changed"),
        of(*unchanged, "unchanged"),
        of(*removed, "gone"),
        of(*excluded, "excluded by `robots.txt`"),
        of(*elsewhere, "on other hosts left out"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let mut notices = vec![Notice::new(NoticeCode::Fetched, format!("`{address}`: {}", parts.join(", ")))];
    if !failed.is_empty() {
        let shown: Vec<String> = failed.iter().take(SHOWN).map(ToString::to_string).collect();
        let more = failed.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let message = format!(
            "{} could not be fetched and {} as before; the next run tries again: {}{more}",
            count(failed.len(), noun),
            if failed.len() == 1 { "stays" } else { "stay" },
            shown.join("; ")
        );
        notices.push(Notice::new(NoticeCode::PartlyUsed, message));
    }
    if let Some((pages, which)) = left {
        let message = format!("{} left for the next run: {which} was reached", count(*pages, noun));
        notices.push(Notice::new(NoticeCode::PartlyUsed, message));
    }
    if let Some(sitemap) = sitemap {
        let message = format!(
            "one page was fetched; the host names all its pages in `{sitemap}`, which can be indexed"
        );
        notices.push(Notice::new(NoticeCode::Fetched, message));
    }
    notices
}

impl IndexRequest {
    /// Whether an address has to be fetched first, or those of a list.
    pub(super) fn has_address(&self) -> bool {
        address_in(&self.paths).is_some() || !self.urls.is_empty()
    }
}
