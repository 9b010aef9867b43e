//! Words that the end of a line divides, and sentences that the end of a page divides.

use std::collections::HashSet;

/// The words of a document, which tell a hyphen of a word from one that ends a line.
pub(super) struct Words {
    /// Those with a hyphen inside, in lower case.
    hyphenated: HashSet<String>,
}

/// Longest part of a word that is looked at, in characters.
const LONGEST: usize = 64;

/// Words after a hyphen that stands for a part left out: `pre- and postwar`, `Ein- und Ausgang`.
const CONJUNCTIONS: &[&str] = &[
    "and", "or", "to", "nor", "und", "oder", "bis", "bzw", "sowie", "et", "ou", "y", "o", "e", "ed", "en",
    "of", "och", "og", "и", "или", "i", "lub", "a", "nebo",
];

impl Words {
    pub(super) fn of(texts: impl Iterator<Item = String>) -> Self {
        let mut hyphenated = HashSet::new();
        for text in texts.filter(|text| text.contains('-')) {
            let is_part = |c: char| c.is_alphabetic() || c == '-';
            for word in text.split(|c| !is_part(c)).filter(|word| word.contains('-')) {
                let inside = word.trim_matches('-');
                if inside.contains('-') {
                    hyphenated.insert(inside.to_lowercase());
                }
            }
        }
        Self { hyphenated }
    }

    /// `text` with the words joined that line ends divide: `exam- ple`.
    pub(super) fn joined(&self, text: &str) -> String {
        let text = text.replace("\u{ad} ", "").replace("\u{ad}\n", "").replace('\u{ad}', "");
        let mut joined = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(at) = rest.find("- ") {
            let (before, after) = (&rest[..at], &rest[at + 2..]);
            joined.push_str(before);
            match self.hyphen(&joined, after) {
                Some(hyphen) => joined.push_str(hyphen),
                None => joined.push_str("- "),
            }
            rest = after;
        }
        joined.push_str(rest);
        joined
    }

    /// Adds what follows on the next page.
    pub(super) fn join(&self, text: &mut String, next: &str) {
        let divided = text.strip_suffix(['-', '\u{ad}']).map(str::len);
        match divided.and_then(|end| Some((end, self.hyphen(&text[..end], next)?))) {
            Some((end, hyphen)) => {
                text.truncate(end);
                text.push_str(hyphen);
            }
            // Scripts without spaces.
            None if text.ends_with(is_ideographic) && next.starts_with(is_ideographic) => {}
            None => text.push(' '),
        }
        text.push_str(next);
    }

    /// What stands between two parts of a word: nothing, or a hyphen of its own; `None` if they are not one word.
    fn hyphen(&self, before: &str, after: &str) -> Option<&'static str> {
        let start = before
            .char_indices()
            .rev()
            .take(LONGEST)
            .take_while(|(_, c)| c.is_alphabetic() || *c == '-')
            .last();
        let first = start.map_or("", |(start, _)| &before[start..]);
        let second: String = after.chars().take_while(|c| c.is_alphabetic()).take(LONGEST).collect();
        let begins = second.chars().next()?;
        let last = first.chars().last().filter(|c| c.is_alphabetic())?;
        if is_ideographic(last) || is_ideographic(begins) || CONJUNCTIONS.contains(&&*second) {
            return None;
        }
        if begins.is_uppercase() {
            // A name of two, or a word in capitals.
            return if last.is_uppercase() && first.chars().count() > 1 { Some("") } else { Some("-") };
        }
        // `DNA-based`
        if first.chars().filter(|c| c.is_uppercase()).count() > 1 {
            return Some("-");
        }
        let word = format!("{}-{}", first.to_lowercase(), second.to_lowercase());
        Some(if self.hyphenated.contains(&word) { "-" } else { "" })
    }
}

/// Shortest text whose end may be the middle of a sentence, in characters: that of a line.
const LINE: usize = 40;

/// Whether the paragraph `below` continues `above`, which the end of a page divides.
pub(super) fn continues(above: &str, below: &str) -> bool {
    let (above, below) = (above.trim_end(), below.trim_start());
    let (Some(last), Some(first)) = (above.chars().last(), below.chars().next()) else { return false };
    let long = |text: &str| text.chars().take(LINE * 2).count() == LINE * 2;
    let is_open =
        last.is_alphanumeric() || matches!(last, ',' | '-' | '\u{ad}' | '–' | '—' | ')' | '、' | '，');
    if !is_open || above.chars().take(LINE).count() < LINE && !is_ideographic(last) {
        return false;
    }
    if is_ideographic(first) && is_ideographic(last) {
        return above.chars().take(LINE / 2).count() == LINE / 2;
    }
    // Nouns and names begin with capitals in the middle of sentences too.
    first.is_lowercase() || first.is_alphanumeric() && long(above) && long(below) && !last.is_numeric()
}

fn is_ideographic(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
