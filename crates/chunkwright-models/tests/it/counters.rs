//! Token counters: exact, whatever the text.

use std::path::Path;
use std::sync::Arc;

use chunkwright::TokenCounter;
use chunkwright_models::{COUNTERS, counter};
use proptest::prelude::*;

const TEXTS: &[&str] = &[
    "",
    " ",
    "The quick brown fox doesn't jump over the lazy dog's back; they've 12345 reasons.",
    "快速的棕色狐狸跳过了懒狗。它有 3 个理由，全部写在《指南》里！",
    "Быстрая коричневая лиса перепрыгнула через ленивую собаку; ещё 42 причины.",
    "👩‍👩‍👧‍👦 family 🇩🇪🇫🇷 flags e\u{301} combining \u{200b} zero width \u{feff}",
    "fn main() {\n\tlet HTTPServer = \"x\";\r\n\r\n    // camelCase, snake_case, SCREAMING_CASE\n}\n",
    "before <|endoftext|> after <|im_start|>system",
    "line\n\n\n   \n\t\t \u{a0}\u{3000} run of blanks   ",
    "I'll we'Re IT'S 'tis rock'n'roll ''s 's",
    "a\0b\u{1}\u{7f}///path//to/\n/x\r\r\n",
    "Ёлка ёж ІІ ѣ ӘӘӘ МОСКВАкамень camelЦаса",
    "١٢٣٤ ½ ² Ⅷ 12 3456789 1a2b3c",
];

fn openai(name: &str) -> (Arc<dyn TokenCounter>, &'static bpe_openai::Tokenizer) {
    let bare = if name == "o200k" { bpe_openai::o200k_base() } else { bpe_openai::cl100k_base() };
    (counter(name, Path::new("")).unwrap(), bare)
}

fn check(text: &str) {
    for name in ["o200k", "cl100k"] {
        let (cached, bare) = openai(name);
        let expected = bare.count(text);
        assert_eq!(cached.count(text), expected, "{name} of {text:?}");
        assert_eq!(cached.count(text), expected, "{name} of {text:?}, counted again");
    }
}

#[test]
fn openai_counts_equal_those_of_the_bare_encoding() {
    for text in TEXTS {
        check(text);
        check(&text.repeat(50));
    }
    check(&TEXTS.concat());
}

#[test]
fn openai_counts_of_texts_put_together_of_tokens_equal_those_of_the_bare_encoding() {
    for name in ["o200k", "cl100k"] {
        let (cached, bare) = openai(name);
        let tokens = bare.bpe.num_tokens() as u32;
        let mut random = 7_u32;
        let mut next = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            bare.bpe.token_bytes((random >> 8) % tokens)
        };
        for _ in 0..2000 {
            let mut text = Vec::new();
            (0..30).map(|_| next()).filter(|token| !token.is_ascii()).for_each(|token| text.extend(token));
            let text = String::from_utf8_lossy(&text);
            assert_eq!(cached.count(&text), bare.count(&*text), "{name} of {text:?}");
        }
    }
}

#[test]
fn openai_counts_are_those_published_for_the_encodings() {
    for (name, text, tokens) in [
        ("cl100k", "tiktoken is great!", 6),
        ("o200k", "tiktoken is great!", 6),
        ("cl100k", "<|endoftext|>", 7),
    ] {
        assert_eq!(openai(name).0.count(text), tokens, "{name} of {text:?}");
    }
}

#[test]
fn a_megabyte_without_a_space_is_counted() {
    for unit in ["a", "字", "ab1-", "\n", " \n", "=", "я"] {
        let text = unit.repeat((1 << 20) / unit.len());
        check(&text);
    }
}

#[test]
fn threads_share_a_counter_and_agree() {
    let (cached, bare) = openai("o200k");
    let text = TEXTS.join("\n");
    let expected = bare.count(&*text);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..50).for_each(|_| assert_eq!(cached.count(&text), expected)));
        }
    });
}

#[test]
fn every_listed_counter_answers_to_its_names_and_gives_an_empty_text_no_token() {
    for info in COUNTERS {
        for name in [&info.name].into_iter().chain(info.aliases) {
            let Ok(counter) = counter(name, Path::new("no such directory")) else { continue };
            assert_eq!(counter.name(), info.name);
            assert_eq!(counter.count(""), 0, "{name}");
        }
    }
}

#[test]
fn an_unknown_counter_is_refused_with_the_names_that_would_do() {
    let error = counter("gpt5", Path::new("")).err().unwrap().to_string();
    assert_eq!(
        error,
        format!(
            "unknown token counter `gpt5`; known are {}, or the path of a `tokenizer.json`",
            COUNTERS.iter().map(|info| format!("`{}`", info.name)).collect::<Vec<_>>().join(", ")
        )
    );
}

