//! Relevance of a chunk to a query, on one scale for every query.
//!
//! The score of a hit orders the hits of one search and means nothing beyond that: BM25 and the fused score of the best
//! hit are high even for a question about something else. Relevance does not depend on other chunks or other queries:
//!
//! ```text
//! relevance = 1 / (1 + exp(-(intercept + a * cosine + b * coverage + c * evidence)))
//! ```
//!
//! * `cosine` is the dot product of the vectors of the query and the chunk's text, both of length 1;
//! * `coverage` is the share of the query's words that the chunk's text has, each counted by its [`rarity`] in general
//!   language and a function word [`FUNCTION_WORD`];
//! * `evidence` is `ln(1 + sum)` over the words that it has, of the rarity times the BM25 weight in the text: the half
//!   of a long question says more than the half of two words.
//!
//! So the rare words decide: `state` and `lock` are in any program, and a chunk without the `terraform` that was asked
//! for is about something else. It uses no statistics of the collection: a query and a chunk have the same relevance in
//! every store, beside any other documents, whatever the filter, the fusion and the reranker. `eval/relevance.md` has
//! the figures of rarity in the collection, which separates no better.
//!
//! Coefficients belong to a model: [`CALIBRATIONS`] is their table. If no vectors were compared, or the model does not
//! read most of the query, they are [`LEXICAL`]. A hit below [`WEAK`] probably does not answer.
//!
//! Relevance is unknown if vectors of a model outside the table were compared, if only sparse vectors were compared,
//! and for a text whose document is in another script than the question where the model reads both: words cannot match
//! there, and the cosines of e5 for answers in another language (0.74 to 0.86 on `xquad-en`) overlap those of nonsense
//! (0.77 to 0.87). A question that was [translated](crate::SearchOptions::translate) is judged by its forms.
//! A query without a function word does not count as a question (nonsense rarely has one), so it is judged across
//! scripts too.

use std::cell::{Cell, OnceCell};
use std::collections::HashSet;
use std::ops::Range;

use crate::function_words::is_function;
use crate::fuse::Fusion;
use crate::glossary::{Known, place};
use crate::script::Script;
use chunkwright_models::rarity;
use chunkwright_store::analysis::{self, Term, TermKind};
use chunkwright_store::bm25::{TermCounts, TermField, TermId, term_id};

/// The relevance below which a hit probably does not answer the query: of questions and of questions about something
/// else, as many of each, most that end here are about something else.
pub const WEAK: f64 = 0.5;

/// What goes with a model: the coefficients that turn cosine, coverage and evidence into a relevance, and the defaults of
/// searches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// The model's name, as stored beside vectors; `None` for the lexical calibration.
    pub model: Option<&'static str>,
    /// The constant of the sum.
    pub intercept: f64,
    /// The weight of the cosine.
    pub cosine_weight: f64,
    /// The weight of the coverage.
    pub coverage_weight: f64,
    /// The weight of the evidence.
    pub evidence_weight: f64,
    /// Whether the model reads several scripts, so that a text may answer a question in another one.
    pub is_multilingual: bool,
    /// The default least relevance of a hit.
    pub min_relevance: f64,
    /// The default weight of the dense stage in a weighted sum.
    pub dense_weight: f64,
}

/// The lexical calibration.
pub const LEXICAL: Calibration = Calibration {
    model: None,
    intercept: -7.2,
    cosine_weight: 0.0,
    coverage_weight: 7.7,
    evidence_weight: 5.1,
    is_multilingual: false,
    min_relevance: 0.07,
    dense_weight: Fusion::DENSE_WEIGHT,
};

