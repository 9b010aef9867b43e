//! Text for people: sanitised, coloured, in columns.
//!
//! Names and contents of files are untrusted: control characters in them could move the cursor, hide text or recolour
//! the terminal, and direction overrides could reorder a line. All of these are shown as escapes. Colours are plain
//! ANSI codes, which the streams remove where they are not supported.

use std::fmt;

pub(crate) use chunkwright_engine::words::{count, grouped};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// One line that is safe to print: line breaks and tabs become spaces, other control characters escapes.
pub(crate) fn plain(text: &str) -> String {
    escape(text, |c| if matches!(c, '\n' | '\t') { Some(' ') } else { None })
}

/// Lines that are safe to print: as [`plain`], but line breaks and tabs stay.
pub(crate) fn plain_lines(text: &str) -> String {
    escape(&text.replace("\r\n", "\n"), |c| matches!(c, '\n' | '\t').then_some(c))
}

fn escape(text: &str, keep: impl Fn(char) -> Option<char>) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match keep(c) {
            Some(c) => out.push(c),
            None if c.is_control() || is_invisible(c) => out.extend(c.escape_unicode()),
            None => out.push(c),
        }
    }
    out
}

/// Returns whether a character is invisible but changes what is shown: direction marks and overrides, zero-width space,
/// byte order mark, tags. Joiners are kept: scripts and emoji need them.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// The beginning of a text on one line, runs of blanks as one space, at most `width` columns wide.
pub(crate) fn preview(text: &str, width: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&plain(word));
        if line.len() > 4 * width.max(8) {
            break;
        }
    }
    truncate(&line, width)
}

/// `line` cut to `width` columns, with an ellipsis where something is missing.
pub(crate) fn truncate(line: &str, width: usize) -> String {
    if line.width() <= width {
        return line.to_owned();
    }
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used < width
    };
    let mut cut: String = line.chars().take_while(fits).collect();
    cut.push('…');
    cut
}

/// Width of the terminal in columns, within reason.
pub(crate) fn terminal_width() -> usize {
    terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0)).clamp(60, 200)
}

fn paint(code: &str, text: &str) -> String {
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

/// Emphasis.
pub(crate) fn bold(text: &str) -> String {
    paint("1", text)
}

/// Of less importance.
pub(crate) fn dim(text: &str) -> String {
    paint("2", text)
}

/// Wrong.
pub(crate) fn red(text: &str) -> String {
    paint("1;31", text)
}

/// New or right.
pub(crate) fn green(text: &str) -> String {
    paint("32", text)
}

/// Worth a look.
pub(crate) fn yellow(text: &str) -> String {
    paint("33", text)
}

/// Columns as wide as their widest cell; numbers to the right. Cells may be coloured. A header of empty
/// names is left out.
#[derive(Debug)]
pub(crate) struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new<T: Into<String>>(header: impl IntoIterator<Item = T>) -> Self {
        Self { header: header.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row; cells beyond the header are not shown.
    pub(crate) fn row(&mut self, cells: impl Into<Vec<String>>) {
        let mut cells = cells.into();
        cells.resize(self.header.len(), String::new());
        self.rows.push(cells);
    }

    /// The table, or nothing if it has no row.
    pub(crate) fn if_any(&self) -> String {
        if self.is_empty() { String::new() } else { self.to_string() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.header.len();
        let mut widths: Vec<usize> = self.header.iter().map(|name| name.width()).collect();
        let mut numeric = vec![true; columns];
        for row in &self.rows {
            for (column, cell) in row.iter().enumerate() {
                let cell = anstream::adapter::strip_str(cell).to_string();
                widths[column] = widths[column].max(cell.width());
                numeric[column] &=
                    cell.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '.' | '-' | '%'));
            }
        }
        let header: Vec<String> = self.header.iter().map(|name| dim(name)).collect();
        let header = self.header.iter().any(|name| !name.is_empty()).then_some(&header);
        for row in header.into_iter().chain(&self.rows) {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let width = anstream::adapter::strip_str(cell).to_string().width();
                let padding = " ".repeat(widths[column].saturating_sub(width));
                let (before, after) = if numeric[column] { (&*padding, "") } else { ("", &*padding) };
                line.extend([before, cell, after, if column + 1 < columns { "  " } else { "" }]);
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_and_not_sent() {
        assert_eq!(plain("a\u{1b}[31mb\rc\nd\u{9b}e\u{202e}f"), "a\\u{1b}[31mb\\u{d}c d\\u{9b}e\\u{202e}f");
        assert_eq!(plain_lines("a\r\nb\tc\u{7}"), "a\nb\tc\\u{7}");
    }

    #[test]
    fn previews_are_as_wide_as_asked() {
        assert_eq!(preview("one\n\n two   three", 9), "one two …");
        assert_eq!(preview("中文字符", 5), "中文…");
        assert_eq!(preview("short", 5), "short");
    }

    #[test]
    fn columns_align() {
        let mut table = Table::new(["name", "size"]);
        table.row(["中".into(), "5".into()]);
        table.row([bold("abc"), "1,000".into()]);
        let plain = anstream::adapter::strip_str(&table.to_string()).to_string();
        assert_eq!(plain, "name   size\n中        5\nabc   1,000\n");
    }
}
