//! Text analysis: turns the text of chunks and queries into BM25 terms.
//!
//! * Folding is NFKC and lower case, with `ß` as `ss`, final sigma as sigma and `ё` as `е`; invisible
//!   characters (zero-width, soft hyphen, bidirectional controls, tags) are removed.
//! * Scripts written without spaces (Chinese, Japanese, Korean, Thai and their like) become overlapping pairs of
//!   characters; a character that stands alone is a term. Stored text also has each character of a pair as a term
//!   ([`terms_and_singles`]), so that a query of one character finds longer text.
//! * Identifiers are split at case changes, at underscores and between letters and digits, and also kept whole:
//!   `maxChunkSize` is `max`, `chunk`, `size` and `maxchunksize`.
//! * Words are stemmed by their script: Cyrillic by the Russian Snowball algorithm, Latin by the English one.
//!   Identifiers kept whole are not stemmed.
//! * A pictograph is a term.
//!
//! Terms hold letters, digits, marks, pictographs and `_` only, so that any engine that splits at other ASCII
//! characters stores them unchanged.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Raised when the terms of an unchanged text, or their weights, change: a store then analyses its texts again.
pub const VERSION: u32 = 2;

/// Longest term, in characters: the rest is cut off, such as that of endless identifiers.
const MAX_TERM: usize = 64;

/// Runs longer than this, in bytes, do not count as identifiers and are not split.
const MAX_IDENTIFIER: usize = 128;

/// The terms of `text`, in order, repeated as often as they occur.
pub fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    analyze(text, &mut |term, _| terms.push(term.to_owned()));
    terms
}

/// Calls `each` with every term of `text` and the bytes of `text` that it stands for.
pub fn analyze(text: &str, each: &mut dyn FnMut(&str, Range<usize>)) {
    for (at, run) in runs(text) {
        Analyzer::new(each, None).run(run, at);
    }
}

/// Calls `each` with every term of `text` and `false`, and with each character of the pairs among them and `true`: the
/// terms that are stored for a text.
pub fn terms_and_singles(text: &str, each: &mut dyn FnMut(&str, bool)) {
    let each = RefCell::new(each);
    let mut term = |term: &str, _| (each.borrow_mut())(term, false);
    let single = |single: &str| (each.borrow_mut())(single, true);
    for (at, run) in runs(text) {
        Analyzer::new(&mut term, Some(&single)).run(run, at);
    }
}

/// The runs of characters that words are made of, each with the byte it begins at. The terms of a text are those of its
/// runs: each is analysed as if it stood alone.
pub(crate) fn runs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| is_word(c) || is_invisible(c);
    let mut end = 0;
    std::iter::from_fn(move || {
        let start = end + text[end..].find(is_part)?;
        let rest = &text[start..];
        end = start + rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        Some((start, &text[start..end]))
    })
}

struct Analyzer<'a> {
    english: Stemmer,
    russian: Stemmer,
    each: &'a mut dyn FnMut(&str, Range<usize>),
    /// Called with each character of a pair.
    single: Option<&'a dyn Fn(&str)>,
}

impl<'a> Analyzer<'a> {
    fn new(each: &'a mut dyn FnMut(&str, Range<usize>), single: Option<&'a dyn Fn(&str)>) -> Self {
        let [english, russian] = [Algorithm::English, Algorithm::Russian].map(Stemmer::create);
        Self { english, russian, each, single }
    }

    /// A run of word characters that begins at byte `at`.
    fn run(&mut self, run: &str, at: usize) {
        let unchanged = run.chars().all(is_plain)
            || is_nfkc_quick(run.chars()) == IsNormalized::Yes && !run.chars().any(is_invisible);
        if unchanged {
            self.words(run, at, None);
            return;
        }
        let visible = |text: &str| text.chars().filter(|&c| !is_invisible(c)).nfkc().collect::<String>();
        // Compatibility forms may hold separators: `㈱` is `(株)`. Their terms stand for the whole run.
        let range = at..at + run.len();
        let normal = visible(run);
        for word in normal.split(|c| !is_word(c)).filter(|word| !word.is_empty()) {
            self.words(word, at, Some(&range));
        }
    }

