//! BM25 weights of terms, in a text and in a collection.
//!
//! Every store uses one formula, so that all of them rank alike. A term's weight in a chunk depends on the chunk alone:
//! lengths are normalized by a constant, not by the mean of the collection. So we can compute weights once and keep
//! them in engines that know only sparse vectors and `idf`, and an edit of one document changes no weight in another.
//! The names of its file and its symbols are [fields](TermField) beside its text.

mod known;

use chunkwright::Record;
use xxhash_rust::xxh3::xxh3_64;

pub use known::words;

// A change to one of these must raise `analysis::VERSION`: stores on servers keep weights.

/// Saturation of term frequency, BM25's `k1`. The usual value.
const K1: f64 = 1.2;

/// Strength of length normalization, BM25's `b`. The usual value.
const B: f64 = 0.75;

/// The share of its weight that a word has in the name of a symbol. Lexical recall in 1,000 tokens of 105 questions in
/// people's own words, 248 of `anthropic-code` and 720 first sentences of documentation was 46.9, 80.5 and 48.1 without
/// names, 49.4, 80.9 and 56.2 at 0.4, and 42.7, 81.2 and 59.7 at 0.75: names mislead who does not know them.
const SYMBOLS: f64 = 0.4;

/// The length, in terms, that counts as average. Lower than that of chunks: lexical recall in 1,000 tokens on eight
/// question sets in three languages was 79.6 at 30, 79.5 at 45, 79.3 at 60, 78.5 at 120 and 77.5 at 220; source code
/// needs more, most prose less.
const LENGTH: f64 = 40.0;

/// The id of a term in stores: its [field](TermField), then 30 bits of a hash. Among half a million terms, about 120
/// share an id with another.
pub type TermId = u32;

/// Bits of a [`TermId`] below its field.
const HASH_BITS: u32 = 30;

/// The id of a term of [`analysis`](crate::analysis) in the text of a chunk.
pub fn term_id(term: &str) -> TermId {
    xxh3_64(term.as_bytes()) as TermId >> (TermId::BITS - HASH_BITS)
}

/// Where a chunk has a term. Chunks are counted by field, so that a word of a name stays as rare in texts as it is, and
/// only the text adds to the length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermField {
    /// Its text.
    Text,
    /// The name of its file.
    File,
    /// The symbols that it holds some of, without qualifiers.
    Symbols,
}

impl TermField {
    /// The id of a term of a text in this field.
    pub fn id(self, term: TermId) -> TermId {
        (self as TermId) << HASH_BITS | term
    }
}

/// The share of its BM25 weight that a term has in its field.
pub(crate) fn share(term: TermId) -> f64 {
    if term >> HASH_BITS == TermField::Symbols as TermId { SYMBOLS } else { 1.0 }
}

/// What no weight of a term in a chunk exceeds: that of a text which says it without end.
pub fn most_weight(term: TermId) -> f64 {
    share(term) * (K1 + 1.0)
}

/// Term frequencies of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermCounts {
    /// Number of terms that [count](crate::analysis::TermKind::counts), with repetitions.
    pub length: u32,
    /// Every term once, in the order of ids, with its frequency.
    pub counts: Vec<(TermId, u32)>,
}

impl TermCounts {
    /// The terms of `text`.
    pub fn of(text: &str) -> Self {
        Self::of_fields(text, [])
    }

    /// The terms that a chunk is found by if this is its text: also those of the other [fields](TermField).
    pub fn of_chunk(text: &str, chunk: &Record) -> Self {
        let names = chunk.symbols.iter().flat_map(|symbols| &symbols.names);
        // A qualifier is the name of a symbol around it, which all of its members would have.
        let symbols = names.filter_map(|name| Some((TermField::Symbols, name.rsplit(['.', ':']).next()?)));
        Self::of_fields(text, symbols.chain([(TermField::File, file_stem(&chunk.doc_id))]))
    }

