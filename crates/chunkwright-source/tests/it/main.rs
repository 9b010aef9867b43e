//! Tests of the library at its boundary.
//!
//! The PDFs of `tests/samples` were printed by a script of ours from one short text in three languages; the Chinese one
//! has no character map of its own, like many of its kind. Other files are made here.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod convert;
mod decode;
mod epub;
mod format;
mod generated;
mod glob;
mod layout;
mod mail;
mod noise;
mod office;
mod ordered;
mod pdf;
mod prose;
mod redact;
mod rich;
mod secret;
mod walk;

use chunkwright::{PositionUnit, Span};
use chunkwright_source::convert::{ConvertError, Converted, convert, converter_for};

/// Converts `bytes`, which have to be of the format with this extension.
#[track_caller]
pub(crate) fn converted(extension: &str, bytes: &[u8]) -> Result<Converted, ConvertError> {
    let converter = converter_for(extension, bytes).expect("a format that is known");
    assert!(converter.extensions().contains(&extension), "{}", converter.name());
    convert(converter, bytes)
}

/// Asserts on which page, slide, sheet or paragraph each text stands.
#[track_caller]
pub(crate) fn stands(converted: &Converted, unit: PositionUnit, expect: &[(&str, u32)]) {
    for &(text, number) in expect {
        let at = converted.text.find(text).unwrap_or_else(|| panic!("no {text:?} in {:?}", converted.text));
        let position = converted.positions.of(Span::new(at, at + text.len())).unwrap();
        assert_eq!((position.unit, position.first, position.last), (unit, number, number), "{text}");
    }
}
