//! Files that are attached to a message.

use std::path::Path;

use chunkwright::document::with_lf;
use chunkwright::parse::{Csv, Html, Markdown, Text};
use chunkwright::{Document, Parser as _, Span};
use mail_parser::{Message, MessagePart, MimeHeaders, PartType};

use crate::convert::{converter_for, markdown};
use crate::decode::decode;
use crate::parser::parser_of;

/// Adds a file with its name as a heading of `level`; answers whether it has text that can be read.
pub(super) fn add(
    text: &mut String,
    message: &Message<'_>,
    part: &MessagePart<'_>,
    level: u8,
    depth: u8,
) -> bool {
    let name = part.attachment_name().map(str::trim).filter(|name| !name.is_empty());
    let path = name.map_or_else(|| format!("part.{}", extension(part)), str::to_owned);
    let content = content(Path::new(&path), message, part, depth);
    let Some(content) = content.filter(|text| markdown::is_visible(text)) else { return false };
    markdown::heading(text, level, &format!("Attachment: {}", name.unwrap_or("without a name")));
    text.push_str("\n\n");
    markdown::block(text, &markdown::below(level, &content));
    true
}

/// The text of a file as Markdown.
fn content(path: &Path, message: &Message<'_>, part: &MessagePart<'_>, depth: u8) -> Option<String> {
    let bytes = part.contents();
    let file_extension = path.extension().map(|extension| extension.to_string_lossy()).unwrap_or_default();
    match converter_for(&file_extension, bytes) {
        // Not by its converter, which does not count what is inside what.
        Some(format) if matches!(format.name(), "mail" | "mbox") => {
            return super::nested(format.name(), bytes, depth);
        }
        Some(converter) => return converter.convert(bytes).ok().map(|converted| converted.text),
        None => {}
    }
    let parser = parser_of(path, bytes);
    // Its characters were decoded with the message.
    let source = match &part.body {
        PartType::Text(_) | PartType::Html(_) => super::text_of(message, part).into_owned(),
        _ => decode(bytes)?.text.into_owned(),
    };
    let source = with_lf(&source);
    let document = || Document::parse("", &*source, parser);
    Some(match parser.name() {
        name if name == Markdown.name() => source.into_owned(),
        name if name == Text.name() => markdown::of_text(&source),
        name if name == Csv.name() => markdown::of_csv(&source),
        name if name == Html.name() || parser.renders() => {
            document().read(Span::new(0, source.len())).into_owned()
        }
        name => {
            let mut text = String::new();
            markdown::listing(&mut text, name, &source);
            text
        }
    })
}

/// The extension of files of a part's type.
fn extension<'p>(part: &'p MessagePart<'_>) -> &'p str {
    let subtype = part.content_type().and_then(|kind| kind.subtype()).unwrap_or("txt");
    match subtype {
        "plain" => "txt",
        "markdown" => "md",
        "calendar" => "ics",
        "x-vcard" | "vcard" => "vcf",
        "rfc822" | "global" => "eml",
        other => other,
    }
}
