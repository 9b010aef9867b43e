//! Patterns of document ids: one language of globs wherever ids are chosen.

use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A pattern: `*` matches within a folder, `**` across folders, `?` one character, `[ab]` one of several, `{a,b}`
/// either. A text matches itself, whatever characters it has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("format" = "glob")))]
#[serde(try_from = "String", into = "String")]
pub struct Glob(String);

/// A text that is not a glob.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid glob `{pattern}`: {error}; write `\\` before a character that stands for itself")]
pub struct GlobError {
    /// The text.
    pattern: String,
    /// The error of the pattern.
    error: fast_glob::Error,
}

/// Characters that mean something in a pattern.
const SPECIAL: [char; 8] = ['*', '?', '[', ']', '{', '}', '!', '\\'];

impl Glob {
    /// The pattern `pattern`.
    ///
    /// # Errors
    ///
    /// A text that is not a glob, such as one with an open bracket.
    pub fn new(pattern: impl Into<String>) -> Result<Self, GlobError> {
        let pattern = pattern.into();
        match fast_glob::validate(&pattern) {
            Ok(()) => Ok(Self(pattern)),
            Err(error) => Err(GlobError { pattern, error }),
        }
    }

    /// The pattern that `text` alone matches.
    pub fn literal(text: &str) -> Self {
        let mut literal = String::with_capacity(text.len());
        for c in text.chars() {
            literal.extend(SPECIAL.contains(&c).then_some('\\'));
            literal.push(c);
        }
        Self(literal)
    }

    /// The pattern for `text` as a part of a path: `text` itself if it has wildcards, else any path that contains it.
    pub fn anywhere(text: &str) -> Self {
        if text.contains(['*', '?', '{'])
            && let Ok(glob) = Self::new(text)
        {
            return glob;
        }
        let Self(literal) = Self::literal(text);
        Self(format!("{{**/*{literal}*,**/*{literal}*/**}}"))
    }

    /// The text that [`anywhere`](Self::anywhere) made it of, if it did.
    pub fn part(&self) -> Option<String> {
        let (literal, again) = self.0.strip_prefix("{**/*")?.strip_suffix("*/**}")?.split_once("*,**/*")?;
        if literal != again {
            return None;
        }
        let mut part = String::new();
        let mut chars = literal.chars();
        while let Some(c) = chars.next() {
            part.push(if c == '\\' { chars.next()? } else { c });
        }
        Some(part)
    }

    /// The pattern that matches in any case.
    #[must_use]
    pub fn in_any_case(&self) -> Self {
        let mut pattern = String::with_capacity(4 * self.0.len());
        let mut is_in_class = false;
        let mut chars = self.0.chars();
        while let Some(c) = chars.next() {
            let (mut lower, mut upper) = (c.to_lowercase(), c.to_uppercase());
            match (c, lower.next(), upper.next()) {
                ('\\', ..) => {
                    pattern.push(c);
                    pattern.extend(chars.next());
                }
                (_, Some(l), Some(u))
                    if l != u && !is_in_class && lower.next().is_none() && upper.next().is_none() =>
                {
                    pattern.extend(['[', l, u, ']']);
                }
                _ => {
                    is_in_class = c == '[' || is_in_class && c != ']';
                    pattern.push(c);
                }
            }
        }
        Self(pattern)
    }

    /// Whether `text` matches.
    pub fn matches(&self, text: &str) -> bool {
        self.0 == text || fast_glob::glob_match(&self.0, text)
    }

    /// The prefix of every text that matches.
    pub fn prefix(&self) -> &str {
        let end = self.0.find(SPECIAL).unwrap_or(self.0.len());
        &self.0[..end]
    }

    /// Whether a file at `path`, or a folder that it is in, matches. A pattern without `/` matches names, wherever they
    /// are.
    pub fn matches_file(&self, path: &str) -> bool {
        let pattern = self.0.trim_start_matches("./").trim_end_matches('/');
        let matches = |text: &str| pattern == text || fast_glob::glob_match(pattern, text);
        if !pattern.contains('/') {
            return path.split('/').any(matches);
        }
        let folders = path.match_indices('/').map(|(end, _)| &path[..end]);
        folders.chain([path]).any(matches)
    }

    /// The part of it that matches names of files.
    pub(crate) fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// The folder and the pattern below it that a path with wildcards means; `None` for a path without any.
    pub(crate) fn of_path(path: &Path) -> Option<(PathBuf, Self)> {
        let parts: Vec<_> = path.components().collect();
        let has_wildcard =
            |part: &Component<'_>| part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']);
        let first = parts.iter().position(has_wildcard)?;
        let folder: PathBuf = parts[..first].iter().collect();
        let pattern: PathBuf = parts[first..].iter().collect();
        let folder = if first == 0 { PathBuf::from(".") } else { folder };
        // A pattern of one name is for files in that folder alone.
        let glob = Self::new(format!("./{}", pattern.to_str()?)).ok()?;
        Some((folder, glob))
    }

    /// Whether it is the path of a file below the folder that it is relative to.
    pub(crate) fn matches_path(&self, path: &str) -> bool {
        let pattern = self.0.trim_start_matches("./");
        pattern == path || fast_glob::glob_match(pattern, path)
    }
}

impl FromStr for Glob {
    type Err = GlobError;

    fn from_str(pattern: &str) -> Result<Self, GlobError> {
        Self::new(pattern)
    }
}

impl TryFrom<String> for Glob {
    type Error = GlobError;

    fn try_from(pattern: String) -> Result<Self, GlobError> {
        Self::new(pattern)
    }
}

impl From<Glob> for String {
    fn from(glob: Glob) -> Self {
        glob.0
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
