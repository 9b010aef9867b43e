//! Questions in another language than the documents, which words cannot answer.

use std::collections::{HashMap, HashSet};

use chunkwright::ChunkId;
use chunkwright_index::{
    Answer, Below, DocumentInfo, DocumentKind, DocumentsBehind, ListedDocuments, Mode, Script, in_words_of,
};
use chunkwright_models::{EMBEDDERS, Languages};

use crate::core::scripts::Scripts;
use crate::error::Error;
use crate::notice::{Notice, NoticeCode};
use crate::noun::snapshot::Snapshot;
use crate::noun::vectors::{Coverage, languages};
use crate::request::search::options::SearchRequest;

/// Number of documents whose scripts are those of a collection.
const SAMPLE: usize = 16;

/// Number of documents of which those without chunks are left out before the sample is taken.
const ALL: usize = 100;

/// Most neighbours of a document of the sample in whose place one of prose may stand.
const NEIGHBOURS: usize = 16;

/// A question is in another language than the documents if less than one chunk of so many is in its script.
const FEW: u64 = 4;

/// Prose is rare where less than one document of so many consists of it.
const RARE: usize = 4;

/// A question in Latin letters has at least this many words; fewer may be names, which documents in any language have.
const LEAST_WORDS: usize = 4;

/// Returns whether a query is a question, rather than names.
fn is_question(query: &str) -> bool {
    Script::of(query, 0.6) != Some(Script::Latin) || query.split_whitespace().count() >= LEAST_WORDS
}

/// The first `top_k` hits of two answers in turn, by rank, each chunk and what says the same once.
pub(super) fn in_turn(
    translated: Answer,
    asked: Answer,
    per_document: Option<usize>,
    top_k: usize,
) -> Answer {
    let mut known: HashSet<(i64, ChunkId)> = HashSet::new();
    let mut of_document: HashMap<String, usize> = HashMap::new();
    let lists = [translated.hits, asked.hits];
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let mut lists = lists.map(Vec::into_iter);
    let mut hits: Vec<chunkwright_index::Hit> = Vec::new();
    for mut hit in (0..longest).flat_map(|_| lists.each_mut().map(Iterator::next)).flatten() {
        let count = of_document.entry(hit.record.doc_id.clone()).or_default();
        if hits.len() < top_k
            && per_document.is_none_or(|most| *count < most)
            && known.insert((hit.generation, hit.record.chunk_id))
        {
            *count += 1;
            known.extend(hit.duplicates.iter().map(|id| (hit.generation, *id)));
            hit.rank = hits.len() + 1;
            hits.push(hit);
        }
    }
    Answer {
        hits,
        translated: translated.translated,
        below: Below::sum(translated.below, asked.below),
        ..asked
    }
}

impl Snapshot {
    /// The script of the documents' language, if the query is in another one and is known in theirs.
    pub(super) fn translates(&self, query: &str, answer: &Answer) -> Result<Option<Script>, Error> {
        if !matches!(answer.mode, Mode::Hybrid | Mode::Lexical) {
            return Ok(None);
        }
        let across = self.script_across(query, answer)?;
        Ok(across.filter(|into| in_words_of(query, *into).is_some()))
    }

    /// The script of most documents, if the query is in another one that few of them have. What a search found does not
    /// tell it, except that the best hit is in the language of the query: other pages of the answer find other chunks.
    fn script_across(&self, query: &str, answer: &Answer) -> Result<Option<Script>, Error> {
        let Some(asked) = Script::of(query, 0.6) else { return Ok(None) };
        let best = answer.hits.first().map(|hit| &hit.record);
        if best.is_some_and(|it| it.prose_language.is_some() && Script::of_record(it) == Some(asked)) {
            return Ok(None);
        }
        let scripts = self.scripts()?;
        let all: u64 = scripts.values().sum();
        let own = scripts.get(&asked).copied().unwrap_or(0);
        let most =
            scripts.into_iter().max_by_key(|(script, chunks)| (*chunks, *script)).map(|(script, _)| script);
        Ok(most.filter(|most| *most != asked && own * FEW < all))
    }

    /// How many chunks a sample of the documents has in each script: chunks of prose or, where it is rare, all chunks. The one
    /// manual of a repository may be a translation.
    fn scripts(&self) -> Result<Scripts, Error> {
        let (store, generation, known) = (self.store(), self.generation(), self.engine().scripts());
        let generations = store.collection(&generation.collection)?.map(|known| known.generations);
        let status = generations.into_iter().flatten().find(|it| it.generation.number == generation.number);
        let Some(status) = status else { return Ok(Scripts::new()) };
        if let Some(scripts) = known.get(generation, status.change) {
            return Ok(scripts);
        }
        let (mut prose, mut all, mut documents_of_prose) = (Scripts::new(), Scripts::new(), 0);
        let sample = self.sample()?;
        for info in &sample {
            let records = store.records(generation, &info.doc_id)?;
            let Some(record) = records.get(records.len() / 2) else { continue };
            let Some(script) = Script::of_record(record) else { continue };
            *all.entry(script).or_default() += u64::from(info.chunks);
            if record.prose_language.is_some() {
                *prose.entry(script).or_default() += u64::from(info.chunks);
                documents_of_prose += 1;
            }
        }
        let scripts = if documents_of_prose * RARE < sample.len() { all } else { prose };
        known.put(generation, status.change, scripts.clone());
        Ok(scripts)
    }

