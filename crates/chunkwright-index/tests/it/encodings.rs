//! Files in other encodings than UTF-8, from disk to search and back.

use chunkwright_index::{FetchOptions, Mode, SearchOptions, fetch};
use chunkwright_models::text_hash;

use crate::fixture::{Fixture, now};
use crate::kinds::for_each_local_store;

const CHINESE: &str = "# 指南\r\n\r\n启动之前必须先配置数据库连接，然后再运行程序。\r\n";
const RUSSIAN: &str = "# Руководство\n\nПеред запуском настройте подключение к базе данных.\n";
const GERMAN: &str = "# Anleitung\n\nDie Größe der Blöcke läßt sich ändern; über Größen später mehr.\n";
const JAPANESE: &str = "# 手引き\n\nデータベースに接続してから、プログラムを起動してください。\n";

fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to_bytes).collect()
}

fn legacy(label: &str, text: &str) -> Vec<u8> {
    encoding_rs::Encoding::for_label(label.as_bytes()).unwrap().encode(text).0.into_owned()
}

#[track_caller]
fn check(bytes: &[u8], encoding: &str, text: &str, query: &str) {
    for_each_local_store(|kind| {
        let fixture = Fixture::new(kind, &[("other.md", "# Other\n\nNothing to see.\n")]);
        fixture.write("a.md", bytes);
        assert_eq!(fixture.index().indexed, 2);
        let fetched = fetch(&*fixture.store, &now(&*fixture.store), "a.md", FetchOptions::default()).unwrap();
        assert_eq!(fetched.document.encoding, encoding);
        assert_eq!(fetched.text, text);
        assert_eq!(text_hash(&fetched.text), text_hash(text));
        assert!(fetched.bytes().unwrap() == bytes, "the bytes fetched are not those of the file");
        for record in &fetched.records {
            assert_eq!(record.content, text[record.start_byte as usize..record.end_byte as usize]);
            assert!(text.contains('\0') || !record.text.contains('\0'));
        }
        let options = SearchOptions { mode: Mode::Lexical, ..SearchOptions::default() };
        let hits = fixture.search(query, &options);
        assert!(hits.first().is_some_and(|hit| hit.starts_with("a.md")), "{kind}: {query} found {hits:?}");
        assert_eq!(fixture.index().unchanged, 2);
    });
}

#[test]
fn utf16_is_indexed_with_and_without_a_mark() {
    for (to_bytes, name) in
        [(u16::to_le_bytes as fn(u16) -> [u8; 2], "UTF-16LE"), (u16::to_be_bytes, "UTF-16BE")]
    {
        for (text, query) in [(CHINESE, "数据库"), (RUSSIAN, "базы данных"), (GERMAN, "Blöcke")]
        {
            check(&utf16(text, to_bytes), name, text, query);
            check(&utf16(&format!("\u{feff}{text}"), to_bytes), name, text, query);
        }
    }
}

#[test]
fn legacy_encodings_are_indexed() {
    check(&legacy("gbk", CHINESE), "GBK", CHINESE, "数据库连接");
    check(&legacy("windows-1251", RUSSIAN), "windows-1251", RUSSIAN, "подключения");
    check(&legacy("windows-1252", GERMAN), "windows-1252", GERMAN, "größe");
    check(&legacy("shift_jis", JAPANESE), "Shift_JIS", JAPANESE, "データベース");
    check(&legacy("iso-2022-jp", JAPANESE), "ISO-2022-JP", JAPANESE, "データベース");
    // Cyrillic KOI8-R and KOI8-U differ in letters that this text has not.
    check(&legacy("koi8-r", RUSSIAN), "KOI8-U", RUSSIAN, "подключения");
}

#[test]
fn utf8_keeps_its_mark_and_its_line_ends() {
    let text = "\u{feff}# Title\r\n\r\nFirst words.\rMore words.\r\n";
    check(text.as_bytes(), "UTF-8", text, "words");
}

#[test]
fn damaged_utf8_is_indexed_and_comes_back_unrepaired() {
    let mut bytes = RUSSIAN.as_bytes().to_vec();
    bytes.extend(b"tail \xF5\x80 end\n");
    let text = String::from_utf8_lossy(&bytes).into_owned();
    check(&bytes, "UTF-8", &text, "подключения");
}

#[test]
fn a_late_nul_is_text() {
    let text = format!("# Long\n\n{}\0 needle\n", "hay ".repeat(3000));
    check(text.as_bytes(), "UTF-8", &text, "needle");
}
