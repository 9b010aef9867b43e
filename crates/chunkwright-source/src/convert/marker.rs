//! Converts what Marker found in a PDF, as JSON: a tree of pages and blocks, whose leaves hold HTML.

use chunkwright::PageBox;
use serde_json::Value;

use super::layout::{self, Layout, list, numbers, page_box, text};
use super::{ConvertError, Converted, Converter, markdown};

/// Kinds of blocks that repeat on pages.
const BESIDE: &[&str] = &["PageHeader", "PageFooter"];

/// Reads Marker's JSON.
pub(super) struct Marker;

impl Converter for Marker {
    fn name(&self) -> &'static str {
        "marker"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &[]
    }

    fn recognizes(&self, extension: &str, bytes: &[u8]) -> bool {
        extension == "json" && layout::names(bytes, b'{', &["block_type", "polygon", "html", "children"])
    }

    fn is_text(&self) -> bool {
        true
    }

    fn convert(&self, bytes: &[u8]) -> Result<Converted, ConvertError> {
        let document = layout::json("marker", bytes)?;
        let mut layout = Layout::new();
        for (index, page) in list(&document["children"]).iter().enumerate() {
            let number = page_of(text(&page["id"])).unwrap_or(index as u64).saturating_add(1);
            let [left, top, right, bottom] = edges(page).unwrap_or_default();
            let place = Place { page: number, origin: [left, top], size: [right - left, bottom - top] };
            for block in list(&page["children"]) {
                add(block, &place, &mut layout);
            }
        }
        Ok(layout.converted())
    }
}

/// A page: its number from 1, its corner and its size.
struct Place {
    page: u64,
    origin: [f64; 2],
    size: [f64; 2],
}

/// Adds a block, or the blocks of a group. The depth is bounded by that of the JSON.
fn add(block: &Value, place: &Place, layout: &mut Layout) {
    let kind = text(&block["block_type"]);
    if BESIDE.contains(&kind) {
        return;
    }
    let inner = list(&block["children"]);
    if !inner.is_empty() {
        for block in inner {
            add(block, place, layout);
        }
        layout.end_list();
        return;
    }
    let html = text(&block["html"]);
    let boxes: Vec<PageBox> = boxed(block, place).into_iter().collect();
    if kind == "ListItem" {
        let read = markdown::of_html(html);
        let item = read.trim().trim_start_matches(['-', '*', '•']).trim_start();
        layout.item(item, "-", 0, boxes);
    } else {
        let read = if kind == "Table" { layout::table(html) } else { markdown::of_html(html) };
        layout.block(&read, boxes);
    }
}

/// The box of a block; the whole page if the file gives none.
fn boxed(block: &Value, place: &Place) -> Option<PageBox> {
    let id = text(&block["id"]);
    let [x, y] = place.origin;
    let own = edges(block).map(|[left, top, right, bottom]| [left - x, top - y, right - x, bottom - y]);
    let own = own.and_then(|edges| page_box(place.page, edges, place.size, id));
    own.or_else(|| page_box(place.page, [0.0, 0.0, 1.0, 1.0], [1.0, 1.0], id))
}

/// The edges of a block: its box, in earlier versions only the corners of its polygon.
fn edges(block: &Value) -> Option<[f64; 4]> {
    numbers(&block["bbox"]).or_else(|| {
        let corners: Option<Vec<[f64; 2]>> = list(&block["polygon"]).iter().map(numbers).collect();
        let corners = corners.filter(|corners| !corners.is_empty())?;
        let by =
            |axis: usize, pick: fn(f64, f64) -> f64| corners.iter().map(|corner| corner[axis]).reduce(pick);
        Some([by(0, f64::min)?, by(1, f64::min)?, by(0, f64::max)?, by(1, f64::max)?])
    })
}

/// The number of the page in an id such as `/page/3/Text/4`, from 0.
fn page_of(id: &str) -> Option<u64> {
    id.strip_prefix("/page/")?.split('/').next()?.parse().ok()
}
