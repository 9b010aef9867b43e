//! Detects the language of a file, with the reason.

use std::fmt;

use chunkwright::{Parser, with_lf};

use crate::language::Language;
use crate::{COMPONENTS, CodeParser, LANGUAGES, LEFT_OUT, PLAIN, Plain};

/// The parser for a file, and the reason for it.
#[derive(Clone, Copy)]
pub struct Detected {
    /// The parser.
    pub parser: &'static dyn Parser,
    /// The evidence for the file's language.
    pub reason: Reason,
}

impl fmt::Debug for Detected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by its {}", self.parser.name(), self.reason)
    }
}

/// Evidence for a file's language. The first that applies decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// A `vim:` or `-*-` line, which its author wrote for this.
    Modeline,
    /// Its whole name: `Makefile`.
    FileName,
    /// Its content, where several languages share its extension: `class` in a `.h`.
    Content,
    /// Its extension.
    Extension,
    /// Its `#!` line, where it has no extension.
    Interpreter,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Modeline => "modeline",
            Self::FileName => "file name",
            Self::Content => "content",
            Self::Extension => "extension",
            Self::Interpreter => "#! line",
        })
    }
}

/// The parser for a file, by [`detect`].
pub fn language_for(name: &str, head: &str) -> Option<&'static dyn Parser> {
    detect(name, head).map(|detected| detected.parser)
}

/// The language of a file, by its name and how it begins. A language without a grammar is read by its lines.
///
/// `name` may be a path. `head` is the available beginning of the text, and may be empty: one line is enough for a
/// `#!`, some thousand bytes tell C from C++.
pub fn detect(name: &str, head: &str) -> Option<Detected> {
    let head = &*with_lf(head);
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    // Translations of Qt are XML.
    let begins = head.trim_start_matches('\u{feff}').trim_start();
    if extension.as_deref() == Some("ts")
        && ["<?xml", "<!DOCTYPE TS", "<TS"].iter().any(|xml| begins.starts_with(xml))
    {
        return None;
    }
    let found = |reason| move |parser| Detected { parser, reason };
    let by = |has: &dyn Fn(&Language) -> bool| with(has).map(|parser| parser as &'static dyn Parser);
    let by_name = || {
        let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
        let is = |known: &&str| *known == name || known.strip_suffix(".*") == Some(stem);
        by(&|language| language.file_names.iter().any(is))
    };
    let by_extension = || {
        let extension = extension.as_deref()?;
        by(&|language| language.extensions.contains(&extension))
            .or_else(|| other(&|parser| parser.extensions().contains(&extension)))
    };
    let by_interpreter = || {
        let interpreter = interpreter(head).filter(|_| extension.is_none())?;
        by(&|language| language.interpreters.contains(&interpreter))
    };
    let by_content = || language_named(shared(extension.as_deref()?, head)?);
    modeline(head)
        .and_then(language_named)
        .map(found(Reason::Modeline))
        .or_else(|| by_name().map(found(Reason::FileName)))
        .or_else(|| by_content().map(found(Reason::Content)))
        .or_else(|| by_extension().map(found(Reason::Extension)))
        .or_else(|| by_interpreter().map(found(Reason::Interpreter)))
}

/// The parser for the language that a fence of Markdown or an attribute of HTML names: by its name, an
/// alias, or an extension.
pub fn language_named(name: &str) -> Option<&'static dyn Parser> {
    let name = name.to_ascii_lowercase();
    let name = name.as_str();
    let known = with(&|language| language.name == name)
        .or_else(|| with(&|language| language.aliases.contains(&name)))
        .or_else(|| with(&|language| language.extensions.contains(&name)));
    known
        .map(|parser| parser as &'static dyn Parser)
        .or_else(|| other(&|parser| parser.name() == name || parser.extensions().contains(&name)))
}

/// Names and aliases of all programming languages, those with a grammar first.
pub fn language_names() -> impl Iterator<Item = &'static str> {
    let known = LANGUAGES.iter().map(|parser| parser.language());
    let named =
        known.flat_map(|language| [language.name].into_iter().chain(language.aliases.iter().copied()));
    let plain = |plain: &'static Plain| plain.name;
    let others = COMPONENTS.iter().map(|parser| parser.name()).chain(PLAIN.iter().map(plain));
    named.chain(others).chain(LEFT_OUT.iter().map(plain))
}

fn with(has: &dyn Fn(&Language) -> bool) -> Option<&'static CodeParser> {
    LANGUAGES.iter().copied().find(|parser| has(parser.language()))
}

/// A parser for files in no language with a grammar, or in several.
fn other(has: &dyn Fn(&dyn Parser) -> bool) -> Option<&'static dyn Parser> {
    let as_parser = |plain: &'static Plain| plain as &'static dyn Parser;
    let known = PLAIN.iter().map(as_parser).chain(COMPONENTS.iter().copied());
    known.chain(LEFT_OUT.iter().map(as_parser)).find(|&parser| has(parser))
}

/// The language of a file whose extension several share, where its text tells them apart.
fn shared(extension: &str, head: &str) -> Option<&'static str> {
    let begins = |words: &[&str]| {
        let lines = head.lines().map(str::trim_start);
        lines
            .filter(|line| !line.starts_with(['*', '/']))
            .any(|line| words.iter().any(|word| line.starts_with(word)))
    };
    match extension {
        "h" if begins(&["@interface", "@protocol", "#import", "@class"]) => Some("objective-c"),
        "h" if begins(&[
            "class ",
            "namespace ",
            "template",
            "public:",
            "private:",
            "protected:",
            "using ",
            "extern \"C\"",
        ]) || head.contains("::") =>
        {
            Some("cpp")
        }
        "h" => Some("c"),
        "m" if begins(&["function ", "function[", "%", "classdef "]) => Some("matlab"),
        _ => None,
    }
}

/// Longest line that is searched for a modeline, and the number of such lines.
const MODELINE: (usize, usize) = (256, 5);

/// The language that a line for an editor names: `# -*- mode: ruby -*-`, `// vim: set ft=cpp :`.
fn modeline(head: &str) -> Option<&str> {
    let (longest, lines) = MODELINE;
    let word = |text: &'_ str| -> usize {
        text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '+' | '#' | '-' | '_')))
            .unwrap_or(text.len())
    };
    head.lines().take(lines).filter(|line| line.len() <= longest).find_map(|line| {
        if let Some((_, rest)) = line.split_once("-*-") {
            let (inside, _) = rest.split_once("-*-")?;
            let inside = inside.trim();
            let mode = inside.split(';').find_map(|part| part.trim().strip_prefix("mode:"));
            let mode = mode.or(Some(inside).filter(|inside| !inside.contains(':')))?.trim();
            return Some(&mode[..word(mode)]).filter(|mode| !mode.is_empty());
        }
        let (_, rest) = line.split_once("vim:").or_else(|| line.split_once("vi:"))?;
        let at = rest.find("ft=").map(|at| at + 3).or_else(|| rest.find("filetype=").map(|at| at + 9))?;
        let named = &rest[at..];
        Some(&named[..word(named)]).filter(|named| !named.is_empty())
    })
}

/// The program that a `#!` line names: `python` of `#!/usr/bin/env -S LANG=C python3.11 -u`.
fn interpreter(head: &str) -> Option<&str> {
    let first = head.lines().next()?;
    let command = first.trim_start_matches('\u{feff}').strip_prefix("#!")?;
    let mut words = command.split_whitespace();
    let mut program = words.next()?;
    if program.ends_with("/env") || program == "env" {
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    }
    let program = program.rsplit('/').next().unwrap_or(program);
    Some(program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}
