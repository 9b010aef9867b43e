//! Keeps the text of an answer within a budget of tokens.
//!
//! The counted text is what a reader reads: the context and content of hits (and `text` where they carry it), or the
//! text of passages, and the outline and summary of a document. Names, numbers, paths and the preview, which is the
//! beginning of the content, are not counted. Hits are taken best first. A hit that does not fit into the rest of the
//! budget is left out, and a later, shorter one may still fit. What then remains is for outlines and summaries, each
//! with the first hit of its document.

use std::collections::HashSet;

use chunkwright::TokenCounter;

use crate::notice::{Notice, NoticeCode};
use crate::request::search::hit::{FoundPassage, Hit};
use crate::request::search::{Budget, Found, LeftOutHit};

/// A hit or passage whose text is counted.
trait Text {
    /// Its own texts.
    fn texts(&self) -> Vec<&str>;
    /// The texts of its document.
    fn of_document(&mut self) -> Vec<&mut String>;
    /// Its document, with the collection.
    fn document(&self) -> (String, String);
    fn left_out(&self, token_count: usize) -> LeftOutHit;
}

impl Text for Hit {
    fn texts(&self) -> Vec<&str> {
        vec![&self.record.context, &self.record.content, self.text.as_deref().unwrap_or_default()]
    }

    fn of_document(&mut self) -> Vec<&mut String> {
        vec![&mut self.found.doc_summary, &mut self.metadata.doc_toc]
    }

    fn document(&self) -> (String, String) {
        (self.collection.clone(), self.record.doc_id.clone())
    }

    fn left_out(&self, token_count: usize) -> LeftOutHit {
        let (rank, offset, record) = (self.rank, self.offset(), &self.record);
        let reference = format!("{}#L{}-L{}", record.doc_id, record.start_line, record.end_line);
        LeftOutHit { rank, offset, collection: self.collection.clone(), reference, token_count }
    }
}

impl Text for FoundPassage {
    fn texts(&self) -> Vec<&str> {
        vec![&self.passage.text]
    }

    fn of_document(&mut self) -> Vec<&mut String> {
        vec![&mut self.found.doc_toc]
    }

    fn document(&self) -> (String, String) {
        (self.collection.clone(), self.passage.doc_id.clone())
    }

    fn left_out(&self, token_count: usize) -> LeftOutHit {
        let reference = self.passage.reference.clone();
        let (rank, offset) = (self.rank, self.offset());
        LeftOutHit { rank, offset, collection: self.collection.clone(), reference, token_count }
    }
}

impl Budget {
    /// Removes from `found` what does not fit into `max_tokens`.
    pub(super) fn keep(found: &mut Found, max_tokens: usize, counter: &dyn TokenCounter) -> Self {
        let tokenizer = counter.name().to_owned();
        let mut budget = Self { max_tokens, tokens: 0, tokenizer, left_out: Vec::new() };
        match found {
            Found::Hits { hits } => budget.keep_of(hits, counter),
            Found::Passages { passages } => budget.keep_of(passages, counter),
        }
        budget
    }

    fn keep_of<T: Text>(&mut self, found: &mut Vec<T>, counter: &dyn TokenCounter) {
        found.retain(|text| {
            let count = text.texts().iter().map(|text| counter.count(text)).sum();
            let fits = count <= self.left();
            if fits {
                self.tokens += count;
            } else {
                self.left_out.push(text.left_out(count));
            }
            fits
        });
        let mut known = HashSet::new();
        for text in found {
            let is_first = known.insert(text.document());
            for of_document in text.of_document() {
                let count = counter.count(of_document);
                if is_first && count <= self.left() {
                    self.tokens += count;
                } else {
                    of_document.clear();
                }
            }
        }
    }

    fn left(&self) -> usize {
        self.max_tokens - self.tokens
    }

    /// A notice about what was left out.
    pub(super) fn notice(&self, found: &Found) -> Option<Notice> {
        let LeftOutHit { reference, token_count, .. } = self.left_out.first()?;
        let (kept, what) = match found {
            Found::Hits { hits } => (hits.len(), "hits"),
            Found::Passages { passages } => (passages.len(), "passages"),
        };
        let (left_out, most) = (self.left_out.len(), self.max_tokens);
        let of = kept + left_out;
        let best = format!("the best of them is `{reference}` with {token_count} tokens");
        let message = match kept {
            0 => {
                format!("found {of} {what}, each of more than {most} tokens, the limit of the answer: {best}")
            }
            _ => format!("left out {left_out} of {of} {what} to keep within {most} tokens: {best}"),
        };
        Some(Notice::new(NoticeCode::OverBudget, message))
    }
}
