//! Detects embedded data in a source: long data URIs.
//!
//! A picture in a page, `![The harbour](data:image/png;base64,iVBORw0..)`, is text that nobody reads or searches for,
//! and it may be as long as the page. In every format its payload is markup that renders as nothing: a chunk owns its
//! bytes, but only `data:image/png;base64,` is measured, embedded and searched.

use memchr::memmem;

use crate::span::Span;

/// The mark before the payload.
const MARK: &str = ";base64,";

/// Least bytes of a payload that is left out: shorter ones are drawn on one line or two, and are examples as often.
const LEAST: usize = 256;

/// Most bytes from `data:` to the payload: a type and its parameters.
const MOST_HEAD: usize = 100;

/// The payloads of the data URIs in `source`, in order.
pub(super) fn payloads(source: &str) -> impl Iterator<Item = Span> {
    memmem::find_iter(source.as_bytes(), MARK).filter_map(|at| {
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
