//! Scripts of characters, by blocks of Unicode.

/// A script. Signs of general use that stand in a block of a script count as its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    Latin,
    Cyrillic,
    Arabic,
    Han,
    Devanagari,
    Hebrew,
    Ethiopic,
    Georgian,
    Bengali,
    Hangul,
    Hiragana,
    Katakana,
    Greek,
    Kannada,
    Tamil,
    Thai,
    Gujarati,
    Gurmukhi,
    Telugu,
    Malayalam,
    Oriya,
    Myanmar,
    Sinhala,
    Khmer,
    Armenian,
}

impl Script {
    /// Latin is the last: names of products are Latin in every script, so of equal ones the other counts.
    const ALL: [Self; 25] = [
        Self::Cyrillic,
        Self::Arabic,
        Self::Han,
        Self::Devanagari,
        Self::Hebrew,
        Self::Ethiopic,
        Self::Georgian,
        Self::Bengali,
        Self::Hangul,
        Self::Hiragana,
        Self::Katakana,
        Self::Greek,
        Self::Kannada,
        Self::Tamil,
        Self::Thai,
        Self::Gujarati,
        Self::Gurmukhi,
        Self::Telugu,
        Self::Malayalam,
        Self::Oriya,
        Self::Myanmar,
        Self::Sinhala,
        Self::Khmer,
        Self::Armenian,
        Self::Latin,
    ];

    /// The script of a character.
    fn of(c: char) -> Option<Self> {
        Some(match c {
            'a'..='z'
            | 'A'..='Z'
            | '\u{80}'..='\u{2AF}'
            | '\u{1D00}'..='\u{1DBF}'
            | '\u{1E00}'..='\u{1EFF}'
            | '\u{2100}'..='\u{214F}'
            | '\u{2C60}'..='\u{2C7F}'
            | '\u{A720}'..='\u{A7FF}'
            | '\u{AB30}'..='\u{AB6F}' => Self::Latin,
            '\u{400}'..='\u{484}'
            | '\u{487}'..='\u{52F}'
            | '\u{2DE0}'..='\u{2DFF}'
            | '\u{A640}'..='\u{A69D}'
            | '\u{A69F}' => Self::Cyrillic,
            '\u{600}'..='\u{6FF}'
            | '\u{750}'..='\u{7FF}'
            | '\u{8A0}'..='\u{8FF}'
            | '\u{FB50}'..='\u{FDFF}'
            | '\u{FE70}'..='\u{FEFF}'
            | '\u{10E60}'..='\u{10E7F}'
            | '\u{1EE00}'..='\u{1EEFF}' => Self::Arabic,
            '\u{2E80}'..='\u{2E99}'
            | '\u{2E9B}'..='\u{2EF3}'
            | '\u{2F00}'..='\u{2FD5}'
            | '\u{3005}'
            | '\u{3007}'
            | '\u{3021}'..='\u{3029}'
            | '\u{3038}'..='\u{303B}'
            | '\u{3400}'..='\u{4DB5}'
            | '\u{4E00}'..='\u{9FCC}'
            | '\u{F900}'..='\u{FA6D}'
            | '\u{FA70}'..='\u{FAD9}' => Self::Han,
            '\u{900}'..='\u{97F}' | '\u{1CD0}'..='\u{1CFF}' | '\u{A8E0}'..='\u{A8FF}' => Self::Devanagari,
            '\u{590}'..='\u{5FF}' => Self::Hebrew,
            '\u{1200}'..='\u{139F}' | '\u{2D80}'..='\u{2DDF}' | '\u{AB00}'..='\u{AB2F}' => Self::Ethiopic,
            '\u{10A0}'..='\u{10FF}' => Self::Georgian,
            '\u{980}'..='\u{9FF}' => Self::Bengali,
            '\u{1100}'..='\u{11FF}'
            | '\u{3130}'..='\u{318F}'
            | '\u{3200}'..='\u{32FF}'
            | '\u{A960}'..='\u{A97F}'
            | '\u{AC00}'..='\u{D7FF}'
            | '\u{FF00}'..='\u{FFEF}' => Self::Hangul,
            '\u{3040}'..='\u{309F}' => Self::Hiragana,
            '\u{30A0}'..='\u{30FF}' => Self::Katakana,
            '\u{370}'..='\u{3FF}' => Self::Greek,
            '\u{C80}'..='\u{CFF}' => Self::Kannada,
            '\u{B80}'..='\u{BFF}' => Self::Tamil,
            '\u{E00}'..='\u{E7F}' => Self::Thai,
            '\u{A80}'..='\u{AFF}' => Self::Gujarati,
            '\u{A00}'..='\u{A7F}' => Self::Gurmukhi,
            '\u{C00}'..='\u{C7F}' => Self::Telugu,
            '\u{D00}'..='\u{D7F}' => Self::Malayalam,
            '\u{B00}'..='\u{B7F}' => Self::Oriya,
            '\u{1000}'..='\u{109F}' => Self::Myanmar,
            '\u{D80}'..='\u{DFF}' => Self::Sinhala,
            '\u{1780}'..='\u{17FF}' | '\u{19E0}'..='\u{19FF}' => Self::Khmer,
            '\u{530}'..='\u{58F}' | '\u{FB13}'..='\u{FB17}' => Self::Armenian,
            _ => return None,
        })
    }
}

/// Number of characters of each script.
pub(super) struct Scripts([usize; Script::ALL.len()]);

impl Scripts {
    /// Counts the characters of a text.
    pub(super) fn of(text: &str) -> Self {
        let mut scripts = Self([0; Script::ALL.len()]);
        scripts.0[Script::Latin as usize] = text.bytes().filter(u8::is_ascii_alphabetic).count();
        for script in beyond_ascii(text).filter_map(Script::of) {
            scripts.0[script as usize] += 1;
        }
        scripts
    }

    /// Number of characters of a script.
    pub(super) fn count(&self, script: Script) -> usize {
        self.0[script as usize]
    }

    /// The script of most characters; the first of equal ones, and `None` if there are none.
    pub(super) fn main(&self) -> Option<Script> {
        let most = self.0.iter().copied().max().filter(|most| *most > 0)?;
        Script::ALL.into_iter().find(|script| self.count(*script) == most)
    }
}

/// The characters of a text that are not ASCII. Blocks without any are skipped at once.
pub(super) fn beyond_ascii(text: &str) -> impl Iterator<Item = char> {
    const BLOCK: usize = 64;
    let blocks = text.as_bytes().chunks(BLOCK).enumerate().filter(|(_, block)| !block.is_ascii());
    let starts = blocks.flat_map(|(number, block)| {
        let begins = move |(at, byte): (usize, &u8)| (*byte >= 0xC0).then_some(number * BLOCK + at);
        block.iter().enumerate().filter_map(begins)
    });
    starts.filter_map(|at| text[at..].chars().next())
}
