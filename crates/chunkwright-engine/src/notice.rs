//! Notices: what a caller should know that is not an error.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Something that a caller should know about an answer. It is data: the front end decides where it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Notice {
    /// What kind of thing it is.
    pub code: NoticeCode,
    /// One sentence for people.
    pub message: String,
}

/// Kinds of notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoticeCode {
    /// A stage of the search that was asked for did not run.
    StageSkipped,
    /// A stage did not run because the collection has no vectors: nothing that was promised is missing.
    NoVectors,
    /// The generation that was searched is not complete: its first run goes on, or was interrupted.
    Unfinished,
    /// The collection has no chunk, so that nothing can be found.
    EmptyCollection,
    /// One of several collections could not be searched; the others were.
    CollectionSkipped,
    /// Hits were left out to keep an answer within its tokens.
    OverBudget,
    /// Hits were found, and the relevance of all is below what a hit must have.
    NothingRelevant,
    /// The question is in another language than the documents, and no vectors that bridge that were searched.
    OtherLanguage,
    /// Hits were found, and the relevance of all is so low that they probably do not answer.
    ProbablyNoAnswer,
    /// The reranker failed, and the order is that of the stages.
    NotReranked,
    /// A hit is shown with its own text, because what is around it could not be read.
    NotExpanded,
    /// Chunks have no vector yet; the next run makes them.
    VectorsPending,
    /// Notes are missing; the next run asks for them again.
    NotesPending,
    /// No model is installed, so that search is lexical only.
    NoModel,
    /// Searches see another generation than before.
    Switched,
    /// Searches still see the generation before.
    Withheld,
    /// Changes made by hand need a review.
    ReviewOverlays,
    /// Documents of a folder that moved are taken as those of its new place.
    FolderMoved,
    /// Documents stay although their files were not found: a folder is missing or empty, or more than half are gone.
    FolderAway,
    /// A document has characters that text rarely has, such as NUL.
    ControlCharacters,
    /// A part of a document was left out or has no text: scanned pages, hidden sheets.
    Omitted,
    /// Two things that are compared were cut by different settings.
    OtherSettings,
    /// Changes made by hand both here and in what was imported; those made here stay.
    OverlaysKept,
    /// Files were left out for what they are: drawings, lock files, source maps, minified and encoded content.
    LeftOut,
    /// More than half of the tokens are of one kind of data files.
    MostlyOneKind,
    /// Chunks of another program are no text of their documents.
    Unplaced,
    /// Another process writes to the store; its end is waited for.
    Queued,
    /// Paths cannot be watched and are looked at every few seconds instead.
    WatchPolls,
    /// An address was fetched: how much of it is new.
    Fetched,
    /// The store is a folder with the name of a database.
    StoreInFolder,
    /// There was nothing to do or to find.
    Nothing,
    /// A part of the request could not be used; the rest was.
    PartlyUsed,
}

impl Notice {
    pub(crate) fn new(code: NoticeCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
