//! Mail (`.eml`), mailboxes (`.mbox`) and saved web pages (`.mhtml`), by `mail-parser`.
//!
//! A message is its subject as a heading, who wrote it to whom and when, its text, and what is attached: each
//! attachment that can be read stands under a heading with its name, the others are listed. What only transports a
//! message (routes, signatures, encodings) is left out. Of alternatives one is read.

mod attachment;
mod mbox;

use std::borrow::Cow;
use std::fmt::Write as _;

use chunkwright::{PositionUnit, Positions};
use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{
    Address, ContentType, Encoding, Message, MessageParser, MessagePart, MimeHeaders, PartType,
};

use super::{ConvertError, Converted, Converter, MAX_TEXT_SIZE, markdown};
use crate::decode::decode;

/// One message.
pub(crate) struct Mail;

/// Messages one after another.
pub(crate) struct Mailbox;

/// Parts inside parts that are read.
const MAX_DEPTH: u8 = 16;

/// Messages inside messages that are parsed: the library recurses over them.
const MAX_MESSAGES: usize = 10_000;

/// Addresses of a header that are named.
const MAX_ADDRESSES: usize = 10;

/// Bytes that are examined to recognize a message.
const HEAD: usize = 16 << 10;

impl Converter for Mail {
    fn name(&self) -> &'static str {
        "mail"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["eml", "mht", "mhtml"]
    }

    fn recognizes(&self, extension: &str, bytes: &[u8]) -> bool {
        // Elsewhere such lines may stand for anything; files of a mail server have a host's name for an extension, or
        // none.
        let is_named = self.extensions().contains(&extension);
        if !is_named && !extension.is_empty() && !extension.contains(',') {
            return false;
        }
        let (known, clean) = known_headers(bytes);
        if is_named { known > 0 } else { known >= 4 && clean }
    }

    fn is_text(&self) -> bool {
        true
    }

    fn convert(&self, bytes: &[u8]) -> Result<Converted, ConvertError> {
        let mut text = String::new();
        add_bytes(&mut text, bytes, 1, 0)?;
        Ok(Converted::new(text, Positions::new(PositionUnit::Message)))
    }
}

impl Converter for Mailbox {
    fn name(&self) -> &'static str {
        "mbox"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["mbox", "mbx"]
    }

    fn recognizes(&self, extension: &str, bytes: &[u8]) -> bool {
        (extension.is_empty() || self.extensions().contains(&extension)) && mbox::begins(bytes)
    }

    fn is_text(&self) -> bool {
        true
    }

    fn convert(&self, bytes: &[u8]) -> Result<Converted, ConvertError> {
        let mut text = String::new();
        let mut positions = Positions::new(PositionUnit::Message);
        for (index, message) in mbox::messages(bytes).enumerate() {
            positions.push(text.len(), index as u32 + 1);
            add_bytes(&mut text, &mbox::unquoted(message), 1, 0)?;
            if text.len() > MAX_TEXT_SIZE {
                break;
            }
        }
        Ok(Converted::new(text, positions))
    }
}

/// Headers that a message has, in lower case.
const HEADERS: &[&str] = &[
    "from",
    "to",
    "cc",
    "subject",
    "date",
    "message-id",
    "received",
    "return-path",
    "delivered-to",
    "mime-version",
    "content-type",
    "reply-to",
    "in-reply-to",
    "dkim-signature",
    "sender",
    "x-mailer",
    "x-original-to",
];

/// How many known headers `bytes` begin with, and whether all lines up to their end are headers.
fn known_headers(bytes: &[u8]) -> (usize, bool) {
    let bytes = from_headers(bytes);
    let mut head = &bytes[..bytes.len().min(HEAD)];
    if head.len() < bytes.len() {
        head = memchr::memrchr(b'\n', head).map_or(head, |end| &head[..end]);
    }
    let (mut known, mut clean) = (0, true);
    for line in
        head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end).take_while(|line| !line.is_empty())
    {
        let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
        let goes_on = line.starts_with(b" ") || line.starts_with(b"\t");
        let is_header = name.len() < line.len() && name.iter().all(u8::is_ascii_graphic);
        clean &= is_header || goes_on && known > 0;
        let name = name.trim_ascii_end();
        known += usize::from(HEADERS.iter().any(|header| name.eq_ignore_ascii_case(header.as_bytes())));
    }
    (known, clean)
}

/// A message without what some programs put before it.
fn from_headers(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii_start()
}

