//! The tokenizer of Llama 2, which wordllama's vectors belong to.
//!
//! A text gets a blank before it, and its characters merge by rank; a character outside the vocabulary is its bytes,
//! which never merge. No token goes across the beginning of a run of blanks or a line break, so texts fall into words,
//! and words into parts whose neighbours no token joins. The tokens of both are remembered. They equal those of the
//! `tokenizers` library, which merges a text as a whole and takes ten times as long.

use std::borrow::Cow;
use std::collections::HashMap;

use chunkwright::TokenCounter;
use serde::Deserialize;

use crate::bpe::{NONE, Pairs, USUAL, merge_few, merge_many};
use crate::char_set::{PairFilter, parts};
use crate::counters::word_cache::{Table, WordCache};

/// The character that stands for a blank.
const BLANK: char = '\u{2581}';

/// The vocabulary, ready to split texts.
pub(crate) struct Llama {
    name: &'static str,
    characters: Characters,
    merges: MergeTable,
    /// Neighbours in tokens.
    joined: PairFilter,
    words: WordCache<Tokens>,
}

/// The tokens of a word: those that fit, and the number of all.
#[derive(Clone, Copy, Default)]
struct Tokens {
    ids: [u16; 6],
    count: u32,
}

impl Llama {
    /// Reads a `tokenizer.json` with a byte-pair model of this kind: characters with byte fallback, each merge two
    /// tokens with a blank between them. `name` is that of the counter.
    ///
    /// Returns `None` if it is not such a file.
    pub(crate) fn parse(name: &'static str, json: &[u8]) -> Option<Self> {
        let File { model: Model { vocab, merges, byte_fallback: true } } =
            serde_json::from_slice(json).ok()?
        else {
            return None;
        };
        let mut joined = PairFilter::new(merges.len());
        let mut table = MergeTable::new(merges.len());
        let mut token = String::new();
        for (rank, Text(merge)) in (0..).zip(&merges) {
            let (left, right) = merge.split_once(' ')?;
            token.clear();
            token.push_str(left);
            token.push_str(right);
            // Of a token's pairs all others are in the tokens that it is merged from.
            let (a, b) = (left.chars().next_back()?, right.chars().next()?);
            if ends_word(plain(a), plain(b)) {
                return None;
            }
            joined.insert(a, b);
            let [left, right, token] = [left, right, &token].map(|token| vocab.get(token).copied());
            table.insert(left?, right?, rank, token?);
        }
        let characters = Characters::new(&vocab)?;
        Some(Self { name, characters, merges: table, joined, words: WordCache::default() })
    }

    /// Calls `visit` with the tokens of a text.
    pub(crate) fn each_token(&self, text: &str, mut visit: impl FnMut(u16)) {
        let mut more = Vec::new();
        self.each_part(text, |known, part| {
            let tokens = known.get(part, |part| self.tokens(part));
            let ids = tokens.ids.iter().take(tokens.count as usize);
            if tokens.count as usize == ids.len() {
                ids.for_each(|&id| visit(id));
            } else {
                self.encode(part, &mut more);
                more.drain(..).for_each(|id| visit(id as u16));
            }
        });
    }

    /// Calls `visit` with stretches of a text whose tokens together are the text's.
    fn each_part(&self, text: &str, mut visit: impl FnMut(&mut Table<Tokens>, &str)) {
        let mut words = words(text);
        let Some(first) = words.next().map(|first| format!(" {first}")) else { return };
        self.words.with(|known| {
            for word in std::iter::once(&*first).chain(words) {
                if word.is_ascii() {
                    visit(known, word);
                } else {
                    parts(word, |a, b| !self.joined.may_hold(marked(a), marked(b)))
                        .for_each(|part| visit(known, part));
                }
            }
        });
    }

    fn tokens(&self, part: &str) -> Tokens {
        let mut all = Vec::new();
        self.encode(part, &mut all);
        let mut tokens = Tokens { ids: [0; 6], count: all.len() as u32 };
        tokens.ids.iter_mut().zip(all).for_each(|(id, token)| *id = token as u16);
        tokens
    }

    /// Appends the tokens of a part, not looking at what is known.
    fn encode(&self, part: &str, tokens: &mut Vec<u32>) {
        let mut singles = Vec::with_capacity(part.len());
        part.chars().for_each(|c| self.characters.push(c, &mut singles));
        if singles.len() <= USUAL {
            let mut few = [0; USUAL];
            few[..singles.len()].copy_from_slice(&singles);
            let count = merge_few(&self.merges, &mut few, singles.len());
            tokens.extend(&few[..count]);
        } else {
            let ends = merge_many(&self.merges, &mut singles);
            tokens.extend(singles.iter().zip(ends).filter(|&(_, end)| end > 0).map(|(token, _)| token));
        }
    }
}

