//! Bytes to text.
//!
//! UTF-8 is the rule and is never second-guessed: a file that is valid UTF-8 keeps its bytes. The
//! rest is decided in an order that the measurements behind it demand: byte order marks; ISO-2022-JP
//! by its escapes, *before* UTF-8, because it is valid ASCII; UTF-16 without a mark by where its NULs
//! stand, because detectors of legacy encodings do not know it; binary files by their NULs and control
//! characters (one stray NUL makes no text binary); UTF-8 with a few damaged sequences; the encoding that
//! the file itself declares; and last a statistical guess.

use std::borrow::Cow;
use std::ops::Range;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};

/// Bytes of a file that are examined to tell text from binary.
pub const HEAD: usize = 8 * 1024;

/// A guess from fewer bytes than this is called uncertain.
const CONFIDENT_LEN: usize = 64;

/// A file's text and how it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// The text. The file's own bytes where it is UTF-8, its byte order mark kept, so that spans are
    /// byte offsets of the file.
    pub text: Cow<'a, str>,
    /// Name of the encoding, as on the web: `UTF-8`, `UTF-16LE`, `GBK`, ...
    pub encoding: &'static str,
    /// Whether the encoding is a guess from little text.
    pub low_confidence: bool,
    /// Number of malformed byte sequences that were replaced by U+FFFD.
    pub replacements: usize,
    /// Number of NUL characters. They are kept.
    pub nuls: usize,
}

/// Decodes the bytes of a file; `None` if they are not text.
///
/// More than a stray NUL or many control characters in the first 8 KiB mean binary, except in UTF-16 and UTF-32.
/// Later NULs are kept.
pub fn decode(bytes: &[u8]) -> Option<Decoded<'_>> {
    let mut decoded = decode_text(bytes)?;
    decoded.nuls = count_nuls(decoded.text.as_bytes());
    Some(decoded)
}

fn decode_text(bytes: &[u8]) -> Option<Decoded<'_>> {
    // UTF-32 first: its little-endian mark begins with that of UTF-16.
    if let Some(big_endian) = utf32_mark(bytes) {
        return decode_utf32(&bytes[4..], big_endian);
    }
    if let Some((encoding, length)) = Encoding::for_bom(bytes).filter(|(encoding, _)| *encoding != UTF_8) {
        return Some(decode_as(encoding, &bytes[length..], false));
    }
    let head = &bytes[..bytes.len().min(HEAD)];
    if let Some(encoding) = utf16_by_nuls(head).filter(|_| !is_utf8_with_stray_nuls(head)) {
        let decoded = decode_as(encoding, bytes, bytes.len() < CONFIDENT_LEN);
        return (decoded.replacements == 0).then_some(decoded);
    }
    if is_binary(head) {
        return None;
    }
    if is_iso_2022_jp(bytes) {
        let decoded = decode_as(ISO_2022_JP, bytes, false);
        if decoded.replacements == 0 {
            return Some(decoded);
        }
    }
    if let Ok(text) = str::from_utf8(bytes) {
        return Some(Decoded {
            text: text.into(),
            encoding: UTF_8.name(),
            low_confidence: false,
            replacements: 0,
            nuls: 0,
        });
    }
    if is_damaged_utf8(bytes) {
        let text = String::from_utf8_lossy(bytes);
        let replacements =
            count_replacements(&text) - bytes.windows(3).filter(|bytes| *bytes == b"\xEF\xBF\xBD").count();
        return Some(Decoded { text, encoding: UTF_8.name(), low_confidence: false, replacements, nuls: 0 });
    }
    if let Some(encoding) = declared(head) {
        let decoded = decode_as(encoding, bytes, false);
        if decoded.replacements == 0 {
            return Some(decoded);
        }
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let encoding = detector.guess(None, Utf8Detection::Deny);
    Some(decode_as(encoding, bytes, bytes.len() < CONFIDENT_LEN))
}

fn decode_as<'a>(encoding: &'static Encoding, bytes: &'a [u8], low_confidence: bool) -> Decoded<'a> {
    let (text, malformed) = encoding.decode_without_bom_handling(bytes);
    let replacements = if malformed { count_replacements(&text) } else { 0 };
    Decoded { text, encoding: encoding.name(), low_confidence, replacements, nuls: 0 }
}

fn count_replacements(text: &str) -> usize {
    text.matches(char::REPLACEMENT_CHARACTER).count()
}

