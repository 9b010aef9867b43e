//! Words of the plain part of a text, without a regular expression.
//!
//! The encodings split a text into words by a regular expression over all of Unicode. Most words of most texts are
//! ASCII or Russian, and for those a few comparisons give the same result several times faster; wherever another
//! character could play a part, the expression decides.

/// The rule by which an encoding splits letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letters {
    /// Any run of letters is a word: cl100k.
    Together,
    /// A capital after a small letter begins a word, contractions end one: o200k.
    ByCase,
}

/// Length in bytes of the word at the beginning of `text`, or 0 if only the expression can tell.
pub(super) fn plain_word(text: &[u8], letters: Letters) -> usize {
    let (first, len) = class(text, 0);
    match first {
        Class::Upper | Class::Lower => letter_run(text, 0, letters),
        Class::Digit => digit_run(text),
        Class::Newline => blank_run(text),
        Class::Blank => match class(text, len).0 {
            Class::Upper | Class::Lower => letter_run(text, len, letters),
            Class::Mark if text[0] == b' ' => mark_run(text, len, letters),
            Class::Unknown => 0,
            _ => blank_run(text),
        },
        // A contraction may begin here.
        Class::Mark if text[0] == b'\'' => 0,
        Class::Mark => match class(text, len).0 {
            Class::Upper | Class::Lower => letter_run(text, len, letters),
            _ => mark_run(text, 0, letters),
        },
        Class::Unknown | Class::End => 0,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    Lower,
    Digit,
    /// CR or LF.
    Newline,
    /// Any other blank.
    Blank,
    /// Anything else that is ASCII.
    Mark,
    /// The end of the text.
    End,
    /// A character that is neither ASCII nor one of the 66 Russian letters.
    Unknown,
}

/// The class of the character at byte `at`, and its length.
fn class(text: &[u8], at: usize) -> (Class, usize) {
    let Some(&byte) = text.get(at) else { return (Class::End, 0) };
    if byte < 0x80 {
        return (ASCII[byte as usize], 1);
    }
    let class = match (byte, text.get(at + 1)) {
        (0xd0, Some(0x81 | 0x90..=0xaf)) => Class::Upper,
        (0xd0, Some(0xb0..=0xbf)) | (0xd1, Some(0x80..=0x8f | 0x91)) => Class::Lower,
        _ => Class::Unknown,
    };
    (class, 2)
}

const ASCII: [Class; 128] = {
    let mut classes = [Class::Mark; 128];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'A'..=b'Z' => Class::Upper,
            b'a'..=b'z' => Class::Lower,
            b'0'..=b'9' => Class::Digit,
            b'\r' | b'\n' => Class::Newline,
            b'\t' | 0x0b | 0x0c | b' ' => Class::Blank,
            _ => Class::Mark,
        };
        byte += 1;
    }
    classes
};

/// The end of the characters of `class` from byte `at` on.
fn run(text: &[u8], mut at: usize, wanted: Class) -> usize {
    loop {
        let (found, len) = class(text, at);
        if found != wanted {
            return at;
        }
        at += len;
    }
}

fn letter_run(text: &[u8], start: usize, letters: Letters) -> usize {
    let mut end = start;
    match letters {
        Letters::ByCase => end = run(text, run(text, end, Class::Upper), Class::Lower),
        Letters::Together => loop {
            let after = run(text, run(text, end, Class::Lower), Class::Upper);
            if after == end {
                break;
            }
            end = after;
        },
    }
    match class(text, end).0 {
        Class::Unknown => 0,
        Class::Mark if letters == Letters::ByCase && text[end] == b'\'' => 0,
        _ => end,
    }
}

/// Digits come in threes.
fn digit_run(text: &[u8]) -> usize {
    let end = run(&text[..text.len().min(3)], 0, Class::Digit);
    if end < 3 && class(text, end).0 == Class::Unknown { 0 } else { end }
}

/// Blanks up to the last line break; without one, all but the last, which belongs to the next word.
fn blank_run(text: &[u8]) -> usize {
    let mut end = 0;
    let mut after_newline = 0;
    loop {
        match class(text, end).0 {
            Class::Newline => {
                end += 1;
                after_newline = end;
            }
            Class::Blank => end += 1,
            Class::Unknown => return 0,
            _ if after_newline > 0 => return after_newline,
            Class::End => return end,
            _ => return (end - 1).max(1),
        }
    }
}

/// Marks with the line breaks after them.
fn mark_run(text: &[u8], start: usize, letters: Letters) -> usize {
    let mut end = run(text, start, Class::Mark);
    if class(text, end).0 == Class::Unknown {
        return 0;
    }
    while let Some(b'\r' | b'\n' | b'/') = text.get(end) {
        if text[end] == b'/' && letters == Letters::Together {
            break;
        }
        end += 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::counters::Encoding;

    fn check(text: &str) {
        for (encoding, peer) in
            [(Encoding::o200k(), bpe_openai::o200k_base()), (Encoding::cl100k(), bpe_openai::cl100k_base())]
        {
            let found: Vec<&str> = encoding.words(text).map(|(word, _)| word).collect();
            let expected: Vec<&str> = peer.split(text).collect();
            assert_eq!(found, expected, "{} of {text:?}", encoding.name);
        }
    }

    #[test]
    fn every_pair_and_triple_of_kinds_of_characters_splits_as_the_expression_does() {
        let kinds = [
            "a", "B", "s", "LL", "б", "Ж", "ё", "ѣ", "é", "字", "7", "42", "½", " ", "\t", "\n", "\r",
            "\u{b}", "\u{a0}", "'", "/", "-", "(", "’", "\0", "\u{301}", "👩",
        ];
        for a in kinds {
            for b in kinds {
                for c in kinds {
                    check(&[a, b, c].concat());
                    check(&[a, b, b, c, c, a].concat());
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_splits_as_the_expression_does(
            text in prop::collection::vec(
                prop_oneof![
                    "[ \t\r\n\u{b}\u{c}\u{1c}]{1,4}", "[a-zA-Z]{1,8}", "[0-9]{1,5}", "[!-/:-@\\[-`{-~]{1,3}",
                    "'(s|t|re|LL|x)", "[а-яёА-ЯЁ]{1,5}", "[一-龥]{1,3}", "[ѐ-џ]{1,2}", "\\PC{1,3}",
                    "[\u{80}-\u{3000}]{1,2}", "[/\r\n]{1,3}", ".",
                ],
                0..24,
            ),
        ) {
            check(&text.concat());
        }
    }
}
