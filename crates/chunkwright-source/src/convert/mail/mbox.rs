//! The messages of a mailbox file.
//!
//! A message begins with a line `From address date`, after an empty line, and headers follow. Such lines of a message's
//! own text are quoted by `>`, which not every program does: what no header follows is text.

use std::borrow::Cow;

/// Whether `bytes` are a mailbox.
pub(super) fn begins(bytes: &[u8]) -> bool {
    is_start(bytes, 0)
}

/// The messages, each without its first line.
pub(super) fn messages(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut starts: Vec<usize> = memchr::memmem::find_iter(bytes, b"\nFrom ").map(|at| at + 1).collect();
    starts.insert(0, 0);
    starts.retain(|&at| is_start(bytes, at));
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([bytes.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| after_line(&bytes[start..end]))
}

/// The message without the quotes of its lines `From `.
pub(super) fn unquoted(message: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memmem::find(message, b"\n>From ").is_none() {
        return Cow::Borrowed(message);
    }
    let mut text = Vec::with_capacity(message.len());
    for line in message.split_inclusive(|&byte| byte == b'\n') {
        text.extend_from_slice(if line.starts_with(b">From ") { &line[1..] } else { line });
    }
    Cow::Owned(text)
}

fn is_start(bytes: &[u8], at: usize) -> bool {
    let before = &bytes[..at];
    let after_blank = at == 0 || before.ends_with(b"\n\n") || before.ends_with(b"\n\r\n");
    let rest = after_line(&bytes[at..]);
    let line = &bytes[at..bytes.len() - rest.len()];
    after_blank && line.starts_with(b"From ") && has_time(line) && has_header(rest)
}

/// Whether a line has a time of the day.
fn has_time(line: &[u8]) -> bool {
    line.windows(5)
        .any(|at| matches!(at, [a, b, b':', c, d] if [a, b, c, d].iter().all(|byte| byte.is_ascii_digit())))
}

/// Whether a line begins as a header does.
fn has_header(bytes: &[u8]) -> bool {
    let name = bytes.iter().take(128).position(|&byte| byte == b':');
    name.is_some_and(|end| end > 0 && bytes[..end].iter().all(u8::is_ascii_graphic))
}

fn after_line(bytes: &[u8]) -> &[u8] {
    memchr::memchr(b'\n', bytes).map_or(&[], |end| &bytes[end + 1..])
}
