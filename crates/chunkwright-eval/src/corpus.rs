//! The documents of an evaluation, and places in them.

use std::collections::HashMap;

use chunkwright::{Document, Span};

/// Documents, found by their ids.
#[derive(Debug, Default)]
pub struct Corpus {
    documents: Vec<Document>,
    by_id: HashMap<String, usize>,
}

/// A stretch of a document, in Unicode scalar values, half-open.
///
/// Characters, not bytes: a measure by bytes would give a Chinese answer three times the weight of an
/// English one of the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Passage {
    /// Position of the document in its corpus.
    pub document: usize,
    /// First character.
    pub start: usize,
    /// One past the last character.
    pub end: usize,
}

impl Corpus {
    /// A corpus of `documents`, in order of their ids. If two have the same id, the first counts.
    pub fn new(mut documents: Vec<Document>) -> Self {
        documents.sort_by(|a, b| a.id().cmp(b.id()));
        documents.dedup_by(|b, a| a.id() == b.id());
        let by_id = documents.iter().enumerate().map(|(at, document)| (document.id().to_owned(), at));
        Self { by_id: by_id.collect(), documents }
    }

    /// The documents, by id.
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// Position of the document with this id.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// The passage of `span`, without blank characters at its ends.
    pub(crate) fn passage(&self, document: usize, span: Span) -> Passage {
        let source = self.documents[document].source();
        let span = trimmed(source, span);
        let start = source[..span.start as usize].chars().count();
        Passage { document, start, end: start + span.of(source).chars().count() }
    }
}

impl Passage {
    /// Number of characters.
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether it has no characters.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Number of characters that both have.
    pub fn overlap(self, other: Self) -> usize {
        if self.document == other.document {
            self.end.min(other.end).saturating_sub(self.start.max(other.start))
        } else {
            0
        }
    }

    /// Whether it contains all of `other`.
    pub fn holds(self, other: Self) -> bool {
        self.document == other.document && self.start <= other.start && other.end <= self.end
    }
}

/// `span` without blank characters at its ends.
pub(crate) fn trimmed(source: &str, span: Span) -> Span {
    let text = span.of(source);
    let start = text.len() - text.trim_start().len();
    let end = text.trim_end().len().max(start);
    Span::new(span.start as usize + start, span.start as usize + end)
}
