//! Notes by a chat model: what a chunk is about, put before its text, and what a document is about.
//!
//! A note is borrowed text: it is embedded and searched with the chunk, it counts toward the limit, and no id depends
//! on it. It gets the room that the chunk leaves under the limit, and is cut to it at a word. Notes are cached by a
//! hash of the model's whole input, so an interrupted run does not request them again.

use std::sync::Arc;

use chunkwright::{Chunker, TokenCounter, Words};
use chunkwright_models::{Note, NoteDocument, NoteTask, Prompt, ServiceError, TextHash, Usage, Writer};
use rayon::prelude::*;

use super::IndexOptions;
use chunkwright_store::{Cache, NewChunk, NewDocument, StoreError};

/// The notes that a chat model writes.
#[derive(Clone)]
pub struct NoteOptions {
    /// The chat model.
    pub writer: Arc<Writer>,
    /// Whether to write a context for each chunk: what it is about.
    pub contexts: bool,
    /// Whether to write a summary of each document, returned with its hits.
    pub summaries: bool,
}

/// Fewest words of a useful note.
const LEAST_WORDS: usize = 5;

/// After this many failures in a row, the model is not called for the rest of the run.
const MAX_FAILURES: usize = 2;

/// Requests that are made concurrently and cached together.
const BATCH: usize = 16;

/// Writes notes and counts.
pub(super) struct Notes<'a> {
    options: Option<&'a NoteOptions>,
    cache: &'a dyn Cache,
    run: &'a IndexOptions,
    failures: usize,
    pub(super) written: usize,
    pub(super) reused: usize,
    /// Notes that could not be obtained.
    pub(super) pending: usize,
    pub(super) usage: Usage,
    pub(super) error: Option<String>,
}

/// The place of a note.
#[derive(Clone, Copy)]
enum Place {
    Chunk(usize, usize),
    Document(usize),
}

impl<'a> Notes<'a> {
    pub(super) fn new(options: Option<&'a NoteOptions>, cache: &'a dyn Cache, run: &'a IndexOptions) -> Self {
        let usage = Usage::default();
        Self { options, cache, run, failures: 0, written: 0, reused: 0, pending: 0, usage, error: None }
    }

    /// Adds notes to `documents`. One that lacks any is marked to be cut again by the next run.
    pub(super) fn add(
        &mut self,
        documents: &mut [&mut NewDocument],
        chunker: &Chunker,
    ) -> Result<(), StoreError> {
        let Some(options) = self.options else { return Ok(()) };
        let mut wanted: Vec<(Place, Prompt)> = Vec::new();
        for (at, new) in documents.iter().enumerate() {
            let info = &new.document.info;
            let shown = NoteDocument {
                name: &info.doc_id,
                text: &new.document.source,
                outline: &new.document.doc_toc,
            };
            if options.summaries && !new.chunks.is_empty() {
                wanted.push((Place::Document(at), options.writer.prompt(&NoteTask::Summary(shown))));
            }
            let chunks = new.chunks.iter().enumerate().filter(|(_, chunk)| chunk.record.artifact.is_none());
            for (index, chunk) in chunks.filter(|_| options.contexts) {
                let span = chunk.record.start_byte as usize..chunk.record.end_byte as usize;
                wanted
                    .push((Place::Chunk(at, index), options.writer.prompt(&NoteTask::Context(shown, span))));
            }
        }
        let keys: Vec<TextHash> = wanted.iter().map(|(_, prompt)| key(prompt)).collect();
        let known = self.cache.notes(&keys)?;
        let mut missing = Vec::new();
        for (((place, prompt), key), known) in wanted.into_iter().zip(keys).zip(known) {
            match known {
                Some(note) => {
                    self.reused += 1;
                    put(documents, place, &note, chunker);
                }
                None => missing.push((place, prompt, key)),
            }
        }
        if self.run.dry_run {
            self.written += missing.len();
            return Ok(());
        }
        for batch in missing.chunks(BATCH) {
            let answers: Vec<Option<Result<Note, ServiceError>>> = if self.failures < MAX_FAILURES {
                let write = |prompt| Some(options.writer.write(prompt));
                self.run.on_threads(|| batch.par_iter().map(|(_, prompt, _)| write(prompt)).collect())
            } else {
                batch.iter().map(|_| None).collect()
            };
            let mut kept = Vec::new();
            for ((place, _, key), answer) in batch.iter().zip(answers) {
                match answer {
                    Some(Ok(note)) => {
                        self.failures = 0;
                        self.written += 1;
                        self.count(note.usage);
                        put(documents, *place, &note.text, chunker);
                        kept.push((*key, note.text));
                        continue;
                    }
                    Some(Err(error)) => {
                        self.failures += 1;
                        self.error = Some(error.to_string());
                    }
                    None => {}
                }
                self.pending += 1;
                let (Place::Chunk(at, _) | Place::Document(at)) = *place;
                documents[at].document.info.set_outdated();
            }
            self.cache.put_notes(&kept)?;
        }
        Ok(())
    }

    fn count(&mut self, usage: Usage) {
        self.usage.input_tokens += usage.input_tokens;
        self.usage.output_tokens += usage.output_tokens;
        self.usage.estimated |= usage.estimated;
        self.usage.cost = usage.cost.map(|cost| cost + self.usage.cost.unwrap_or_default());
    }
}

fn key(prompt: &Prompt) -> TextHash {
    chunkwright_models::text_hash(prompt.key())
}

fn put(documents: &mut [&mut NewDocument], place: Place, note: &str, chunker: &Chunker) {
    match place {
        Place::Document(at) => note.clone_into(&mut documents[at].document.summary),
        Place::Chunk(at, index) => {
            let chunk = &mut documents[at].chunks[index];
            if let Some(noted) = noted(chunk, note, chunker) {
                *chunk = noted;
            }
        }
    }
}

/// A chunk with as much of a note before its text as fits.
fn noted(chunk: &NewChunk, note: &str, chunker: &Chunker) -> Option<NewChunk> {
    let ends: Vec<usize> = note.char_indices().filter(|(_, c)| c.is_whitespace()).map(|(at, _)| at).collect();
    let ends = std::iter::once(note.len()).chain(ends.into_iter().rev());
    for end in ends {
        let note = note[..end].trim_end();
        if Words.count(note) < LEAST_WORDS {
            return None;
        }
        let text = format!("{note}\n\n{}", chunk.record.text);
        if chunker.fits(&text) {
            let mut record = chunk.record.clone();
            record.context = format!("{note}\n\n{}", record.context);
            record.char_count = text.chars().count() as u32;
            record.word_count = Words.count(&text) as u32;
            record.token_count = chunker.counter().count(&text) as u32;
            record.token_level = chunkwright::stats::TokenLevel::of(record.token_count as usize);
            record.text = text;
            return Some(NewChunk::new(record));
        }
    }
    None
}
