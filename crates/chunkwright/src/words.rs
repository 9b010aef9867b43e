//! Places where words begin, and what ends sentences: as Unicode divides text, and in scripts that are written without
//! spaces by a dictionary.
//!
//! Unicode leaves Thai, Lao, Khmer and Burmese to dictionaries. Without the feature `dictionary`, a place between their
//! words is unknown: then no word is cut between a letter and what belongs to it (vowels, tones, what stands below it).

use std::iter;

use unicode_segmentation::UnicodeSegmentation;

/// Start of each word of `text`, and of each stretch between two words.
pub(crate) fn starts(text: &str) -> Vec<usize> {
    if text.is_ascii() {
        let bytes = text.as_bytes();
        let first = Some(0).filter(|_| !bytes.is_empty());
        let next = |at: &usize| Some(at + ascii_word(&bytes[*at..])).filter(|next| *next < bytes.len());
        return iter::successors(first, next).collect();
    }
    if !text.contains(has_no_spaces) {
        return text.split_word_bound_indices().map(|(at, _)| at).collect();
    }
    let mut starts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let at = text.len() - rest.len();
        let is_bare = has_no_spaces(first);
        let end = rest.find(|c| has_no_spaces(c) != is_bare).unwrap_or(rest.len());
        let run = &rest[..end];
        if is_bare {
            starts.push(at);
            starts.extend(inner(run).into_iter().map(|place| at + place));
        } else {
            starts.extend(run.split_word_bound_indices().map(|(place, _)| at + place));
        }
        rest = &rest[end..];
    }
    starts
}

/// Bytes of the first word of a text in ASCII, or of the stretch before it (UAX #29).
fn ascii_word(text: &[u8]) -> usize {
    let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    match text {
        [b' ', ..] => text.iter().take_while(|byte| **byte == b' ').count(),
        [b'\r', b'\n', ..] => 2,
        [first, ..] if is_inside(first) => {
            let mut end = 1;
            loop {
                end += match text[end - 1..] {
                    [_, byte, ..] if is_inside(&byte) => 1,
                    [before, b'.' | b'\'' | b':', after, ..]
                        if before.is_ascii_alphabetic() && after.is_ascii_alphabetic() =>
                    {
                        2
                    }
                    [before, b'.' | b'\'' | b',' | b';', after, ..]
                        if before.is_ascii_digit() && after.is_ascii_digit() =>
                    {
                        2
                    }
                    _ => return end,
                }
            }
        }
        _ => 1,
    }
}

/// Whether `c` is of a script whose words have no spaces between them and that dictionaries divide.
pub(crate) fn has_no_spaces(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}'       // Thai, Lao
        | '\u{1000}'..='\u{109f}' | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aa7f}' // Burmese
        | '\u{1780}'..='\u{17ff}' | '\u{19e0}'..='\u{19ff}') // Khmer
}

/// Places in a run of such a script where words begin, without its start.
#[cfg(feature = "dictionary")]
fn inner(run: &str) -> Vec<usize> {
    use icu_segmenter::{LineSegmenter, options::LineBreakOptions};
    let segmenter = LineSegmenter::new_dictionary(LineBreakOptions::default());
    segmenter.segment_str(run).filter(|&at| at > 0 && at < run.len() && !tears(run, at)).collect()
}

/// Places in a run of such a script where words may begin, without its start.
#[cfg(not(feature = "dictionary"))]
fn inner(run: &str) -> Vec<usize> {
    run.grapheme_indices(true).map(|(at, _)| at).filter(|&at| at > 0 && !tears(run, at)).collect()
}

/// Whether a cut at byte `at` would part a letter of such a script from what belongs to it: a vowel or tone behind it, a
/// vowel written before it, the letter below it, the letter that ends its syllable.
pub(crate) fn tears(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at(at);
    let mut next = after.chars();
    let (Some(last), Some(first)) = (before.chars().next_back(), next.next()) else { return false };
    let leads = matches!(last, '\u{e40}'..='\u{e44}' | '\u{ec0}'..='\u{ec4}' | '\u{1039}' | '\u{17d2}');
    let depends = matches!(first,
        '\u{e2f}'..='\u{e3a}' | '\u{e45}'..='\u{e4e}'
        | '\u{eaf}'..='\u{ebc}' | '\u{ec6}'..='\u{ece}'
        | '\u{102b}'..='\u{103e}' | '\u{1056}'..='\u{1059}' | '\u{105e}'..='\u{1060}' | '\u{1062}'..='\u{1064}'
        | '\u{1067}'..='\u{106d}' | '\u{1071}'..='\u{1074}' | '\u{1082}'..='\u{108d}' | '\u{109a}'..='\u{109d}'
        | '\u{17b4}'..='\u{17d3}' | '\u{17dd}');
    // A letter without a vowel ends the syllable before it.
    let is_final =
        matches!(first, '\u{1000}'..='\u{1021}') && matches!(next.next(), Some('\u{1039}' | '\u{103a}'));
    has_no_spaces(last) && (leads || depends || is_final)
}

/// Start of each sentence of `text`, as Unicode (UAX #29) divides it. Its rules are applied where a sentence may end and
/// nowhere else, to the usual characters by [`Kind`]: looking each character up was a sixth of cutting.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = usize> {
    let first = Some(0).filter(|_| !text.is_empty());
    iter::successors(first, |start| next_sentence(text, *start))
}

