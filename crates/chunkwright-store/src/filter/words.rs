//! Conditions on the words of a text: that it has a phrase, or a word in any form.

use std::collections::HashSet;

use super::{Condition, Facts, Field, Fields, Filter, Got, Test};
use crate::analysis::{TermKind, analyze, folded_words, is_unspaced};
use crate::bm25::{TermCounts, TermId, term_id};

/// What the text of a chunk has to have.
pub(crate) struct Wanted {
    /// Terms that every such text has.
    pub(crate) terms: Vec<TermId>,
    /// The words side by side, as [`folded_words`] has them, and the terms that these do not show.
    phrase: Option<(String, Vec<TermId>)>,
}

impl Wanted {
    /// What a test of words demands; `None` for other tests.
    pub(crate) fn of(test: &Test) -> Option<Self> {
        match test {
            Test::Word(word) => Some(Self { terms: of_word(word), phrase: None }),
            Test::Phrase(phrase) => {
                let (terms, symbols) = of_phrase(phrase);
                Some(Self { terms, phrase: Some((side_by_side(phrase), symbols)) })
            }
            _ => None,
        }
    }

    /// Returns whether the terms alone decide.
    pub(crate) fn is_of_terms(&self) -> bool {
        self.phrase.is_none()
    }

    /// Returns whether a text has it.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        if self.terms.is_empty() {
            return false;
        }
        let demanded = match &self.phrase {
            Some((phrase, _)) if !folded_words(text).contains(phrase) => return false,
            Some((_, symbols)) => symbols,
            None => &self.terms,
        };
        if demanded.is_empty() {
            return true;
        }
        let terms = TermCounts::of(text);
        demanded.iter().all(|term| terms.has(*term))
    }
}

/// The term of the whole word, such as `email` for `e-mail`; else the terms of its parts.
fn of_word(word: &str) -> Vec<TermId> {
    let (mut parts, mut whole) = (Vec::new(), None);
    analyze(word, &mut |term| match term.kind {
        TermKind::Word => parts.push(term_id(term.text)),
        TermKind::Marked | TermKind::Single => {}
        _ if term.range.len() == word.len() => whole = Some(term_id(term.text)),
        _ => {}
    });
    whole.map_or(parts, |whole| vec![whole])
}

/// The terms of the words as they are written and of names with symbols, and the latter alone.
fn of_phrase(phrase: &str) -> (Vec<TermId>, Vec<TermId>) {
    let (mut terms, mut symbols) = (HashSet::new(), Vec::new());
    analyze(phrase, &mut |term| {
        if matches!(term.kind, TermKind::Word | TermKind::Symbol) {
            terms.insert(term_id(term.text));
        }
        if term.kind == TermKind::Symbol {
            symbols.push(term_id(term.text));
        }
    });
    (terms.into_iter().collect(), symbols)
}

/// The words of a phrase; at an end without spaces between words, it may go on.
fn side_by_side(phrase: &str) -> String {
    let mut words = folded_words(phrase);
    if words.trim_start().starts_with(is_unspaced) {
        words.remove(0);
    }
    if words.trim_end().ends_with(is_unspaced) {
        words.pop();
    }
    words
}

impl Filter {
    /// The tests of words, each once.
    pub(crate) fn of_words(&self) -> Vec<&Test> {
        let mut tests = Vec::new();
        self.each_leaf(&mut |condition| {
            if let Condition::Field { field: Field::TEXT, test: test @ (Test::Word(_) | Test::Phrase(_)) } =
                condition
                && !tests.contains(&test)
            {
                tests.push(test);
            }
        });
        tests
    }

    /// Returns whether [`Facts`](super::Facts) and the words of the text suffice to decide.
    pub(crate) fn is_quick_but_for_words(&self) -> bool {
        let mut is_quick = true;
        self.each_leaf(&mut |condition| {
            is_quick &= match condition {
                Condition::Field { field: Field::TEXT, test } => {
                    matches!(test, Test::Word(_) | Test::Phrase(_))
                }
                Condition::Field { field, .. } => field.is_quick(),
                _ => false,
            };
        });
        is_quick
    }
}

/// The facts of a record with its text.
pub(super) struct WithText<'a> {
    pub(super) facts: Facts<'a>,
    pub(super) text: &'a str,
}

impl Fields for WithText<'_> {
    fn get(&self, field: Field) -> Got<'_> {
        if field == Field::TEXT { Got::Text(self.text) } else { self.facts.get(field) }
    }
}

/// Returns whether the text of a chunk passes a test of words.
pub(super) fn passes(fields: &dyn Fields, test: &Test) -> bool {
    if let Some(passes) = fields.has_words(test) {
        return passes;
    }
    let read = match fields.get(Field::TEXT) {
        Got::Text(read) => read.to_owned(),
        Got::Value(value) => value.as_str().unwrap_or_default().to_owned(),
        _ => String::new(),
    };
    Wanted::of(test).is_some_and(|wanted| wanted.is_in(&read))
}
