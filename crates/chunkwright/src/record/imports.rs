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
        let mut used = BTreeSet::new();
        for (_, word) in words(text) {
            for &index in self.by_name.get(word).into_iter().flatten() {
                used.insert(index);
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_brings_the_last_word_of_each_path() {
        for (import, expect) in [
            ("import os.path", "path"),
            ("import numpy as np", "numpy np"),
            ("from collections.abc import (\n    Iterable,\n    Iterator,\n)", "abc Iterable Iterator"),
            ("use std::fmt;", "fmt"),
            ("use std::collections::{BTreeMap, VecDeque as Deque};", "collections BTreeMap VecDeque Deque"),
            ("#include <vector>", "vector"),
            ("#include \"shapes/base.h\"", "base"),
            ("import React, { useState } from 'react';", "React useState react"),
            ("import \"net/http\"", "http"),
            ("import java.util.concurrent.*;", "concurrent"),
            ("use Library\\{Book, Reader as Person};", "Library Book Reader Person"),
            ("import 'package:path/path.dart' as p show join;", "path p join"),
            ("const events = require('node:events');", "events node events"),
        ] {
            assert_eq!(names(import).collect::<Vec<_>>().join(" "), expect, "{import}");
        }
    }

    #[test]
    fn a_text_uses_the_imports_whose_names_it_holds() {
        let list = ["import os", "import sys", "from a import b"].map(str::to_owned);
        let imports = Imports::new(&list);
        assert_eq!(imports.used_in("print(os.getcwd(), b)"), ["import os", "from a import b"]);
        assert!(imports.used_in("positions = 1").is_empty());
    }

    #[test]
    fn the_list_of_a_record_is_bounded_and_so_is_the_work() {
        let long = format!("from x import {}", (0..5_000).map(|n| format!("name{n}, ")).collect::<String>());
        let list: Vec<String> =
            std::iter::once(long).chain((0..20_000).map(|n| format!("from m{n} import x"))).collect();
        let imports = Imports::new(&list);
        assert!(imports.by_name.values().all(|of_name| of_name.len() <= MAX_IMPORTS));
        let used = imports.used_in("x = name7");
        assert_eq!((used.len(), used[0].len()), (MAX_IMPORTS, MAX_IMPORT_LEN));
    }
}
