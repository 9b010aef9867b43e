//! Converts what `MinerU` found in a PDF, as JSON: its list of contents (`*_content_list.json`) or the blocks of each page
//! (`*_middle.json`).
//!
//! Texts of `MinerU` are Markdown, with formulas in dollars, and its tables are HTML. Headers, footers and page numbers
//! are left out, as in its own Markdown.

use chunkwright::PageBox;
use serde_json::Value;

use super::layout::{self, Layout, list, numbers, page_box, text};
use super::{ConvertError, Converted, Converter};

/// The page that boxes of a list of contents are on: they are thousandths already.
const THOUSANDTHS: [f64; 2] = [1000.0, 1000.0];

/// Kinds of blocks that repeat on pages or stand beside the text.
const BESIDE: &[&str] = &["header", "footer", "page_number", "page_header", "page_footer", "discarded"];

/// Deepest nesting of blocks that is read.
const MAX_DEPTH: usize = 8;

/// Reads both files of `MinerU`.
pub(super) struct MinerU;

impl Converter for MinerU {
    fn name(&self) -> &'static str {
        "mineru"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &[]
    }

    fn recognizes(&self, extension: &str, bytes: &[u8]) -> bool {
        extension == "json"
            && (layout::names(bytes, b'{', &["pdf_info", "para_blocks", "page_idx"])
                || layout::names(bytes, b'[', &["type", "page_idx"])
                    && layout::json("mineru", bytes).is_ok_and(|items| is_list_of_contents(&items)))
    }

    fn is_text(&self) -> bool {
        true
    }

    fn convert(&self, bytes: &[u8]) -> Result<Converted, ConvertError> {
        let found = layout::json("mineru", bytes)?;
        let mut layout = Layout::new();
        for item in list(&found) {
            content(item, &mut layout);
        }
        for page in list(&found["pdf_info"]) {
            let number = page["page_idx"].as_u64().unwrap_or_default().saturating_add(1);
            let size = numbers(&page["page_size"]).unwrap_or_default();
            for found in list(&page["para_blocks"]) {
                block(found, number, size, 0, &mut layout);
            }
        }
        Ok(layout.converted())
    }
}

/// Whether every member has a kind and a page.
fn is_list_of_contents(items: &Value) -> bool {
    let items = list(items);
    !items.is_empty() && items.iter().all(|item| item["type"].is_string() && item["page_idx"].is_u64())
}

/// Adds a member of a list of contents.
fn content(item: &Value, layout: &mut Layout) {
    let kind = text(&item["type"]);
    if BESIDE.contains(&kind) {
        return;
    }
    let page = item["page_idx"].as_u64().unwrap_or_default().saturating_add(1);
    let edges = numbers(&item["bbox"]);
    let boxes = || boxes(page, edges, THOUSANDTHS);
    // Captions and notes of pictures, tables and listings: each kind has names of its own.
    let lines = |end: &str| {
        let members = item.as_object().into_iter().flatten().filter(move |(name, _)| name.ends_with(end));
        members.flat_map(|(_, lines)| list(lines)).map(text).collect::<Vec<_>>()
    };
    for caption in lines("_caption") {
        layout.block(caption, boxes());
    }
    match (kind, item["text_level"].as_u64().unwrap_or_default()) {
        (_, level @ 1..) => layout.block(&layout::heading(level, text(&item["text"])), boxes()),
        ("title", _) => layout.block(&layout::heading(1, text(&item["text"])), boxes()),
        ("table", _) => layout.block(&layout::table(text(&item["table_body"])), boxes()),
        ("list", _) => {
            for line in list(&item["list_items"]) {
                add_item(text(line), layout, boxes());
            }
            layout.end_list();
            layout.block(text(&item["text"]), boxes());
        }
        ("code", _) => layout.block(&code(text(&item["code_body"])), boxes()),
        _ => {
            layout.block(text(&item["text"]), boxes());
            layout.block(text(&item["content"]), boxes());
        }
    }
    for note in lines("_footnote") {
        layout.block(note, boxes());
    }
}

/// Adds a block of a page.
fn block(found: &Value, page: u64, size: [f64; 2], depth: usize, layout: &mut Layout) {
    let kind = text(&found["type"]);
    if BESIDE.contains(&kind) || depth > MAX_DEPTH {
        return;
    }
    for inner in list(&found["blocks"]) {
        block(inner, page, size, depth + 1, layout);
    }
    let boxes = boxes(page, numbers(&found["bbox"]), size);
    let lines: Vec<String> = list(&found["lines"]).iter().map(line).filter(|line| !line.is_empty()).collect();
    let words = lines.join("\n");
    match kind {
        "title" => layout.block(&layout::heading(found["level"].as_u64().unwrap_or(1), &words), boxes),
        "list" | "index" => {
            for line in &lines {
                add_item(line, layout, boxes.clone());
            }
            layout.end_list();
        }
        "interline_equation" if !words.is_empty() => layout.block(&format!("$$\n{words}\n$$"), boxes),
        "code_body" => layout.block(&code(&words), boxes),
        _ => layout.block(&words, boxes),
    }
}

/// The text of a line of spans.
fn line(line: &Value) -> String {
    let spans = list(&line["spans"]).iter().map(|span| {
        let content = text(&span["content"]).trim();
        match text(&span["type"]) {
            "inline_equation" => format!("${content}$"),
            "table" => layout::table(text(&span["html"])),
            _ => content.to_owned(),
        }
    });
    let spans: Vec<String> = spans.filter(|span| !span.is_empty()).collect();
    spans.join(" ")
}

/// Adds an item of a list, which may have its marker already.
fn add_item(line: &str, layout: &mut Layout, boxes: Vec<PageBox>) {
    let (first, rest) = line.trim().split_once(char::is_whitespace).unwrap_or_default();
    let number = first.trim_end_matches(['.', ')']);
    let is_number =
        number.len() < first.len() && !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit());
    match first {
        "-" | "*" | "•" => layout.item(rest, "-", 0, boxes),
        _ if is_number => layout.item(rest, first, 0, boxes),
        _ => layout.item(line, "-", 0, boxes),
    }
}

/// A listing, which may be fenced already.
fn code(body: &str) -> String {
    if body.trim_start().starts_with("```") { body.to_owned() } else { layout::listing("", body) }
}

fn boxes(page: u64, edges: Option<[f64; 4]>, size: [f64; 2]) -> Vec<PageBox> {
    // A block without a box is on its page all the same.
    let whole = || page_box(page, [0.0, 0.0, 1.0, 1.0], [1.0, 1.0], "");
    edges.and_then(|edges| page_box(page, edges, size, "")).or_else(whole).into_iter().collect()
}
