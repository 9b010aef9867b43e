//! What workbooks say in ways that `undoc` does not read: formats of numbers, hidden sheets, and header rows that stay
//! on the screen.
//!
//! Numbers are rewritten as texts before it reads them.

use std::collections::HashMap;
use std::ops::Range;

use quick_xml::escape::escape;
use quick_xml::events::{BytesStart, Event};

use super::number::{Shown, builtin, general, shown};
use crate::convert::archive::{Archive, add_text, attribute, events};

/// What is known of a workbook.
#[derive(Default)]
pub(super) struct Workbook {
    /// Its sheets, in order.
    pub(super) sheets: Vec<Sheet>,
    /// The rewritten parts.
    pub(super) parts: Vec<(String, String)>,
}

/// A sheet.
#[derive(Default)]
pub(super) struct Sheet {
    pub(super) name: String,
    pub(super) hidden: bool,
    /// Rows with cells among those that do not scroll; 0 if all do.
    pub(super) frozen: usize,
    /// The id of the relation to its part.
    relation: String,
}

/// Days from 1900 to 1904, from which some workbooks count.
const DAYS_TO_1904: f64 = 1462.0;

impl Workbook {
    pub(super) fn read(archive: &mut Archive<'_>) -> Self {
        let mut workbook = Self::default();
        let Some(xml) = archive.text("xl/workbook.xml") else { return workbook };
        let mut since_1904 = false;
        events(&xml, |event, _| {
            if let Event::Start(element) | Event::Empty(element) = event {
                match element.local_name().as_ref() {
                    "workbookPr" => {
                        since_1904 = attribute(&element, "date1904")
                            .is_some_and(|value| matches!(&*value, "1" | "true"));
                    }
                    "sheet" => workbook.sheets.push(Sheet {
                        name: attribute(&element, "name").unwrap_or_default(),
                        hidden: attribute(&element, "state").is_some_and(|state| state != "visible"),
                        relation: attribute(&element, "id").unwrap_or_default(),
                        frozen: 0,
                    }),
                    _ => {}
                }
            }
        });
        let formats = archive.text("xl/styles.xml").map(|xml| Formats::of(&xml)).unwrap_or_default();
        let targets = archive.text("xl/_rels/workbook.xml.rels").map(|xml| targets(&xml)).unwrap_or_default();
        for sheet in workbook.sheets.iter_mut().filter(|sheet| !sheet.hidden) {
            let Some(target) = targets.get(&sheet.relation) else { continue };
            let path = target.strip_prefix('/').map_or_else(|| format!("xl/{target}"), str::to_owned);
            let Some(xml) = archive.text(&path) else { continue };
            let mut cells = Cells::new(&xml, &formats, since_1904);
            events(&xml, |event, span| cells.event(&event, span));
            sheet.frozen = cells.frozen;
            if let Some(rewritten) = cells.rewritten() {
                workbook.parts.push((path, rewritten));
            }
        }
        workbook
    }
}

fn targets(xml: &str) -> HashMap<String, String> {
    let mut targets = HashMap::new();
    events(xml, |event, _| {
        if let Event::Start(element) | Event::Empty(element) = event
            && let (Some(id), Some(target)) = (attribute(&element, "Id"), attribute(&element, "Target"))
        {
            targets.insert(id, target);
        }
    });
    targets
}

/// The formats of numbers.
#[derive(Default)]
struct Formats {
    /// By number.
    codes: HashMap<u32, String>,
    /// The number of the format of each style of cells.
    styles: Vec<u32>,
}

impl Formats {
    fn of(xml: &str) -> Self {
        let mut formats = Self::default();
        let mut cells = false;
        events(xml, |event, _| match &event {
            Event::Start(element) | Event::Empty(element) => {
                let id = || attribute(element, "numFmtId").and_then(|id| id.parse().ok());
                match element.local_name().as_ref() {
                    "numFmt" => {
                        if let (Some(id), Some(code)) = (id(), attribute(element, "formatCode")) {
                            formats.codes.insert(id, code);
                        }
                    }
                    "cellXfs" => cells = true,
                    "xf" if cells => formats.styles.push(id().unwrap_or(0)),
                    _ => {}
                }
            }
            Event::End(element) if element.local_name().as_ref() == "cellXfs" => cells = false,
            _ => {}
        });
        formats
    }

