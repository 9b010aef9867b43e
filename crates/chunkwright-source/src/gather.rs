//! Gathers documents from paths and from memory: each once, in order, and every omission reported.

use std::collections::HashSet;
use std::collections::hash_map::{Entry, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

use chunkwright::Document;

use crate::format::{self, Format, ReadError};
use crate::memory::NewSource;
use crate::noise;
use crate::secret::is_key;
use crate::skip::{SkipReason, Skipped};
use crate::walk::{SourceError, SourceFile, WalkOptions, is_pattern, missing, read_file, walk};

/// An input from the caller.
#[derive(Clone, Debug)]
pub enum Input {
    /// A file or folder.
    Path(PathBuf),
    /// A document from memory.
    Memory {
        /// The document.
        document: NewSource,
        /// The name of its origin in messages.
        place: String,
    },
    /// A document whose bytes come when it is read and not before, such as those of standard input.
    Stream {
        /// Its key, which tells its format.
        doc_id: String,
        /// The name of its origin in messages, such as `-` for standard input.
        place: String,
        /// Gives the bytes.
        stream: Stream,
    },
}

impl Input {
    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Path(path) if path.is_file() => Some(path),
            _ => None,
        }
    }
}

/// Gives all bytes of a document.
#[derive(Clone)]
pub struct Stream(Arc<dyn Fn() -> io::Result<Vec<u8>> + Send + Sync>);

impl Stream {
    /// A stream that `read` reads to its end.
    pub fn new(read: impl Fn() -> io::Result<Vec<u8>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stream")
    }
}

/// The items to read, with everything left out.
#[derive(Debug, Default)]
pub struct Inputs {
    /// The items to read, in order.
    pub items: Vec<Item>,
    /// Entries that were left out, with the reasons.
    pub skipped: Vec<Skipped>,
    /// Requested inputs that cannot be read.
    pub errors: Vec<InputError>,
}

/// Something to read.
#[derive(Clone, Debug)]
pub struct Item {
    origin: Origin,
    /// Whether keys and passwords in its text are replaced.
    redact: bool,
}

#[derive(Clone, Debug)]
enum Origin {
    /// A file. One that was `named`, not found in a folder, is an error if it may not be read.
    File {
        file: SourceFile,
        named: bool,
    },
    Memory {
        document: NewSource,
        place: String,
    },
    Stream {
        doc_id: String,
        place: String,
        stream: Stream,
    },
}

/// A document that was read and is not parsed yet.
#[derive(Clone, Debug)]
pub struct ReadSource {
    /// Its key in its collection.
    pub doc_id: String,
    /// Its text, and how its bytes were read.
    pub source: format::Source,
}

/// Why an item was not read.
#[derive(Debug)]
pub enum Unread {
    /// It was left out, as a folder's binary files are.
    Skipped(Skipped),
    /// It was requested by name and could not be read.
    Failed(InputError),
}

/// Why a requested input is not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// A path that does not exist.
    #[error("{}", missing(path, "a file, a folder, or `-` for standard input"))]
    Missing {
        /// The path.
        path: String,
    },
    /// A path that cannot be examined.
    #[error("`{path}` cannot be read ({kind}); give a file or folder that can be")]
    Unreadable {
        /// The path.
        path: String,
        /// The system's error.
        kind: io::ErrorKind,
    },
    /// Paths that cannot be walked.
    #[error(transparent)]
    Walk(#[from] SourceError),
    /// Two documents that would have one id: the second would get the ids of the first one's chunks.
    #[error(
        "`{first}` and `{second}` would both be the document `{doc_id}`; give the folder that holds both"
    )]
    SameId {
        /// The origin of the first.
        first: String,
        /// The origin of the second.
        second: String,
        /// Their id.
        doc_id: String,
    },
    /// A stream that cannot be read.
    #[error(transparent)]
    Stream(io::Error),
    /// A file that was left out, though it was named.
    #[error("`{place}` was not read: {}", reason.sentence())]
    LeftOut {
        /// The file.
        place: String,
        /// Why.
        reason: SkipReason,
    },
    /// Bytes that are not a document.
    #[error("`{place}` was not read: {error}")]
    Read {
        /// Their origin.
        place: String,
        /// Why.
        error: ReadError,
    },
}

