//! The stage `names`: what defines, declares or documents a name that the query asks for ranks before what uses it.
//!
//! A query asks for a name if it is an identifier (`url_for`, `Router::route`), reads like a declaration (`struct
//! Router`), or contains an identifier; and every short query asks for a section or a file that is called so. Chunks
//! that hold a symbol of that name are looked up as the condition `symbol:` does, in every mode of search, so that a
//! definition is found however many chunks use the name. Each chunk that is found then plays a [`Role`], whose score
//! orders the stage:
//!
//! | Score | Chunk |
//! |---|---|
//! | 0.9 | defines the symbol: up to 0.1 more or less by qualifier, kind, visibility and nesting |
//! | 0.8 | declares it: a prototype, a stub, a method without a body, a re-export |
//! | 0.7 | defines it in a test, an example or a copy of another project |
//! | 0.65 | begins a section whose title equals the query |
//! | 0.6 | begins a file whose name equals the query |
//! | 0.55 | continues the definition |
//! | up to 1 | has the literal that a message was made of |
//! | 0.45 | documents it: prose, 0.5 if the title has the name |
//! | 0.3, 0.2, 0.1 | uses it, in a test, in an example |
//!
//! If the query is the name, these chunks come first, in this order, and equal scores in the order of the other stages.
//! A word that prose has too (`Router`, `get`) is a name only if the collection defines it, and of one in lower case only
//! definitions, declarations, titles and files come first. If the query contains the name, its definition gains [`WITHIN`] of the
//! best score of the other stages. A plain word within a question is never a name.
//!
//! A query that reads like a message of a program names the string literal that the message was made of. The chunk of source
//! code that has it gains up to [`MESSAGE`] of the best score, by the square root of the share of the message that the
//! literal is, and [`ASIDE`] of that where it is a test or an example.

mod message;
mod opening;
mod query;
mod role;
mod symbol;

use std::collections::{HashMap, HashSet};

use chunkwright::{ChunkId, Record};
use serde::{Deserialize, Serialize};

use chunkwright_store::bm25::{TermId, alike, query_ids, term_id};
use chunkwright_store::{
    Condition, DocumentKind, DocumentsBehind, Field, Filter, Generation, Glob, Origin, Scored, Store,
    StoreError,
};
use chunkwright_store::{analysis, cancel};

use super::standing::Standing;
use query::{Name, Shape, Wanted};
pub use role::Role;
pub use symbol::{SymbolPlace, SymbolPlaces, symbol_places};

/// Most chunks with a symbol of a name that are read. If there are more, those that hold no function are read as well,
/// since the methods of a class hold some of it.
const MOST_SYMBOLS: usize = 96;

/// Number of best chunks by words that are read for every role, where the query is a name.
pub(super) const MOST_READ: usize = 48;

/// Number of best chunks by words that are read for titles and files, where the query is not a name.
const MOST_READ_OF_WORDS: usize = 24;

/// The same of a query of more words than [`FEW_WORDS`]: a section that has all of them in its title ranks higher by them.
const MOST_READ_OF_MANY: usize = 4;

/// Number of words that many sections have.
const FEW_WORDS: usize = 4;

/// Most files of one name that are looked up.
const MOST_FILES: usize = 5;

/// What the definition of a name within a question gains, as a share of the best score of the other stages.
const WITHIN: f64 = 0.6;

/// The same of a capitalized word within a question.
const WITHIN_CAPITAL: f64 = 0.3;

/// The same of the origin of a message that is all literal. Such a chunk stood at rank 52 by its words where the message
/// was half values.
const MESSAGE: f64 = 1.0;

/// The share of it that tests and examples have, which state messages too.
const ASIDE: f64 = 0.6;

/// Number of best chunks by words of which those of source code are read for the origin of a message.
const MOST_READ_OF_MESSAGE: usize = 200;

/// A chunk's place in the stage `names`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Named {
    /// Position in the stage, from 1.
    pub rank: usize,
    /// The score of its role, from 0 to 1.
    pub score: f64,
    /// What the chunk is to the name.
    pub role: Role,
    /// The name, as the query has it; of a message, the string literal that it was made of.
    pub name: String,
    /// What it adds to the score of the other stages. Absent where the query is the name itself: the chunks of this
    /// stage then come first, in its order.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub contribution: Option<f64>,
}