/// Whether the bytes begin with the mark of UTF-32, and whether it is the big-endian one.
fn utf32_mark(bytes: &[u8]) -> Option<bool> {
    if !bytes.len().is_multiple_of(4) {
        return None;
    }
    match bytes.get(..4)? {
        [0xFF, 0xFE, 0, 0] => Some(false),
        [0, 0, 0xFE, 0xFF] => Some(true),
        _ => None,
    }
}

fn decode_utf32(bytes: &[u8], big_endian: bool) -> Option<Decoded<'static>> {
    let scalar = |unit: &[u8]| {
        let unit = [unit[0], unit[1], unit[2], unit[3]];
        char::from_u32(if big_endian { u32::from_be_bytes(unit) } else { u32::from_le_bytes(unit) })
    };
    let text = bytes.chunks_exact(4).map(scalar).collect::<Option<String>>()?;
    let encoding = if big_endian { "UTF-32BE" } else { "UTF-32LE" };
    Some(Decoded { text: text.into(), encoding, low_confidence: false, replacements: 0, nuls: 0 })
}

/// UTF-16 without a mark: text has NULs as the high bytes of ASCII, so at one parity only; text
/// without any ASCII letter still has line breaks and spaces.
fn utf16_by_nuls(head: &[u8]) -> Option<&'static Encoding> {
    let head = &head[..head.len() & !1];
    let (mut even, mut odd, mut big_blanks, mut little_blanks) = (0_usize, 0_usize, 0_usize, 0_usize);
    for pair in head.chunks_exact(2) {
        even += usize::from(pair[0] == 0);
        odd += usize::from(pair[1] == 0);
        big_blanks += usize::from(matches!(pair, [0, b' ' | b'\n' | b'\r']));
        little_blanks += usize::from(matches!(pair, [b' ' | b'\n' | b'\r', 0]));
    }
    let units = head.len() / 2;
    // Mostly ASCII: most units have the NUL. Else a line break or space in every 128 units.
    let fits = |nuls: usize, others: usize, blanks: usize| {
        nuls > 0 && others * 64 <= nuls && (nuls * 2 >= units || blanks * 128 >= units)
    };
    if fits(odd, even, little_blanks) {
        Some(UTF_16LE)
    } else if fits(even, odd, big_blanks) {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// One stray NUL in this many bytes does not make a file binary; nor does the only one of a shorter file.
const BYTES_PER_NUL: usize = 512;

/// More than stray NULs, a tenth of control characters that text does not have, or the first bytes of formats
/// that may have neither so early.
fn is_binary(head: &[u8]) -> bool {
    let begins =
        [&b"%PDF-"[..], b"\x1F\x8B", b"\xFF\xD8\xFF", b"BZh9"].iter().any(|magic| head.starts_with(magic));
    let (nuls, controls) = (count_nuls(head), count_controls(head));
    let is_stray =
        has_stray_nuls(head, nuls) && (controls == 0 || is_utf8(head) && controls * 100 <= head.len());
    begins || nuls > 0 && !is_stray || controls * 10 > head.len()
}

/// Whether there are NULs, but so few that they are accidental.
fn has_stray_nuls(head: &[u8], nuls: usize) -> bool {
    nuls > 0 && nuls <= (head.len() / BYTES_PER_NUL).max(1)
}

/// Whether a NUL beside a blank belongs to UTF-8 and is not half a unit of UTF-16, which would have bytes that are not
/// UTF-8, or control characters in every other place.
fn is_utf8_with_stray_nuls(head: &[u8]) -> bool {
    has_stray_nuls(head, count_nuls(head)) && count_controls(head) * 100 <= head.len() && is_utf8(head)
}

/// Whether the beginning of a file is UTF-8, but for a sequence that its end cuts off.
fn is_utf8(head: &[u8]) -> bool {
    str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true)
}

fn count_nuls(bytes: &[u8]) -> usize {
    memchr::memchr_iter(0, bytes).count()
}

/// Number of control characters that text does not have; NULs are counted apart.
fn count_controls(head: &[u8]) -> usize {
    let is_control = |&&byte: &&u8| {
        (1..0x20).contains(&byte) && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0B | 0x0C | 0x1B | 0x08)
    };
    head.iter().filter(is_control).count()
}

