//! Parts of an index as they are persisted: everything of some documents' rows but their vectors.

use super::dense::Dense;
use super::disk::{self, Directory, DiskPart};
use super::words::Words;
use super::{Document, OwnedFacts, Row, SearchIndex};
use crate::bm25::{put, take};
use chunkwright::ChunkId;

/// A part in its form on disk. Each of its values has a checksum.
pub(crate) struct EncodedPart {
    /// Documents, ids, facts and the keys of vectors.
    pub(crate) rows: Vec<u8>,
    pub(crate) sketches: Vec<u8>,
    /// Blocks of postings by their first keys.
    pub(crate) terms: Vec<(u32, Vec<u8>)>,
    pub(crate) tokens: Vec<(u32, Vec<u8>)>,
}

impl SearchIndex {
    /// The form on disk of an index that is all in memory.
    pub(crate) fn encode(mut self) -> EncodedPart {
        self.finish();
        let mut bytes = Vec::new();
        put(&mut bytes, self.documents.len() as u64);
        for document in &self.documents {
            put(&mut bytes, document.version as u64);
            put_text(&mut bytes, Some(&document.doc_id));
            put(&mut bytes, document.rows.len() as u64);
        }
        put(&mut bytes, self.facts.len() as u64);
        for facts in &self.facts {
            put_text(&mut bytes, Some(&facts.category));
            put_text(&mut bytes, facts.language.as_deref());
            put_text(&mut bytes, Some(&facts.content_type));
            put_text(&mut bytes, facts.artifact.as_deref());
            put_text(&mut bytes, Some(&facts.symbols));
        }
        for (at, row) in self.rows.iter().enumerate() {
            bytes.extend(row.id.0);
            put(&mut bytes, u64::from(row.facts) << 1 | u64::from(self.enabled.has(at)));
        }
        bytes.extend(self.words.norms().iter().flat_map(|norm| norm.to_le_bytes()));
        let mut sketches = Vec::new();
        self.dense.encode(&mut bytes, &mut sketches);
        EncodedPart {
            rows: disk::sealed(bytes),
            sketches: disk::sealed(sketches),
            terms: disk::blocks(&self.words.lists()),
            tokens: disk::blocks(&self.sparse.lists()),
        }
    }

    /// Reads a part, whose postings stay on disk; `None` if it is not what was written.
    pub(crate) fn decode(
        dimension: usize,
        (rows, sketches): (&[u8], &[u8]),
        (terms, tokens): (Directory, Directory),
    ) -> Option<Self> {
        let (mut bytes, sketches) = (disk::unsealed(rows)?, disk::unsealed(sketches)?);
        let bytes = &mut bytes;
        let mut index = Self::persistent(dimension);
        let documents = take(bytes)?;
        let mut end = 0;
        for at in 0..documents {
            let version = i64::try_from(take(bytes)?).ok()?;
            let doc_id = take_text(bytes)??.to_owned();
            let start = end;
            end = u32::try_from(take(bytes)?).ok()?.checked_add(start)?;
            index.live.insert(version, at as u32);
            index.documents.push(Document { doc_id, version, rows: start..end });
        }
        for _ in 0..take(bytes)? {
            let facts = OwnedFacts {
                category: take_text(bytes)??.into(),
                language: take_text(bytes)?.map(Into::into),
                content_type: take_text(bytes)??.into(),
                artifact: take_text(bytes)?.map(Into::into),
                symbols: take_text(bytes)??.into(),
            };
            index.intern(facts);
        }
        let count = end as usize;
        index.rows.reserve_exact(count);
        for (document, rows) in index.documents.iter().map(|it| it.rows.clone()).enumerate() {
            for _ in rows {
                let (id, rest) = bytes.split_first_chunk()?;
                *bytes = rest;
                let said = take(bytes)?;
                let facts =
                    u32::try_from(said >> 1).ok().filter(|facts| (*facts as usize) < index.facts.len())?;
                index.rows.push(Row { id: ChunkId(*id), document: document as u32, facts });
                index.enabled.push(said & 1 == 1);
                index.live_rows.push(true);
            }
        }
        let (norms, rest) = bytes.split_at_checked(4 * count)?;
        *bytes = rest;
        index.words =
            Words::persisted(norms.as_chunks().0.iter().map(|norm| f32::from_le_bytes(*norm)).collect());
        index.dense = Dense::decode(dimension, count, bytes, sketches)?;
        index.shown = index.documents.len();
        index.on_disk.rows = end;
        index.on_disk.parts.push(DiskPart { first: 0, terms, tokens });
        bytes.is_empty().then_some(index)
    }
}

/// Adds a text, or that there is none.
fn put_text(bytes: &mut Vec<u8>, text: Option<&str>) {
    put(bytes, text.map_or(0, |text| text.len() as u64 + 1));
    bytes.extend(text.unwrap_or_default().as_bytes());
}

/// Takes what [`put_text`] added.
#[expect(clippy::option_option, reason = "a text may be absent, and bytes may be malformed")]
fn take_text<'a>(bytes: &mut &'a [u8]) -> Option<Option<&'a str>> {
    let Some(length) = take(bytes)?.checked_sub(1) else { return Some(None) };
    let (text, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    Some(Some(std::str::from_utf8(text).ok()?))
}