impl Named {
    /// Its score where the stage comes before all others, and 0 elsewhere.
    pub fn precedence(named: Option<&Self>) -> f64 {
        named.filter(|named| named.contribution.is_none()).map_or(0.0, |named| named.score)
    }

    /// Returns whether the chunk is exactly what the query names: such a hit needs no other relevance.
    pub(super) fn is_it(&self) -> bool {
        self.contribution.is_none() && self.score > role_floor()
    }
}

/// The least score of definitions, declarations, titles and files, beyond that of their continuations.
fn role_floor() -> f64 {
    Role::File.score() - 0.05
}

/// The stage's chunks by id, before the other stages are known.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Names {
    found: HashMap<ChunkId, Found>,
    is_first: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Found {
    role: Role,
    score: f64,
    name: String,
    /// Share of the best score that it adds, if the stage is not first.
    share: f64,
}

impl Names {
    /// Finds the chunks for the names of a query, whose terms have these ids. `lexical` are the [`MOST_READ`] best by
    /// words, if they are known.
    pub(super) fn find(
        store: &dyn Store,
        generation: &Generation,
        (query, ids): (&str, &[TermId]),
        filter: &Filter,
        lexical: Option<&[Scored]>,
    ) -> Result<Self, StoreError> {
        let wanted = Wanted::of(query);
        let message = message::message(query).filter(|_| !wanted.is_whole);
        if wanted.names.is_empty() && wanted.title.is_empty() && message.is_none() {
            return Ok(Self::default());
        }
        cancel::check()?;
        let mut read: Vec<ChunkId> = Vec::new();
        for name in &wanted.names {
            let mut holding = holding(store, generation, name, filter, MOST_SYMBOLS)?;
            if holding.is_empty() && (wanted.is_whole || name.shape != Shape::Capital) {
                holding = top_level(store, generation, name, filter)?;
            }
            read.append(&mut holding);
        }
        let of_titles = match query::words_of(&wanted.title) {
            _ if wanted.is_whole => MOST_READ,
            // Only what holds a symbol can define a name within a question.
            _ if wanted.title.is_empty() => 0,
            words if words > FEW_WORDS => MOST_READ_OF_MANY,
            _ => MOST_READ_OF_WORDS,
        };
        let most = if message.is_some() { MOST_READ_OF_MESSAGE } else { of_titles };
        let best = match lexical {
            Some(lexical) => lexical[..most.min(lexical.len())].to_vec(),
            None if most == 0 => Vec::new(),
            None => store.lexical(generation, &alike(ids), filter, most)?,
        };
        let best: Vec<ChunkId> = best.into_iter().map(|scored| scored.id).collect();
        let (titled, others) = best.split_at(of_titles.min(best.len()));
        read.extend(titled);
        // Only source code prints messages.
        let origins = if others.is_empty() { Vec::new() } else { store.origins(generation, others)? };
        let is_code = |origin: Option<Origin>| origin.is_some_and(|it| it.kind == DocumentKind::Code);
        read.extend(others.iter().zip(origins).filter_map(|(id, origin)| is_code(origin).then_some(*id)));
        if let Some(file) = &wanted.file {
            read.extend(beginnings(store, generation, file, filter)?);
        }
        let mut known = HashSet::new();
        read.retain(|id| known.insert(*id));
        let chunks = store.chunks(generation, &read)?;
        let records: Vec<&Record> =
            chunks.iter().flatten().filter(|chunk| chunk.enabled).map(|chunk| &chunk.record).collect();
        let mut names = Self::of(&wanted, query, &records);
        if let Some(message) = message.filter(|_| !names.is_first) {
            names.add_origins(&message, &records);
        }
        Ok(names)
    }

    /// Adds the chunks of source code that a message comes from.
    fn add_origins(&mut self, message: &[String], records: &[&Record]) {
        for record in records.iter().filter(|record| record.symbols.is_some()) {
            let Some((literal, share)) = message::origin(&record.content, message) else { continue };
            let is_aside = Standing::of(record) != Standing::Main;
            let score = share.sqrt() * if is_aside { ASIDE } else { 1.0 };
            self.add(record, Role::Message, score, literal, MESSAGE * score);
        }
    }

