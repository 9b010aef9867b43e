//! Verifies what a store keeps of a document and what an import brings.
//!
//! [`records`] verifies the records of a document against its text, and [`stored`] what a store keeps beside them. What
//! the core can verify of records is in [`chunkwright::verify`]; here are the checks of the original file, the manual
//! changes and the vectors.

use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use chunkwright::parse::{Markdown, Text};
use chunkwright::verify::{Basis, Finding, Notes, Structure, is_current, verify};
use chunkwright::{Document, Parser, Record, TokenCounter};
use chunkwright_models::{COUNTERS, text_hash};
use chunkwright_source::decode::decode;
use chunkwright_source::format::{Format, parse};
use chunkwright_source::walk::{has_dots, is_unprintable};
use rayon::prelude::*;
use serde_json::json;

use crate::bm25::TermCounts;
use crate::document::{DocumentInfo, NewChunk, StoredDocument};
use crate::error::StoreError;
use crate::generation::GenerationSpec;
use crate::overlay::{Applied, OriginalText, Overlays};
use crate::parsed::format_of;
use crate::threads::is_in_pool;
pub use crate::unsound::Unsound;
use crate::vector::Vector;

/// Token counters by the names that records have. Each is made once.
#[derive(Default)]
pub struct Counters {
    /// Folder of installed models; `None`: only built-in counters are known.
    data_dir: Option<std::path::PathBuf>,
    made: Mutex<HashMap<String, Option<Arc<dyn TokenCounter>>>>,
}

impl Counters {
    /// The built-in counters and those of the models installed in `data_dir`.
    pub fn installed(data_dir: &Path) -> Self {
        Self { data_dir: Some(data_dir.to_owned()), made: Mutex::default() }
    }

    /// The counter with this name. A record must not name a file to be opened, so that only registered names are known.
    pub fn get(&self, name: &str) -> Option<Arc<dyn TokenCounter>> {
        let registered = COUNTERS.iter().find(|info| info.name == name)?;
        let mut made = self.made.lock();
        let open = || {
            let data_dir = self.data_dir.as_deref().unwrap_or(Path::new(""));
            chunkwright_models::counter(registered.name, data_dir).ok()
        };
        made.entry(name.to_owned()).or_insert_with(open).clone()
    }
}

/// Describes valid document ids, for messages.
pub const DOC_ID: &str = "a name of visible characters without a part `.` or `..`";

/// Returns whether `doc_id` is a valid document id: not empty, no unprintable characters, and no part `.` or `..`.
pub fn is_doc_id(doc_id: &str) -> bool {
    !doc_id.is_empty() && !doc_id.contains(is_unprintable) && !has_dots(doc_id)
}

/// Verifies `document` and its `records` in a generation described by `spec`; returns what is wrong.
pub fn records(
    spec: &GenerationSpec,
    document: &StoredDocument,
    records: &[Record],
    counters: &Counters,
) -> Vec<Finding> {
    let info = &document.info;
    let mut findings = of_document(document);
    for (index, record) in records.iter().enumerate() {
        let mut expect = |field, found: &str, expected: &str| {
            if found != expected {
                findings.push(Finding::new(Some(index), field, found, format!("`{expected}`")));
            }
        };
        // A generation need not record how it was cut, and an outdated document still waits to be cut that way.
        if !spec.strategy_version.is_empty() && !info.is_outdated() {
            expect("strategy_version", &record.strategy_version, &spec.strategy_version);
            expect("config_hash", &record.config_hash, of_chunks(&spec.config_hash));
        }
        expect("preset", &record.preset, &info.preset);
        expect("meta", &json!(record.meta).to_string(), &json!(info.meta).to_string());
        expect("indexed_at", record.indexed_at.as_deref().unwrap_or_default(), &info.indexed_at);
        // The file of a document that was rebuilt from its records is unknown.
        if !is_rebuilt(info) {
            expect("file_hash", &record.file_hash, &info.file_hash);
        }
        if record.position.is_some() && converter_of(document).is_none() && !is_rebuilt(info) {
            findings.push(Finding::new(
                Some(index),
                "position",
                "a place",
                "`null`: the file was not converted",
            ));
        }
    }
    let (parsed, structure) =
        parsed(document, records.iter().any(|record| is_current(&record.strategy_version)));
    let applied = info.applied();
    let original: HashMap<&str, &str> = applied
        .iter()
        .filter_map(|applied| Some((applied.chunk_id.as_str(), applied.original.as_ref()?.text.as_str())))
        .collect();
    let notes = if spec.config_hash.contains("+contexts:") { Notes::Possible } else { Notes::Without };
    let counter = |name: &str| counters.get(name);
    let rendered = |index: usize| {
        let record = records.get(index)?;
        Some(original.get(record.chunk_id.to_string().as_str()).copied().unwrap_or(&record.text))
    };
    let basis = Basis { structure, notes, rendered: &rendered, counter: &counter };
    findings.extend(verify(&parsed, records, basis));
    findings
}

