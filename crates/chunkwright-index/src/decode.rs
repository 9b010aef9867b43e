//! Bytes to text.

/// A file's text and how it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The text. The file's own bytes where it is UTF-8, its byte order mark kept, so that spans are
    /// byte offsets of the file.
    pub text: String,
    /// Name of the encoding, as on the web: `UTF-8`, `UTF-16LE`, `GBK`, ...
    pub encoding: &'static str,
    /// Whether the encoding is a guess from little text.
    pub low_confidence: bool,
    /// Number of malformed byte sequences that were replaced by U+FFFD.
    pub replacements: usize,
}

/// Decodes the bytes of a file; `None` if they are not text.
pub fn decode(bytes: Vec<u8>) -> Option<Decoded> {
    unimplemented!()
}
