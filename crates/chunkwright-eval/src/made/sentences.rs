//! Questions from prose: some words of a passage, and some from elsewhere.
//!
//! People rarely know the very words of what they look for. A question of the sets in `eval/sets.md` has 8 to 15 telling
//! words on average, of which 37 to 57 of 100 are in the answer, 5 to 15 within 300 characters of it, and the others
//! anywhere. Here it has words of the passage, of the sentences beside it and of any others in about these shares.
//!
//! The answer has to be as long as people's are. A single short sentence is found best by the smallest chunks, whatever
//! people ask; with passages from [`LEAST_PASSAGE`] on, rankings agree with those by people's questions.

use std::collections::{HashMap, HashSet};

use chunkwright::{BlockKind, Span};
use chunkwright_index::analysis::terms;
use unicode_segmentation::UnicodeSegmentation;

use super::Draft;
use crate::bootstrap::Rng;
use crate::corpus::Corpus;
use crate::question::Question;

/// Shortest passage that is asked for, in bytes: two or three sentences, fewer characters in Chinese.
const LEAST_PASSAGE: usize = 250;

/// Words of a question at most: some that are drawn are not there.
const WORDS: usize = 8;

/// Of so many words drawn...
const PARTS: usize = 4;

/// ... this many are of the passage,
const OF_PASSAGE: usize = 2;

/// and this many of sentences beside it.
const OF_NEIGHBOURS: usize = 1;

/// Sentences on each side of a passage that count as neighbours.
const REACH: usize = 2;

/// A word that more than one of so many sentences have tells nothing.
const COMMON: usize = 10;

/// Fewest telling words of a passage that is asked for.
const LEAST_TELLING: usize = 4;

/// A sentence of a paragraph.
struct Sentence<'a> {
    document: usize,
    /// Position of the paragraph among the blocks of its document.
    block: usize,
    span: Span,
    words: Vec<Word<'a>>,
}

/// A word, or of scripts without blanks a pair of characters.
struct Word<'a> {
    text: &'a str,
    start: usize,
    terms: Vec<String>,
}

/// At most `count` questions drawn by `seed` from the paragraphs of `corpus`.
pub(super) fn drafts(corpus: &Corpus, count: usize, seed: u64) -> Vec<Draft> {
    // Sentences of a paragraph may go over its lines, at which segmentation would end them.
    let flat = |source: &str| source.replace(['\n', '\r', '\t'], " ");
    let flat: Vec<String> = corpus.documents().iter().map(|document| flat(document.source())).collect();
    let sentences = sentences(corpus, &flat);
    let telling = telling(&sentences);
    let passages = passages(&sentences, &telling);
    let mut rng = Rng::new(seed);
    let drawn = rng.sample(passages.len(), count);
    let mut drafts = Vec::with_capacity(drawn.len());
    for &(first, last) in drawn.iter().map(|&at| &passages[at]) {
        let document = sentences[first].document;
        let span = Span { start: sentences[first].span.start, end: sentences[last].span.end };
        let line = corpus.documents()[document].lines().line(span.start);
        let question = Question {
            id: format!("{}#L{line}", corpus.documents()[document].id()),
            text: asked(&sentences, &telling, (first, last), &mut rng),
            gold: vec![corpus.passage(document, span)],
            exclude: Vec::new(),
        };
        drafts.push(Draft { question, hides: None });
    }
    drafts
}

/// The sentences of all paragraphs that are not comments of source code. `flat` are the sources on one line.
fn sentences<'a>(corpus: &Corpus, flat: &'a [String]) -> Vec<Sentence<'a>> {
    let mut sentences = Vec::new();
    for (at, document) in corpus.documents().iter().enumerate().filter(|(_, it)| it.language().is_none()) {
        for (number, block) in document.blocks().iter().enumerate() {
            if block.kind != BlockKind::Paragraph {
                continue;
            }
            let text = block.span.of(&flat[at]);
            for (start, sentence) in text.split_sentence_bound_indices() {
                let words = words(sentence);
                if !words.is_empty() {
                    let start = block.span.start as usize + start;
                    let span = Span::new(start, start + sentence.trim_end().len());
                    sentences.push(Sentence { document: at, block: number, span, words });
                }
            }
        }
    }
    sentences
}

/// The words of a sentence.
fn words(sentence: &str) -> Vec<Word<'_>> {
    let mut words: Vec<Word<'_>> = Vec::new();
    for (start, text) in sentence.unicode_word_indices() {
        match words.last_mut() {
            Some(last) if last.start + last.text.len() == start && is_wide(text) && is_single(last.text) => {
                last.text = &sentence[last.start..start + text.len()];
            }
            _ => words.push(Word { text, start, terms: Vec::new() }),
        }
    }
    for word in &mut words {
        word.terms = terms(word.text);
    }
    words.retain(|word| !word.terms.is_empty());
    words
}

/// Whether each character of `text` counts as a word.
fn is_wide(text: &str) -> bool {
    text.chars().all(|c| matches!(u32::from(c), 0x2e80..=0x9fff | 0xac00..=0xd7af | 0x20000..=0x3ffff))
}

fn is_single(text: &str) -> bool {
    is_wide(text) && text.chars().nth(1).is_none()
}

