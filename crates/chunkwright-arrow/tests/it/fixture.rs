//! Records to write: one written by hand, others random.

use chunkwright::record::{AdaptiveFields, Symbols};
use chunkwright::stats::TokenLevel;
use chunkwright::{ChunkId, Cut, PageBox, Part, Position, PositionUnit, SummaryKind};
use chunkwright_arrow::{Columns, Error, ExportRow, Reader, Record, Writer};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Numbers of the vectors here.
pub(crate) const DIMENSIONS: u16 = 3;

/// Every column there is.
pub(crate) const ALL: Columns =
    Columns { document: true, overlays: true, vector: Some(DIMENSIONS), sparse: true, codes: true };

/// The file of `rows`.
pub(crate) fn written(rows: &[ExportRow], columns: Columns) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), columns).unwrap();
    writer.write(rows).unwrap();
    writer.finish().unwrap()
}

/// All rows of `file`.
pub(crate) fn read(file: Vec<u8>) -> Result<Vec<ExportRow>, Error> {
    let mut rows = Vec::new();
    for batch in Reader::from_bytes(file)? {
        rows.extend(batch?);
    }
    Ok(rows)
}

/// A record with nothing that is optional.
pub(crate) fn plain(index: u32) -> Record {
    Record {
        chunk_id: ChunkId(u128::from(index).to_be_bytes()),
        doc_id: "guide.md".into(),
        artifact: None,
        chunk_index: index,
        total_chunks: 9,
        parent: "guide.md".into(),
        previous: None,
        next: None,
        content: "Welcome.".into(),
        context: String::new(),
        text: "Welcome.".into(),
        start_line: 1,
        end_line: 1,
        start_byte: 0,
        end_byte: 8,
        start_char: 0,
        end_char: 8,
        position: None,
        header_path: String::new(),
        section_path: Vec::new(),
        content_type: "paragraph".into(),
        chunk_type: "doc".into(),
        category: "doc".into(),
        language: None,
        prose_language: Some("ru".into()),
        symbols: None,
        imports: None,
        char_count: 8,
        word_count: 1,
        token_count: 2,
        tokenizer: "o200k".into(),
        token_level: TokenLevel::Normal,
        oversize: false,
        part: None,
        cut: Cut::Document,
        adaptive: None,
        strategy_version: "tree-v1.0".into(),
        preset: "auto".into(),
        config_hash: "c".into(),
        file_hash: "f".into(),
        indexed_at: None,
        properties: std::collections::BTreeMap::new(),
        meta: std::collections::BTreeMap::new(),
    }
}

/// Difficult texts: empty, with NUL, beyond the basic plane, longer than a page's statistics.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("\0".to_owned()),
        Just("null\0NULL \"quoted\", 'and'\r\n\t\\".to_owned()),
        Just("中文文档 — Привет, мир! 👩‍👩‍👧‍👦🇺🇳 e\u{301} \u{202e}rtl \u{feff}".to_owned()),
        Just("\u{10ffff}".repeat(300)),
        any::<String>(),
    ]
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    vec(text(), 0..4)
}

fn position() -> impl Strategy<Value = Position> {
    let unit = prop_oneof![
        Just(PositionUnit::Page),
        Just(PositionUnit::Slide),
        Just(PositionUnit::Sheet),
        Just(PositionUnit::Paragraph),
    ];
    let edges = (any::<u16>(), any::<u16>(), any::<u16>(), any::<u16>());
    let boxes = (any::<u32>(), edges, text()).prop_map(|(page, (left, top, right, bottom), block)| PageBox {
        page,
        left,
        top,
        right,
        bottom,
        block,
    });
    let numbers = (any::<u32>(), any::<u32>());
    (unit, numbers, vec(boxes, 0..3)).prop_map(|(unit, (first, last), boxes)| Position {
        unit,
        first,
        last,
        boxes,
    })
}

fn symbols() -> impl Strategy<Value = Symbols> {
    (option::of(text()), option::of(text()), option::of(text()), texts()).prop_map(
        |(function_name, class_name, parent_class, names)| Symbols {
            function_name,
            class_name,
            parent_class,
            names,
        },
    )
}