/// Restores the original text fields of records whose text was replaced by hand.
pub fn without_by_hand(document: &StoredDocument, records: &mut [Record]) {
    let applied = document.info.applied();
    let mut original: HashMap<String, OriginalText> =
        applied.into_iter().filter_map(|applied| Some((applied.chunk_id, applied.original?))).collect();
    for record in records {
        if let Some(original) = original.remove(&record.chunk_id.to_string()) {
            original.restore(record);
        }
    }
}

/// Verifies a document without its records.
fn of_document(document: &StoredDocument) -> Vec<Finding> {
    let info = &document.info;
    let mut findings = Vec::new();
    let mut tell = |field, found: &dyn Display, expected: &str| {
        findings.push(Finding::new(None, field, found, expected));
    };
    if !is_doc_id(&info.doc_id) {
        tell("doc_id", &info.doc_id, DOC_ID);
    }
    if !document.is_intact() {
        tell("file_hash", &info.file_hash, "the BLAKE3 hash of the file that the text was made of");
    } else if info.bytes != document.bytes().len() as u64 {
        tell("bytes", &info.bytes, &format!("`{}`, the length of the file", document.bytes().len()));
    } else if let Some(raw) = &document.raw
        && converter_of(document).is_none()
        && decode(raw).is_none_or(|decoded| decoded.text != *document.source)
    {
        tell("source", &document.source, "the decoded text of the file");
    }
    findings
}

/// The part of a configuration hash that covers boundaries: summaries and notes follow a `+`.
fn of_chunks(config_hash: &str) -> &str {
    config_hash.split_once('+').map_or(config_hash, |(chunks, _)| chunks)
}

/// Returns whether the source was rebuilt from records, so that its file is unknown.
fn is_rebuilt(info: &DocumentInfo) -> bool {
    info.format.is_empty()
}

/// The name of the format of a converted document.
fn converter_of(document: &StoredDocument) -> Option<&'static str> {
    match Format::named(&document.info.format) {
        Some(Format::Binary(converter)) => Some(converter.name()),
        _ => None,
    }
}

/// The document as it was parsed when it was cut, if requested and if this program still parses it that way.
fn parsed(document: &StoredDocument, wanted: bool) -> (Document, Structure) {
    let StoredDocument { info, source, .. } = document;
    let parser: Option<&dyn Parser> = if converter_of(document).is_some() {
        Some(&Markdown)
    } else {
        match format_of(info, document.bytes()) {
            Format::Text(parser) if parser.name() == info.format => Some(parser),
            _ => None,
        }
    };
    let parsed = parser.filter(|_| wanted).and_then(|parser| {
        // External text may break a parser; everything else is still verified.
        catch_unwind(AssertUnwindSafe(|| parse(&info.doc_id, Arc::clone(source), parser))).ok()
    });
    match parsed {
        Some(document) => (document, Structure::Known),
        None => (Document::parse(&*info.doc_id, Arc::clone(source), &Text), Structure::Unknown),
    }
}

/// A stored document to be verified.
pub struct Kept {
    /// The document.
    pub document: StoredDocument,
    /// Its chunks in order, followed by summaries.
    pub chunks: Vec<NewChunk>,
}

/// Bytes of text of the documents that are verified at once, on all processors.
pub(crate) const WINDOW: usize = 8 << 20;