/// The calibrations of models. Fitted by logistic regression, on one half of the repositories that `eval/relevance.md`
/// names, to separate chunks that contain the answer from what questions of other repositories find; that page has the
/// figures of the other half.
pub const CALIBRATIONS: &[Calibration] = &[
    Calibration {
        model: Some("multilingual-e5-small"),
        intercept: -44.9,
        cosine_weight: 48.4,
        coverage_weight: 8.7,
        evidence_weight: 1.9,
        is_multilingual: true,
        min_relevance: 0.12,
        dense_weight: Fusion::DENSE_WEIGHT,
    },
    Calibration {
        model: Some("all-minilm-l6-v2-with-wordllama"),
        intercept: -8.3,
        cosine_weight: 14.2,
        coverage_weight: 7.9,
        evidence_weight: 0.9,
        is_multilingual: false,
        min_relevance: 0.12,
        dense_weight: 0.6,
    },
    Calibration {
        model: Some("wordllama-l2-supercat-256"),
        intercept: -6.6,
        cosine_weight: 0.2,
        coverage_weight: 8.2,
        evidence_weight: 4.2,
        is_multilingual: false,
        min_relevance: 0.08,
        dense_weight: Fusion::DENSE_WEIGHT,
    },
];

/// Rarity of a function word.
const FUNCTION_WORD: f64 = 0.05;

/// The share of an identifier that all its parts make where the text does not have it as a whole.
const PARTS: f64 = 0.3;

/// The share of a word for which the text has one that differs in a letter.
const MISSPELT: f64 = 0.7;

/// The share of a word that a synonym is, enough to show what only synonyms find. At 0.25, one more of nine questions of
/// agents about something else was answered, at 0.5 another.
const SYNONYM: f64 = 0.15;

/// Length of the shortest word that may be misspelt, in letters.
const LEAST_MISSPELT: usize = 5;

/// Number of words of a query that may be misspelt.
const MOST_MISSPELT: usize = 16;

/// The words of a query.
#[derive(Clone, Debug)]
pub struct QueryWords {
    words: Vec<Word>,
    script: Option<Script>,
}

/// A word of a query: a term, or an identifier with its parts, or a pair of characters.
#[derive(Clone, Debug)]
struct Word {
    /// Its place in the query.
    range: Range<usize>,
    /// The terms of an identifier as a whole, of a name with its symbols, of words as one: any of them is the word.
    wholes: Vec<TermId>,
    /// Whether its parts are not the word.
    is_whole: bool,
    /// The share of the word that all its parts make.
    parts_share: f64,
    /// The term, or the terms of an identifier's parts, with their lengths in characters.
    parts: Vec<(TermId, usize)>,
    /// Its letters and digits in lower case, if it is an identifier or may be misspelt.
    letters: String,
    /// The terms of each of its forms in the language of the documents, if it is a word of another one.
    forms: Vec<Vec<TermId>>,
    /// The terms of each of its synonyms.
    synonyms: Vec<Vec<TermId>>,
    /// How rare it is.
    rarity: f64,
    is_function: bool,
}

/// A term of a query, as the analysis gives it.
#[derive(Clone, Debug)]
pub(super) struct QueryTerm {
    pub(super) text: String,
    /// The bytes of the query that it stands for.
    pub(super) range: Range<usize>,
    pub(super) kind: TermKind,
}

impl From<Term<'_>> for QueryTerm {
    fn from(Term { text, range, kind }: Term<'_>) -> Self {
        Self { text: text.to_owned(), range, kind }
    }
}

/// How the words of a query and a text match.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WordMatch {
    /// The share of the words that the text has, by rarity, from 0 to 1; 0 if the query has no words.
    pub coverage: f64,
    /// What those words weigh in the text, from 0.
    pub evidence: f64,
}

/// A text in which words are looked for.
struct Text<'a> {
    /// Unknown if the chunk was not read.
    content: Option<&'a str>,
    /// Whether the content was needed and unknown.
    is_missed: Cell<bool>,
    terms: &'a TermCounts,
    squeezed: OnceCell<String>,
    words: OnceCell<Vec<&'a str>>,
}

impl QueryWords {
    /// The words of `query`.
    pub fn of(query: &str) -> Self {
        let mut terms = Vec::new();
        analysis::analyze(query, &mut |term| terms.push(QueryTerm::from(term)));
        Self::of_terms(query, &terms)
    }