/// Maps a stretch of a file's text to its bytes; `None` if `text` is not the result of [`decode`] for `bytes`.
///
/// Stretches that are adjacent in the text are adjacent in the bytes: those of all lines together are the file. So a
/// byte order mark belongs to the first, and an escape of ISO-2022-JP to the text after it. The replacement of one
/// malformed sequence cannot be divided.
pub fn raw_range(bytes: &[u8], text: &str, stretch: Range<usize>) -> Option<Range<usize>> {
    let decoded = decode(bytes).filter(|decoded| decoded.text == text)?;
    // For each end: its place in the text, a possible place in the bytes, and whether that is decided.
    let mut ends = [stretch.start, stretch.end].map(|end| (end, 0, end == 0));
    // The first `at` bytes of the file are the first `length` bytes of text.
    let mut step = |at: usize, length: usize| {
        for (end, raw, decided) in ends.iter_mut().filter(|(end, _, decided)| !decided && length <= *end) {
            *raw = at;
            *decided = length == *end;
        }
    };
    match decoded.encoding {
        _ if text.as_bytes() == bytes => return Some(stretch),
        "UTF-32LE" | "UTF-32BE" => {
            for (count, (at, c)) in text.char_indices().enumerate() {
                // After the byte order mark, which is a unit too.
                step(4 * (count + 2), at + c.len_utf8());
            }
        }
        "UTF-8" => {
            let (mut at, mut length) = (0, 0);
            for chunk in bytes.utf8_chunks() {
                for c in chunk.valid().chars() {
                    (at, length) = (at + c.len_utf8(), length + c.len_utf8());
                    step(at, length);
                }
                if !chunk.invalid().is_empty() {
                    (at, length) =
                        (at + chunk.invalid().len(), length + char::REPLACEMENT_CHARACTER.len_utf8());
                    step(at, length);
                }
            }
        }
        name => {
            let encoding = Encoding::for_label(name.as_bytes())?;
            let mark = Encoding::for_bom(bytes).map_or(0, |(_, length)| length);
            let mut reader = encoding.new_decoder_without_bom_handling();
            let (mut length, mut out) = (0, [0; 32]);
            for (at, byte) in bytes.iter().enumerate().skip(mark) {
                let (_, _, written, _) = reader.decode_to_utf8(&[*byte], &mut out, false);
                length += written;
                step(at + 1, length);
            }
        }
    }
    let [start, end] = ends.map(|(end, raw, _)| if end == text.len() { bytes.len() } else { raw });
    Some(start..end)
}

/// Seven-bit text with the escapes that switch ISO-2022-JP to JIS X 0208.
fn is_iso_2022_jp(bytes: &[u8]) -> bool {
    let switches = |at: usize| matches!(bytes[at..], [0x1B, b'$', b'B' | b'@', ..]);
    memchr::memchr_iter(0x1B, bytes).any(switches) && bytes.is_ascii()
}

/// Whether invalid UTF-8 is UTF-8 nevertheless: a few malformed sequences among many good ones, or one
/// that the end of the file cut off. Surrogates encoded one by one (CESU-8) count as good.
fn is_damaged_utf8(bytes: &[u8]) -> bool {
    let (mut good, mut bad) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    let is_surrogate = |bytes: &&[u8]| matches!(bytes, [0xED, 0xA0..=0xBF, 0x80..=0xBF]);
    let surrogates = bytes.windows(3).filter(is_surrogate).count();
    // The standard library reports each byte of an encoded surrogate as malformed.
    good += surrogates;
    bad = bad.saturating_sub(3 * surrogates);
    let cut_off = bytes.utf8_chunks().last().is_some_and(|chunk| {
        let rest = chunk.invalid();
        !rest.is_empty() && rest[0] >= 0xC2 && rest.len() < sequence_len(rest[0])
    });
    good >= 4 * bad.saturating_sub(usize::from(cut_off)) && good > 0
}

/// Length of the sequence that a UTF-8 leading byte announces.
fn sequence_len(lead: u8) -> usize {
    match lead {
        0xF0.. => 4,
        0xE0.. => 3,
        _ => 2,
    }
}

/// The encoding that the first kilobyte names: `coding: latin-1` (PEP 263), `<meta charset=`,
/// `<?xml encoding=`, `@charset "`.
fn declared(head: &[u8]) -> Option<&'static Encoding> {
    let head = head[..head.len().min(1024)].to_ascii_lowercase();
    for key in [&b"charset"[..], b"coding"] {
        for (at, _) in head.windows(key.len()).enumerate().filter(|(_, window)| *window == key) {
            let rest = &head[at + key.len()..];
            let skipped = rest.iter().take_while(|byte| b"=: \"'".contains(byte)).count();
            let is_label = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_:.".contains(byte);
            let label: Vec<u8> = rest[skipped..].iter().take_while(is_label).copied().collect();
            // `latin-1` is Python's own spelling.
            let label = if label == b"latin-1" { &b"latin1"[..] } else { &label };
            if skipped > 0
                && let Some(encoding) = Encoding::for_label(label)
                && encoding.is_ascii_compatible()
            {
                return Some(encoding);
            }
        }
    }
    None
}