    fn of_fields<'a>(text: &str, fields: impl IntoIterator<Item = (TermField, &'a str)>) -> Self {
        let mut terms = Self::default();
        let mut ids = Vec::with_capacity(text.len() / 4);
        known::each_run(text, &mut |run| {
            terms.length += run.length;
            ids.extend_from_slice(&run.ids);
        });
        for (field, words) in fields {
            known::each_run(words, &mut |run| ids.extend(run.ids.iter().map(|id| field.id(*id))));
        }
        ids.sort_unstable();
        for id in ids {
            match terms.counts.last_mut() {
                Some((last, count)) if *last == id => *count += 1,
                _ => terms.counts.push((id, 1)),
            }
        }
        terms
    }

    /// Whether the term is in the text or in the name of the file.
    pub fn has(&self, term: TermId) -> bool {
        self.count(term) > 0
    }

    /// How often the term is there, in the text and in the name of the file.
    pub fn count(&self, term: TermId) -> u32 {
        let count =
            |term| self.counts.binary_search_by_key(&term, |(id, _)| *id).map_or(0, |at| self.counts[at].1);
        count(term) + count(TermField::File.id(term))
    }

    /// The weight of a term that is there `count` times.
    pub fn weight(&self, count: u32) -> f64 {
        weight(count, norm(self.length))
    }

    /// The weight of each term in the text: the part of BM25 that does not depend on other texts.
    pub fn weights(&self) -> impl Iterator<Item = (TermId, f64)> {
        let norm = norm(self.length);
        self.counts.iter().map(move |&(id, count)| (id, share(id) * weight(count, norm)))
    }

    /// A compact form: a mark, a checksum, then lengths, deltas of ids and counts as variable-length numbers. Most
    /// terms occur once, which a bit of the delta records.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.counts.len() * 5 + 4);
        bytes.extend(MARK);
        bytes.extend([0; 2]);
        put(&mut bytes, u64::from(self.length));
        let mut before = 0;
        for &(id, count) in &self.counts {
            put(&mut bytes, u64::from(id - before) << 1 | u64::from(count != 1));
            if count != 1 {
                put(&mut bytes, u64::from(count));
            }
            before = id;
        }
        let checksum = checksum(&bytes[4..]);
        bytes[2..4].copy_from_slice(&checksum);
        bytes
    }

    /// Reads what [`encode`](Self::encode) wrote, or the earlier form, which had no checksum and a count after each
    /// delta; `None` if it is neither.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (mut bytes, once_is_a_bit) = match bytes.strip_prefix(&MARK) {
            Some(rest) => {
                let (sum, rest) = rest.split_first_chunk()?;
                (Some(rest).filter(|rest| checksum(rest) == *sum)?, true)
            }
            None => (bytes, false),
        };
        let take = |bytes: &mut &[u8]| u32::try_from(take(bytes)?).ok();
        let take_distance = |bytes: &mut &[u8]| match (self::take(bytes)?, once_is_a_bit) {
            (number, true) => Some((u32::try_from(number >> 1).ok()?, number & 1 == 0)),
            (number, false) => Some((u32::try_from(number).ok()?, false)),
        };
        let mut terms = Self { length: take(&mut bytes)?, counts: Vec::with_capacity(bytes.len() / 4 + 1) };
        let mut id: TermId = 0;
        while !bytes.is_empty() {
            let (distance, once) = take_distance(&mut bytes)?;
            id = id.checked_add(distance)?;
            terms.counts.push((id, if once { 1 } else { take(&mut bytes)? }));
        }
        Some(terms)
    }
}

/// The name of a file without its folders and its last extension, which all files of a kind share.
pub fn file_stem(doc_id: &str) -> &str {
    let name = doc_id.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or_default();
    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}

/// Start of the compact form: an encoding of 0 that no length ever had.
const MARK: [u8; 2] = [0x80, 0];

/// Guards against silent damage: wrong terms would only rank wrongly.
fn checksum(bytes: &[u8]) -> [u8; 2] {
    (xxh3_64(bytes) as u16).to_le_bytes()
}

