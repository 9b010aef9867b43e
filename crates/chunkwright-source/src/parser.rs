//! Chooses the parser of a text by the name of its file and how it begins.

use std::path::Path;

use chunkwright::parse::{Html, Markdown, Text};
use chunkwright::{PARSERS, Parser};

/// Bytes from which the language of source code is detected.
const HEAD: usize = 8 << 10;

/// The parser for a file of these bytes, which are text.
pub(crate) fn parser_of(path: &Path, bytes: &[u8]) -> &'static dyn Parser {
    parser_for(path, &String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]))
}

/// The parser for a file: source code by its name or `#!` line, other formats by their extension, and
/// plain text for the rest. A template is read as what it makes: `page.html.j2` as HTML. `head` is how the text begins;
/// one line is enough for source code.
pub fn parser_for(path: &Path, head: &str) -> &'static dyn Parser {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    let by_extension = |parser: &&&'static dyn Parser| {
        extension.as_deref().is_some_and(|extension| parser.extensions().contains(&extension))
    };
    if name.to_ascii_lowercase().ends_with(".blade.php") {
        return &Html;
    }
    if let Some(language) = chunkwright_code::language_for(&name, head) {
        return language;
    }
    if let Some(parser) = PARSERS.iter().find(by_extension) {
        return *parser;
    }
    match extension.as_deref() {
        Some(extension) if TEMPLATES.contains(&extension) => {
            let inner = Path::new(&*name).with_extension("");
            // What makes pages names them by itself alone.
            let is_page = inner.extension().is_none() && PAGE_TEMPLATES.contains(&extension);
            if is_page { &Html } else { parser_for(&inner, head) }
        }
        None if is_about_project(&name) && looks_like_markdown(head) => &Markdown,
        _ => &Text,
    }
}

/// Extensions of templates, and of copies of a file, before which its own stands.
const TEMPLATES: &[&str] = &[
    "bak",
    "dist",
    "eex",
    "ejs",
    "erb",
    "example",
    "gotmpl",
    "handlebars",
    "hbs",
    "heex",
    "in",
    "j2",
    "jinja",
    "jinja2",
    "liquid",
    "mustache",
    "njk",
    "orig",
    "sample",
    "template",
    "tera",
    "tmpl",
    "tpl",
    "twig",
];

/// Those that make pages of HTML if no other extension stands before.
const PAGE_TEMPLATES: &[&str] =
    &["eex", "ejs", "erb", "handlebars", "hbs", "heex", "jinja", "liquid", "mustache", "njk", "tera", "twig"];

/// Names, without extension, of what projects say about themselves.
const ABOUT_PROJECT: &[&str] = &[
    "authors",
    "changelog",
    "changes",
    "code_of_conduct",
    "code-of-conduct",
    "contributing",
    "contributors",
    "copying",
    "faq",
    "governance",
    "hacking",
    "history",
    "install",
    "license",
    "licence",
    "maintainers",
    "news",
    "notice",
    "readme",
    "release_notes",
    "releases",
    "roadmap",
    "security",
    "support",
    "todo",
    "upgrading",
];

fn is_about_project(name: &str) -> bool {
    ABOUT_PROJECT.contains(&&*name.to_lowercase())
}

/// Whether a text has a heading or a fence of Markdown: without an extension it could be anything.
fn looks_like_markdown(head: &str) -> bool {
    let mut above = "";
    head.lines().any(|line| {
        let level = line.len() - line.trim_start_matches('#').len();
        let is_heading = (1..=6).contains(&level) && line[level..].starts_with(' ');
        let is_underline =
            line.len() > 2 && ['=', '-'].iter().any(|mark| line.trim_end().trim_matches(*mark).is_empty());
        let is_fence = line.starts_with("```");
        let before = std::mem::replace(&mut above, line);
        is_heading || is_fence || is_underline && before.starts_with(char::is_alphanumeric)
    })
}
