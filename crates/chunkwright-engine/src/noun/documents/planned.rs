//! Compares stored chunks with those that their documents would have by other settings.
//!
//! The comparison goes document by document and keeps only a fingerprint of each chunk, so that a large collection
//! takes the memory of its largest documents. An immediate answer is limited to a number of chunks; a job is not, since
//! its result goes to a file.

use std::io::Write;

use chunkwright::diff::{Change, Comparison, Diff, Fingerprint, Summary, TextKey};
use chunkwright_index::{DocumentInfo, Progress, parsed};
use chunkwright_source::ordered;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::{Error, Within};
use crate::json_lines::to_line;
use crate::notice::Notice;
use crate::noun::collection::Collection;
use crate::noun::configured::windowed;
use crate::noun::documents::chunk::context;
use crate::noun::documents::diff::other_settings;
use crate::noun::snapshot::Snapshot;
use crate::request::diff::{DiffAnswer, MOST_CHUNKS, PlannedDiffAnswer, PlannedDiffRequest};

/// Approximate memory of a waiting fingerprint, in bytes.
const FINGERPRINT: usize = 256;

/// The last line of a written comparison.
#[derive(Serialize)]
struct SummaryLine<'a> {
    kind: &'static str,
    #[serde(flatten)]
    summary: &'a Summary,
}

/// The chunks of a document on both sides.
struct Sides {
    old: Vec<Fingerprint>,
    new: Vec<Fingerprint>,
    notice: Option<Notice>,
}

impl Collection {
    /// Compares the stored chunks with those of other settings: which would be kept, and which would have to be
    /// embedded again. At most [`MOST_CHUNKS`] on either side.
    ///
    /// # Errors
    ///
    /// A collection or document that does not exist, settings that cannot be used, more chunks, [`Error::Cancelled`].
    pub fn planned_diff(&self, request: &PlannedDiffRequest) -> Result<DiffAnswer, Error> {
        self.by_settings(&request.settings)?.read(|snapshot| {
            let mut changes = Vec::new();
            let answer = snapshot.compared(request, Some(MOST_CHUNKS), &|_| {}, &mut |mut found| {
                changes.append(&mut found);
                Ok(())
            })?;
            let PlannedDiffAnswer { summary, notices } = answer;
            Ok(DiffAnswer::of_changes(Diff { changes, summary }, notices))
        })
    }

