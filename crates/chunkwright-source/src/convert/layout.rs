//! Documents that a layout model cut into blocks with their boxes on pages: as Markdown, in which each block knows where
//! it stands.

use chunkwright::{PageBox, PositionUnit, Positions};
use serde_json::Value;

use super::{ConvertError, Converted, markdown};

/// The Markdown of a document, as it grows.
pub(super) struct Layout {
    text: String,
    positions: Positions,
}

impl Layout {
    pub(super) fn new() -> Self {
        Self { text: String::new(), positions: Positions::new(PositionUnit::Page) }
    }

    /// Adds a block of Markdown with the boxes that it stands in; those of one block are in order of pages.
    pub(super) fn block(&mut self, markdown: &str, boxes: Vec<PageBox>) {
        self.add(markdown, "\n\n", boxes);
    }

    /// Adds an item of a list: the text without its marker, the marker, and how deep the list is in others.
    pub(super) fn item(&mut self, text: &str, marker: &str, depth: usize, boxes: Vec<PageBox>) {
        let indent = " ".repeat(4 * depth.min(8));
        // Further lines belong to the item if they are as far in as its text.
        let lines = text.trim().replace('\n', &format!("\n{indent}  "));
        self.add(&format!("{indent}{marker} {lines}"), "\n", boxes);
    }

    /// Ends a list, so that what follows is no part of its last item.
    pub(super) fn end_list(&mut self) {
        if self.text.ends_with('\n') && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn add(&mut self, markdown: &str, end: &str, boxes: Vec<PageBox>) {
        let markdown = markdown.trim_matches(['\n', '\r']).trim_end();
        if markdown.is_empty() {
            return;
        }
        let start = self.text.len();
        self.text.push_str(markdown);
        if let Some(first) = boxes.first() {
            self.positions.push(start, first.page);
        }
        for page_box in boxes {
            self.positions.push_box(start, self.text.len(), page_box);
        }
        self.text.push_str(end);
    }

    pub(super) fn converted(self) -> Converted {
        Converted::new(self.text, self.positions)
    }
}

/// The Markdown of a heading.
pub(super) fn heading(level: u64, title: &str) -> String {
    let mut text = String::new();
    markdown::heading(&mut text, level.clamp(1, 6) as u8, title);
    text
}

/// The Markdown of a table in HTML. The first row is its header, whether the HTML says so or not: these tables seldom do.
pub(super) fn table(html: &str) -> String {
    let text = markdown::of_html(html);
    let text = text.trim();
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let columns = first.trim().trim_matches('|').split(" | ").count();
    if !first.starts_with('|') || rest.trim_start_matches('|').trim_start().starts_with('-') {
        return text.to_owned();
    }
    format!("{first}\n{}|\n{rest}", "| --- ".repeat(columns))
}

/// The Markdown of a listing.
pub(super) fn listing(language: &str, code: &str) -> String {
    let mut text = String::new();
    markdown::listing(&mut text, language, code);
    text
}

/// A box of edges in the units of a page of this width and height, counted from its top left corner; `None` if the file
/// gives no box, or no page that it could be on.
pub(super) fn page_box(
    page: u64,
    edges: [f64; 4],
    [width, height]: [f64; 2],
    block: &str,
) -> Option<PageBox> {
    let thousandths = |edge: f64, whole: f64| (edge / whole * 1000.0).round().clamp(0.0, 1000.0) as u16;
    if width <= 0.0 || height <= 0.0 || !edges.iter().all(|edge| edge.is_finite()) {
        return None;
    }
    Some(PageBox {
        page: u32::try_from(page).ok().filter(|page| *page > 0)?,
        left: thousandths(edges[0].min(edges[2]), width),
        top: thousandths(edges[1].min(edges[3]), height),
        right: thousandths(edges[0].max(edges[2]), width),
        bottom: thousandths(edges[1].max(edges[3]), height),
        block: block.to_owned(),
    })
}

/// The numbers of a list of exactly `N`.
pub(super) fn numbers<const N: usize>(value: &Value) -> Option<[f64; N]> {
    let list: Option<Vec<f64>> = value.as_array()?.iter().map(Value::as_f64).collect();
    list?.try_into().ok()
}

/// The members of a list; none if it is something else.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A text; empty if it is something else.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Reads the JSON of a format, or says what is wrong with it.
pub(super) fn json(format: &'static str, bytes: &[u8]) -> Result<Value, ConvertError> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    serde_json::from_slice(bytes)
        .map_err(|error| ConvertError::Damaged { format, problem: error.to_string() })
}

/// Whether a file is an object, or a list, of JSON that names all of these members somewhere.
pub(super) fn names(bytes: &[u8], begin: u8, members: &[&str]) -> bool {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii_start();
    let has = |member: &&str| memchr::memmem::find(bytes, format!("\"{member}\"").as_bytes()).is_some();
    bytes.first() == Some(&begin) && members.iter().all(has)
}
