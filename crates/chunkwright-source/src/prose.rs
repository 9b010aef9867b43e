//! Detects the language of a document's prose.
//!
//! Chinese, Japanese and Korean follow from their scripts, Chinese from Han characters without kana. For other scripts
//! the detector of `whatlang` compares trigrams; an unsure result counts as unknown. Code blocks, inline code and
//! addresses do not count as prose, and source code and data files have none: their names and comments say little.

use chunkwright::{BlockKind, Document};
use whatlang::{Lang, Script};

/// Most bytes of prose that are examined, taken from all over the document. For the documentation of Vue and `FastAPI`,
/// 1,186 pages in 23 languages, the first 16 KiB give the same languages, but examining them takes a fifth of the time
/// of an index.
const MOST: usize = 4 << 10;

/// Least bytes that are taken at a place: trigrams at a cut mean nothing.
const PIECE: usize = 256;

/// Least letters from which a language can be detected. A character of Chinese, Japanese or Korean counts as three.
const LEAST: usize = 24;

/// Letters of other scripts that one character of Chinese, Japanese or Korean is equivalent to.
const WIDE: usize = 3;

/// Languages that can be detected: codes of ISO 639-1, and names in English.
pub const PROSE_LANGUAGES: &[(&str, &str)] = &[
    ("ar", "arabic"),
    ("be", "belarusian"),
    ("bg", "bulgarian"),
    ("bn", "bengali"),
    ("cs", "czech"),
    ("da", "danish"),
    ("de", "german"),
    ("el", "greek"),
    ("en", "english"),
    ("es", "spanish"),
    ("et", "estonian"),
    ("fa", "persian"),
    ("fi", "finnish"),
    ("fr", "french"),
    ("he", "hebrew"),
    ("hi", "hindi"),
    ("hr", "croatian"),
    ("hu", "hungarian"),
    ("id", "indonesian"),
    ("it", "italian"),
    ("ja", "japanese"),
    ("ko", "korean"),
    ("lt", "lithuanian"),
    ("lv", "latvian"),
    ("nb", "norwegian"),
    ("nl", "dutch"),
    ("pl", "polish"),
    ("pt", "portuguese"),
    ("ro", "romanian"),
    ("ru", "russian"),
    ("sk", "slovak"),
    ("sl", "slovenian"),
    ("sr", "serbian"),
    ("sv", "swedish"),
    ("th", "thai"),
    ("tr", "turkish"),
    ("uk", "ukrainian"),
    ("ur", "urdu"),
    ("vi", "vietnamese"),
    ("zh", "chinese"),
];

/// The ISO 639-1 code of the language of most of a document's prose; `None` for source code, data and little text, and
/// if it is uncertain.
pub fn prose_language(document: &Document) -> Option<&'static str> {
    if document.language().is_some() {
        return None;
    }
    let is_prose = |kind: &BlockKind| {
        use BlockKind::{Heading, List, Paragraph, Quote, Table};
        matches!(kind, Paragraph | Heading | List | Quote | Table)
    };
    // Markup, front matter and encoded data are no prose.
    let blocks = document.blocks().iter().filter(|block| is_prose(&block.kind));
    let texts: Vec<_> = blocks.map(|block| document.read(block.span)).collect();
    let all = texts.iter().map(|text| text.len()).sum::<usize>();
    let (mut prose, mut seen, mut taken) = (String::new(), 0, 0);
    for text in texts {
        // As large a share of what was seen so far as of the whole.
        seen += text.len();
        let due = (seen as u64 * MOST.min(all) as u64 / all.max(1) as u64) as usize - taken;
        if due >= text.len().min(PIECE) {
            let text = &text[..text.floor_char_boundary(due)];
            add(text, &mut prose);
            taken += text.len();
        }
    }
    language_of(&prose)
}

/// Adds the words of prose, without inline code and addresses.
fn add(text: &str, prose: &mut String) {
    for part in text.split('`').step_by(2) {
        for word in part.split_whitespace().filter(|word| !word.contains("://")) {
            prose.push_str(word);
            prose.push(' ');
        }
    }
}

/// The language of prose.
fn language_of(prose: &str) -> Option<&'static str> {
    let (mut han, mut kana, mut hangul, mut others) = (0, 0, 0, 0);
    for c in prose.chars().filter(|c| c.is_alphabetic()) {
        match c {
            '\u{3040}'..='\u{30ff}' => kana += WIDE,
            '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7af}' => hangul += WIDE,
            '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => han += WIDE,
            _ => others += 1,
        }
    }
    let all = han + kana + hangul + others;
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
    let latin = prose.chars().filter(char::is_ascii_alphabetic).count();
    let is_latin = whatlang::detect_script(prose).is_none_or(|script| script == Script::Latin);
    let is_latin = is_latin || 3 * (others - latin) < others;
    let is_own = |c: &char| !c.is_alphabetic() || is_latin_letter(*c) == is_latin;
    let text: String = prose.chars().filter(is_own).collect();
    let found = whatlang::detect(&text)?;
    let is_certain = found.is_reliable() || found.lang() == Lang::Rus && has_only_letters_of_russian(&text);
    code(found.lang()).filter(|_| is_certain)
}

/// Whether no letter occurs only in a neighbouring language such as Ukrainian, or Bulgarian, where the hard sign is a
/// vowel. Trigrams of a few sentences do not always distinguish these.
fn has_only_letters_of_russian(text: &str) -> bool {
    let mut letters = text.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase);
    letters.all(|c| matches!(c, 'а'..='я' | 'ё') && c != 'ъ')
}

fn is_latin_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

fn code(lang: Lang) -> Option<&'static str> {
    let name = match lang {
        Lang::Pes => "persian",
        Lang::Nob => "norwegian",
        other => &other.eng_name().to_lowercase(),
    };
    PROSE_LANGUAGES.iter().find(|(_, known)| *known == name).map(|(code, _)| *code)
}

/// The language called `name`: its code, its name in English, or either with a region, as in `zh-CN`.
pub fn prose_language_named(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let plain = name.split(['-', '_']).next().unwrap_or_default();
    PROSE_LANGUAGES.iter().find(|(code, english)| *code == plain || *english == plain).map(|(code, _)| *code)
}
