//! Converts a `DoclingDocument`: what Docling found in a PDF, an Office file or a picture, as JSON.
//!
//! Its body is a tree of references into lists of texts, groups, tables and pictures. Blocks are taken in the order of
//! that tree; what repeats on pages (its layer `furniture`) is left out.

use std::collections::HashSet;

use chunkwright::PageBox;
use serde_json::Value;

use super::layout::{self, Layout, list, page_box, text};
use super::{ConvertError, Converted, Converter, markdown};

/// Deepest nesting that is followed: references may form a circle.
const MAX_DEPTH: usize = 64;

/// Reads `DoclingDocument` as JSON.
pub(super) struct Docling;

impl Converter for Docling {
    fn name(&self) -> &'static str {
        "docling"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &[]
    }

    fn recognizes(&self, extension: &str, bytes: &[u8]) -> bool {
        extension == "json" && layout::names(bytes, b'{', &["schema_name", "DoclingDocument", "body"])
    }

    fn is_text(&self) -> bool {
        true
    }

    fn convert(&self, bytes: &[u8]) -> Result<Converted, ConvertError> {
        let document = layout::json("docling", bytes)?;
        if document["schema_name"] != "DoclingDocument" {
            let problem = "`schema_name` is not `DoclingDocument`".to_owned();
            return Err(ConvertError::Damaged { format: "docling", problem });
        }
        let mut reader = Reader { document: &document, layout: Layout::new(), seen: HashSet::new() };
        reader.children(&document["body"], 0, 0);
        Ok(reader.layout.converted())
    }
}

struct Reader<'d> {
    document: &'d Value,
    layout: Layout,
    /// References of items that were added.
    seen: HashSet<&'d str>,
}

impl<'d> Reader<'d> {
    /// Adds what an item refers to. `lists` is how many lists it is in.
    fn children(&mut self, item: &'d Value, depth: usize, lists: usize) {
        for child in list(&item["children"]) {
            self.reference(child, depth, lists);
        }
    }

    fn reference(&mut self, reference: &'d Value, depth: usize, lists: usize) {
        let name = text(&reference["$ref"]);
        let found = name.strip_prefix('#').and_then(|pointer| self.document.pointer(pointer));
        if let Some(item) = found
            && depth < MAX_DEPTH
            && self.seen.insert(name)
        {
            self.item(name, item, depth, lists);
        }
    }

    fn item(&mut self, name: &'d str, item: &'d Value, depth: usize, lists: usize) {
        let (label, words) = (text(&item["label"]), text(&item["text"]));
        if text(&item["content_layer"]) == "furniture" || matches!(label, "page_header" | "page_footer") {
            return;
        }
        let boxes = self.boxes(name, item);
        match (name.split('/').nth(1).unwrap_or_default(), label) {
            ("groups", "list" | "ordered_list") => {
                self.children(item, depth + 1, lists + 1);
                if lists == 0 {
                    self.layout.end_list();
                }
                return;
            }
            // A line of text whose parts are set in other ways.
            ("groups", "inline") => {
                let parts = list(&item["children"]).iter().filter_map(|child| {
                    let name = text(&child["$ref"]);
                    self.seen.insert(name);
                    self.document.pointer(name.strip_prefix('#')?)
                });
                let parts: Vec<&Value> = parts.collect();
                let line: Vec<&str> = parts.iter().map(|part| text(&part["text"])).collect();
                let boxes = parts.first().map_or_else(Vec::new, |first| self.boxes(name, first));
                self.layout.block(&markdown::of_text(&line.join(" ")), boxes);
                return;
            }
            ("tables" | "pictures", _) => {
                for caption in list(&item["captions"]) {
                    self.reference(caption, depth + 1, lists);
                }
                self.layout.block(&table(&item["data"]), boxes);
                for footnote in list(&item["footnotes"]) {
                    self.reference(footnote, depth + 1, lists);
                }
            }
            ("key_value_items" | "form_items", _) => {
                let cells = list(&item["graph"]["cells"]).iter().map(|cell| text(&cell["text"]));
                let lines: Vec<&str> = cells.filter(|line| !line.is_empty()).collect();
                self.layout.block(&markdown::of_text(&lines.join("\n")), boxes);
            }
            (_, "title") => self.layout.block(&layout::heading(1, words), boxes),
            // The title of the document is above its sections.
            (_, "section_header") => {
                let level = item["level"].as_u64().unwrap_or(1).saturating_add(1);
                self.layout.block(&layout::heading(level, words), boxes);
            }
            (_, "list_item") => {
                let is_numbered = item["enumerated"].as_bool().unwrap_or_default();
                let own = text(&item["marker"]).trim();
                let marker = if is_numbered && own.ends_with(['.', ')']) { own } else { "-" };
                self.layout.item(&markdown::of_text(words), marker, lists.saturating_sub(1), boxes);
            }
            (_, "code") => {
                let language = text(&item["code_language"]).to_lowercase();
                let language = if language == "unknown" { "" } else { &language };
                self.layout.block(&layout::listing(language, words), boxes);
            }
            (_, "formula") => {
                let formula = if words.is_empty() { text(&item["orig"]) } else { words };
                if !formula.is_empty() {
                    self.layout.block(&format!("$$\n{formula}\n$$"), boxes);
                }
            }
            _ => self.layout.block(&markdown::of_text(words), boxes),
        }
        self.children(item, depth + 1, lists);
    }

    /// The boxes of an item, one for each page that it is on.
    fn boxes(&self, name: &str, item: &Value) -> Vec<PageBox> {
        let of = |place: &Value| {
            let page = place["page_no"].as_u64()?;
            let size = &self.document["pages"][page.to_string()]["size"];
            let [width, height] = [size["width"].as_f64()?, size["height"].as_f64()?];
            let edges = &place["bbox"];
            let [left, top, right, bottom] =
                ["l", "t", "r", "b"].map(|edge| edges[edge].as_f64().unwrap_or(f64::NAN));
            // Docling counts from the bottom, as PDF does, unless it says otherwise.
            let is_from_top = text(&edges["coord_origin"]) == "TOPLEFT";
            let vertical = |edge: f64| if is_from_top { edge } else { height - edge };
            page_box(page, [left, vertical(top), right, vertical(bottom)], [width, height], name)
        };
        list(&item["prov"]).iter().filter_map(of).collect()
    }
}

/// A table as Markdown; empty for a picture.
fn table(data: &Value) -> String {
    let cell = |cell: &Value| text(&cell["text"]).to_owned();
    let mut rows: Vec<Vec<String>> =
        list(&data["grid"]).iter().map(|row| list(row).iter().map(cell).collect()).collect();
    if rows.is_empty() {
        for found in list(&data["table_cells"]) {
            let place = |name: &str| found[name].as_u64().and_then(|place| usize::try_from(place).ok());
            let (Some(row), Some(column)) = (place("start_row_offset_idx"), place("start_col_offset_idx"))
            else {
                continue;
            };
            // A table larger than this is none.
            if row >= 100_000 || column >= 1000 {
                continue;
            }
            rows.resize(rows.len().max(row + 1), Vec::new());
            let cells = &mut rows[row];
            cells.resize(cells.len().max(column + 1), String::new());
            cells[column] = cell(found);
        }
    }
    let mut text = String::new();
    markdown::table(&mut text, rows.into_iter());
    text.trim().to_owned()
}
