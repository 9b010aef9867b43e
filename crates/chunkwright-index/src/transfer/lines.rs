//! Reads rows from JSON Lines, whatever they contain.

use std::io::{BufRead, Read as _};

use super::{ImportError, Row, RowAt};

/// Most bytes of a line (256 MiB): a line may hold a document and its file.
pub const MAX_LINE: u64 = 256 << 20;

/// The rows of JSON Lines. Blank lines and summaries are skipped.
pub fn lines(reader: impl BufRead) -> impl Iterator<Item = Result<(RowAt, Row), ImportError>> {
    lines_within(reader, MAX_LINE)
}

/// As [`lines`], with lines of at most `most` bytes.
fn lines_within(
    mut reader: impl BufRead,
    most: u64,
) -> impl Iterator<Item = Result<(RowAt, Row), ImportError>> {
    let mut number = 0;
    let mut has_failed = false;
    std::iter::from_fn(move || {
        while !has_failed {
            number += 1;
            let at = RowAt { unit: "line", number };
            let row = line(&mut reader, at, most);
            has_failed = row.is_err();
            match row {
                Ok(Line::End) => return None,
                Ok(Line::Passed) => {}
                Ok(Line::Row(row)) => return Some(Ok((at, *row))),
                Err(error) => return Some(Err(error)),
            }
        }
        None
    })
}

/// The next line of a file.
enum Line {
    Row(Box<Row>),
    /// Blank, or a summary.
    Passed,
    /// The end of the file.
    End,
}

fn line(reader: &mut impl BufRead, at: RowAt, most: u64) -> Result<Line, ImportError> {
    let unreadable = |reason: String| ImportError::Unreadable { at: Some(at), reason };
    let mut line = Vec::new();
    let read = reader.by_ref().take(most + 1).read_until(b'\n', &mut line);
    if read.map_err(|error| unreadable(error.to_string()))? == 0 {
        return Ok(Line::End);
    }
    if line.len() as u64 > most {
        return Err(unreadable(format!("it is longer than {most} bytes")));
    }
    if line.trim_ascii().is_empty() {
        return Ok(Line::Passed);
    }
    if std::str::from_utf8(&line).is_err() {
        return Err(unreadable("it is not UTF-8 text; expected JSON Lines or Parquet".into()));
    }
    let row: Row = serde_json::from_slice(&line).map_err(|error| unreadable(error.to_string()))?;
    Ok(if row.record.artifact.is_none() { Line::Row(Box::new(row)) } else { Line::Passed })
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, repeat};

    use super::*;

    #[test]
    fn what_is_hostile_is_refused_with_its_line_and_bounded() {
        let refused = |reader: &mut dyn BufRead| {
            let mut rows = lines_within(reader, 10_000);
            let error = rows.next().unwrap().unwrap_err().to_string();
            assert!(rows.next().is_none(), "{error}");
            assert!(error.len() < 300 && !error.contains('\n') && !error.contains("damaged"), "{error}");
            error
        };
        assert!(refused(&mut BufReader::new(repeat(b'['))).contains("longer than 10000 bytes"));
        let deep = format!("\n\n{}", "[".repeat(5000));
        assert!(refused(&mut deep.as_bytes()).starts_with("line 3 is not a chunk record"));
        for text in
            ["{}", "[1]", "1e999", "{\"chunk_id\": 1e400}", "null", "\u{0}", "{\"chunk_id\": \"", "\"x\""]
        {
            assert!(refused(&mut text.as_bytes()).starts_with("line 1 is"), "{text}");
        }
        assert!(refused(&mut &b"\xff\xfe"[..]).contains("not UTF-8"));
        assert!(lines(&b"\n \n"[..]).next().is_none());
    }
}
