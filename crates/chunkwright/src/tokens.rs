//! Counting tokens: the seam between cutting and models.

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

    /// No word crosses a blank, so each stretch between blanks is counted alone, most without tables.
    fn count(&self, text: &str) -> usize {
        let words = |stretch: &str| plain_words(stretch).unwrap_or_else(|| stretch.unicode_words().count());
        text.split_ascii_whitespace().map(words).sum()
    }
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
