//! Questions generated from documents, for corpora that have no written ones.
//!
//! The documents do not contain people's questions, but they contain similar text. Each [`Origin`] is a kind of such
//! text, with a bias of its own:
//!
//! * A **link** stands in a sentence by a person who wanted the reader to see its target. The sentence is the question,
//!   the section that the link leads to is the answer, and the paragraph of the link may not be returned.
//! * A **symbol** of source code is asked for by its documentation, which is hidden meanwhile.
//! * A passage of a few **sentences** is asked for by some of its words, some from beside it and some that have nothing to
//!   do with it.
//! * A **title** is asked of the section under it, and hidden.
//!
//! The example `agreement` measures how far rankings by made questions agree with those by questions that people wrote;
//! the results are in `eval/agreement.md`. They decide which origins are preferred: for prose links, then sentences;
//! for code symbols; and titles if there is nothing else.

mod hidden;
mod links;
mod sentences;
mod symbols;
mod titles;

use std::collections::HashSet;

use chunkwright::{Document, SectionId, SectionKind, Span};
use chunkwright_index::check_query;
use serde::{Deserialize, Serialize};

pub use hidden::Hidden;

use crate::bootstrap::Rng;
use crate::corpus::Corpus;
use crate::question::Question;

/// What questions are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Links of Markdown from one document to another.
    Links,
    /// Documented symbols of source code.
    Symbols,
    /// Sentences of prose.
    Sentences,
    /// Titles of sections.
    Titles,
}

/// Questions, and what they are made of.
#[derive(Clone, Debug, Default)]
pub struct Made {
    /// The questions.
    pub questions: Vec<Question>,
    /// The text to hide while they are asked.
    pub hidden: Hidden,
    /// Number of questions of each origin.
    pub origins: Vec<(Origin, usize)>,
}

/// A question that can be drawn, and the text to hide while it is asked.
struct Draft {
    question: Question,
    hides: Option<Span>,
}

/// Shortest answer, in characters.
const LEAST_ANSWER: usize = 40;

/// Number of questions of one origin that tell ways of cutting apart: 20 links rank better than any number of sentences
/// on documentation that has links, and only they are used then. Source code is asked for by as many, however small its
/// share is.
const ENOUGH: usize = 20;

impl Origin {
    /// All of them, the one first whose questions are most like those of people.
    pub const ALL: [Self; 4] = [Self::Links, Self::Symbols, Self::Sentences, Self::Titles];

    /// The name that reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Links => "links",
            Self::Symbols => "symbols",
            Self::Sentences => "sentences",
            Self::Titles => "titles",
        }
    }

    /// The bias of questions of this origin.
    pub fn bias(self) -> &'static str {
        match self {
            Self::Links => {
                "links ask for whole sections that other pages mention, often in the words of their titles; \
                 what no page links to is not asked for"
            }
            Self::Symbols => {
                "doc comments ask for whole functions and types, in the words of those who wrote them; \
                 code without documentation is not asked for, \
                 and on a set of source code they did not agree with people's questions"
            }
            Self::Sentences => {
                "sentences ask for passages of a few sentences with half of their own words; \
                 what is said in other words, or over several sections, is not asked for, \
                 and on manuals with links they contradicted people's questions"
            }
            Self::Titles => {
                "titles ask for whole sections, people mostly for a sentence or two of one; \
                 rankings by titles often differ from those by people's questions"
            }
        }
    }

    /// The questions of this origin, at most `count` of them drawn by `seed`.
    fn drafts(self, corpus: &Corpus, count: usize, seed: u64) -> Vec<Draft> {
        let mut drafts = match self {
            Self::Links => links::drafts(corpus),
            Self::Symbols => symbols::drafts(corpus),
            Self::Sentences => sentences::drafts(corpus, count, seed),
            Self::Titles => titles::drafts(corpus),
        };
        // Some questions from a page without sentences are too long.
        drafts.retain(|draft| check_query(&draft.question.text).is_ok());
        if self == Self::Sentences {
            return drafts;
        }
        let drawn: HashSet<usize> = Rng::new(seed).sample(drafts.len(), count).into_iter().collect();
        let mut at = 0..;
        drafts.retain(|_| at.next().is_some_and(|at| drawn.contains(&at)));
        drafts
    }
}

