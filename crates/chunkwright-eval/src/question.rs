//! Questions whose answers are known, as JSON Lines.
//!
//! One object a line: the question, the document, and where in it the answer stands, in the way that is
//! easiest to write down:
//!
//! ```json
//! {"question": "When may hives be opened?", "doc_id": "en/beekeeping.md", "excerpt": "above 14 degrees"}
//! {"question": "What does a retry cost?", "doc_id": "api.md", "lines": "L10-L20"}
//! {"question": "Which codes may be repeated?", "doc_id": "api.md", "gold": [{"start_byte": 90, "end_byte": 120}, "too_fast"]}
//! ```
//!
//! * `excerpt` is text of the document, exactly, but for the blanks and line breaks between words; it must
//!   occur once. A list of golds may hold excerpts as plain strings.
//! * `lines` are 1-based and inclusive: `L10-L20`, `L10`.
//! * `start_char` and `end_char` count Unicode scalar values, `start_byte` and `end_byte` bytes, both
//!   half-open, of the decoded text.
//! * Golds of several documents name theirs: `{"doc_id": .., ..}`.
//! * `exclude` holds passages, written like golds, that may not be returned: where a question was taken
//!   from the documents, the place it was taken from.
//! * `id` names the question; otherwise it is called by its line.
//!
//! Other fields are the user's own. Also read are `q` for `question`, `file` or `doc` for `doc_id`, and
//! `start` and `end` for characters, as other collections of questions have them.

use chunkwright::{Document, Span};
use chunkwright_index::{QueryError, check_query};
use serde_json::{Map, Value};

use crate::corpus::{Corpus, Passage};

/// A question and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Its name.
    pub id: String,
    /// The text of the question.
    pub text: String,
    /// The passages of the answer; never empty.
    pub gold: Vec<Passage>,
    /// Passages that may not be returned.
    pub exclude: Vec<Passage>,
}

/// The content of a file of questions.
#[derive(Debug, Default)]
pub struct Questions {
    /// Questions that can be asked, in order.
    pub questions: Vec<Question>,
    /// Lines that hold none: their numbers, from 1, and why.
    pub refused: Vec<(usize, QuestionError)>,
}

/// Why a line is not a usable question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// The line is not a JSON object.
    #[error("not a JSON object ({0}); expected {{\"question\": .., \"doc_id\": .., \"excerpt\": ..}}")]
    NoObject(String),
    /// There is no text to ask.
    #[error("the question is missing; `question` must be text")]
    NoQuestion,
    /// The question is too long to be asked.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// A gold belongs to no document.
    #[error("a gold passage names no document; set `doc_id` to its path relative to the given folder")]
    NoDocument,
    /// There is no such document.
    #[error("there is no document `{doc_id}`{}; `doc_id` is the path relative to the given folder", hint(nearest.as_ref()))]
    UnknownDocument {
        /// The id that was given.
        doc_id: String,
        /// The only document whose id ends alike.
        nearest: Option<String>,
    },
    /// There is no answer.
    #[error(
        "it has no gold passage; give `excerpt`, `lines`, `start_char` and `end_char`, or a list of those as `gold`"
    )]
    NoGold,
    /// A gold is written in no known way.
    #[error(
        "a gold passage must be an object with `excerpt`, `lines`, `start_char` and `end_char`, or `start_byte` and `end_byte`"
    )]
    UnknownGold,
    /// A span is outside its document.
    #[error("{what} {start} to {end} are outside `{doc_id}`, which has {len}")]
    OutOfRange {
        /// Characters, bytes or lines.
        what: &'static str,
        /// The first.
        start: u64,
        /// The last, or one past it.
        end: u64,
        /// The length of the document in that unit.
        len: usize,
        /// The document.
        doc_id: String,
    },
    /// A byte offset falls inside a character.
    #[error(
        "bytes {start} to {end} of `{doc_id}` begin or end inside a character; give offsets of whole characters"
    )]
    InsideCharacter {
        /// The first.
        start: u64,
        /// One past the last.
        end: u64,
        /// The document.
        doc_id: String,
    },
    /// `lines` is written in no known way.
    #[error("`lines` is `{0}`; expected a range such as `L10-L20`")]
    Lines(String),
    /// The passage holds no visible character.
    #[error("a gold passage has no visible character")]
    Blank,
    /// The excerpt is not in the document.
    #[error("the excerpt `{excerpt}` is not in `{doc_id}`; copy it exactly")]
    NotThere {
        /// How it begins.
        excerpt: String,
        /// The document.
        doc_id: String,
    },
    /// The excerpt is in the document more than once.
    #[error("the excerpt `{excerpt}` occurs {times} times in `{doc_id}`; make it longer, or give `lines`")]
    Ambiguous {
        /// How it begins.
        excerpt: String,
        /// Number of its occurrences.
        times: usize,
        /// The document.
        doc_id: String,
    },
}

