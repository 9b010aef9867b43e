//! The sections of documents.

use chunkwright::{Document, Section, SectionId, SectionKind, Span, TokenCounter};
use chunkwright_index::parsed;
use serde::Serialize;

use super::Documents;
use crate::error::Error;
use crate::snapshot::Snapshot;

/// The sections of a document, the whole document first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct OutlineAnswer {
    /// The document and its sections, in order.
    pub sections: Vec<OutlineRow>,
}

/// A document or one of its sections.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutlineRow {
    /// The document.
    pub doc_id: String,
    /// `document`, `heading`, `key`, or the kind of a symbol.
    pub kind: &'static str,
    /// Its own title.
    pub title: String,
    /// Titles from the outermost, its own included.
    pub section_path: Vec<String>,
    /// First line, 1-based.
    pub start_line: usize,
    /// Last line that is not blank, 1-based, inclusive.
    pub end_line: usize,
    /// Tokens of its text, what is inside it included.
    pub tokens: usize,
    /// The lines that announce a symbol.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub signature: String,
    /// The language of source code, of the document only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<&'static str>,
    /// What the language was detected by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told_by: Option<String>,
}

impl Documents {
    /// Passes the sections of all documents to `emit`, in order. For a document that could not be read, `emit` gets
    /// `None`.
    ///
    /// # Errors
    ///
    /// Those of `emit`, and [`Error::Cancelled`].
    pub fn outline<E: From<Error>>(
        &mut self,
        emit: impl FnMut(Option<OutlineAnswer>) -> Result<(), E>,
    ) -> Result<(), E> {
        let chunker = self.chunker.clone();
        let rows = |answer: &OutlineAnswer| answer.sections.len() * size_of::<OutlineRow>();
        self.each(|source| outline(&source.parse(), chunker.counter()), rows, emit)
    }
}

impl Snapshot {
    /// The sections of a stored document.
    ///
    /// # Errors
    ///
    /// A document that the generation does not have, a counter that is not installed, a store that fails.
    pub fn outline(&self, doc_id: &str) -> Result<OutlineAnswer, Error> {
        let document = parsed(self.store(), self.generation(), doc_id)?;
        let unknown = || Error::UnknownDocument {
            doc_id: doc_id.into(),
            collection: self.generation().collection.clone(),
        };
        Ok(outline(&document.ok_or_else(unknown)?, &*self.engine().counter()?))
    }
}

fn outline(document: &Document, counter: &dyn TokenCounter) -> OutlineAnswer {
    let told_by = document.language().and_then(|language| {
        let detected = chunkwright_code::detect(document.id(), document.source())?;
        (detected.parser.name() == language).then(|| detected.reason.to_string())
    });
    let row = |(id, section): (u32, &Section)| {
        let is_document = id == 0;
        let text = document.read(section.span);
        // A section reaches to the start of the next; the blank lines between them belong to neither.
        let end = section.span.start as usize + section.span.of(document.source()).trim_end().len();
        let span = Span { end: (end as u32).max(section.span.start + 1), ..section.span };
        let (start_line, end_line) = document.lines().lines(span);
        OutlineRow {
            doc_id: document.id().to_owned(),
            kind: match section.kind {
                SectionKind::Document => "document",
                SectionKind::Heading(_) => "heading",
                SectionKind::Symbol(kind) => kind.name(),
                SectionKind::Key => "key",
            },
            title: section.title.clone(),
            section_path: document.titles(SectionId(id)).into_iter().map(str::to_owned).collect(),
            start_line,
            end_line,
            tokens: counter.count(&text),
            signature: section.signature.of(document.source()).to_owned(),
            language: document.language().filter(|_| is_document),
            told_by: told_by.clone().filter(|_| is_document),
        }
    };
    OutlineAnswer { sections: (0..).zip(document.sections()).map(row).collect() }
}
