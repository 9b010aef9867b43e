//! Text of documents that are not text (PDF, Word, `PowerPoint`, Excel, EPUB) or whose text is encoded (mail, RTF,
//! vCards, the JSON of layout models), with its positions in them.
//!
//! A PDF or a mail has no text that a chunk could be a stretch of, so it is converted to Markdown
//! first: headings, lists, tables and listings as such. The converted text is the document's source; its
//! chunks say on which pages, slides, sheets, chapters, messages or paragraphs of the file they stand
//! ([`Positions`]).
//!
//! Libraries read the formats; this module is the seam to them and contains hostile files: their size is bounded before
//! and after unpacking, and a library that panics costs one document. The memory that a library takes is bounded if it
//! runs in a child process ([`contain_in`]): a PDF of 1 KB may hold a stream that unpacks to gigabytes.

#[cfg(any(feature = "epub", feature = "office"))]
#[cfg_attr(not(feature = "office"), allow(dead_code, reason = "only Office files are rewritten"))]
mod archive;
mod child;
mod docling;
#[cfg(feature = "epub")]
mod epub;
mod layout;
#[cfg(feature = "mail")]
mod mail;
#[cfg_attr(
    not(all(feature = "epub", feature = "mail")),
    allow(dead_code, reason = "not every format needs all of it")
)]
mod markdown;
mod marker;
mod mineru;
#[cfg(feature = "office")]
mod office;
mod omission;
#[cfg(feature = "pdf")]
mod pdf;
mod rtf;
mod unsupported;
mod vcard;

use std::thread;
use std::time::Duration;

use chunkwright::Positions;
use serde::{Deserialize, Serialize};

pub use child::{CHILD, Container, contain_in, run_child};
pub use omission::Omission;

/// Largest file that is converted, in bytes (128 MiB).
pub const MAX_FILE_SIZE: usize = 128 << 20;

/// Most bytes that a packed file may unpack to (512 MiB).
pub const MAX_UNPACKED_SIZE: u64 = 512 << 20;

/// Most bytes of converted text (64 MiB).
pub const MAX_TEXT_SIZE: usize = 64 << 20;

/// Longest time that one file is given. Real ones take a few milliseconds a page.
pub const MAX_TIME: Duration = Duration::from_mins(2);

/// Stack that a converter may use: libraries recurse over nested objects. It is reserved, not used.
const STACK_SIZE: usize = if cfg!(target_pointer_width = "64") { 1 << 30 } else { 64 << 20 };

/// Reads one binary format.
pub trait Converter: Send + Sync {
    /// The format's name: `pdf`, `docx`, ...
    fn name(&self) -> &'static str;

    /// File name extensions, lower case, without the dot. None for a format of JSON, which is known by what it holds.
    fn extensions(&self) -> &'static [&'static str];

    /// Whether `bytes` are of this format. `extension` is that of the file's name, lower case; it decides
    /// only where the bytes do not.
    fn recognizes(&self, extension: &str, bytes: &[u8]) -> bool;

    /// Whether its files are text whose secrets can be replaced before it is converted.
    fn is_text(&self) -> bool {
        false
    }

    /// The text of `bytes` and where it stands. Called through [`convert`], which contains what may go
    /// wrong.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or contains no text.
    fn convert(&self, bytes: &[u8]) -> Result<Converted, ConvertError>;
}

/// The formats of this build.
pub static CONVERTERS: &[&dyn Converter] = &[
    #[cfg(feature = "pdf")]
    &pdf::Pdf,
    #[cfg(feature = "office")]
    &office::DOCX,
    #[cfg(feature = "office")]
    &office::PPTX,
    #[cfg(feature = "office")]
    &office::XLSX,
    #[cfg(feature = "epub")]
    &epub::Epub,
    #[cfg(feature = "mail")]
    &mail::Mail,
    #[cfg(feature = "mail")]
    &mail::Mailbox,
    &rtf::Rtf,
    &vcard::VCard,
    &docling::Docling,
    &mineru::MinerU,
    &marker::Marker,
];

/// A file's text as Markdown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Converted {
    /// The text. U+FFFD stands for what could not be read.
    pub text: String,
    /// Its positions in the file.
    pub positions: Positions,
    /// What the file holds and the text does not.
    pub omissions: Vec<Omission>,
}

