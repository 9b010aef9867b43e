//! Names of the files of pages: stable, readable, and possible in every file system.

use std::borrow::Cow;
use std::fmt::Write as _;

use percent_encoding::percent_decode_str;
use url::Url;

use crate::address::host_of;

/// Longest part of a path, in bytes.
const MAX_PART: usize = 150;

/// Extensions whose files are read as pages of HTML.
const PAGES: &[&str] = &["htm", "html", "xhtml"];

/// The path of a page's file: the host, its folders, its name with an extension that tells its format. A page whose
/// name `is_taken` gets a few digits beside it.
pub(crate) fn file_of(url: &Url, media_type: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut path = host_of(url);
    let segments: Vec<&str> = url.path_segments().into_iter().flatten().collect();
    let (last, folders) = segments.split_last().unwrap_or((&"", &[]));
    for folder in folders.iter().filter(|folder| !folder.is_empty()) {
        path.push('/');
        path.push_str(&part(folder));
    }
    let name = if last.is_empty() { "index" } else { last };
    let name = url.query().map_or_else(|| part(name), |query| part(&format!("{name}@{query}")));
    let extension = extension_for(&name, media_type);
    let whole = |more: &str| {
        let (stem, own) = match name.rsplit_once('.') {
            Some((stem, own)) if extension.is_empty() && !more.is_empty() => (stem, format!(".{own}")),
            _ => (&*name, extension.to_owned()),
        };
        format!("{path}/{stem}{more}{own}")
    };
    let file = whole("");
    if is_taken(&file) { whole(&format!("-{}", digits(url.as_str()))) } else { file }
}

/// The extension that a name lacks for what the server says it is.
fn extension_for(name: &str, media_type: &str) -> &'static str {
    let own = name.rsplit_once('.').map(|(_, own)| own.to_ascii_lowercase());
    let is_one_of = |known: &[&str]| own.as_deref().is_some_and(|own| known.contains(&own));
    match media_type {
        "text/html" | "application/xhtml+xml" if !is_one_of(PAGES) => ".html",
        "text/markdown" if !is_one_of(&["md", "markdown", "mdx"]) => ".md",
        "application/pdf" if !is_one_of(&["pdf"]) => ".pdf",
        "application/json" if own.is_none() => ".json",
        "text/plain" if own.is_none() => ".txt",
        _ => "",
    }
}

/// A part of an address as a name of a file: decoded if that is text, without what some system forbids, neither hidden
/// nor a step upward.
fn part(segment: &str) -> String {
    let decoded =
        percent_decode_str(segment).decode_utf8().map_or_else(|_| segment.to_owned(), Cow::into_owned);
    let is_forbidden = |c: char| c.is_control() || "/\\:*?\"<>|%".contains(c);
    let mut name: String = decoded.chars().map(|c| if is_forbidden(c) { '_' } else { c }).collect();
    name.truncate(name.trim_end_matches(['.', ' ']).len());
    if name.is_empty() || name.starts_with('.') {
        name.insert(0, '_');
    }
    if name.len() > MAX_PART {
        let end = name.floor_char_boundary(MAX_PART);
        name.truncate(end);
        let _ = write!(name, "-{}", digits(segment));
    }
    name
}

fn digits(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..8].to_owned()
}
