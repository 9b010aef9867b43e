//! Detects text that is not worth indexing: drawings, lock files, source maps, minified and encoded content.
//!
//! It is never searched for, and it crowds out the rest: 87 % of the tokens of one well-known project's documentation
//! are paths of drawings. It is left out of folders unless a pattern asks for it, and every report says how much was
//! left out. A file that is given by name is always taken.

use std::collections::BTreeMap;
use std::path::Path;

use crate::generated::{is_lock_file, is_minified};
use crate::skip::{SkipReason, Skipped};

/// Extensions of drawings that are text.
const DRAWINGS: &[&str] = &["svg", "drawio", "excalidraw"];

/// Extensions of files that have source maps.
const MAPPED: &[&str] = &["js", "mjs", "cjs", "jsx", "ts", "tsx", "css"];

/// Bytes beside encoded content for which a file is read: the content itself is in no text of a chunk.
const LEAST_READ: usize = 128;

/// Least bytes of encoded content for which a file is left out.
const LEAST_ENCODED: usize = 4_096;

/// Why a file of this name is left out of folders; `None` if it is taken.
pub fn of_name(name: &str) -> Option<SkipReason> {
    let lower = name.to_ascii_lowercase();
    let (stem, extension) = lower.rsplit_once('.').unwrap_or((&lower, ""));
    let before = stem.rsplit_once('.').map_or("", |(_, before)| before);
    if DRAWINGS.contains(&extension) {
        Some(SkipReason::Drawing)
    } else if is_lock_file(name) {
        Some(SkipReason::LockFile)
    } else if extension == "map" && (MAPPED.contains(&before) || stem == "*") {
        Some(SkipReason::SourceMap)
    } else if before == "min" && MAPPED.contains(&extension) {
        Some(SkipReason::Minified)
    } else {
        None
    }
}

/// Why a file with this text is left out of folders; `None` if it is taken. `is_code` distinguishes source code from
/// prose, in which a paragraph may be one line.
pub fn of_text(path: &Path, text: &str, is_code: bool) -> Option<SkipReason> {
    let encoded = encoded(text);
    if encoded >= LEAST_ENCODED && text.len() - encoded < LEAST_READ {
        return Some(SkipReason::DataUri);
    }
    is_minified(path, text, is_code).then_some(SkipReason::Minified)
}

/// Bytes of a text that are data URIs in base64.
fn encoded(text: &str) -> usize {
    let uris = memchr::memmem::find_iter(text.as_bytes(), b";base64,");
    let is_base64 =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_');
    let length = |at: usize| text.as_bytes()[at..].iter().skip(8).take_while(|byte| is_base64(byte)).count();
    uris.map(length).sum()
}

/// The noise that was left out, counted by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    counts: BTreeMap<SkipReason, (usize, String)>,
}

impl LeftOut {
    /// The noise among everything left out.
    pub fn of(skipped: &[Skipped]) -> Self {
        let mut counts: BTreeMap<SkipReason, (usize, String)> = BTreeMap::new();
        for Skipped { path, reason } in skipped.iter().filter(|skipped| skipped.reason.is_noise()) {
            counts.entry(*reason).or_insert_with(|| (0, pattern(path, *reason))).0 += 1;
        }
        Self { counts }
    }

    /// Describes them in words, such as `33 drawings, 2 lock files`; `None` if there are none.
    pub fn words(&self) -> Option<String> {
        let word = |(reason, (number, _)): (&SkipReason, &(usize, String))| {
            let noun = match reason {
                SkipReason::Drawing => "drawing",
                SkipReason::LockFile => "lock file",
                SkipReason::SourceMap => "source map",
                SkipReason::Minified => "minified file",
                _ => "file of encoded data",
            };
            match (*number, *reason) {
                (1, _) => format!("1 {noun}"),
                (_, SkipReason::DataUri) => format!("{number} files of encoded data"),
                _ => format!("{number} {noun}s"),
            }
        };
        let mut counts: Vec<_> = self.counts.iter().collect();
        counts.sort_by_key(|(_, (number, _))| std::cmp::Reverse(*number));
        (!counts.is_empty()).then(|| counts.into_iter().map(word).collect::<Vec<_>>().join(", "))
    }

    /// A pattern that takes the largest part of it.
    pub fn pattern(&self) -> Option<&str> {
        // One with a wildcard takes more than the file that it was made of.
        let largest =
            self.counts.values().rev().max_by_key(|(number, pattern)| (pattern.starts_with('*'), *number));
        largest.map(|(_, pattern)| pattern.as_str())
    }
}

/// A pattern for files like the one at `path`.
fn pattern(path: &str, reason: SkipReason) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    match (reason, name.rsplit_once('.')) {
        (SkipReason::Drawing | SkipReason::SourceMap, Some((_, extension))) => format!("*.{extension}"),
        _ => name.to_owned(),
    }
}