fn hint(nearest: Option<&String>) -> String {
    nearest.map_or_else(String::new, |id| format!(", but `{id}`"))
}

impl Questions {
    /// Reads `jsonl` and looks up every answer in `corpus`. Blank lines are skipped.
    pub fn read(jsonl: &str, corpus: &Corpus) -> Self {
        let mut read = Self::default();
        for (index, line) in jsonl.trim_start_matches('\u{feff}').lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            match question(line, index + 1, corpus) {
                Ok(question) => read.questions.push(question),
                Err(error) => read.refused.push((index + 1, error)),
            }
        }
        read
    }
}

fn question(line: &str, number: usize, corpus: &Corpus) -> Result<Question, QuestionError> {
    let object: Map<String, Value> =
        serde_json::from_str(line).map_err(|error| QuestionError::NoObject(error.to_string()))?;
    let text = text(&object, &["question", "q"]).filter(|text| !text.trim().is_empty());
    let text = text.ok_or(QuestionError::NoQuestion)?.to_owned();
    check_query(&text)?;
    let gold = match object.get("gold") {
        None if is_gold(&object) => vec![passage(&object, &object, corpus)?],
        None => Vec::new(),
        Some(gold) => passages(gold, &object, corpus)?,
    };
    if gold.is_empty() {
        return Err(QuestionError::NoGold);
    }
    let exclude = object.get("exclude").map_or(Ok(Vec::new()), |gold| passages(gold, &object, corpus))?;
    let id = match object.get("id") {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        _ => format!("L{number}"),
    };
    Ok(Question { id, text, gold, exclude })
}

fn text<'a>(object: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| object.get(*name)?.as_str())
}

fn number(object: &Map<String, Value>, names: &[&str]) -> Option<u64> {
    names.iter().find_map(|name| object.get(*name)?.as_u64())
}

const GOLD_FIELDS: &[&str] =
    &["excerpt", "lines", "start_char", "start_byte", "start", "end_char", "end_byte", "end"];

fn is_gold(object: &Map<String, Value>) -> bool {
    GOLD_FIELDS.iter().any(|field| object.contains_key(*field))
}

/// The passages of a list, or the only one.
fn passages(
    golds: &Value,
    question: &Map<String, Value>,
    corpus: &Corpus,
) -> Result<Vec<Passage>, QuestionError> {
    let golds = match golds {
        Value::Array(golds) => golds.as_slice(),
        only => std::slice::from_ref(only),
    };
    let each = |gold: &Value| match gold {
        Value::Object(gold) => passage(gold, question, corpus),
        Value::String(excerpt) => in_document(question, question, corpus)
            .and_then(|document| find_excerpt(excerpt, document, corpus)),
        _ => Err(QuestionError::UnknownGold),
    };
    golds.iter().map(each).collect()
}

/// Position of the document that a gold, or its question, names.
fn in_document(
    gold: &Map<String, Value>,
    question: &Map<String, Value>,
    corpus: &Corpus,
) -> Result<usize, QuestionError> {
    const NAMES: &[&str] = &["doc_id", "file", "doc"];
    let named = text(gold, NAMES).or_else(|| text(question, NAMES));
    let doc_id = named.ok_or(QuestionError::NoDocument)?;
    corpus.find(doc_id).ok_or_else(|| {
        let ends_alike = |id: &&str| {
            let (long, short) = if id.len() > doc_id.len() { (*id, doc_id) } else { (doc_id, *id) };
            long.strip_suffix(short).is_some_and(|before| before.ends_with('/'))
        };
        let mut alike = corpus.documents().iter().map(Document::id).filter(ends_alike);
        let nearest = alike.next().filter(|_| alike.next().is_none()).map(str::to_owned);
        QuestionError::UnknownDocument { doc_id: doc_id.to_owned(), nearest }
    })
}

