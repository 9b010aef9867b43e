//! `chunk://` URIs, which name documents, chunks and pages across collections.
//!
//! The form is `chunk://COLLECTION/REFERENCE`, where the reference is the id of a document or chunk, percent-encoded
//! except for `/`, followed by `#L10-L80` for lines. `?from=OFFSET.LINE-HASH` before that names a page: it begins at
//! this byte of the text, in this line, of the document whose file hash begins like this. So a page of another version
//! is refused instead of garbled. The line saves counting the lines before the page; without it, they are counted.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The scheme of the URIs.
pub(super) const SCHEME: &str = "chunk://";

/// Escaped characters: all but the unreserved ones of URIs.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Characters escaped in a path.
const ESCAPED_IN_PATH: &AsciiSet = &ESCAPED.remove(b'/');

/// Number of hash digits in a page.
const HASH_DIGITS: usize = 8;

/// The target of a `chunk://` URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Uri {
    /// The collection.
    pub(super) collection: String,
    /// The reference for the engine: `DOC_ID`, `CHUNK_ID` or `DOC_ID#L10-L80`.
    pub(super) reference: String,
    /// The page of its text.
    pub(super) page: Option<Page>,
}

/// A page of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// Its offset in bytes.
    pub(super) offset: usize,
    /// The line of the text that it begins in, from 1; `None` if it has to be counted.
    pub(super) line: Option<usize>,
    /// The beginning of the file's hash.
    pub(super) hash: String,
}

impl Uri {
    pub(super) fn new(collection: impl Into<String>, reference: impl Into<String>) -> Self {
        Self { collection: collection.into(), reference: reference.into(), page: None }
    }

    /// The page of the same target that begins at `offset`, in this line.
    pub(super) fn at(&self, offset: usize, line: usize, file_hash: &str) -> Self {
        let hash = file_hash.chars().take(HASH_DIGITS).collect();
        Self { page: Some(Page { offset, line: Some(line), hash }), ..self.clone() }
    }
}

impl Page {
    /// Returns whether the page is of the file with this hash.
    pub(super) fn is_of(&self, file_hash: &str) -> bool {
        file_hash.starts_with(&self.hash)
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, lines) = split_lines(&self.reference);
        let collection = utf8_percent_encode(&self.collection, ESCAPED);
        write!(f, "{SCHEME}{collection}/{}", utf8_percent_encode(path, ESCAPED_IN_PATH))?;
        if let Some(Page { offset, line, hash }) = &self.page {
            write!(f, "?from={offset}")?;
            if let Some(line) = line {
                write!(f, ".{line}")?;
            }
            write!(f, "-{hash}")?;
        }
        f.write_str(lines)
    }
}

impl FromStr for Uri {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (collection, rest) = text.strip_prefix(SCHEME).and_then(|rest| rest.split_once('/')).ok_or(())?;
        let (rest, lines) = rest.split_once('#').map_or((rest, None), |(rest, lines)| (rest, Some(lines)));
        let (path, page) = match rest.split_once('?') {
            None => (rest, None),
            Some((path, query)) => (path, Some(page(query)?)),
        };
        let mut reference = decode(path)?;
        if let Some(lines) = lines {
            reference.extend(["#", &decode(lines)?]);
        }
        let collection = decode(collection)?;
        if collection.is_empty() || reference.is_empty() {
            return Err(());
        }
        Ok(Self { collection, reference, page })
    }
}

fn page(query: &str) -> Result<Page, ()> {
    let (offset, hash) = query.strip_prefix("from=").and_then(|page| page.split_once('-')).ok_or(())?;
    let is_hash = !hash.is_empty() && hash.bytes().all(|digit| digit.is_ascii_hexdigit());
    if !is_hash {
        return Err(());
    }
    let number = |text: &str| text.parse().map_err(|_| ());
    let (offset, line) = match offset.split_once('.') {
        None => (number(offset)?, None),
        Some((offset, line)) => (number(offset)?, Some(number(line)?)),
    };
    Ok(Page { offset, line: line.filter(|&line| line > 0), hash: hash.to_owned() })
}

/// Splits a reference from its lines, `#L10-L80` or nothing.
fn split_lines(reference: &str) -> (&str, &str) {
    let at = reference.rfind("#L").filter(|at| {
        let mut numbers = reference[at + 2..].splitn(2, "-L");
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
        numbers.all(is_number)
    });
    at.map_or((reference, ""), |at| reference.split_at(at))
}

fn decode(text: &str) -> Result<String, ()> {
    percent_decode_str(text).decode_utf8().map(Cow::into_owned).map_err(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_uri_names_survives_being_written_and_read() {
        let check = |collection: &str, reference: &str, written: &str| {
            let uri = Uri::new(collection, reference);
            assert_eq!(uri.to_string(), written);
            assert_eq!(written.parse(), Ok(uri.clone()), "{written}");
            let page = uri.at(12_345, 67, "ab12cd34ef56");
            assert_eq!(page.to_string().parse(), Ok(page), "{written}");
            let older = Page { offset: 12_345, line: None, hash: "ab12cd34".into() };
            let older = Uri { page: Some(older), ..uri };
            assert_eq!(older.to_string().parse(), Ok(older), "{written}");
        };
        check("default", "docs/guide.md", "chunk://default/docs/guide.md");
        check("default", "guide.md#L10-L80", "chunk://default/guide.md#L10-L80");
        check("default", "x#0", "chunk://default/x%230");
        check("a b", "what?.md#L1", "chunk://a%20b/what%3F.md#L1");
        check(
            "docs@2",
            "请求/запрос.md",
            "chunk://docs%402/%E8%AF%B7%E6%B1%82/%D0%B7%D0%B0%D0%BF%D1%80%D0%BE%D1%81.md",
        );
        check("default", "100%.md", "chunk://default/100%25.md");
    }

    #[test]
    fn what_is_no_uri_is_refused() {
        for text in ["", "guide.md", "chunk://", "chunk://a", "chunk://a/", "chunk:///x", "chunk://a/%ff"] {
            assert_eq!(text.parse::<Uri>(), Err(()), "{text}");
        }
        for page in [
            "",
            "from=",
            "from=1",
            "from=1-",
            "from=x-ab",
            "from=1-zz",
            "from=-1-ab",
            "to=1-ab",
            "from=1.-ab",
            "from=1.x-ab",
        ] {
            assert_eq!(format!("chunk://a/b?{page}").parse::<Uri>(), Err(()), "{page}");
        }
    }
}
