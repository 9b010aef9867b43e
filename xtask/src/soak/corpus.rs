//! The initial texts of worlds, and the edits of people.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::random::Random;
use crate::shell;

/// Files and folders of the repository with texts in English, Chinese and Russian, and code.
const SOURCES: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "examples/corpus",
    "crates/chunkwright/tests/samples",
    "crates/chunkwright-code/tests/samples",
];

/// Maximum length of a text, in bytes.
const LONGEST: usize = 6_000;

/// Folders for files, and prefixes of names that are hard to handle.
const PLACES: &[&str] = &["", "", "guide/", "src/", "api/v1/", "заметки/", "说明 文件/", "a#0 ", "50+ "];

/// Texts with the names of their files.
#[derive(Clone, Debug)]
pub(crate) struct Corpus {
    texts: Vec<(String, String)>,
}

impl Corpus {
    /// All texts of the repository that are used.
    pub(crate) fn read() -> Result<Self> {
        let mut files = Vec::new();
        for source in SOURCES {
            list(&shell::root().join(source), &mut files)?;
        }
        files.sort();
        let mut texts = Vec::new();
        for file in files {
            let Ok(text) = fs::read_to_string(&file) else { continue };
            let name = file.file_name().context("a file has a name")?.to_string_lossy().into_owned();
            texts.push((name, beginning(&text).to_owned()));
        }
        Ok(Self { texts })
    }

    /// A new file: where it is put, and what is in it.
    pub(crate) fn file(&self, random: &mut Random) -> (String, String) {
        let Some((name, text)) = random.pick(&self.texts) else { return ("a.md".into(), "# A\n".into()) };
        let place = random.pick(PLACES).copied().unwrap_or_default();
        let number = if random.chance(50) { format!("{}-", random.within(0..40)) } else { String::new() };
        (format!("{place}{number}{name}"), text.clone())
    }

    /// A line of some text.
    fn line(&self, random: &mut Random) -> String {
        let text = random.pick(&self.texts).map_or("", |(_, text)| text);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        random.pick(&lines).map_or_else(String::new, |&line| line.to_owned())
    }

    /// Edits a text in one of the ways that people do.
    pub(crate) fn edit(&self, text: &str, random: &mut Random) -> String {
        let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
        let at = random.within(0..lines.len());
        let end = (at + random.within(1..8)).min(lines.len());
        match random.within(0..12) {
            0..4 => return letter(text, random),
            4 => lines.insert(at, self.line(random)),
            5 => drop(lines.remove(at)),
            6 => lines[at] = self.line(random),
            7 => {
                let block = lines[at..end].to_vec();
                let to = random.within(0..lines.len());
                drop(lines.splice(to..to, block));
            }
            8 => {
                let block: Vec<String> = lines.drain(at..end).collect();
                let to = random.within(0..lines.len() + 1);
                drop(lines.splice(to..to, block));
            }
            9 => lines.extend([String::new(), self.line(random), self.line(random)]),
            10 if text.contains("\r\n") => return text.replace("\r\n", "\n"),
            10 => return text.replace('\n', "\r\n"),
            _ => {
                // A lost brace or fence.
                let marks: Vec<usize> =
                    text.match_indices(['{', '}', '`', '#', '(']).map(|(at, _)| at).collect();
                let mut text = text.to_owned();
                if let Some(&at) = random.pick(&marks) {
                    text.remove(at);
                }
                return text;
            }
        }
        lines.join("\n")
    }
}

/// Replaces one letter by another, so that the length stays the same.
pub(crate) fn letter(text: &str, random: &mut Random) -> String {
    let letters: Vec<usize> =
        text.char_indices().filter(|(_, letter)| letter.is_ascii_lowercase()).map(|(at, _)| at).collect();
    let Some(&at) = random.pick(&letters) else { return format!("{text}x") };
    let old = text.as_bytes()[at];
    let new = b'a' + (old - b'a' + random.within(1..26) as u8) % 26;
    [&text[..at], &char::from(new).to_string(), &text[at + 1..]].concat()
}

fn list(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_file() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path).with_context(|| format!("`{}` cannot be read", path.display()))? {
        list(&entry?.path(), files)?;
    }
    Ok(())
}

/// The first lines of a text.
fn beginning(text: &str) -> &str {
    if text.len() <= LONGEST {
        return text;
    }
    let end = text.as_bytes()[..LONGEST].iter().rposition(|&byte| byte == b'\n');
    &text[..end.map_or(0, |end| end + 1)]
}
