//! Relevance of a chunk to a query, on one scale for every query.
//!
//! The score of a hit orders the hits of one search and means nothing beyond that: BM25 and the fused score of the best
//! hit are high even for gibberish. Relevance does not depend on other chunks or other queries:
//!
//! ```text
//! relevance = 1 / (1 + exp(-(intercept + cosine_weight * cosine + coverage_weight * coverage)))
//! ```
//!
//! * `cosine` is the dot product of the vectors of the query and the chunk's text, both of length 1;
//! * `coverage` is the share of the query's words that the chunk's text has, in which a function word counts
//!   [`FUNCTION_WORD`] and any other word 1.
//!
//! Unlike BM25, it uses no statistics of the collection: a query and a chunk have the same relevance in every store,
//! beside any other documents, whatever the filter, the fusion and the reranker. Weighting words by their rarity in the
//! collection, instead of a list of function words, separated nonsense from questions less well.
//!
//! Coefficients belong to a model: [`CALIBRATIONS`] is their table. If no vectors were compared, or the model does not
//! read most of the query, they are [`LEXICAL`].
//!
//! Relevance is unknown if vectors of a model outside the table were compared, if only sparse vectors were compared,
//! and for a text in another script than the question where the model reads both: words cannot match there, and the
//! cosines of e5 for answers in another language (0.74 to 0.86 on `xquad-en`) overlap those of nonsense (0.77 to 0.87).
//! A query without a function word does not count as a question (nonsense rarely has one), so it is judged across
//! scripts too.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use chunkwright_store::analysis;
use chunkwright_store::bm25::{TermCounts, TermId, term_id};

/// The coefficients that turn cosine and coverage into a relevance, with the default threshold.
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
    /// Whether the model reads several scripts, so that a text may answer a question in another one.
    pub is_multilingual: bool,
    /// The default least relevance of a hit.
    pub min_relevance: f64,
}

/// The lexical calibration.
pub const LEXICAL: Calibration = Calibration {
    model: None,
    intercept: -4.2,
    cosine_weight: 0.0,
    coverage_weight: 14.5,
    is_multilingual: false,
    min_relevance: 0.15,
};

/// The calibrations of models. Fitted by logistic regression, on one half of the question sets that `eval/relevance.md`
/// names, to separate chunks that contain the answer from the results of nonsense queries; that page has the figures of
/// the other half.
pub const CALIBRATIONS: &[Calibration] = &[
    Calibration {
        model: Some("multilingual-e5-small"),
        intercept: -39.6,
        cosine_weight: 43.4,
        coverage_weight: 12.7,
        is_multilingual: true,
        min_relevance: 0.45,
    },
    Calibration {
        model: Some("wordllama-l2-supercat-256"),
        intercept: -5.2,
        cosine_weight: 5.9,
        coverage_weight: 13.0,
        is_multilingual: false,
        min_relevance: 0.3,
    },
];

/// Weight of a function word in the coverage; any other word counts 1.
pub(super) const FUNCTION_WORD: f64 = 0.1;

/// Words that nearly every text and question has: English, Russian.
const FUNCTION_WORDS: &str = "a about after all also an and any are as at be been before being between but by can could \
    did do does done during each for from had has have he how i if in into is it its many may me might more most much \
    must my no not of on one or our shall she should so some such than that the their them then there these they this \
    those to us use used using was we were what when where which who whom whose why will with would you your \
    а без более бы был была были было быть в вам вас ваш во вот все всех вы где да для до его ее если есть еще же за и \
    из или им их к каждый как какая какие каким каких какого какое какой какому ко когда которая которое которой \
    которого которую которые который которых кто куда ли между мне много может можно мы на над нам нас не него нее нет \
    ни них но ну о об один однако он она они оно от по под почему при про с сколько со так также такой там те тем то \
    того тоже той только том тот ту ты у уже хотя чего чей чем через что чтобы чье чья эта эти этих это этого этой \
    этом этот эту я";

