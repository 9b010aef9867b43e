//! PDF, by `unpdf`.
//!
//! The library rebuilds paragraphs, headings, lists and tables from where glyphs stand; it knows the
//! character maps of Chinese, Japanese and Korean fonts, and bounds what streams unpack to. Running heads and feet
//! are left out ([`margins`]), sentences go on over pages, and words that a line end divided are joined ([`words`]).

mod margins;
mod words;

use std::ops::ControlFlow;

use chunkwright::{PositionUnit, Positions};
use unpdf::render::BlockRenderer;
use unpdf::{Block, ErrorKind, PageStreamOptions, ParseEvent, PdfParser, RenderOptions};

use self::words::Words;
use super::{ConvertError, Converted, Converter, MAX_TEXT_SIZE, Omission, markdown};

/// Most bytes before a file's header, by the specification.
const HEADER_REACH: usize = 1024;

/// PDF; positions are pages.
pub(crate) struct Pdf;

/// A page with its blocks, without pictures.
struct Page {
    number: u32,
    blocks: Vec<Block>,
    /// Whether it shows something.
    is_painted: bool,
}

impl Converter for Pdf {
    fn name(&self) -> &'static str {
        "pdf"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["pdf"]
    }

    fn recognizes(&self, extension: &str, bytes: &[u8]) -> bool {
        let header = b"%PDF-";
        let head = &bytes[..bytes.len().min(HEADER_REACH)];
        head.starts_with(header) || extension == "pdf" && head.windows(header.len()).any(|at| at == header)
    }

    fn convert(&self, bytes: &[u8]) -> Result<Converted, ConvertError> {
        let parser = PdfParser::from_bytes(bytes).map_err(|error| reason(&error))?;
        let (mut pages, mut fields, mut length) = (Vec::new(), Vec::new(), 0);
        // Files are converted in parallel; pages need not be.
        let options = PageStreamOptions { parallel: false, ..PageStreamOptions::default() };
        let each = |event| {
            match event {
                ParseEvent::DocumentStart { form_fields, .. } => fields = form_fields,
                ParseEvent::PageParsed(page) => {
                    let is_painted = page.image_op_count > 0 || page.fill_op_count > 0;
                    let is_text = |block: &Block| !matches!(block, Block::Image { .. });
                    let blocks: Vec<_> = page.elements.into_iter().filter(is_text).collect();
                    length += blocks.iter().map(|block| text_of(block).len()).sum::<usize>();
                    pages.push(Page { number: page.number, blocks, is_painted });
                }
                ParseEvent::PageFailed { page, .. } => {
                    let blocks = vec![Block::Raw { content: "\u{fffd}".into() }];
                    pages.push(Page { number: page, blocks, is_painted: false });
                }
                _ => {}
            }
            if length > MAX_TEXT_SIZE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        parser.for_each_page(options, each).map_err(|error| reason(&error))?;
        let mut converted = rendered(pages);
        for field in fields {
            let value = field.display_value();
            if !value.trim().is_empty() {
                converted.text.extend(["- ", &field.name, ": ", &value, "\n"]);
            }
        }
        Ok(converted)
    }
}

/// The text of the pages.
fn rendered(mut pages: Vec<Page>) -> Converted {
    let has_text = |page: &Page| page.blocks.iter().any(|block| markdown::is_visible(&text_of(block)));
    let without: Vec<u32> =
        pages.iter().filter(|page| page.is_painted && !has_text(page)).map(|page| page.number).collect();
    margins::remove(&mut pages);
    let words = Words::of(pages.iter().flat_map(|page| &page.blocks).map(text_of));
    let renderer = BlockRenderer::new(RenderOptions::new());
    let mut converted = Converted::new(String::new(), Positions::new(PositionUnit::Page));
    let text = &mut converted.text;
    // The last paragraph before the page, if it is the last block.
    let mut above: Option<String> = None;
    for page in &pages {
        let mut previous = None;
        let mut begins = true;
        for block in &page.blocks {
            let shown = renderer.render_block_after(previous, block);
            let shown = if is_prose(block) { words.joined(&shown) } else { shown };
            previous = Some(block);
            let goes_on = begins
                && is_prose(block)
                && above.as_deref().is_some_and(|above| words::continues(above, &text_of(block)));
            if goes_on {
                let shown = shown.trim_start();
                text.truncate(text.trim_end().len());
                words.join(text, shown);
                // A word that the end of the page divides belongs to the page where it ends.
                converted.positions.push(text.len() - shown.len(), page.number);
                begins = false;
                continue;
            }
            if begins {
                converted.positions.push(text.len(), page.number);
                begins = false;
            }
            text.push_str(&shown);
        }
        if !text.is_empty() && !text.ends_with("\n\n") {
            text.push_str("\n\n");
        }
        if let Some(last) = page.blocks.last() {
            above = is_prose(last).then(|| text_of(last));
        }
    }
    if !without.is_empty() {
        converted.omissions.push(Omission::Pages(without));
    }
    converted
}

fn text_of(block: &Block) -> String {
    let mut text = String::new();
    block.append_plain_text(&mut text);
    text
}

/// Whether a block is a paragraph of text.
fn is_prose(block: &Block) -> bool {
    matches!(block, Block::Paragraph(paragraph) if !paragraph.is_heading() && !paragraph.is_list_item())
}

fn reason(error: &unpdf::Error) -> ConvertError {
    match error.kind() {
        ErrorKind::Encrypted | ErrorKind::InvalidPassword => ConvertError::Encrypted,
        _ => ConvertError::Damaged { format: "pdf", problem: error.to_string() },
    }
}
