//! From a file to a document that can be stored.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use chunkwright::{Document, Record, RecordContext};

use super::{IndexOptions, Pipeline};
use crate::format::{Format, file_hash, read};
use crate::nature::{Nature, nature};
use crate::report::SkipReason;
use crate::source::{self, SourceFile};
use crate::store::{DocumentInfo, NewChunk, NewDocument, StoredDocument};

/// Longest outline that is stored, in bytes; the rest of a longer one is left out.
const MAX_OUTLINE: usize = 32 << 10;

/// What a file turned out to be.
pub(super) enum Prepared {
    /// Its stored version is still right.
    Unchanged,
    /// A document to store.
    Ready(Box<NewDocument>, Option<Nature>),
    /// No document.
    Skipped(SkipReason),
    /// A document that cannot be stored.
    Failed(String),
}

impl Pipeline {
    /// Reads, decodes, cuts and analyses a file, unless `stored` is still right.
    pub(super) fn prepare(
        &self,
        file: &SourceFile,
        stored: Option<&DocumentInfo>,
        options: &IndexOptions,
    ) -> Prepared {
        let bytes = match source::read(file, &options.walk) {
            Ok(bytes) => bytes,
            Err(reason) => return Prepared::Skipped(reason),
        };
        let format = Format::of(&file.path, &bytes);
        let info = DocumentInfo {
            doc_id: file.doc_id.clone(),
            root: file.root.clone(),
            file_hash: file_hash(&bytes),
            bytes: bytes.len() as u64,
            config_hash: self.config_hash(),
            strategy_version: self.chunker.strategy_version(),
            preset: self.preset.clone(),
            format: format.name().to_owned(),
            indexed_at: options.indexed_at.clone(),
            ..DocumentInfo::default()
        };
        if let Some(stored) = stored
            && stored.is_same_input(&info)
            && (stored.pending == 0 || self.embedder.is_none())
        {
            return Prepared::Unchanged;
        }
        let base = stored.map_or(0, |stored| stored.version);
        // Parsers cannot fail by their contract. If one breaks it, one document pays and not the run.
        let cut = catch_unwind(AssertUnwindSafe(|| self.cut(file, info, &bytes, base, options)));
        cut.unwrap_or_else(|_| {
            Prepared::Failed(format!("the `{}` parser failed on it; please report this", format.name()))
        })
    }

    /// Hash of all that the chunks and summaries of a document depend on.
    fn config_hash(&self) -> String {
        let chunks = self.chunker.config_hash();
        if self.summaries { format!("{chunks}+summaries") } else { chunks }
    }

    fn cut(
        &self,
        file: &SourceFile,
        mut info: DocumentInfo,
        bytes: &[u8],
        base: i64,
        options: &IndexOptions,
    ) -> Prepared {
        let source = match read(&file.path, bytes) {
            Ok(source) => source,
            Err(error) => {
                return SkipReason::of(&error)
                    .map_or_else(|| Prepared::Failed(error.to_string()), Prepared::Skipped);
            }
        };
        source.encoding.clone_into(&mut info.encoding);
        info.low_confidence = source.low_confidence;
        info.replacements = source.replacements as u32;
        let document = source.parse(&file.doc_id);
        let nature = nature(&file.path, document.source(), document.language().is_some());
        if let Some(nature) = nature.filter(|_| options.skip_generated) {
            return Prepared::Skipped(match nature {
                Nature::Generated => SkipReason::Generated,
                Nature::Minified => SkipReason::Minified,
            });
        }
        let raw = (document.source().as_bytes() != bytes).then(|| bytes.to_vec());
        let chunks = self.chunker.chunk(&document);
        let context = RecordContext {
            preset: self.preset.clone(),
            file_hash: info.file_hash.clone(),
            ..RecordContext::default()
        };
        let mut records = self.chunker.records(&document, &chunks, &context);
        if let Err(message) = verify(document.source(), &records) {
            return Prepared::Failed(message);
        }
        if self.summaries {
            let summaries = self.chunker.summaries(&document);
            records.extend(self.chunker.summary_records(&document, &summaries, &context));
        }
        for record in &mut records {
            record.indexed_at = Some(info.indexed_at.clone());
        }
        let document = NewDocument {
            base,
            chunks: records.into_iter().map(NewChunk::new).collect(),
            document: StoredDocument {
                info,
                doc_toc: outline(&document),
                raw,
                source: document.source().to_owned(),
            },
        };
        Prepared::Ready(Box::new(document), nature)
    }
}

/// What must hold of the chunks of a document before its version before is given up.
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
