//! From a file to a document that can be stored.

use std::borrow::Cow;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use chunkwright::{Document, Record, RecordContext};
use chunkwright_source::convert::Omission;
use chunkwright_source::format::{Format, file_hash, read_as, read_redacted};
use chunkwright_source::redact::redact_bytes;
use chunkwright_source::secret::is_key;
use chunkwright_source::{Generated, SkipReason, generated, noise, prose_language, read_file};

use super::input::Input;
use super::pace::{Meter, Stage};
use super::{Embed, IndexOptions, Pipeline};
use chunkwright_store::meta::KnownMeta;
use chunkwright_store::{DocumentInfo, Generation, NewChunk, NewDocument, Overlays, StoredDocument};

/// Longest stored outline, in bytes; longer ones are truncated.
const MAX_OUTLINE: usize = 32 << 10;

/// The result of preparing an input.
pub(super) enum Prepared {
    /// The stored version is up to date; with the file's new modification time, if that changed.
    Unchanged(Option<i64>),
    /// A document to store.
    Ready(Box<NewDocument>, Option<Generated>, Vec<Omission>),
    /// Not a document.
    Skipped(SkipReason),
    /// A document that cannot be stored.
    Failed(String),
}

/// The context that documents are prepared in, beside their files.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) options: &'a IndexOptions,
    /// The generation that has the stored files of documents not found on disk.
    pub(super) current: Option<&'a Generation>,
    /// Whether generated files are left out.
    pub(super) skip_generated: bool,
    pub(super) meter: &'a Meter,
    pub(super) meta: &'a KnownMeta,
    /// The overlays whose boundaries documents are cut by.
    pub(super) overlays: &'a Overlays,
}

/// A file's modification time is trusted if it is at least this much older than the read, in nanoseconds.
const SETTLED: i64 = 2_000_000_000;

impl Pipeline {
    /// Reads, decodes, cuts and analyses a file, unless `stored` is up to date.
    pub(super) fn prepare(
        &self,
        input: &Input<'_>,
        stored: Option<&DocumentInfo>,
        context: Context<'_>,
    ) -> Prepared {
        let options = context.options;
        if let Input::File(file) = input
            && let Some(reason) = file.left_out
        {
            return Prepared::Skipped(reason);
        }
        let meta = match input {
            Input::Stored(info) => info.meta.clone(),
            Input::File(file) => context.meta.of(&file.doc_id, &file.root, Some(&file.path)),
            Input::Memory(_) | Input::Parsed(_) => context.meta.of(input.doc_id(), "", None),
        };
        let is_done = |stored: &&DocumentInfo| {
            let is_embedded = stored.pending == 0 || self.embedder.is_none() || options.embed != Embed::Now;
            is_embedded && context.overlays.is_cut(stored)
        };
        if let (Input::File(file), Some(stored)) = (input, stored.filter(is_done))
            && !options.rehash
            && stored.modified != 0
            && (stored.modified, stored.bytes) == (file.modified, file.bytes)
            && (&stored.root, &stored.prefix, &stored.preset) == (&file.root, &file.prefix, &self.preset)
            && stored.meta == meta
        {
            return Prepared::Unchanged(None);
        }
        let (bytes, modified) = match input {
            Input::File(file) => {
                match context.meter.measure(Stage::Read, || read_file(file, &options.walk)) {
                    Ok((bytes, _)) if is_key(&bytes) => return Prepared::Skipped(SkipReason::Secret),
                    Ok((bytes, modified)) => (Cow::Owned(bytes), modified),
                    Err(reason) => return Prepared::Skipped(reason),
                }
            }
            Input::Memory(source) => (Cow::Borrowed(&*source.bytes), 0),
            Input::Parsed(document) => (Cow::Borrowed(document.source().as_bytes()), 0),
            Input::Stored(info) => match self.stored_bytes(info, context.current) {
                Ok(bytes) => (Cow::Owned(bytes), info.modified),
                Err(message) => return Prepared::Failed(message),
            },
        };
        let settled = options.started.saturating_sub(SETTLED);
        let format = input.format(&bytes);
        let length = bytes.len() as u64;
        // Secrets are removed before hashing and storing. A document that was cut elsewhere stays as it is.
        let bytes = match input {
            Input::Parsed(_) => bytes,
            _ if self.redacts => redact_bytes(format, bytes),
            _ => bytes,
        };
        let info = DocumentInfo {
            doc_id: input.doc_id().to_owned(),
            root: input.root().to_owned(),
            prefix: input.prefix().to_owned(),
            file_hash: file_hash(&bytes),
            bytes: length,
            modified: if modified < settled { modified } else { 0 },
            preset: self.preset.clone(),
            format: format.name().to_owned(),
            indexed_at: options.indexed_at.clone(),
            meta,
            ..DocumentInfo::default()
        };
        if let Some(stored) = stored.filter(is_done)
            && stored.is_same_file(&info)
        {
            return Prepared::Unchanged(Some(info.modified).filter(|modified| *modified != stored.modified));
        }
        let base = stored.map_or(0, |stored| stored.version);
        // By contract, parsers do not fail. If one panics nevertheless, only its document fails, not the run.
        let cut = catch_unwind(AssertUnwindSafe(|| {
            let cut = || self.cut(input, info, (format, &bytes), base, input.context(context));
            context.meter.measure(Stage::Cut, cut)
        }));
        cut.unwrap_or_else(|_| {
            Prepared::Failed(format!("the `{}` parser failed on it; please report this", format.name()))
        })
    }

