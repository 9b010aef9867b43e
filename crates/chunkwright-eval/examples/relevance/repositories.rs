//! The repositories of the question sets, and the questions that are asked of each.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::Result;

/// Documents that belong together, with the questions that they answer.
pub(crate) struct Repository {
    pub(crate) set: String,
    /// The part of the set: a project, a subject, some articles.
    pub(crate) part: String,
    pub(crate) lang: String,
    /// Whether coefficients are fitted on it, rather than measured.
    pub(crate) is_fitted: bool,
    /// The condition that its documents pass; none if they are the whole collection.
    pub(crate) filter: String,
    pub(crate) questions: Vec<Question>,
}

/// A question, with the places of its answer; none if the repository does not answer it.
#[derive(Clone)]
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) places: Value,
}

impl Question {
    /// Returns whether the passage of a document is at a place of the answer (`gold`), or one that may not be returned
    /// (`exclude`).
    pub(crate) fn has(&self, name: &str, doc_id: &str, (start, end): (u32, u32)) -> bool {
        self.places[name].as_array().into_iter().flatten().any(|place| {
            let at = |name: &str| place[name].as_u64();
            match (place["doc"].as_str(), at("start"), at("end")) {
                (Some(doc), Some(from), Some(to)) => {
                    doc == doc_id && from < u64::from(end) && to > u64::from(start)
                }
                (Some(doc), ..) => doc_id.contains(doc),
                _ => false,
            }
        })
    }

    pub(crate) fn is_answered(&self) -> bool {
        self.places["gold"].as_array().is_some_and(|gold| !gold.is_empty())
    }
}

/// The repositories of the question sets in `data`, and those of `written`, a table: repository, parts of the paths of
/// documents that answer (`|` between them, `-` for a question that it does not answer), question.
pub(crate) fn repositories(data: &Path, written: &Path) -> Result<Vec<Repository>> {
    let mut all = Vec::new();
    let mut sets: Vec<_> = std::fs::read_dir(data)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    sets.sort();
    for path in sets.iter().filter(|path| path.join("questions.jsonl").is_file()) {
        let set = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut parts: BTreeMap<String, Repository> = BTreeMap::new();
        for line in std::fs::read_to_string(path.join("questions.jsonl"))?.lines() {
            let places: Value = serde_json::from_str(line)?;
            let text = |name: &str| places[name].as_str().unwrap_or_default().to_owned();
            let part = part(places["gold"][0]["doc"].as_str().unwrap_or_default());
            let (lang, question) = (text("lang"), text("q"));
            let repository = parts.entry(part.clone()).or_insert_with(|| {
                let (set, filter, questions) = (set.clone(), String::new(), Vec::new());
                Repository { set, part, lang, is_fitted: false, filter, questions }
            });
            repository.questions.push(Question { text: question, places });
        }
        let mut documents: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for doc_id in documents_below(&path.join("docs"))? {
            documents.entry(part(&doc_id)).or_default().push(format!("doc_id={doc_id:?}"));
        }
        let is_divided = documents.len() > 1;
        for mut repository in parts.into_values() {
            repository.is_fitted = all.len() % 2 == 0;
            if is_divided {
                repository.filter = documents.remove(&repository.part).unwrap_or_default().join(" or ");
            }
            all.push(repository);
        }
    }
    let mut parts: BTreeMap<String, Repository> = BTreeMap::new();
    for line in std::fs::read_to_string(written)?.lines() {
        let [part, answers, text] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        let gold = answers.split('|').filter(|answer| *answer != "-").map(|doc| json!({ "doc": doc }));
        let places = json!({ "gold": gold.collect::<Vec<_>>() });
        let repository = parts.entry(part.to_owned()).or_insert_with(|| Repository {
            set: part.to_owned(),
            part: String::new(),
            lang: part.rsplit_once('-').map_or("en", |(_, lang)| lang).to_owned(),
            is_fitted: false,
            filter: String::new(),
            questions: Vec::new(),
        });
        repository.questions.push(Question { text: text.to_owned(), places });
    }
    all.extend(parts.into_values());
    Ok(all)
}

/// The part of its set that a document belongs to: its folder, else ten documents by number, else its own name.
fn part(doc_id: &str) -> String {
    if let Some((folder, _)) = doc_id.split_once('/') {
        return folder.to_owned();
    }
    let digits: String =
        doc_id.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.parse().map_or_else(|_| doc_id.to_owned(), |number: usize| number.div_ceil(10).to_string())
}

fn documents_below(folder: &Path) -> Result<Vec<String>> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(folder)?.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// At most `most` questions of other repositories to ask of `of`, evenly drawn: those of the same set, and those of the
/// same language if it has no other. What is fitted and what is measured share no question.
pub(crate) fn off_topic(all: &[Repository], of: &Repository, most: usize) -> Vec<Question> {
    let others =
        |same_set: bool| -> Vec<&Repository> {
            let others = all.iter().filter(|other| other.is_fitted == of.is_fitted && other.lang == of.lang);
            others
                .filter(|other| {
                    if same_set { other.set == of.set && other.part != of.part } else { other.set != of.set }
                })
                .collect()
        };
    let others =
        [others(true), others(false)].into_iter().find(|others| !others.is_empty()).unwrap_or_default();
    let share = most.div_ceil(others.len().max(1));
    let questions = others.into_iter().flat_map(|other| evenly(&other.questions, share));
    let mut questions: Vec<Question> = questions
        .filter(|question| question.is_answered())
        .map(|question| Question { text: question.text.clone(), places: Value::Null })
        .collect();
    questions.truncate(most);
    questions
}

/// At most `most` of `all`, evenly drawn.
pub(crate) fn evenly<T>(all: &[T], most: usize) -> impl Iterator<Item = &T> {
    all.iter().step_by(all.len().div_ceil(most).max(1))
}