/// Characters of Chinese function words: a pair of characters that contains one counts as a function word.
const FUNCTION_CHARACTERS: &str = "的了是在和与或有也不这那什么怎哪谁何为被把从到对于以及其之吗呢吧着过个们你我他她它您将就都而且但如可能会要用些多少几时";

static FUNCTION_TERMS: LazyLock<HashSet<TermId>> =
    LazyLock::new(|| analysis::terms(FUNCTION_WORDS).iter().map(|term| term_id(term)).collect());

/// The words of a query.
#[derive(Clone, Debug)]
pub struct QueryWords {
    words: Vec<Word>,
    script: Option<Script>,
}

/// Groups of scripts: words can match within a group only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Script {
    Latin,
    Cyrillic,
    /// Written without spaces.
    Unspaced,
    Other,
}

impl Script {
    /// The script of most letters, where a character of an unspaced script counts as three; `None` for a text without
    /// letters.
    fn of(text: &str) -> Option<Self> {
        let mut counts = [(0_u32, Self::Latin), (0, Self::Cyrillic), (0, Self::Unspaced), (0, Self::Other)];
        for letter in text.chars().filter(|c| c.is_alphabetic()) {
            let (at, weight) = match letter {
                '\0'..='\u{024F}' => (0, 1),
                '\u{0400}'..='\u{052F}' => (1, 1),
                c if analysis::is_unspaced(c) => (2, 3),
                _ => (3, 1),
            };
            counts[at].0 += weight;
        }
        counts.into_iter().max().filter(|(count, _)| *count > 0).map(|(_, script)| script)
    }
}

/// A word of a query: a term, or an identifier with its parts, or a pair of characters.
#[derive(Clone, Debug)]
struct Word {
    /// Its place in the query.
    range: Range<usize>,
    /// The term of an identifier as a whole.
    whole: Option<TermId>,
    /// The term, or the terms of an identifier's parts, with their lengths in characters.
    parts: Vec<(TermId, usize)>,
    weight: f64,
}

impl QueryWords {
    /// The words of `query`.
    pub fn of(query: &str) -> Self {
        let mut terms = Vec::new();
        analysis::analyze(query, &mut |term, range| terms.push((term.to_owned(), range)));
        Self::of_terms(query, &terms)
    }

    /// The words of `query`, whose analysis gave these terms.
    pub(super) fn of_terms(query: &str, terms: &[(String, Range<usize>)]) -> Self {
        let mut words: Vec<Word> = Vec::new();
        for (term, range) in terms {
            let range = range.clone();
            let id = term_id(term);
            // A whole identifier comes after its parts, which are the last words.
            if words.last().is_some_and(|last| range.start <= last.range.start) {
                let first = words.partition_point(|word| word.range.start < range.start);
                let mut parts = std::mem::take(&mut words[first].parts);
                parts.extend(words.drain(first..).flat_map(|word| word.parts));
                words.push(Word { range, whole: Some(id), parts, weight: 1.0 });
                continue;
            }
            let is_function =
                FUNCTION_TERMS.contains(&id) || term.chars().any(|c| FUNCTION_CHARACTERS.contains(c));
            let length = query[range.clone()].chars().count();
            let weight = if is_function { FUNCTION_WORD } else { 1.0 };
            words.push(Word { range, whole: None, parts: vec![(id, length)], weight });
        }
        Self { words, script: Script::of(query) }
    }

    /// Returns whether it has function words, as questions do, and `text` is in another script, so that coverage means
    /// nothing.
    pub fn is_question_across(&self, text: &str) -> bool {
        let has_function_word = self.words.iter().any(|word| word.weight < 1.0);
        has_function_word && self.script.zip(Script::of(text)).is_some_and(|(query, text)| query != text)
    }

