//! Identity: the ids of chunks, made of what they say and where they belong (see [`ChunkId`]).

use std::collections::HashMap;

use super::lanes;
use crate::chunk::{Chunk, ChunkId};
use crate::context;
use crate::document::{Document, with_lf};
use crate::span::Span;

/// Bytes of keys that are hashed at once: they use all lanes, and stay in the cache.
const AT_ONCE: usize = 64 * 1024;

/// Gives the chunks of a document their ids.
pub(super) fn identify(document: &Document, chunks: &mut [Chunk]) {
    // Number of chunks so far with the same content and borrowed text, by the id of the first.
    let mut earlier: HashMap<ChunkId, u64> = HashMap::new();
    let (mut keys, mut ends, mut text) = (Vec::new(), Vec::new(), String::new());
    let mut rest = chunks;
    while !rest.is_empty() {
        keys.clear();
        ends.clear();
        while keys.len() < AT_ONCE
            && let Some(Chunk { span, borrows, .. }) = rest.get(ends.len())
        {
            text.clear();
            context::render_into(document, Span { end: span.start, ..*span }, borrows, &mut text);
            push_parts(&mut keys, &[document.id(), &text, span.of(document.source())]);
            keys.extend(0_u64.to_le_bytes());
            ends.push(keys.len());
        }
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let keys: Vec<&[u8]> = starts.zip(&ends).map(|(start, end)| &keys[start..*end]).collect();
        let (now, later) = rest.split_at_mut(ends.len());
        for ((chunk, key), hash) in now.iter_mut().zip(&keys).zip(lanes::hashes(&keys)) {
            chunk.id = ChunkId::of_hash(&hash);
            let ordinal = earlier.entry(chunk.id).or_default();
            if *ordinal > 0 {
                chunk.id = ChunkId::of_key(key[..key.len() - size_of::<u64>()].to_vec(), *ordinal);
            }
            *ordinal += 1;
        }
        rest = later;
    }
}

/// Adds texts, each with its length before it and line breaks as LF.
fn push_parts(key: &mut Vec<u8>, parts: &[&str]) {
    for part in parts {
        let part = with_lf(part);
        key.extend((part.len() as u64).to_le_bytes());
        key.extend(part.as_bytes());
    }
}

impl ChunkId {
    /// The id of `parts`; `ordinal` distinguishes equal ones.
    pub(crate) fn of(parts: &[&str], ordinal: u64) -> Self {
        let mut key = Vec::new();
        push_parts(&mut key, parts);
        Self::of_key(key, ordinal)
    }

    fn of_key(mut key: Vec<u8>, ordinal: u64) -> Self {
        key.extend(ordinal.to_le_bytes());
        Self::of_hash(blake3::hash(&key).as_bytes())
    }

    fn of_hash(hash: &[u8; 32]) -> Self {
        let mut id = [0; 16];
        id.copy_from_slice(&hash[..16]);
        Self(id)
    }
}