    /// The file of a stored document.
    fn stored_bytes(&self, info: &DocumentInfo, current: Option<&Generation>) -> Result<Vec<u8>, String> {
        let document = current.map(|current| self.store.document(current, &info.doc_id)).transpose();
        match document.map_err(|error| error.to_string())?.flatten() {
            Some(document) if document.is_intact() => Ok(document.bytes().to_vec()),
            Some(_) => Err("its stored text is not that of the file it was made of".into()),
            None => Err("it was removed by another run meanwhile".into()),
        }
    }

    fn cut(
        &self,
        input: &Input<'_>,
        mut info: DocumentInfo,
        (format, bytes): (Format, &[u8]),
        base: i64,
        Context { skip_generated, overlays, .. }: Context<'_>,
    ) -> Prepared {
        let mut omissions = Vec::new();
        let document = match input {
            Input::Parsed(document) => Cow::Borrowed(*document),
            // The bytes of a text are already redacted.
            _ => match if self.redacts { read_redacted(format, bytes) } else { read_as(format, bytes) } {
                Ok(mut source) => {
                    omissions = std::mem::take(&mut source.omissions);
                    source.encoding.clone_into(&mut info.encoding);
                    info.low_confidence = source.low_confidence;
                    info.replacements = source.replacements as u32;
                    Cow::Owned(source.parse(&info.doc_id))
                }
                Err(error) => {
                    return SkipReason::of(&error)
                        .map_or_else(|| Prepared::Failed(error.to_string()), Prepared::Skipped);
                }
            },
        };
        let is_code = document.language().is_some();
        if let Input::File(file) = input
            && !file.wanted
            && let Some(reason) = noise::of_text(&file.path, document.source(), is_code)
        {
            return Prepared::Skipped(reason);
        }
        let generated = generated(&input.path(), document.source(), is_code);
        if let Some(generated) = generated.filter(|_| skip_generated) {
            return Prepared::Skipped(match generated {
                Generated::ByProgram => SkipReason::Generated,
                Generated::Minified => SkipReason::Minified,
            });
        }
        let raw = (document.source().as_bytes() != bytes).then(|| bytes.to_vec());
        let (chunks, boundaries) = overlays.cut(&self.chunker, &document);
        info.set_boundaries(&boundaries);
        let context = RecordContext {
            preset: self.preset.clone(),
            file_hash: info.file_hash.clone(),
            prose_language: prose_language(&document).map(str::to_owned),
            ..RecordContext::default()
        };
        let mut records = chunks.records(&context);
        if let Err(message) = verify(document.source(), &records) {
            return Prepared::Failed(message);
        }
        if let Some(revise) = &self.revise {
            revise(&chunks, &mut records);
        }
        if self.summaries {
            let summaries = self.chunker.summaries(&document);
            records.extend(self.chunker.summary_records(&document, &summaries, &context));
        }
        for record in &mut records {
            record.indexed_at = Some(info.indexed_at.clone());
            record.meta.clone_from(&info.meta);
        }
        let chunks: Vec<NewChunk> = records.into_iter().map(NewChunk::new).collect();
        let document = NewDocument {
            base,
            chunks,
            document: StoredDocument {
                info,
                doc_toc: outline(&document),
                summary: String::new(),
                raw,
                source: document.shared_source(),
            },
        };
        Prepared::Ready(Box::new(document), generated, omissions)
    }
}

/// Checks the chunks of a document before they replace its earlier version.
fn verify(source: &str, records: &[Record]) -> Result<(), String> {
    let mut ids = HashSet::with_capacity(records.len());
    let mut end = 0;
    for record in records {
        let index = record.chunk_index;
        if record.start_byte < end
            || source.get(record.start_byte as usize..record.end_byte as usize) != Some(&record.content)
        {
            return Err(format!("chunk {index} is not the text it says it is; please report this"));
        }
        if !ids.insert(&record.chunk_id) {
            return Err(format!("chunk {index} has the id of one before it; please report this"));
        }
        end = record.end_byte;
    }
    Ok(())
}

fn outline(document: &Document) -> String {
    let mut outline = document.outline();
    if outline.len() > MAX_OUTLINE {
        let whole_lines = outline.as_bytes()[..MAX_OUTLINE].iter().rposition(|&byte| byte == b'\n');
        outline.truncate(whole_lines.map_or(0, |end| end + 1));
        outline.push_str("...\n");
    }
    outline
}
