//! Counting tokens: the seam between cutting and models.

use memchr::memchr_iter;
use unicode_segmentation::UnicodeSegmentation;

/// Counts the tokens of a text. Implementations are exact unless their name starts with `estimate:`.
///
/// Counting is a pure function of the text: special tokens in it are text, nothing is truncated or
/// padded, and the empty text has 0 tokens.
pub trait TokenCounter: Send + Sync {
    /// The name that records and configuration use: `o200k`, `chars`, ...
    fn name(&self) -> &str;

    /// Number of tokens of `text`.
    fn count(&self, text: &str) -> usize;

    /// Number of tokens of `text`, and of its first `end` bytes, the last of which is visible, if that costs nothing more.
    fn count_to(&self, text: &str, end: usize) -> (usize, Option<usize>) {
        let count = self.count(text);
        (count, (end == text.len()).then_some(count))
    }

    /// Whether the tokens of `before` and of `after` add up to those of the joined text, judged by the border alone.
    /// `false` if that is uncertain, and by default: joined texts are then counted.
    fn adds_up(&self, before: &str, after: &str) -> bool {
        let _ = (before, after);
        false
    }
}

/// Counts Unicode scalar values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chars;

impl TokenCounter for Chars {
    fn name(&self) -> &'static str {
        "chars"
    }

    fn count(&self, text: &str) -> usize {
        text.chars().count()
    }

    fn count_to(&self, text: &str, end: usize) -> (usize, Option<usize>) {
        let count = self.count(text);
        (count, Some(count - self.count(&text[end..])))
    }

    fn adds_up(&self, _: &str, _: &str) -> bool {
        true
    }
}

/// Counts words by Unicode segmentation (UAX #29): runs with a letter or digit; every ideograph is one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Words;

impl TokenCounter for Words {
    fn name(&self) -> &'static str {
        "words"
    }

    /// No word crosses a blank, so each line, and where it must be each stretch between blanks, is counted alone.
    fn count(&self, text: &str) -> usize {
        let words = |text: &str| text.is_ascii().then(|| ascii_words(text.as_bytes()));
        let other = |stretch: &str| plain_words(stretch).unwrap_or_else(|| stretch.unicode_words().count());
        let stretch = |stretch: &str| words(stretch).unwrap_or_else(|| other(stretch));
        let line =
            |line: &str| words(line).unwrap_or_else(|| line.split_ascii_whitespace().map(stretch).sum());
        words(text).unwrap_or_else(|| text.split('\n').map(line).sum())
    }
}

/// Number of words of a text in ASCII: of runs of letters, digits and underscores, less those that a sign joins to the
/// run before (UAX #29, WB6, WB7, WB11 and WB12), and those of underscores alone.
///
/// The loops over a block look at each byte beside two others and nothing else, so that many are done at once.
fn ascii_words(text: &[u8]) -> usize {
    const BLOCK: usize = 64;
    let (mut kinds, mut words) = ([0; BLOCK + 2], 0);
    let mut add = |block: &[u8; BLOCK]| {
        for (kind, byte) in kinds[2..].iter_mut().zip(block) {
            *kind = kind_of(*byte);
        }
        let (mut begun, mut joined) = (0_u8, 0_u8);
        for at in 0..BLOCK {
            let (before, sign, byte) = (kinds[at], kinds[at + 1], kinds[at + 2]);
            begun += u8::from(byte & INSIDE != 0) & u8::from(sign & INSIDE == 0);
            joined += u8::from(before & byte & (sign >> JOINS) != 0);
        }
        // The word that is joined may have begun in the block before.
        words = words + usize::from(begun) - usize::from(joined);
        kinds.copy_within(BLOCK.., 0);
    };
    let (blocks, rest) = text.as_chunks();
    blocks.iter().for_each(&mut add);
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    add(&last);
    words - underscores(text)
}

/// Bits of a kind of character that are inside words: a letter, a digit, an underscore.
const INSIDE: u8 = 0b111;

/// Shift to the bits of a sign that joins two letters, and of one that joins two digits.
const JOINS: u32 = 3;

/// What a character of ASCII is for words.
fn kind_of(byte: u8) -> u8 {
    let is = |is: bool, kind: u8| u8::from(is) * kind;
    let point = u8::from(byte == b'.') | u8::from(byte == b'\'');
    is((byte | 0x20).wrapping_sub(b'a') < 26, 1)
        | is(byte.wrapping_sub(b'0') < 10, 2)
        | is(byte == b'_', 4)
        | (point | u8::from(byte == b':')) << JOINS
        | (point | u8::from(byte == b',') | u8::from(byte == b';')) << (JOINS + 1)
}

/// Number of runs of underscores without a letter or digit beside them.
fn underscores(text: &[u8]) -> usize {
    let is_word = |at: usize| text.get(at).is_some_and(u8::is_ascii_alphanumeric);
    let (mut number, mut end) = (0, 0);
    for start in memchr_iter(b'_', text) {
        if start >= end {
            end = start + text[start..].iter().take_while(|byte| **byte == b'_').count();
            number += usize::from(!(is_word(end) || start > 0 && is_word(start - 1)));
        }
    }
    number
}

/// Number of words of a stretch without blanks, if it is plain enough to need no segmentation.
fn plain_words(stretch: &str) -> Option<usize> {
    let mut words = 0;
    // Whether a word continues, and whether it does if a letter or digit follows.
    let (mut is_inside, mut may_join) = (false, false);
    for c in stretch.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | 'а'..='я' | 'А'..='Я' | 'ё' | 'Ё' => {
                if may_join {
                    return None;
                }
                words += usize::from(!is_inside);
                is_inside = true;
            }
            '\u{4E00}'..='\u{9FFF}' => {
                words += 1;
                (is_inside, may_join) = (false, false);
            }
            '.' | ',' | ':' | ';' | '"' | '\'' | '’' | '，' => (is_inside, may_join) = (false, is_inside),
            '!'
            | '#'..='&'
            | '('..='+'
            | '-'
            | '/'
            | '<'..='@'
            | '['..='^'
            | '`'
            | '{'..='~'
            | '«'
            | '»'
            | '–'
            | '—'
            | '“'
            | '”'
            | '…'
            | '、'
            | '。'
            | '《'
            | '》'
            | '（'
            | '）'
            | '？'
            | '！' => (is_inside, may_join) = (false, false),
            _ => return None,
        }
    }
    Some(words)
}
