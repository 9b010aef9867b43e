//! How far is a run?

use chunkwright_index::Progress;

use crate::words::{count, grouped};

/// How far a run is: what its [`Progress`] said so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunProgress {
    /// Number of files done: stored, or found unchanged.
    pub files: usize,
    /// Number of files found.
    pub all_files: usize,
    /// Bytes of the files done.
    pub bytes: u64,
    /// Bytes of the files found.
    pub all_bytes: u64,
    /// Number of texts embedded. How many there will be is not known before all files are cut.
    pub texts: usize,
    /// Their tokens.
    pub tokens: usize,
    /// Ids of the documents that were stored or removed.
    pub written: Vec<String>,
}

impl RunProgress {
    /// Takes what the run says. Where files are found anew, as in the next run of a watch, counts begin again.
    pub fn take(&mut self, progress: Progress<'_>) {
        match progress {
            Progress::Found { files, bytes } => {
                *self = Self { all_files: files, all_bytes: bytes, ..Self::default() };
            }
            Progress::Read { files, bytes } => {
                // What is to be read again may be read twice, once as a file and once out of the store.
                self.files = files.min(self.all_files);
                self.bytes = bytes;
            }
            Progress::Embedded { texts, tokens, .. } => (self.texts, self.tokens) = (texts, tokens),
            Progress::Committed { doc_ids } => self.written.extend(doc_ids.iter().cloned()),
            _ => {}
        }
    }

    /// How far it is after so many seconds: `128 of 621 files; 400 texts embedded, 60,000 tokens, 41.5 texts/s`.
    pub fn in_words(&self, seconds: f64) -> String {
        let files = format!("{} of {}", grouped(self.files), count(self.all_files, "file"));
        if self.texts == 0 {
            return files;
        }
        let (texts, tokens) = (count(self.texts, "text"), count(self.tokens, "token"));
        format!("{files}; {texts} embedded, {tokens}, {:.1} texts/s", self.texts as f64 / seconds.max(0.001))
    }

    /// What stays if the run ends now, and how to go on, as a clause.
    pub fn kept(&self) -> String {
        let vectors = match self.texts {
            0 => String::new(),
            texts => format!(", with {}", count(texts, "vector")),
        };
        let (done, all) = (grouped(self.files), count(self.all_files, "file"));
        format!(
            "{done} of {all} were indexed and are kept{vectors}; run the same command again to index the rest"
        )
    }

    /// The documents that were stored or removed: `` `a.md` and 3 more``.
    pub fn written_in_words(&self) -> String {
        match self.written.as_slice() {
            [] => "no document".to_owned(),
            [one] => format!("`{one}`"),
            [first, rest @ ..] => format!("`{first}` and {} more", grouped(rest.len())),
        }
    }
}
