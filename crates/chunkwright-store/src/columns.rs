//! In-memory columns of chunk fields, for lists and statistics.
//!
//! They hold no text, terms or vectors, take some 50 bytes per chunk, and are built at the first list that is not in
//! document order, or at the first statistics. Afterwards they are updated by whole documents. Any page, or statistics,
//! costs one pass over them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::convert::Infallible;

use chunkwright::stats::TokenLevel;
use chunkwright::{ChunkId, Cut, Record};
use chunkwright_models::TextHash;

use crate::filter::{Facts, Fields, Got, facts};
use crate::filter::{Field, Filter};
use crate::list::{ListRequest, OrderKey, Position};
use crate::statistics::{MOST_REPEATED, RepeatedText, RepeatedTexts, Statistics, StatisticsRequest};

/// Columns of the chunks of one generation.
#[derive(Debug, Default)]
pub struct Columns {
    documents: BTreeMap<String, Document>,
    /// The greatest document version ever added; versions only grow.
    last_version: i64,
}

#[derive(Debug, Default)]
struct Document {
    version: i64,
    /// Indexed by place.
    rows: Vec<Row>,
    /// Facts of chunks; consecutive chunks with equal facts share one entry.
    facts: Vec<OwnedFacts>,
}

#[derive(Debug)]
struct Row {
    id: ChunkId,
    facts: u32,
    token_count: u32,
    text: TextKey,
    cut: Cut,
    enabled: bool,
}

/// The first bytes of the hash of a text: enough to tell texts apart in one collection.
type TextKey = u64;

#[derive(Debug, PartialEq, Eq)]
struct OwnedFacts {
    category: String,
    language: Option<String>,
    content_type: String,
    artifact: Option<String>,
    symbols: String,
    chunk_type: String,
    strategy_version: String,
}

/// A chunk to add.
#[derive(Debug)]
pub struct NewRow<'a> {
    /// Its id.
    pub id: ChunkId,
    /// The fields that filters read.
    pub facts: Facts<'a>,
    /// As [`Record::chunk_type`](chunkwright::Record::chunk_type).
    pub chunk_type: &'a str,
    /// As [`Record::strategy_version`](chunkwright::Record::strategy_version).
    pub strategy_version: &'a str,
    /// Tokens of its text.
    pub token_count: u32,
    /// Hash of its text.
    pub text_hash: TextHash,
    /// Why the chunk begins where it does.
    pub cut: Cut,
    /// Whether searches find it.
    pub enabled: bool,
}

impl<'a> NewRow<'a> {
    /// The row of a record; `symbols` is what [`record_symbols`](super::filter::record_symbols) gave.
    pub fn of(id: ChunkId, record: &'a Record, symbols: &'a str, text_hash: TextHash, enabled: bool) -> Self {
        Self {
            id,
            facts: facts(record, symbols),
            chunk_type: &record.chunk_type,
            strategy_version: &record.strategy_version,
            token_count: record.token_count,
            text_hash,
            cut: record.cut,
            enabled,
        }
    }
}

/// A chunk of a page.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    order_key: OrderKey<'a>,
    /// Its place in its document.
    pub place: u32,
    /// The version of its document.
    pub version: i64,
    /// Its id.
    pub id: ChunkId,
}

/// A row as filters see it.
struct View<'a> {
    facts: Facts<'a>,
    own: &'a OwnedFacts,
    token_count: u32,
    cut: Cut,
}

/// Fields beside those of [`Facts`] that have a column.
const FIELDS: [&str; 5] = ["chunk_type", "cut", "strategy_version", "token_count", "token_level"];

impl Fields for View<'_> {
    fn get(&self, field: Field) -> Got<'_> {
        match field.name() {
            "chunk_type" => Got::Text(&self.own.chunk_type),
            "cut" => Got::Text(self.cut.as_str()),
            "strategy_version" => Got::Text(&self.own.strategy_version),
            "token_count" => Got::Number(self.token_count),
            "token_level" => Got::Text(TokenLevel::of(self.token_count as usize).as_str()),
            _ => self.facts.get(field),
        }
    }
}