fn passage(
    gold: &Map<String, Value>,
    question: &Map<String, Value>,
    corpus: &Corpus,
) -> Result<Passage, QuestionError> {
    let document = in_document(gold, question, corpus)?;
    if let Some(excerpt) = text(gold, &["excerpt"]) {
        return find_excerpt(excerpt, document, corpus);
    }
    let source = corpus.documents()[document].source();
    let span = if let Some(lines) = text(gold, &["lines"]) {
        find_lines(lines, document, corpus)?
    } else if let (Some(start), Some(end)) =
        (number(gold, &["start_char", "start"]), number(gold, &["end_char", "end"]))
    {
        let mut ends = source.char_indices().map(|(at, _)| at).chain([source.len()]);
        let first = usize::try_from(start).ok().and_then(|start| ends.nth(start));
        let last = match (first, end.checked_sub(start)) {
            (Some(first), Some(0)) => Some(first),
            (Some(_), Some(more)) => usize::try_from(more - 1).ok().and_then(|more| ends.nth(more)),
            _ => None,
        };
        let (Some(first), Some(last)) = (first, last) else {
            return Err(out_of_range("characters", start, end, source.chars().count(), document, corpus));
        };
        Span::new(first, last)
    } else if let (Some(start), Some(end)) = (number(gold, &["start_byte"]), number(gold, &["end_byte"])) {
        if start > end || end > source.len() as u64 {
            return Err(out_of_range("bytes", start, end, source.len(), document, corpus));
        }
        if !source.is_char_boundary(start as usize) || !source.is_char_boundary(end as usize) {
            let doc_id = corpus.documents()[document].id().to_owned();
            return Err(QuestionError::InsideCharacter { start, end, doc_id });
        }
        Span::new(start as usize, end as usize)
    } else {
        return Err(QuestionError::UnknownGold);
    };
    visible(corpus.passage(document, span))
}

fn visible(passage: Passage) -> Result<Passage, QuestionError> {
    if passage.is_empty() { Err(QuestionError::Blank) } else { Ok(passage) }
}

fn out_of_range(
    what: &'static str,
    start: u64,
    end: u64,
    len: usize,
    document: usize,
    corpus: &Corpus,
) -> QuestionError {
    let doc_id = corpus.documents()[document].id().to_owned();
    QuestionError::OutOfRange { what, start, end, len, doc_id }
}

/// The bytes of `L10-L20`.
fn find_lines(lines: &str, document: usize, corpus: &Corpus) -> Result<Span, QuestionError> {
    let number = |text: &str| text.trim().trim_start_matches(['L', 'l']).parse::<u32>().ok();
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let (Some(first), Some(last)) = (number(first), number(last)) else {
        return Err(QuestionError::Lines(lines.to_owned()));
    };
    let index = corpus.documents()[document].lines();
    if first == 0 || first > last || last as usize > index.count() {
        let (first, last) = (u64::from(first), u64::from(last));
        return Err(out_of_range("lines", first, last, index.count(), document, corpus));
    }
    let source = corpus.documents()[document].source();
    let start = index.start(first as usize) as usize;
    let is_last = last as usize == index.count();
    let end = if is_last { source.len() } else { index.start(last as usize + 1) as usize };
    Ok(Span::new(start, end))
}

/// The position of `excerpt`: exactly, or with other blanks between its words.
fn find_excerpt(excerpt: &str, document: usize, corpus: &Corpus) -> Result<Passage, QuestionError> {
    let excerpt = excerpt.trim();
    if excerpt.is_empty() {
        return Err(QuestionError::Blank);
    }
    let source = corpus.documents()[document].source();
    let exact = |(at, found): (usize, &str)| Span::new(at, at + found.len());
    let mut found: Vec<Span> = source.match_indices(excerpt).map(exact).collect();
    if found.is_empty() {
        found = by_words(source, excerpt);
    }
    let doc_id = || corpus.documents()[document].id().to_owned();
    let begin = || excerpt.chars().take(40).collect();
    match found[..] {
        [span] => visible(corpus.passage(document, span)),
        [] => Err(QuestionError::NotThere { excerpt: begin(), doc_id: doc_id() }),
        _ => Err(QuestionError::Ambiguous { excerpt: begin(), times: found.len(), doc_id: doc_id() }),
    }
}

/// Spans in which the words of `excerpt` follow each other with any blanks between them.
fn by_words(source: &str, excerpt: &str) -> Vec<Span> {
    let words: Vec<&str> = excerpt.split_whitespace().collect();
    let Some((first, rest)) = words.split_first() else { return Vec::new() };
    let from = |(start, _): (usize, &str)| {
        let mut end = start + first.len();
        for word in rest {
            let after = source[end..].trim_start();
            let blanks = source.len() - end - after.len();
            if blanks == 0 || !after.starts_with(word) {
                return None;
            }
            end += blanks + word.len();
        }
        Some(Span::new(start, end))
    };
    source.match_indices(first).filter_map(from).collect()
}

#[cfg(test)]
mod tests {
    use chunkwright::parse::Markdown;

    use super::*;

    fn corpus() -> Corpus {
        let document = |id: &str, text: &str| Document::parse(id, text, &Markdown);
        Corpus::new(vec![
            document("en/a.md", "# Title\n\nOne two\nthree. One more.\n\nLast.\n"),
            document("zh.md", "# 标题\n\n第一句。第二句。\n"),
        ])
    }