impl Made {
    /// At most `count` questions drawn by `seed`, from `origins` in equal parts as far as each has enough; from those
    /// that suit the documents if none is named.
    pub fn new(corpus: &Corpus, origins: &[Origin], count: usize, seed: u64) -> Self {
        let mut made = Self::default();
        if origins.is_empty() {
            for (origin, drafts) in suitable(corpus, count, seed) {
                made.add(origin, drafts);
            }
            return made;
        }
        for (at, origin) in origins.iter().enumerate() {
            let count = (count - made.questions.len()) / (origins.len() - at);
            made.add(*origin, origin.drafts(corpus, count, seed));
        }
        made
    }

    fn add(&mut self, origin: Origin, drafts: Vec<Draft>) {
        if drafts.is_empty() {
            return;
        }
        self.origins.push((origin, drafts.len()));
        self.hidden.paths |= origin == Origin::Titles;
        for Draft { question, hides } in drafts {
            if let (Some(stretch), Some(answer)) = (hides, question.gold.first()) {
                self.hidden.add(answer.document, stretch);
            }
            self.questions.push(question);
        }
    }

    /// The bias of the questions; `None` if there are no questions.
    pub fn bias(&self) -> Option<String> {
        let biases: Vec<&str> = self.origins.iter().map(|(origin, _)| origin.bias()).collect();
        (!biases.is_empty())
            .then(|| format!("{}: give questions that people ask to decide", biases.join("; ")))
    }

    /// The origins of the questions, in words.
    pub fn from(&self) -> String {
        match self.origins.as_slice() {
            [(only, _)] => only.as_str().to_owned(),
            several => {
                let named = several.iter().map(|(origin, count)| format!("{} ({count})", origin.as_str()));
                named.collect::<Vec<_>>().join(" and ")
            }
        }
    }
}

/// Start of the first section inside another.
fn first_child(document: &Document, id: SectionId) -> Option<u32> {
    let after = document.sections().iter().skip(id.0 as usize + 1);
    let mut inside = after.take_while(|it| it.span.start < document.section(id).span.end);
    inside.find(|it| it.parent == Some(id)).map(|it| it.span.start)
}

/// Questions that suit the documents: from symbols in proportion to the source code among them, the rest from prose.
fn suitable(corpus: &Corpus, count: usize, seed: u64) -> Vec<(Origin, Vec<Draft>)> {
    let symbols = Origin::Symbols.drafts(corpus, code_share(corpus, count), seed);
    let rest = count - symbols.len();
    let links = Origin::Links.drafts(corpus, rest, seed);
    let prose = if links.len() >= ENOUGH.min(rest) {
        (Origin::Links, links)
    } else {
        let sentences = Origin::Sentences.drafts(corpus, rest, seed);
        if sentences.len() >= links.len() { (Origin::Sentences, sentences) } else { (Origin::Links, links) }
    };
    let mut suitable = vec![prose, (Origin::Symbols, symbols)];
    suitable.retain(|(_, drafts)| !drafts.is_empty());
    if suitable.is_empty() {
        suitable.push((Origin::Titles, Origin::Titles.drafts(corpus, count, seed)));
    }
    suitable
}

/// The part of `count` that is the share of source code in `corpus`, and enough of it where there is any.
fn code_share(corpus: &Corpus, count: usize) -> usize {
    let (mut code, mut all) = (0, 0);
    for document in corpus.documents() {
        let bytes = document.source().len();
        let has_symbols = document.sections().iter().any(|it| matches!(it.kind, SectionKind::Symbol(_)));
        code += if has_symbols { bytes } else { 0 };
        all += bytes;
    }
    let share = (count * code).checked_div(all).unwrap_or(0);
    if code > 0 { share.max(ENOUGH.min(count / 2)) } else { 0 }
}
