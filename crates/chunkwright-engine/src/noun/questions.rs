//! Saved questions, which check that searches find what they should.
//!
//! A question and the lines that answer it belong to a collection, not to one of its generations. The same questions
//! are asked of every generation, so that a way of cutting can be judged before searches see it.

use std::collections::BTreeMap;

use chunkwright_index::{SearchError, SearchOptions, check_query};

use crate::core::state_file;
use crate::error::Error;
use crate::noun::collection::Collection;
use crate::request::fetch::FetchRequest;
use crate::request::questions::{
    AskQuestionsRequest, AskedQuestion, AskedQuestions, AskedVersion, ExpectedLines, SaveQuestionRequest,
    SavedQuestion,
};
use crate::request::search::Found;
use crate::request::search::hit::Hit;
use crate::request::search::options::SearchRequest;

/// The name of the file.
const FILE: &str = "questions.json";

/// Maximum number of questions per collection.
const MAX: usize = 1_000;

/// The contents of the file: questions by collection.
type All = BTreeMap<String, Vec<SavedQuestion>>;

impl Collection {
    /// The saved questions, oldest first.
    ///
    /// # Errors
    ///
    /// A collection that does not exist, a store that fails.
    pub fn questions(&self) -> Result<Vec<SavedQuestion>, Error> {
        self.snapshot()?;
        Ok(state_file::read::<All>(self.engine(), FILE).remove(self.name()).unwrap_or_default())
    }

    /// Saves a question.
    ///
    /// # Errors
    ///
    /// A question without text or without an answer, an answer that the collection does not have, too many questions, a file
    /// that cannot be written.
    pub fn save_question(&self, request: &SaveQuestionRequest) -> Result<SavedQuestion, Error> {
        let question = request.question.trim();
        for (field, length) in [("question", question.len()), ("expected", request.expected.len())] {
            if length == 0 {
                return Err(Error::TooSmall { field, value: 0, least: 1 });
            }
        }
        check_query(question).map_err(SearchError::from)?;
        let expected = self.read(|snapshot| {
            let lines = request.expected.iter().map(|reference| {
                let fetched = snapshot.fetch(&FetchRequest::new(reference))?;
                let (start_line, end_line) = (fetched.start_line, fetched.end_line);
                Ok(ExpectedLines { doc_id: fetched.document.doc_id, start_line, end_line })
            });
            lines.collect::<Result<Vec<_>, Error>>()
        })?;
        let created_at = self.engine().now();
        state_file::change(self.engine(), FILE, |all: &mut All| {
            let known = all.entry(self.name().to_owned()).or_default();
            if known.len() >= MAX {
                return Err(Error::TooManyQuestions { collection: self.name().to_owned(), most: MAX });
            }
            let id = known.last().map_or(1, |last| last.id + 1);
            let saved = SavedQuestion { id, question: question.to_owned(), expected, created_at };
            known.push(saved.clone());
            Ok(saved)
        })
    }

    /// Deletes a question.
    ///
    /// # Errors
    ///
    /// A question that is not kept, a file that cannot be written.
    pub fn delete_question(&self, id: u64) -> Result<(), Error> {
        state_file::change(self.engine(), FILE, |all: &mut All| {
            let known = all.get_mut(self.name()).map(|known| (known.len(), known));
            match known {
                Some((before, known)) => {
                    known.retain(|question| question.id != id);
                    if known.len() < before { Ok(()) } else { Err(self.unknown_question(id)) }
                }
                None => Err(self.unknown_question(id)),
            }
        })
    }

