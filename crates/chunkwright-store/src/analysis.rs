//! Text analysis: turns the text of chunks and queries into BM25 terms.
//!
//! * Folding is NFKC and lower case, with `ß` as `ss`, final sigma as sigma and `ё` as `е`; invisible
//!   characters (zero-width, soft hyphen, bidirectional controls, tags) are removed. A word with marks that people leave
//!   out (`Zürich`, vocalised Arabic and Hebrew) is a term without them, and one with them.
//! * Scripts written without spaces (Chinese, Japanese, Korean, Thai and their like) become overlapping pairs of
//!   characters; a character that stands alone is a term. Stored text also has each character of a pair as a term
//!   ([`TermKind::Single`]), so that a query of one character finds longer text.
//! * Identifiers are split at case changes, at underscores and between letters and digits, and also kept whole:
//!   `maxChunkSize` is `max`, `chunk`, `size` and `maxchunksize`.
//! * Words that are also written as one (`e-mail`, `max_chunk_size`, `10,000`) have a term for that, and names with symbols
//!   (`C++`, `.NET`) one with the symbols: see [`compound`].
//! * Words are stemmed by their script: Cyrillic by the Russian Snowball algorithm, Latin by the English one.
//!   Identifiers kept whole are not stemmed.
//! * A pictograph is a term.
//!
//! Stores keep hashes of terms, so a term may hold any character.

mod compound;
mod fold;

use std::borrow::Cow;
use std::ops::Range;

use chunkwright_models::identifier_parts;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

pub(crate) use compound::{Piece, each_piece};
use fold::{fold, unmarked};

/// Raised when the terms of an unchanged text, or their weights, change: a store then analyses its texts again.
pub const VERSION: u32 = 4;

/// Longest term, in characters: the rest is cut off, such as that of endless identifiers.
const MAX_TERM: usize = 64;

/// Runs longer than this, in bytes, do not count as identifiers and are not split.
const MAX_IDENTIFIER: usize = 128;

/// What a term stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermKind {
    /// A word without its marks, a part of an identifier, a pair of characters.
    Word,
    /// The word before it with its marks.
    Marked,
    /// An identifier as a whole, after its parts.
    Whole,
    /// Words or parts of an identifier as one word, after them.
    Joined,
    /// A name with its symbols, after its words.
    Symbol,
    /// A character of a pair, which only stored texts have.
    Single,
}

impl TermKind {
    /// Returns whether the term counts in the length of a text: others are spellings of terms that do. A word with marks
    /// counts twice, so that of equal texts the one that was typed ranks first.
    pub fn counts(self) -> bool {
        matches!(self, Self::Word | Self::Marked | Self::Whole)
    }
}

/// A term of a text.
#[derive(Clone, Debug)]
pub struct Term<'a> {
    /// The term.
    pub text: &'a str,
    /// The bytes of the text that it stands for.
    pub range: Range<usize>,
    /// What it is.
    pub kind: TermKind,
}

/// The terms of `text`, in order, repeated as often as they occur.
pub fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    analyze(text, &mut |term| terms.push(term.text.to_owned()));
    terms
}

/// The term of an identifier as a whole; of a word, its term.
pub fn whole(name: &str) -> Option<String> {
    let (mut word, mut whole) = (None, None);
    analyze(name, &mut |term| match term.kind {
        TermKind::Word => word = Some(term.text.to_owned()),
        TermKind::Whole => whole = Some(term.text.to_owned()),
        _ => {}
    });
    whole.or(word)
}

/// Calls `each` with every term of `text` that a query searches for.
pub fn analyze(text: &str, each: &mut dyn FnMut(Term<'_>)) {
    each_piece(text, &mut |at, piece, kind| {
        let mut each = |term: Term<'_>| {
            if term.kind != TermKind::Single {
                each(term);
            }
        };
        Analyzer::new(&mut each).piece(piece, kind, at);
    });
}

/// Calls `each` with every term that is stored for a piece of a text.
pub(crate) fn stored_terms(piece: &str, kind: Piece, each: &mut dyn FnMut(&str, TermKind)) {
    Analyzer::new(&mut |term| each(term.text, term.kind)).piece(piece, kind, 0);
}

