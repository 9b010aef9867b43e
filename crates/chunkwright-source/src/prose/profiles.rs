//! Compares the letters and trigrams of a text with those of languages.
//!
//! The method and the scores are those of `whatlang`, which looks up every trigram of every language in the text. Here
//! the trigrams of all languages of a script are one table in which those of the text are looked up, so that each costs
//! one access and not one for each language.

use std::cell::Cell;
use std::cmp::Reverse;
use std::sync::OnceLock;

use super::script::Script;

/// Number of trigrams in a profile, and the distance of a trigram that only the text or only the profile has.
const LEN: u32 = 300;

/// Most trigrams of a text that are compared: the most frequent ones.
const COMPARED: u32 = 600;

/// The alphabets have only characters below this one.
const LETTERS: usize = 0x1F00;

/// Bits of a character in the key of a trigram, so that keys are in the order of trigrams.
const BITS: u32 = 21;

/// The bits of a character.
const CHARACTER: u64 = (1 << BITS) - 1;

/// Five bits of each character of ASCII in lower case that distinguish its letters, which here include U+007F; 0 for
/// blanks, digits and signs.
const FIVE_BITS: [u8; 128] = {
    let mut bits = [0; 128];
    let mut at = 0x61;
    while at < 128 {
        if !matches!(at, 0x7B..=0x7E) {
            bits[at] = at as u8 & 31;
        }
        at += 1;
    }
    bits
};

/// Number of trigrams by those bits.
const SHORTS: usize = 1 << (3 * 5);

thread_local! {
    /// Numbers of trigrams by those bits, of no text: to clear what a text has costs less than 64 KB of zeros for each.
    static PLAIN: Cell<Vec<u16>> = const { Cell::new(Vec::new()) };
}

/// Bits of a place in the table of trigrams beyond ASCII. A script has at most 4,143, so half of the places are free.
const PLACES: u32 = 13;

/// The bits of a key that trigrams of ASCII do not have.
const BEYOND_ASCII: u64 = {
    let beyond = CHARACTER & !0x7f;
    beyond << (2 * BITS) | beyond << BITS | beyond
};

/// The languages that are written in one script.
pub(super) struct Profiles {
    languages: Vec<Language>,
    /// Trigrams, each with the first of its entries; ends with one that no text has.
    trigrams: Vec<(u64, u16)>,
    /// Indices of trigrams; 0 for a free place. Those of ASCII come first, by their short keys, then the others, by a hash.
    places: Vec<u16>,
    entries: Vec<Entry>,
}

struct Language {
    code: &'static str,
    /// The characters of its alphabet; `None` if nothing is known of the alphabets of the script.
    letters: Option<Vec<u16>>,
}

/// A trigram in the profile of a language.
#[derive(Clone, Copy)]
struct Entry {
    language: u8,
    rank: u16,
}

