//! The reasons for which an entry is left out.

use std::fmt;

use crate::convert::ConvertError;
use serde::{Deserialize, Serialize};

use crate::format::ReadError;

/// An entry that was left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Skipped {
    /// Where it is, relative to the path that was given, printable like a document's id.
    pub path: String,
    /// Why it was left out.
    pub reason: SkipReason,
}

/// Why an entry was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SkipReason {
    /// Its name starts with a dot.
    Hidden,
    /// A `.gitignore` or `.ignore` file says so.
    Ignored,
    /// It is not text, nor a document that can be converted.
    Binary,
    /// It is a document of a format that is known and not read.
    Unsupported,
    /// It is a document that needs a password.
    Encrypted,
    /// It is a document without text, such as a scan.
    NoText,
    /// A program wrote it, and such files were not wanted.
    Generated,
    /// Its line breaks were taken out.
    Minified,
    /// It is a drawing, whose text is coordinates.
    Drawing,
    /// It lists the versions that a package manager chose.
    LockFile,
    /// It maps the output of a compiler to its source.
    SourceMap,
    /// It is data in base64, and little else.
    DataUri,
    /// The patterns or types that were asked for leave it out.
    Excluded,
    /// It is larger than the limit.
    TooLarge,
    /// Its name or its content is that of a file with credentials, or secrets in it cannot be redacted.
    Secret,
    /// It is a FIFO, a socket or a device.
    NotRegular,
    /// It may not be read.
    Permission,
    /// It is a symbolic link; links are not followed, what they point at is indexed where it is.
    Symlink,
    /// It is a symbolic link to nothing.
    Dangling,
    /// It is a symbolic link that leads out of the path given.
    OutsideRoot,
    /// It went away while it was about to be read.
    Vanished,
    /// It changed while it was read, twice.
    Unstable,
    /// Its path is longer than the system can open.
    PathTooLong,
    /// The system could not read it, for a reason without a name here.
    Unreadable,
}

impl SkipReason {
    /// The name that reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hidden => "hidden",
            Self::Ignored => "ignored",
            Self::Binary => "binary",
            Self::Unsupported => "unsupported",
            Self::Encrypted => "encrypted",
            Self::NoText => "no_text",
            Self::Generated => "generated",
            Self::Minified => "minified",
            Self::Drawing => "drawing",
            Self::LockFile => "lock_file",
            Self::SourceMap => "source_map",
            Self::DataUri => "data_uri",
            Self::Excluded => "excluded",
            Self::TooLarge => "too_large",
            Self::Secret => "secret",
            Self::NotRegular => "not_regular",
            Self::Permission => "permission",
            Self::Symlink => "symlink",
            Self::Dangling => "dangling",
            Self::OutsideRoot => "outside_root",
            Self::Vanished => "vanished",
            Self::Unstable => "unstable",
            Self::PathTooLong => "path_too_long",
            Self::Unreadable => "unreadable",
        }
    }

    /// The reason, as a clause for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Hidden => "its name starts with a dot",
            Self::Ignored => "an ignore file says so",
            Self::Binary => "it is neither text nor a document that can be converted",
            Self::Unsupported => {
                "it is a document of a format that is not read; save it as PDF, as `.docx`, `.xlsx` or `.pptx`, or as text"
            }
            Self::Encrypted => "it is encrypted; save a copy without a password",
            Self::NoText => "it has no text; scanned pages need text recognition (OCR) first",
            Self::Generated => "a program wrote it",
            Self::Minified => "its line breaks were taken out",
            Self::Drawing => "it is a drawing",
            Self::LockFile => "it is a lock file",
            Self::SourceMap => "it is a source map",
            Self::DataUri => "it is encoded data and little else",
            Self::Excluded => "`include`, `exclude` or `type` leaves it out",
            Self::TooLarge => "it is larger than the limit",
            Self::Secret => {
                "its name or content is that of a file with credentials, or secrets in it cannot be redacted"
            }
            Self::NotRegular => "it is a pipe, a socket or a device",
            Self::Permission => "it may not be read",
            Self::Symlink => "it is a symbolic link; what it points at is read where it is",
            Self::Dangling => "it is a symbolic link to nothing",
            Self::OutsideRoot => "it is a symbolic link that leads out of the path given",
            Self::Vanished => "it went away",
            Self::Unstable => "it changed while it was read, twice",
            Self::PathTooLong => "its path is too long",
            Self::Unreadable => "it could not be read",
        }
    }

    /// The reason to leave out what cannot be read for `error`; `None` if that is a failure.
    pub fn of(error: &ReadError) -> Option<Self> {
        match error {
            ReadError::Binary => Some(Self::Binary),
            ReadError::Secret => Some(Self::Secret),
            ReadError::Convert(ConvertError::Unsupported { .. }) => Some(Self::Unsupported),
            ReadError::Convert(ConvertError::Encrypted) => Some(Self::Encrypted),
            ReadError::Convert(ConvertError::NoText) => Some(Self::NoText),
            ReadError::Convert(ConvertError::TooLarge { .. }) => Some(Self::TooLarge),
            ReadError::Convert(_) => None,
        }
    }

    /// Whether it is left out as noise, so that an include pattern takes it.
    pub fn is_noise(self) -> bool {
        matches!(self, Self::Drawing | Self::LockFile | Self::SourceMap | Self::Minified | Self::DataUri)
    }

    /// Whether it is a document that a person can read and this program cannot.
    pub fn is_unread(self) -> bool {
        matches!(self, Self::Unsupported | Self::Encrypted | Self::NoText)
    }

    /// Whether the entry may hold a document that merely could not be read now: its stored version stays, even when
    /// vanished documents are removed.
    pub fn is_temporary(self) -> bool {
        matches!(self, Self::Permission | Self::Unstable | Self::Unreadable)
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