    fn code(&self, style: Option<usize>) -> &str {
        let id = style.and_then(|style| self.styles.get(style)).copied().unwrap_or(0);
        self.codes.get(&id).map_or_else(|| builtin(id), String::as_str)
    }
}

/// Rewrites the numbers of a sheet as it is read: a sheet may have millions.
struct Cells<'x> {
    xml: &'x str,
    formats: &'x Formats,
    since_1904: bool,
    /// The sheet up to byte `at` of its XML, rewritten.
    out: String,
    at: usize,
    frozen: usize,
    /// Number of rows that do not scroll.
    top: u32,
    /// The cell that is read.
    open: Option<Cell>,
}

struct Cell {
    /// Its opening tag and that as a text's.
    tag: Range<usize>,
    as_text: String,
    style: Option<usize>,
    /// Span of its value, and the value.
    value: Option<Range<usize>>,
    text: String,
}

impl<'x> Cells<'x> {
    fn new(xml: &'x str, formats: &'x Formats, since_1904: bool) -> Self {
        Self { xml, formats, since_1904, out: String::new(), at: 0, frozen: 0, top: 0, open: None }
    }

    /// The sheet, if something was rewritten.
    fn rewritten(mut self) -> Option<String> {
        (self.at > 0).then(|| {
            self.out.push_str(&self.xml[self.at..]);
            self.out
        })
    }

    fn replace(&mut self, span: Range<usize>, with: &str) {
        self.out.extend([&self.xml[self.at..span.start], with]);
        self.at = span.end;
    }

    fn event(&mut self, event: &Event<'_>, span: Range<usize>) {
        match event {
            Event::Start(element) | Event::Empty(element) => match element.name().as_ref() {
                "pane" if attribute(element, "state").is_some_and(|state| state.starts_with("frozen")) => {
                    self.top = attribute(element, "ySplit").and_then(|rows| rows.parse().ok()).unwrap_or(0);
                }
                "row" => {
                    let row = attribute(element, "r").and_then(|row| row.parse::<u32>().ok());
                    self.frozen += usize::from(row.is_some_and(|row| row <= self.top));
                }
                "c" if matches!(event, Event::Start(_)) => self.open = Cell::number(element, span),
                "v" => {
                    if let Some(cell) = &mut self.open {
                        cell.value = Some(span.end..span.end);
                    }
                }
                _ => {}
            },
            Event::End(element) => match element.name().as_ref() {
                "v" => {
                    if let Some(value) = self.open.as_mut().and_then(|cell| cell.value.as_mut()) {
                        value.end = span.start;
                    }
                }
                "c" => {
                    if let Some(cell) = self.open.take() {
                        self.rewrite(cell);
                    }
                }
                _ => {}
            },
            event => {
                if let Some(cell) = self.open.as_mut().filter(|cell| cell.value.is_some()) {
                    add_text(&mut cell.text, event);
                }
            }
        }
    }

    fn rewrite(&mut self, cell: Cell) {
        let Some(span) = cell.value else { return };
        let written = cell.text.trim();
        let Some(value) = written.parse::<f64>().ok().filter(|value| value.is_finite()) else { return };
        let text = match shown(value, self.formats.code(cell.style)) {
            Shown::Text(text) => text,
            // `undoc` knows them, counted from 1900.
            Shown::Day if self.since_1904 => {
                self.replace(span, &(value + DAYS_TO_1904).to_string());
                return;
            }
            Shown::Day => return,
            Shown::Plain => general(value),
        };
        if text != written {
            self.replace(cell.tag, &cell.as_text);
            self.replace(span, &escape(&text));
        }
    }
}

impl Cell {
    /// A cell that holds a number.
    fn number(element: &BytesStart<'_>, tag: Range<usize>) -> Option<Self> {
        let is_number = attribute(element, "t").is_none_or(|kind| kind == "n");
        let reference =
            attribute(element, "r").map(|at| format!(r#" r="{}""#, escape(&at))).unwrap_or_default();
        is_number.then(|| Self {
            tag,
            as_text: format!(r#"<c{reference} t="str">"#),
            style: attribute(element, "s").and_then(|style| style.parse().ok()),
            value: None,
            text: String::new(),
        })
    }
}