impl Converted {
    /// A text without omissions.
    pub fn new(text: String, positions: Positions) -> Self {
        Self { text, positions, omissions: Vec::new() }
    }
}

/// Why a file was not converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// It needs a password.
    #[error("it is encrypted; save a copy without a password")]
    Encrypted,
    /// It holds pictures of text at most.
    #[error("it has no text; scanned pages need text recognition (OCR) first")]
    NoText,
    /// The file, its unpacked content, or its text is too large.
    #[error("it is too large to convert: {what} is over {limit} bytes")]
    TooLarge {
        /// The part that is too large.
        what: &'static str,
        /// The limit, in bytes.
        limit: u64,
    },
    /// It is a document of a format that is known and not read.
    #[error("it is {what}, which is not read; save it as PDF, as `.docx`, `.xlsx` or `.pptx`, or as text")]
    Unsupported {
        /// What it is, for people.
        what: &'static str,
    },
    /// It breaks the rules of its format.
    #[error("it is damaged or not a `{format}` file: {problem}")]
    Damaged {
        /// The format's name.
        format: &'static str,
        /// The library's error.
        problem: String,
    },
    /// It takes longer than [`MAX_TIME`].
    #[error("the conversion took longer than {seconds} seconds")]
    TooLong {
        /// The limit, in seconds.
        seconds: u64,
    },
    /// The system has no thread to convert it in.
    #[error("the thread that converts it could not be started: {problem}")]
    Thread {
        /// The system's error.
        problem: String,
    },
    /// It takes more memory than it may.
    #[error("the conversion needs more than {limit} MB of memory")]
    TooMuchMemory {
        /// The limit, in megabytes of 2^20 bytes.
        limit: u64,
    },
    /// The library panicked.
    #[error("the `{format}` converter failed on it; please report this")]
    Failed {
        /// The format's name.
        format: &'static str,
    },
}

/// The converter for a file, by its bytes; `None` if it is not a binary document. `extension` is that of the file's
/// name, in any case; it may be empty.
pub fn converter_for(extension: &str, bytes: &[u8]) -> Option<&'static dyn Converter> {
    let extension = extension.to_ascii_lowercase();
    let unsupported = unsupported::UNSUPPORTED.iter().map(|format| format as &dyn Converter);
    CONVERTERS.iter().copied().chain(unsupported).find(|converter| converter.recognizes(&extension, bytes))
}

/// Converts a file with `converter`, in a process of its own if a program was named for that ([`contain_in`]). Without
/// one the conversion happens here and nothing bounds its time and its memory: nothing can end a thread.
///
/// # Errors
///
/// If the file is too large, takes too much time or memory, cannot be read, or contains no text.
pub fn convert(converter: &'static dyn Converter, bytes: &[u8]) -> Result<Converted, ConvertError> {
    if bytes.len() > MAX_FILE_SIZE {
        return Err(ConvertError::TooLarge { what: "the file", limit: MAX_FILE_SIZE as u64 });
    }
    match child::container() {
        Some(container) if CONVERTERS.iter().any(|known| known.name() == converter.name()) => {
            container.convert(converter, bytes)
        }
        _ => convert_here(STACK_SIZE, converter, bytes),
    }
}

/// Converts a file in a thread with a stack of `stack` bytes, which has room for recursion.
fn convert_here(
    stack: usize,
    converter: &'static dyn Converter,
    bytes: &[u8],
) -> Result<Converted, ConvertError> {
    let format = converter.name();
    let found = thread::scope(|scope| {
        let thread = thread::Builder::new()
            .name(format!("convert {format}"))
            .stack_size(stack)
            .spawn_scoped(scope, || converter.convert(bytes))
            .map_err(|error| ConvertError::Thread { problem: error.to_string() })?;
        // Libraries for these formats are large and their input is hostile: one that panics costs this document and
        // not the run.
        thread.join().unwrap_or(Err(ConvertError::Failed { format }))
    })?;
    if found.text.len() > MAX_TEXT_SIZE {
        return Err(ConvertError::TooLarge { what: "its text", limit: MAX_TEXT_SIZE as u64 });
    }
    if !found.text.contains(char::is_alphanumeric) {
        return Err(ConvertError::NoText);
    }
    Ok(found)
}
