//! The contents of a store, as its commands show them, and the invariants that always hold.

use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::{Context, Result};
use serde_json::Value;

use super::program::{Answer, Program};
use super::{finding, must};

/// Messages of `check` about leftovers of a kill on a server.
const LEFTOVERS: [&str; 3] =
    ["which the next write removes", "removed to its end; the next run", "not renamed to its end"];

/// The state of a collection, as readers see it.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    /// Whether there is a collection.
    pub(crate) exists: bool,
    /// The way of cutting: the hash of the configuration of the current generation.
    pub(crate) way: String,
    /// Files by document.
    pub(crate) documents: BTreeMap<String, Vec<u8>>,
    /// All chunks, by document and in order.
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) overlays: Vec<Overlay>,
    /// States of all generations.
    pub(crate) generations: Vec<String>,
    /// Whether every chunk has a vector.
    has_vectors: bool,
    /// The output of `export`.
    pub(crate) export: String,
}

/// A chunk.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub(crate) id: String,
    pub(crate) doc_id: String,
    pub(crate) content: String,
    pub(crate) text: String,
    /// The words by which searches find it.
    words: Vec<String>,
}

/// The changes by hand of one chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Change {
    pub(crate) disabled: bool,
    pub(crate) text: Option<String>,
    pub(crate) keywords: Vec<String>,
    pub(crate) pins: Vec<String>,
}

impl Change {
    pub(crate) fn is_empty(&self) -> bool {
        !self.disabled && self.text.is_none() && self.keywords.is_empty() && self.pins.is_empty()
    }
}

/// A change as `overlays` lists it.
#[derive(Clone, Debug)]
pub(crate) struct Overlay {
    pub(crate) change: Change,
    /// The chunk that it applies to.
    pub(crate) on: Option<String>,
    /// `on`, `carried`, `conflict` or `orphaned`.
    pub(crate) standing: String,
    /// Whether the next run has to apply it again, as after a kill. Until then it may or may not be in force.
    pub(crate) is_pending: bool,
}

impl Overlay {
    /// Returns whether it is in force.
    fn is_on(&self) -> bool {
        self.on.is_some() && !self.is_pending
    }

    /// The text that is searched instead of the chunk's own; `None` if the two are in conflict.
    fn text(&self) -> Option<&str> {
        self.change.text.as_deref().filter(|_| self.is_on() && self.standing != "conflict")
    }
}

impl State {
    /// Reads the collection, and checks the invariants that always hold.
    pub(crate) fn look(program: &Program) -> Result<Self> {
        let check = program.run(&["check"])?;
        if check.code == Some(2) && is_missing(&check) {
            return Ok(Self::default());
        }
        let report: Value = serde_json::from_slice(&check.out).with_context(|| check.to_string())?;
        // Leftovers of a kill on a server are invisible to readers, and not damage.
        let is_left = |problem: &Value| LEFTOVERS.iter().any(|said| string_of(problem).contains(said));
        let problems = report["problems"].as_array();
        let is_sound = problems.is_some_and(|problems| {
            problems.is_empty() && check.code == Some(0) || program.is_remote && problems.iter().all(is_left)
        });
        must("check is sound", is_sound, || check.to_string())?;
        let versions = program.run(&["versions"])?;
        if versions.code == Some(2) && is_missing(&versions) {
            return Ok(Self::default());
        }
        let generations = rows(&versions.expect(&[0])?)?;
        let mut current: Vec<&Value> = generations.iter().filter(|row| row["state"] == "current").collect();
        if current.is_empty() {
            // The first run was interrupted.
            current.extend(generations.first());
        }
        must("one generation is current", current.len() == 1, || format!("{generations:?}"))?;
        let mut state = Self {
            exists: true,
            way: string(current[0], "config_hash"),
            has_vectors: current[0]["model"].is_object() && current[0]["pending"] == 0,
            generations: generations.iter().map(|row| string(row, "state")).collect(),
            ..Self::default()
        };
        let listed = rows(&program.run(&["status", "--documents"])?.expect(&[0, 1])?)?;
        let export = program.run(&["export"])?.expect(&[0, 1])?;
        state.export = export.text();
        let records = rows(&export)?;
        state.read_documents(program, &listed, &records)?;
        let counts = |name: &str| current[0][name].as_u64().unwrap_or_default() as usize;
        let are_counted = (counts("documents"), counts("chunks")) == (listed.len(), records.len());
        must("counts are right", are_counted, || {
            format!("{} documents, {} chunks, but {}", listed.len(), records.len(), current[0])
        })?;
        let overlays = program.run(&["overlays"])?.expect(&[0, 1])?;
        state.overlays = rows(&overlays)?.iter().map(overlay).collect();
        state.search_all(program)?;
        state.search_pins(program)?;
        Ok(state)
    }