    /// The share of the words that a text has, from 0 to 1; 0 if the query has no words.
    pub fn coverage(&self, terms: &TermCounts) -> f64 {
        let (mut all, mut had) = (0.0, 0.0);
        for word in &self.words {
            all += word.weight;
            had += word.weight * word.coverage(terms);
        }
        if all > 0.0 { had / all } else { 0.0 }
    }
}

impl Word {
    /// The share of the word that a text has, from 0 to 1. If an identifier is not there as a whole, its parts count by
    /// length, except single letters and digits, which any text has.
    fn coverage(&self, terms: &TermCounts) -> f64 {
        match self.whole {
            Some(whole) if terms.has(whole) => return 1.0,
            None => return f64::from(u8::from(terms.has(self.parts[0].0))),
            Some(_) => {}
        }
        let all: usize = self.parts.iter().map(|(_, length)| length).sum();
        let had = self.parts.iter().filter(|(part, length)| *length > 1 && terms.has(*part));
        had.map(|(_, length)| *length).sum::<usize>() as f64 / all.max(1) as f64
    }
}

impl Calibration {
    /// The calibration of a model by name; `None` if there is none.
    pub fn of_model(name: &str) -> Option<&'static Self> {
        CALIBRATIONS.iter().find(|calibration| calibration.model == Some(name))
    }

    /// The relevance, from 0 to 1, to 3 decimals: every store compares vectors to at least 5.
    pub fn relevance(&self, cosine: f64, coverage: f64) -> f64 {
        let sum = self.intercept + self.cosine_weight * cosine + self.coverage_weight * coverage;
        (1000.0 / (1.0 + (-sum).exp())).round() / 1000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, text: &str, coverage: f64) {
        let found = QueryWords::of(query).coverage(&TermCounts::of(text));
        assert!((found - coverage).abs() < 1e-9, "{query}: {found}, not {coverage}");
    }

    #[test]
    fn the_coverage_is_the_share_of_words_that_a_text_has() {
        check("archive folder", "Unpack the archives.", 0.5);
        check("папки и файлы", "Откройте папку", 1.0 / 2.1);
        check("压缩", "下载压缩包", 1.0);
        check("猫", "黑猫很可爱", 1.0);
        check("", "anything", 0.0);
        check("?!", "anything?!", 0.0);
    }

    #[test]
    fn many_words_are_each_looked_at_once() {
        // A comparison of each word with all earlier ones would take far too long.
        for unit in ["max_size{} ", "word{} ", "字", "Ａ"] {
            let query: String = (0..100_000).map(|number| unit.replace("{}", &number.to_string())).collect();
            assert!(QueryWords::of(&query).coverage(&TermCounts::of("nothing of it")) < 1e-9, "{unit}");
        }
    }

    #[test]
    fn function_words_count_little() {
        check("what is the archive", "an archive", 1.0 / 1.3);
        check("what is the archive", "what is the folder", 0.3 / 1.3);
        check("什么数据", "数据", 1.0 / 1.2);
        check("what is it", "what it is", 1.0);
    }

    #[test]
    fn an_identifier_is_one_word_however_many_parts_it_has() {
        check("maxChunkSize", "set `maxChunkSize`", 1.0);
        check("maxChunkSize", "the chunk", 5.0 / 12.0);
        check("maxChunkSize archive", "the maximum size of an archive", 2.0 / 3.0);
        check("3f9a2c7e", "3 of 9 are a, 2 of 7 are c, f or e", 0.0);
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
            assert_eq!(QueryWords::of(query).is_question_across(text), is_across, "{query}");
        }
    }

    #[test]
    fn every_calibration_grows_with_what_speaks_for_a_chunk() {
        for calibration in CALIBRATIONS.iter().chain([&LEXICAL]) {
            let none = calibration.relevance(0.0, 0.0);
            let all = calibration.relevance(1.0, 1.0);
            assert!((0.0..calibration.min_relevance).contains(&none), "{calibration:?}: {none}");
            assert!(all > 0.9 && all <= 1.0, "{calibration:?}: {all}");
        }
    }
}
