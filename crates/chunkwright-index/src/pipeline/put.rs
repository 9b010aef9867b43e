//! Documents from memory: which ids may they have, and what tells their format?

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::input::{WINDOW_BYTES, WINDOW_DOCUMENTS};
use crate::format::Format;
use crate::source::is_unprintable;

/// A document given as bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewSource {
    /// Its key in the collection, which the caller chooses: printable, at most [`MAX_DOC_ID`] bytes.
    pub doc_id: String,
    /// Its bytes, of any format that files may have.
    pub bytes: Vec<u8>,
    /// What tells its format; where there is none, or it tells nothing, the id does as if it were a file's path.
    pub hint: Option<FormatHint>,
}

/// What tells the format of bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormatHint {
    /// A file's name or path, as if the bytes had been read from it.
    FileName(String),
    /// A media type such as `text/markdown`; parameters are ignored, and one that is unknown tells nothing.
    MediaType(String),
    /// The name of a format or a programming language, such as `markdown` or `python`.
    Format(String),
}

/// Longest id of a document from memory, in bytes.
pub const MAX_DOC_ID: usize = 1024;

/// The extension that stands for a media type.
const MEDIA_TYPES: &[(&str, &str)] = &[
    ("application/json", "json"),
    ("application/jsonl", "jsonl"),
    ("application/x-ndjson", "jsonl"),
    ("application/pdf", "pdf"),
    ("application/toml", "toml"),
    ("application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    ("application/x-ipynb+json", "ipynb"),
    ("application/xhtml+xml", "xhtml"),
    ("application/yaml", "yaml"),
    ("text/csv", "csv"),
    ("text/html", "html"),
    ("text/javascript", "js"),
    ("text/markdown", "md"),
    ("text/plain", "txt"),
    ("text/tab-separated-values", "tsv"),
    ("text/vtt", "vtt"),
    ("text/x-rst", "rst"),
    ("text/x-python", "py"),
    ("text/yaml", "yaml"),
];

/// Why a document cannot be put.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SourceRefusal {
    #[error("an id must not be empty")]
    Empty,
    #[error("its id has {bytes} bytes; the most are {MAX_DOC_ID}")]
    TooLong { bytes: usize },
    #[error(
        "its id has the character U+{:04X}, which cannot be seen; an id must be printable",
        u32::from(*.character)
    )]
    Unprintable { character: char },
    #[error(
        "unknown format `{name}`; expected the name of a format or language, such as `markdown` or `python`"
    )]
    Format { name: String },
    #[error("a document of the folder `{root}` has its id; choose another id, or remove that document first")]
    OfFolder { root: String },
    #[error("another document with this id was put before it in the same run; put each id once")]
    Twice,
}

impl NewSource {
    /// A document whose id tells its format.
    pub fn new(doc_id: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { doc_id: doc_id.into(), bytes: bytes.into(), hint: None }
    }

    /// Adds what tells its format.
    pub fn with_hint(mut self, hint: FormatHint) -> Self {
        self.hint = Some(hint);
        self
    }

    /// Why it cannot be put, whatever the collection holds.
    pub(super) fn refusal(&self) -> Option<SourceRefusal> {
        if self.doc_id.is_empty() {
            return Some(SourceRefusal::Empty);
        }
        if self.doc_id.len() > MAX_DOC_ID {
            return Some(SourceRefusal::TooLong { bytes: self.doc_id.len() });
        }
        if let Some(character) = self.doc_id.chars().find(|c| is_unprintable(*c)) {
            return Some(SourceRefusal::Unprintable { character });
        }
        match &self.hint {
            Some(FormatHint::Format(name)) if Format::named(name).is_none() => {
                Some(SourceRefusal::Format { name: printable(name) })
            }
            _ => None,
        }
    }

    pub(super) fn format(&self) -> Format {
        let named = match &self.hint {
            Some(FormatHint::Format(name)) => Format::named(name),
            _ => None,
        };
        named.unwrap_or_else(|| Format::of(&self.path(), &self.bytes))
    }

    /// The name that a file of it would have.
    pub(super) fn path(&self) -> PathBuf {
        match &self.hint {
            Some(FormatHint::FileName(name)) => PathBuf::from(name),
            Some(FormatHint::MediaType(media_type)) => {
                let name = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
                let known = MEDIA_TYPES.iter().find(|(known, _)| *known == name);
                known.map_or_else(
                    || PathBuf::from(&self.doc_id),
                    |(_, extension)| Path::new("document").with_extension(extension),
                )
            }
            Some(FormatHint::Format(_)) | None => PathBuf::from(&self.doc_id),
        }
    }
}

/// A text as it can be shown, not longer than an id.
pub(super) fn printable(text: &str) -> String {
    let shown = text.chars().map(|c| if is_unprintable(c) { char::REPLACEMENT_CHARACTER } else { c });
    let mut bytes = 0;
    shown
        .take_while(|c| {
            bytes += c.len_utf8();
            bytes <= MAX_DOC_ID
        })
        .collect()
}

/// Windows that are taken from an iterator at once: while one of them is stored, the next ones are cut.
const WINDOWS_AT_ONCE: usize = 4;

/// The next documents, as many as are worked on at once; none at the end.
pub(super) fn next_sources(documents: &mut dyn Iterator<Item = NewSource>) -> Vec<NewSource> {
    let (mut sources, mut bytes) = (Vec::new(), 0);
    while sources.len() < WINDOWS_AT_ONCE * WINDOW_DOCUMENTS
        && bytes < WINDOWS_AT_ONCE as u64 * WINDOW_BYTES
        && let Some(source) = documents.next()
    {
        bytes += source.bytes.len() as u64;
        sources.push(source);
    }
    sources
}