/// For each sentence, the words that few others have.
fn telling(sentences: &[Sentence<'_>]) -> Vec<Vec<usize>> {
    let mut frequency: HashMap<&str, usize> = HashMap::new();
    for sentence in sentences {
        let terms: HashSet<&String> = sentence.words.iter().flat_map(|word| &word.terms).collect();
        for term in terms {
            *frequency.entry(term).or_default() += 1;
        }
    }
    let most = (sentences.len() / COMMON).max(1);
    let is_telling = |word: &Word<'_>| word.terms.iter().any(|term| frequency[term.as_str()] <= most);
    let of = |sentence: &Sentence<'_>| {
        let words = sentence.words.iter().enumerate();
        words.filter(|(_, word)| is_telling(word)).map(|(at, _)| at).collect()
    };
    sentences.iter().map(of).collect()
}

/// Stretches of sentences of one paragraph that are long enough, each by its first and last one.
fn passages(sentences: &[Sentence<'_>], telling: &[Vec<usize>]) -> Vec<(usize, usize)> {
    let place = |at: usize| sentences.get(at).map(|it| (it.document, it.block));
    let length =
        |first: usize, last: usize| (sentences[last].span.end - sentences[first].span.start) as usize;
    let mut passages = Vec::new();
    for first in 0..sentences.len() {
        let mut last = first;
        while length(first, last) < LEAST_PASSAGE && place(last + 1) == place(first) {
            last += 1;
        }
        let words: usize = telling[first..=last].iter().map(Vec::len).sum();
        if length(first, last) >= LEAST_PASSAGE && words >= LEAST_TELLING {
            passages.push((first, last));
        }
    }
    passages
}

/// The words that ask for a passage, in the order in which they stand.
fn asked(
    sentences: &[Sentence<'_>],
    telling: &[Vec<usize>],
    (first, last): (usize, usize),
    rng: &mut Rng,
) -> String {
    let place = |sentence: usize| telling[sentence].iter().map(move |&word| (sentence, word));
    let mut own: Vec<(usize, usize)> = (first..=last).flat_map(place).collect();
    let is_beside = |at: &usize| sentences[*at].document == sentences[first].document;
    let before = (first.saturating_sub(REACH)..first).filter(is_beside);
    let after = (last + 1..(last + 1 + REACH).min(sentences.len())).filter(is_beside);
    let beside: Vec<(usize, usize)> = before.chain(after).flat_map(place).collect();
    let mut drawn: Vec<(usize, usize)> = Vec::new();
    for number in 0..WORDS {
        match rng.below(PARTS) {
            // One at least is of the passage.
            part if part < OF_PASSAGE || number == 0 => {
                if !own.is_empty() {
                    drawn.push(own.swap_remove(rng.below(own.len())));
                }
            }
            part if part < OF_PASSAGE + OF_NEIGHBOURS => {
                drawn.extend(beside.get(rng.below(beside.len())));
            }
            _ => {
                let sentence = rng.below(sentences.len());
                let words = &telling[sentence];
                drawn.extend(words.get(rng.below(words.len())).map(|&word| (sentence, word)));
            }
        }
    }
    drawn.sort_unstable();
    drawn.dedup();
    drawn
        .into_iter()
        .map(|(sentence, word)| sentences[sentence].words[word].text)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use chunkwright::Document;
    use chunkwright::parse::Markdown;

    use super::*;

    fn corpus(texts: &[&str]) -> Corpus {
        let parse = |(at, text): (usize, &&str)| Document::parse(format!("{at}.md"), *text, &Markdown);
        Corpus::new(texts.iter().enumerate().map(parse).collect())
    }

    const PROSE: &str = "# Bees\n\nHives are opened above fourteen degrees. Below that brood\nfreezes within minutes. A keeper waits for a calm afternoon, looks at the entrance and listens. Nothing is gained by opening a hive in wind. Smoke calms the guards, which stand near the entrance and smell of bananas.\n\nShort.\n";

    #[test]
    fn a_passage_is_asked_for_by_some_of_its_words_and_no_question_is_a_sentence() {
        let corpus = corpus(&[PROSE]);
        let drafts = drafts(&corpus, 10, 0);
        assert!(!drafts.is_empty());
        for draft in &drafts {
            let gold = draft.question.gold[0];
            let text: String = PROSE.chars().skip(gold.start).take(gold.len()).collect();
            assert!(text.len() >= LEAST_PASSAGE, "{text}");
            let words: Vec<&str> = draft.question.text.split(' ').collect();
            assert!(words.len() <= WORDS && words.iter().any(|word| text.contains(word)), "{words:?}");
            assert!(!PROSE.contains(&draft.question.text), "{words:?}");
        }
        let again = super::drafts(&corpus, 10, 0);
        assert!(drafts.iter().zip(&again).all(|(a, b)| a.question == b.question));
    }

    #[test]
    fn chinese_is_asked_for_by_pairs_of_characters() {
        let words: Vec<&str> = words("蜂箱在十四度以上打开 now").iter().map(|word| word.text).collect();
        assert_eq!(words, ["蜂箱", "在十", "四度", "以上", "打开", "now"]);
    }

    #[test]
    fn short_paragraphs_and_listings_ask_nothing() {
        let code = format!("```\n{}\n```\n\nShort text. Another.\n", PROSE.replace('\n', " "));
        assert!(drafts(&corpus(&[&code]), 10, 0).is_empty());
    }
}