    /// Asks the questions of every generation.
    ///
    /// # Errors
    ///
    /// As [`Snapshot::search`](crate::Snapshot::search).
    pub fn ask_questions(&self, request: &AskQuestionsRequest) -> Result<AskedQuestions, Error> {
        let questions = self.questions()?;
        // Checked even if there are no questions, when no search would report it.
        if !(1..=SearchOptions::MAX_TOP_K).contains(&request.k) {
            return Err(SearchError::TopK(request.k).into());
        }
        let mut versions = Vec::new();
        for status in self.generations()?.generations {
            let (generation, state) = (status.generation, status.state);
            let snapshot = self.engine().collection(generation.to_string()).snapshot()?;
            'modes: for &mode in &request.modes {
                let mut asked = AskedVersion {
                    generation: generation.number,
                    state,
                    strategy_version: generation.spec.strategy_version.clone(),
                    mode,
                    recall: 0.0,
                    mrr: 0.0,
                    ndcg: 0.0,
                    questions: Vec::with_capacity(questions.len()),
                };
                for question in &questions {
                    self.engine().check_cancelled()?;
                    let search = SearchRequest {
                        mode,
                        top_k: request.k,
                        min_relevance: Some(0.0),
                        ..SearchRequest::new(&question.question)
                    };
                    let found = match snapshot.search(&search) {
                        Ok(answer) => answer.found,
                        // This generation has no vectors of that kind, so the mode is left out.
                        Err(Error::Search(SearchError::NoDense(_) | SearchError::NoSparse(_))) => {
                            continue 'modes;
                        }
                        Err(error) => return Err(error),
                    };
                    let Found::Hits { hits } = found else { continue };
                    asked.add(question, &hits, request.k, questions.len() as f64);
                }
                versions.push(asked);
            }
        }
        Ok(AskedQuestions { k: request.k, versions })
    }

    /// Gives the questions to the collection `to`, which is this one by its new name.
    pub(crate) fn move_questions(&self, to: &str) -> Result<(), Error> {
        if !state_file::read::<All>(self.engine(), FILE).contains_key(self.name()) {
            return Ok(());
        }
        state_file::change(self.engine(), FILE, |all: &mut All| {
            let questions = all.remove(self.name());
            all.extend(questions.map(|questions| (to.to_owned(), questions)));
            Ok(())
        })
    }

    /// Deletes all questions of a collection that is gone.
    pub(crate) fn forget_questions(&self) -> Result<(), Error> {
        if !state_file::read::<All>(self.engine(), FILE).contains_key(self.name()) {
            return Ok(());
        }
        state_file::change(self.engine(), FILE, |all: &mut All| {
            all.remove(self.name());
            Ok(())
        })
    }

    fn unknown_question(&self, id: u64) -> Error {
        Error::UnknownQuestion { collection: self.name().to_owned(), id }
    }
}

impl AskedVersion {
    /// Adds the result of one question; `all` is the number of questions.
    fn add(&mut self, question: &SavedQuestion, hits: &[Hit], k: usize, all: f64) {
        let touched = first_touched(&question.expected, hits);
        let found: Vec<usize> = touched.iter().flatten().copied().collect();
        let gain = |rank: usize| 1.0 / (rank as f64 + 1.0).log2();
        // One hit may touch two expected places, but gains only once.
        let mut ranks = found.clone();
        ranks.sort_unstable();
        ranks.dedup();
        let best: f64 = (1..=question.expected.len().min(k)).map(gain).sum();
        let rank = ranks.first().copied();
        self.recall += found.len() as f64 / question.expected.len() as f64 / all;
        self.mrr += rank.map_or(0.0, |rank| 1.0 / rank as f64) / all;
        self.ndcg += ranks.into_iter().map(gain).sum::<f64>() / best / all;
        self.questions.push(AskedQuestion { id: question.id, rank });
    }
}

/// The rank of the first hit that touches each of the expected places.
fn first_touched(expected: &[ExpectedLines], hits: &[Hit]) -> Vec<Option<usize>> {
    let touches = |hit: &Hit, place: &ExpectedLines| {
        let record = &hit.record;
        record.doc_id == place.doc_id
            && record.start_line <= place.end_line
            && place.start_line <= record.end_line
    };
    let first = |place| hits.iter().position(|hit| touches(hit, place)).map(|at| at + 1);
    expected.iter().map(first).collect()
}