    /// Checks that every document occurs once, complete, and that its chunks tile it.
    fn read_documents(&mut self, program: &Program, listed: &[Value], records: &[Value]) -> Result<()> {
        let mut of: HashMap<String, Vec<&Value>> = HashMap::new();
        for record in records {
            of.entry(string(record, "doc_id")).or_default().push(record);
        }
        let mut ids = HashSet::new();
        for info in listed {
            let doc_id = string(info, "doc_id");
            let records = of.remove(&doc_id).unwrap_or_default();
            let count = info["chunks"].as_u64().unwrap_or_default() as usize;
            must("a document has its chunks", records.len() == count, || {
                format!("{} chunks were exported, but {info}", records.len())
            })?;
            let document = records.first().map(|record| &record["document"]);
            let source = document.and_then(|document| document["source"].as_str());
            let is_raw = document.is_some_and(|document| document["raw_base64"].is_string());
            let bytes = match source {
                Some(source) if !is_raw => source.as_bytes().to_vec(),
                _ => program.run(&["fetch", "--format", "raw", "--", &doc_id])?.expect(&[0])?.out,
            };
            let length = info["bytes"].as_u64().unwrap_or_default() as usize;
            must("a document is whole", bytes.len() == length, || {
                format!("{} bytes were fetched, but {info}", bytes.len())
            })?;
            must("a document is there once", !self.documents.contains_key(&doc_id), || doc_id.clone())?;
            self.documents.insert(doc_id.clone(), bytes);
            tile(source.unwrap_or_default(), &records).with_context(|| doc_id.clone())?;
            for record in records {
                let (id, text) = (string(record, "chunk_id"), string(record, "text"));
                must("ids are unique", ids.insert(id.clone()), || id.clone())?;
                let hash = string(record, "config_hash");
                must("one generation is seen", hash == self.way, || format!("{hash} in {}", self.way))?;
                let (content, words) = (string(record, "content"), words(&text));
                self.chunks.push(Chunk { id, doc_id: doc_id.clone(), content, text, words });
            }
        }
        must("chunks have documents", of.is_empty(), || format!("{:?}", of.keys()))
    }

    /// Searches for words of every chunk and for all keywords at once. The result must be exactly the enabled chunks,
    /// with the overlays that `overlays` lists.
    fn search_all(&self, program: &Program) -> Result<()> {
        let on: HashMap<&str, &Overlay> =
            self.overlays.iter().filter_map(|overlay| Some((overlay.on.as_deref()?, overlay))).collect();
        let count = self.overlays.iter().filter(|overlay| overlay.on.is_some()).count();
        must("one overlay is on a chunk", on.len() == count, || format!("{:?}", self.overlays))?;
        let mut query: Vec<String> = Vec::new();
        let mut expected: BTreeMap<&str, bool> = BTreeMap::new();
        for chunk in &self.chunks {
            let overlay = on.get(chunk.id.as_str());
            let is_open = overlay.is_some_and(|overlay| overlay.is_pending);
            let words = overlay.and_then(|overlay| overlay.text()).map_or_else(|| chunk.words.clone(), words);
            if !is_open && !words.is_empty() {
                expected.insert(&chunk.id, overlay.is_none_or(|overlay| !overlay.change.disabled));
            }
            query.extend(words);
        }
        if query.is_empty() {
            return Ok(());
        }
        let found = self.find(program, "lexical", &query.join(" "))?;
        let known: HashSet<&str> = self.chunks.iter().map(|chunk| chunk.id.as_str()).collect();
        for (id, is_enabled) in &expected {
            let about = || format!("{id}: {:?}", on.get(id));
            if *is_enabled {
                must("an enabled chunk is found", found.contains_key(*id), about)?;
            } else {
                must("a disabled chunk is not found", !found.contains_key(*id), about)?;
            }
        }
        if self.has_vectors {
            let found = self.find(program, "dense", "the harbour 面包 хлеб")?;
            for (id, is_enabled) in &expected {
                must("dense search finds what is enabled", found.contains_key(*id) == *is_enabled, || {
                    format!("{id}: {:?}", on.get(id))
                })?;
            }
        }
        for (id, text) in &found {
            must("what is found is stored", known.contains(id.as_str()), || id.clone())?;
            let overlay = on.get(id.as_str());
            if let Some(wanted) = overlay.and_then(|overlay| overlay.text()) {
                must("an amended text is found", wanted == text, || format!("{id}: {text:?}, {overlay:?}"))?;
            }
        }
        let words = |on: bool| -> Vec<&str> {
            let settled = self.overlays.iter().filter(|overlay| !overlay.is_pending);
            let chosen = settled.filter(|overlay| overlay.on.is_some() == on);
            chosen.flat_map(|overlay| &overlay.change.keywords).map(String::as_str).collect()
        };
        self.search_words(program, &words(true), &words(false))
    }

