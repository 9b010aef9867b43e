//! Detects the language of a document's prose.
//!
//! Code blocks, inline code and addresses do not count as prose, and source code and data files have none: their names
//! and comments say little. [`language_of`] tells the language of the rest.

mod language;
mod profiles;
mod script;

use chunkwright::{BlockKind, Document};

use language::language_of;

/// Most bytes of prose that are examined, taken from all over the document. For the documentation of Vue and `FastAPI`,
/// 1,186 pages in 23 languages, the first 16 KiB give the same languages, but examining them takes a fifth of the time
/// of an index.
const MOST: usize = 4 << 10;

/// Least bytes that are taken at a place: trigrams at a cut mean nothing.
const PIECE: usize = 256;

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
    let blocks = || document.blocks().iter().filter(|block| is_prose(&block.kind));
    let all: usize = blocks().map(|block| document.read(block.span).len()).sum();
    let (mut prose, mut seen, mut taken) = (String::new(), 0, 0);
    for block in blocks() {
        let text = document.read(block.span);
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
    // A search in each word costs more than one in all of them.
    let has_address = text.contains("://");
    for part in text.split('`').step_by(2) {
        if part.is_ascii() && !has_address {
            // Of blanks together only the first counts.
            prose.push_str(part);
            prose.push(' ');
            continue;
        }
        for word in part.split_whitespace().filter(|word| !has_address || !word.contains("://")) {
            prose.push_str(word);
            prose.push(' ');
        }
    }
}

/// The language called `name`: its code, its name in English, or either with a region, as in `zh-CN`.
pub fn prose_language_named(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let plain = name.split(['-', '_']).next().unwrap_or_default();
    PROSE_LANGUAGES.iter().find(|(code, english)| *code == plain || *english == plain).map(|(code, _)| *code)
}