    /// Some documents from all over the collection, of prose where such are near. Documents without chunks, which a store
    /// that was imported lacks, have no part in it where there are few documents: one more or less would choose others.
    fn sample(&self) -> Result<Vec<DocumentInfo>, Error> {
        let page = |skip, limit| {
            let request = DocumentsBehind { skip, limit, ..DocumentsBehind::default() };
            self.store().list_documents(self.generation(), &request)
        };
        let places = |all: usize| (0..SAMPLE.min(all)).map(move |at| at * all / SAMPLE.min(all));
        let mut first = page(0, ALL)?;
        if first.is_more {
            let neighbours = NEIGHBOURS.min(first.total / SAMPLE);
            let pages = places(first.total).map(|at| page(at, neighbours));
            let pages: Vec<ListedDocuments> = pages.collect::<Result<_, _>>()?;
            let is_prose =
                |info: &&DocumentInfo| DocumentKind::of_format(&info.format) == DocumentKind::Prose;
            let chosen =
                pages.iter().map(|page| page.documents.iter().find(is_prose).or(page.documents.first()));
            return Ok(chosen.flatten().cloned().collect());
        }
        first.documents.retain(|info| info.chunks > 0);
        Ok(places(first.documents.len()).map(|at| first.documents[at].clone()).collect())
    }

    /// A notice where the question is in another language than the documents: what was asked in theirs, and what helps where
    /// no model was searched that reads both.
    pub(super) fn notice_of_languages(
        &self,
        request: &SearchRequest,
        answer: &Answer,
    ) -> Result<Option<Notice>, Error> {
        let query = &request.query;
        let generation = self.generation();
        let model = generation.spec.model.as_ref().filter(|_| answer.degraded.is_none());
        let asked_for = answer.translated.and_then(|into| in_words_of(query, into));
        if asked_for.is_none() && (!is_question(query) || self.script_across(query, answer)?.is_none()) {
            return Ok(None);
        }
        let reads_all = model.is_some_and(|model| languages(&model.name) == Languages::All);
        let coverage = if reads_all && answer.hits.iter().any(|hit| hit.dense.is_some()) {
            Coverage::in_progress(self.engine(), &generation.collection)?
        } else {
            Coverage::of(self.engine(), &generation.collection)?
        };
        let what = "the question is in another language than the documents";
        let what = match &asked_for {
            Some(words) => format!("{what}: asked for `{words}` too"),
            None => format!("{what}, and words rarely find answers to such"),
        };
        if request.mode == Mode::Lexical || reads_all && coverage.is_none() {
            return Ok(asked_for.map(|_| Notice::new(NoticeCode::OtherLanguage, what)));
        }
        let mut reading = EMBEDDERS.iter().filter(|info| info.reads == Languages::All);
        let installed = reading.clone().find(|info| self.engine().is_installed(info.name));
        let message = match (coverage, installed, reading.next()) {
            (Some(coverage), ..) if languages(&coverage.model) == Languages::All => {
                format!("{what}; so far, {} % of the chunks have vectors that find more", coverage.percent())
            }
            (_, Some(info), _) => {
                format!(
                    "{what}; vectors of `--embedder {}` find more, which `mcp PATH` adds by itself",
                    info.name
                )
            }
            (_, None, Some(info)) => format!(
                "{what}; `chunkwright models install {}` installs a model whose vectors find more",
                info.name
            ),
            (_, None, None) => return Ok(None),
        };
        Ok(Some(Notice::new(NoticeCode::OtherLanguage, message)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_told_from_names_and_its_script_from_the_letters_it_has() {
        for (query, script, is_one) in [
            ("how are requests routed?", Script::Latin, true),
            ("Router", Script::Latin, false),
            ("数据库 pool 怎么连接", Script::Unspaced, true),
            ("как подключить базу?", Script::Cyrillic, true),
        ] {
            assert_eq!(Script::of(query, 0.6), Some(script), "{query}");
            assert_eq!(is_question(query), is_one, "{query}");
        }
        assert_eq!(Script::of("404 != 500", 0.6), None);
        assert_eq!(Script::of("retry request pause 请求 重试 запрос", 0.6), None);
    }
}
