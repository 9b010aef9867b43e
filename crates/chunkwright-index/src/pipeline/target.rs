//! The generation that a run updates, and the state of the collection before the run.

use std::collections::HashMap;

use super::{IndexOptions, Pipeline};
use chunkwright_store::{DocumentInfo, Generation, GenerationSpec, Model, StoreError};

impl Pipeline {
    /// The documents of the collection before anything is written.
    pub(super) fn known(&self) -> Result<Known, StoreError> {
        let target = self.store.find(&self.collection, &self.spec())?;
        let current = self.store.lookup(&self.collection)?;
        let listed = |generation: Option<&Generation>| -> Result<HashMap<String, DocumentInfo>, StoreError> {
            let listed = generation.map(|generation| self.store.documents(generation)).transpose()?;
            Ok(listed.unwrap_or_default().into_iter().map(|info| (info.doc_id.clone(), info)).collect())
        };
        let stored = listed(target.as_ref())?;
        let seen = listed(current.as_ref().filter(|current| target.as_ref() != Some(current)))?;
        Ok(Known { is_building: current.is_some() && target != current, current, stored, seen })
    }

    /// The specification that all chunks of this pipeline share.
    pub fn spec(&self) -> GenerationSpec {
        let model = self.embedder.as_ref().map(|embedder| embedder.model());
        let chunks = self.chunker.config_hash();
        let summaries = if self.summaries { "+summaries" } else { "" };
        let redacted = if self.redacts { "+redacted" } else { "" };
        // Different notes make different texts.
        let notes = self.notes.as_ref().map_or(String::new(), |notes| {
            let kinds = [("contexts", notes.contexts), ("summary", notes.summaries)];
            let kinds = kinds.into_iter().filter(|(_, is_on)| *is_on);
            kinds.map(|(kind, _)| format!("+{kind}:{}", notes.writer.name())).collect()
        });
        GenerationSpec {
            strategy_version: self.chunker.strategy_version(),
            config_hash: [chunks, redacted.into(), summaries.into(), notes].concat(),
            model: model.map(Model::from),
        }
    }

    /// The generation to update and the one that searches see. A dry run creates none.
    pub(super) fn generations(&self, options: &IndexOptions) -> Result<Generations, StoreError> {
        let spec = self.spec();
        let target = if options.dry_run {
            self.store.find(&self.collection, &spec)?
        } else {
            Some(self.store.begin(&self.collection, &spec)?)
        };
        Ok(Generations { target, current: self.store.lookup(&self.collection)? })
    }
}

/// The documents of a collection when a run began, by id.
pub(super) struct Known {
    /// The generation that searches see.
    pub(super) current: Option<Generation>,
    /// The documents of the generation to update.
    pub(super) stored: HashMap<String, DocumentInfo>,
    /// The documents that searches see, if they are of another generation.
    pub(super) seen: HashMap<String, DocumentInfo>,
    /// Whether they are.
    pub(super) is_building: bool,
}

impl Known {
    /// What searches see.
    pub(super) fn visible(&self) -> &HashMap<String, DocumentInfo> {
        if self.is_building { &self.seen } else { &self.stored }
    }
}

/// The generations of a run.
pub(super) struct Generations {
    /// The one to update; `None` in a dry run that would begin it.
    pub(super) target: Option<Generation>,
    /// The one that searches see; `None` before the first.
    pub(super) current: Option<Generation>,
}