    /// The words of `query`, each once, whose analysis gave these terms.
    pub(super) fn of_terms(query: &str, terms: &[QueryTerm]) -> Self {
        let mut words: Vec<Word> = Vec::new();
        let mut unknown = 0;
        for QueryTerm { text, range, kind } in terms {
            let (range, surface) = (range.clone(), &query[range.clone()]);
            let id = term_id(text);
            if !matches!(kind, TermKind::Word | TermKind::Single) {
                // It comes after its parts, which are the last words.
                let first = words.partition_point(|word| word.range.start < range.start);
                let is_cut = first.checked_sub(1).is_some_and(|before| words[before].range.end > range.start);
                match &mut words[first..] {
                    // `TCP/IP-based` is `TCP/IP` already.
                    _ if is_cut => {}
                    [] => {}
                    [only]
                        if only.range == range
                            && (*kind == TermKind::Joined || *kind == TermKind::Marked) =>
                    {
                        only.wholes.push(id);
                    }
                    _ => {
                        let mut wholes = vec![id];
                        let mut parts = Vec::new();
                        let own = words[first..].iter().map(|word| word.rarity).sum();
                        for word in words.drain(first..) {
                            parts.extend(word.parts);
                            wholes.extend(word.wholes.into_iter().filter(|_| word.range == range));
                        }
                        // `time out` is also one word, and `Config.parse` a qualified name; `TimeOut` is only one.
                        let is_two = surface.contains([' ', '.']) && surface.starts_with(char::is_alphabetic);
                        let (parts_share, rarity) =
                            if is_two { (1.0, own) } else { (PARTS, rarity(surface)) };
                        let letters = squeezed(surface);
                        words.push(Word {
                            is_whole: true,
                            parts_share,
                            range,
                            wholes,
                            parts,
                            letters,
                            forms: Vec::new(),
                            synonyms: Vec::new(),
                            rarity,
                            is_function: false,
                        });
                    }
                }
                continue;
            }
            let is_function = is_function(text, id);
            let (length, own) = (surface.chars().count(), rarity(surface));
            let letters = if own >= 1.0 && length >= LEAST_MISSPELT && unknown < MOST_MISSPELT {
                unknown += 1;
                squeezed(surface)
            } else {
                String::new()
            };
            let rarity = if is_function { FUNCTION_WORD } else { own.min(rarity(text)) };
            let (wholes, parts) = (Vec::new(), vec![(id, length)]);
            words.push(Word {
                is_whole: false,
                parts_share: 0.0,
                range,
                wholes,
                parts,
                letters,
                forms: Vec::new(),
                synonyms: Vec::new(),
                rarity,
                is_function,
            });
        }
        let mut seen = HashSet::new();
        words.retain(|word| seen.insert(*word.wholes.first().unwrap_or(&word.parts[0].0)));
        Self { words, script: Script::of(query, 0.0) }
    }

    /// Looks for words that are known in another language by their forms in it as well. What is left of a question
    /// without spaces counts as words of two characters, which do not overlap.
    pub(super) fn translate(&mut self, known: &[Known]) {
        // It is compared with texts in their language.
        self.script = None;
        let mut own: Vec<Vec<TermId>> = vec![Vec::new(); known.len()];
        let mut end = 0;
        self.words.retain(|word| {
            if let Some(at) = place(known, &word.range) {
                own[at].extend(word.parts.iter().map(|(term, _)| *term));
                return false;
            }
            let is_apart = word.is_function || word.range.start >= end;
            if is_apart && !word.is_function {
                end = word.range.end;
            }
            is_apart
        });
        self.words.extend(known.iter().zip(own).map(|(it, own)| {
            let ids = it.forms.iter().map(|form| ids_of(form));
            Word {
                is_whole: false,
                parts_share: 0.0,
                range: it.range.clone(),
                wholes: Vec::new(),
                parts: Vec::new(),
                letters: String::new(),
                forms: ids.chain([own]).filter(|form: &Vec<TermId>| !form.is_empty()).collect(),
                synonyms: Vec::new(),
                rarity: analysis::terms(it.forms[0]).iter().map(|term| rarity(term)).sum(),
                is_function: false,
            }
        }));
    }

