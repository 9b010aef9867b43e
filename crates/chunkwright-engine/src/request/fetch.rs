//! Parts of documents by reference.

use chunkwright::{ChunkId, Record};
use chunkwright_index::{DocumentInfo, FetchError, Fetched, Rendering};
use chunkwright_source::memory::media_type;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::request::search::options::ExpandRequest;

/// What to fetch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FetchRequest {
    /// A document's id, a chunk's id, `DOC_ID#INDEX` (also `DOC_ID_chunkINDEX`) or `DOC_ID#L10-L80`.
    pub reference: String,
    /// What a chunk is read with; documents and lines come as they are.
    #[serde(default)]
    pub expand: Option<ExpandRequest>,
    /// Whether the text is the source where its format renders (HTML, notebooks).
    #[serde(default)]
    pub form: FetchForm,
}

/// The form of a fetched text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FetchForm {
    /// As a reader is shown it: HTML and notebooks rendered, everything else exactly the source.
    #[default]
    Shown,
    /// The decoded source.
    Source,
}

/// What was fetched.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FetchAnswer {
    /// The document.
    pub document: DocumentInfo,
    /// Outline of the document.
    pub doc_toc: String,
    /// What fetches the same lines: `DOC_ID#L10-L80`, or the document's id for all of it.
    pub reference: String,
    /// The chunk that was asked for; it is inside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<ChunkId>,
    /// Tokens of the text, where it was expanded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_count: Option<usize>,
    /// What counted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<String>,
    /// First line, 1-based.
    pub start_line: u32,
    /// Last line, 1-based, inclusive.
    pub end_line: u32,
    /// The exact slice of the decoded source; of HTML and notebooks as it renders, unless the source was asked for.
    pub text: String,
    /// The chunks of this part, in order.
    pub chunks: Vec<Record>,
    /// What of the file it is.
    #[serde(skip)]
    raw: Result<Option<Vec<u8>>, Converted>,
    /// The source and how it renders, if the text is rendered.
    #[serde(skip)]
    rendered: Option<(String, Rendering)>,
}

/// The error that a part of a converted document does not exist in its file.
#[derive(Clone, Debug, PartialEq)]
struct Converted {
    doc_id: String,
    format: String,
}

impl FetchRequest {
    /// Fetches `reference` without expansion.
    pub fn new(reference: impl Into<String>) -> Self {
        Self { reference: reference.into(), expand: None, form: FetchForm::Shown }
    }
}

impl FetchAnswer {
    pub(crate) fn new(mut fetched: Fetched, form: FetchForm, tokenizer: Option<&str>) -> Self {
        let reference = fetched.reference();
        let rendering = fetched.rendering.take().filter(|_| form == FetchForm::Shown);
        let shown = rendering.as_ref().map(|rendering| rendering.text().into_owned());
        let other =
            |bytes: &[u8]| (shown.is_some() || bytes != fetched.text.as_bytes()).then(|| bytes.to_vec());
        let raw = fetched.bytes().map(other).map_err(|_| {
            let DocumentInfo { doc_id, format, .. } = fetched.document.clone();
            Converted { doc_id, format }
        });
        Self {
            tokenizer: fetched.token_count.and(tokenizer).map(str::to_owned),
            document: fetched.document,
            doc_toc: fetched.doc_toc,
            reference,
            found: fetched.found,
            token_count: fetched.token_count,
            start_line: fetched.start_line,
            end_line: fetched.end_line,
            rendered: rendering.map(|rendering| (fetched.text.clone(), rendering)),
            text: shown.unwrap_or(fetched.text),
            chunks: fetched.records,
            raw,
        }
    }

    /// The source and how it renders, if the text is rendered.
    pub fn rendered(&self) -> Option<(&str, &Rendering)> {
        self.rendered.as_ref().map(|(source, rendering)| (source.as_str(), rendering))
    }

    /// The exact bytes of the file, in its own encoding.
    ///
    /// # Errors
    ///
    /// A part of a document that was converted: it has no bytes in the file.
    pub fn bytes(&self) -> Result<&[u8], Error> {
        match &self.raw {
            Ok(raw) => Ok(raw.as_deref().unwrap_or(self.text.as_bytes())),
            Err(Converted { doc_id, format }) => {
                Err(FetchError::Converted { doc_id: doc_id.clone(), format: format.clone() }.into())
            }
        }
    }
}

impl FetchAnswer {
    /// As [`bytes`](Self::bytes), without a copy.
    ///
    /// # Errors
    ///
    /// As those of [`bytes`](Self::bytes).
    pub fn into_bytes(self) -> Result<Vec<u8>, Error> {
        self.bytes()?;
        Ok(self.raw.ok().flatten().unwrap_or_else(|| self.text.into_bytes()))
    }

    /// The media type of the [bytes](Self::bytes), determined by the document's id; with the encoding for texts.
    pub fn media_type(&self) -> String {
        media_type_of(&self.document)
    }
}

/// The media type of a document's file.
pub(crate) fn media_type_of(document: &DocumentInfo) -> String {
    match media_type(&document.doc_id) {
        text if text.starts_with("text/") => format!("{text}; charset={}", document.encoding),
        other => other.to_owned(),
    }
}
