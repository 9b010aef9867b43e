//! Contacts (`.vcf`): one section a card, named as the contact is, with what is written of it.

use std::borrow::Cow;

use chunkwright::{PositionUnit, Positions};
use encoding_rs::Encoding;

use super::{ConvertError, Converted, Converter, MAX_TEXT_SIZE, markdown};
use crate::decode::decode;

/// Contacts.
pub(crate) struct VCard;

/// The properties that are shown, and how they are called.
const SHOWN: &[(&str, &str)] = &[
    ("NICKNAME", "Nickname"),
    ("ORG", "Organization"),
    ("TITLE", "Title"),
    ("ROLE", "Role"),
    ("TEL", "Phone"),
    ("EMAIL", "Email"),
    ("IMPP", "Messenger"),
    ("ADR", "Address"),
    ("URL", "Web"),
    ("BDAY", "Birthday"),
    ("CATEGORIES", "Categories"),
    ("RELATED", "Related"),
    ("NOTE", "Note"),
];

impl Converter for VCard {
    fn name(&self) -> &'static str {
        "vcard"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["vcf", "vcard"]
    }

    fn recognizes(&self, extension: &str, bytes: &[u8]) -> bool {
        let begins = bytes.trim_ascii_start().get(..11).unwrap_or_default();
        self.extensions().contains(&extension) && begins.eq_ignore_ascii_case(b"BEGIN:VCARD")
    }

    fn is_text(&self) -> bool {
        true
    }

    fn convert(&self, bytes: &[u8]) -> Result<Converted, ConvertError> {
        let source = decode(bytes)
            .ok_or_else(|| ConvertError::Damaged { format: self.name(), problem: "it is not text".into() })?;
        let mut text = String::new();
        let mut card = Card::default();
        for line in unfolded(&source.text) {
            let property = Property::of(&line);
            match &*property.name {
                "BEGIN" => card = Card::default(),
                "END" => card.add_to(&mut text),
                _ => card.take(&property),
            }
            if text.len() > MAX_TEXT_SIZE {
                break;
            }
        }
        Ok(Converted::new(text, Positions::new(PositionUnit::Paragraph)))
    }
}

/// A contact.
#[derive(Default)]
struct Card {
    name: String,
    lines: Vec<String>,
}

impl Card {
    fn take(&mut self, property: &Property) {
        // FN is the name as it is shown; N has its parts.
        if property.name == "FN" || property.name == "N" && self.name.is_empty() {
            self.name = property.shown();
        }
        let shown = SHOWN.iter().find(|(name, _)| property.name == *name);
        let value = property.shown();
        if let Some((_, label)) = shown.filter(|_| !value.is_empty()) {
            self.lines.push(format!("- {label}: {value}\n"));
        }
    }

    fn add_to(&mut self, text: &mut String) {
        let name = if self.name.is_empty() { "(no name)" } else { &self.name };
        markdown::heading(text, 1, name);
        text.extend(["\n\n", &self.lines.concat(), "\n"]);
    }
}

/// The lines, each with those that continue it.
fn unfolded(text: &str) -> Vec<Cow<'_, str>> {
    let mut lines: Vec<Cow<'_, str>> = Vec::new();
    for line in text.lines() {
        let last = lines.last_mut();
        let is_soft = |last: &Cow<'_, str>| {
            last.ends_with('=') && last.to_ascii_uppercase().contains("QUOTED-PRINTABLE")
        };
        match last {
            Some(last) if line.starts_with([' ', '\t']) => last.to_mut().push_str(&line[1..]),
            Some(last) if is_soft(last) => {
                let last = last.to_mut();
                last.pop();
                last.push_str(line);
            }
            _ => lines.push(Cow::Borrowed(line)),
        }
    }
    lines
}

/// A line: its name in capitals without group and parameters, and its value.
struct Property {
    name: String,
    value: String,
}

impl Property {
    fn of(line: &str) -> Self {
        let (head, value) = line.split_once(':').unwrap_or((line, ""));
        let mut parameters = head.split(';');
        let name = parameters.next().unwrap_or_default();
        let name = name.rsplit('.').next().unwrap_or(name).to_ascii_uppercase();
        let parameters: Vec<_> = parameters.map(str::to_ascii_uppercase).collect();
        let encoding = parameters.iter().find_map(|parameter| parameter.strip_prefix("CHARSET="));
        let is = |what: &str| parameters.iter().any(|parameter| parameter.ends_with(what));
        let value = if is("QUOTED-PRINTABLE") {
            of_quoted_printable(value, encoding)
        } else if is("=B") || is("BASE64") {
            // A picture or a key.
            String::new()
        } else {
            value.to_owned()
        };
        Self { name, value }
    }

    /// The value with its parts set apart by commas, without escapes.
    fn shown(&self) -> String {
        let mut shown = String::new();
        let mut chars = self.value.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some('n' | 'N') => shown.push(' '),
                    Some(escaped) => shown.push(escaped),
                    None => {}
                },
                // Empty parts of an address or a name.
                ';' if shown.is_empty() || shown.ends_with(", ") => {}
                ';' => shown.push_str(", "),
                c => shown.push(c),
            }
        }
        let words: Vec<_> = shown.trim_matches([',', ' ']).split_whitespace().collect();
        words.join(" ")
    }
}

fn of_quoted_printable(value: &str, encoding: Option<&str>) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [byte, after @ ..] = rest {
        let digits = after.get(..2).filter(|_| *byte == b'=').and_then(|digits| str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(code.unwrap_or(*byte));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    let encoding = encoding.and_then(|name| Encoding::for_label(name.as_bytes()));
    match encoding {
        Some(encoding) => encoding.decode(&bytes).0.into_owned(),
        None => String::from_utf8_lossy(&bytes).into_owned(),
    }
}