/// Adds a message with its title at `level`.
fn add_bytes(text: &mut String, bytes: &[u8], level: u8, depth: u8) -> Result<(), ConvertError> {
    let damaged = |problem: &str| ConvertError::Damaged { format: "mail", problem: problem.into() };
    let is_message = |name: &&[u8]| {
        [b"rfc822", b"global", b"digest"].iter().any(|subtype| name.eq_ignore_ascii_case(*subtype))
    };
    if bytes.windows(6).filter(is_message).count() > MAX_MESSAGES {
        return Err(damaged("too many messages are attached to messages"));
    }
    let bytes = with_headers_in_utf8(from_headers(bytes));
    let message = MessageParser::default().parse(&*bytes).ok_or_else(|| damaged("it has no headers"))?;
    add_message(text, &message, level, depth);
    Ok(())
}

/// The text of an attached message or mailbox.
fn nested(format: &str, bytes: &[u8], depth: u8) -> Option<String> {
    let mut text = String::new();
    if depth > MAX_DEPTH {
        return None;
    }
    if format == "mail" {
        add_bytes(&mut text, bytes, 1, depth).ok()?;
    } else {
        for message in mbox::messages(bytes) {
            add_bytes(&mut text, &mbox::unquoted(message), 1, depth).ok()?;
        }
    }
    Some(text)
}

/// The message, where its headers are in an encoding that they do not name.
fn with_headers_in_utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    let line_end = |at: &usize| bytes[at + 1..].starts_with(b"\n") || bytes[at + 1..].starts_with(b"\r\n");
    let end = memchr::memchr_iter(b'\n', bytes).find(line_end).unwrap_or(bytes.len());
    match decode(&bytes[..end]) {
        Some(head) if str::from_utf8(&bytes[..end]).is_err() => {
            Cow::Owned([head.text.as_bytes(), &bytes[end..]].concat())
        }
        _ => Cow::Borrowed(bytes),
    }
}

fn add_message(text: &mut String, message: &Message<'_>, level: u8, depth: u8) {
    let subject = message.subject().unwrap_or_default().trim();
    markdown::heading(text, level, if subject.is_empty() { "(no subject)" } else { subject });
    text.push_str("\n\n");
    let from = message.from().or_else(|| message.sender());
    let mut head = String::new();
    for (name, addresses) in [("From", from), ("To", message.to()), ("Cc", message.cc())] {
        if let Some(addresses) = addresses.map(addresses_of).filter(|addresses| !addresses.is_empty()) {
            let _ = writeln!(head, "{name}: {addresses}  ");
        }
    }
    if let Some(date) = message.date() {
        let _ = writeln!(head, "Date: {}", date.to_rfc3339());
    }
    markdown::block(text, &head);
    let mut parts = Parts { text, message, level, others: Vec::new() };
    parts.add(0, depth);
    let others = parts.others;
    if !others.is_empty() {
        let _ = write!(text, "Attachments without text: {}\n\n", others.join("; "));
    }
}