    /// The roles of chunks.
    fn of(wanted: &Wanted, query: &str, records: &[&Record]) -> Self {
        let mut names = Self::default();
        if wanted.is_whole
            && let [name] = &wanted.names[..]
        {
            let roles: Vec<_> = records.iter().map(|record| role::role(record, name)).collect();
            let is_defined =
                |(role, score): &(Role, f64)| *role <= Role::Declaration && *score > Role::Title.score();
            let is_known = name.shape == Shape::Code || roles.iter().flatten().any(is_defined);
            for (record, found) in records.iter().zip(roles) {
                let is_kept =
                    |(role, _): &(Role, f64)| name.shape != Shape::Plain || *role <= Role::Declaration;
                if let Some((role, score)) = found.filter(|_| is_known).filter(is_kept) {
                    names.add(record, role, score, &name.text, 0.0);
                }
            }
        }
        if !wanted.title.is_empty() {
            for record in records {
                let is_file = wanted.file.is_some();
                let query = wanted.file.as_deref().unwrap_or(query).trim();
                let found =
                    [role::title(record, &wanted.title), role::file(record, query, &wanted.title, is_file)];
                for (role, score) in found.into_iter().flatten() {
                    names.add(record, role, score, query, 0.0);
                }
            }
        }
        names.is_first = !names.found.is_empty();
        if names.is_first || wanted.is_whole {
            return names;
        }
        for name in &wanted.names {
            let share = if name.shape == Shape::Capital { WITHIN_CAPITAL } else { WITHIN };
            for record in records {
                if let Some((role, score)) = role::role(record, name)
                    && role <= Role::Declaration
                {
                    names.add(record, role, score, &name.text, share * score);
                }
            }
        }
        names
    }

    /// Adds a chunk, or keeps the better of two roles.
    fn add(&mut self, record: &Record, role: Role, score: f64, name: &str, share: f64) {
        // Two decimals: sums of hundredths are equal where they are meant to be.
        let score = (score * 1000.0).round() / 1000.0;
        let found = Found { role, score, name: name.to_owned(), share };
        let known = self.found.entry(record.chunk_id).or_insert_with(|| found.clone());
        if (known.share, known.score) < (share, score) {
            *known = found;
        }
    }

    /// Keeps the chunks that `keep` returns true for.
    pub(super) fn retain(&mut self, keep: impl Fn(ChunkId) -> bool) {
        self.found.retain(|id, _| keep(*id));
    }

    /// Adds to the scores of `order` what names within the query are worth, and orders it by them.
    pub(super) fn add_to(&self, order: &mut Vec<Scored>) {
        if self.is_first || self.found.is_empty() {
            return;
        }
        let best = best(order);
        let mut missing: HashSet<ChunkId> = self.found.keys().copied().collect();
        for scored in order.iter_mut() {
            if let Some(found) = self.found.get(&scored.id) {
                missing.remove(&scored.id);
                scored.score += found.share * best;
            }
        }
        let added = missing.into_iter().map(|id| Scored { id, score: self.found[&id].share * best });
        order.extend(added);
        order.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    }

    /// Moves the chunks of the name that the query is to the front of `order`. The score of each is the greatest of those
    /// after it, so that scores do not rise.
    pub(super) fn put_first(&self, order: &mut Vec<Scored>) {
        if !self.is_first || self.found.is_empty() {
            return;
        }
        let least = order.last().map_or(0.0, |last| last.score);
        let known: HashSet<ChunkId> = order.iter().map(|scored| scored.id).collect();
        let missing = self.found.keys().filter(|id| !known.contains(id));
        let mut missing: Vec<Scored> = missing.map(|&id| Scored { id, score: least }).collect();
        missing.sort_unstable_by_key(|scored| scored.id);
        order.extend(missing);
        let precedence = |scored: &Scored| self.found.get(&scored.id).map_or(0.0, |found| found.score);
        // Stable: equal ones stay in the order of the other stages.
        order.sort_by(|a, b| precedence(b).total_cmp(&precedence(a)));
        let mut greatest = f64::MIN;
        for scored in order.iter_mut().rev() {
            greatest = greatest.max(scored.score);
            scored.score = greatest;
        }
    }

