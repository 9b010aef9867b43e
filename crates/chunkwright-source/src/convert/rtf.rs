//! Rich Text Format, as word processors and help authoring tools write it.
//!
//! RTF is text with control words in groups. Paragraphs, rows of tables and headings (by outline level) are kept;
//! fonts, styles, pictures and other destinations are not text. Characters are in the code page of their font or, by
//! `\u`, in Unicode.

use std::collections::HashMap;

use chunkwright::{PositionUnit, Positions};
use encoding_rs::Encoding;

use super::{ConvertError, Converted, Converter, MAX_TEXT_SIZE, markdown};

/// Rich Text Format; positions are paragraphs.
pub(crate) struct Rtf;

const START: &[u8] = b"{\\rtf";

/// Groups inside groups that are told apart; those deeper are read as the one around them.
const MAX_DEPTH: usize = 1 << 10;

/// Fonts whose code pages are kept.
const MAX_FONTS: usize = 1 << 12;

/// Destinations without text, beside those marked `\*`.
const SKIPPED: &[&str] = &[
    "annotation",
    "atnauthor",
    "atnid",
    "atndate",
    "bkmkend",
    "bkmkstart",
    "colortbl",
    "datafield",
    "filetbl",
    "fldinst",
    "footer",
    "footerf",
    "footerl",
    "footerr",
    "header",
    "headerf",
    "headerl",
    "headerr",
    "info",
    "listtable",
    "listoverridetable",
    "nonshppict",
    "objdata",
    "pict",
    "pntext",
    "pntxta",
    "pntxtb",
    "private",
    "revtbl",
    "rsidtbl",
    "stylesheet",
    "tc",
    "template",
    "themedata",
    "xe",
    "generator",
    "listpicture",
    "nonesttables",
    "shprslt",
];

impl Converter for Rtf {
    fn name(&self) -> &'static str {
        "rtf"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["rtf"]
    }

    fn recognizes(&self, extension: &str, bytes: &[u8]) -> bool {
        // Word saves RTF as `.doc` too. A text that is about RTF has another extension.
        matches!(extension, "rtf" | "doc" | "") && bytes.trim_ascii_start().starts_with(START)
    }

    fn is_text(&self) -> bool {
        true
    }

    fn convert(&self, bytes: &[u8]) -> Result<Converted, ConvertError> {
        let mut reader = Reader::default();
        let mut rest = bytes;
        while !rest.is_empty() && reader.text.len() <= MAX_TEXT_SIZE {
            rest = reader.token(rest);
        }
        reader.end_paragraph();
        reader.end_table();
        Ok(Converted::new(reader.text, reader.positions))
    }
}

/// What a group sets and its end resets.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the format, and they are independent")]
struct State {
    /// Whether its text is left out.
    skipped: bool,
    /// Whether it lists the fonts.
    fonts: bool,
    encoding: &'static Encoding,
    /// Bytes after `\u` that stand for the same character.
    fallback: usize,
    /// Whether it is hidden or deleted.
    hidden: bool,
    /// Level of the paragraph, if it is a heading.
    level: Option<u8>,
    in_table: bool,
}

struct Reader {
    state: State,
    groups: Vec<State>,
    /// Groups deeper than are told apart.
    deeper: usize,
    /// The encoding of the document and those of its fonts, by number.
    page: &'static Encoding,
    fonts: HashMap<i32, &'static Encoding>,
    font: i32,
    /// Bytes that are not decoded yet, as characters may have two.
    bytes: Vec<u8>,
    /// Bytes still to skip after a `\u`.
    skip: usize,
    high: Option<u16>,
    paragraph: String,
    row: Vec<String>,
    rows: Vec<Vec<String>>,
    text: String,
    positions: Positions,
    number: u32,
}

