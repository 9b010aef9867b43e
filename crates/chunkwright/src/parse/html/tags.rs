//! The table of HTML tags: what each means for blocks, and the text it renders as.

use html5gum::StartTag;

use super::reading::Break;
use super::{Container, Listing, MAX_INDENTS, Page};
use crate::document::BlockKind;
use crate::span::Span;

impl Page<'_> {
    pub(super) fn start_tag(&mut self, tag: &StartTag<usize>) {
        let (start, end) = (tag.span.start, tag.span.end);
        let name: &[u8] = &tag.name;
        if let Some((left_out, depth, _)) = &mut self.left_out {
            *depth += usize::from(left_out == name && !tag.self_closing);
            return;
        }
        if is_left_out(name) && !tag.self_closing {
            self.left_out = Some((name.to_vec(), 1, start));
            return;
        }
        if self.open.is_none() {
            self.lead.get_or_insert(start);
        }
        if self.listing.is_some() {
            self.start_in_listing(tag);
            return;
        }
        match name {
            b"title" if self.title.is_none() => {
                self.title = Some((start, Span::new(end, end), end));
                self.in_title = true;
            }
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => {
                let level = name[1] - b'0';
                self.block(BlockKind::Heading, start);
                let mark = self.tag(start, end, Break::Blank);
                if let Some(open) = self.open.as_mut().filter(|_| self.containers.is_empty()) {
                    open.heading = Some((level, String::new()));
                    self.reading.begin(mark, &format!("{} ", "#".repeat(level.into())));
                }
            }
            b"p" => {
                self.block(BlockKind::Paragraph, start);
                self.tag(start, end, Break::Blank);
            }
            b"pre" if !self.in_cell() => {
                self.block(BlockKind::Code, start);
                // The line break is separate: repeated opening text brings its own.
                let mark = self.tag(start, end - 1, Break::Blank);
                self.reading.begin(mark, &format!("```{}", language(tag).unwrap_or_default()));
                let line = self.reading.gap(end - 1, end, Break::None);
                self.reading.begin(line, "\n");
                self.listing = Some(Listing { mark, start, open: end - 1, text: None, ended: true });
            }
            b"ul" | b"ol" | b"menu" => {
                let first = attribute(tag, b"start").and_then(|start| start.trim().parse().ok()).unwrap_or(1);
                let nested = self.containers.iter().any(|container| matches!(container, Container::List(_)));
                self.push(Container::List((name == b"ol").then_some(first)), BlockKind::List, start);
                self.tag(start, end, if nested { Break::Line } else { Break::Blank });
            }
            b"li" => self.item(start, end),
            b"dl" => {
                self.push(Container::Definitions, BlockKind::List, start);
                self.tag(start, end, Break::Blank);
            }
            b"dt" | b"dd" => {
                if name == b"dt" || self.containers.is_empty() {
                    self.block(BlockKind::Paragraph, start);
                }
                let mark = self.tag(start, end, Break::Line);
                if name == b"dd" {
                    self.visible(start);
                    self.reading.begin(mark, ": ");
                }
            }
            b"blockquote" => {
                self.push(Container::Quote, BlockKind::Quote, start);
                let mark = self.tag(start, end, Break::Blank);
                if !self.in_cell() && self.containers.len() <= MAX_INDENTS {
                    // The last mark of the prefix is this quote's own.
                    let outer = self.containers.pop();
                    self.indent();
                    self.reading.begin(mark, "> ");
                    self.containers.extend(outer);
                    self.indent();
                }
            }
            b"table" | b"tr" | b"td" | b"th" => self.start_in_table(tag),
            b"br" => {
                self.tag(start, end, Break::Line);
            }
            b"img" => self.image(tag),
            b"code" | b"kbd" | b"samp" | b"tt" => {
                self.visible(start);
                self.reading.replace(start, end, "`");
            }
            name if is_inline(name) => self.invisible(start, end),
            _ => self.start_block(start, end),
        }
    }

    /// An element that only ends what is open before it.
    pub(super) fn start_block(&mut self, start: usize, end: usize) {
        if self.containers.is_empty() && self.open.is_some() {
            self.close(start);
            self.lead = Some(start);
        }
        self.tag(start, end, Break::Blank);
    }

    /// The end of such an element.
    pub(super) fn end_block(&mut self, start: usize, end: usize) {
        if self.containers.is_empty() && self.open.is_some() {
            self.close(start);
        }
        self.tag(start, end, Break::Blank);
    }

    /// The alternative text of a picture is text, if it has one.
    fn image(&mut self, tag: &StartTag<usize>) {
        let (start, end) = (tag.span.start, tag.span.end);
        let alt = attribute(tag, b"alt").filter(|alt| !alt.trim().is_empty());
        match alt.and_then(|alt| Some((self.source[start..end].find(&alt)?, alt.len()))) {
            Some((at, length)) => {
                self.visible(start);
                self.reading.gap(start, start + at, Break::None);
                self.reading.text(start + at, start + at + length, |_| {});
                self.reading.gap(start + at + length, end, Break::None);
            }
            None => self.invisible(start, end),
        }
    }

    fn item(&mut self, start: usize, end: usize) {
        let cell = self.in_cell();
        let marker = match self.containers.last_mut() {
            Some(Container::List(Some(number))) => {
                let marker = format!("{number}. ");
                *number = number.saturating_add(1);
                marker
            }
            _ => "- ".into(),
        };
        if self.containers.is_empty() {
            self.block(BlockKind::List, start);
        }
        self.seam(start);
        let mark = self.tag(start, end, Break::Line);
        if cell {
            return;
        }
        // The item's own line is indented as its list is.
        let own = self.containers.pop();
        self.indent();
        self.reading.begin(mark, &marker);
        self.containers.extend(own);
        self.indent();
    }

    fn start_in_listing(&mut self, tag: &StartTag<usize>) {
        let (start, end) = (tag.span.start, tag.span.end);
        if &*tag.name == b"br" {
            self.reading.replace(start, end, "\n");
            return;
        }
        self.reading.gap(start, end, Break::None);
        if let Some(listing) = self.listing.as_ref().filter(|listing| listing.text.is_none())
            && let Some(language) = language(tag)
        {
            self.reading.amend(listing.mark, "```", &format!("```{language}"));
        }
    }

    pub(super) fn end_tag(&mut self, name: &[u8], start: usize, end: usize) {
        if let Some((left_out, depth, from)) = &mut self.left_out {
            *depth -= usize::from(left_out == name);
            if *depth == 0 {
                let from = *from;
                self.left_out = None;
                self.invisible(from, end);
            }
            return;
        }
        self.lead = None;
        if self.listing.is_some() {
            if name == b"pre" {
                self.end_listing(start, end);
            } else {
                self.reading.gap(start, end, Break::None);
            }
            return;
        }
        match name {
            b"title" if self.in_title => {
                self.in_title = false;
                if let Some((_, _, title_end)) = &mut self.title {
                    *title_end = end;
                }
            }
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"p" => {
                if self.containers.is_empty() && self.open.is_some() {
                    self.close(end);
                }
                self.tag(start, end, Break::Blank);
            }
            b"ul" | b"ol" | b"menu" => {
                self.pop(end, |container| matches!(container, Container::List(_)));
                self.tag(start, end, if self.containers.is_empty() { Break::Blank } else { Break::Line });
            }
            b"dl" => {
                self.pop(end, |container| matches!(container, Container::Definitions));
                self.tag(start, end, Break::Blank);
            }
            b"blockquote" => {
                self.pop(end, |container| matches!(container, Container::Quote));
                self.tag(start, end, Break::Blank);
            }
            b"li" | b"dt" | b"dd" => {
                self.tag(start, end, Break::Line);
            }
            b"table" | b"tr" | b"td" | b"th" => self.end_in_table(name, start, end),
            b"code" | b"kbd" | b"samp" | b"tt" => self.reading.replace(start, end, "`"),
            name if is_inline(name) => self.invisible(start, end),
            _ => self.end_block(start, end),
        }
    }
}