fn adaptive() -> impl Strategy<Value = AdaptiveFields> {
    (any::<bool>(), any::<bool>(), text(), any::<u32>()).prop_map(
        |(adaptive_chunking, is_complete_document, section_title, section_index)| AdaptiveFields {
            adaptive_chunking,
            is_complete_document,
            section_title,
            section_index,
        },
    )
}

fn level() -> impl Strategy<Value = TokenLevel> {
    prop_oneof![
        Just(TokenLevel::Normal),
        Just(TokenLevel::Warning),
        Just(TokenLevel::Large),
        Just(TokenLevel::Oversized),
    ]
}

/// Ids of a record and of its neighbours, and its named values.
fn ids() -> impl Strategy<Value = (ChunkId, Option<ChunkId>, Option<ChunkId>, Option<SummaryKind>, Cut)> {
    let id = || any::<[u8; 16]>().prop_map(ChunkId);
    let artifact = option::of(proptest::sample::select(SummaryKind::ALL));
    let cuts =
        [Cut::Document, Cut::Heading, Cut::BlankLine, Cut::Grapheme, Cut::Window, Cut::Summary, Cut::Unknown];
    (id(), option::of(id()), option::of(id()), artifact, proptest::sample::select(cuts.to_vec()))
}

/// Any record, also such as no chunker makes.
pub(crate) fn record() -> impl Strategy<Value = Record> {
    let required = (vec(text(), 14), vec(any::<u32>(), 11), texts(), level(), any::<bool>());
    let by_name = proptest::collection::btree_map(text(), text(), 0..3);
    let lists = proptest::collection::btree_map(text(), texts(), 0..3);
    let optional = (vec(option::of(text()), 3), option::of(texts()), by_name, lists);
    let nested = (
        option::of(position()),
        option::of(symbols()),
        option::of((any::<u32>(), any::<u32>())),
        option::of(adaptive()),
    );
    (required, optional, nested, ids()).prop_map(
        |(
            (texts, numbers, section_path, token_level, oversize),
            (options, imports, texts_by_name, lists_by_name),
            nested,
            ids,
        )| {
            let (mut texts, mut numbers) = (texts.into_iter(), numbers.into_iter());
            let mut options = options.into_iter();
            let mut text = || texts.next().unwrap();
            let mut option = || options.next().unwrap();
            let mut number = || numbers.next().unwrap();
            Record {
                chunk_id: ids.0,
                doc_id: text(),
                artifact: ids.3,
                chunk_index: number(),
                total_chunks: number(),
                parent: text(),
                previous: ids.1,
                next: ids.2,
                content: text(),
                context: text(),
                text: text(),
                start_line: number(),
                end_line: number(),
                start_byte: number(),
                end_byte: number(),
                start_char: number(),
                end_char: number(),
                position: nested.0,
                header_path: text(),
                section_path,
                content_type: text(),
                chunk_type: text(),
                category: text(),
                language: option(),
                prose_language: option(),
                symbols: nested.1,
                imports,
                char_count: number(),
                word_count: number(),
                token_count: number(),
                tokenizer: text(),
                token_level,
                oversize,
                part: nested.2.map(|(index, total)| Part { index, total }),
                cut: ids.4,
                adaptive: nested.3,
                strategy_version: text(),
                preset: text(),
                config_hash: text(),
                file_hash: text(),
                indexed_at: option(),
                properties: lists_by_name,
                meta: texts_by_name,
            }
        },
    )
}

/// Any row, with any document and vector.
pub(crate) fn row() -> impl Strategy<Value = ExportRow> {
    let number = prop_oneof![Just(0.0), Just(-0.0), Just(f32::INFINITY), any::<f32>()]
        .prop_filter("nothing equals NaN", |number| !number.is_nan());
    let sparse = option::of(vec((any::<u32>(), number.clone()), 0..4));
    (
        record(),
        option::of(text()),
        option::of(text()),
        option::of(vec(number, usize::from(DIMENSIONS))),
        sparse,
        option::of(vec(any::<u8>(), 0..40)),
    )
        .prop_map(|(record, document, overlays, vector, sparse, codes)| ExportRow {
            record,
            document,
            overlays,
            vector,
            sparse,
            codes,
            model: None,
        })
}
