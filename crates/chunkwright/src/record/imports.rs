//! Finds the imports of a file that a text uses.
//!
//! The whole list belongs to the document. Repeated in every record it would grow with the square of the file: 420 KB
//! of Python gave 1.8 GB of records. So a record lists the imports whose names occur in its text, up to a limit.
//!
//! Names are found without knowing the language: the last word of each path in an import (`a.b.C`, `std::io::Read`,
//! `"lib/list.h"`), and the words around the paths that are not keywords. A name that occurs by chance lists one import
//! too many, which costs a few bytes.

use std::collections::{BTreeSet, HashMap};

/// Most imports that a record lists.
pub const MAX_IMPORTS: usize = 32;

/// Most bytes of one import in a record; a longer one ends in `...`.
pub const MAX_IMPORT_LEN: usize = 256;

/// Words of import statements that are not names.
const KEYWORDS: &[&str] = &[
    "alias",
    "as",
    "autoload",
    "class",
    "const",
    "crate",
    "def",
    "export",
    "extern",
    "extends",
    "from",
    "function",
    "hiding",
    "import",
    "include",
    "let",
    "library",
    "load",
    "local",
    "mod",
    "module",
    "only",
    "open",
    "package",
    "part",
    "pub",
    "public",
    "qualified",
    "require",
    "self",
    "show",
    "source",
    "static",
    "struct",
    "super",
    "type",
    "typeof",
    "use",
    "using",
    "var",
];

/// The imports of a document, by the names that they bring.
#[derive(Debug)]
pub(crate) struct Imports<'a> {
    imports: &'a [String],
    /// The first imports of each name, in order: as many as a record lists.
    by_name: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Imports<'a> {
    pub(crate) fn new(imports: &'a [String]) -> Self {
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, import) in imports.iter().enumerate() {
            for name in names(import) {
                let of_name = by_name.entry(name).or_default();
                if of_name.len() < MAX_IMPORTS && of_name.last() != Some(&index) {
                    of_name.push(index);
                }
            }
        }
        Self { imports, by_name }
    }

    /// The imports that `text` uses, in the order of the file.
    pub(crate) fn used_in(&self, text: &str) -> Vec<String> {
        if self.imports.is_empty() {
            return Vec::new();
        }
        let mut used = BTreeSet::<usize>::new();
        for (_, word) in words(text) {
            let of_name = self.by_name.get(word).map_or(&[][..], Vec::as_slice);
            debug_assert!(of_name.len() <= MAX_IMPORTS, "a name has {} imports", of_name.len());
            used.extend(of_name);
            while used.len() > MAX_IMPORTS {
                used.pop_last();
            }
        }
        used.into_iter().map(|index| shortened(&self.imports[index])).collect()
    }
}

fn shortened(import: &str) -> String {
    if import.len() <= MAX_IMPORT_LEN {
        return import.to_owned();
    }
    let end = (0..=MAX_IMPORT_LEN - 3).rev().find(|&at| import.is_char_boundary(at)).unwrap_or(0);
    format!("{}...", &import[..end])
}

/// The words of a text with their places: letters, digits, `_`.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(is_word)?;
        let end = text[start..].find(|c| !is_word(c)).map_or(text.len(), |end| start + end);
        at = end;
        Some((start, &text[start..end]))
    })
}

/// The names that an import brings.
fn names(import: &str) -> impl Iterator<Item = &str> {
    words(import)
        .filter(|&(start, word)| {
            let (before, after) = (&import[..start], &import[start + word.len()..]);
            // `list.h`, `base.css`, `task.dart`: a file has its name without the extension.
            let ends = |text: &str| {
                text.starts_with(['"', '\'', '>', '`', ';', ')']) || text.trim_start().is_empty()
            };
            let is_file = |text: &str| {
                text.strip_prefix('.').is_some_and(|text| {
                    let extension =
                        words(text).next().filter(|(at, _)| *at == 0).map_or(0, |(_, word)| word.len());
                    (1..=5).contains(&extension)
                        && import.contains(['"', '\'', '<', '/'])
                        && ends(&text[extension..])
                })
            };
            let is_extension = before.ends_with('.') && is_file(&import[start - 1..]);
            let leads_on = ["::", ".", "/", "\\"].iter().any(|joint| {
                let rest = after.strip_prefix(joint).and_then(|rest| rest.chars().next());
                rest.is_some_and(|c| c.is_alphanumeric() || c == '_')
            });
            !is_extension && (!leads_on || is_file(after)) && !KEYWORDS.contains(&word)
        })
        .map(|(_, word)| word)
}
