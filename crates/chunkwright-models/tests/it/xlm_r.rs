//! The vocabulary of XLM-RoBERTa.

use chunkwright::TokenCounter;
use chunkwright_models::counter;
use std::sync::Arc;

use crate::data_dir_with;

fn check(cases: &[(&str, usize)]) {
    let Some(dir) = data_dir_with("e5") else { return };
    let counter: Arc<dyn TokenCounter> = counter("bge-m3", &dir).unwrap();
    for &(text, tokens) in cases {
        assert_eq!(counter.count(text), tokens, "{text:?}");
        assert_eq!(counter.count(text), tokens, "{text:?}, counted again");
    }
}

#[test]
fn counts_are_those_published_for_the_model() {
    // Lengths of the id vectors in XLM-RoBERTa's own tests, without the special tokens at both ends;
    // for `<unk>` in a text those give what the model's first implementation makes of it: `▁<`, `unk`, `>`.
    check(&[
        ("Hello World!", 3),
        (
            "This is a very long text with a lot of weird characters, such as: . , ~ ? ( ) \" [ ] ! : - . Also we \
             will add words that should not exsist and be tokenized to <unk>, such as saoneuhaoesuth",
            61,
        ),
        ("This is a test", 4),
    ]);
}

#[test]
fn blanks_of_every_kind_separate_words_and_count_nothing() {
    check(&[
        ("", 0),
        (" \n\t\u{3000}", 0),
        ("  Hello \u{a0}\r\n World! \u{2003}", 3),
        ("This\u{3000}is\ta\n\ntest", 4),
    ]);
}

#[test]
fn control_symbols_in_a_text_are_text() {
    let Some(dir) = data_dir_with("e5") else { return };
    let counter = counter("xlm-r", &dir).unwrap();
    for symbol in ["<s>", "</s>", "<pad>", "<unk>", "<mask>"] {
        assert!(counter.count(symbol) > 1, "{symbol}");
    }
}

#[test]
fn composed_and_decomposed_letters_are_the_same() {
    let Some(dir) = data_dir_with("e5") else { return };
    let counter = counter("xlm-r", &dir).unwrap();
    for (composed, decomposed) in [
        ("falsé", "false\u{301}"),
        ("йод", "и\u{306}од"),
        ("한국", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}"),
    ] {
        assert_eq!(counter.count(composed), counter.count(decomposed), "{composed:?}");
    }
}

#[test]
fn a_megabyte_without_a_space_is_counted() {
    let Some(dir) = data_dir_with("e5") else { return };
    let counter = counter("xlm-r", &dir).unwrap();
    for unit in ["字", "ab1-", "я", "\u{e000}"] {
        let times = (1 << 20) / unit.len();
        let count = counter.count(&unit.repeat(times));
        assert!((1..=times * unit.len() + 1).contains(&count), "{unit:?}: {count}");
    }
}

#[test]
fn counts_add_up_where_the_counter_says_so() {
    let Some(dir) = data_dir_with("e5") else { return };
    let counter = counter("xlm-r", &dir).unwrap();
    let text = "Hello\n\u{301}world \u{200b} x\t\u{3000}字 \u{ad}\n \u{fb01}n ▁ a\u{a0}b\r\nc ё\u{308} \n";
    let count = counter.count(text);
    for (before, after) in text.char_indices().map(|(at, _)| text.split_at(at)) {
        if counter.adds_up(before, after) {
            assert_eq!(counter.count(before) + counter.count(after), count, "{before:?} {after:?}");
        }
    }
}
