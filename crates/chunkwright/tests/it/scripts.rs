//! Scripts whose words have no spaces between them, and sentences that end with other marks than a full stop.

use std::sync::Arc;

use chunkwright::preset::preset;
use chunkwright::{Chars, ChunkConfig, Chunker, Cut, Document, PARSERS, TokenCounter, Unit, parse::Text};

use crate::invariants;

/// The contents of the chunks of `text` with at most `max_size` characters, with why each begins.
fn cut(strategy: &str, text: &str, max_size: usize) -> Vec<(Cut, String)> {
    let config = ChunkConfig {
        strategy: strategy.into(),
        unit: Unit::Chars,
        max_size,
        target_size: max_size * 3 / 4,
        min_size: max_size / 4,
        ..ChunkConfig::default()
    };
    let chunker = Chunker::new(config, Arc::new(Chars)).unwrap();
    let document = Document::parse("a.md", text, PARSERS[0]);
    let chunks = invariants::chunk(&chunker, &document);
    chunks.iter().map(|chunk| (chunk.cut, chunk.content().to_owned())).collect()
}

#[test]
fn a_sentence_ends_with_the_marks_of_its_script() {
    for (sentences, ends) in [
        ("यह पहला वाक्य है। यह दूसरा वाक्य थोड़ा लंबा है। क्या यह तीसरा है? ", "।?"),
        ("هل يمكن فتح الملف من القائمة؟ نعم يمكن ذلك بسهولة تامة، ثم نحفظ التغييرات؛ هذا هو النص. ", "؟؛."),
        ("یہ پہلا جملہ ہے۔ یہ دوسرا جملہ قدرے طویل ہے۔ ", "۔"),
        ("ဖိုင်ကိုဖွင့်ပါ။ ပြီးနောက်သိမ်းဆည်းပါ၊ ထို့နောက်ပိတ်ပါ။ ", "။"),
        ("Սա առաջին նախադասությունն է։ Սա երկրորդ նախադասությունն է։ ", "։"),
        ("នេះជាប្រយោគទីមួយ។ នេះជាប្រយោគទីពីរ។ ", "។"),
        ("ይህ የመጀመሪያው ዓረፍተ ነገር ነው። ይህ ሁለተኛው ነው። ", "።"),
        ("བོད་ཀྱི་སྐད་ཡིག་ནི། འདི་ནི་དཔེ་ཆ་ཡིན། ", "།"),
    ] {
        for strategy in ["tree", "sections", "adaptive", "recursive"] {
            let chunks = cut(strategy, &sentences.repeat(12), 160);
            assert!(chunks.len() > 2, "{strategy} {chunks:?}");
            for (_, content) in &chunks {
                assert!(content.ends_with(|c| ends.contains(c)), "{strategy}: {content:?}");
            }
        }
    }
}

/// Text without any space, by words.
const WORDS: &[&[&str]] = &[
    &[
        "ฉัน",
        "ชอบ",
        "กิน",
        "ข้าว",
        "เช้า",
        "ทุก",
        "วัน",
        "และ",
        "อ่าน",
        "ข่าว",
        "ตอน",
        "เย็น",
        "ที่",
        "บ้าน",
        "ของ",
        "ฉัน",
        "ใน",
        "กรุงเทพมหานคร",
    ],
    &["ຂ້ອຍ", "ມັກ", "ກິນ", "ເຂົ້າ", "ທຸກ", "ມື້", "ແລະ", "ອ່ານ", "ໜັງສື", "ຢູ່", "ເຮືອນ"],
    &["ខ្ញុំ", "ចូលចិត្ត", "ញ៉ាំ", "បាយ", "រាល់", "ថ្ងៃ", "និង", "អាន", "សៀវភៅ", "នៅ", "ផ្ទះ"],
    &["ကျွန်တော်", "ထမင်း", "စား", "တာ", "ကြိုက်", "တယ်", "စာအုပ်", "ဖတ်", "တယ်"],
];

#[test]
fn no_word_without_spaces_around_it_is_cut() {
    for words in WORDS {
        let text = words.concat().repeat(30);
        let mut borders = vec![0];
        for word in words.iter().cycle().take(words.len() * 30) {
            borders.push(borders[borders.len() - 1] + word.len());
        }
        for strategy in ["tree", "recursive", "window", "sections", "adaptive"] {
            let mut at = 0;
            let mut inside = Vec::new();
            let chunks = cut(strategy, &text, 120);
            for (_, content) in &chunks {
                if cfg!(feature = "dictionary") && !borders.contains(&at) {
                    inside.push(content.chars().take(8).collect::<String>());
                }
                assert!(!content.starts_with(depends), "{strategy}: {content:?}");
                assert!(
                    !content.ends_with([
                        'เ', 'แ', 'โ', 'ใ', 'ไ', 'ເ', 'ແ', 'ໂ', 'ໃ', 'ໄ', '\u{17d2}', '\u{1039}'
                    ])
                );
                at += content.len();
            }
            assert!(inside.is_empty(), "{strategy}: {} of {}: {inside:?}", inside.len(), chunks.len());
        }
    }
}

/// Whether `c` is a vowel or tone that belongs to the letter before it.
fn depends(c: char) -> bool {
    matches!(c, 'ะ'..='ฺ' | '็'..='๎' | 'ະ'..='ຼ' | '\u{102b}'..='\u{103e}' | '\u{17b4}'..='\u{17d3}')
}

#[test]
fn a_cut_falls_at_a_space_between_phrases() {
    let phrase = WORDS[0].concat() + " ";
    for (cut, content) in cut("tree", &phrase.repeat(20), 160).iter().skip(1) {
        assert_eq!((*cut, content.starts_with(WORDS[0][0])), (Cut::Word, true), "{content:?}");
    }
}

/// A token for each seven bytes: words counted alone have fewer than the text.
struct Sevenths;

impl TokenCounter for Sevenths {
    fn name(&self) -> &'static str {
        "estimate:sevenths"
    }

    fn count(&self, text: &str) -> usize {
        text.len() / 7
    }
}

#[test]
fn chunks_are_full_though_tokens_cross_the_borders_of_words() {
    for words in WORDS {
        for max_size in [60, 100, 160] {
            let config = ChunkConfig { max_size, target_size: max_size, ..preset("recursive").unwrap() };
            let chunker = Chunker::new(config, Arc::new(Sevenths)).unwrap();
            let document = Document::parse("a.txt", words.concat().repeat(30), &Text);
            let chunks = invariants::chunk(&chunker, &document);
            let sizes: Vec<usize> = chunks.iter().map(|chunk| chunk.size).collect();
            let full = sizes[..sizes.len() - 1].iter().filter(|&&size| size * 4 >= max_size * 3);
            assert_eq!(full.count(), sizes.len() - 1, "{max_size}: {sizes:?}");
        }
    }
}

#[test]
fn a_long_text_without_spaces_is_cut_whatever_its_marks() {
    for text in [
        "ก".repeat(20_000),
        "เ".repeat(20_000),
        "ก้".repeat(10_000),
        "\u{17d2}".repeat(9_000),
        "က\u{1039}".repeat(9_000),
    ] {
        let chunker = Chunker::new(ChunkConfig::default(), Arc::new(Chars)).unwrap();
        invariants::chunk(&chunker, &Document::parse("a.txt", text, &Text));
    }
}
