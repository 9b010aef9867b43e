//! Front matter: the metadata above a page, in YAML, TOML or JSON.
//!
//! Its fields become properties of the document, and its title the title of a page that has no heading of the first
//! level. Of the block only what readers search for is text, such as the description and the tags; the rest (layouts,
//! weights, identifiers) is markup that reads as nothing, so that it is not what a page is found by. A page without any
//! other text keeps all of it.

use super::data::{Field, Members};
use super::{json, toml, yaml};
use crate::document::{BlockKind, DocumentBuilder, SectionKind};
use crate::span::{LineIndex, Span};

/// The metadata above a page.
pub(super) struct FrontMatter {
    start: usize,
    /// End of the mark that opens it.
    mark: usize,
    /// One past its last line.
    pub(super) end: usize,
    /// Its fields; `None` if it is not a mapping.
    fields: Option<Vec<Field>>,
}

/// Reads the members of a text.
type Read = fn(&str, &LineIndex) -> Members;

/// What does not close within this many lines is text.
const MAX_LINES: usize = 4096;

/// Fields that say what a page is about.
const ABOUT: &[&str] = &[
    "about",
    "abstract",
    "aliases",
    "categories",
    "category",
    "description",
    "excerpt",
    "keywords",
    "name",
    "subtitle",
    "summary",
    "tag",
    "tags",
    "topics",
];

/// Fields that may list their values in one text, with commas.
const LISTS: &[&str] = &["aliases", "categories", "category", "keywords", "tag", "tags", "topics"];

/// A text with this many characters may be cut: it is not a value to filter by.
const MAX_VALUE: usize = 200;

/// A title longer than this, in bytes, is cut where it stands for a heading: markup cannot read as more.
const MAX_HEADING: usize = 240;

impl FrontMatter {
    /// The front matter that begins at byte `start`: from a line `---` to a line `---` or `...` (YAML), from `+++` to
    /// `+++` (TOML), a JSON object, or any of these between the marks that name it. An opening line before a blank one
    /// is a thematic break.
    pub(super) fn of(source: &str, lines: &LineIndex, start: usize) -> Option<Self> {
        let mut rest = lines.spans(source.len()).take(MAX_LINES);
        let text = |line: Span| source[(line.start as usize).max(start)..line.end as usize].trim_end();
        let first = rest.next()?;
        let (read, closers): (Read, &[&str]) = match text(first) {
            "---" | "---yaml" | "--- yaml" => (yaml::members, &["---", "..."]),
            "+++" => (toml::members, &["+++"]),
            "---toml" | "--- toml" => (toml::members, &["---"]),
            "---json" | "--- json" => (|source, _| json::members(source), &["---"]),
            ";;;" => (|source, _| json::members(source), &[";;;"]),
            line if line == "{" || line.starts_with("{\"") => return Self::of_json(source, start, rest),
            _ => return None,
        };
        if text(rest.clone().next()?).is_empty() {
            return None;
        }
        let closing = rest.find(|&line| closers.contains(&text(line)))?;
        let inner = first.end as usize..closing.start as usize;
        let at = inner.start as u32;
        let inner = &source[inner];
        let fields = read(inner, &LineIndex::new(inner)).fields(inner).map(|fields| moved(fields, at));
        let mark = start + text(first).len();
        let closing = closing.start as usize + text(closing).len();
        Some(Self { start, mark, end: closing, fields })
    }

    /// A JSON object that ends where its line does.
    fn of_json(source: &str, start: usize, lines: impl Iterator<Item = Span>) -> Option<Self> {
        let most = lines.last().map_or(source.len(), |last| last.end as usize);
        let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
        let closes = source.as_bytes()[start..most].iter().position(|byte| {
            match byte {
                _ if std::mem::take(&mut escaped) => {}
                b'\\' if in_string => escaped = true,
                b'"' => in_string = !in_string,
                b'{' | b'[' if !in_string => depth += 1,
                b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        });
        let end = start + closes? + 1;
        let line = source[end..].split('\n').next().unwrap_or_default();
        let inner = &source[start..end];
        let fields = json::members(inner).fields(inner).filter(|fields| !fields.is_empty());
        let fields = fields.filter(|_| line.trim().is_empty())?;
        Some(Self { start, mark: start + 1, end, fields: Some(moved(fields, start as u32)) })
    }

    /// Whether it is a mapping, which nothing else than front matter is.
    pub(super) fn is_mapping(&self) -> bool {
        self.fields.is_some()
    }

    /// Reports the block and what it says. `heading` is the first heading of the first level of the page, which has no
    /// title of its own without one. Gives whether a section with the title was opened.
    pub(super) fn report(&self, source: &str, heading: Option<&str>, out: &mut DocumentBuilder) -> bool {
        let Some(fields) = &self.fields else {
            out.block(BlockKind::FrontMatter, self.start, self.end);
            return false;
        };
        for Field { name, texts, .. } in fields {
            let lists = LISTS.contains(&&*name.to_lowercase());
            let parts = texts.iter().flat_map(|text| text.split(if lists { ',' } else { '\0' }));
            let mark = if lists { '#' } else { '\0' };
            let values = parts.map(|value| value.trim().trim_start_matches(mark));
            let values = values.filter(|value| value.chars().count() < MAX_VALUE);
            out.property(name, values.map(str::to_owned).collect());
        }
        let title = fields.iter().find(|field| field.name.eq_ignore_ascii_case("title"));
        let title = title.and_then(|title| title.texts.first()).filter(|title| !title.contains("{{"));
        let is_page = heading.is_none() && title.is_some();
        // A heading of its own says the title, or else the field does.
        let is_said = is_page || title.zip(heading).is_some_and(|(title, heading)| is_same(title, heading));
        let is_about = |field: &&Field| {
            let name = field.name.to_lowercase();
            let is_about = ABOUT.contains(&&*name) || name == "title" && !is_said;
            is_about && !field.texts.is_empty()
        };
        let is_alone = source[self.end..].trim().is_empty();
        if let Some(title) = title.filter(|_| is_page) {
            out.open_section(SectionKind::Heading(1), title, self.start);
            out.block(BlockKind::Heading, self.start, self.mark);
            let end = title.floor_char_boundary(MAX_HEADING);
            out.markup(self.start, self.mark, format!("# {}", &title[..end]));
        }
        let from = if is_page { self.mark } else { self.start };
        if !is_alone {
            let mut at = from;
            let mut gap = if is_page { "\n\n" } else { "" };
            for field in fields.iter().filter(is_about) {
                out.markup(at, field.span.start as usize, gap);
                at = (field.span.end as usize).max(at);
                gap = "\n";
            }
            out.markup(at, self.end, "");
            // The page follows after one blank line, or begins the text.
            let rest = &source[self.end..];
            let blank = rest.len() - rest.trim_start().len();
            let lines = rest[..blank].rfind('\n').map_or(0, |line| line + 1);
            out.markup(self.end, self.end + lines, if gap.is_empty() { "" } else { "\n\n" });
        }
        out.block(BlockKind::FrontMatter, from, self.end);
        is_page
    }
}

/// The fields, whose bytes are counted from byte `at` of the source.
fn moved(mut fields: Vec<Field>, at: u32) -> Vec<Field> {
    for field in &mut fields {
        field.span = Span { start: field.span.start + at, end: field.span.end + at };
    }
    fields
}

/// Whether two titles have the same letters and digits.
fn is_same(a: &str, b: &str) -> bool {
    let plain = |title: &str| {
        title.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>()
    };
    plain(a) == plain(b)
}
