//! What Word documents say in ways that `undoc` does not read: headings by outline level, text that was moved, rows
//! that were deleted, and formulas.
//!
//! The parts are rewritten before it reads them.

use std::collections::HashMap;

use quick_xml::escape::escape;
use quick_xml::events::{BytesStart, Event};

use crate::convert::archive::{Archive, add_text, attribute, events, replaced};

const STYLES: &str = "word/styles.xml";

/// Parts with paragraphs.
const TEXTS: &[&str] = &["word/document.xml", "word/footnotes.xml", "word/endnotes.xml"];

/// Names of headings in the languages of word processors whose files do not say their level; a number follows.
const HEADINGS: &[&str] = &[
    "heading",
    "überschrift",
    "berschrift",
    "titre",
    "título",
    "titolo",
    "заголовок",
    "标题",
    "標題",
    "見出し",
    "제목",
    "nadpis",
    "rubrik",
    "kop",
    "overskrift",
    "otsikko",
    "nagłówek",
    "başlık",
    "címsor",
    "επικεφαλίδα",
    "titlu",
    "naslov",
];

/// Styles that others are based on, one upon the other.
const MAX_BASES: usize = 16;

/// The level that makes a paragraph body text.
const BODY: u8 = 9;

/// The rewritten parts.
pub(super) fn rewritten(archive: &mut Archive<'_>) -> Vec<(String, String)> {
    let mut parts = Vec::new();
    let styles = archive.text(STYLES);
    let levels = styles.as_deref().map(Levels::of);
    for &name in TEXTS {
        let Some(xml) = archive.text(name) else { continue };
        let edits = edits(&xml, levels.as_ref());
        if !edits.is_empty() {
            parts.push((name.to_owned(), replaced(&xml, edits)));
        }
    }
    if let (Some(xml), Some(levels)) = (styles, levels) {
        parts.push((STYLES.to_owned(), replaced(&xml, levels.edits)));
    }
    parts
}

/// The outline levels of styles.
struct Levels {
    /// By the id of a paragraph style.
    levels: HashMap<String, u8>,
    /// What is added to the styles: levels by name, and styles that only set a level.
    edits: Vec<(std::ops::Range<usize>, String)>,
}

struct Style {
    id: String,
    name: String,
    base: Option<String>,
    level: Option<u8>,
    /// Where its properties may be added.
    at: usize,
}

