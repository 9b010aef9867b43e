//! Where a value comes from.

use std::fmt;
use std::path::PathBuf;

use crate::settings::environment;
use crate::settings::layer::flag;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(super) source: Source,
    /// The key that was set there.
    pub(super) set: String,
    pub(super) why: Why,
}

/// The relation of a value to the key that was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// It was set.
    Set,
    /// It follows the size that was set, in proportion.
    Follows,
    /// It is limited by the size that was set.
    Limited,
    /// It is the preset selected by a key of another system.
    Selected,
}

impl Origin {
    pub(crate) fn set(source: Source, key: &str) -> Self {
        Self { source, set: key.to_owned(), why: Why::Set }
    }
}

/// The source of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// Built in.
    Default,
    /// A preset of this name.
    Preset(String),
    /// A configuration file.
    File(PathBuf),
    /// Variables `CHUNKWRIGHT_<KEY>`.
    Environment,
    /// Flags of a command line, whose values are text.
    Flags,
    /// A request or keywords, whose values are JSON.
    Request,
}

impl Source {
    /// Returns whether values are text that has to be parsed.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self, Self::Environment | Self::Flags)
    }

    /// A key and its source, for messages.
    pub(crate) fn name(&self, key: &str) -> String {
        match self {
            Self::Default | Self::Request => format!("`{key}`"),
            Self::Preset(name) => format!("`{key}` of the preset `{name}`"),
            Self::File(path) => format!("`{key}` in `{}`", path.display()),
            Self::Environment => format!("`{}`", environment::variable(key)),
            Self::Flags => format!("`{}`", flag(key)),
        }
    }
}

/// The source of the values, for messages about several of them.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("the defaults"),
            Self::Preset(name) => write!(f, "the preset `{name}`"),
            Self::File(path) => write!(f, "`{}`", path.display()),
            Self::Environment => f.write_str("the environment"),
            Self::Flags => f.write_str("the flags"),
            Self::Request => f.write_str("the request"),
        }
    }
}