/// The words of a text in lower case, without marks and with one space before and after each.
pub fn folded_words(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + 2);
    words.push(' ');
    // Neither words nor normal forms cross the end of a line, and what is ASCII has only its letters folded.
    for line in text.split_inclusive('\n') {
        if !line.is_ascii() {
            for word in folded(line).split(|c| !is_word(c)).filter(|word| !word.is_empty()) {
                words.push_str(word);
                words.push(' ');
            }
            continue;
        }
        let mut rest = line;
        while let Some(start) = rest.bytes().position(is_ascii_word) {
            rest = &rest[start..];
            let end = rest.bytes().position(|byte| !is_ascii_word(byte)).unwrap_or(rest.len());
            words.push_str(&rest[..end]);
            words.push(' ');
            rest = &rest[end..];
        }
    }
    words.make_ascii_lowercase();
    words
}

/// A text in normal form and lower case, without invisible characters and marks.
fn folded(text: &str) -> String {
    let visible = text.chars().filter(|&c| !is_invisible(c)).nfkc().collect::<String>();
    unmarked(&fold(&visible)).into_owned()
}

/// The runs of characters that words are made of, each with the byte it begins at.
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
    each: &'a mut dyn FnMut(Term<'_>),
}

impl<'a> Analyzer<'a> {
    fn new(each: &'a mut dyn FnMut(Term<'_>)) -> Self {
        let [english, russian] = [Algorithm::English, Algorithm::Russian].map(Stemmer::create);
        Self { english, russian, each }
    }

    fn emit(&mut self, text: &str, range: Range<usize>, kind: TermKind) {
        (self.each)(Term { text, range, kind });
    }

    /// A piece that begins at byte `at`.
    fn piece(&mut self, piece: &str, kind: Piece, at: usize) {
        if kind == Piece::Run {
            self.run(piece, at);
            return;
        }
        compound::terms(piece, &mut |term, kind| {
            let term = if kind == TermKind::Joined { self.stem(term) } else { term.into() };
            self.emit(&term, at..at + piece.len(), kind);
        });
    }

    /// A run of word characters that begins at byte `at`.
    fn run(&mut self, run: &str, at: usize) {
        // Most are words of English prose, which have one part and no marks.
        if is_plain_english(run) {
            let folded = fold(run);
            self.emit(&self.english.stem(&folded), at..at + run.len(), TermKind::Word);
            return;
        }
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
                        let range = range(start + inner..start + inner + c.len_utf8());
                        self.emit(c.encode_utf8(&mut [0; 4]), range, TermKind::Word);
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
            [end] => self.emit(&folded, inner(0..*end), TermKind::Word),
            ends => {
                let mut start = 0;
                for pair in ends.windows(2) {
                    self.emit(&folded[start..pair[1]], inner(start..pair[1]), TermKind::Word);
                    start = pair[0];
                }
                for (at, c) in folded.char_indices() {
                    let range = at..at + c.len_utf8();
                    self.emit(&folded[range.clone()], inner(range), TermKind::Single);
                }
            }
        }
    }

    fn identifier(&mut self, text: &str, range: &dyn Fn(Range<usize>) -> Range<usize>) {
        let parts = if text.len() <= MAX_IDENTIFIER { identifier_parts(text) } else { Vec::new() };
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
        let joined = compound::joined(text);
        let joined = self.stem(&joined);
        if !joined.is_empty() && *joined != *unmarked(&fold(text)) {
            self.emit(&joined, range(0..text.len()), TermKind::Joined);
        }
    }

    fn whole(&mut self, text: &str, range: Range<usize>) {
        if !text.chars().any(char::is_alphanumeric) {
            return;
        }
        let folded = fold(text);
        let whole = unmarked(shorten(&folded));
        self.emit(&whole, range, TermKind::Whole);
    }

    fn word(&mut self, text: &str, range: Range<usize>) {
        let folded = fold(text);
        let marked = shorten(&folded);
        let plain = unmarked(marked);
        if !plain.chars().any(char::is_alphanumeric) {
            return;
        }
        let stem = self.stem(&plain);
        self.emit(&stem, range.clone(), TermKind::Word);
        if plain != marked {
            self.emit(marked, range, TermKind::Marked);
        }
    }

    /// The stem of a folded word.
    fn stem<'t>(&self, word: &'t str) -> Cow<'t, str> {
        if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            self.english.stem(word)
        } else if word.chars().all(|c| ('а'..='я').contains(&c)) {
            without_fleeting(self.russian.stem(word))
        } else {
            word.into()
        }
    }
}