pub(super) fn attribute(tag: &StartTag<usize>, name: &[u8]) -> Option<String> {
    tag.attributes.get(name).map(|value| String::from_utf8_lossy(value).into_owned())
}

/// The programming language that a class names.
fn language(tag: &StartTag<usize>) -> Option<String> {
    let classes = attribute(tag, b"class")?;
    let prefixes = ["language-", "lang-", "highlight-source-", "highlight-", "brush:"];
    let named =
        |class: &str| prefixes.iter().find_map(|prefix| class.strip_prefix(prefix)).map(str::to_owned);
    let name = classes.split_whitespace().find_map(named)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "+-#_.".contains(c);
    (!name.is_empty() && name.chars().all(plain)).then_some(name)
}

/// Elements whose content is not text of the page. That of `noscript` is for readers without scripts.
fn is_left_out(name: &[u8]) -> bool {
    matches!(
        name,
        b"noscript"
            | b"script"
            | b"style"
            | b"template"
            | b"svg"
            | b"iframe"
            | b"noembed"
            | b"noframes"
            | b"object"
            | b"canvas"
    )
}

/// Elements inside a line of text.
fn is_inline(name: &[u8]) -> bool {
    matches!(
        name,
        b"a" | b"abbr"
            | b"acronym"
            | b"annotation"
            | b"audio"
            | b"b"
            | b"base"
            | b"basefont"
            | b"bdi"
            | b"bdo"
            | b"big"
            | b"button"
            | b"cite"
            | b"col"
            | b"colgroup"
            | b"data"
            | b"datalist"
            | b"del"
            | b"dfn"
            | b"em"
            | b"embed"
            | b"font"
            | b"head"
            | b"i"
            | b"input"
            | b"ins"
            | b"label"
            | b"link"
            | b"map"
            | b"area"
            | b"mark"
            | b"math"
            | b"meta"
            | b"meter"
            | b"nobr"
            | b"output"
            | b"param"
            | b"picture"
            | b"progress"
            | b"q"
            | b"rb"
            | b"rp"
            | b"rt"
            | b"ruby"
            | b"s"
            | b"select"
            | b"slot"
            | b"small"
            | b"source"
            | b"span"
            | b"strike"
            | b"strong"
            | b"sub"
            | b"sup"
            | b"tbody"
            | b"tfoot"
            | b"thead"
            | b"time"
            | b"track"
            | b"u"
            | b"var"
            | b"video"
            | b"wbr"
    )
}