impl OwnedFacts {
    fn of(new: &NewRow<'_>) -> Self {
        let Facts { category, language, content_type, artifact, symbols, .. } = new.facts;
        Self {
            category: category.into(),
            language: language.map(Into::into),
            content_type: content_type.into(),
            artifact: artifact.map(Into::into),
            symbols: symbols.into(),
            chunk_type: new.chunk_type.into(),
            strategy_version: new.strategy_version.into(),
        }
    }

    fn borrow<'a>(&'a self, doc_id: &'a str) -> Facts<'a> {
        Facts {
            doc_id,
            category: &self.category,
            language: self.language.as_deref(),
            content_type: &self.content_type,
            artifact: self.artifact.as_deref(),
            symbols: &self.symbols,
        }
    }
}

/// The rows that pass: decided from the columns or, where those do not suffice, from the records.
#[derive(Clone, Copy, Debug)]
pub enum Selection<'a> {
    /// The rows that this filter accepts.
    Filter(&'a Filter),
    /// The rows with these ids.
    Chunks(&'a HashSet<ChunkId>),
}

impl Columns {
    /// Returns whether a filter can be decided without records.
    pub fn decide(filter: &Filter) -> bool {
        filter.mentions_only(&|field| field.is_quick() || FIELDS.contains(&field.name()))
    }

    /// The greatest document version ever added.
    pub fn last_version(&self) -> i64 {
        self.last_version
    }

    /// Removes every document whose version differs from that in `live`.
    pub fn retain(&mut self, live: &HashMap<&str, i64>) {
        self.documents.retain(|doc_id, document| live.get(doc_id.as_str()) == Some(&document.version));
        self.last_version = live.values().copied().fold(self.last_version, i64::max);
    }

    /// Appends a chunk to those of its document's version.
    pub fn push(&mut self, version: i64, doc_id: &str, new: &NewRow<'_>) {
        if !self.documents.contains_key(doc_id) {
            self.documents.insert(doc_id.to_owned(), Document { version, ..Document::default() });
        }
        let Some(document) = self.documents.get_mut(doc_id) else { return };
        if document.version != version {
            *document = Document { version, ..Document::default() };
        }
        let facts = OwnedFacts::of(new);
        if document.facts.last() != Some(&facts) {
            document.facts.push(facts);
        }
        let facts = document.facts.len() as u32 - 1;
        let NewRow { id, token_count, text_hash, cut, enabled, .. } = *new;
        let text = u128::from_le_bytes(text_hash) as TextKey;
        document.rows.push(Row { id, facts, token_count, text, cut, enabled });
    }

    /// The chunks of a page, in order, and the one after it.
    pub fn page(
        &self,
        request: &ListRequest,
        after: Option<Position>,
        passing: Selection<'_>,
    ) -> Vec<Listed<'_>> {
        let after = after.map(|after| self.current(request, after));
        let after = after.as_ref().map(Position::order_key);
        let size = request.skip.saturating_add(request.page_size() + 1);
        let order = |a: &Listed<'_>, b: &Listed<'_>| request.compare(a.order_key, b.order_key);
        let mut found: Vec<Listed<'_>> = Vec::new();
        let mut worst: Option<OrderKey<'_>> = None;
        for (doc_id, document) in &self.documents {
            for (place, row) in document.rows.iter().enumerate() {
                let place = place as u32;
                let key = request.key(row.token_count, place);
                let order_key = OrderKey { key, doc_id, place: i64::from(place) };
                if after.is_some_and(|after| request.compare(order_key, after).is_le())
                    || worst.is_some_and(|worst| request.compare(order_key, worst).is_gt())
                    || !request.visibility.shows(row.enabled)
                    || !document.passes(doc_id, row, passing)
                {
                    continue;
                }
                found.push(Listed { order_key, place, version: document.version, id: row.id });
                if found.len() >= size.saturating_mul(2) {
                    found.select_nth_unstable_by(size - 1, order);
                    found.truncate(size);
                    worst = Some(found[size - 1].order_key);
                }
            }
        }
        found.sort_unstable_by(order);
        found.truncate(size);
        found.drain(..request.skip.min(found.len()));
        found
    }

    /// Translates a position to the document's current version.
    fn current(&self, request: &ListRequest, after: Position) -> Position {
        let Some(document) = self.documents.get(&after.doc_id) else { return after };
        let key = after.key;
        let Ok(after) = after.at(request, document.version, |id| {
            let place = document.rows.iter().position(|row| row.id == id);
            let has_key = |at: &usize| request.key(document.rows[*at].token_count, *at as u32) == key;
            Ok::<_, Infallible>(place.filter(has_key).map(|place| place as u32))
        });
        after
    }

    /// The texts that several passing rows share.
    fn repeated(&self, mut texts: HashMap<TextKey, (usize, usize)>, passing: Selection<'_>) -> RepeatedTexts {
        texts.retain(|_, (chunks, _)| *chunks > 1);
        let mut most: Vec<(TextKey, (usize, usize))> = texts.iter().map(|(key, it)| (*key, *it)).collect();
        most.sort_unstable_by_key(|(_, (chunks, first))| (Reverse(*chunks), *first));
        most.truncate(MOST_REPEATED);
        let mut found = RepeatedTexts {
            chunks: texts.values().map(|(chunks, _)| chunks).sum(),
            texts: texts.len(),
            most: most
                .iter()
                .map(|(_, (chunks, _))| RepeatedText { chunks: *chunks, some: Vec::new() })
                .collect(),
        };
        if most.is_empty() {
            return found;
        }
        for (doc_id, document) in &self.documents {
            for row in &document.rows {
                if let Some(at) = most.iter().position(|(key, _)| *key == row.text)
                    && document.passes(doc_id, row, passing)
                {
                    found.most[at].add(doc_id, row.id);
                }
            }
        }
        found
    }

    /// Statistics of the rows that pass.
    pub fn statistics(&self, request: &StatisticsRequest, passing: Selection<'_>) -> Statistics {
        let mut all = Statistics::default();
        let mut tokens = Vec::new();
        // The number of chunks that have a text, and the index of the first of them.
        let mut texts: HashMap<TextKey, (usize, usize)> = HashMap::new();
        for (doc_id, document) in &self.documents {
            let before = tokens.len();
            for row in &document.rows {
                if !document.passes(doc_id, row, passing) {
                    continue;
                }
                tokens.push(row.token_count as usize);
                all.enabled += usize::from(row.enabled);
                let facts = &document.facts[row.facts as usize];
                count(&mut all.strategy_versions, &facts.strategy_version);
                count(&mut all.content_types, &facts.content_type);
                count(&mut all.chunk_types, &facts.chunk_type);
                count(&mut all.categories, &facts.category);
                count(&mut all.cuts, row.cut.as_str());
                texts.entry(row.text).or_insert((0, tokens.len())).0 += 1;
                if let Some(language) = &facts.language {
                    count(&mut all.languages, language);
                }
            }
            all.documents += usize::from(tokens.len() > before);
        }
        all.chunks = tokens.len();
        all.disabled = all.chunks - all.enabled;
        all.repeated = self.repeated(texts, passing);
        all.with_tokens(tokens, request)
    }
}

impl Document {
    fn passes(&self, doc_id: &str, row: &Row, passing: Selection<'_>) -> bool {
        match passing {
            Selection::Chunks(ids) => ids.contains(&row.id),
            Selection::Filter(filter) => {
                let own = &self.facts[row.facts as usize];
                let (token_count, cut) = (row.token_count, row.cut);
                filter.passes(&View { facts: own.borrow(doc_id), own, token_count, cut })
            }
        }
    }
}

fn count(counts: &mut BTreeMap<String, usize>, value: &str) {
    match counts.get_mut(value) {
        Some(count) => *count += 1,
        None => drop(counts.insert(value.to_owned(), 1)),
    }
}
