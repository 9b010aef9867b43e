//! Detects embedded data in a source: data URIs, keys and certificates in armour, long runs of base64 or hex.
//!
//! A picture in a page, `![The harbour](data:image/png;base64,iVBORw0..)`, is text that nobody reads or searches for,
//! and it may be as long as the page. In every format its payload is markup that renders as nothing: a chunk owns its
//! bytes, but only `data:image/png;base64,` is measured, embedded and searched. What is shorter or has another mixture
//! of characters than encoded data stays: identifiers, hashes, paths, addresses.

use std::cell::LazyCell;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::{self, Finder};

use crate::span::Span;

/// The mark before the payload of a data URI.
const MARK: &str = ";base64,";

static MARKS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(MARK));

/// Least bytes of a payload that is left out: shorter ones are drawn on one line or two, and are examples as often.
const LEAST: usize = 256;

/// The same for what stands in armour.
const LEAST_ARMOURED: usize = 64;

/// Most bytes from `data:` to the payload: a type and its parameters.
const MOST_HEAD: usize = 100;

/// Most bytes before other data that are searched for what it belongs to: an address, the first line of armour.
const MOST_BEFORE: usize = 1024;

/// Least bytes of a line of encoded data that is not its last.
const LINE: usize = 40;

/// Bytes that are looked at together. A run has those from `LINE - BLOCK` bytes after the first place where it may begin.
const BLOCK: usize = 16;

/// Most bytes between two lines of encoded data: a line break, as such or escaped, quotes, and the mark of a quotation
/// or comment.
const MOST_JOINT: usize = 24;

/// The payloads in `source`: those of data URIs in order, then others in order.
pub(super) fn payloads(source: &str) -> impl Iterator<Item = Span> {
    uris(source).chain(Encoded { bytes: source.as_bytes(), at: 0, next: None })
}

/// The payloads of the data URIs in `source`.
fn uris(source: &str) -> impl Iterator<Item = Span> {
    MARKS.find_iter(source.as_bytes()).filter_map(|at| {
        let bytes = source.as_bytes();
        let head = &bytes[at.saturating_sub(MOST_HEAD)..at];
        let is_head = |byte: &u8| byte.is_ascii_alphanumeric() || b"/+.-;=:_".contains(byte);
        let head = &head[head.iter().rposition(|byte| !is_head(byte)).map_or(0, |before| before + 1)..];
        let start = at + MARK.len();
        let is_payload = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=-_%".contains(byte);
        let length = bytes[start..].iter().take_while(is_payload).count();
        let is_one = memmem::find(head, b"data:").is_some() && length >= LEAST;
        is_one.then(|| Span::new(start, start + length))
    })
}

/// Encoded data outside data URIs: one long run, or lines of equal length.
struct Encoded<'a> {
    bytes: &'a [u8],
    /// Where the next run may begin.
    at: usize,
    /// The run after the last data.
    next: Option<Range<usize>>,
}

impl Iterator for Encoded<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        loop {
            let first = self.next.take().or_else(|| self.run())?;
            let mut data = first.clone();
            let (mut lines, mut last) = (1, first.len());
            let text = &self.bytes[first.clone()];
            // Equal lines of hex are as likely a list of hashes.
            let is_joined = LazyCell::new(|| !is_hex(text) && looks_encoded(text, Armour::Maybe));
            while let Some(mut run) = self.run() {
                let joint = &self.bytes[data.end..run.start];
                // The letter of an escaped line break.
                if joint.ends_with(b"\\") && matches!(self.bytes[run.start], b'n' | b'r') {
                    run.start += 1;
                }
                // A longer line does not follow a shorter one.
                if run.len() > last || lines > 1 && first.len() != last || !is_joint(joint) || !*is_joined {
                    self.next = Some(run);
                    break;
                }
                (lines, last, data.end) = (lines + 1, run.len(), run.end);
            }
            // Most are a path or an address.
            if data.len() < LEAST_ARMOURED {
                continue;
            }
            let armour = self.armour(&data);
            if self.is_payload(&data, &first, lines, armour) {
                if lines > 1 || armour == Armour::Maybe {
                    data.end = self.tail(data.end, last == first.len());
                }
                return Some(Span::new(data.start, data.end));
            }
        }
    }
}

