//! Detects renamed documents: new ones that are those whose files are gone, under another name.
//!
//! An unchanged file is recognized by its hash. A file that was also edited is recognized by its lines, as in a
//! comparison of two versions ([`renamed_documents`]).

use std::collections::{HashMap, HashSet};

use chunkwright::Record;
use chunkwright::diff::{Lines, content_lines, renamed_documents};
use chunkwright_models::{TextHash, text_hash};

use crate::report::Renamed;
use chunkwright_store::{DocumentInfo, NewDocument, StoreError};

/// The documents that are new in a run.
#[derive(Default)]
pub(super) struct Renames {
    /// Whether any files are gone; `None` until the first new document.
    pub(super) are_possible: Option<bool>,
    /// Ids by the hash of the file.
    by_hash: HashMap<String, String>,
    /// The lines of each.
    lines: HashMap<String, Lines<TextHash>>,
}

impl Renames {
    /// Adds a new document.
    pub(super) fn add(&mut self, document: &NewDocument) {
        let info = &document.document.info;
        self.by_hash.insert(info.file_hash.clone(), info.doc_id.clone());
        let lines = lines(document.chunks.iter().map(|chunk| &chunk.record));
        self.lines.insert(info.doc_id.clone(), lines);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The new documents that are one of `gone`, in the order of their old names. `records` reads the records of a
    /// stored document.
    pub(super) fn found(
        mut self,
        gone: &[&DocumentInfo],
        records: impl Fn(&str) -> Result<Vec<Record>, StoreError>,
    ) -> Result<Vec<Renamed>, StoreError> {
        let mut taken = HashSet::new();
        let mut found = Vec::new();
        let mut edited: HashMap<&str, Lines<TextHash>> = HashMap::new();
        for info in gone {
            match self.by_hash.get(&info.file_hash).filter(|to| taken.insert((*to).clone())) {
                Some(to) => found.push(Renamed { from: info.doc_id.clone(), to: to.clone() }),
                None => {
                    edited.insert(&info.doc_id, Lines::new());
                }
            }
        }
        self.lines.retain(|doc_id, _| !taken.contains(doc_id));
        if self.lines.is_empty() {
            return Ok(found);
        }
        for (doc_id, of) in &mut edited {
            *of = lines(&records(doc_id)?);
        }
        let new = self.lines.iter().map(|(doc_id, lines)| (doc_id.as_str(), lines.clone())).collect();
        let renamed = renamed_documents(&edited, &new);
        let renamed =
            renamed.into_iter().map(|(to, from)| Renamed { from: from.to_owned(), to: to.to_owned() });
        found.extend(renamed);
        found.sort();
        Ok(found)
    }
}

/// The lines of a document, without those of its summaries.
fn lines<'r>(records: impl IntoIterator<Item = &'r Record>) -> Lines<TextHash> {
    let own = records.into_iter().filter(|record| record.artifact.is_none());
    content_lines(own).map(|(line, length)| (text_hash(line), length)).collect()
}
