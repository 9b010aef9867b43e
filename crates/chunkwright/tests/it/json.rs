//! The JSON of chunks, their ids and names.

use std::sync::Arc;

use chunkwright::{
    BlockKind, Chars, Chunk, ChunkConfig, ChunkId, Chunker, Cut, Document, PositionUnit, Positions,
    RecordContext, Section, SummaryKind, SymbolKind, Words, parse::Markdown,
};

use crate::invariants::{chunk, one_line};

#[test]
fn names_are_those_of_the_json() {
    let cuts =
        [Cut::Document, Cut::Item, Cut::BlankLine, Cut::Grapheme, Cut::Window, Cut::Summary, Cut::Unknown];
    for cut in cuts {
        assert_eq!(serde_json::to_value(cut).unwrap(), cut.as_str());
    }
    for kind in [BlockKind::Paragraph, BlockKind::Code, BlockKind::FrontMatter, BlockKind::ClassBody] {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
    }
    for kind in SummaryKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
    }
    for kind in [SymbolKind::Class, SymbolKind::Method, SymbolKind::Impl] {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
    }
}

#[test]
fn an_id_is_32_hex_digits() {
    let id = ChunkId([0x0f; 16]);
    assert_eq!(serde_json::to_value(id).unwrap(), "0f".repeat(16));
    assert_eq!("0F".repeat(16).parse::<ChunkId>(), Ok(id));
    for wrong in ["", "0f", &"0f".repeat(17), &"0g".repeat(16), &"é".repeat(16), &"+f".repeat(16)] {
        assert!(wrong.parse::<ChunkId>().is_err(), "{wrong}");
    }
}

#[test]
fn a_chunk_and_a_section_are_json_and_back() {
    let document = Document::parse("a.md", "# A\n\nOne.\n\n## B\n\nTwo.\n", &Markdown);
    let config = ChunkConfig { max_size: 8, target_size: 8, min_size: 0, ..ChunkConfig::default() };
    let chunker = Chunker::new(config, Arc::new(Words)).unwrap();
    let chunks = chunk(&chunker, &document).into_chunks();
    let json = serde_json::to_value(&chunks).unwrap();
    assert_eq!(json[0]["span"], serde_json::json!({"start": 0, "end": 9}));
    assert_eq!(json[1]["cut"], "heading");
    assert_eq!(serde_json::from_value::<Vec<Chunk>>(json).unwrap(), chunks);
    let json = serde_json::to_value(document.sections()).unwrap();
    assert_eq!(json[2]["kind"], serde_json::json!({"heading": 2}));
    assert_eq!(serde_json::from_value::<Vec<Section>>(json).unwrap(), document.sections());
}

#[test]
fn a_line_is_the_json_of_the_record_whatever_the_text_holds() {
    let signs: String = ('\0'..'\u{a1}')
        .chain(['\u{c2}', '“', '”', '…', '\u{2027}', '\u{2028}', '\u{2029}', '文', '😀'])
        .collect();
    let text: String =
        (0..20).map(|shift| format!("{}{signs}\n\n", &"12345678901234567890"[..shift])).collect();
    let front = "---\ntags: [a\u{2028}b, \"q\\\"\"]\ntitle: T\n---\n";
    let document = Document::parse("a \"b\".md", format!("{front}# A `\"` \u{85}\n\n{text}"), &Markdown);
    let mut positions = Positions::new(PositionUnit::Page);
    (1..4).for_each(|page| positions.push(page as usize * 90 - 90, page));
    let documents = [document.clone(), document.with_positions(positions)];
    let context = RecordContext {
        preset: "p\"".into(),
        file_hash: "00".into(),
        prose_language: Some("en".into()),
        category: "c\\".into(),
    };
    for document in &documents {
        for strategy in ["tree", "adaptive", "window"] {
            let sizes = ChunkConfig { max_size: 64, target_size: 50, min_size: 10, ..ChunkConfig::default() };
            let config = ChunkConfig { strategy: strategy.into(), ..sizes };
            let chunker = Chunker::new(config, Arc::new(Chars)).unwrap();
            let chunks = chunk(&chunker, document);
            let (lines, mut all) = (chunks.record_lines(&context), Vec::new());
            for chunk in &chunks {
                lines.add(chunk, &mut all);
            }
            let expected: String = chunks.records(&context).iter().map(one_line).collect();
            assert_eq!(String::from_utf8(all).unwrap(), expected);
            let has = |member: &str| expected.contains(&format!(",\"{member}\":"));
            assert!(has("part") && has("properties") && has("prose_language") && has("next"), "{expected}");
            assert_eq!(
                (has("position"), has("section_title")),
                (document.position(chunks[0].span).is_some(), strategy == "adaptive")
            );
        }
    }
}
