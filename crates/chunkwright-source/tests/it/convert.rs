//! What holds for every converter.

use chunkwright_source::convert::{
    ConvertError, Converted, Converter, MAX_FILE_SIZE, convert, converter_for,
};

/// Fails over every file.
struct Hostile;

impl Converter for Hostile {
    fn name(&self) -> &'static str {
        "hostile"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &[]
    }

    fn recognizes(&self, _: &str, _: &[u8]) -> bool {
        false
    }

    fn convert(&self, _: &[u8]) -> Result<Converted, ConvertError> {
        panic!("as asked")
    }
}

#[test]
fn a_converter_that_panics_costs_one_file() {
    assert_eq!(convert(&Hostile, b"any"), Err(ConvertError::Failed { format: "hostile" }));
}

#[test]
fn a_file_over_the_limit_is_not_opened() {
    let error = ConvertError::TooLarge { what: "the file", limit: MAX_FILE_SIZE as u64 };
    assert_eq!(convert(&Hostile, &vec![0; MAX_FILE_SIZE + 1]), Err(error));
}

#[test]
fn text_is_no_binary_document() {
    for text in
        [&b""[..], b"# Heading\n", b"About the header %PDF-1.7", b"PK", b"PK\x03\x04 is how archives begin"]
    {
        assert!(converter_for("md", text).is_none());
    }
}