    /// Analyses a normalized run by parts, one per kind of script. `whole` is the range that all terms stand for, if it
    /// is not their own bytes.
    fn words(&mut self, run: &str, at: usize, whole: Option<&Range<usize>>) {
        let mut start = 0;
        let mut kind = None;
        let mut chars = run.char_indices().peekable();
        while let Some((_, c)) = chars.next() {
            // A mark belongs to the character before it.
            if !is_mark(c) || kind.is_none() {
                kind = Some(Kind::of(c));
            }
            let next = chars.peek().map(|&(next, c)| (next, is_mark(c), Kind::of(c)));
            let end = match next {
                Some((_, mark, next_kind)) if mark || Some(next_kind) == kind => continue,
                Some((next, ..)) => next,
                None => run.len(),
            };
            let range = |range: Range<usize>| whole.cloned().unwrap_or(at + range.start..at + range.end);
            let part = &run[start..end];
            match kind {
                Some(Kind::Unspaced) => {
                    self.pairs(part, &|inner| range(start + inner.start..start + inner.end));
                }
                Some(Kind::Pictograph) => {
                    for (inner, c) in part.char_indices().filter(|(_, c)| !is_mark(*c)) {
                        (self.each)(
                            c.encode_utf8(&mut [0; 4]),
                            range(start + inner..start + inner + c.len_utf8()),
                        );
                    }
                }
                _ => self.identifier(part, &|inner| range(start + inner.start..start + inner.end)),
            }
            start = end;
            kind = None;
        }
    }

    fn pairs(&mut self, text: &str, range: &dyn Fn(Range<usize>) -> Range<usize>) {
        let folded = fold(text);
        let same = folded == text;
        let ends: Vec<usize> = folded.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
        let inner = |inner: Range<usize>| if same { range(inner) } else { range(0..text.len()) };
        match ends.as_slice() {
            [] => {}
            [end] => (self.each)(&folded, inner(0..*end)),
            ends => {
                let mut start = 0;
                for pair in ends.windows(2) {
                    (self.each)(&folded[start..pair[1]], inner(start..pair[1]));
                    start = pair[0];
                }
                if let Some(single) = self.single {
                    folded.char_indices().for_each(|(at, c)| single(&folded[at..at + c.len_utf8()]));
                }
            }
        }
    }

    fn identifier(&mut self, text: &str, range: &dyn Fn(Range<usize>) -> Range<usize>) {
        let parts = if text.len() <= MAX_IDENTIFIER { divide(text) } else { Vec::new() };
        if parts.len() < 2 {
            let part = parts.first().cloned().unwrap_or(0..text.len());
            if text.len() > MAX_IDENTIFIER || part.len() == text.len() {
                self.word(text, range(0..text.len()));
            } else {
                // `_name` is `name` and itself.
                self.word(&text[part.clone()], range(part));
                self.whole(text, range(0..text.len()));
            }
            return;
        }
        for part in parts {
            self.word(&text[part.clone()], range(part));
        }
        self.whole(text, range(0..text.len()));
    }

    fn whole(&mut self, text: &str, range: Range<usize>) {
        if text.chars().any(char::is_alphanumeric) {
            (self.each)(shorten(&fold(text)), range);
        }
    }

    fn word(&mut self, text: &str, range: Range<usize>) {
        let folded = fold(text);
        let folded = shorten(&folded);
        if !folded.chars().any(char::is_alphanumeric) {
            return;
        }
        if folded.bytes().all(|byte| byte.is_ascii_lowercase()) {
            (self.each)(&self.english.stem(folded), range);
        } else if folded.chars().all(|c| ('а'..='я').contains(&c)) {
            (self.each)(&self.russian.stem(folded), range);
        } else {
            (self.each)(folded, range);
        }
    }
}

