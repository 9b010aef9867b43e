//! Components: files whose parts are in several languages, as of Vue, Svelte and Astro.
//!
//! Each part (`<script>`, `<template>`, `<style>`) is a section and is read by the language it is in. Parts
//! are found as the compilers of such files find them, by a scan for their tags: to the grammar of HTML
//! `{{ a < b && c }}` is an error that may swallow what follows.

mod markup;
mod tag;

use std::ops::Range;

use chunkwright::{BlockKind, Document, DocumentBuilder, Parser, SectionKind, SymbolKind};

use self::markup::Markup;
use self::tag::Tag;
use crate::plain::Plain;
use crate::{COMPONENTS, language_named};

/// A format of components.
#[derive(Debug)]
pub(crate) struct Component {
    name: &'static str,
    extensions: &'static [&'static str],
    /// Whether markup is in an element of its own, not between the others.
    has_template: bool,
    /// The language of what stands between two lines `---` at the top.
    front: Option<&'static str>,
}

pub(crate) static VUE: Component =
    Component { name: "vue", extensions: &["vue"], has_template: true, front: None };
pub(crate) static SVELTE: Component =
    Component { name: "svelte", extensions: &["svelte"], has_template: false, front: None };
pub(crate) static ASTRO: Component =
    Component { name: "astro", extensions: &["astro"], has_template: false, front: Some("typescript") };

/// A part in an unknown language is read by its lines.
static LINES: Plain = Plain { name: "", extensions: &[], comment: ("", "") };

/// Attributes, or values of `context`, that tell two parts of one name apart.
const VARIANTS: &[&str] = &["setup", "module"];

/// An element at the top level, or what stands between two lines `---`.
struct Part {
    title: String,
    parser: &'static dyn Parser,
    /// From its opening tag to the end of its closing one.
    whole: Range<usize>,
    inside: Range<usize>,
}

impl Parser for Component {
    fn name(&self) -> &'static str {
        self.name
    }

    fn extensions(&self) -> &'static [&'static str] {
        self.extensions
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        out.set_language(self.name);
        out.set_comment(("<!-- ", " -->"));
        out.set_gap_kind(BlockKind::Html);
        let source = out.source();
        let mut at = 0;
        let mut next = self.front_part(&source);
        while let Some(part) = next.or_else(|| self.part(&source, at)) {
            self.between(out, &source[at..part.whole.start], at);
            part.report(out, &source);
            at = part.whole.end;
            next = None;
        }
        self.between(out, &source[at..], at);
    }
}

impl Component {
    /// Reports what stands between two parts.
    fn between(&self, out: &mut DocumentBuilder, text: &str, at: usize) {
        if !self.has_template && !text.trim().is_empty() {
            out.embed(&Document::parse("", text, &Markup), at);
        }
    }

    /// The next part from byte `from` on, where no part is open.
    fn part(&self, source: &str, from: usize) -> Option<Part> {
        let mut at = from;
        loop {
            at += source[at..].find('<')?;
            if source[at..].starts_with("<!--") {
                at += source[at..].find("-->")?;
                continue;
            }
            let is_part = |name: &str| {
                let before = &source[from..at];
                let at_margin = before.trim().is_empty() || before.ends_with(['\n', '\r']);
                // Elements inside markup have these names as well.
                if self.has_template {
                    !name.is_empty()
                } else {
                    at_margin && ["script", "style"].contains(&name)
                }
            };
            if is_part(tag::name(&source[at + 1..])) {
                let opening = Tag::opening(source, at)?;
                return Some(Part::new(source, at, &opening));
            }
            at += 1;
        }
    }

    /// The part between two lines `---` at the top.
    fn front_part(&self, source: &str) -> Option<Part> {
        let start =
            source.len() - source.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}').len();
        let language = self.front?;
        let open = start + "---".len();
        source[start..].strip_prefix("---")?;
        let close = open + source[open..].find("\n---")? + 1;
        let (whole, inside) = (start..close + "---".len(), open..close);
        Some(Part { title: "script".into(), parser: parser("script", Some(language)), whole, inside })
    }
}

impl Part {
    /// The part that `opening` at byte `start` begins.
    fn new(source: &str, start: usize, opening: &Tag<'_>) -> Self {
        let lang = opening.attribute("lang").filter(|lang| !lang.is_empty());
        let mut title = opening.name.to_ascii_lowercase();
        let parser = parser(&title, lang);
        let nests = title == "template" && parser.name() == Markup.name();
        let closing = || tag::closing(source, opening.end, opening.name, nests);
        let closing = if opening.is_empty { Some((opening.end, opening.end)) } else { closing() };
        let (inside_end, end) = closing.unwrap_or((source.len(), source.len()));
        for variant in VARIANTS {
            if opening.attribute(variant).is_some() || opening.attribute("context") == Some(variant) {
                title.push(' ');
                title.push_str(variant);
            }
        }
        Self { title, parser, whole: start..end, inside: opening.end..inside_end }
    }

    fn report(&self, out: &mut DocumentBuilder, source: &str) {
        let Range { start, end } = self.inside;
        out.open_section(SectionKind::Symbol(SymbolKind::Module), &self.title, self.whole.start);
        out.set_signature(self.whole.start, start);
        out.block(BlockKind::Html, self.whole.start, start);
        out.embed(&Document::parse("", &source[start..end], self.parser), start);
        // A closing tag belongs to what it closes, as a closing bracket does.
        out.reach(self.whole.end);
        out.close_section(self.whole.end);
    }
}

/// The parser for the content of `element`, whose attribute `lang` is `lang`.
fn parser(element: &str, lang: Option<&str>) -> &'static dyn Parser {
    let lang = match element {
        "template" if lang.is_none_or(|lang| lang == "html") => return &Markup,
        "script" => lang.or(Some("javascript")),
        "style" => lang.or(Some("css")),
        _ => lang,
    };
    // No component holds another: that could nest without end.
    let is_component =
        |parser: &dyn Parser| COMPONENTS.iter().any(|component| component.name() == parser.name());
    lang.and_then(language_named).filter(|&parser| !is_component(parser)).unwrap_or(&LINES)
}
