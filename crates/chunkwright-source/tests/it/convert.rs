//! What holds for every converter.

#[cfg(unix)]
use std::time::Duration;

#[cfg(unix)]
use chunkwright_source::convert::Container;
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

#[test]
fn documents_of_formats_that_are_not_read_say_which_they_are() {
    let compound = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 more";
    let error = |extension: &str, bytes: &[u8]| {
        converter_for(extension, bytes).map(|format| convert(format, bytes).unwrap_err().to_string())
    };
    let message = error("doc", compound).unwrap();
    assert_eq!(
        message,
        "it is a document of Word 97 to 2003, which is not read; save it as PDF, as `.docx`, `.xlsx` or `.pptx`, or as text"
    );
    assert!(error("ODT", b"PK\x03\x04 more").unwrap().starts_with("it is an OpenDocument text,"));
    assert!(error("mobi", b"book\0\0\0\0\0\0").unwrap().starts_with("it is a Kindle book,"));
    // Text, whatever its name, and archives.
    assert_eq!(error("doc", b"Dear all"), None);
    assert_eq!(error("key", b"-- a key --"), None);
    assert_eq!(error("azw", b"text"), None);
    assert_eq!(error("zip", b"PK\x03\x04 more"), None);
}

/// A shell script in place of a program that converts.
#[cfg(unix)]
fn script(script: &str, time: Duration) -> Container {
    Container { program: ["/bin/sh", "-c", script].map(Into::into).to_vec(), time }
}

#[cfg(unix)]
#[test]
fn a_process_that_does_not_end_is_killed() {
    let outcome = script("exec sleep 600", Duration::from_millis(50)).convert(&Hostile, b"file");
    assert_eq!(outcome, Err(ConvertError::TooLong { seconds: 0 }));
}

#[cfg(unix)]
#[test]
fn a_process_has_limits_of_memory_and_time() {
    let answer = r#"printf '{"Damaged":{"problem":"%s KiB, %s s"}}' "$(ulimit -v)" "$(ulimit -t)""#;
    let outcome = script(answer, Duration::from_mins(2)).convert(&Hostile, b"file");
    let problem = format!("{} KiB, 120 s", 768 << 10);
    assert_eq!(outcome, Err(ConvertError::Damaged { format: "hostile", problem }));
}
