//! From bytes to a parsed document: which parser reads a file.

use std::path::Path;

use chunkwright::parse::Text;
use chunkwright::{Document, PARSERS, Parser};

use crate::decode::decode;

/// A document and how its bytes were read.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The document.
    pub document: Document,
    /// Name of the format's parser.
    pub format: &'static str,
    /// BLAKE3 of the bytes, hex.
    pub file_hash: String,
    /// Name of the encoding, as on the web.
    pub encoding: &'static str,
    /// Whether the encoding is a guess from little text.
    pub low_confidence: bool,
    /// Number of malformed byte sequences that were replaced by U+FFFD.
    pub replacements: usize,
}

/// Decodes and parses a file's bytes; `None` if they are not text. `path` tells the format and need not
/// exist; `doc_id` becomes the document's id.
pub fn parse(path: &Path, doc_id: &str, bytes: &[u8]) -> Option<Parsed> {
    let decoded = decode(bytes)?;
    let parser = parser_for(path, &head(bytes));
    Some(Parsed {
        document: Document::parse(doc_id, decoded.text, parser),
        format: parser.name(),
        file_hash: file_hash(bytes),
        encoding: decoded.encoding,
        low_confidence: decoded.low_confidence,
        replacements: decoded.replacements,
    })
}

/// BLAKE3 of a file's bytes, hex.
pub fn file_hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The first line, as far as a `#!` may reach.
pub(crate) fn head(bytes: &[u8]) -> String {
    let bytes = &bytes[..bytes.len().min(256)];
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// The parser for a file: source code by its name or `#!` line, other formats by their extension, and
/// plain text for the rest. `head` is how the text begins; one line is enough.
pub fn parser_for(path: &Path, head: &str) -> &'static dyn Parser {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    let by_extension = |parser: &&&'static dyn Parser| {
        extension.as_deref().is_some_and(|extension| parser.extensions().contains(&extension))
    };
    if let Some(language) = chunkwright_code::language_for(&name, head) {
        return language;
    }
    PARSERS.iter().find(by_extension).map_or(&Text, |parser| *parser)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_by_their_names() {
        for (name, format) in [
            ("docs/a.md", "markdown"),
            ("A.MARKDOWN", "markdown"),
            ("page.mdx", "mdx"),
            ("guide.rst", "rst"),
            ("guide.adoc", "asciidoc"),
            ("Cargo.lock", "text"),
            ("package-lock.json", "json"),
            ("app.webmanifest", "json"),
            ("train.jsonl", "jsonl"),
            (".github/workflows/ci.yml", "yaml"),
            ("pyproject.toml", "toml"),
            ("data.TSV", "csv"),
            ("todo.org", "org"),
            ("film.vtt", "subtitles"),
            ("server.log", "log"),
            ("notes.txt", "text"),
            ("LICENSE", "text"),
            ("x.unknown", "text"),
            ("src/main.py", "python"),
        ] {
            assert_eq!(parser_for(Path::new(name), "").name(), format, "{name}");
        }
        assert_eq!(parser_for(Path::new("run"), "#!/usr/bin/env python3\nprint(1)\n").name(), "python");
    }
}
