//! Documents from memory: bytes with a name. Checks their ids and determines their formats.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::format::Format;
use crate::secret::{is_key, is_secret_path};
use crate::walk::{has_dots, is_unprintable};

/// A document given as bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewSource {
    /// Its key in the collection, which the caller chooses: printable, without parts `.` and `..`, at most [`MAX_DOC_ID`] bytes.
    pub doc_id: String,
    /// Its bytes, of any format that files may have.
    pub bytes: Vec<u8>,
    /// A hint at its format; without a useful one, the format follows from the id as if it were a file's path.
    pub hint: Option<FormatHint>,
}

/// What tells the format of bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    ("application/epub+zip", "epub"),
    ("application/json", "json"),
    ("application/jsonl", "jsonl"),
    ("application/x-ndjson", "jsonl"),
    ("application/mbox", "mbox"),
    ("application/pdf", "pdf"),
    ("application/rtf", "rtf"),
    ("application/toml", "toml"),
    ("application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    ("application/x-ipynb+json", "ipynb"),
    ("application/xhtml+xml", "xhtml"),
    ("application/yaml", "yaml"),
    ("message/rfc822", "eml"),
    ("multipart/related", "mhtml"),
    ("text/csv", "csv"),
    ("text/html", "html"),
    ("text/javascript", "js"),
    ("text/markdown", "md"),
    ("text/plain", "txt"),
    ("text/rtf", "rtf"),
    ("text/tab-separated-values", "tsv"),
    ("text/vcard", "vcf"),
    ("text/vtt", "vtt"),
    ("text/x-rst", "rst"),
    ("text/x-python", "py"),
    ("text/yaml", "yaml"),
];

/// Why a document from memory cannot be in a collection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NewSourceError {
    /// Its id is empty.
    #[error("an id must not be empty")]
    Empty,
    /// Its id is too long.
    #[error("its id has {bytes} bytes; the limit is {MAX_DOC_ID}")]
    TooLong {
        /// The length of the id.
        bytes: usize,
    },
    /// Its id has a character that cannot be seen.
    #[error(
        "its id has the character U+{:04X}, which cannot be seen; an id must be printable",
        u32::from(*.character)
    )]
    Unprintable {
        /// The character.
        character: char,
    },
    /// Its id leads elsewhere where it is read as a path.
    #[error(
        "its id has a part `.` or `..`, which leads elsewhere in an address; name the document without it"
    )]
    Dots,
    /// Its hint names a format that does not exist.
    #[error(
        "unknown format `{name}`; expected the name of a format or language, such as `markdown` or `python`"
    )]
    Format {
        /// The name.
        name: String,
    },
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

    /// Checks that a collection can hold it, whatever else the collection holds.
    ///
    /// # Errors
    ///
    /// An id that is empty, too long, not printable or with a part `.` or `..`, and a hint that names an unknown format.
    pub fn check(&self) -> Result<(), NewSourceError> {
        if self.doc_id.is_empty() {
            return Err(NewSourceError::Empty);
        }
        if self.doc_id.len() > MAX_DOC_ID {
            return Err(NewSourceError::TooLong { bytes: self.doc_id.len() });
        }
        if let Some(character) = self.doc_id.chars().find(|c| is_unprintable(*c)) {
            return Err(NewSourceError::Unprintable { character });
        }
        if has_dots(&self.doc_id) {
            return Err(NewSourceError::Dots);
        }
        match &self.hint {
            Some(FormatHint::Format(name)) if Format::named(name).is_none() => {
                Err(NewSourceError::Format { name: printable(name) })
            }
            _ => Ok(()),
        }
    }

    /// Whether its name or content is that of a file with credentials, which folders leave out.
    pub fn is_secret(&self) -> bool {
        is_secret_path(Path::new(&self.doc_id)) || is_secret_path(&self.path()) || is_key(&self.bytes)
    }

    /// Its format, by the hint, the id and the bytes.
    pub fn format(&self) -> Format {
        let named = match &self.hint {
            Some(FormatHint::Format(name)) => Format::named(name),
            _ => None,
        };
        named.unwrap_or_else(|| Format::of(&self.path(), &self.bytes))
    }

    /// The name that a file of it would have.
    pub fn path(&self) -> PathBuf {
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

/// The media type that the name of a file tells; `application/octet-stream` where it tells none.
pub fn media_type(name: &str) -> &'static str {
    let extension =
        Path::new(name).extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    let known = extension.and_then(|it| MEDIA_TYPES.iter().find(|(_, known)| *known == it));
    known.map_or("application/octet-stream", |(media_type, _)| media_type)
}

/// A text as it can be shown, not longer than an id.
pub fn printable(text: &str) -> String {
    let shown = text.chars().map(|c| if is_unprintable(c) { char::REPLACEMENT_CHARACTER } else { c });
    let mut bytes = 0;
    shown
        .take_while(|c| {
            bytes += c.len_utf8();
            bytes <= MAX_DOC_ID
        })
        .collect()
}
