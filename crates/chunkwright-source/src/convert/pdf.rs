//! PDF, by `unpdf`.
//!
//! The library rebuilds paragraphs, headings, lists and tables from where glyphs stand; it knows the
//! character maps of Chinese, Japanese and Korean fonts, and bounds what streams unpack to.

use std::ops::ControlFlow;

use chunkwright::{PositionUnit, Positions};
use unpdf::render::BlockRenderer;
use unpdf::{Block, ErrorKind, Page, PageStreamOptions, ParseEvent, PdfParser, RenderOptions};

use super::{ConvertError, Converted, Converter, MAX_TEXT_SIZE};

/// Most bytes before a file's header, by the specification.
const HEADER_REACH: usize = 1024;

/// PDF; positions are pages.
pub(crate) struct Pdf;

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
        let renderer = BlockRenderer::new(RenderOptions::new());
        let mut converted = Converted::new(String::new(), Positions::new(PositionUnit::Page));
        let mut fields = Vec::new();
        // Files are converted in parallel; pages need not be.
        let options = PageStreamOptions { parallel: false, ..PageStreamOptions::default() };
        let each = |event| {
            match event {
                ParseEvent::DocumentStart { form_fields, .. } => fields = form_fields,
                ParseEvent::PageParsed(page) => add_page(&renderer, &page, &mut converted),
                ParseEvent::PageFailed { page, .. } => {
                    converted.positions.push(converted.text.len(), page);
                    converted.text.push_str("\u{fffd}\n\n");
                }
                _ => {}
            }
            if converted.text.len() > MAX_TEXT_SIZE {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        parser.for_each_page(options, each).map_err(|error| reason(&error))?;
        for field in fields {
            let value = field.display_value();
            if !value.trim().is_empty() {
                converted.text.extend(["- ", &field.name, ": ", &value, "\n"]);
            }
        }
        Ok(converted)
    }
}

fn add_page(renderer: &BlockRenderer, page: &Page, converted: &mut Converted) {
    converted.positions.push(converted.text.len(), page.number);
    let mut previous = None;
    for block in &page.elements {
        // Pictures have no text.
        if !matches!(block, Block::Image { .. }) {
            converted.text.push_str(&renderer.render_block_after(previous, block));
        }
        previous = Some(block);
    }
    if !converted.text.is_empty() && !converted.text.ends_with("\n\n") {
        converted.text.push_str("\n\n");
    }
}

fn reason(error: &unpdf::Error) -> ConvertError {
    match error.kind() {
        ErrorKind::Encrypted | ErrorKind::InvalidPassword => ConvertError::Encrypted,
        _ => ConvertError::Damaged { format: "pdf", problem: error.to_string() },
    }
}
