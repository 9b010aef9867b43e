//! Encodings: how bytes become text, and which bytes a stretch of the text was.

use chunkwright_source::decode::{decode, raw_range};
use encoding_rs::{Encoding, ISO_2022_JP};

#[track_caller]
fn check(bytes: &[u8], text: &str, encoding: &str) {
    let decoded = decode(bytes).expect("text");
    assert_eq!((&*decoded.text, decoded.encoding), (text, encoding));
}

fn utf16(text: &str, big_endian: bool) -> Vec<u8> {
    let bytes = |unit: u16| if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() };
    text.encode_utf16().flat_map(bytes).collect()
}

const ENGLISH: &str = "# Guide\n\nInstall the program, then run it.\n";
const CHINESE: &str = "# 指南\n\n先安装程序，然后运行它。数据库必须先启动。\n";
const RUSSIAN: &str =
    "# Руководство\n\nУстановите программу, затем запустите её. База данных уже работает.\n";
const JAPANESE: &str =
    "# 手引き\n\nプログラムをインストールしてから、実行してください。データベースを起動します。\n";

#[test]
fn utf8_keeps_its_bytes_and_its_mark() {
    check(b"\xEF\xBB\xBF# BOM\n", "\u{feff}# BOM\n", "UTF-8");
    check(CHINESE.as_bytes(), CHINESE, "UTF-8");
    check(b"", "", "UTF-8");
}

#[test]
fn utf16_is_read_with_and_without_a_mark() {
    for text in [ENGLISH, CHINESE, RUSSIAN, JAPANESE] {
        for (big_endian, name) in [(false, "UTF-16LE"), (true, "UTF-16BE")] {
            check(&utf16(text, big_endian), text, name);
            check(&utf16(&format!("\u{feff}{text}"), big_endian), text, name);
        }
    }
}

#[test]
fn utf32_is_read_with_a_mark() {
    let little: Vec<u8> =
        format!("\u{feff}{CHINESE}").chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    check(&little, CHINESE, "UTF-32LE");
    let big: Vec<u8> =
        format!("\u{feff}{CHINESE}").chars().flat_map(|c| u32::from(c).to_be_bytes()).collect();
    check(&big, CHINESE, "UTF-32BE");
}

#[test]
fn legacy_encodings_are_recognized() {
    for (label, text, name) in [
        ("gbk", CHINESE, "GBK"),
        ("big5", "# 指南\n\n先安裝程式，然後執行它。資料庫必須先啟動。\n", "Big5"),
        ("windows-1251", RUSSIAN, "windows-1251"),
        ("koi8-r", RUSSIAN, "KOI8-U"),
        ("shift_jis", JAPANESE, "Shift_JIS"),
        ("euc-jp", JAPANESE, "EUC-JP"),
        ("iso-2022-jp", JAPANESE, "ISO-2022-JP"),
        (
            "windows-1252",
            "Die Größe der Straße läßt sich ändern. Füße, Öl, Übung und müde Mäuse.\n",
            "windows-1252",
        ),
    ] {
        let (bytes, _, _) = Encoding::for_label(label.as_bytes()).unwrap().encode(text);
        check(&bytes, text, name);
    }
}

#[test]
fn a_declared_encoding_is_honoured() {
    check(
        b"# -*- coding: latin-1 -*-\ns = \"caf\xe9\"\n",
        "# -*- coding: latin-1 -*-\ns = \"café\"\n",
        "windows-1252",
    );
    check(b"<meta charset=\"koi8-r\">\xf4\xc5\xd3\xd4", "<meta charset=\"koi8-r\">Тест", "KOI8-R");
}

#[test]
fn a_guess_from_little_text_says_so() {
    assert!(decode(b"caf\xe9\n").unwrap().low_confidence);
}

#[test]
fn damaged_utf8_is_repaired_and_counted() {
    let cut_off = &"中文".as_bytes()[..5];
    let decoded = decode(cut_off).unwrap();
    assert_eq!((&*decoded.text, decoded.encoding, decoded.replacements), ("中\u{fffd}", "UTF-8", 1));
    let mut damaged = RUSSIAN.as_bytes().to_vec();
    damaged[20] = 0xFF;
    let decoded = decode(&damaged).unwrap();
    assert_eq!(decoded.encoding, "UTF-8");
    assert!(decoded.replacements > 0);
    assert_eq!(decoded.text.lines().count(), RUSSIAN.lines().count());
    assert_eq!(decode(b"\xed\xa0\xbd\xed\xb8\x80\n").unwrap().encoding, "UTF-8");
}