    /// Looks for words by their synonyms as well.
    pub(super) fn add_synonyms(&mut self, known: &[Known]) {
        for word in self.words.iter_mut().filter(|word| !word.is_whole && !word.is_function) {
            if let Some(at) = place(known, &word.range) {
                word.synonyms = known[at].forms.iter().map(|form| ids_of(form)).collect();
            }
        }
    }

    /// Returns whether it has function words, as questions do.
    pub(super) fn is_question(&self) -> bool {
        self.words.iter().any(|word| word.is_function)
    }

    /// Returns whether it is a question, and `text` is in another script, so that coverage means nothing.
    pub fn is_question_across(&self, text: Option<Script>) -> bool {
        self.is_question() && self.script.zip(text).is_some_and(|(query, text)| query != text)
    }

    /// The terms that tell which words a text has, in the order of ids.
    pub(super) fn terms(&self) -> Vec<TermId> {
        let of_word = |word: &Word| {
            let parts = word.parts.iter().map(|(part, _)| *part);
            let others = word.forms.iter().chain(&word.synonyms).flatten();
            parts.chain(word.wholes.iter().chain(others).copied()).collect::<Vec<_>>()
        };
        let all = self.words.iter().flat_map(of_word);
        let mut terms: Vec<TermId> = all.flat_map(|term| [term, TermField::File.id(term)]).collect();
        terms.sort_unstable();
        terms.dedup();
        terms
    }

    /// How the words and a text match that is found by `terms`.
    pub fn matched(&self, text: &str, terms: &TermCounts) -> WordMatch {
        self.matched_in(&Text::of(Some(text), terms))
    }

    /// How the words and a text match that is found by `terms`; `None` if only the text tells it.
    pub(super) fn matched_by(&self, terms: &TermCounts) -> Option<WordMatch> {
        let text = Text::of(None, terms);
        let matched = self.matched_in(&text);
        (!text.is_missed.get()).then_some(matched)
    }

    fn matched_in(&self, text: &Text<'_>) -> WordMatch {
        let (mut all, mut had, mut weight) = (0.0, 0.0, 0.0);
        for word in &self.words {
            let (share, count) = word.found_in(text);
            all += word.rarity;
            had += word.rarity * share;
            weight += word.rarity * share * text.terms.weight(count);
        }
        let coverage = if all > 0.0 { had / all } else { 0.0 };
        WordMatch { coverage, evidence: weight.ln_1p() }
    }
}

impl Word {
    /// The share of the word that a text has, from 0 to 1, and how often.
    fn found_in(&self, text: &Text<'_>) -> (f64, u32) {
        if !self.forms.is_empty() {
            return text.best_share_of(&self.forms);
        }
        let is_one = !self.is_whole;
        let own = self.parts.first().filter(|_| is_one).map(|(part, _)| part);
        let count =
            own.into_iter().chain(&self.wholes).map(|term| text.terms.count(*term)).max().unwrap_or(0);
        if count > 0 {
            return (1.0, count);
        }
        if is_one {
            let is_misspelt = !self.letters.is_empty() && text.has_like(&self.letters);
            if is_misspelt {
                return (MISSPELT, 1);
            }
            let (share, count) = text.best_share_of(&self.synonyms);
            return (SYNONYM * share, count);
        }
        // Parts count by length, except single letters and digits, which any text has.
        let all: usize = self.parts.iter().map(|(_, length)| length).sum();
        let had = self.parts.iter().filter(|(part, length)| *length > 1 && text.terms.has(*part));
        let had = had.map(|(_, length)| *length).sum::<usize>();
        if had == all && text.has_squeezed(&self.letters) {
            return (1.0, 1);
        }
        (self.parts_share * had as f64 / all.max(1) as f64, 1)
    }
}

impl<'a> Text<'a> {
    fn of(content: Option<&'a str>, terms: &'a TermCounts) -> Self {
        let (squeezed, words) = (OnceCell::new(), OnceCell::new());
        Self { content, is_missed: Cell::new(false), terms, squeezed, words }
    }

