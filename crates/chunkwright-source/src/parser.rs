//! Chooses the parser of a text by the name of its file and its first line.

use std::path::Path;

use chunkwright::parse::Text;
use chunkwright::{PARSERS, Parser};

/// Bytes from which the language of source code is detected.
const HEAD: usize = 8 << 10;

/// The parser for a file of these bytes, which are text.
pub(crate) fn parser_of(path: &Path, bytes: &[u8]) -> &'static dyn Parser {
    parser_for(path, &String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]))
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
