//! Stores documents that a program passes in, one or many at once.

use std::collections::{BTreeMap, HashMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chunkwright_index::{Failure, Generation, meta};
use chunkwright_source::memory::printable;
use chunkwright_source::{FormatHint, NewSource, SkipReason, Skipped};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::collection::Collection;
use crate::error::{Error, Within};
use crate::index::{IndexAnswer, IndexRequest, Indexer};
use crate::models::embedder_for;
use crate::notice::Notice;
use crate::settings::Settings;

/// Documents to be stored, each in place of the one that the collection has under its id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PutRequest {
    /// The documents; one at least.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub documents: Vec<GivenDocument>,
    /// How a new collection is cut: keys of the settings. A collection that exists is cut as it was.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::RequestedSettings"))]
    pub settings: Map<String, Value>,
    /// Whether files with credentials are stored too, which are left out otherwise, as in folders.
    #[serde(default)]
    pub force: bool,
}

/// A document of which the caller has the content: exactly one of `text` and `bytes`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GivenDocument {
    /// Its key in the collection: printable, without a part `.` or `..`, at most 1,024 bytes.
    pub doc_id: String,
    /// Its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its bytes, in base64: a file of any format, such as PDF.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Base64>,
    /// What tells its format, if its id does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<FormatHint>,
    /// What is said of it, by name.
    #[serde(default)]
    pub meta: BTreeMap<String, String>,
}

/// Bytes, in JSON as base64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Base64(pub Vec<u8>);

impl Serialize for Base64 {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = |error| serde::de::Error::custom(format!("`bytes` must be base64: {error}"));
        STANDARD.decode(text).map(Self).map_err(wrong)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Base64 {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Base64".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "contentEncoding": "base64", "pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$" })
    }
}

/// What became of documents. What is stored is stored durably.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PutAnswer {
    /// The collection.
    pub collection: String,
    /// Number of the generation that they were written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<i64>,
    /// The documents, in the order of the request.
    pub documents: Vec<PutResult>,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

/// What became of one document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PutResult {
    /// The document.
    pub doc_id: String,
    /// What became of it.
    pub state: PutState,
    /// Number of its chunks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunks: Option<u32>,
    /// Number of its stored version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// Why it was not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// What became of a document that was to be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PutState {
    /// It is stored.
    Stored,
    /// It was stored before, the same.
    Unchanged,
    /// It was left out, as a folder's files with credentials are; what was stored before stays.
    Skipped,
    /// It could not be read; what was stored before stays.
    Failed,
}

impl GivenDocument {
    /// The document, if a collection can store it.
    pub(crate) fn source(self) -> Result<NewSource, Error> {
        let doc_id = printable(&self.doc_id);
        let bytes = match (self.text, self.bytes) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(Base64(bytes))) => bytes,
            _ => return Err(Error::TextOrBytes { doc_id }),
        };
        let source = NewSource { doc_id: self.doc_id, bytes, hint: self.hint };
        source.check().map_err(|error| Error::RefusedDocument { doc_id, reason: error.to_string() })?;
        Ok(source)
    }
}

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