impl Encoded<'_> {
    /// The next run of at least [`LINE`] bytes that encoded data may consist of.
    fn run(&mut self) -> Option<Range<usize>> {
        let next = |at: usize| self.bytes.get(at + LINE - BLOCK..).and_then(<[u8]>::first_chunk::<BLOCK>);
        while let Some(block) = next(self.at) {
            let at = self.at + LINE - BLOCK;
            self.at = at + 1;
            // Nearly all have a blank or no ASCII. Counted without a branch, so that a compiler compares all bytes at once.
            let is_near = |byte: &&u8| (b'+'..=b'z').contains(byte);
            if block.iter().filter(is_near).count() < BLOCK || !block.iter().all(|byte| is_encoded(*byte)) {
                continue;
            }
            let head = self.bytes[..at].iter().rev().take_while(|byte| is_encoded(**byte)).count();
            let tail = self.bytes[at..].iter().take_while(|byte| is_encoded(**byte)).count();
            let (mut start, end) = (at - head, at + tail);
            self.at = end + 1;
            if end - start < LINE {
                continue;
            }
            // `KEY=` before the data ends with the last `=` that something follows.
            let data = &self.bytes[start..end];
            let padding = data.iter().rev().take_while(|byte| **byte == b'=').count();
            let named = data[..data.len() - padding].iter().rposition(|byte| *byte == b'=');
            start += named.map_or(0, |at| at + 1);
            start += if self.bytes[start..end].starts_with(b"0x") { 2 } else { 0 };
            if end - start >= LINE {
                return Some(start..end);
            }
        }
        None
    }

    /// The text right before `data`.
    fn before(&self, data: &Range<usize>) -> &[u8] {
        &self.bytes[data.start.saturating_sub(MOST_BEFORE)..data.start]
    }

    fn armour(&self, data: &Range<usize>) -> Armour {
        let before = self.before(data);
        let near = &before[before.len().saturating_sub(MOST_HEAD)..];
        if memmem::find(near, b"-----BEGIN ").is_some() { Armour::Maybe } else { Armour::None }
    }

    /// Whether `data`, of which `first` is the first of `lines`, is not text.
    fn is_payload(&self, data: &Range<usize>, first: &Range<usize>, lines: usize, armour: Armour) -> bool {
        let least = if armour == Armour::Maybe { LEAST_ARMOURED } else { LEAST };
        if data.len() < least || !looks_encoded(&self.bytes[first.clone()], armour) {
            return false;
        }
        let before = self.before(data);
        let word = before.iter().rposition(u8::is_ascii_whitespace).map_or(0, |at| at + 1);
        lines > 1 || memmem::find(&before[word..], b"://").is_none()
    }

    /// The end of the data whose long lines end at `end`: after a shorter last line, if all were `full`, and a checksum.
    fn tail(&self, mut end: usize, mut full: bool) -> usize {
        loop {
            let rest = &self.bytes[end..];
            let escape = ["\\r\\n", "\\n"].iter().find(|escape| rest.starts_with(escape.as_bytes()));
            let from = escape.map_or(0, |escape| escape.len());
            let joint = rest[from..].iter().take(MOST_JOINT).take_while(|byte| !is_encoded(**byte)).count();
            let breaks = memchr::memchr_iter(b'\n', &rest[from..from + joint]).count();
            let text = &rest[from + joint..];
            let text = &text[..text.iter().take(LINE).take_while(|byte| is_encoded(**byte)).count()];
            let after = rest.get(from + joint + text.len()).copied().unwrap_or(b'\n');
            let has_end = text.len() > 1 && matches!(after, b'\n' | b'\r' | b'"' | b'\'' | b'\\' | b'<');
            let is_sum = text.starts_with(b"=");
            // A word of the text below is no data.
            let is_last = full && (text.ends_with(b"=") || text.iter().any(u8::is_ascii_digit));
            if !has_end
                || !(is_sum || is_last)
                || breaks + usize::from(from > 0) != 1
                || !is_joint(&rest[..from + joint])
            {
                return end;
            }
            end += from + joint + text.len();
            full = false;
            if is_sum {
                return end;
            }
        }
    }
}

/// Whether data may stand in armour, where little of it is known for what it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Armour {
    None,
    Maybe,
}

/// Whether base64, base64url or hex has the byte.
fn is_encoded(byte: u8) -> bool {
    const ENCODED: [bool; 256] = {
        let mut encoded = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            encoded[byte] = matches!(byte as u8, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'+' | b'/' | b'=' | b'-' | b'_');
            byte += 1;
        }
        encoded
    };
    ENCODED[usize::from(byte)]
}

fn is_hex(run: &[u8]) -> bool {
    run.iter().all(u8::is_ascii_hexdigit)
}

/// Whether two lines of data may be separated so.
fn is_joint(joint: &[u8]) -> bool {
    let is_mark = |byte: &u8| b" \t\r\n\"'`,;+>#*/|\\rnb&".contains(byte);
    joint.len() <= MOST_JOINT
        && joint.iter().all(is_mark)
        && joint.iter().any(|byte| matches!(byte, b'\n' | b'\r' | b'\\'))
}

/// Whether a run has the mixture of characters of encoded data, which names, paths and rulers do not have.
fn looks_encoded(run: &[u8], armour: Armour) -> bool {
    let count = |is: fn(&u8) -> bool| run.iter().filter(|byte| is(byte)).count();
    let (digits, upper, lower) =
        (count(u8::is_ascii_digit), count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    if is_hex(run) {
        return 10 * digits >= run.len() && 10 * (upper + lower) >= run.len();
    }
    let marks = run.len() - digits - upper - lower;
    let is_mixed = 50 * digits >= run.len() && 10 * upper >= run.len() && 50 * lower >= run.len();
    10 * marks <= run.len() && (is_mixed || armour == Armour::Maybe && upper > 0 && lower > 0)
}
