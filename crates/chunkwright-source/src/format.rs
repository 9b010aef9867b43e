//! Turns bytes into a parsed document: chooses the parser or the converter of a file.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::convert::{CONVERTERS, ConvertError, Converter, Omission, convert, converter_for};
use chunkwright::parse::Markdown;
use chunkwright::{Document, PARSERS, Parser, Positions};

use crate::decode::decode;
use crate::parser::parser_of;
use crate::redact::{redact, redact_bytes};

/// The way a file is read.
#[derive(Clone, Copy)]
pub enum Format {
    /// As text, by a parser.
    Text(&'static dyn Parser),
    /// Converted to Markdown first.
    Binary(&'static dyn Converter),
}

impl Format {
    /// The format of a file: a binary document by its bytes, text as [`parser_for`](crate::parser_for) says. `path`
    /// need not exist.
    pub fn of(path: &Path, bytes: &[u8]) -> Self {
        let extension = path.extension().map(|extension| extension.to_string_lossy()).unwrap_or_default();
        converter_for(&extension, bytes).map_or_else(|| Self::Text(parser_of(path, bytes)), Self::Binary)
    }

    /// The format of this name: a format of text, a converter, or a language by its name or an alias.
    pub fn named(name: &str) -> Option<Self> {
        let parser = PARSERS.iter().find(|parser| parser.name() == name).copied();
        let converter = || CONVERTERS.iter().find(|converter| converter.name() == name).copied();
        let text = parser.map(Self::Text).or_else(|| converter().map(Self::Binary));
        text.or_else(|| chunkwright_code::language_named(name).map(Self::Text))
    }

    /// Whether documents of the format of this name are shown as they render: HTML and notebooks.
    pub fn renders(name: &str) -> bool {
        matches!(Self::named(name), Some(Self::Text(parser)) if parser.renders())
    }

    /// The format's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text(parser) => parser.name(),
            Self::Binary(converter) => converter.name(),
        }
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text of a file and how its bytes were read.
#[derive(Clone, Debug)]
pub struct Source {
    /// The text that becomes the document's source.
    pub text: Arc<str>,
    /// Positions of the text in a converted file.
    pub positions: Option<Positions>,
    /// The format that it was read as.
    pub format: Format,
    /// BLAKE3 of the bytes, hex.
    pub file_hash: String,
    /// Name of the encoding, as on the web; of converted text UTF-8.
    pub encoding: &'static str,
    /// Whether the encoding is a guess from little text.
    pub low_confidence: bool,
    /// Number of malformed byte sequences, or of what could not be read of a converted file: each was
    /// replaced by U+FFFD.
    pub replacements: usize,
    /// Number of NUL characters in the text.
    pub nuls: usize,
    /// What a converted file holds and the text does not.
    pub omissions: Vec<Omission>,
}

/// Why bytes are not a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// They are not text, and of no format that is converted.
    #[error("it is neither text nor a document that can be converted")]
    Binary,
    /// They are of a format that is converted, and the converted text holds keys or passwords, which cannot be removed
    /// from the bytes.
    #[error("it holds a key or a password, which cannot be redacted in a document of this format")]
    Secret,
    /// They are of a format that is converted, but this one was not.
    #[error(transparent)]
    Convert(#[from] ConvertError),
}

/// Decodes or converts a file's bytes. `path` tells the format and need not exist.
///
/// # Errors
///
/// Bytes that are not text, and binary documents without any that can be read.
pub fn read(path: &Path, bytes: &[u8]) -> Result<Source, ReadError> {
    read_as(Format::of(path, bytes), bytes)
}

/// Decodes or converts bytes of a format.
///
/// # Errors
///
/// As those of [`read`].
pub fn read_as(format: Format, bytes: &[u8]) -> Result<Source, ReadError> {
    let file_hash = file_hash(bytes);
    if let Format::Binary(converter) = format {
        let converted = convert(converter, bytes)?;
        return Ok(Source {
            replacements: converted.text.matches(char::REPLACEMENT_CHARACTER).count(),
            text: converted.text.into(),
            positions: Some(converted.positions),
            format,
            file_hash,
            encoding: "UTF-8",
            low_confidence: false,
            nuls: 0,
            omissions: converted.omissions,
        });
    }
    let decoded = decode(bytes).ok_or(ReadError::Binary)?;
    Ok(Source {
        text: decoded.text.into(),
        positions: None,
        format,
        file_hash,
        encoding: decoded.encoding,
        low_confidence: decoded.low_confidence,
        replacements: decoded.replacements,
        nuls: decoded.nuls,
        omissions: Vec::new(),
    })
}

/// As [`read_as`], without the keys and passwords in the text.
///
/// # Errors
///
/// As those of [`read`], and documents that are converted and hold some.
pub fn read_redacted(format: Format, bytes: &[u8]) -> Result<Source, ReadError> {
    let source = read_as(format, &redact_bytes(format, Cow::Borrowed(bytes)))?;
    match format {
        Format::Binary(_) if redact(&source.text).is_some() => Err(ReadError::Secret),
        _ => Ok(source),
    }
}

impl Source {
    /// Whether it is source code.
    pub fn is_code(&self) -> bool {
        match self.format {
            Format::Text(parser) => chunkwright_code::language_named(parser.name()).is_some(),
            Format::Binary(_) => false,
        }
    }

    /// The document, with `doc_id` as its id.
    pub fn parse(self, doc_id: &str) -> Document {
        let parser = match self.format {
            Format::Text(parser) => parser,
            Format::Binary(_) => &Markdown,
        };
        let document = parse(doc_id, self.text, parser);
        match self.positions {
            Some(positions) => document.with_positions(positions),
            None => document,
        }
    }
}

/// The document of a text, with the languages that its blocks of code may name.
pub fn parse(doc_id: &str, text: impl Into<Arc<str>>, parser: &dyn Parser) -> Document {
    Document::parse(doc_id, text, parser).with_languages(chunkwright_code::language_named)
}

/// BLAKE3 of a file's bytes, hex.
pub fn file_hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
