//! The part of a source that a page may hold, and where a page may end.

use chunkwright::{ChunkId, LineIndex};
use chunkwright_engine::{DocumentInfo, Error, Rendering, Snapshot, SourceForm, SourcePart};

use crate::mcp::uri::{Page, Uri};

/// A line that is too long for an answer is cut at multiples of this many characters.
const STEP_IN_LINE: usize = 64;

/// The part of the requested range that is read.
pub(super) struct Part {
    pub(super) document: DocumentInfo,
    pub(super) doc_toc: String,
    pub(super) found: Option<ChunkId>,
    /// The source from the beginning of the page, as much as may fit; `None` if the page does not begin at a character.
    pub(super) text: Option<String>,
    pub(super) rendering: Option<Rendering>,
    /// Length of the requested range, in bytes.
    pub(super) length: usize,
    /// The line where the text begins.
    pub(super) line: usize,
}

impl Part {
    /// Takes a part from fetched text.
    pub(super) fn of(fetched: chunkwright_engine::FetchAnswer, page: Option<&Page>, most: usize) -> Self {
        let offset = page.map_or(0, |page| page.offset);
        let (source, rendering) = match fetched.rendered() {
            Some((source, rendering)) => (source, Some(rendering.clone())),
            None => (fetched.text.as_str(), None),
        };
        // A large part of a source may render as nothing.
        let most = if rendering.is_some() { source.len() } else { most };
        let window = |rest: &str| rest[..rest.floor_char_boundary(most)].to_owned();
        // A chunk may begin inside a line; the fetched text begins in `start_line` all the same.
        let first_line = fetched.start_line as usize;
        let text = source.get(offset..).map(window);
        let before = || LineIndex::new(source).line(offset as u32) - 1;
        let line = first_line + if text.is_some() { before() } else { 0 };
        let length = source.len();
        let chunkwright_engine::FetchAnswer { document, doc_toc, found, .. } = fetched;
        Self { document, doc_toc, found, text, rendering, length, line }
    }

    /// Reads a part of a large document; nothing else is read if the page names its line.
    pub(super) fn read(snapshot: &Snapshot, uri: &Uri, most: usize) -> Result<Self, Error> {
        let offset = uri.page.as_ref().map_or(0, |page| page.offset) as u64;
        let source = snapshot.source(&uri.reference, SourceForm::Text)?;
        let SourcePart { bytes, length, doc_toc } = source.read(offset, most)?;
        let line = match uri.page.as_ref().and_then(|page| page.line) {
            Some(line) => line,
            None => 1 + breaks_before(&source, offset.min(length))?,
        };
        let text = match String::from_utf8(bytes) {
            Ok(text) => Some(text),
            // The part may end inside a character, but must not begin inside one.
            Err(error) => {
                let end = error.utf8_error().valid_up_to();
                let mut bytes = error.into_bytes();
                bytes.truncate(end);
                String::from_utf8(bytes).ok().filter(|text| !text.is_empty())
            }
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let document = source.document().clone();
        Ok(Self { document, doc_toc, found: None, text, rendering: None, length, line })
    }
}

/// The number of lines that end before `offset`. Lines end at LF, CRLF or CR.
fn breaks_before(source: &chunkwright_engine::Source, offset: u64) -> Result<usize, Error> {
    let (mut at, mut breaks, mut last) = (0, 0, 0);
    while at < offset {
        let limit = usize::try_from(offset - at).unwrap_or(usize::MAX);
        let bytes = source.read(at, limit)?.bytes;
        if bytes.is_empty() {
            break;
        }
        for &byte in &bytes {
            breaks += usize::from(byte == b'\r' || byte == b'\n' && last != b'\r');
            last = byte;
        }
        at += bytes.len() as u64;
    }
    Ok(breaks)
}

/// Possible ends of a page of `text`: after each line, and inside a long first line after every few characters.
pub(super) fn ends(text: &str, is_all: bool) -> Vec<usize> {
    let lines = LineIndex::new(text);
    let starts = (2..=lines.count()).map(|line| lines.start(line) as usize);
    let mut ends: Vec<usize> = starts.filter(|&start| start < text.len()).collect();
    ends.push(text.len());
    let first = ends[0];
    let is_cut = ends.len() == 1 && !is_all;
    if is_cut || first > STEP_IN_LINE {
        let inside = text[..first].char_indices().skip(1).map(|(at, _)| at);
        // A page must not end inside a line break.
        let inside = inside.filter(|&at| !text[..at].ends_with('\r'));
        ends.splice(..0, inside.skip(STEP_IN_LINE - 1).step_by(STEP_IN_LINE).collect::<Vec<_>>());
    }
    if !is_all && ends.len() > 1 {
        // The last line of the window continues behind it.
        ends.pop();
    }
    ends
}
