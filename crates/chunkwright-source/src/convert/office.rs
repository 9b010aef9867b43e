//! Word, `PowerPoint` and Excel (Office Open XML), by `undoc`.
//!
//! These files are ZIP archives of XML. What `undoc` does not read of them is rewritten so that it does ([`word`],
//! [`sheet`]). Hidden sheets are left out. Running headers and footers are left out: they belong to pages, and such
//! files have none until they are printed.

mod number;
mod sheet;
mod slides;
mod table;
mod word;

use std::borrow::Cow;
use std::collections::HashMap;

use chunkwright::{PositionUnit, Positions};
use undoc::render::{RenderOptions, render_section_to_string};
use undoc::{Block, Document, ErrorKind, FormatType, Section};

use self::sheet::{Sheet, Workbook};
use super::archive::{Archive, is_archive};
use super::{ConvertError, Converted, Converter, MAX_TEXT_SIZE, Omission};

/// One of the formats.
pub(crate) struct Office {
    name: &'static str,
    extensions: &'static [&'static str],
    /// The part of the archive that makes it this format.
    part: &'static str,
    unit: PositionUnit,
}

/// Word; positions are paragraphs.
pub(crate) static DOCX: Office = Office {
    name: "docx",
    extensions: &["docx", "docm", "dotx"],
    part: "word/document.xml",
    unit: PositionUnit::Paragraph,
};

/// `PowerPoint`; positions are slides.
pub(crate) static PPTX: Office = Office {
    name: "pptx",
    extensions: &["pptx", "pptm", "ppsx", "potx"],
    part: "ppt/presentation.xml",
    unit: PositionUnit::Slide,
};

/// Excel; positions are sheets.
pub(crate) static XLSX: Office = Office {
    name: "xlsx",
    extensions: &["xlsx", "xlsm", "xltx"],
    part: "xl/workbook.xml",
    unit: PositionUnit::Sheet,
};

/// The start of a compound file, such as an encrypted document.
const COMPOUND: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";

impl Converter for Office {
    fn name(&self) -> &'static str {
        self.name
    }

    fn extensions(&self) -> &'static [&'static str] {
        self.extensions
    }

    fn recognizes(&self, extension: &str, bytes: &[u8]) -> bool {
        let named = self.extensions.contains(&extension);
        if is_archive(bytes) {
            // For a damaged archive the extension decides.
            return Archive::open(bytes).map_or(named, |archive| archive.contains(self.part));
        }
        named && bytes.starts_with(COMPOUND)
    }

    fn convert(&self, bytes: &[u8]) -> Result<Converted, ConvertError> {
        let mut bytes = Cow::Borrowed(bytes);
        let (mut sheets, mut notes) = (Vec::new(), None);
        if is_archive(&bytes) {
            let mut archive = Archive::checked(self.name, &bytes)?;
            let parts = match self.unit {
                PositionUnit::Paragraph => word::rewritten(&mut archive),
                PositionUnit::Sheet => {
                    let workbook = Workbook::read(&mut archive);
                    sheets = workbook.sheets;
                    workbook.parts
                }
                _ => {
                    let slides = slides::read(&mut archive);
                    notes = Some(slides.notes);
                    slides.parts
                }
            };
            if let Some(rewritten) = archive.with(&parts) {
                bytes = Cow::Owned(rewritten);
            }
        }
        let mut document = undoc::parse_bytes(&bytes).map_err(|error| match error.kind() {
            ErrorKind::Encrypted => ConvertError::Encrypted,
            _ => ConvertError::Damaged { format: self.name, problem: error.to_string() },
        })?;
        for (section, notes) in document.sections.iter_mut().zip(notes.unwrap_or_default()) {
            section.notes = notes;
        }
        Ok(match self.unit {
            PositionUnit::Paragraph => by_paragraph(document),
            unit => by_section(document, unit, &sheets),
        })
    }
}

fn render(section: &Section, format: FormatType) -> String {
    let options = RenderOptions { include_images: false, max_heading_level: 6, ..RenderOptions::default() };
    render_section_to_string(section, 0, format, &options, &HashMap::new())
}

/// One position a slide or sheet. `sheets` are those of a workbook.
fn by_section(document: Document, unit: PositionUnit, sheets: &[Sheet]) -> Converted {
    let mut converted = Converted::new(String::new(), Positions::new(unit));
    let hidden: Vec<_> = sheets.iter().filter(|sheet| sheet.hidden).map(|sheet| sheet.name.clone()).collect();
    if !hidden.is_empty() {
        converted.omissions.push(Omission::HiddenSheets(hidden));
    }
    for (index, mut section) in document.sections.into_iter().enumerate() {
        let sheet = sheets.get(index);
        if sheet.is_some_and(|sheet| sheet.hidden) {
            continue;
        }
        let frozen = sheet.map_or(0, |sheet| sheet.frozen);
        section.content = section.content.into_iter().flat_map(|block| with_header(block, frozen)).collect();
        // A slide's name is its number; its title is in its text.
        section.name = section.name.filter(|_| unit == PositionUnit::Sheet);
        converted.positions.push(converted.text.len(), index as u32 + 1);
        converted.text.push_str(&render(&section, document.format));
        if converted.text.len() > MAX_TEXT_SIZE {
            break;
        }
    }
    converted
}

/// A table with one header row, of which `frozen` rows are known to be the header; another block as it is.
fn with_header(block: Block, frozen: usize) -> Vec<Block> {
    match block {
        Block::Table(table) => table::blocks(table, frozen),
        block => vec![block],
    }
}

/// One position a paragraph or table.
fn by_paragraph(document: Document) -> Converted {
    let mut converted = Converted::new(String::new(), Positions::new(PositionUnit::Paragraph));
    let mut number = 0;
    for section in document.sections {
        let blocks = section.content.into_iter().flat_map(|block| with_header(block, 0));
        let mut blocks = blocks.peekable();
        while let Some(block) = blocks.next() {
            let within_list = is_item(&block) && blocks.peek().is_some_and(is_item);
            if matches!(block, Block::Paragraph(_) | Block::Table(_)) {
                number += 1;
                converted.positions.push(converted.text.len(), number);
            }
            let text = render(&Section { content: vec![block], ..Section::default() }, document.format);
            converted.text.push_str(if within_list { text.trim_end() } else { &text });
            if within_list {
                converted.text.push('\n');
            }
            if converted.text.len() > MAX_TEXT_SIZE {
                return converted;
            }
        }
    }
    converted
}

fn is_item(block: &Block) -> bool {
    matches!(block, Block::Paragraph(paragraph) if paragraph.list_info.is_some())
}
