//! Writing systems, by which questions and documents in different languages are told from each other.

use chunkwright::Record;
use chunkwright_store::analysis::is_unspaced;
use serde::{Deserialize, Serialize};

/// A group of scripts: words can match within a group only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Script {
    /// Latin.
    Latin,
    /// Cyrillic.
    Cyrillic,
    /// Those without spaces between words, such as Chinese.
    Unspaced,
    /// All others.
    Other,
}

impl Script {
    /// The script of most letters of a text, where a character of an unspaced script counts as three, if they have more
    /// than this share of all; `None` for a text without letters.
    pub fn of(text: &str, share: f64) -> Option<Self> {
        let mut counts = [(0_u32, Self::Latin), (0, Self::Cyrillic), (0, Self::Unspaced), (0, Self::Other)];
        for letter in text.chars().filter(|c| c.is_alphabetic()) {
            let script = Self::of_letter(letter);
            // A character is a syllable or half a word.
            counts[script as usize].0 += if script == Self::Unspaced { 3 } else { 1 };
        }
        let all: u32 = counts.iter().map(|(count, _)| count).sum();
        let most = counts.into_iter().max().filter(|(count, _)| *count > 0);
        most.filter(|(count, _)| f64::from(*count) > share * f64::from(all)).map(|(_, script)| script)
    }

    /// The script of a chunk: the one of its document's prose; without prose, of its content. So code in a Russian manual
    /// counts as Russian.
    pub fn of_record(record: &Record) -> Option<Self> {
        match record.prose_language.as_deref() {
            Some("en") => Some(Self::Latin),
            Some("ru") => Some(Self::Cyrillic),
            Some("zh") => Some(Self::Unspaced),
            _ => Self::of(&record.content, 0.0),
        }
    }

    /// The script of a letter.
    pub(crate) fn of_letter(letter: char) -> Self {
        match letter {
            '\0'..='\u{024F}' => Self::Latin,
            '\u{0400}'..='\u{052F}' => Self::Cyrillic,
            c if is_unspaced(c) => Self::Unspaced,
            _ => Self::Other,
        }
    }
}