    /// The content, or nothing of what is missed.
    fn content(&self) -> &'a str {
        self.is_missed.set(self.is_missed.get() || self.content.is_none());
        self.content.unwrap_or_default()
    }

    /// The share of some terms that is there, and how often the rarest of them is.
    fn share_of(&self, terms: &[TermId]) -> (f64, u32) {
        let counts = || terms.iter().map(|term| self.terms.count(*term)).filter(|count| *count > 0);
        (counts().count() as f64 / terms.len() as f64, counts().min().unwrap_or(0))
    }

    /// The same of the one of these that most is there of.
    fn best_share_of(&self, forms: &[Vec<TermId>]) -> (f64, u32) {
        forms.iter().map(|form| self.share_of(form)).fold((0.0, 0), |a, b| if b > a { b } else { a })
    }

    /// Returns whether an identifier is there, however its parts are joined: `parseHeader` as `parse_header`.
    fn has_squeezed(&self, letters: &str) -> bool {
        self.squeezed.get_or_init(|| squeezed(self.content())).contains(letters)
    }

    /// Returns whether a word is there that differs in one letter, or in the order of two.
    fn has_like(&self, letters: &str) -> bool {
        let words = || {
            let words = self.content().split(|c: char| !is_of_word(c));
            words.filter(|word| word.len() >= LEAST_MISSPELT - 1).collect()
        };
        let mut words = self.words.get_or_init(words).iter();
        words.any(|word| may_be_like(letters, word) && is_misspelt(letters, &word.to_lowercase()))
    }
}

/// The ids of the terms of a word or several.
fn ids_of(form: &str) -> Vec<TermId> {
    analysis::terms(form).iter().map(|term| term_id(term)).collect()
}

/// The letters and digits of a text, in lower case.
fn squeezed(text: &str) -> String {
    let mut letters = String::with_capacity(text.len());
    for c in text.chars().filter(|c| is_of_word(*c)) {
        if c.is_ascii() {
            letters.push(c.to_ascii_lowercase());
        } else {
            letters.extend(c.to_lowercase());
        }
    }
    letters
}

/// Whether a character is a letter or a digit. Most are told without a look into Unicode's tables, which took a tenth of a
/// search.
fn is_of_word(c: char) -> bool {
    match c {
        '\0'..='\x7f' => c.is_ascii_alphanumeric(),
        'А'..='я' | '一'..='\u{9fff}' => true,
        _ => c.is_alphanumeric(),
    }
}

/// Returns whether a word is as long as `letters` and begins or ends as they do, whatever its case, as one does that
/// differs in one letter. Most words are told apart by it.
fn may_be_like(letters: &str, word: &str) -> bool {
    let same = |a: Option<char>, b: Option<char>| {
        a.zip(b).is_some_and(|(a, b)| match b {
            '\0'..='\x7f' => a == b.to_ascii_lowercase(),
            'а'..='я' | '一'..='\u{9fff}' => a == b,
            _ => b.to_lowercase().any(|b| a == b),
        })
    };
    let is_as_long = letters.len().abs_diff(word.len()) <= 1 || !letters.is_ascii() || !word.is_ascii();
    is_as_long
        && (same(letters.chars().next(), word.chars().next())
            || same(letters.chars().next_back(), word.chars().next_back()))
}

/// Returns whether two words differ in at most one letter, or in the order of two neighbours.
fn is_misspelt(a: &str, b: &str) -> bool {
    if a.len().abs_diff(b.len()) > char::MAX.len_utf8() {
        return false;
    }
    let same = |pairs: &mut dyn Iterator<Item = (char, char)>| -> usize {
        pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
    };
    let start = same(&mut a.chars().zip(b.chars()));
    let (a, b) = (&a[start..], &b[start..]);
    let end = same(&mut a.chars().rev().zip(b.chars().rev()));
    let (mut a, mut b) = (a[..a.len() - end].chars(), b[..b.len() - end].chars());
    match ([a.next(), a.next(), a.next()], [b.next(), b.next(), b.next()]) {
        ([_, None, None], [_, None, None]) => true,
        ([Some(a), Some(b), None], [Some(c), Some(d), None]) => (a, b) == (d, c),
        _ => false,
    }
}