    /// Checks that keywords of applied overlays find their chunk, and that others find nothing.
    fn search_words(&self, program: &Program, on: &[&str], off: &[&str]) -> Result<()> {
        if !on.is_empty() {
            let found = self.find(program, "lexical", &on.join(" "))?;
            for overlay in self.overlays.iter().filter(|overlay| overlay.is_on()) {
                let Some(id) = overlay.on.as_ref().filter(|_| !overlay.change.keywords.is_empty()) else {
                    continue;
                };
                must("keywords find their chunk", found.contains_key(id) != overlay.change.disabled, || {
                    format!("{overlay:?}, found {:?}", found.keys())
                })?;
            }
        }
        let off: Vec<&str> = off.iter().filter(|word| !on.contains(word)).copied().collect();
        if off.is_empty() {
            return Ok(());
        }
        let found = self.find(program, "lexical", &off.join(" "))?;
        must("keywords of orphans find nothing", found.is_empty(), || format!("{off:?} find {found:?}"))
    }

    /// Checks that the first hit for a pin is its chunk.
    fn search_pins(&self, program: &Program) -> Result<()> {
        let on = self.overlays.iter().filter(|overlay| overlay.is_on() && !overlay.change.disabled);
        let pins = on.flat_map(|overlay| overlay.change.pins.iter().map(move |pin| (pin, &overlay.on)));
        for (pin, id) in pins.take(2) {
            let answer = program.run(&["search", "--top-k", "1", "--", pin])?.expect(&[0, 1])?;
            let first = rows(&answer)?.first().map(|hit| string(hit, "chunk_id"));
            must("a pin is the first answer", first == *id, || format!("{pin}: {first:?}, not {id:?}"))?;
        }
        Ok(())
    }

    /// All chunks found by the words of a query, with their texts.
    fn find(&self, program: &Program, mode: &str, query: &str) -> Result<BTreeMap<String, String>> {
        let limit = (self.chunks.len() + 10).to_string();
        let all = ["--keep-duplicates", "--min-relevance", "0", "--top-k", &limit];
        let arguments = [&["search", "--mode", mode][..], &all, &["--", query]].concat();
        let answer = program.run(&arguments)?.expect(&[0, 1])?;
        let hits = rows(&answer)?;
        // A text that is rendered, or written by hand for one that is, is the hit's content.
        let text = |hit| Some(string(hit, "text")).filter(|text| !text.is_empty());
        let text = |hit| text(hit).unwrap_or_else(|| string(hit, "content"));
        Ok(hits.iter().map(|hit| (string(hit, "chunk_id"), text(hit))).collect())
    }

    /// The changes made by hand, in order.
    pub(crate) fn changes(&self) -> Vec<Change> {
        let mut changes: Vec<Change> = self.overlays.iter().map(|overlay| overlay.change.clone()).collect();
        changes.sort();
        changes
    }

    /// Ids of all chunks, in order.
    pub(crate) fn ids(&self) -> Vec<&str> {
        self.chunks.iter().map(|chunk| chunk.id.as_str()).collect()
    }
}

/// Returns whether a command found no store, or no collection in it.
fn is_missing(answer: &Answer) -> bool {
    ["there is no store", "unknown collection"].iter().any(|sentence| answer.err.contains(sentence))
}