/// Kinds of script, each split into terms differently.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Words between spaces.
    Spaced,
    /// No spaces between words.
    Unspaced,
    /// A picture.
    Pictograph,
}

impl Kind {
    fn of(c: char) -> Self {
        if is_unspaced(c) {
            Self::Unspaced
        } else if is_pictograph(c) {
            Self::Pictograph
        } else {
            Self::Spaced
        }
    }
}

fn is_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() || c == '_' } else { is_plain(c) || is_other_word(c) }
}

fn is_other_word(c: char) -> bool {
    // The last are squared and enclosed characters, which NFKC opens.
    c.is_alphanumeric() || is_combining_mark(c) || is_pictograph(c) || matches!(c, '\u{3200}'..='\u{33FF}')
}

/// The most common characters, which need no table lookup: they are in normal form and are not marks.
fn is_plain(c: char) -> bool {
    c.is_ascii() || is_plain_cyrillic(c) || is_plain_unspaced(c)
}

fn is_plain_cyrillic(c: char) -> bool {
    matches!(c, '\u{0400}'..='\u{0481}' | '\u{048A}'..='\u{052F}')
}

/// Common characters that have no case either.
fn is_plain_unspaced(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FFF}' | '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}')
}

fn is_mark(c: char) -> bool {
    !is_plain(c) && is_combining_mark(c)
}

/// Returns whether a character belongs to a script without reliable spaces between words.
pub fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0EFF}'     // Thai, Lao
        | '\u{1000}'..='\u{109F}'   // Myanmar
        | '\u{1100}'..='\u{11FF}'   // Hangul Jamo
        | '\u{1780}'..='\u{17FF}'   // Khmer
        | '\u{2E80}'..='\u{2FDF}'   // radicals
        | '\u{3005}'..='\u{3007}'   // iteration mark, closing mark, zero
        | '\u{3040}'..='\u{30FF}'   // Hiragana, Katakana
        | '\u{3100}'..='\u{318F}'   // Bopomofo, Hangul compatibility Jamo
        | '\u{31A0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}'   // CJK extension A
        | '\u{4E00}'..='\u{9FFF}'   // CJK
        | '\u{A960}'..='\u{A97F}'
        | '\u{AC00}'..='\u{D7FF}'   // Hangul syllables
        | '\u{F900}'..='\u{FAFF}'   // CJK compatibility
        | '\u{20000}'..='\u{3FFFF}' // CJK extensions
    )
}

fn is_pictograph(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27BF}' | '\u{2B00}'..='\u{2BFF}' | '\u{1F000}'..='\u{1FAFF}')
}

/// Invisible characters, which must not split or change a word.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Folds to lower case, and unifies letters that lower case leaves different although they read the same.
fn fold(text: &str) -> Cow<'_, str> {
    let is_folded = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | 'а'..='я') || is_plain_unspaced(c);
    if text.chars().all(is_folded) {
        return Cow::Borrowed(text);
    }
    let mut folded = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            'ß' => folded.push_str("ss"),
            'ς' => folded.push('σ'),
            'ё' => folded.push('е'),
            // The rest of the dotted capital I.
            '\u{0307}' => {}
            c => folded.push(c),
        }
    }
    Cow::Owned(folded)
}

fn shorten(term: &str) -> &str {
    term.char_indices().nth(MAX_TERM).map_or(term, |(end, _)| &term[..end])
}

