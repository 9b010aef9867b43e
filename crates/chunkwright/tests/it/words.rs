//! Words and sentences are those of Unicode, which another library divides.

use chunkwright::{TokenCounter, Words};
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::stride::one_in;

// The file itself: no caller of the library needs its functions.
#[path = "../../src/words.rs"]
#[expect(dead_code, reason = "the others are tested by what is cut")]
mod own;

#[track_caller]
fn check(text: &str) {
    assert_eq!(Words.count(text), text.unicode_words().count(), "{text:?}");
    if !text.contains(own::has_no_spaces) {
        let starts: Vec<usize> = text.split_word_bound_indices().map(|(at, _)| at).collect();
        assert_eq!(own::starts(text), starts, "{text:?}");
    }
}

#[test]
fn words_are_those_of_unicode() {
    check("It's 3.5 e.g. well-known (see a_b), “so” … Ещё «раз» — 数据库，连接。done");
    // Every character that is assigned, but for most of the rare ideographs, and a few of those that are not.
    let rare = ('\u{20000}'..='\u{dffff}').chain('\u{e1000}'..=char::MAX).step_by(one_in(97));
    let all = ('\0'..='\u{1ffff}').chain('\u{e0000}'..='\u{e0fff}').chain(rare);
    for c in all.filter(|c| !c.is_ascii_whitespace()) {
        check(&format!("a{c}b {c} 1{c}2 字{c}字 a{c} {c}b"));
    }
}

#[test]
fn words_of_ascii_are_those_of_unicode_whatever_signs_follow_each_other() {
    // A character of each kind that the rules for words tell apart.
    const KINDS: &[char] =
        &['a', 'Z', '0', '_', '.', '\'', ':', ',', ';', '-', '"', ' ', '\n', '\r', '\t', '\u{1}', '\u{7f}'];
    let mut text = String::new();
    for number in 0..KINDS.len().pow(5) {
        text.clear();
        text.extend((0..5).map(|place| KINDS[number / KINDS.len().pow(place) % KINDS.len()]));
        check(&text);
    }
}

#[test]
fn sentences_of_usual_characters_are_those_of_unicode_whatever_follows_each_other() {
    const KINDS: &[char] =
        &['a', 'A', 'ж', '1', '字', '.', '!', '。', ' ', '\t', '"', ',', '#', '\n', '\r', '\u{300}'];
    let mut text = String::new();
    for number in 0..KINDS.len().pow(5) {
        text.clear();
        text.extend((0..5).map(|place| KINDS[number / KINDS.len().pow(place) % KINDS.len()]));
        check_sentences(&text);
    }
}

#[track_caller]
fn check_sentences(text: &str) {
    let starts: Vec<usize> = text.split_sentence_bound_indices().map(|(at, _)| at).collect();
    assert_eq!(own::sentences(text).collect::<Vec<_>>(), starts, "{text:?}");
}

#[test]
fn sentences_are_those_of_unicode() {
    check_sentences("");
    check_sentences("It cost 3.5 (U.S.) dollars. e.g. this… “Really?” he said! Да. Нет? 好。坏！\r\nlast");
    let rare = ('\u{20000}'..='\u{dffff}').chain('\u{e1000}'..=char::MAX).step_by(one_in(97));
    for c in ('\0'..='\u{1ffff}').chain('\u{e0000}'..='\u{e0fff}').chain(rare) {
        check_sentences(&format!("a{c}b {c} B{c} A.{c}B. {c}b字.{c} B!{c}{c}"));
    }
}

proptest! {
    #[test]
    fn words_of_any_text_are_those_of_unicode(text in "([a-c1-3._,:;'\"’，а-в数据 \n-]|\\PC|[\u{300}\u{200d}\u{1F1E6}\u{1F1E7}]){0,24}") {
        check(&text);
    }

    #[test]
    fn sentences_of_any_text_are_those_of_unicode(text in "([a-cA-C1-3._,:;'\"’)?!…，。а-вА-В数据 \\r\n-]|\\PC|[\u{300}\u{ad}\u{200d}\u{85}\u{2024}]){0,40}") {
        check_sentences(&text);
    }
}
