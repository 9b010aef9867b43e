//! What would become of stored chunks if their documents were cut by other settings?

use chunkwright::Record;
use chunkwright_index::{DocumentInfo, Glob, parsed};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::DiffAnswer;
use super::chunk::context;
use crate::collection::Collection;
use crate::configured::windowed;
use crate::error::Error;
use crate::snapshot::Snapshot;

/// Which documents are cut again for a comparison, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PlannedDiffRequest {
    /// Only this document.
    pub doc_id: Option<String>,
    /// Only documents whose id matches this pattern.
    pub source: Option<Glob>,
    /// How they would be cut: keys of the settings, over those in force.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::RequestedSettings"))]
    pub settings: Map<String, Value>,
    /// Whether only the counts are answered, without every chunk.
    pub summary_only: bool,
}

impl Collection {
    /// Compares the stored chunks with those that other settings would give: what would be kept, and what would have to
    /// be embedded again.
    ///
    /// # Errors
    ///
    /// A collection or document that does not exist, settings that cannot be used, [`Error::Cancelled`].
    pub fn planned_diff(&self, request: &PlannedDiffRequest) -> Result<DiffAnswer, Error> {
        let settings = self.engine().settings().requested(request.settings.clone())?;
        let engine = self.engine().with(settings, self.engine().cancel_flag());
        engine.collection(self.name()).read(|snapshot| snapshot.planned_diff(request))
    }
}

impl Snapshot {
    fn planned_diff(&self, request: &PlannedDiffRequest) -> Result<DiffAnswer, Error> {
        let engine = self.engine();
        let embedder = engine.embedder_of(self.generation().spec.model.as_ref())?;
        let chunker = windowed(engine.chunker()?, embedder.as_deref());
        let overlays = self.store().overlays(&self.generation().collection)?;
        let mut documents = match &request.doc_id {
            Some(doc_id) => vec![self.document(doc_id)?],
            None => self.documents()?,
        };
        documents.retain(|info| request.source.as_ref().is_none_or(|glob| glob.matches(&info.doc_id)));
        let both = |info: &DocumentInfo| -> Result<(Vec<Record>, Vec<Record>), Error> {
            engine.check_cancelled()?;
            let mut old = self.store().records(self.generation(), &info.doc_id)?;
            old.retain(|record| record.artifact.is_none());
            // It was removed meanwhile.
            let Some(document) = parsed(self.store(), self.generation(), &info.doc_id)? else {
                return Ok((Vec::new(), Vec::new()));
            };
            let context = context(&engine.settings().preset, info.file_hash.clone(), &document);
            Ok((old, overlays.cut(&chunker, &document).0.records(&context)))
        };
        let cut: Result<Vec<_>, Error> = engine.on_threads(|| documents.par_iter().map(both).collect());
        let (old, new): (Vec<_>, Vec<_>) = cut?.into_iter().unzip();
        let mut answer =
            DiffAnswer::of(old.into_iter().flatten().collect(), new.into_iter().flatten().collect());
        if request.summary_only {
            answer.diff.changes.clear();
        }
        Ok(answer)
    }
}
