//! Markdown of texts that become part of a converted document: HTML, plain text, attached documents.

use chunkwright::document::{BlockKind, SectionKind};
use chunkwright::parse::{Csv, Html, Markdown};
use chunkwright::{Document, Span};

/// What a page in HTML or XHTML reads as: headings, lists, tables and listings as Markdown.
pub(super) fn of_html(page: &str) -> String {
    let document = Document::parse("", page, &Html);
    document.read(Span::new(0, page.len())).into_owned()
}

/// Plain text as Markdown that reads the same: what would be markup there is escaped. Quotes of a mail (`> `) stay.
pub(super) fn of_text(text: &str) -> String {
    let is_fence = |line: &&str| line.trim_start().starts_with("```");
    let closed = text.lines().filter(is_fence).count().is_multiple_of(2);
    let mut markdown = String::with_capacity(text.len() + 16);
    let mut after_text = false;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let is_underline = |mark: char| !trimmed.is_empty() && trimmed.trim_end().chars().all(|c| c == mark);
        // Below a line of text this would make a heading of it.
        if after_text && (is_underline('-') || is_underline('=')) {
            markdown.push('\n');
        }
        let is_markup = trimmed.starts_with(['#', '<'])
            || trimmed.starts_with("~~~")
            || !closed && trimmed.starts_with("```");
        let indent = &line[..line.len() - trimmed.len()];
        markdown.extend([indent, if is_markup { "\\" } else { "" }, trimmed, "\n"]);
        after_text = !trimmed.is_empty();
    }
    markdown
}

/// A table as text, with its first row as the header.
pub(super) fn of_csv(source: &str) -> String {
    let source = source.trim_start_matches('\u{feff}');
    let first = source.find('\n').map_or("", |end| &source[..=end]);
    let source = if first.starts_with("sep=") { &source[first.len()..] } else { source };
    let document = Document::parse("", source, &Csv);
    let all = Span::new(0, source.len());
    let mut rows = vec![vec![]];
    let mut start = 0;
    let seams = document.seams(all).iter().map(|seam| (seam.at as usize, seam.depth == 0));
    for (at, ends_row) in seams.chain([(source.len(), true)]) {
        let cell = source[start..at].trim();
        // The separator.
        let cell =
            if ends_row { cell } else { cell.strip_suffix([',', ';', '\t', '|']).unwrap_or(cell) }.trim();
        let quoted = cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"'));
        let cell = quoted.map_or_else(|| cell.to_owned(), |cell| cell.replace("\"\"", "\""));
        rows.last_mut().expect("one row is open").push(cell);
        if ends_row {
            rows.push(vec![]);
        }
        start = at;
    }
    rows.pop();
    let mut text = String::new();
    table(&mut text, rows.into_iter());
    text
}

/// `markdown` with its headings `levels` deeper, so that it can stand under one. A fence that is left open is closed.
pub(super) fn below(levels: u8, markdown: &str) -> String {
    let document = Document::parse("", markdown, &Markdown);
    let mut text = String::with_capacity(markdown.len() + 64);
    let mut at = 0;
    for block in document.blocks().iter().filter(|block| block.kind == BlockKind::Heading) {
        let section = document.section(block.section);
        let SectionKind::Heading(level) = section.kind else { continue };
        let (start, end) = (block.span.start as usize, block.span.end as usize);
        text.push_str(&markdown[at..start]);
        heading(&mut text, level + levels, &section.title);
        at = end;
    }
    text.push_str(&markdown[at..]);
    let all = Span::new(0, markdown.len());
    if let Some(open) =
        document.enclosures(all).last().filter(|last| last.span.end as usize == markdown.len())
    {
        let close = open.close.trim();
        if !text.trim_end().ends_with(close) {
            text.extend(["\n", close]);
        }
    }
    text
}

/// Adds a heading. A title is one line.
pub(super) fn heading(text: &mut String, level: u8, title: &str) {
    text.push_str(&"######"[..usize::from(level.clamp(1, 6))]);
    for word in title.split_whitespace() {
        text.extend([" ", word]);
    }
}

/// Adds a block, with an empty line after it.
pub(super) fn block(text: &mut String, block: &str) {
    let block = block.trim_matches(['\n', '\r']).trim_end();
    if !block.is_empty() {
        text.extend([block, "\n\n"]);
    }
}

/// Adds a fenced listing.
pub(super) fn listing(text: &mut String, language: &str, code: &str) {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    text.extend([&fence, language, "\n", code.trim_end(), "\n", &fence, "\n\n"]);
}

/// Adds a table of rows, the first of which is its header.
pub(super) fn table<'r>(text: &mut String, rows: impl Iterator<Item = Vec<String>> + 'r) {
    for (index, row) in rows.enumerate() {
        for cell in &row {
            let cell: Vec<_> = cell.split_whitespace().collect();
            text.extend(["| ", &cell.join(" ").replace('|', "\\|"), " "]);
        }
        text.push_str("|\n");
        if index == 0 {
            text.push_str(&"|---".repeat(row.len()));
            text.push_str("|\n");
        }
    }
    text.push('\n');
}

/// Whether there is something to read.
pub(super) fn is_visible(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}