/// The parts of an identifier, as byte ranges.
fn divide(text: &str) -> Vec<Range<usize>> {
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Class {
        Upper,
        Lower,
        Digit,
        Underscore,
    }
    let class = |c: char| {
        if c == '_' {
            Class::Underscore
        } else if c.is_numeric() {
            Class::Digit
        } else if c.is_uppercase() {
            Class::Upper
        } else {
            Class::Lower
        }
    };
    let chars: Vec<(usize, Class)> = text.char_indices().map(|(at, c)| (at, class(c))).collect();
    let mut parts = Vec::new();
    let mut start = None;
    for (index, &(at, class)) in chars.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| chars[index].1);
        let after = chars.get(index + 1).map(|&(_, class)| class);
        let begins = match (before, class) {
            (_, Class::Underscore) | (Some(Class::Upper), Class::Lower) => false,
            (None | Some(Class::Underscore), _) => true,
            // `HTTPServer`: the last capital begins the next word.
            (Some(Class::Upper), Class::Upper) => after == Some(Class::Lower),
            (Some(before), class) => before != class,
        };
        if (begins || class == Class::Underscore)
            && let Some(start) = start.take()
        {
            parts.push(start..at);
        }
        if begins {
            start = Some(at);
        }
    }
    parts.extend(start.map(|start| start..text.len()));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(terms(text).join(" "), expected, "{text:?}");
    }

    #[test]
    fn words_are_folded_and_stemmed_by_script() {
        check("Installing the Databases", "instal the databas");
        check("Установка баз данных, ещё", "установк баз дан ещ");
        check("Straße STRASSE", "strass strass");
        check("ΣΊΣΥΦΟΣ σίσυφος", "σίσυφοσ σίσυφοσ");
        check("İstanbul", "istanbul");
    }

    #[test]
    fn unspaced_scripts_become_pairs() {
        check("数据库连接", "数据 据库 库连 连接");
        check("猫", "猫");
        check("用SQLite存储3次", "用 sq lite sqlite 存储 3 次");
        check("データ ﾃﾞｰﾀ", "デー ータ デー ータ");
        check("สวัสดี", "สว วั ัส สด ดี");
    }

    #[test]
    fn identifiers_are_divided_and_kept() {
        check("maxChunkSize", "max chunk size maxchunksize");
        check("max_chunk_size", "max chunk size max_chunk_size");
        check("HTTPServer2", "http server 2 httpserver2");
        check("_private __init__", "privat _private init __init__");
        check("README utf8", "readm utf 8 utf8");
        check("2024", "2024");
        check("___", "");
    }

    #[test]
    fn folding_ignores_form_and_what_is_invisible() {
        check("ＡＢＣ　１２３", "abc 123");
        check("pa\u{200b}ss\u{200c}wo\u{200d}rd x\u{ad}y \u{feff}", "password xy");
        check("e\u{301}te\u{301} été", "été été");
        check("㈱日本", "株 日本");
        check("👩\u{200d}👧 ok 🎉🎉", "👩 👧 ok 🎉 🎉");
    }

    #[test]
    fn what_is_said_of_plain_characters_is_so() {
        for c in ('\u{80}'..=char::MAX).filter(|&c| is_plain(c)) {
            assert!(is_nfkc_quick(std::iter::once(c)) == IsNormalized::Yes && !is_combining_mark(c), "{c}");
            assert!(is_other_word(c) && !is_invisible(c), "{c}");
            assert!(!is_plain_unspaced(c) || is_unspaced(c) && c.to_lowercase().eq([c]), "{c}");
        }
    }

    #[test]
    fn a_run_without_end_is_one_short_term() {
        check(&"aB".repeat(5000), &"ab".repeat(32));
    }

    #[test]
    fn ranges_point_at_the_text() {
        let text = "See maxSize, 数据库 and é.";
        analyze(text, &mut |term, range| {
            assert!(text[range.clone()].to_lowercase().contains(term), "{term} {range:?}");
        });
    }

    #[test]
    fn what_is_stored_has_the_characters_of_pairs_too() {
        let mut stored = Vec::new();
        terms_and_singles("黑猫 cat 猫", &mut |term, is_single| stored.push((term.to_owned(), is_single)));
        let stored: Vec<(&str, bool)> =
            stored.iter().map(|(term, is_single)| (&**term, *is_single)).collect();
        let expected = [("黑猫", false), ("黑", true), ("猫", true), ("cat", false), ("猫", false)];
        assert_eq!(stored, expected);
    }
}