impl Levels {
    fn of(xml: &str) -> Self {
        let mut styles: Vec<Style> = Vec::new();
        let (mut end, mut open) = (None, false);
        events(xml, |event, span| match &event {
            Event::Start(element) if element.name().as_ref() == "w:style" => {
                let id = attribute(element, "styleId").unwrap_or_default();
                open = attribute(element, "type").is_none_or(|kind| kind == "paragraph");
                styles.push(Style { id, name: String::new(), base: None, level: None, at: span.end });
            }
            Event::Start(element) | Event::Empty(element) if open => {
                let Some(style) = styles.last_mut() else { return };
                let value = || attribute(element, "val");
                match element.name().as_ref() {
                    "w:name" => style.name = value().unwrap_or_default(),
                    "w:basedOn" => style.base = value(),
                    "w:outlineLvl" => style.level = value().and_then(|level| level.parse().ok()),
                    _ => {}
                }
            }
            Event::End(element) => match element.name().as_ref() {
                "w:style" => open = false,
                "w:styles" => end = Some(span.start),
                _ => {}
            },
            _ => {}
        });
        let mut edits = Vec::new();
        for style in &mut styles {
            let named = level_of(&style.name).or_else(|| level_of(&style.id));
            if let Some(level) = named.filter(|_| style.level.is_none()) {
                style.level = Some(level);
                edits
                    .push((style.at..style.at, format!(r#"<w:pPr><w:outlineLvl w:val="{level}"/></w:pPr>"#)));
            }
        }
        if let Some(end) = end {
            let level = |level| {
                let id = outline_style(level);
                format!(
                    r#"<w:style w:type="paragraph" w:styleId="{id}"><w:pPr><w:outlineLvl w:val="{level}"/></w:pPr></w:style>"#
                )
            };
            edits.push((end..end, (0..=BODY).map(level).collect()));
        }
        let by_id: HashMap<&str, &Style> = styles.iter().map(|style| (&*style.id, style)).collect();
        let resolved = |style: &Style| {
            let mut style = style;
            for _ in 0..MAX_BASES {
                match (style.level, style.base.as_deref().and_then(|base| by_id.get(base))) {
                    (None, Some(base)) => style = base,
                    (level, _) => return level,
                }
            }
            None
        };
        let levels = styles.iter().filter_map(|style| Some((style.id.clone(), resolved(style)?))).collect();
        Self { levels, edits }
    }
}

/// The level that a style's name says, from 0.
fn level_of(name: &str) -> Option<u8> {
    let name = name.to_lowercase();
    let digit = name.chars().last().and_then(|c| c.to_digit(10)).filter(|digit| *digit > 0)?;
    let word = name[..name.len() - 1].trim_end();
    HEADINGS.contains(&word).then_some(digit as u8 - 1)
}

/// The id of the style that only sets a level.
fn outline_style(level: u8) -> String {
    format!("chunkwright-outline-{level}")
}

/// Elements whose content is not what a reader reads: text moved away, how things were before a change, and how
/// characters are pronounced.
fn is_gone(element: &BytesStart<'_>) -> bool {
    let name = element.name();
    matches!(name.as_ref(), "w:moveFrom" | "w:rt")
        || name.as_ref().starts_with("w:") && name.as_ref().ends_with("PrChange")
}

/// What is replaced in a part with paragraphs.
fn edits(xml: &str, levels: Option<&Levels>) -> Vec<(std::ops::Range<usize>, String)> {
    let mut edits = Vec::new();
    // What is gone: its name, how many of it are open, and its start.
    let mut gone: Option<(String, usize, usize)> = None;
    let mut properties = None;
    let (mut style, mut level) = (None, None);
    // The start of a formula and its text so far; the starts of open rows and whether they are deleted.
    let mut formula: Option<(usize, String)> = None;
    let (mut rows, mut in_row_properties) = (Vec::new(), false);
    events(xml, |event, span| {
        if let Some((start, text)) = &mut formula {
            if matches!(&event, Event::End(element) if element.name().as_ref() == "m:oMath") {
                let run = format!("<w:r><w:t xml:space=\"preserve\">{}</w:t></w:r>", escape(&*text));
                edits.push((*start..span.end, run));
                formula = None;
            } else {
                add_formula(text, &event);
            }
            return;
        }
        if let Some((name, depth, start)) = &mut gone {
            match &event {
                Event::Start(element) if element.name().as_ref() == name => *depth += 1,
                Event::End(element) if element.name().as_ref() == name => *depth -= 1,
                _ => {}
            }
            if *depth == 0 {
                edits.push((*start..span.end, String::new()));
                gone = None;
            }
            return;
        }
        match &event {
            Event::Start(element) if element.name().as_ref() == "m:oMath" => {
                formula = Some((span.start, String::new()));
            }
            Event::Start(element) if element.name().as_ref() == "w:tr" => rows.push((span.start, false)),
            Event::Start(element) if element.name().as_ref() == "w:trPr" => in_row_properties = true,
            Event::Empty(element) if in_row_properties => {
                if let Some((_, is_deleted)) = rows.last_mut().filter(|_| element.name().as_ref() == "w:del")
                {
                    *is_deleted = true;
                }
            }
            Event::End(element) if element.name().as_ref() == "w:trPr" => in_row_properties = false,
            Event::End(element) if element.name().as_ref() == "w:tr" => {
                edits.extend(
                    rows.pop().filter(|row| row.1).map(|(start, _)| (start..span.end, String::new())),
                );
            }
            Event::Start(element) if is_gone(element) => {
                gone = Some((element.name().as_ref().to_owned(), 1, span.start));
            }
            Event::Start(element) if element.name().as_ref() == "w:pPr" => {
                (properties, style, level) = (Some(span.end), None, None);
            }
            Event::Empty(element) if properties.is_some() => match element.name().as_ref() {
                "w:pStyle" => style = attribute(element, "val").map(|id| (id, span)),
                "w:outlineLvl" => {
                    level = attribute(element, "val").and_then(|level| level.parse::<u8>().ok());
                }
                _ => {}
            },
            Event::End(element) if element.name().as_ref() == "w:pPr" => {
                let start = properties.take();
                let (Some(start), Some(level), Some(levels)) = (start, level.take(), levels) else { return };
                let of_style = style.as_ref().and_then(|(id, _)| levels.levels.get(id)).copied();
                if level <= BODY && of_style.unwrap_or(BODY) != level {
                    let set = format!(r#"<w:pStyle w:val="{}"/>"#, outline_style(level));
                    edits.push((style.take().map_or(start..start, |(_, span)| span), set));
                }
            }
            _ => {}
        }
    });
    edits
}

/// Adds what an event of a formula reads as: `(a)/(b)`, `x^2`.
fn add_formula(text: &mut String, event: &Event<'_>) {
    match event {
        Event::Start(element) => text.push_str(match element.name().as_ref() {
            "m:num" => "(",
            "m:den" => "/(",
            "m:sup" => "^",
            "m:sub" => "_",
            "m:rad" => "√",
            _ => "",
        }),
        Event::End(element) => {
            text.push_str(if matches!(element.name().as_ref(), "m:num" | "m:den") { ")" } else { "" });
        }
        event => add_text(text, event),
    }
}