impl TokenCounter for Llama {
    fn name(&self) -> &str {
        self.name
    }

    fn count(&self, text: &str) -> usize {
        let mut count = 0;
        self.each_part(text, |known, part| {
            count += known.get(part, |part| self.tokens(part)).count as usize;
        });
        count
    }
}

/// The stretches of a text that are encoded each alone.
fn words(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let bytes = text.as_bytes();
        let ends = |&at: &usize| {
            ends_word(char::from(bytes[at - 1]), char::from(bytes[at]))
                // A text may spell out the character that stands for a blank.
                && !(bytes[at] == b' ' && bytes[at - 1] == 0x81 && text[..at].ends_with(BLANK))
        };
        let end = (1..text.len()).find(ends).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        text = rest;
        Some(word).filter(|word| !word.is_empty())
    })
}

/// Whether a word ends between two characters, or bytes.
fn ends_word(before: char, after: char) -> bool {
    before == '\n' || after == '\n' || (after == ' ' && before != ' ')
}

/// A character of a text as tokens have it, and the other way round.
fn marked(c: char) -> char {
    if c == ' ' { BLANK } else { c }
}

fn plain(c: char) -> char {
    if c == BLANK { ' ' } else { c }
}

/// Which tokens characters are before they merge.
struct Characters {
    /// Of characters that are tokens.
    ascii: [Option<u16>; 128],
    others: HashMap<char, u16>,
    /// Of the bytes of those that are not.
    bytes: [u16; 256],
}

impl Characters {
    /// `None` if the vocabulary has not every byte.
    fn new(vocab: &HashMap<Text<'_>, u16>) -> Option<Self> {
        let mut bytes = [0; 256];
        for (byte, token) in bytes.iter_mut().enumerate() {
            *token = *vocab.get(format!("<0x{byte:02X}>").as_str())?;
        }
        let (mut ascii, mut others) = ([None; 128], HashMap::new());
        for (Text(token), &id) in vocab {
            let mut chars = token.chars();
            if let (Some(c), None) = (chars.next(), chars.next()) {
                match ascii.get_mut(plain(c) as usize) {
                    Some(ascii) => *ascii = Some(id),
                    None => _ = others.insert(c, id),
                }
            }
        }
        // A blank of a text, and the character that stands for it.
        others.extend(ascii[' ' as usize].map(|blank| (BLANK, blank)));
        Some(Self { ascii, others, bytes })
    }

    fn push(&self, c: char, tokens: &mut Vec<u32>) {
        let token = match self.ascii.get(c as usize) {
            Some(ascii) => *ascii,
            None => self.others.get(&c).copied(),
        };
        match token {
            Some(token) => tokens.push(token.into()),
            None => tokens.extend(
                c.encode_utf8(&mut [0; 4]).bytes().map(|byte| u32::from(self.bytes[usize::from(byte)])),
            ),
        }
    }
}

/// An open-addressing hash table from pairs of tokens to ranks, and the tokens of ranks.
struct MergeTable {
    slots: Box<[Slot]>,
    tokens: Vec<u16>,
}

#[derive(Clone, Copy)]
struct Slot {
    pair: u32,
    /// [`NONE`] if nothing is here.
    rank: u32,
}

impl MergeTable {
    /// An empty table for that many merges.
    fn new(merges: usize) -> Self {
        let slots = vec![Slot { pair: 0, rank: NONE }; (2 * merges).next_power_of_two().max(2)];
        Self { slots: slots.into_boxed_slice(), tokens: Vec::with_capacity(merges) }
    }

    /// Inserts the merge of the next rank; the first of equals stays.
    fn insert(&mut self, left: u16, right: u16, rank: u32, token: u16) {
        let pair = u32::from(left) << 16 | u32::from(right);
        let slot = self.slot(pair);
        if self.slots[slot].rank == NONE {
            self.slots[slot] = Slot { pair, rank };
        }
        self.tokens.push(token);
    }

    /// The slot of a pair, or the free one where it would be.
    fn slot(&self, pair: u32) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = (u64::from(pair).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while self.slots[slot].rank != NONE && self.slots[slot].pair != pair {
            slot = (slot + 1) & mask;
        }
        slot
    }
}

impl Pairs for MergeTable {
    fn merged(&self, left: u32, right: u32) -> u32 {
        self.slots[self.slot(left << 16 | right)].rank
    }

    fn token(&self, rank: u32) -> u32 {
        self.tokens[rank as usize].into()
    }
}

/// What is read of a `tokenizer.json`.
#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    model: Model<'a>,
}

