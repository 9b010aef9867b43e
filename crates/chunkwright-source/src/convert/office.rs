//! Word, `PowerPoint` and Excel (Office Open XML), by `undoc`.
//!
//! These files are ZIP archives of XML. Running headers and footers are left out: they belong to pages, and such files
//! have none until they are printed.

use std::collections::HashMap;
use std::io::{self, Cursor, Read};

use chunkwright::{PositionUnit, Positions};
use undoc::render::{RenderOptions, render_section_to_string};
use undoc::{Block, Document, ErrorKind, FormatType, Section};
use zip::ZipArchive;

use super::{ConvertError, Converted, Converter, MAX_TEXT_SIZE, MAX_UNPACKED_SIZE};

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

/// The start of an archive.
const ZIP: &[u8] = b"PK\x03\x04";

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
        if bytes.starts_with(ZIP) {
            // For a damaged archive the extension decides.
            let archive = ZipArchive::new(Cursor::new(bytes));
            return archive.map_or(named, |archive| archive.index_for_name(self.part).is_some());
        }
        named && bytes.starts_with(COMPOUND)
    }

    fn convert(&self, bytes: &[u8]) -> Result<Converted, ConvertError> {
        if bytes.starts_with(ZIP) {
            self.check_unpacked(bytes)?;
        }
        let document = undoc::parse_bytes(bytes).map_err(|error| match error.kind() {
            ErrorKind::Encrypted => ConvertError::Encrypted,
            _ => self.damaged(&error),
        })?;
        Ok(match self.unit {
            PositionUnit::Paragraph => by_paragraph(document),
            unit => by_section(document, unit),
        })
    }
}

impl Office {
    fn damaged(&self, error: &dyn std::error::Error) -> ConvertError {
        ConvertError::Damaged { format: self.name, problem: error.to_string() }
    }

    /// Unpacks the archive without storing it and counts bytes: its declared sizes may be false.
    fn check_unpacked(&self, bytes: &[u8]) -> Result<(), ConvertError> {
        let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| self.damaged(&error))?;
        let mut left = MAX_UNPACKED_SIZE;
        for index in 0..archive.len() {
            let part = archive.by_index(index).map_err(|error| match error {
                zip::result::ZipError::UnsupportedArchive(zip::result::ZipError::PASSWORD_REQUIRED) => {
                    ConvertError::Encrypted
                }
                error => self.damaged(&error),
            })?;
            let unpacked = io::copy(&mut part.take(left), &mut io::sink());
            left -= unpacked.map_err(|error| self.damaged(&error))?;
            if left == 0 {
                return Err(ConvertError::TooLarge {
                    what: super::child::UNPACKED,
                    limit: MAX_UNPACKED_SIZE,
                });
            }
        }
        Ok(())
    }
}

fn render(section: &Section, format: FormatType) -> String {
    let options = RenderOptions { include_images: false, max_heading_level: 6, ..RenderOptions::default() };
    render_section_to_string(section, 0, format, &options, &HashMap::new())
}

/// One position a slide or sheet.
fn by_section(document: Document, unit: PositionUnit) -> Converted {
    let mut converted = Converted::new(String::new(), Positions::new(unit));
    for (index, mut section) in document.sections.into_iter().enumerate() {
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

/// One position a paragraph or table.
fn by_paragraph(document: Document) -> Converted {
    let mut converted = Converted::new(String::new(), Positions::new(PositionUnit::Paragraph));
    let mut number = 0;
    for section in document.sections {
        let mut blocks = section.content.into_iter().peekable();
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
