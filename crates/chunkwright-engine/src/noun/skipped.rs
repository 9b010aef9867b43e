//! What was left out of a run, in words.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use chunkwright_index::Dominant;
use chunkwright_source::{LeftOut, Skipped, doc_id};

use crate::notice::{Notice, NoticeCode};
use crate::words::{count, grouped};

/// Notices about files that were left out by their kind, and about those that make up most of the tokens.
pub(crate) fn notices_of_files(
    skipped: &[Skipped],
    removed: &[String],
    dominant: Option<&Dominant>,
    say: &mut dyn FnMut(NoticeCode, String),
) {
    let left_out = LeftOut::of(skipped);
    if let (Some(words), Some(pattern)) = (left_out.words(), left_out.pattern()) {
        let gone = match removed.len() {
            0 => String::new(),
            1 => "; 1 of them was in the collection and was removed".to_owned(),
            number => format!("; {number} of them were in the collection and were removed"),
        };
        say(NoticeCode::LeftOut, format!("left out {words}{gone}; `--include '{pattern}'` takes them"));
    }
    if let Some(Dominant { extension, files, tokens, all_tokens }) = dominant {
        let (share, files) = (tokens * 100 / all_tokens, count(*files, "file"));
        let message = format!(
            "{share} % of the tokens are of {files} `*.{extension}`; `--exclude '*.{extension}'` leaves them out"
        );
        say(NoticeCode::MostlyOneKind, message);
    }
}

/// Most documents that are named of those which could not be read.
const NAMED: usize = 10;

/// Notices that name what was left out of the files of `given`, and the documents that a person can read and this
/// program cannot.
pub(crate) fn notices_of_unread<'p>(
    skipped: &[Skipped],
    given: impl Iterator<Item = &'p Path>,
    say: &mut dyn FnMut(NoticeCode, String),
) {
    let names: HashSet<String> =
        given.filter_map(Path::file_name).map(|name| doc_id(Path::new(name))).collect();
    let is_given = |entry: &Skipped| names.contains(entry.path.rsplit('/').next().unwrap_or_default());
    let mut unread: Vec<_> =
        skipped.iter().filter(|entry| entry.reason.is_unread() || is_given(entry)).collect();
    unread.sort();
    for Skipped { path, reason } in unread.iter().take(NAMED) {
        say(NoticeCode::LeftOut, format!("left out `{path}`: {}", reason.sentence()));
    }
    if unread.len() > NAMED {
        say(NoticeCode::LeftOut, format!("left out {} more like these", unread.len() - NAMED));
    }
}

/// The notice that a part of a document was left out.
pub(crate) fn omitted(doc_id: &str, what: &str) -> Notice {
    Notice::new(NoticeCode::Omitted, format!("`{doc_id}`: {what}"))
}

/// The number of skipped entries by reason.
pub(crate) fn skipped_reasons(skipped: &[Skipped]) -> BTreeMap<String, usize> {
    reasons(skipped.iter()).into_iter().map(|(reason, number)| (reason.to_owned(), number)).collect()
}

fn reasons<'a>(skipped: impl Iterator<Item = &'a Skipped>) -> BTreeMap<&'static str, usize> {
    let mut reasons = BTreeMap::new();
    for Skipped { reason, .. } in skipped {
        *reasons.entry(reason.as_str()).or_default() += 1;
    }
    reasons
}

/// A summary of what was left out and why: `3 entries: 2 hidden, 1 binary`. Excludes content that is left out by its
/// kind, which a [`Notice`](crate::Notice) reports.
pub fn skipped_in_words(skipped: &[Skipped]) -> Option<String> {
    let reasons = reasons(skipped.iter().filter(|skipped| !skipped.reason.is_noise()));
    let entries = match reasons.values().sum() {
        0 => return None,
        1 => "1 entry".to_owned(),
        number => format!("{} entries", grouped(number)),
    };
    let reasons = reasons.into_iter().map(|(reason, number)| format!("{number} {reason}"));
    Some(format!("{entries}: {}", reasons.collect::<Vec<_>>().join(", ")))
}