    /// The gold texts of a line, or why there are none.
    #[track_caller]
    fn check(line: &str, expected: &str) {
        let corpus = corpus();
        let read = Questions::read(line, &corpus);
        let said = match (read.questions.first(), read.refused.first()) {
            (Some(question), None) => {
                let text = |gold: &Passage| -> String {
                    let source = corpus.documents()[gold.document].source();
                    source.chars().skip(gold.start).take(gold.len()).collect()
                };
                question.gold.iter().map(text).collect::<Vec<_>>().join("|")
            }
            (None, Some((1, error))) => error.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(said, expected, "{line}");
    }

    #[test]
    fn an_answer_is_an_excerpt_lines_characters_or_bytes() {
        check(r#"{"question":"x","doc_id":"en/a.md","excerpt":"One more."}"#, "One more.");
        check(r#"{"question":"x","doc_id":"en/a.md","excerpt":" two three. "}"#, "two\nthree.");
        check(r#"{"question":"x","doc_id":"en/a.md","lines":"L3-L5"}"#, "One two\nthree. One more.");
        check(r#"{"question":"x","file":"en/a.md","lines":"6"}"#, "Last.");
        check(r#"{"q":"x","gold":[{"doc":"zh.md","start":6,"end":10}]}"#, "第一句。");
        check(r#"{"question":"x","doc_id":"zh.md","start_byte":10,"end_byte":22}"#, "第一句。");
        check(r#"{"question":"x","doc_id":"zh.md","start_char":4,"end_char":14}"#, "第一句。第二句。");
    }

    #[test]
    fn an_answer_may_have_several_parts_in_several_documents() {
        check(r#"{"question":"x","doc_id":"zh.md","gold":["第一句。","第二句。"]}"#, "第一句。|第二句。");
        let line = r#"{"question":"x","doc_id":"zh.md","gold":[{"excerpt":"标题"},{"doc_id":"en/a.md","lines":"L6"}]}"#;
        check(line, "标题|Last.");
        check(r#"{"question":"x","doc_id":"zh.md","gold":"标题"}"#, "标题");
    }

    #[test]
    fn what_cannot_be_asked_is_refused_with_what_would_be_right() {
        check(
            r#"{"question":"x","doc_id":"a.md","excerpt":"One"}"#,
            "there is no document `a.md`, but `en/a.md`; `doc_id` is the path relative to the given folder",
        );
        check(
            r#"{"question":"x","doc_id":"nope","excerpt":"One"}"#,
            "there is no document `nope`; `doc_id` is the path relative to the given folder",
        );
        check(
            r#"{"question":"x","doc_id":"en/a.md","excerpt":"One"}"#,
            "the excerpt `One` occurs 2 times in `en/a.md`; make it longer, or give `lines`",
        );
        check(
            r#"{"question":"x","doc_id":"en/a.md","excerpt":"Nine"}"#,
            "the excerpt `Nine` is not in `en/a.md`; copy it exactly",
        );
        check(
            r#"{"question":" ","doc_id":"zh.md","excerpt":"标题"}"#,
            "the question is missing; `question` must be text",
        );
        check(
            r#"{"question":"x","excerpt":"标题"}"#,
            "a gold passage names no document; set `doc_id` to its path relative to the given folder",
        );
        check(
            r#"{"question":"x","doc_id":"zh.md"}"#,
            "it has no gold passage; give `excerpt`, `lines`, `start_char` and `end_char`, or a list of those as `gold`",
        );
        check(
            r#"{"question":"x","doc_id":"zh.md","start_char":4}"#,
            "a gold passage must be an object with `excerpt`, `lines`, `start_char` and `end_char`, or `start_byte` and `end_byte`",
        );
        check(
            r#"{"question":"x","doc_id":"zh.md","start_char":4,"end_char":99}"#,
            "characters 4 to 99 are outside `zh.md`, which has 15",
        );
        check(
            r#"{"question":"x","doc_id":"zh.md","start_char":4,"end_char":2}"#,
            "characters 4 to 2 are outside `zh.md`, which has 15",
        );
        check(
            r#"{"question":"x","doc_id":"zh.md","start_byte":3,"end_byte":10}"#,
            "bytes 3 to 10 of `zh.md` begin or end inside a character; give offsets of whole characters",
        );
        check(
            r#"{"question":"x","doc_id":"zh.md","lines":"ten"}"#,
            "`lines` is `ten`; expected a range such as `L10-L20`",
        );
        check(
            r#"{"question":"x","doc_id":"zh.md","lines":"L3-L9"}"#,
            "lines 3 to 9 are outside `zh.md`, which has 4",
        );
        check(r#"{"question":"x","doc_id":"zh.md","lines":"L2"}"#, "a gold passage has no visible character");
        let read = Questions::read("nonsense\n\n[1]\n", &corpus());
        assert_eq!(read.refused.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 3]);
    }
}