    /// As [`planned_diff`](Self::planned_diff), for any number of chunks: writes one line of JSON per change to `sink`,
    /// and the summary last. `on_progress` gets the number of finished documents.
    ///
    /// # Errors
    ///
    /// As [`planned_diff`](Self::planned_diff), and a sink that cannot be written.
    pub fn write_planned_diff(
        &self,
        request: &PlannedDiffRequest,
        sink: &mut dyn Write,
        on_progress: &dyn Fn(Progress<'_>),
    ) -> Result<PlannedDiffAnswer, Error> {
        let snapshot = self.by_settings(&request.settings)?.snapshot()?;
        let answer = snapshot.compared(request, None, on_progress, &mut |changes| {
            changes.iter().try_for_each(|change| sink.write_all(&to_line(change)?).map_err(Error::Unwritten))
        })?;
        let last = SummaryLine { kind: "summary", summary: &answer.summary };
        sink.write_all(&to_line(&last)?).map_err(Error::Unwritten)?;
        Ok(answer)
    }

    /// The collection, in an engine with these settings.
    pub(crate) fn by_settings(&self, asked: &Map<String, Value>) -> Result<Self, Error> {
        let settings = self.engine().settings().requested(asked).within("settings")?;
        Ok(self.engine().with(settings, self.engine().cancel_flag()).collection(self.name()))
    }
}

impl Snapshot {
    /// Passes the changes of each document to `each`, in order of document ids.
    fn compared(
        &self,
        request: &PlannedDiffRequest,
        most: Option<usize>,
        on_progress: &dyn Fn(Progress<'_>),
        each: &mut dyn FnMut(Vec<Change>) -> Result<(), Error>,
    ) -> Result<PlannedDiffAnswer, Error> {
        let engine = self.engine();
        let embedder = engine.embedder_of(self.generation().spec.model.as_ref())?;
        let chunker = windowed(engine.chunker()?, embedder.as_deref());
        let overlays = self.store().overlays(&self.generation().collection)?;
        let mut documents = match &request.doc_id {
            Some(doc_id) => vec![self.document(doc_id)?],
            None => self.documents()?,
        };
        documents.retain(|info| request.source.as_ref().is_none_or(|glob| glob.matches(&info.doc_id)));
        documents.sort_unstable_by(|a, b| a.doc_id.cmp(&b.doc_id));
        self.check_number(documents.iter().map(|info| info.chunks as usize).sum(), most)?;
        let found = documents.iter().map(|info| info.bytes).sum();
        on_progress(Progress::Found { files: documents.len(), bytes: found });
        let old = |info: &DocumentInfo| {
            engine.check_cancelled()?;
            let mut records = self.store().records(self.generation(), &info.doc_id)?;
            records.retain(|record| record.artifact.is_none());
            Ok::<_, Error>(records)
        };
        // A text is embedded only if no document has it, so all texts are read before the first comparison.
        let texts = |info: &DocumentInfo| -> Result<Vec<TextKey>, Error> {
            Ok(old(info)?.iter().map(|record| TextKey::of(&record.text)).collect())
        };
        let known: Result<Vec<_>, Error> = engine.on_threads(|| documents.par_iter().map(texts).collect());
        let mut comparison = Comparison::new(known?.into_iter().flatten());
        let both = |info: &DocumentInfo| -> Result<Sides, Error> {
            let records = old(info)?;
            let before = records.first().cloned();
            let old: Vec<Fingerprint> = records.iter().map(Fingerprint::of).collect();
            drop(records);
            // The document was removed meanwhile.
            let Some(document) = parsed(self.store(), self.generation(), &info.doc_id)? else {
                return Ok(Sides { old: Vec::new(), new: Vec::new(), notice: None });
            };
            let context = context(&engine.settings().preset, info.file_hash.clone(), &document);
            let chunks = overlays.cut(&chunker, &document).0;
            self.check_number(chunks.len(), most)?;
            let now = chunks.iter().next().map(|chunk| chunk.record(&context));
            let notice = before.zip(now).and_then(|(before, now)| other_settings(&before, &now));
            let new = chunks.iter_records(&context).map(|record| Fingerprint::of(&record)).collect();
            Ok(Sides { old, new, notice })
        };
        let size = |sides: &Result<Sides, Error>| {
            sides.as_ref().map_or(0, |sides| FINGERPRINT * (sides.old.len() + sides.new.len()))
        };
        let (mut notice, mut done, mut at) = (None, 0, documents.iter());
        ordered(engine.thread_count(), &documents, both, size, |sides| {
            let (sides, info) = (sides?, at.next());
            let Some(info) = info else { return Ok(()) };
            done += info.bytes;
            let doc_id = info.doc_id.as_str();
            let changes = comparison.document((doc_id, &sides.old), (doc_id, &sides.new));
            if !request.summary_only {
                each(changes)?;
            }
            self.check_number(comparison.summary().new_chunks, most)?;
            notice = notice.take().or(sides.notice);
            let files = documents.len() - at.len();
            on_progress(Progress::Read { files, bytes: done });
            engine.check_cancelled()
        })?;
        Ok(PlannedDiffAnswer { summary: comparison.summary(), notices: notice.into_iter().collect() })
    }

    /// Fails if there are more chunks than an answer may have.
    fn check_number(&self, chunks: usize, most: Option<usize>) -> Result<(), Error> {
        match most {
            Some(most) if chunks > most => {
                let collection = self.generation().collection.clone();
                Err(Error::LargeDiff { collection, chunks, most })
            }
            _ => Ok(()),
        }
    }
}