fn next_sentence(text: &str, start: usize) -> Option<usize> {
    let mut from = start;
    let next = loop {
        let end = from + text[from..].find(may_end_sentence)?;
        match next_after(&text[start..end], &text[end..]) {
            Ok(Some(length)) => break end + length,
            // Every mark that it knows has a byte or three; the next begins behind it.
            Ok(None) => from = text.ceil_char_boundary(end + 1),
            Err(Unusual) => {
                // The letter before decides with, as in `U.S.`, whatever combines with it.
                let base = text[start..end].char_indices().rev().find(|(_, c)| is_base(*c));
                let from = base.map_or(start, |(at, _)| start + at);
                break from + text[from..].split_sentence_bounds().next()?.len();
            }
        }
    };
    Some(next).filter(|at| *at < text.len())
}

/// A character of which [`Kind`] says nothing.
struct Unusual;

/// What a character is to the rules of sentences, by the names of UAX #29.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    ParaSep,
    Sp,
    Lower,
    Upper,
    OLetter,
    Numeric,
    ATerm,
    STerm,
    Close,
    SContinue,
    Other,
}

impl Kind {
    fn of(c: char) -> Result<Self, Unusual> {
        Ok(match c {
            '\n' | '\r' => Self::ParaSep,
            ' ' | '\t' | '\x0b' | '\x0c' | '\u{a0}' | '\u{3000}' => Self::Sp,
            'a'..='z' | 'а'..='џ' => Self::Lower,
            'A'..='Z' | 'Ѐ'..='Я' => Self::Upper,
            '一'..='\u{9fff}' => Self::OLetter,
            '0'..='9' => Self::Numeric,
            '.' => Self::ATerm,
            '!' | '?' | '。' | '！' | '？' => Self::STerm,
            '"' | '\'' | '(' | ')' | '[' | ']' | '{' | '}' => Self::Close,
            '«' | '»' | '“' | '”' | '‘' | '’' | '「' | '」' | '（' | '）' | '《' | '》' => {
                Self::Close
            }
            ',' | '-' | ':' | ';' | '–' | '—' | '，' | '：' | '、' => Self::SContinue,
            '\0'..='\x7f' => Self::Other,
            _ => return Err(Unusual),
        })
    }
}

/// Bytes of `rest`, which begins with what may end a sentence, up to the next sentence; `None` if no sentence begins
/// there.
fn next_after(before: &str, rest: &str) -> Result<Option<usize>, Unusual> {
    let mut kinds = rest.char_indices().map(|(at, c)| Ok((at, Kind::of(c)?)));
    let mut following = || kinds.next().unwrap_or(Ok((rest.len(), Kind::OLetter)));
    let through_line = |at: usize| Ok(Some(at + if rest[at..].starts_with("\r\n") { 2 } else { 1 }));
    let mark = following()?.1;
    let (mut at, mut kind) = match mark {
        Kind::ParaSep => return through_line(0),
        Kind::ATerm | Kind::STerm => following()?,
        _ => return Err(Unusual),
    };
    if mark == Kind::ATerm {
        let last = before.chars().next_back().map_or(Ok(Kind::Other), Kind::of)?;
        let is_initial = matches!(last, Kind::Upper | Kind::Lower) && kind == Kind::Upper;
        if kind == Kind::Numeric || is_initial {
            return Ok(None);
        }
    }
    for skipped in [Kind::Close, Kind::Sp] {
        while kind == skipped {
            (at, kind) = following()?;
        }
    }
    let length = at;
    match kind {
        Kind::ParaSep => return through_line(at),
        Kind::SContinue | Kind::ATerm | Kind::STerm => return Ok(None),
        _ => {}
    }
    // A sentence does not begin with a small letter, whatever stands before that.
    while mark == Kind::ATerm
        && !matches!(kind, Kind::OLetter | Kind::Upper | Kind::ParaSep | Kind::ATerm | Kind::STerm)
    {
        if kind == Kind::Lower {
            return Ok(None);
        }
        kind = following()?.1;
    }
    Ok(Some(length))
}

/// Whether a sentence may end at `c`. Of most scripts this is not known, and may be.
fn may_end_sentence(c: char) -> bool {
    match c {
        '\0'..='\x7f' => matches!(c, '.' | '!' | '?' | '\n' | '\r'),
        '\u{a0}'..='\u{24f}' // Latin
        | 'Ѐ'..='ҁ'
        | '\u{2010}'..='\u{2023}' // Dashes and quotation marks
        | '…' | '、' | '，' | '：'
        | 'ぁ'..='ヿ'
        | '一'..='\u{9fff}'
        | '가'..='힣' => false,
        _ => true,
    }
}

/// Whether `c` combines with no character before it. Of most scripts this is not known, and is said to be false.
fn is_base(c: char) -> bool {
    matches!(c, '\0'..='\x7f' | 'Ѐ'..='ҁ' | '一'..='\u{9fff}')
}

/// Whether `c` ends a sentence in any text; a full stop may end an abbreviation.
pub(crate) fn is_terminator(c: char) -> bool {
    matches!(
        c,
        '!' | '?' | '…' | '。' | '！' | '？' | '；' | '︒' | '．'
            // Arabic and Urdu, Hindi, Burmese, Khmer, Armenian, Ethiopic, Tibetan, Mongolian.
            | '؟' | '؛' | '۔' | '।' | '॥' | '။' | '។' | '៕' | '։' | '՜' | '՞' | '።' | '፧' | '፨' | '།' | '༎' | '᠃'
    )
}