impl Profiles {
    /// The languages of a script, if there are several.
    pub(super) fn of(script: Script) -> Option<&'static Self> {
        static ALL: [OnceLock<Profiles>; 5] = [const { OnceLock::new() }; 5];
        let scripts = [Script::Latin, Script::Cyrillic, Script::Arabic, Script::Devanagari, Script::Hebrew];
        let at = scripts.iter().position(|known| *known == script)?;
        Some(ALL[at].get_or_init(|| Self::read(at)))
    }

    /// Reads the profiles of the script at `at` in the file.
    fn read(at: usize) -> Self {
        let (mut languages, mut all) = (Vec::new(), Vec::new());
        // A comment stands before the scripts, the name of a script before its languages.
        let script = include_str!("profiles.txt").split("\n\n").nth(at + 1).unwrap_or_default();
        for line in script.lines().skip(1) {
            let mut fields = line.split(' ');
            let mut field = || fields.next().unwrap_or_default();
            let (code, letters, trigrams) = (field(), field(), field());
            let letters = (letters != "-").then(|| letters.chars().map(|c| c as u16).collect());
            let mut key = 0;
            for (number, c) in (1..).zip(trigrams.chars()) {
                key = shifted(key, if c == '_' { ' ' } else { c });
                if number % 3 == 0 {
                    all.push((key, Entry { language: languages.len() as u8, rank: number / 3 - 1 }));
                }
            }
            languages.push(Language { code, letters });
        }
        all.sort_unstable_by_key(|(key, _)| *key);
        let mut profiles = Self {
            languages,
            trigrams: vec![(0, 0)],
            places: vec![0; SHORTS + (1 << PLACES)],
            entries: Vec::new(),
        };
        for same in all.chunk_by(|a, b| a.0 == b.0) {
            let place = profiles.place(same[0].0);
            profiles.places[place] = profiles.trigrams.len() as u16;
            profiles.trigrams.push((same[0].0, profiles.entries.len() as u16));
            profiles.entries.extend(same.iter().map(|(_, entry)| *entry));
        }
        profiles.trigrams.push((0, profiles.entries.len() as u16));
        profiles
    }

    /// The place of a trigram, or the free one where it would be.
    fn place(&self, key: u64) -> usize {
        if key & BEYOND_ASCII == 0 {
            let five = |at: u32| (key >> (at * BITS)) as usize & 31;
            return five(2) << 10 | five(1) << 5 | five(0);
        }
        // The first bits depend on all of the key.
        let mut place = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - PLACES)) as usize;
        let places = &self.places[SHORTS..];
        while places[place] != 0 && self.trigrams[usize::from(places[place])].0 != key {
            place = (place + 1) % (1 << PLACES);
        }
        SHORTS + place
    }

    /// The entries of a trigram.
    fn entries(&self, key: u64) -> &[Entry] {
        match usize::from(self.places[self.place(key)]) {
            0 => &[],
            at => &self.entries[usize::from(self.trigrams[at].1)..usize::from(self.trigrams[at + 1].1)],
        }
    }

    /// The code of the language that a text with a letter is most like, and how certain that is, from 0 to 1. The text
    /// has fewer than 2^16 characters.
    pub(super) fn most_like(&self, text: &str) -> (&'static str, f64) {
        let found = Found::of(&lower(text));
        // Of each language the number of common trigrams, and how far apart their ranks are together.
        let mut common = vec![(0, 0); self.languages.len()];
        found.by_rank(|key, rank| {
            for entry in self.entries(key) {
                let (number, apart) = &mut common[usize::from(entry.language)];
                *number += 1;
                *apart += rank.abs_diff(u32::from(entry.rank));
            }
        });
        let count = COMPARED.min(found.trigrams.len() as u32);
        // The more letters, the less the alphabet weighs.
        let letters = if self.languages[0].letters.is_some() { found.count } else { 1 };
        let weight = (2.0 / 3.0 - letters as f64 / 300.0).clamp(1.0 / 3.0, 2.0 / 3.0);
        let mut scores: Vec<(&str, f64, f64)> = Vec::with_capacity(self.languages.len());
        for (language, (number, apart)) in self.languages.iter().zip(common) {
            let alphabet = language.letters.as_ref().map_or(1.0, |letters| found.share(letters));
            let distance = (LEN * LEN.min(count) + apart - LEN * number).min(LEN * LEN);
            let trigrams = f64::from(LEN * count - distance) / f64::from(LEN * count);
            scores.push((language.code, alphabet, alphabet * weight + trigrams * (1.0 - weight)));
        }
        // Of equal scores the one with more of the letters, then the first.
        scores.sort_by(|a, b| b.1.total_cmp(&a.1));
        scores.sort_by(|a, b| b.2.total_cmp(&a.2));
        (scores[0].0, confidence(scores[0].2, scores[1].2, count))
    }
}

/// [`str::to_lowercase`], at once for the letters of Russian.
fn lower(text: &str) -> String {
    // Its lower case depends on what follows.
    if text.is_ascii() || text.contains('Σ') {
        return text.to_lowercase();
    }
    let mut lower = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\0'..='\u{7f}' | 'а'..='я' => lower.push(c.to_ascii_lowercase()),
            'А'..='Я' => lower.extend(char::from_u32(u32::from(c) + 32)),
            _ => lower.extend(c.to_lowercase()),
        }
    }
    lower
}

/// How certain the best score is, beside the second, for a number of trigrams: the shorter the text, the further apart
/// they have to be.
fn confidence(best: f64, second: f64, count: u32) -> f64 {
    if best == 0.0 || second == 0.0 {
        return best;
    }
    let lead = (best - second) / second;
    let certain = 3.0 / f64::from(count) + 0.015;
    if lead > certain { 1.0 } else { lead / certain }
}

/// What a text has.
struct Found {
    /// Number of letters, which are all characters but the blanks, digits and signs of ASCII.
    count: usize,
    /// Number of each letter.
    letters: Vec<u16>,
    /// Each trigram with its number, in descending order.
    trigrams: Vec<(u64, u16)>,
}

