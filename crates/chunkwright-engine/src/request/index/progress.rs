//! The progress of a run.

use chunkwright_index::Progress;
use serde::{Deserialize, Serialize};

use crate::words::{count, grouped};

/// How far a run is: what its [`Progress`] said so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunProgress {
    /// Files or documents done: stored, or found unchanged.
    pub files: usize,
    /// Files or documents found so far.
    pub files_found: usize,
    /// Bytes of those done.
    pub bytes: u64,
    /// Bytes of those found.
    pub bytes_found: u64,
    /// Texts embedded.
    pub texts: usize,
    /// Texts without a vector, those embedded among them. How many there will be is not known before all files are cut.
    pub texts_found: usize,
    /// Tokens of the texts embedded.
    pub tokens: usize,
    /// Documents stored or removed, durably.
    pub documents_stored: usize,
}

impl RunProgress {
    /// Adds a progress event.
    pub fn note(&mut self, progress: Progress<'_>) {
        match progress {
            Progress::Found { files, bytes } => (self.files_found, self.bytes_found) = (files, bytes),
            // A document that is read again may count twice, once from its file and once from the store.
            Progress::Read { files, bytes } => {
                (self.files, self.bytes) = (files.min(self.files_found), bytes);
            }
            Progress::Embedded { texts, found, tokens } => {
                (self.texts, self.texts_found, self.tokens) = (texts, found, tokens);
            }
            Progress::Committed { doc_ids } => self.documents_stored += doc_ids.len(),
            _ => {}
        }
    }

    /// As [`note`](Self::note), for a watch: each run begins by finding files, and is counted separately.
    pub fn note_of_watch(&mut self, progress: Progress<'_>) {
        if matches!(progress, Progress::Found { .. }) {
            *self = Self::default();
        }
        self.note(progress);
    }

    /// The share of bytes done, in percent; `None` before files are found.
    pub fn percent(&self) -> Option<u8> {
        let done = u128::from(self.bytes) * 100;
        let percent = done.checked_div(u128::from(self.bytes_found))?;
        Some(u8::try_from(percent.min(100)).unwrap_or(100))
    }

    /// The progress in words after this many seconds:
    /// `128 of 621 files; 400 texts embedded, 60,000 tokens, 41.5 texts/s`.
    pub fn in_words(&self, seconds: f64) -> String {
        let files = format!("{} of {}", grouped(self.files), count(self.files_found, "file"));
        if self.texts == 0 {
            return files;
        }
        let (texts, tokens) = (count(self.texts, "text"), count(self.tokens, "token"));
        format!("{files}; {texts} embedded, {tokens}, {:.1} texts/s", self.texts as f64 / seconds.max(0.001))
    }

    /// A clause that says what stays if the run ends now, and how to continue.
    pub fn kept(&self) -> String {
        let vectors = match self.texts {
            0 => String::new(),
            texts => format!(", with {}", count(texts, "vector")),
        };
        let (done, all) = (grouped(self.files), count(self.files_found, "file"));
        format!(
            "{done} of {all} were indexed and are kept{vectors}; run the same command again to index the rest"
        )
    }
}
