//! The first reading of an import: every document is verified, and nothing is written.

use std::collections::HashMap;

use chunkwright::ChunkId;
use chunkwright::verify::Finding;

use super::rows::{Read, Rows, read};
use super::{ImportError, RowAt};
use chunkwright_store::verify::{self, Counters, is_doc_id};
use chunkwright_store::{GenerationSpec, Model, Overlays, Vector};

/// A document that was verified.
pub(super) struct Verified {
    pub(super) doc_id: String,
    /// Its first row.
    at: RowAt,
    /// Number of its chunks.
    pub(super) chunks: usize,
}

/// What the first reading found, in one file or in all of them.
#[derive(Default)]
pub(super) struct Proof {
    /// Strategy version and configuration of all records.
    pub(super) cut: Option<(String, String)>,
    /// The model of their vectors.
    pub(super) model: Option<Model>,
    /// The documents in order.
    pub(super) documents: Vec<Verified>,
    /// The index of each document in `documents`.
    pub(super) doc_ids: HashMap<String, usize>,
    /// The document of each chunk id, as an index into `documents`.
    ids: HashMap<ChunkId, usize>,
    pub(super) overlays: Overlays,
}

impl Proof {
    /// Verifies the document of `rows`.
    pub(super) fn document(&mut self, mut rows: Rows, counters: &Counters) -> Result<(), ImportError> {
        let Some((at, first)) = rows.first() else { return Ok(()) };
        let (at, doc_id) = (*at, first.record.doc_id.clone());
        if !is_doc_id(&doc_id) {
            let finding = Finding::new(None, "doc_id", &doc_id, verify::DOC_ID);
            return Err(ImportError::Untrue {
                at,
                doc_id: doc_id.escape_debug().to_string(),
                finding: finding.into(),
                more: 0,
            });
        }
        if self.doc_ids.contains_key(&doc_id) {
            return Err(ImportError::Order { at, doc_id });
        }
        let notes = first.document.as_ref().map_or("", |document| &document.notes);
        let cut = (first.record.strategy_version.clone(), [&first.record.config_hash, notes].concat());
        self.is_cut_by(at, &doc_id, &cut)?;
        for overlay in rows.iter().flat_map(|(_, row)| row.overlays.clone()) {
            let is_named = overlay.chunk_id.parse::<ChunkId>().is_ok()
                && (overlay.doc_id.is_empty() || is_doc_id(&overlay.doc_id));
            if !is_named || overlay.text.as_ref().is_some_and(|text| text.trim().is_empty()) {
                let shown = serde_json::to_string(&overlay).unwrap_or_default();
                let expected = "the id and document of a chunk, and a text that is not blank";
                let finding = Finding::new(None, "overlays", shown, expected);
                return Err(ImportError::Untrue { at, doc_id, finding: finding.into(), more: 0 });
            }
            self.overlays.put(overlay);
        }
        self.vectors(&rows, &doc_id)?;
        let Read { document, records, .. } = read(&mut rows)?;
        let cut = self.cut.clone().unwrap_or_default();
        let spec = GenerationSpec { strategy_version: cut.0, config_hash: cut.1, model: None };
        let mut findings = verify::records(&spec, &document, &records, counters);
        let rest = findings.len().saturating_sub(1);
        if !findings.is_empty() {
            let finding = findings.swap_remove(0);
            let at = finding.record.and_then(|index| rows.get(index)).map_or(at, |(at, _)| *at);
            return Err(ImportError::Untrue { at, doc_id, finding: finding.into(), more: rest });
        }
        let ids = rows.iter().zip(&records).map(|((at, _), record)| (*at, record.chunk_id));
        self.keep(Verified { doc_id, at, chunks: records.len() }, ids)
    }

