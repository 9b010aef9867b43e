//! Hides where files are on this machine: reduces paths to names for callers who need no more.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::request::job::Job;
use crate::roots::Roots;
use crate::words::without_flags;

/// Replaces absolute paths in a sentence by their last part: `/srv/docs/a.md` becomes `…/a.md`. A path in backticks may
/// contain spaces; others end with the word.
pub fn without_places(sentence: &str) -> Cow<'_, str> {
    let mut shown = String::new();
    let (mut copied, mut before) = (0, ' ');
    for (at, c) in sentence.char_indices() {
        let may_begin = at >= copied && (before.is_whitespace() || "`\"'(=".contains(before));
        let opening = std::mem::replace(&mut before, c);
        if !may_begin || !is_absolute(&sentence[at..]) {
            continue;
        }
        let is_end = |c: char| match opening {
            '`' => c == '`' || c == '\n',
            _ => c.is_whitespace() || "`\"'),;".contains(c),
        };
        let path = sentence[at..].split(is_end).next().unwrap_or_default();
        let name = name_of(path);
        let folder = path.trim_end_matches(SEPARATORS).len() - name.len();
        // `/name` alone is not a file path: paths of the server look like this.
        if path[..folder].matches(SEPARATORS).count() > 1 && !name.is_empty() {
            shown.push_str(&sentence[copied..at]);
            shown.push_str("…/");
            copied = at + folder;
        }
    }
    if copied == 0 {
        return sentence.into();
    }
    shown.push_str(&sentence[copied..]);
    shown.into()
}

const SEPARATORS: [char; 2] = ['/', '\\'];

fn is_absolute(text: &str) -> bool {
    let drive = text.strip_prefix(|c: char| c.is_ascii_alphabetic()).and_then(|rest| rest.strip_prefix(':'));
    drive.unwrap_or(text).starts_with(SEPARATORS)
}

/// The last part of a path.
pub(crate) fn name_of(path: &str) -> &str {
    path.trim_end_matches(SEPARATORS).rsplit(SEPARATORS).next().unwrap_or_default()
}

impl Job {
    /// The job for callers who may not know where files are: its paths are relative to a root, as requests name them.
    #[must_use]
    pub fn without_places(mut self, roots: &Roots) -> Self {
        self.task.paths_mut().into_iter().for_each(|path| *path = shown(path, roots));
        self.answer.iter_mut().for_each(|answer| change_texts(answer, &without_places));
        if let Some(error) = &mut self.error {
            error.message = without_places(&error.message).into_owned();
        }
        self
    }
}

impl Job {
    /// The job for callers who write no flags.
    #[must_use]
    pub fn without_flags(mut self) -> Self {
        self.answer.iter_mut().for_each(|answer| change_texts(answer, &without_flags));
        if let Some(error) = &mut self.error {
            error.message = without_flags(&error.message).into_owned();
        }
        self
    }
}

fn shown(path: &Path, roots: &Roots) -> PathBuf {
    match roots.relative(path) {
        Some(rest) if rest.as_os_str().is_empty() => PathBuf::from("."),
        Some(rest) => rest.to_owned(),
        None => path.file_name().map_or_else(|| path.to_owned(), PathBuf::from),
    }
}

/// Changes every text of a value.
fn change_texts(value: &mut Value, change: &dyn Fn(&str) -> Cow<'_, str>) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(changed) = change(text) {
                *text = changed;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| change_texts(value, change)),
        Value::Object(values) => values.values_mut().for_each(|value| change_texts(value, change)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_names_files_and_not_where_they_are() {
        for (sentence, shown) in [
            ("`/srv/my docs/a.md` is not there", "`…/a.md` is not there"),
            (
                "unable to open database file: /var/lib/x/chunkwright.sqlite3",
                "unable to open database file: …/chunkwright.sqlite3",
            ),
            ("`/srv/a`, `C:\\Users\\me\\b.md` and /srv/c", "`…/a`, `…/b.md` and …/c"),
            ("/srv/store", "…/store"),
            ("`/srv/docs/`; `/health` stays", "`…/docs/`; `/health` stays"),
            ("日本 `/srv/文書/あ.md`", "日本 `…/あ.md`"),
            (
                "unknown document `notes/a.md` in `default`; and/or 1/2, https://h/x/y",
                "unknown document `notes/a.md` in `default`; and/or 1/2, https://h/x/y",
            ),
        ] {
            assert_eq!(without_places(sentence), shown);
        }
        assert_eq!((name_of("/srv/docs/"), name_of(""), name_of("a")), ("docs", "", "a"));
    }
}