impl Calibration {
    /// The calibration of a model by name; `None` if there is none.
    pub fn of_model(name: &str) -> Option<&'static Self> {
        CALIBRATIONS.iter().find(|calibration| calibration.model == Some(name))
    }

    /// The relevance, from 0 to 1, to 3 decimals: every store compares vectors to at least 5.
    pub fn relevance(&self, cosine: f64, WordMatch { coverage, evidence }: WordMatch) -> f64 {
        let words = self.coverage_weight * coverage + self.evidence_weight * evidence;
        let sum = self.intercept + self.cosine_weight * cosine + words;
        (1000.0 / (1.0 + (-sum).exp())).round() / 1000.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(query: &str, text: &str, coverage: f64) {
        let found = QueryWords::of(query).matched(text, &TermCounts::of(text)).coverage;
        assert!((found - coverage).abs() < 1e-9, "{query}: {found}, not {coverage}");
    }

    #[test]
    fn the_coverage_is_the_share_of_words_that_a_text_has() {
        let [archive, folder] = ["archive", "folder"].map(rarity);
        check("archive folder", "Unpack the archives.", archive / (archive + folder));
        check("archive archive folder", "Unpack the archives.", archive / (archive + folder));
        check("压缩", "下载压缩包", 1.0);
        check("猫", "黑猫很可爱", 1.0);
        check("", "anything", 0.0);
        check("?!", "anything?!", 0.0);
    }

    #[test]
    fn a_character_of_a_word_is_one_of_unicode() {
        for c in ('\0'..='\u{2ffff}').filter(|c| !('\u{9ffd}'..='\u{9fff}').contains(c)) {
            assert_eq!(is_of_word(c), c.is_alphanumeric(), "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn a_misspelt_word_has_an_end_of_the_right_one(letters in "[a-zаб]{5,9}", at in 0_usize..9, new in "[a-zаб]?") {
            let mut word: Vec<char> = letters.chars().collect();
            let at = at % (word.len() - 1);
            let mut swapped = word.clone();
            swapped.swap(at, at + 1);
            word.splice(at..=at, new.chars());
            for word in [word, swapped] {
                let word: String = word.iter().collect();
                prop_assert!(is_misspelt(&letters, &word));
                prop_assert!(may_be_like(&letters, &word) && may_be_like(&letters, &word.to_uppercase()));
            }
        }
    }

    #[test]
    fn many_words_are_each_looked_at_once() {
        // A comparison of each word with all earlier ones would take far too long.
        for unit in ["max_size{} ", "word{} ", "字", "Ａ"] {
            let query: String = (0..100_000).map(|number| unit.replace("{}", &number.to_string())).collect();
            let text = "nothing of it";
            assert!(QueryWords::of(&query).matched(text, &TermCounts::of(text)).coverage < 1e-9, "{unit}");
        }
    }

    #[test]
    fn function_words_count_little() {
        let archive = rarity("archive");
        check("what is the archive", "an archive", archive / (archive + 0.15));
        check("what is the archive", "what is the folder", 0.15 / (archive + 0.15));
        // A word is as common as its stem.
        check("папки и файлы", "и", 0.05 / (0.05 + rarity("папк") + rarity("файл")));
        check("什么数据", "数据", rarity("数据") / (rarity("数据") + 0.1));
        check("what is it", "what it is", 1.0);
    }

    #[test]
    fn an_identifier_is_one_word_however_many_parts_it_has() {
        check("maxChunkSize", "set `maxChunkSize`", 1.0);
        check("maxChunkSize", "the chunk", PARTS * 5.0 / 12.0);
        check("maxChunkSize", "the size of the largest chunk at most, or the max of it", PARTS);
        check("maxChunkSize", "set max_chunk_size, or --max-chunk-size", 1.0);
        check("3f9a2c7e", "3 of 9 are a, 2 of 7 are c, f or e", 0.0);
    }

    #[test]
    fn a_word_is_the_same_with_hyphens_marks_and_blanks() {
        for (query, text) in [
            ("email", "an e-mail"),
            ("e-mail", "an email"),
            ("time out", "a timeout"),
            ("timeout", "a time out"),
            ("time out", "the time is out"),
            ("zurich", "in Zürich"),
            ("Zürich", "in Zurich"),
            ("10,000 rows", "10 000 rows"),
            ("C++", "the C++ guide"),
            ("--no-cache", "the no-cache header"),
        ] {
            check(query, text, 1.0);
        }
        check("C++", "the C guide", 0.0);
    }

    #[test]
    fn a_word_that_is_in_no_vocabulary_may_be_misspelt() {
        for (query, text, share) in [
            ("Kafak", "Apache Kafka", MISSPELT),
            ("mesages", "send messages", MISSPELT),
            ("konfigure", "configure it", MISSPELT),
            ("конфигурацяи", "файл конфигурации", MISSPELT),
            ("zoomba", "the zoo", 0.0),
            // It is a word of its own.
            ("docker", "a locker", 0.0),
        ] {
            check(query, text, share);
        }
    }

    #[test]
    fn an_identifier_is_relevant_where_it_is_and_not_where_only_its_parts_are() {
        let relevance = |query: &str, text: &str| {
            LEXICAL.relevance(0.0, QueryWords::of(query).matched(text, &TermCounts::of(text)))
        };
        let filler = "other words that stand around it and make the text as long as a chunk is ".repeat(15);
        for (query, text) in [
            ("url_for", "def url_for(endpoint): return build(endpoint)"),
            ("Router", "a Router for requests"),
            ("IntoResponse", "impl IntoResponse for Html"),
            ("state", "the state of the handler"),
        ] {
            let text = format!("{text}. {filler}");
            assert!(relevance(query, &text) > WEAK, "{query}: {}", relevance(query, &text));
            let absent = format!("{query}_frobnicate");
            assert!(
                relevance(&absent, &text) < LEXICAL.min_relevance,
                "{absent}: {}",
                relevance(&absent, &text)
            );
        }
        let (parts, whole) = ("attach the handler to a route", "attach_handler");
        assert!(relevance(whole, parts) < LEXICAL.min_relevance, "{}", relevance(whole, parts));
    }

    #[test]
    fn a_question_about_something_else_is_weak_although_its_common_words_are_there() {
        let text =
            "Share the state of handlers: wrap it in a lock, and lock it before each access to the state.";
        let relevance =
            |query: &str| LEXICAL.relevance(0.0, QueryWords::of(query).matched(text, &TermCounts::of(text)));
        assert!(relevance("terraform state locking") < WEAK, "{}", relevance("terraform state locking"));
        assert!(relevance("lock the state of a handler") > 0.9);
    }

    #[test]
    fn a_question_about_a_text_in_another_script_is_told_by_letters_and_function_words() {
        for (query, text, is_across) in [
            ("how to configure the database", "启动之前必须先配置数据库连接", true),
            ("how to configure the database", "用 FastAPI 启动之前必须先配置数据库连接", true),
            ("как настроить", "how to configure", true),
            ("怎么配置数据库", "how to configure the database", true),
            ("wuzzle frobnicate", "启动之前必须先配置数据库连接", false),
            ("数据库", "启动之前必须先配置 database", false),
            ("how", "how", false),
            ("42", "数据库", false),
        ] {
            assert_eq!(QueryWords::of(query).is_question_across(Script::of(text, 0.0)), is_across, "{query}");
        }
    }

    #[test]
    fn every_calibration_grows_with_what_speaks_for_a_chunk() {
        for calibration in CALIBRATIONS.iter().chain([&LEXICAL]) {
            let none = calibration.relevance(0.0, WordMatch::default());
            let all = calibration.relevance(1.0, WordMatch { coverage: 1.0, evidence: 1.0 });
            assert!((0.0..calibration.min_relevance).contains(&none), "{calibration:?}: {none}");
            assert!(all > 0.9 && all <= 1.0, "{calibration:?}: {all}");
        }
    }
}