#[test]
fn a_missing_or_broken_tokenizer_file_is_named() {
    let error = counter("no/such/tokenizer.json", Path::new("")).err().unwrap().to_string();
    assert!(error.starts_with("cannot read the tokenizer `no/such/tokenizer.json`: "), "{error}");
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let error = counter(manifest, Path::new("")).err().unwrap().to_string();
    assert!(error.starts_with(&format!("`{manifest}` is not a tokenizer.json")), "{error}");
}

#[test]
fn a_tokenizer_file_counts_whole_texts_unpadded_with_special_tokens_as_text() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/wordpiece.json");
    let counter = counter(path, Path::new("")).unwrap();
    assert_eq!(counter.count(""), 0);
    assert_eq!(counter.count("hello"), 1);
    assert_eq!(counter.count("hello unknown worlds"), 4);
    assert_eq!(counter.count(&"hello ".repeat(100)), 100, "the file truncates to 8");
    assert_eq!(counter.count("[SEP]"), 3, "brackets and a word, not a special token");
}

/// If a counter says that counts add up, they do, and what it counts on the way to the end is the count of that.
fn adds_up(text: &str) {
    for info in COUNTERS {
        let Ok(counter) = counter(info.name, Path::new("")) else { continue };
        let count = counter.count(text);
        for (at, _) in text.char_indices() {
            let (before, after) = text.split_at(at);
            if before.ends_with(|c: char| !c.is_whitespace()) {
                let (whole, part) = counter.count_to(text, at);
                assert_eq!(whole, count);
                assert_eq!(
                    part.unwrap_or_else(|| counter.count(before)),
                    counter.count(before),
                    "{} to {at} of {text:?}",
                    info.name
                );
            }
            if counter.adds_up(before, after) {
                assert_eq!(
                    counter.count(before) + counter.count(after),
                    count,
                    "{} at {at} of {text:?}",
                    info.name
                );
            }
        }
    }
}

#[test]
fn counts_add_up_where_a_counter_says_so() {
    for text in TEXTS {
        for other in TEXTS {
            adds_up(&[text, "\n", other].concat());
        }
    }
}

proptest! {
    #[test]
    fn counts_of_any_text_add_up_where_a_counter_says_so(
        text in prop::collection::vec(
            prop_oneof![
                "[ \t\r\n]{1,4}", "\n", "[a-zA-Z]{1,4}", "[0-9]{1,5}", "[!-/:-@]{1,3}", "'(s|t|re|LL|x)", "[а-я]{1,3}",
                "[一-龥]{1,3}", "\\PC{1,3}", "[\u{80}-\u{3000}]{1,2}", "[/\r\n]{1,3}",
            ],
            0..24,
        ),
    ) {
        adds_up(&text.concat());
    }

    #[test]
    fn openai_counts_of_any_text_equal_those_of_the_bare_encoding(
        text in prop::collection::vec(
            prop_oneof![
                "[ \t\r\n]{1,4}", "[a-zA-Z]{1,8}", "[0-9]{1,5}", "[!-/:-@]{1,3}", "'(s|t|re|LL|x)",
                "[а-яёА-ЯЁ]{1,5}", "[一-龥]{1,3}", "[ѐ-џ]{1,2}", "\\PC{1,3}", "[\u{80}-\u{3000}]{1,2}", "[/\r\n]{1,3}",
            ],
            0..24,
        ),
    ) {
        check(&text.concat());
    }
}

#[cfg(unix)]
#[test]
fn a_hostile_tokenizer_file_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokenizer.json");
    let check = |reason: &str| {
        let error = counter(path.to_str().unwrap(), Path::new("")).err().expect(reason).to_string();
        assert!(error.contains(reason), "{error}");
    };
    let model = r#""model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}"#;
    let with = |normalizer: &str| format!(r#"{{"version": "1.0", "normalizer": {normalizer}, {model}}}"#);
    let doubled = r#"{"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}"#;

    let usual = [
        r#"{"type": "Prepend", "prepend": "▁"}"#,
        r#"{"type": "Replace", "pattern": {"String": " "}, "content": "▁"}"#,
    ];
    let usual = format!(r#"{{"type": "Sequence", "normalizers": [{}]}}"#, usual.join(","));
    std::fs::write(&path, with(&usual)).unwrap();
    assert!(counter(path.to_str().unwrap(), Path::new("")).is_ok());

    let steps = vec![doubled; 40].join(",");
    std::fs::write(&path, with(&format!(r#"{{"type": "Sequence", "normalizers": [{steps}]}}"#))).unwrap();
    check("times as long");
    std::fs::write(&path, with(&doubled.replace("aa", &"a".repeat(1 << 20)))).unwrap();
    check("times as long");
    // A merge shorter than the prefix that is cut off it.
    let merges = r#"{"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]], "continuing_subword_prefix": "@@@@"}"#;
    std::fs::write(&path, format!(r#"{{"version": "1.0", "model": {merges}}}"#)).unwrap();
    check("is not a tokenizer.json");
    std::fs::File::create(&path).unwrap().set_len((64 << 20) + 1).unwrap();
    check("more than 67108864 bytes");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    check("not a regular file");
    std::fs::remove_dir(&path).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    check("not a regular file");
}
