//! Positions in the file that a text was converted from, such as pages.
//!
//! Bytes and lines of converted text mean nothing to a reader of the PDF; its pages do.

use serde::{Deserialize, Serialize};

use crate::document::Document;
use crate::span::Span;

/// Where a chunk stands in the file that its document was converted from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Position {
    /// What is counted.
    pub unit: PositionUnit,
    /// The first, from 1.
    pub first: u32,
    /// The last, inclusive.
    pub last: u32,
    /// Where the blocks of the chunk stand on their pages, in order, if the file says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boxes: Vec<PageBox>,
}

/// Where a block stands on a page. Edges are thousandths of the page's width and height, from its left and top edge, so
/// that they hold for any size that the page is drawn at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PageBox {
    /// The page, from 1.
    pub page: u32,
    /// Left edge, in thousandths of the width.
    pub left: u16,
    /// Top edge, in thousandths of the height.
    pub top: u16,
    /// Right edge, in thousandths of the width.
    pub right: u16,
    /// Bottom edge, in thousandths of the height.
    pub bottom: u16,
    /// The block's name in the file, such as `#/texts/3`; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub block: String,
}

/// What a converted file is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PositionUnit {
    /// A page of a PDF.
    Page,
    /// A slide of a presentation.
    Slide,
    /// A sheet of a workbook.
    Sheet,
    /// A paragraph of a word processor's document; a table counts as one.
    Paragraph,
    /// A chapter of a book: a file of an EPUB.
    Chapter,
    /// A message of a mailbox.
    Message,
}

impl PositionUnit {
    /// The name that records use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Slide => "slide",
            Self::Sheet => "sheet",
            Self::Paragraph => "paragraph",
            Self::Chapter => "chapter",
            Self::Message => "message",
        }
    }
}

/// Which bytes of a converted text stand on which page, slide, sheet or paragraph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Positions {
    unit: PositionUnit,
    /// First byte and number of each, both ascending.
    starts: Vec<(u32, u32)>,
    /// Stretches of the text, ascending, with the boxes that they stand in.
    #[serde(default)]
    boxes: Vec<(Span, PageBox)>,
}

impl Positions {
    /// No positions yet.
    pub fn new(unit: PositionUnit) -> Self {
        Self { unit, starts: Vec::new(), boxes: Vec::new() }
    }

    /// Notes that `number` begins at byte `start`. Neither goes back: what does is ignored.
    pub fn push(&mut self, start: usize, number: u32) {
        let Ok(start) = u32::try_from(start) else { return };
        match self.starts.last_mut() {
            Some(last) if number <= last.1 || start < last.0 => {}
            // The one before has no text.
            Some(last) if start == last.0 => last.1 = number,
            _ => self.starts.push((start, number)),
        }
    }

    /// Notes that the text from byte `start` to `end` stands in a box. Stretches are noted in their order.
    pub fn push_box(&mut self, start: usize, end: usize, page_box: PageBox) {
        if let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end)) {
            self.boxes.push((Span { start, end }, page_box));
        }
    }

    /// Whether nothing is noted.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The position of `span`; `None` if it is before the first one.
    pub fn of(&self, span: Span) -> Option<Position> {
        let number = |at: u32| {
            let after = self.starts.partition_point(|&(start, _)| start <= at);
            after.checked_sub(1).map(|index| self.starts[index].1)
        };
        let first = number(span.start).or_else(|| self.starts.first().map(|first| first.1))?;
        let last = number(span.end.max(span.start + 1) - 1)?;
        // Stretches are in order, and those of one block are equal.
        let from = self.boxes.partition_point(|(stretch, _)| stretch.end <= span.start);
        let boxes = self.boxes[from..].iter().take_while(|(stretch, _)| stretch.start < span.end);
        Some(Position {
            unit: self.unit,
            first,
            last,
            boxes: boxes.map(|(_, page_box)| page_box.clone()).collect(),
        })
    }
}

impl Document {
    /// Adds where the text stands in the file that it was converted from.
    pub fn with_positions(mut self, positions: Positions) -> Self {
        self.positions = Some(positions);
        self
    }

    /// The position of `span` in the file that the document was converted from, if it was converted.
    pub fn position(&self, span: Span) -> Option<Position> {
        self.positions.as_ref()?.of(span)
    }
}