impl Inputs {
    /// Examines the inputs. Unreadable ones are recorded, and the rest continues. Folders are walked on the threads of
    /// the rayon pool that this runs in.
    pub fn gather(given: &[Input], options: &WalkOptions) -> Self {
        let mut inputs = Self::default();
        let redact = options.redact_secrets;
        let (mut there, mut paths, mut places) = (Vec::new(), HashSet::new(), HashSet::new());
        for input in given {
            match input {
                // An input given twice counts once.
                Input::Memory { document, place } => {
                    if places.insert(place) {
                        let (document, place) = (document.clone(), place.clone());
                        inputs.items.push(Item { origin: Origin::Memory { document, place }, redact });
                    }
                }
                Input::Stream { doc_id, place, stream } => {
                    if places.insert(place) {
                        let (doc_id, place, stream) = (doc_id.clone(), place.clone(), stream.clone());
                        let origin = Origin::Stream { doc_id, place, stream };
                        inputs.items.push(Item { origin, redact });
                    }
                }
                Input::Path(path) if is_pattern(path) => there.push(path.clone()),
                Input::Path(path) => match path.canonicalize() {
                    Ok(real) => there.extend(paths.insert(real).then(|| path.clone())),
                    // An unreadable path does not exclude the others.
                    Err(error) => inputs.errors.push(unreadable(path, &error)),
                },
            }
        }
        match walk(&there, options) {
            Ok(walk) => {
                inputs.skipped.extend(walk.skipped);
                for file in walk.files {
                    if let Some(reason) = file.left_out {
                        inputs.skipped.push(Skipped { path: file.doc_id, reason });
                        continue;
                    }
                    let named = paths.contains(&file.path);
                    inputs.items.push(Item { origin: Origin::File { file, named }, redact });
                }
            }
            Err(error) => inputs.errors.push(error.into()),
        }
        inputs.keep_first_of_each_id();
        inputs
    }

    fn keep_first_of_each_id(&mut self) {
        let mut places: HashMap<String, String> = HashMap::new();
        let errors = &mut self.errors;
        self.items.retain(|item| match places.entry(item.doc_id().to_owned()) {
            Entry::Vacant(entry) => {
                entry.insert(item.place());
                true
            }
            Entry::Occupied(first) => {
                let (first, doc_id) = (first.get().clone(), item.doc_id().to_owned());
                errors.push(InputError::SameId { first, second: item.place(), doc_id });
                false
            }
        });
    }
}

fn unreadable(path: &Path, error: &io::Error) -> InputError {
    let path = path.display().to_string();
    match error.kind() {
        io::ErrorKind::NotFound => InputError::Missing { path },
        kind => InputError::Unreadable { path, kind },
    }
}

impl Item {
    /// The document's key in its collection.
    pub fn doc_id(&self) -> &str {
        match &self.origin {
            Origin::File { file, .. } => &file.doc_id,
            Origin::Memory { document, .. } => &document.doc_id,
            Origin::Stream { doc_id, .. } => doc_id,
        }
    }

    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match &self.origin {
            Origin::File { file, .. } => Some(&file.path),
            Origin::Memory { .. } | Origin::Stream { .. } => None,
        }
    }

    /// Its origin, for messages.
    fn place(&self) -> String {
        match &self.origin {
            Origin::File { file, .. } => file.path.display().to_string(),
            Origin::Memory { place, .. } | Origin::Stream { place, .. } => place.clone(),
        }
    }

    /// Reads and decodes it.
    ///
    /// # Errors
    ///
    /// Items that are left out, and requested items that could not be read.
    pub fn read(&self) -> Result<ReadSource, Unread> {
        let read = match &self.origin {
            Origin::File { file, .. } => {
                let (bytes, _) =
                    read_file(file, &WalkOptions::default()).map_err(|reason| self.unread(reason))?;
                if is_key(&bytes) {
                    return Err(self.unread(SkipReason::Secret));
                }
                self.decode(Format::of(&file.path, &bytes), &bytes)
            }
            Origin::Memory { document, .. } => self.decode(document.format(), &document.bytes),
            Origin::Stream { doc_id, stream, .. } => {
                let bytes = (stream.0)().map_err(|error| Unread::Failed(InputError::Stream(error)))?;
                self.decode(Format::of(Path::new(doc_id), &bytes), &bytes)
            }
        };
        let source = read.map_err(|error| match (SkipReason::of(&error), self.file()) {
            (Some(reason), Some(_)) => self.unread(reason),
            _ => Unread::Failed(InputError::Read { place: self.place(), error }),
        })?;
        if let Origin::File { file, .. } = &self.origin
            && !file.wanted
            && let Some(reason) = noise::of_text(&file.path, &source.text, source.is_code())
        {
            return Err(self.unread(reason));
        }
        Ok(ReadSource { doc_id: self.doc_id().to_owned(), source })
    }

    fn decode(&self, format: Format, bytes: &[u8]) -> Result<format::Source, ReadError> {
        if self.redact { format::read_redacted(format, bytes) } else { format::read_as(format, bytes) }
    }

    fn unread(&self, reason: SkipReason) -> Unread {
        match &self.origin {
            Origin::File { named: true, .. } if reason.is_temporary() => {
                Unread::Failed(InputError::LeftOut { place: self.place(), reason })
            }
            _ => Unread::Skipped(Skipped { path: self.doc_id().to_owned(), reason }),
        }
    }
}

impl ReadSource {
    /// The document.
    pub fn parse(self) -> Document {
        self.source.parse(&self.doc_id)
    }
}
