//! ZIP archives of XML, as Office files and EPUBs are, and what they unpack to within bounds.

use std::io::{self, Cursor, Read, Write};

use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Config;
use quick_xml::{Reader, XmlVersion};
use zip::ZipArchive;
use zip::result::ZipError;

use super::{ConvertError, MAX_UNPACKED_SIZE};
use crate::decode::decode;

/// The start of an archive.
const START: &[u8] = b"PK\x03\x04";

/// An archive in memory.
pub(super) struct Archive<'b> {
    bytes: &'b [u8],
    zip: ZipArchive<Cursor<&'b [u8]>>,
}

/// Whether `bytes` are an archive.
pub(super) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(START)
}

impl<'b> Archive<'b> {
    /// The archive that `bytes` are; `None` if it is damaged.
    pub(super) fn open(bytes: &'b [u8]) -> Option<Self> {
        ZipArchive::new(Cursor::new(bytes)).ok().map(|zip| Self { bytes, zip })
    }

    /// The archive, if it unpacks to no more than a file may. It is unpacked without storing it and bytes are counted:
    /// its declared sizes may be false.
    pub(super) fn checked(format: &'static str, bytes: &'b [u8]) -> Result<Self, ConvertError> {
        let damaged =
            |error: &dyn std::error::Error| ConvertError::Damaged { format, problem: error.to_string() };
        let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
        let mut left = MAX_UNPACKED_SIZE;
        for index in 0..zip.len() {
            let part = zip.by_index(index).map_err(|error| match error {
                ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => ConvertError::Encrypted,
                error => damaged(&error),
            })?;
            left -= io::copy(&mut part.take(left), &mut io::sink()).map_err(|error| damaged(&error))?;
            if left == 0 {
                return Err(ConvertError::TooLarge {
                    what: super::child::UNPACKED,
                    limit: MAX_UNPACKED_SIZE,
                });
            }
        }
        Ok(Self { bytes, zip })
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.zip.index_for_name(name).is_some()
    }

    /// The text of a part; `None` if there is none of this name, or it is not text.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        let part = self.zip.by_name(name).ok()?;
        let mut bytes = Vec::new();
        part.take(MAX_UNPACKED_SIZE).read_to_end(&mut bytes).ok()?;
        let text = decode(&bytes)?.text;
        Some(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
    }

    /// The archive with other texts in place of some parts.
    pub(super) fn with(mut self, parts: &[(String, String)]) -> Option<Vec<u8>> {
        if parts.is_empty() {
            return Some(self.bytes.to_vec());
        }
        let mut out = zip::ZipWriter::new(Cursor::new(Vec::with_capacity(self.bytes.len())));
        // It is read once.
        let fast = zip::write::SimpleFileOptions::default().compression_level(Some(1));
        for index in 0..self.zip.len() {
            let part = self.zip.by_index_raw(index).ok()?;
            let name = part.name().ok()?.into_owned();
            match parts.iter().find(|(other, _)| *other == name) {
                None => out.raw_copy_file(part).ok()?,
                Some((name, text)) => {
                    out.start_file(name.as_str(), fast).ok()?;
                    out.write_all(text.as_bytes()).ok()?;
                }
            }
        }
        Some(out.finish().ok()?.into_inner())
    }
}

/// Passes each event of `xml` with its span to `visit`, up to where the XML is broken.
pub(super) fn events<'x>(xml: &'x str, mut visit: impl FnMut(Event<'x>, std::ops::Range<usize>)) {
    let mut reader = Reader::from_str(xml);
    let config: &mut Config = reader.config_mut();
    (config.allow_dangling_amp, config.allow_unmatched_ends, config.check_end_names) = (true, true, false);
    loop {
        let start = reader.buffer_position() as usize;
        match reader.read_event() {
            Ok(Event::Eof) | Err(_) => return,
            Ok(event) => visit(event, start..reader.buffer_position() as usize),
        }
    }
}

/// The value of an attribute, whatever its prefix.
pub(super) fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let found =
        element.attributes().flatten().find(|attribute| attribute.key.local_name().as_ref() == name)?;
    Some(
        found
            .normalized_value(XmlVersion::Implicit1_0)
            .map_or_else(|_| found.value.to_string(), std::borrow::Cow::into_owned),
    )
}

/// Adds the text that an event stands for.
pub(super) fn add_text(text: &mut String, event: &Event<'_>) {
    match event {
        Event::Text(part) => text.push_str(part),
        Event::CData(part) => text.push_str(part),
        Event::GeneralRef(reference) => match reference.resolve_char_ref() {
            Ok(Some(c)) => text.push(c),
            _ => text.push_str(quick_xml::escape::resolve_predefined_entity(reference).unwrap_or(" ")),
        },
        _ => {}
    }
}

/// `text` with other texts in place of stretches, which do not overlap.
pub(super) fn replaced(text: &str, mut edits: Vec<(std::ops::Range<usize>, String)>) -> String {
    edits.sort_by_key(|(span, _)| (span.start, span.end));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (span, with) in edits.into_iter().filter(|(span, _)| span.end <= text.len()) {
        if span.start >= at {
            out.extend([&text[at..span.start], &with]);
            at = span.end;
        }
    }
    out.push_str(&text[at..]);
    out
}

/// The path in the archive of what the file at `base` refers to.
pub(super) fn resolved(base: &str, reference: &str) -> String {
    let reference = reference.split('#').next().unwrap_or_default();
    let mut bytes = Vec::with_capacity(reference.len());
    let mut rest = reference.as_bytes();
    while let [byte, after @ ..] = rest {
        let digits = after.get(..2).filter(|_| *byte == b'%').and_then(|digits| str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(code.unwrap_or(*byte));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    let reference = String::from_utf8_lossy(&bytes);
    let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut path: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(reference.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(path.pop()),
            part => path.push(part),
        }
    }
    path.join("/")
}