    /// The places of the stage's chunks, where the other stages made `order`, which decides between equal scores.
    pub(super) fn places(&self, order: &[Scored]) -> HashMap<ChunkId, Named> {
        let best = best(order);
        let known: HashMap<ChunkId, usize> =
            order.iter().enumerate().map(|(at, scored)| (scored.id, at)).collect();
        let at = |id: &ChunkId| known.get(id).copied().unwrap_or(usize::MAX);
        let mut all: Vec<(&ChunkId, &Found)> = self.found.iter().collect();
        all.sort_by(|(a_id, a), (b_id, b)| {
            b.score.total_cmp(&a.score).then(at(a_id).cmp(&at(b_id))).then(a_id.cmp(b_id))
        });
        let place = |(index, (id, found)): (usize, (&ChunkId, &Found))| {
            let Found { role, score, name, share } = found.clone();
            let contribution = (!self.is_first).then_some(share * best);
            (*id, Named { rank: index + 1, score, role, name, contribution })
        };
        all.into_iter().enumerate().map(place).collect()
    }
}

/// The greatest score of an order, by its amount.
fn best(order: &[Scored]) -> f64 {
    order.first().map_or(1.0, |best| best.score.abs())
}

/// The chunks that hold some of a symbol of this name, those first that BM25 ranks first: `most` of them, and as many that
/// hold no function.
fn holding(
    store: &dyn Store,
    generation: &Generation,
    name: &Name,
    filter: &Filter,
    most: usize,
) -> Result<Vec<ChunkId>, StoreError> {
    let mut terms = analysis::terms(&name.last);
    terms.extend(name.qualifiers.iter().flat_map(|part| analysis::terms(part)));
    let ids = query_ids(&terms);
    // Names that end in a mark, and methods of Lua, which are qualified by a colon.
    let mut symbols = vec![name.last.clone(), format!("{}?", name.last), format!("{}!", name.last)];
    if let Some(class) = name.qualifiers.last() {
        symbols.push(format!("{class}:{}", name.last));
    }
    let symbols = symbols.into_iter().map(|symbol| Condition::is(Field::SYMBOL, symbol)).collect();
    let holding = filter.clone().and(Filter::new(Condition::Or(symbols)));
    let mut found = store.lexical(generation, &alike(&ids), &holding, most)?;
    if found.len() == most {
        let is_function = |kind| Condition::is(Field::CONTENT_TYPE, kind);
        let functions = Condition::Or(vec![is_function("method"), is_function("function")]);
        let rest = holding.and(Filter::new(functions).negated());
        found.extend(store.lexical(generation, &alike(&ids), &rest, most)?);
    }
    Ok(found.into_iter().map(|scored| scored.id).collect())
}

/// The best chunks by a name of those that hold statements outside functions and classes: grammars know of no symbol
/// where a variable is defined.
fn top_level(
    store: &dyn Store,
    generation: &Generation,
    name: &Name,
    filter: &Filter,
) -> Result<Vec<ChunkId>, StoreError> {
    let whole: Vec<TermId> = analysis::whole(&name.last).map(|term| term_id(&term)).into_iter().collect();
    let modules = filter.clone().and(Filter::is(Field::CONTENT_TYPE, "module"));
    let found = store.lexical(generation, &alike(&whole), &modules, MOST_READ)?;
    Ok(found.into_iter().map(|scored| scored.id).collect())
}

/// The first chunks of the files of this name or path.
fn beginnings(
    store: &dyn Store,
    generation: &Generation,
    file: &str,
    filter: &Filter,
) -> Result<Vec<ChunkId>, StoreError> {
    let mut found = Vec::new();
    let literal = Glob::literal(file);
    let Ok(pattern) = Glob::new(format!("{{{literal},**/{literal}}}")) else { return Ok(found) };
    let request = DocumentsBehind { source: Some(&pattern), limit: MOST_FILES, ..DocumentsBehind::default() };
    for document in store.list_documents(generation, &request)?.documents {
        let first = store.records(generation, &document.doc_id)?.into_iter().next();
        found.extend(first.filter(|record| filter.passes_record(record)).map(|record| record.chunk_id));
    }
    Ok(found)
}