/// Checks that the records of a document are in order, own the text they claim, and leave out nothing visible.
fn tile(source: &str, records: &[&Value]) -> Result<()> {
    let mut end = 0;
    for (index, record) in records.iter().enumerate() {
        let number = |name: &str| record[name].as_u64().unwrap_or(u64::MAX) as usize;
        let span = (number("start_byte"), number("end_byte"));
        let about = || format!("{record} of {} chunks", records.len());
        let is_in_order = (number("chunk_index"), number("total_chunks")) == (index, records.len());
        must("chunks are in order", is_in_order && span.0 >= end, about)?;
        must("a chunk is its span", source.get(span.0..span.1) == record["content"].as_str(), about)?;
        let gap = source.get(end..span.0).unwrap_or_default();
        must("chunks tile their document", gap.chars().all(is_blank), about)?;
        let lines = |text: &str| text.matches('\n').count() + 1;
        let is_on_lines = source.contains('\r') || number("start_line") == lines(&source[..span.0]);
        must("lines are right", is_on_lines, about)?;
        let beside = |at: Option<usize>| at.and_then(|at| records.get(at)).map(|record| &record["chunk_id"]);
        let are_beside =
            |name: &str, at: Option<usize>| record.get(name).filter(|id| id.is_string()) == beside(at);
        let is_linked = are_beside("previous", index.checked_sub(1)) && are_beside("next", Some(index + 1));
        must("chunks name their neighbours", is_linked, about)?;
        must("a parent holds its chunk", holds(&string(record, "parent"), record), about)?;
        end = span.1;
    }
    let rest = source.get(end..).unwrap_or_default();
    must("chunks tile their document", rest.chars().all(is_blank), || format!("{rest:?} is in no chunk"))
}

/// Returns whether a reference is to the document of a chunk, or to lines that contain the chunk's.
fn holds(parent: &str, record: &Value) -> bool {
    let Some(lines) = parent.strip_prefix(string(record, "doc_id").as_str()) else { return false };
    let number = |name: &str| record[name].as_u64().unwrap_or_default();
    let range = lines.strip_prefix("#L").and_then(|lines| lines.split_once("-L"));
    let range = range.and_then(|(start, end)| Some(start.parse::<u64>().ok()?..=end.parse::<u64>().ok()?));
    let is_in = |range: std::ops::RangeInclusive<u64>| {
        range.contains(&number("start_line")) && range.contains(&number("end_line"))
    };
    lines.is_empty() || range.is_some_and(is_in)
}

fn is_blank(character: char) -> bool {
    character.is_whitespace() || character.is_control() || character == '\u{feff}'
}

fn overlay(row: &Value) -> Overlay {
    let list = |name: &str| -> Vec<String> {
        let values = row[name].as_array().into_iter().flatten();
        values.filter_map(|value| value.as_str().map(str::to_owned)).collect()
    };
    let on = row["on"].as_str().map(str::to_owned);
    let standing = row["state"].as_str().unwrap_or(if on.is_some() { "on" } else { "orphaned" });
    let change = Change {
        disabled: row["disabled"] == true,
        text: row["text"].as_str().map(str::to_owned),
        keywords: list("keywords"),
        pins: list("pins"),
    };
    Overlay { change, standing: standing.to_owned(), on, is_pending: row["pending"] == true }
}

/// Words that certainly find a text: its two longest.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<&str> = text
        .split(|character: char| !character.is_alphabetic())
        .filter(|word| (3..=24).contains(&word.chars().count()))
        .collect();
    words.sort_by_key(|word| (std::cmp::Reverse(word.len()), *word));
    words.dedup();
    words.into_iter().take(2).map(str::to_owned).collect()
}

/// The JSON Lines of an answer.
pub(crate) fn rows(answer: &Answer) -> Result<Vec<Value>> {
    let lines = answer.out.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines
        .map(serde_json::from_slice)
        .collect::<Result<_, _>>()
        .map_err(|error| finding("results are JSON Lines", format!("{error}: {answer}")))
}

/// A text field of a JSON object; empty if it is missing.
pub(crate) fn string(object: &Value, name: &str) -> String {
    string_of(&object[name]).to_owned()
}

fn string_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