    /// Joins this with what was found in another file.
    pub(super) fn join(&mut self, other: Self) -> Result<(), ImportError> {
        let Some(first) = other.documents.first() else { return Ok(()) };
        self.is_cut_by(first.at, &first.doc_id, &other.cut.unwrap_or_default())?;
        match (&self.model, &other.model) {
            (Some(known), Some(found)) if known != found => {
                return Err(not_of(first.at, &first.doc_id, "model", of_model(known)));
            }
            (None, _) => self.model = other.model,
            _ => {}
        }
        let mut ids: Vec<Vec<ChunkId>> = other.documents.iter().map(|_| Vec::new()).collect();
        for (id, document) in other.ids {
            if let Some(ids) = ids.get_mut(document) {
                ids.push(id);
            }
        }
        for (document, ids) in other.documents.into_iter().zip(ids) {
            if self.doc_ids.contains_key(&document.doc_id) {
                return Err(ImportError::Twice { at: document.at, doc_id: document.doc_id });
            }
            let at = document.at;
            self.keep(document, ids.into_iter().map(|id| (at, id)))?;
        }
        for overlay in other.overlays.all() {
            self.overlays.put(overlay.clone());
        }
        Ok(())
    }

    /// Checks that all documents are cut in one way.
    fn is_cut_by(&mut self, at: RowAt, doc_id: &str, cut: &(String, String)) -> Result<(), ImportError> {
        let expected = self.cut.get_or_insert_with(|| cut.clone());
        if cut == expected {
            return Ok(());
        }
        let [found, expected] = [cut, &*expected].map(|(version, config)| format!("{version} {config}"));
        Err(ImportError::Mixed { at, doc_id: doc_id.to_owned(), found, expected })
    }

    /// Keeps a document; no id of its chunks may be that of another's.
    fn keep(
        &mut self,
        document: Verified,
        ids: impl Iterator<Item = (RowAt, ChunkId)>,
    ) -> Result<(), ImportError> {
        let number = self.documents.len();
        for (at, chunk_id) in ids {
            if let Some(other) = self.ids.insert(chunk_id, number) {
                let other = self.documents.get(other).unwrap_or(&document).doc_id.clone();
                return Err(ImportError::SameId { at, chunk_id, doc_id: document.doc_id, other });
            }
        }
        self.doc_ids.insert(document.doc_id.clone(), number);
        self.documents.push(document);
        Ok(())
    }

    /// Checks that all vectors are of one model.
    fn vectors(&mut self, rows: &Rows, doc_id: &str) -> Result<(), ImportError> {
        let said = rows.first().and_then(|(_, row)| row.document.as_ref()?.model.as_ref());
        for (at, row) in rows {
            let name = row.model.as_ref().or(said).cloned();
            let refuse = |field, expected: String| Err(not_of(*at, doc_id, field, expected));
            let Some(dense) = &row.vector else {
                if row.sparse.is_some() {
                    return refuse("sparse", "a `vector` beside it".into());
                }
                continue;
            };
            let vector =
                Vector { dense: dense.clone(), sparse: row.sparse.clone(), codes: row.codes.clone() };
            let model = Model {
                name: name.clone().unwrap_or_default(),
                dimension: vector.dense.len(),
                sparse: vector.sparse.is_some(),
            };
            let expected = match &self.model {
                None => &model,
                Some(known) if name.is_some() && known.name != model.name => {
                    return refuse("model", of_model(known));
                }
                Some(known) => known,
            };
            if let Err(problem) = verify::of_vector(&vector, expected) {
                return refuse("vector", format!("what can be compared: {problem}"));
            }
            if self.model.is_none() && name.is_some() {
                self.model = Some(model);
            }
        }
        Ok(())
    }
}

/// The refusal of a row by one of its fields.
fn not_of(at: RowAt, doc_id: &str, field: &'static str, expected: String) -> ImportError {
    let finding = Finding::new(None, field, "what it is", expected);
    ImportError::Untrue { at, doc_id: doc_id.to_owned(), finding: finding.into(), more: 0 }
}

fn of_model(known: &Model) -> String {
    format!("`{}`, as that of the vectors before", known.name)
}