fn addresses_of(addresses: &Address<'_>) -> String {
    let mut shown = Vec::new();
    let all = addresses.iter().count();
    for address in addresses.iter().take(MAX_ADDRESSES) {
        shown.push(match (address.name().map(str::trim), address.address()) {
            (Some(name), Some(address)) if name != address && !name.is_empty() => {
                format!("{name} <{address}>")
            }
            (_, Some(address)) => address.to_owned(),
            (name, None) => name.unwrap_or_default().to_owned(),
        });
    }
    if all > MAX_ADDRESSES {
        shown.push(format!("{} more", all - MAX_ADDRESSES));
    }
    shown.retain(|address| !address.is_empty());
    shown.join(", ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What is read of the parts of a message.
struct Parts<'t, 'm> {
    text: &'t mut String,
    message: &'m Message<'m>,
    /// Level of the message's title.
    level: u8,
    /// Names, types and sizes of what is not read.
    others: Vec<String>,
}

impl Parts<'_, '_> {
    fn add(&mut self, id: u32, depth: u8) {
        let Some(part) = self.message.part(id) else { return };
        if depth > MAX_DEPTH || self.text.len() > MAX_TEXT_SIZE {
            self.others.push(described(part));
            return;
        }
        match &part.body {
            PartType::Multipart(children) => self.add_all(part, children, depth + 1),
            PartType::Message(message) => {
                add_message(self.text, message, (self.level + 1).min(6), depth + 1);
            }
            PartType::Text(_) | PartType::Html(_) if !is_attached(part) => {
                let body = body_of(self.message, part);
                markdown::block(self.text, &markdown::below(self.level, &body));
            }
            _ => {
                if !attachment::add(self.text, self.message, part, self.level + 1, depth + 1) {
                    self.others.push(described(part));
                }
            }
        }
    }

    fn add_all(&mut self, part: &MessagePart<'_>, children: &[u32], depth: u8) {
        let subtype = part.content_type().and_then(|kind| kind.subtype()).unwrap_or_default();
        match subtype {
            "alternative" => {
                let (mut best, mut most) = (None, 0);
                for &child in children {
                    // The last is the richest, unless it has but a part of the text.
                    let length = self.visible_length(child, depth);
                    if length > 0 && length * 2 >= most {
                        (best, most) = (Some(child), length);
                    }
                }
                if let Some(best) = best {
                    self.add(best, depth);
                }
            }
            // The others are what the first shows: pictures and styles.
            "related" => {
                let root = children.iter().find(|&&child| self.visible_length(child, depth) > 0);
                let attached = |id: &&u32| {
                    self.message.part(**id).is_some_and(|part| {
                        part.content_disposition().is_some_and(ContentType::is_attachment)
                    })
                };
                let attached: Vec<_> =
                    children.iter().filter(attached).filter(|&id| Some(id) != root).collect();
                for child in root.into_iter().chain(attached) {
                    self.add(*child, depth);
                }
            }
            _ => {
                for &child in children {
                    self.add(child, depth);
                }
            }
        }
    }

    /// Number of letters that a part shows.
    fn visible_length(&self, id: u32, depth: u8) -> usize {
        let Some(part) = self.message.part(id).filter(|_| depth <= MAX_DEPTH) else { return 0 };
        match &part.body {
            PartType::Text(_) | PartType::Html(_) if !is_attached(part) && is_shown(part) => {
                let body = body_of(self.message, part);
                body.chars().filter(|c| c.is_alphanumeric()).count()
            }
            PartType::Multipart(children) => {
                children.iter().map(|&child| self.visible_length(child, depth + 1)).sum()
            }
            _ => 0,
        }
    }
}

/// Whether a part is text that a reader of mail shows in its place: no calendar entry, no style sheet.
fn is_shown(part: &MessagePart<'_>) -> bool {
    part.content_type().is_none_or(|kind| {
        matches!((kind.ctype(), kind.subtype()), ("text", Some("plain" | "html" | "enriched" | "markdown")))
    })
}

fn is_attached(part: &MessagePart<'_>) -> bool {
    let disposition = part.content_disposition();
    let inline = disposition.is_some_and(ContentType::is_inline);
    disposition.is_some_and(ContentType::is_attachment)
        || part.attachment_name().is_some() && !inline
        || !is_shown(part)
}

/// The text of a part as Markdown.
fn body_of(message: &Message<'_>, part: &MessagePart<'_>) -> String {
    let text = text_of(message, part);
    if matches!(part.body, PartType::Html(_)) { markdown::of_html(&text) } else { markdown::of_text(&text) }
}

/// The text of a part. One that names no encoding, or a wrong one, is in the likeliest.
fn text_of<'p>(message: &'p Message<'_>, part: &'p MessagePart<'_>) -> Cow<'p, str> {
    let text = part.text_contents().unwrap_or_default();
    if text.contains(char::REPLACEMENT_CHARACTER) {
        let raw = message.raw_message().get(part.offset_body as usize..part.offset_end as usize);
        let bytes = raw.and_then(|raw| match part.encoding {
            Encoding::None => Some(Cow::Borrowed(raw)),
            Encoding::Base64 => base64_decode(raw).map(Cow::Owned),
            Encoding::QuotedPrintable => quoted_printable_decode(raw).map(Cow::Owned),
        });
        let decoded = bytes.as_deref().and_then(decode).filter(|decoded| decoded.replacements == 0);
        if let Some(decoded) = decoded {
            return Cow::Owned(decoded.text.into_owned());
        }
    }
    Cow::Borrowed(text)
}

/// The name, type and size of a part.
fn described(part: &MessagePart<'_>) -> String {
    let kind = part.content_type().map_or_else(
        || "text/plain".to_owned(),
        |kind| format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or("*")),
    );
    let name = part.attachment_name().map(str::trim).filter(|name| !name.is_empty());
    let bytes = part.len();
    let size = match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KB", bytes >> 10),
        _ => format!("{} MB", bytes >> 20),
    };
    name.map_or_else(|| format!("{kind}, {size}"), |name| format!("{name} ({kind}, {size})"))
}
