//! Where a symbol is defined, what is inside it, and what uses it: every place, by line.

use std::collections::HashSet;

use chunkwright::{ChunkId, LineIndex, Record};
use serde::Serialize;

use chunkwright_store::bm25::{alike, term_id};
use chunkwright_store::{Filter, Generation, Store, StoreError};
use chunkwright_store::{analysis, cancel};

use super::holding;
use super::opening::{opening, word_places};
use super::query::{Name, Wanted};
use super::role::{Role, parts, role};

/// Most chunks that are read for one symbol.
const MOST_CHUNKS: usize = 1_000;

/// Longest line that is shown, in characters.
const MAX_LINE: usize = 160;

/// A line that defines a symbol or uses it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SymbolPlace {
    /// What the line's chunk is to the symbol.
    pub role: Role,
    /// The document.
    pub doc_id: String,
    /// The line, 1-based.
    pub line: u32,
    /// The line without its indentation, at most 160 characters.
    pub text: String,
    /// The innermost symbol around it; none for prose and for the top of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// First line of its chunk.
    pub start_line: u32,
    /// Last line of its chunk.
    pub end_line: u32,
    /// The chunk.
    pub chunk_id: ChunkId,
}

/// The places of a symbol.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SymbolPlaces {
    /// The lines that define or declare it, definitions first.
    pub definitions: Vec<SymbolPlace>,
    /// The lines that define what is inside it, such as the methods of a class, in the order of documents.
    pub members: Vec<SymbolPlace>,
    /// The lines that use or document it: by role, then in the order of documents.
    pub references: Vec<SymbolPlace>,
    /// Whether so many chunks hold it that some were not read.
    pub is_cut: bool,
}

/// Finds the places of the symbol that `name` names, such as `Router` or `Router::route`, among the chunks that pass
/// `filter`. A name with qualifiers excludes definitions that have others where one has these.
///
/// # Errors
///
/// A generation that is gone, a store that fails.
pub fn symbol_places(
    store: &dyn Store,
    generation: &Generation,
    name: &str,
    filter: &Filter,
) -> Result<SymbolPlaces, StoreError> {
    let wanted = Wanted::of(name);
    let Some(name) = wanted.names.into_iter().next().filter(|_| wanted.is_whole) else {
        return Ok(SymbolPlaces::default());
    };
    // The whole identifier, after its parts.
    let whole: Vec<_> = analysis::whole(&name.last).map(|term| term_id(&term)).into_iter().collect();
    let mut ids = holding(store, generation, &name, filter, MOST_CHUNKS)?;
    let using = store.lexical(generation, &alike(&whole), filter, MOST_CHUNKS)?;
    let is_cut = ids.len() >= MOST_CHUNKS || using.len() == MOST_CHUNKS;
    ids.extend(using.into_iter().map(|scored| scored.id));
    let mut known = HashSet::new();
    ids.retain(|id| known.insert(*id));
    cancel::check()?;
    let chunks = store.chunks(generation, &ids)?;
    let mut records: Vec<&Record> = chunks
        .iter()
        .flatten()
        .filter(|chunk| chunk.enabled)
        .map(|chunk| &chunk.record)
        .filter(|it| it.artifact.is_none())
        .collect();
    records.sort_by(|a, b| a.doc_id.cmp(&b.doc_id).then(a.chunk_index.cmp(&b.chunk_index)));
    let mut places = SymbolPlaces { is_cut, ..SymbolPlaces::default() };
    let mut scored: Vec<(f64, SymbolPlace)> = Vec::new();
    for record in &records {
        members(record, &name, &mut places.members);
        let Some((role, worth)) = role(record, &name) else { continue };
        let defined = if role <= Role::Declaration { defining_line(record, &name) } else { None };
        for (at, place) in lines(record, &name.last, role) {
            if Some(at) == defined {
                scored.push((worth, place));
            } else {
                let role = if role <= Role::Declaration { Role::Use } else { role };
                places.references.push(SymbolPlace { role, ..place });
            }
        }
    }
    // Stable: equal ones stay in the order of documents.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    places.definitions = scored.into_iter().map(|(_, place)| place).collect();
    places.references.sort_by_key(|place| place.role);
    Ok(places)
}

/// The byte of the name in the line that defines it.
fn defining_line(record: &Record, name: &Name) -> Option<usize> {
    let language = record.language.as_deref().unwrap_or_default();
    opening(&record.content, &name.last, language, true).map(|found| found.at)
}

/// The lines of a chunk that have the name, each once, with the byte of its first place there.
fn lines(record: &Record, name: &str, role: Role) -> Vec<(usize, SymbolPlace)> {
    let index = LineIndex::new(&record.content);
    let mut last = 0;
    let mut places = Vec::new();
    for at in word_places(&record.content, name) {
        let line = index.line(at as u32);
        if line == last {
            continue;
        }
        last = line;
        places.push((at, place(record, line, role, &index)));
    }
    places
}

/// The place of a line of a chunk, counted from 1.
fn place(record: &Record, line: usize, role: Role, index: &LineIndex) -> SymbolPlace {
    let start = index.start(line) as usize;
    let text = record.content[start..].lines().next().unwrap_or_default().trim();
    let names = record.symbols.as_ref().map_or(&[][..], |symbols| &symbols.names);
    SymbolPlace {
        role,
        doc_id: record.doc_id.clone(),
        line: record.start_line + line as u32 - 1,
        text: text.chars().take(MAX_LINE).collect(),
        symbol: names.last().cloned(),
        start_line: record.start_line,
        end_line: record.end_line,
        chunk_id: record.chunk_id,
    }
}

/// Adds the members of the symbol that begin in a chunk.
fn members(record: &Record, name: &Name, members: &mut Vec<SymbolPlace>) {
    let names = record.symbols.as_ref().map_or(&[][..], |symbols| &symbols.names);
    let language = record.language.as_deref().unwrap_or_default();
    let index = LineIndex::new(&record.content);
    for symbol in names {
        let around: Vec<&str> = parts(symbol).collect();
        let [.., owner, last] = &around[..] else { continue };
        if *owner != name.last {
            continue;
        }
        if let Some(found) = opening(&record.content, last, language, true) {
            let line = index.line(found.at as u32);
            let role = if found.has_body { Role::Definition } else { Role::Declaration };
            members.push(SymbolPlace { symbol: Some(symbol.clone()), ..place(record, line, role, &index) });
        }
    }
}