/// Verifies stored documents of a generation; returns one sentence per inconsistent document, which names its first
/// findings.
pub fn stored(
    spec: &GenerationSpec,
    kept: &[Kept],
    overlays: &Overlays,
    counters: &Counters,
) -> Vec<Unsound> {
    let prove = |kept: &Kept| {
        let findings = one_stored(spec, kept, overlays, counters);
        let doc_id = kept.document.info.doc_id.clone();
        (!findings.is_empty()).then(|| Unsound { problem: sentence(&doc_id, &findings), doc_id })
    };
    // The caller may hold the lock of a store.
    if is_in_pool() {
        return kept.iter().filter_map(prove).collect();
    }
    kept.par_iter().filter_map(prove).collect()
}

/// Findings that a sentence about a document names.
const NAMED: usize = 3;

/// The findings of one document in a sentence.
pub(crate) fn sentence(doc_id: &str, findings: &[Finding]) -> String {
    let one = |finding: &Finding| match finding.record {
        Some(index) => format!("chunk {index}: {finding}"),
        None => finding.to_string(),
    };
    let named: Vec<String> = findings.iter().take(NAMED).map(one).collect();
    let more = findings.len().saturating_sub(NAMED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("document `{doc_id}`: {}{more}", named.join("; "))
}

fn one_stored(
    spec: &GenerationSpec,
    Kept { document, chunks }: &Kept,
    overlays: &Overlays,
    counters: &Counters,
) -> Vec<Finding> {
    let info = &document.info;
    let all: Vec<Record> = chunks.iter().map(|chunk| chunk.record.clone()).collect();
    let mut findings = records(spec, document, &all, counters);
    if info.chunks as usize != chunks.len() {
        findings.push(Finding::new(None, "chunks", info.chunks, format!("`{}`", chunks.len())));
    }
    let applied = info.applied();
    let on: HashMap<&str, &Applied> =
        applied.iter().map(|applied| (applied.chunk_id.as_str(), applied)).collect();
    let ids: HashSet<String> = all.iter().map(|record| record.chunk_id.to_string()).collect();
    for id in on.keys().filter(|id| !ids.contains(**id)) {
        findings.push(Finding::new(None, "overlays", id, "the id of one of its chunks"));
    }
    for (index, chunk) in chunks.iter().enumerate() {
        let mut tell = |field, found: &dyn Display, expected: &str| {
            findings.push(Finding::new(Some(index), field, found, expected));
        };
        let text = &chunk.record.text;
        if chunk.text_hash != text_hash(text) {
            tell("text_hash", &"another", "the hash of the text: it is not the text that was stored");
        }
        let (enabled, terms) = match on.get(chunk.record.chunk_id.to_string().as_str()) {
            None => (true, TermCounts::of_chunk(text, &chunk.record)),
            Some(applied) => match overlays.get(&applied.overlay) {
                Some(overlay) if applied.is_of(overlay, applied.state) => {
                    (!overlay.disabled, overlay.terms(&chunk.record))
                }
                // The overlay has changed since, and the next run updates the chunk.
                _ => continue,
            },
        };
        if chunk.enabled != enabled {
            tell("enabled", &chunk.enabled, "what was changed by hand");
        }
        if chunk.terms != terms {
            tell(
                "terms",
                &"others",
                "the words of its text, its file and its symbols, and the keywords given by hand",
            );
        }
    }
    findings
}

/// Largest deviation of a vector's length from 1.
const NORM_TOLERANCE: f64 = 1e-3;

/// Returns whether a vector has length 1, as those of every embedder have.
pub(crate) fn is_unit(vector: impl IntoIterator<Item = f32>) -> bool {
    let length = vector.into_iter().map(|value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt();
    // Also false for NaN.
    (length - 1.0).abs() <= NORM_TOLERANCE
}

/// Verifies a vector of a model.
///
/// # Errors
///
/// The first problem found.
pub fn of_vector(vector: &Vector, model: &crate::Model) -> Result<(), String> {
    vector.check(model).map_err(|error: StoreError| error.to_string())?;
    if !is_unit(vector.dense.iter().copied()) {
        return Err("a vector is not of length 1; vectors must be normalized".into());
    }
    Ok(())
}
