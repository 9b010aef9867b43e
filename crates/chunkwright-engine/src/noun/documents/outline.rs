//! The sections of documents.

use chunkwright::{Document, Section, SectionId, SectionKind, Span, TokenCounter};
use chunkwright_index::parsed;

use crate::error::Error;
use crate::noun::documents::Documents;
use crate::noun::snapshot::Snapshot;
use crate::request::documents::{OutlineAnswer, OutlineRow};

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