#[test]
fn binary_files_are_not_text() {
    let elf: Vec<u8> = b"\x7fELF".iter().copied().chain((0..=255).cycle().take(9000)).collect();
    let sqlite = [&b"SQLite format 3\0\x10\0\x01\x01\0\x40\x20\x20\0\0\0\x02"[..], &[0; 76]].concat();
    let tar =
        [&b"notes.md"[..], &[0; 92], b"0000644\0", &[0; 404], "Words of a note.\n".repeat(40).as_bytes()]
            .concat();
    // Like any compressed file: every byte is equally frequent.
    let mut state = 1_u32;
    let noise: Vec<u8> = (0..600)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect();
    for bytes in [
        &elf[..],
        &sqlite,
        &tar,
        &noise,
        b"%PDF-1.7\n%\xE2\xE3\xCF\xD3\n",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"\0asm\x01\0\0\0\x01\x07\x01\x60\x02",
        b"\0\0\x01\0\x01\0\x10\x10",
        b"one\0two\0three\0",
    ] {
        assert_eq!(decode(bytes), None, "{:?}", &bytes[..8.min(bytes.len())]);
    }
}

#[test]
fn one_nul_does_not_make_a_text_binary() {
    let long = RUSSIAN.repeat(100);
    for text in [ENGLISH, CHINESE, RUSSIAN, JAPANESE, &long, "", "fn main() {}\n"] {
        let places = (0..=text.len().min(200)).filter(|&at| text.is_char_boundary(at));
        for at in places.filter(|at| !text.is_empty() || *at == 0) {
            let with = [&text[..at], "\0", &text[at..]].concat();
            if with.len() < 8 {
                continue;
            }
            let decoded = decode(with.as_bytes()).unwrap_or_else(|| panic!("{with:?}"));
            assert_eq!((&*decoded.text, decoded.encoding, decoded.nuls), (&*with, "UTF-8", 1), "{at}");
        }
    }
    let (russian, _, _) = Encoding::for_label(b"windows-1251").unwrap().encode(RUSSIAN);
    let with = [&russian[..40], b"\0", &russian[40..]].concat();
    let decoded = decode(&with).unwrap();
    assert_eq!((decoded.encoding, decoded.nuls), ("windows-1251", 1));
    // In megabytes, one in each examined stretch.
    let many: String = (0..300).map(|_| format!("{}\0", "words of a text ".repeat(300))).collect();
    assert_eq!(decode(many.as_bytes()).map(|decoded| decoded.nuls), Some(300));
}

#[test]
fn lines_have_the_bytes_of_the_file_in_every_encoding() {
    let mut checked = 0;
    let mut check = |bytes: &[u8]| {
        let text = decode(bytes).expect("text").text;
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        // All stretches from line to line, and those of a character each.
        let lines: Vec<usize> =
            [0].into_iter().chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        for ends in [lines, ends] {
            let parts =
                ends.windows(2).map(|ends| &bytes[raw_range(bytes, &text, ends[0]..ends[1]).unwrap()]);
            let parts: Vec<&[u8]> = parts.collect();
            let last = raw_range(bytes, &text, ends[ends.len() - 1]..text.len()).unwrap();
            let whole = [parts.concat(), bytes[last].to_vec()].concat();
            assert!(whole == bytes, "{:?}", decode(bytes).map(|decoded| decoded.encoding));
            checked += 1;
        }
    };
    for text in [ENGLISH, CHINESE, RUSSIAN, JAPANESE] {
        for big_endian in [false, true] {
            check(&utf16(text, big_endian));
            check(&utf16(&format!("\u{feff}{text}"), big_endian));
            let utf32 = format!("\u{feff}{text}");
            let unit = |c: char| {
                if big_endian { u32::from(c).to_be_bytes() } else { u32::from(c).to_le_bytes() }
            };
            check(&utf32.chars().flat_map(unit).collect::<Vec<u8>>());
        }
        check(format!("\u{feff}{text}").as_bytes());
        check(&[text.as_bytes(), b"\xff\xfe and more\n", text.as_bytes()].concat());
        for label in [
            "gbk",
            "gb18030",
            "big5",
            "windows-1251",
            "koi8-r",
            "shift_jis",
            "euc-jp",
            "euc-kr",
            "iso-2022-jp",
        ] {
            let (bytes, _, unmappable) = Encoding::for_label(label.as_bytes()).unwrap().encode(text);
            if !unmappable {
                check(&bytes);
            }
        }
    }
    assert!(checked > 100, "{checked}");
    let (bytes, _, _) = ISO_2022_JP.encode("手引き\n二行\n");
    let text = decode(&bytes).unwrap().text;
    let second = raw_range(&bytes, &text, "手引き\n".len()..text.len()).unwrap();
    assert_eq!(&bytes[second], b"\x1b$BFs9T\x1b(B\n");
    assert_eq!(raw_range(b"other", &text, 0..1), None);
}

#[test]
fn a_late_nul_is_kept() {
    let mut bytes = b"text ".repeat(4000);
    bytes.extend(b"\0more\n");
    assert!(decode(&bytes).unwrap().text.ends_with("\0more\n"));
}
