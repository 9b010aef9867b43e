//! Stores documents that a program passes in, one or many at once.

use std::collections::{BTreeMap, HashMap, HashSet};

use chunkwright_index::{Failure, Generation, meta};
use chunkwright_source::{NewSource, SkipReason, Skipped};

use crate::core::models::embedder_for;
use crate::error::{Error, Within};
use crate::noun::collection::Collection;
use crate::request::index::{IndexAnswer, IndexRequest};
use crate::request::put::{PutAnswer, PutRequest, PutResult, PutState};
use crate::settings::Settings;
use crate::work::index::Indexer;

impl Collection {
    /// Stores documents whose content the caller has. They are cut like the collection; a new collection is created
    /// with the settings of the request, or those in force.
    ///
    /// # Errors
    ///
    /// A document that is malformed, for which nothing is stored; settings other than the collection's; a request of
    /// which no document could be read; a store that fails.
    pub fn put_documents(&self, request: PutRequest) -> Result<PutAnswer, Error> {
        let engine = self.engine();
        // The turn keeps the collection from switching to other settings between the look at them and the end of the
        // run.
        let turn = if engine.owner()?.is_none() { Some(engine.turn(self.name())?) } else { None };
        let generation = engine.store()?.lookup(self.name())?;
        let mut settings = self.settings_alike(generation.as_ref())?;
        if !request.settings.is_empty() {
            let asked = engine.settings().requested(&request.settings).within("settings")?;
            if generation.is_some() && asked.cutting() != settings.cutting() {
                return Err(Error::OtherConfiguration { collection: self.name().to_owned() });
            }
            engine.remember(&asked)?;
            if generation.is_none() {
                settings = asked;
            }
        }
        let mut doc_ids = Vec::with_capacity(request.documents.len());
        let mut known = HashSet::new();
        // Metadata applies to every document of a run, so documents are grouped by it.
        let mut runs: Vec<(BTreeMap<String, String>, Vec<NewSource>)> = Vec::new();
        for mut document in request.documents {
            let said = std::mem::take(&mut document.meta);
            for (name, text) in &said {
                meta::check(name, text)?;
            }
            let source = document.source()?;
            if !known.insert(source.doc_id.clone()) {
                let reason = "the request has two documents of this id".to_owned();
                return Err(Error::RefusedDocument { doc_id: source.doc_id, reason });
            }
            doc_ids.push(source.doc_id.clone());
            match runs.iter_mut().find(|(meta, _)| *meta == said) {
                Some((_, sources)) => sources.push(source),
                None => runs.push((said, vec![source])),
            }
        }
        if doc_ids.is_empty() {
            return Err(Error::TooSmall { field: "documents", value: 0, least: 1 });
        }
        let before = self.versions(&doc_ids)?;
        let alike = if generation.is_some() { self.alike()? } else { IndexRequest::default() };
        let alike = IndexRequest { force: request.force, ..alike };
        let own = engine.with(settings, engine.cancel_flag()).collection(self.name());
        let mut answers = Vec::with_capacity(runs.len());
        for (meta, sources) in runs {
            let request = IndexRequest { meta, ..alike.clone() };
            answers.push(match &turn {
                Some(turn) => own.indexer(request)?.put_in_turn(sources, turn)?,
                None => own.put(request, sources, &|_| {})?,
            });
        }
        self.put_answer(doc_ids, &before, answers)
    }

    /// An indexer that keeps the collection as it is: by the settings that cut it, with vectors of its model.
    pub(crate) fn indexer_alike(&self) -> Result<Indexer, Error> {
        let engine = self.engine();
        let generation = engine.store()?.open(self.name())?;
        let settings = self.settings_alike(Some(&generation))?;
        engine.with(settings, engine.cancel_flag()).collection(self.name()).indexer(self.alike()?)
    }

    /// The settings that cut the collection, with the embedder of its vectors, whatever the settings in force would
    /// choose for a new one.
    fn settings_alike(&self, generation: Option<&Generation>) -> Result<Settings, Error> {
        let mut settings = self.configuration()?;
        if let Some(embedder) = generation.and_then(|known| embedder_for(known.spec.model.as_ref())) {
            settings.embedder = Some(embedder.to_owned());
        }
        Ok(settings)
    }

    /// A request for the same extras, such as summaries, that the collection already has.
    pub(crate) fn alike(&self) -> Result<IndexRequest, Error> {
        let generation = self.engine().store()?.open(self.name())?;
        let kinds: Vec<&str> = generation.spec.config_hash.split('+').skip(1).collect();
        Ok(IndexRequest {
            summaries: kinds.contains(&"summaries"),
            context_notes: kinds.iter().any(|kind| kind.starts_with("contexts:")),
            document_summaries: kinds.iter().any(|kind| kind.starts_with("summary:")),
            ..IndexRequest::default()
        })
    }

    fn put_answer(
        &self,
        doc_ids: Vec<String>,
        before: &HashMap<String, (i64, u32)>,
        answers: Vec<IndexAnswer>,
    ) -> Result<PutAnswer, Error> {
        let mut why: HashMap<&str, (PutState, String)> = HashMap::new();
        for IndexAnswer { report, .. } in &answers {
            let failed = report.failed.iter().map(|Failure { doc_id, message }| (doc_id, message.clone()));
            why.extend(failed.map(|(doc_id, message)| (doc_id.as_str(), (PutState::Failed, message))));
            why.extend(report.skipped.iter().map(|Skipped { path, reason }| {
                let reason = match reason {
                    SkipReason::Secret => {
                        (PutState::Skipped, format!("{}; `force` stores it", reason.sentence()))
                    }
                    _ => (PutState::Failed, reason.sentence().to_owned()),
                };
                (path.as_str(), reason)
            }));
        }
        let after = self.versions(&doc_ids)?;
        let result = |doc_id: String| {
            if let Some((state, message)) = why.get(doc_id.as_str()).cloned() {
                return PutResult { doc_id, state, chunks: None, version: None, message: Some(message) };
            }
            let now = after.get(&doc_id).copied();
            let is_same = now.is_some() && now.map(|now| now.0) == before.get(&doc_id).map(|before| before.0);
            let state = if is_same { PutState::Unchanged } else { PutState::Stored };
            let (version, chunks) = now.unzip();
            PutResult { doc_id, state, chunks, version, message: None }
        };
        let documents: Vec<PutResult> = doc_ids.into_iter().map(result).collect();
        if let Some(first) = documents.first()
            && documents.iter().all(|document| matches!(document.state, PutState::Failed | PutState::Skipped))
        {
            let reason = first.message.clone().unwrap_or_default();
            return Err(Error::RefusedDocument { doc_id: first.doc_id.clone(), reason });
        }
        Ok(PutAnswer {
            collection: self.name().to_owned(),
            generation: answers.iter().rev().find_map(|answer| answer.report.generation),
            documents,
            notices: answers.into_iter().flat_map(|answer| answer.notices).collect(),
        })
    }

    /// The stored version and the number of chunks of documents, for those that are stored.
    fn versions(&self, doc_ids: &[String]) -> Result<HashMap<String, (i64, u32)>, Error> {
        let store = self.engine().store()?;
        let Some(generation) = store.lookup(self.name())? else { return Ok(HashMap::new()) };
        let mut versions = HashMap::new();
        for doc_id in doc_ids {
            if let Some(info) = store.document_info(&generation, doc_id)? {
                versions.insert(info.doc_id, (info.version, info.chunks));
            }
        }
        Ok(versions)
    }
}