#[derive(Deserialize)]
struct Model<'a> {
    #[serde(borrow)]
    vocab: HashMap<Text<'a>, u16>,
    #[serde(borrow)]
    merges: Vec<Text<'a>>,
    byte_fallback: bool,
}

/// A string of the file; alone, `Cow` would always be a copy.
#[derive(Deserialize, PartialEq, Eq, Hash)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl std::borrow::Borrow<str> for Text<'_> {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokenizers::Tokenizer;

    use super::*;

    /// A vocabulary with tokens of blanks, of a character that no merge makes, and of two ways to one token.
    fn file() -> String {
        let merges = [
            "a a",
            "b c",
            "▁ a",
            "a bc",
            "▁ ▁",
            "aa a",
            "a aa",
            "字 典",
            "▁▁ ▁▁",
            "▁ \r",
            "аб а",
            "а б",
            "\\ n",
        ];
        let bytes = (0..256).map(|byte| format!("<0x{byte:02X}>"));
        let singles = "▁abc字典аб\r\\nx".chars().map(String::from);
        let mut vocab: Vec<String> =
            std::iter::once("<unk>".to_owned()).chain(bytes).chain(singles).collect();
        for merged in merges.map(|merge| merge.replace(' ', "")) {
            if !vocab.contains(&merged) {
                vocab.push(merged);
            }
        }
        let vocab: serde_json::Map<_, _> =
            (0..).zip(vocab).map(|(id, token)| (token, u32::into(id))).collect();
        serde_json::json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "pre_tokenizer": null,
            "post_processor": null, "decoder": null,
            "normalizer": {"type": "Sequence", "normalizers": [
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            ]},
            "model": {
                "type": "BPE", "dropout": null, "unk_token": "<unk>", "continuing_subword_prefix": null,
                "end_of_word_suffix": null, "fuse_unk": true, "byte_fallback": true, "vocab": vocab, "merges": merges,
            },
        })
        .to_string()
    }

    fn check(text: &str, ours: &Llama, theirs: &Tokenizer) {
        let expected = theirs.encode_fast(text, false).unwrap();
        for _ in 0..2 {
            let mut found = Vec::new();
            ours.each_token(text, |id| found.push(u32::from(id)));
            assert_eq!(found, expected.get_ids(), "{text:?}");
            assert_eq!(ours.count(text), expected.len(), "{text:?}");
        }
    }

    fn pair(file: &[u8]) -> (Llama, Tokenizer) {
        let mut theirs = str::from_utf8(file).unwrap().parse::<Tokenizer>().unwrap();
        theirs.set_encode_special_tokens(true);
        (Llama::parse("wordllama", file).unwrap(), theirs)
    }

    #[test]
    fn tokens_of_texts_in_three_languages_and_of_code_are_those_of_the_tokenizers_library() {
        let Some((ours, theirs)) = crate::test_models::file("static", 1).map(|file| pair(&file)) else {
            return;
        };
        let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/corpus");
        let folders = ["en", "zh", "ru", "code"].map(|folder| corpus.join(folder).read_dir().unwrap());
        let mut bytes = 0;
        for entry in folders.into_iter().flatten() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            bytes += text.len();
            check(&text, &ours, &theirs);
            text.split_inclusive('\n').for_each(|line| check(line, &ours, &theirs));
            check(&text.replace('\n', "\r\n").replace("  ", "\t"), &ours, &theirs);
        }
        assert!(bytes > 90_000, "{bytes}");
        for text in [
            "",
            " ",
            "\n",
            "<s> </s> <unk>",
            "<0x0A>",
            "▁▁ a▁b",
            "👩‍👩‍👧 e\u{301}",
            &"-".repeat(999),
            &" ".repeat(77),
        ] {
            check(text, &ours, &theirs);
        }
    }

    #[test]
    fn a_file_that_joins_words_is_refused() {
        assert!(
            Llama::parse("other", file().replace("a bc", "a ▁").replace("abc\"", "a▁\"").as_bytes())
                .is_none()
        );
        assert!(
            Llama::parse(
                "other",
                file().replace("\"byte_fallback\":true", "\"byte_fallback\":false").as_bytes()
            )
            .is_none()
        );
        assert!(Llama::parse("other", b"{}").is_none());
    }

    proptest! {
        #[test]
        fn any_text_has_the_tokens_of_the_tokenizers_library(
            text in prop_oneof!["[abc ]{0,40}", "[a ]{50,120}", "[ \n\r▁abc字典абжx\\\\n👩]{0,24}", "\\PC{0,24}", ".{0,24}"],
        ) {
            static PAIR: std::sync::LazyLock<(Llama, Tokenizer)> = std::sync::LazyLock::new(|| pair(file().as_bytes()));
            check(&text, &PAIR.0, &PAIR.1);
        }
    }
}