/// A Russian stem without the vowel that other forms of the word lack: `настроек` and `настройка`, `список` and `списка`.
/// A word whose forms all have it loses it in all of them.
fn without_fleeting(stem: Cow<'_, str>) -> Cow<'_, str> {
    let mut letters = stem.chars().rev();
    let (Some(last @ ('к' | 'ц')), Some(vowel @ ('о' | 'е')), Some(before), Some(_)) =
        (letters.next(), letters.next(), letters.next(), letters.next())
    else {
        return stem;
    };
    let start = &stem[..stem.len() - last.len_utf8() - vowel.len_utf8()];
    let is_vowel = matches!(before, 'а' | 'е' | 'и' | 'о' | 'у' | 'ы' | 'э' | 'ю' | 'я');
    format!("{start}{}{last}", if is_vowel { "й" } else { "" }).into()
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

/// Returns whether a run is a word of English letters in lower case, but for the first.
fn is_plain_english(run: &str) -> bool {
    let rest = run.as_bytes().split_first().filter(|(first, _)| first.is_ascii_alphabetic());
    run.len() <= MAX_TERM && rest.is_some_and(|(_, rest)| rest.iter().all(u8::is_ascii_lowercase))
}

fn is_word(c: char) -> bool {
    if c.is_ascii() { is_ascii_word(c as u8) } else { is_plain(c) || is_other_word(c) }
}

fn is_ascii_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
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

fn shorten(term: &str) -> &str {
    term.char_indices().nth(MAX_TERM).map_or(term, |(end, _)| &term[..end])
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
        check("настройка настроек копеек", "настройк настройк копейк");
        check("список списка продавец продавца человек века", "списк списк продавц продавц человк век");
        check("Straße STRASSE", "strass strass");
        check("ΣΊΣΥΦΟΣ σίσυφος", "σισυφοσ σίσυφοσ σισυφοσ σίσυφοσ");
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
        check("maxChunkSize", "max chunk size maxchunksize maxchunks");
        check("max_chunk_size", "max chunk size max_chunk_size maxchunks");
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
        check("e\u{301}te\u{301} été", "ete été ete été");
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
        let text = "See maxSize, 数据库 and Zürich; e-mail in C++ --no-cache.";
        let mut seen = String::new();
        analyze(text, &mut |Term { range, kind, .. }| {
            if kind != TermKind::Word {
                seen.extend([&text[range], " "]);
            }
        });
        assert_eq!(seen, "maxSize maxSize Zürich e-mail C++ no-cache --no-cache ");
    }

    #[test]
    fn what_is_stored_has_the_characters_of_pairs_too() {
        let mut stored = Vec::new();
        each_piece("黑猫 cat 猫", &mut |_, piece, kind| {
            stored_terms(piece, kind, &mut |term, kind| stored.push((term.to_owned(), kind)));
        });
        let stored: Vec<(&str, TermKind)> = stored.iter().map(|(term, kind)| (&**term, *kind)).collect();
        let (word, single) = (TermKind::Word, TermKind::Single);
        assert_eq!(stored, [("黑猫", word), ("黑", single), ("猫", single), ("cat", word), ("猫", word)]);
    }

    #[test]
    fn a_word_is_found_without_its_marks_and_ranked_by_them() {
        for (marked, plain) in [
            ("Zürich", "zurich"),
            ("Zu\u{308}rich", "zurich"),
            ("crème", "creme"),
            ("cafés", "cafe"),
            ("smörgåsbord", "smorgasbord"),
            ("Łódź", "lodz"),
            ("Đà Nẵng", "da nang"),
            ("Phở bò", "pho bo"),
            ("œuvre Ærø", "oeuvre aero"),
            ("ışık", "isik"),
            ("Αθήνα", "αθηνα"),
            ("за\u{301}мок", "замок"),
            ("שָׁלוֹם", "שלום"),
            ("مُحَمَّد", "محمد"),
            ("أحمد", "احمد"),
            ("كـــتاب", "كتاب"),
            ("على", "علي"),
            ("کتاب", "كتاب"),
            ("١٢٣", "123"),
        ] {
            let (found, wanted) = (terms(marked), terms(plain));
            assert!(wanted.iter().all(|term| found.contains(term)), "{marked}: {found:?} {wanted:?}");
            assert!(found.len() > wanted.len(), "{marked}: {found:?}");
        }
        // These are letters of their own.
        for word in ["чай", "йод", "їжа", "ўзор", "ќе", "が", "हिन्दी", "ที่", "ক্ষ"]
        {
            let found = terms(word);
            assert!(found.iter().all(|term| !term.contains('\u{306}')), "{word}");
            assert_eq!(found.join("").nfc().count(), found.join("").chars().count(), "{word}: {found:?}");
        }
        check("йод иод", "йод иод");
        check("が か", "が か");
        check("हिन्दी", "हिन्दी");
    }

    #[test]
    fn words_that_are_also_written_as_one_have_a_term_for_it() {
        for (text, joined) in [
            ("e-mail", "email"),
            ("time-out", "timeout"),
            ("Time out", "timeout"),
            ("a data base line", "database baseline"),
            ("non\u{2011}blocking", "nonblocking"),
            ("U.S.A.", "usa"),
            ("USSR U.S.S.R.", "ussr"),
            ("node.js", "nodejs"),
            ("TCP/IP", "tcpip"),
            ("HTTP/3", "http3"),
            ("R&D", "rd"),
            ("10,000", "10000"),
            ("10 000", "10000"),
            ("10\u{a0}000", "10000"),
            ("10'000", "10000"),
            ("10.000", "10000"),
            ("1,234,567.50", "1234567"),
            ("веб-сайты", "вебсайты"),
            ("DataSourceService", "datasourceservice"),
            ("data_source_service", "datasourceservice"),
            ("retry-with-backoff", "retrywithbackoff"),
            ("UTF-8", "utf8"),
            ("978-3-16-148410-0", "9783161484100"),
        ] {
            let (found, wanted) = (terms(text), terms(joined));
            assert!(wanted.iter().all(|term| found.contains(term)), "{text}: {found:?} {wanted:?}");
        }
        check("6.2.8", "6 2 8 6.2.8");
        check("in 2024 100 of 12 34", "in 2024 100 of 12 34");
        check("a, b. c; well - known", "a b c well known");
        check("the me, red pump", "the me red pump");
        check("com.example.deep.package", "com exampl deep packag");
        check("数据-库", "数据 库");
    }

    #[test]
    fn symbols_of_a_name_are_a_term() {
        for (text, symbols) in [
            ("C++", "c++"),
            ("C++17", "c++"),
            ("C#", "c#"),
            ("(F#)", "f#"),
            ("C#/.NET", "c# .net"),
            ("g++", "g++"),
            (".NET .gitignore", ".net .gitignore"),
            ("@types/node", "@types"),
            ("$PATH", "$path"),
            ("#tag", "#tag"),
            ("--no-cache", "--no-cache"),
            ("`-v`, --dry-run=x", "-v --dry-run"),
            ("Disney+ is", "disney+"),
        ] {
            let mut found = Vec::new();
            analyze(text, &mut |term| {
                if term.kind == TermKind::Symbol {
                    found.push(term.text.to_owned());
                }
            });
            assert_eq!(found.join(" "), symbols, "{text}");
        }
        for text in ["a+b", "x += 1", "page#part", "end. Next", "a ... b", "well--known", "3-4", "a@b"] {
            analyze(text, &mut |term| assert_ne!(term.kind, TermKind::Symbol, "{text}: {term:?}"));
        }
    }

    proptest::proptest! {
        #[test]
        fn words_of_english_have_the_terms_of_any_run(word in "[A-Z]?[a-z]{0,66}") {
            let (mut found, mut expected) = (Vec::new(), Vec::new());
            Analyzer::new(&mut |term| found.push(format!("{term:?}"))).run(&word, 7);
            if !word.is_empty() {
                Analyzer::new(&mut |term| expected.push(format!("{term:?}"))).words(&word, 7, None);
            }
            proptest::prop_assert_eq!(found, expected);
        }

        /// Letters with marks of their own, marks at the beginning of a line, what normal forms open, invisible characters.
        #[test]
        fn words_folded_line_by_line_are_those_of_the_text(text in "[aBß_é\u{301}\u{3099}ﬁかЁЙ㎏\u{AD}İ0 .\r\n-]{0,24}") {
            let folded = folded(&text);
            let words = folded.split(|c| !is_word(c)).filter(|word| !word.is_empty());
            let words: String = words.flat_map(|word| [word, " "]).collect();
            proptest::prop_assert_eq!(folded_words(&text), format!(" {words}"));
        }
    }

    #[test]
    fn a_text_of_joints_without_end_is_read_in_one_pass() {
        for unit in ["a-", "a.", "1 000 ", "--a", "a++", "a/", "$a", "é"] {
            let count = terms(&unit.repeat(100_000)).len();
            assert!(count <= 500_000, "{unit}: {count}");
        }
    }
}