/// The ids of a query's terms, each once.
pub fn query_ids(terms: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<TermId> {
    let mut ids: Vec<TermId> = terms.into_iter().map(|term| term_id(term.as_ref())).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// The terms of a query that weigh alike.
pub fn alike(terms: &[TermId]) -> Vec<(TermId, f32)> {
    terms.iter().map(|term| (*term, 1.0)).collect()
}

/// The length normalization of a text of `length` terms.
pub(crate) fn norm(length: u32) -> f64 {
    K1 * (1.0 - B + B * f64::from(length) / LENGTH)
}

/// The length of a text that has this [`norm`] in single precision; `None` where that does not tell it.
pub(crate) fn length(norm: f32) -> Option<u32> {
    let length = ((f64::from(norm) / K1 - (1.0 - B)) * LENGTH / B).round() as u32;
    Some(length).filter(|length| *length <= 1 << 20)
}

/// The weight of a term that occurs `count` times in a text with [`norm`].
pub(crate) fn weight(count: u32, norm: f64) -> f64 {
    f64::from(count) * (K1 + 1.0) / (f64::from(count) + norm)
}

/// Inverse document frequency of a term that `having` of `all` texts have, as Lucene, Qdrant and others compute it;
/// never negative.
pub fn idf(all: usize, having: usize) -> f64 {
    let (all, having) = (all as f64, having as f64);
    (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
}

/// Adds a number of variable length.
pub(crate) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes what [`put`] added; `None` if it is not that.
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..63).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use chunkwright::parse::Text;
    use chunkwright::record::Symbols;
    use chunkwright::{ChunkConfig, Chunker, Document, RecordContext, Words};

    use super::*;

    #[test]
    fn a_norm_in_single_precision_tells_the_length() {
        for of in (0..1 << 20).step_by(61).chain([1 << 20]) {
            assert_eq!(length(norm(of) as f32), Some(of));
        }
        assert_eq!(length(norm(1 << 21) as f32), None);
    }

    #[test]
    fn counts_come_back_from_their_compact_form() {
        for text in ["", "one two one", "猫", "黑猫很可爱 and Русский текст", &"word ".repeat(100_000)]
        {
            let terms = TermCounts::of(text);
            assert_eq!(TermCounts::decode(&terms.encode()), Some(terms));
        }
        let ends = TermCounts { length: 7, counts: vec![(0, 1), (1, 300), (TermId::MAX, 1)] };
        assert_eq!(TermCounts::decode(&ends.encode()), Some(ends));
        let as_before = [2, 3, 1, 4, 2];
        assert_eq!(
            TermCounts::decode(&as_before),
            Some(TermCounts { length: 2, counts: vec![(3, 1), (7, 2)] })
        );
        for bytes in
            [&[][..], &[0x80], &[0x80, 0], &[0x80, 0, 1, 7], &[0x80, 0, 1, 1, 7], &[1, 5], &[0xFF; 9]]
        {
            assert_eq!(TermCounts::decode(bytes), None);
        }
    }

    /// A chunk that reads `the text`.
    fn chunk(doc_id: &str) -> Record {
        let document = Document::parse(doc_id, "the text", &Text);
        let chunker = Chunker::new(ChunkConfig::default(), Arc::new(Words)).expect("defaults");
        chunker.chunk(&document).records(&RecordContext::default()).remove(0)
    }

    #[test]
    fn names_of_symbols_are_a_field_of_their_own_and_add_no_length() {
        let mut chunk = chunk("file");
        let before = TermCounts::of_chunk(&chunk.text, &chunk);
        let symbols = ["Report", "Report.renderText"].map(str::to_owned);
        chunk.symbols = Some(Symbols { names: symbols.into(), ..Symbols::default() });
        let after = TermCounts::of_chunk(&chunk.text, &chunk);
        assert_eq!((before.length, after.length), (2, 2));
        let [before, after] = [before, after].map(|terms| terms.weights().collect::<HashMap<_, _>>());
        for (word, is_in_text, in_symbols) in [("text", true, 1), ("report", false, 1), ("render", false, 1)]
        {
            let term = TermCounts::of(word).counts[0].0;
            assert_eq!(before.contains_key(&term), is_in_text, "{word}");
            assert_eq!(after.get(&term), before.get(&term), "{word}");
            let weight = after[&TermField::Symbols.id(term)];
            assert!((weight - SYMBOLS * super::weight(in_symbols, norm(2))).abs() < 1e-12, "{word}");
        }
    }

    #[test]
    fn the_name_of_a_file_is_searched_and_adds_no_length() {
        for (doc_id, words) in [
            ("guides/reset-password.md", "reset-password"),
            ("src/app.config.json", "app.config"),
            ("componentEmits.ts", "componentEmits"),
            ("a/2024-03 invoice.csv", "2024-03 invoice"),
            ("Dockerfile", "Dockerfile"),
            (".gitignore", ".gitignore"),
            ("a/", "a"),
            ("", ""),
        ] {
            let named = TermCounts::of_chunk("the text", &chunk(doc_id));
            assert_eq!(named.length, 2, "{doc_id}");
            for (term, count) in TermCounts::of(words).counts {
                assert_eq!(named.count(term), count, "{doc_id}");
            }
        }
    }

    #[test]
    fn a_character_of_an_unspaced_script_is_counted_alone_and_adds_no_length() {
        let terms = TermCounts::of("黑猫");
        assert_eq!((terms.length, terms.counts.len()), (1, 3));
        assert_eq!(TermCounts::of("猫").counts, [(term_id("猫"), 1)]);
    }
}
