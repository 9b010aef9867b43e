//! Tells the language of a text.
//!
//! Chinese, Japanese and Korean follow from their scripts, Chinese from Han characters without kana. So do languages
//! that have a script to themselves. Others are told apart by [`Profiles`]; an unsure result counts as unknown.

use std::borrow::Cow;

use super::PROSE_LANGUAGES;
use super::profiles::Profiles;
use super::script::{Script, Scripts, beyond_ascii};

/// Least letters from which a language can be detected. A character of Chinese, Japanese or Korean counts as three.
const LEAST: usize = 24;

/// Letters of other scripts that one character of Chinese, Japanese or Korean is equivalent to.
const WIDE: usize = 3;

/// Confidence above which a result is certain, as in `whatlang`.
const CERTAIN: f64 = 0.9;

/// The language of prose of fewer than 2^16 bytes.
pub(super) fn language_of(prose: &str) -> Option<&'static str> {
    let (mut han, mut kana, mut hangul, mut others, mut latin) = (0, 0, 0, 0, 0);
    for c in beyond_ascii(prose).filter(|c| is_letter(*c)) {
        match c {
            '\u{3040}'..='\u{30ff}' => kana += WIDE,
            '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7af}' => hangul += WIDE,
            '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => han += WIDE,
            _ => others += 1,
        }
        latin += usize::from(is_latin_letter(c));
    }
    let ascii = prose.bytes().filter(u8::is_ascii_alphabetic).count();
    let all = ascii + han + kana + hangul + others;
    if all < LEAST {
        return None;
    }
    if 2 * (han + kana + hangul) >= all {
        // A few names in kana do not make Chinese Japanese.
        return Some(match (hangul > han + kana, 10 * kana >= han + kana) {
            (true, _) => "ko",
            (false, true) => "ja",
            (false, false) => "zh",
        });
    }
    // Names of products are Latin in every script: only letters of the prose's own are compared.
    let scripts = Scripts::of(prose);
    let is_latin = scripts.main().is_none_or(|script| script == Script::Latin);
    let is_latin = is_latin || 3 * others < others + ascii;
    let has_others = if is_latin { latin < (han + kana + hangul) / WIDE + others } else { latin + ascii > 0 };
    let text = if has_others {
        let is_own = |c: &char| !is_letter(*c) || is_latin_letter(*c) == is_latin;
        Cow::Owned(prose.chars().filter(is_own).collect())
    } else {
        Cow::Borrowed(prose)
    };
    let scripts = if has_others { Scripts::of(&text) } else { scripts };
    let script = scripts.main()?;
    let code = match Profiles::of(script) {
        Some(profiles) => {
            let (code, confidence) = profiles.most_like(&text);
            let is_certain = confidence > CERTAIN || code == "ru" && has_only_letters_of_russian(&text);
            Some(code).filter(|_| is_certain)
        }
        None => language_in(script, &scripts),
    };
    // Of other languages the profiles are only there to be told from these.
    PROSE_LANGUAGES.iter().map(|(known, _)| *known).find(|known| Some(*known) == code)
}

/// The language that is written in a script of its own.
fn language_in(script: Script, scripts: &Scripts) -> Option<&'static str> {
    match script {
        Script::Han => {
            let kana = scripts.count(Script::Hiragana) + scripts.count(Script::Katakana);
            match kana as f64 / (kana + scripts.count(Script::Han)) as f64 {
                share if share > 0.2 => Some("ja"),
                share if share > 0.02 => None,
                _ => Some("zh"),
            }
        }
        Script::Hiragana | Script::Katakana => Some("ja"),
        Script::Hangul => Some("ko"),
        Script::Bengali => Some("bn"),
        Script::Greek => Some("el"),
        Script::Thai => Some("th"),
        _ => None,
    }
}

/// Whether no letter occurs only in a neighbouring language such as Ukrainian, or Bulgarian, where the hard sign is a
/// vowel. Trigrams of a few sentences do not always distinguish these.
fn has_only_letters_of_russian(text: &str) -> bool {
    let mut letters = text.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase);
    letters.all(|c| matches!(c, 'а'..='я' | 'ё') && c != 'ъ')
}

/// [`char::is_alphabetic`], at once for the letters of Russian, Chinese and Korean.
fn is_letter(c: char) -> bool {
    matches!(c, 'Ѐ'..='ҁ' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}') || c.is_alphabetic()
}

fn is_latin_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}
