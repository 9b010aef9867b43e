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