impl Found {
    /// Looks at a text in lower case. Of blanks together the first counts.
    fn of(text: &str) -> Self {
        let (mut count, mut letters) = (0, vec![0; LETTERS]);
        // Trigrams of ASCII are counted in place, by five bits of each character.
        let mut plain = PLAIN.take();
        plain.resize(SHORTS, 0);
        let (mut seen, mut others) = ([0_u64; SHORTS / 64], Vec::new());
        let blank = u64::from(' ');
        // The last characters: as a key, by their bits, and which are beyond ASCII.
        let (mut key, mut short, mut beyond) = (blank << BITS | blank, 0, 0);
        let mut was_blank = false;
        for c in text.chars().chain([' ']) {
            let is_blank = matches!(c, '\t'..='\r' | ' ');
            if is_blank && was_blank {
                continue;
            }
            was_blank = is_blank;
            let bits = FIVE_BITS.get(c as usize).copied();
            let is_letter = bits != Some(0);
            count += usize::from(is_letter);
            if let Some(number) = letters.get_mut(c as usize) {
                *number += 1;
            }
            key = shifted(key, if is_letter { c } else { ' ' });
            short = (short << 5 | usize::from(bits.unwrap_or(0))) % SHORTS;
            beyond = (beyond << 1 | u8::from(bits.is_none())) & 0b111;
            if beyond == 0 {
                plain[short] += 1;
                seen[short / 64] |= 1 << (short % 64);
            } else {
                let (before, middle, after) = (key >> (2 * BITS), key >> BITS & CHARACTER, key & CHARACTER);
                if middle != blank || before != blank && after != blank {
                    others.push(key);
                }
            }
        }
        let mut trigrams = Vec::with_capacity(1 << 10);
        for (word, mut bits) in seen.into_iter().enumerate().rev() {
            while bits != 0 {
                let bit = bits.ilog2();
                bits ^= 1 << bit;
                let short = word * 64 + bit as usize;
                let number = std::mem::take(&mut plain[short]);
                // Nor are there trigrams of a blank with another before or after it.
                if short < 1 << 5 || short.is_multiple_of(1 << 10) {
                    continue;
                }
                // The five bits of a blank are 0, those of letters and U+007F the last of theirs.
                let char = |at: u32| match short >> at & 31 {
                    0 => blank,
                    five => 0x60 | five as u64,
                };
                let key = char(10) << (2 * BITS) | char(5) << BITS | char(0);
                trigrams.push((key, number));
            }
        }
        PLAIN.set(plain);
        if !others.is_empty() {
            others.sort_unstable();
            trigrams.extend(others.chunk_by(|a, b| a == b).rev().map(|same| (same[0], same.len() as u16)));
            // Two runs in order, which a stable sort merges.
            trigrams.sort_by_key(|(key, _)| Reverse(*key));
        }
        Self { count, letters, trigrams }
    }

    /// Calls `then` with the most frequent trigrams and their ranks. Of equally frequent ones the last in order is
    /// first.
    fn by_rank(&self, mut then: impl FnMut(u64, u32)) {
        let most = self.trigrams.iter().map(|trigram| trigram.1).max().unwrap_or(0);
        // Number of trigrams that are more frequent, by frequency.
        let mut ranks = vec![0_u32; usize::from(most) + 1];
        for (_, number) in &self.trigrams {
            ranks[usize::from(*number)] += 1;
        }
        let mut more = 0;
        for rank in ranks.iter_mut().rev() {
            more += std::mem::replace(rank, more);
        }
        for (key, number) in &self.trigrams {
            let rank = &mut ranks[usize::from(*number)];
            if *rank < COMPARED {
                then(*key, *rank);
            }
            *rank += 1;
        }
    }

    /// How many of the letters are in an alphabet, less those that are not, of all.
    fn share(&self, alphabet: &[u16]) -> f64 {
        let known: usize = alphabet.iter().map(|c| usize::from(self.letters[usize::from(*c)])).sum();
        (2 * known).saturating_sub(self.count) as f64 / self.count as f64
    }
}

/// The key of the last two characters of a key and `c`.
fn shifted(key: u64, c: char) -> u64 {
    (key << BITS | u64::from(c)) & ((1 << (3 * BITS)) - 1)
}
