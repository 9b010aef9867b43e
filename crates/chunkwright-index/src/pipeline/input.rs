//! The inputs of a run, divided into windows.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use chunkwright::Document;
use chunkwright_source::{Format, NewSource, SourceFile};

use super::prepare::Context;
use chunkwright_store::DocumentInfo;
use chunkwright_store::parsed::format_of;

/// Most documents of a window.
pub(super) const WINDOW_DOCUMENTS: usize = 128;

/// Most bytes of a window, unless a single file has more.
pub(super) const WINDOW_BYTES: u64 = 16 << 20;

/// The input of a document.
pub(super) enum Input<'a> {
    /// A file that was found.
    File(&'a SourceFile),
    /// A document from memory.
    Memory(&'a NewSource),
    /// A parsed document.
    Parsed(&'a Document),
    /// A document that the current generation has stored.
    Stored(&'a DocumentInfo),
}

impl Input<'_> {
    pub(super) fn doc_id(&self) -> &str {
        match self {
            Self::File(file) => &file.doc_id,
            Self::Memory(source) => &source.doc_id,
            Self::Parsed(document) => document.id(),
            Self::Stored(info) => &info.doc_id,
        }
    }

    pub(super) fn root(&self) -> &str {
        match self {
            Self::File(file) => &file.root,
            Self::Memory(_) | Self::Parsed(_) => "",
            Self::Stored(info) => &info.root,
        }
    }

    pub(super) fn prefix(&self) -> &str {
        match self {
            Self::File(file) => &file.prefix,
            Self::Memory(_) | Self::Parsed(_) => "",
            Self::Stored(info) => &info.prefix,
        }
    }

    /// Its format.
    pub(super) fn format(&self, bytes: &[u8]) -> Format {
        match self {
            Self::File(file) => Format::of(&file.path, bytes),
            Self::Memory(source) => source.format(),
            Self::Parsed(document) => Format::of(Path::new(document.id()), bytes),
            Self::Stored(info) => format_of(info, bytes),
        }
    }

    /// Its name, as a file path.
    pub(super) fn path(&self) -> Cow<'_, Path> {
        match self {
            Self::File(file) => Cow::Borrowed(&file.path),
            Self::Memory(source) => Cow::Owned(source.path()),
            Self::Parsed(document) => Cow::Borrowed(Path::new(document.id())),
            Self::Stored(info) => Cow::Owned(PathBuf::from(&info.doc_id)),
        }
    }

    /// The context for this input: stored documents stay, even if new ones of their kind are left out.
    pub(super) fn context<'c>(&self, context: Context<'c>) -> Context<'c> {
        Context { skip_generated: context.skip_generated && self.is_given(), ..context }
    }

    /// Returns whether it was given to the run rather than found in the store.
    pub(super) fn is_given(&self) -> bool {
        !matches!(self, Self::Stored(_))
    }

    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::File(file) => file.bytes,
            Self::Memory(source) => source.bytes.len() as u64,
            Self::Parsed(document) => document.source().len() as u64,
            Self::Stored(info) => info.bytes,
        }
    }
}

/// Divides inputs into windows of consecutive documents that are processed together.
pub(super) fn windows<'a, 'i>(inputs: &'a [Input<'i>]) -> impl Iterator<Item = &'a [Input<'i>]> {
    let mut rest = inputs;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fits = |input: &&Input<'_>| {
            bytes += input.bytes();
            bytes <= WINDOW_BYTES
        };
        let count = rest.iter().take(WINDOW_DOCUMENTS).take_while(fits).count().max(1).min(rest.len());
        let (window, after) = rest.split_at(count);
        rest = after;
        (!window.is_empty()).then_some(window)
    })
}