impl Default for Reader {
    fn default() -> Self {
        let page = encoding_rs::WINDOWS_1252;
        let state = State {
            skipped: false,
            fonts: false,
            encoding: page,
            fallback: 1,
            hidden: false,
            level: None,
            in_table: false,
        };
        Self {
            state,
            groups: Vec::new(),
            deeper: 0,
            page,
            fonts: HashMap::new(),
            font: 0,
            bytes: Vec::new(),
            skip: 0,
            high: None,
            paragraph: String::new(),
            row: Vec::new(),
            rows: Vec::new(),
            text: String::new(),
            positions: Positions::new(PositionUnit::Paragraph),
            number: 0,
        }
    }
}

impl Reader {
    /// Reads a token; returns what follows.
    fn token<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let (&first, rest) = bytes.split_first().expect("there are bytes");
        match first {
            b'{' => {
                self.decode();
                self.skip = 0;
                if self.groups.len() < MAX_DEPTH {
                    self.groups.push(self.state);
                } else {
                    self.deeper += 1;
                }
                rest
            }
            b'}' => {
                self.decode();
                self.skip = 0;
                if self.deeper > 0 {
                    self.deeper -= 1;
                } else if let Some(state) = self.groups.pop() {
                    self.state = state;
                }
                rest
            }
            b'\\' => self.control(rest),
            b'\r' | b'\n' => rest,
            byte => {
                self.byte(byte);
                rest
            }
        }
    }

    /// Reads what follows a backslash.
    fn control<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let letters = bytes.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        if letters == 0 {
            let Some((&symbol, rest)) = bytes.split_first() else { return bytes };
            match symbol {
                b'\'' => {
                    let digits = rest.get(..2).and_then(|digits| str::from_utf8(digits).ok());
                    let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) else {
                        return rest;
                    };
                    self.byte(byte);
                    return &rest[2..];
                }
                b'*' => self.state.skipped = true,
                b'~' => self.push('\u{a0}'),
                b'_' => self.push('\u{2011}'),
                b'{' | b'}' | b'\\' => self.byte(symbol),
                b'\r' | b'\n' => self.end_paragraph(),
                _ => {}
            }
            return rest;
        }
        let (word, rest) = bytes.split_at(letters);
        let signed = usize::from(rest.first() == Some(&b'-'));
        let digits = rest[signed..].iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
        let length = if digits == 0 { 0 } else { signed + digits };
        let value = str::from_utf8(&rest[..length]).ok().and_then(|value| value.parse().ok());
        let rest = rest[length..].strip_prefix(b" ").unwrap_or(&rest[length..]);
        if word == b"bin" {
            let bytes = usize::try_from(value.unwrap_or(0)).unwrap_or(0);
            return &rest[bytes.min(rest.len())..];
        }
        self.word(str::from_utf8(word).unwrap_or_default(), value);
        rest
    }

    fn word(&mut self, word: &str, value: Option<i32>) {
        if word != "u" {
            self.decode();
        }
        match word {
            "u" => {
                if let Some(value) = value.filter(|value| *value != 0) {
                    self.unicode(value);
                }
            }
            "uc" => self.state.fallback = usize::try_from(value.unwrap_or(1)).unwrap_or(1),
            "ansicpg" => {
                self.page = code_page(value.unwrap_or(0)).unwrap_or(self.page);
                self.state.encoding = self.page;
            }
            "mac" => (self.page, self.state.encoding) = (encoding_rs::MACINTOSH, encoding_rs::MACINTOSH),
            "fonttbl" => (self.state.fonts, self.state.skipped) = (true, true),
            "f" if self.state.fonts => self.font = value.unwrap_or(0),
            "fcharset" if self.state.fonts => {
                let encoding = value.and_then(charset).unwrap_or(self.page);
                if self.fonts.len() < MAX_FONTS {
                    self.fonts.insert(self.font, encoding);
                }
            }
            "f" => {
                let encoding = value.and_then(|font| self.fonts.get(&font));
                self.state.encoding = encoding.copied().unwrap_or(self.page);
            }
            "plain" => self.state.hidden = false,
            "v" | "deleted" => self.state.hidden = value != Some(0),
            "par" | "sect" | "page" => self.end_paragraph(),
            "line" | "emspace" | "enspace" | "qmspace" | "nestcell" | "nestrow" => self.push(' '),
            "tab" => self.push(if self.state.in_table { ' ' } else { '\t' }),
            "pard" => (self.state.level, self.state.in_table) = (None, false),
            "intbl" => self.state.in_table = true,
            "outlinelevel" => {
                let level = value.and_then(|level| u8::try_from(level).ok()).filter(|level| *level < 9);
                self.state.level = level.map(|level| level + 1);
            }
            "cell" => {
                let cell = std::mem::take(&mut self.paragraph);
                self.row.push(cell);
            }
            "row" => {
                let row = std::mem::take(&mut self.row);
                self.rows.push(row);
            }
            "emdash" => self.push('\u{2014}'),
            "endash" => self.push('\u{2013}'),
            "bullet" => self.push('\u{2022}'),
            "lquote" => self.push('\u{2018}'),
            "rquote" => self.push('\u{2019}'),
            "ldblquote" => self.push('\u{201c}'),
            "rdblquote" => self.push('\u{201d}'),
            // A text box stands in the properties of a shape.
            "shptxt" => self.state.skipped = false,
            word if SKIPPED.contains(&word) => self.state.skipped = true,
            _ => {}
        }
    }

    fn unicode(&mut self, value: i32) {
        // Written as a signed number of 16 bits.
        let unit = value as u16;
        self.decode();
        let decoded = match (self.high.take(), unit) {
            (_, 0xD800..0xDC00) => {
                self.high = Some(unit);
                None
            }
            (Some(high), low) => char::decode_utf16([high, low]).next(),
            (None, unit) => char::decode_utf16([unit]).next(),
        };
        if let Some(c) = decoded {
            self.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        self.skip = self.state.fallback;
    }

    fn byte(&mut self, byte: u8) {
        if self.skip > 0 {
            self.skip -= 1;
        } else if !self.state.skipped && !self.state.hidden {
            self.bytes.push(byte);
        }
    }

    fn decode(&mut self) {
        if !self.bytes.is_empty() {
            let (text, _) = self.state.encoding.decode_without_bom_handling(&self.bytes);
            self.paragraph.push_str(&text);
            self.bytes.clear();
        }
    }

    fn push(&mut self, c: char) {
        self.decode();
        if !self.state.skipped && !self.state.hidden {
            self.paragraph.push(c);
        }
    }

    fn end_paragraph(&mut self) {
        self.decode();
        if self.state.in_table {
            self.paragraph.push(' ');
            return;
        }
        self.end_table();
        let paragraph = std::mem::take(&mut self.paragraph);
        if !paragraph.trim().is_empty() {
            self.begin();
            match self.state.level {
                Some(level) => markdown::heading(&mut self.text, level, &paragraph),
                None => self.text.push_str(markdown::of_text(paragraph.trim()).trim_end()),
            }
            self.text.push_str("\n\n");
        }
    }

    fn end_table(&mut self) {
        self.rows.retain(|row| row.iter().any(|cell| !cell.trim().is_empty()));
        if !self.rows.is_empty() {
            self.begin();
            markdown::table(&mut self.text, std::mem::take(&mut self.rows).into_iter());
        }
    }

    /// Notes that a paragraph or a table begins.
    fn begin(&mut self) {
        self.number += 1;
        self.positions.push(self.text.len(), self.number);
    }
}

/// The encoding of a Windows code page.
fn code_page(number: i32) -> Option<&'static Encoding> {
    let label = match number {
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        10000 => "macintosh".to_owned(),
        65001 => "utf-8".to_owned(),
        866 => "ibm866".to_owned(),
        number => format!("windows-{number}"),
    };
    Encoding::for_label(label.as_bytes())
}

/// The encoding of a font's character set.
fn charset(number: i32) -> Option<&'static Encoding> {
    code_page(match number {
        0 => 1252,
        77 => 10000,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    })
}
