//! Invariants over generated documents, every strategy, preset, unit and counter.

use std::sync::Arc;

use chunkwright::{
    ChunkConfig, ChunkIn, Chunked, Chunker, ContextRule, Document, PARSERS, Parser, STRATEGIES, Unit, with_lf,
};
use proptest::prelude::*;

use crate::fixtures::{SAMPLES, SYNTAX, chunkers};
use crate::invariants::{self, chunk};
use crate::stride::one_in;

#[test]
fn every_sample_keeps_the_invariants_under_every_configuration() {
    for (name, source) in SAMPLES {
        for parser in PARSERS {
            let is_own = name.rsplit('.').next().is_some_and(|ending| parser.extensions().contains(&ending));
            for ending in ["\n", "\r\n", "\r"] {
                let source = source.replace('\n', ending);
                let document = Document::parse(*name, source, *parser);
                // Documents parsed as another format are cut in one configuration only.
                for chunker in &chunkers()[..if is_own { chunkers().len() } else { 1 }] {
                    chunk(chunker, &document);
                }
            }
        }
    }
}

/// The texts of chunks and their lines: everything that does not depend on the bytes that end a line.
fn said(chunks: &Chunked<'_>) -> Vec<impl PartialEq + std::fmt::Debug + use<>> {
    let said = |chunk: ChunkIn<'_>| {
        let lines = chunks.document().lines().lines(chunk.span);
        let content = with_lf(chunk.content()).into_owned();
        let text = chunk.render().into_text();
        (chunk.id, lines, chunk.cut, chunk.kind, chunk.size, chunk.part, content, text)
    };
    chunks.iter().map(said).collect()
}

/// `source` with each kind of line break in turn.
fn mixed(source: &str) -> String {
    let endings = ["\n", "\r\n", "\r"].into_iter().cycle();
    // An LF right after a lone CR would make one line break of two.
    let line = |(line, ending): (&str, &str)| [line, if line.is_empty() { "\r\n" } else { ending }].concat();
    source.split('\n').zip(endings).map(line).collect()
}

#[test]
fn a_document_gives_the_same_chunks_whatever_ends_its_lines() {
    for (name, source) in SAMPLES {
        let is_own = |parser: &&&'static dyn Parser| {
            name.rsplit('.').next().is_some_and(|ending| parser.extensions().contains(&ending))
        };
        let parser = *PARSERS.iter().find(is_own).expect("samples are named by their format");
        let expected = Document::parse(*name, *source, parser);
        let others = [source.replace('\n', "\r\n"), source.replace('\n', "\r"), mixed(source)];
        // The test above has the invariants of the first two.
        let others = others.map(|other| Document::parse(*name, other, parser)).into_iter();
        let others: Vec<_> = others.zip([false, false, true]).collect();
        for (document, _) in &others {
            assert_eq!(document.outline(), expected.outline(), "{name}");
        }
        for chunker in chunkers() {
            let expected = said(&chunker.chunk(&expected));
            for (document, is_mixed) in &others {
                let chunks = chunker.chunk(document);
                if *is_mixed {
                    invariants::all(&chunks);
                }
                assert_eq!(said(&chunks), expected, "{name} {:?}", chunker.config());
            }
        }
    }
}

#[test]
fn every_prefix_of_a_sample_is_a_document() {
    for (name, source) in SAMPLES {
        for (at, _) in source.char_indices().step_by(7) {
            for parser in PARSERS {
                invariants::model(&Document::parse(*name, &source[..at], *parser));
            }
        }
    }
}

/// Lists, quotes and headings under long titles, in three languages.
const MARKED: &[&str] = &[
    "# Operations handbook for the northern ferry line\n\n## Loading of vehicles and passengers\n\n- Check tickets\n- Close the ramp before departure\n  - Bow first\n    1. Captain confirms\n    2. Radio the harbour\n\n10. Depart\n\n> Quoted advice\n> > Deeper quoted advice, which is a little longer\n\n- [ ] Open task\n- [x] Done task\n\n-\n  Text below its marker\n\n### Incomprehensibilities\n",
    "# Руководство по эксплуатации северной линии\n\n## Погрузка пассажиров и автомобилей\n\n* Проверить билеты\n* Закрыть рампу перед отправлением\n  * Сначала носовую\n    1) Капитан подтверждает\n\n1. Отправление\n\n> Цитата\n\n- [ ] Достопримечательность\n\n### Превысокомногорассмотрительствующий\n",
    "# 北方渡轮航线操作手册第一版\n\n## 车辆与乘客的装载以及注意事项\n\n- 检查所有乘客的船票\n- 出发前关闭坡道\n  - 先关闭船首坡道\n    1. 船长确认\n\n> 引用的建议\n\n1. 出发\n\n### 装载顺序\n",
];

#[test]
fn a_marker_is_never_without_its_text() {
    const MARKERS: &[&str] =
        &["-", "*", "+", "1.", "2.", "10.", "1)", ">", "> >", "#", "##", "###", "- [", "- [ ]", "- [x]"];
    let mut torn = Vec::new();
    for strategy in STRATEGIES {
        for (max_size, unit) in
            (8..=64).step_by(4).flat_map(|size| [(size, Unit::Chars), (size, Unit::Tokens)])
        {
            for context in [ContextRule::None, ContextRule::Title, ContextRule::Path, ContextRule::Heading] {
                let config = ChunkConfig {
                    strategy: strategy.name().into(),
                    unit,
                    max_size,
                    target_size: max_size * 3 / 4,
                    min_size: max_size / 4,
                    context,
                    ..ChunkConfig::default()
                };
                let chunker = Chunker::new(config, Arc::new(invariants::Quads)).unwrap();
                for source in MARKED {
                    let document = Document::parse("a.md", *source, PARSERS[0]);
                    let chunks = chunk(&chunker, &document);
                    for (before, after) in chunks.iter().zip(chunks.iter().skip(1)) {
                        let content = before.content();
                        let line = content.rsplit('\n').next().unwrap_or_default();
                        let rest = &source[after.span.start as usize..];
                        let first = rest.trim_start().chars().next().map(String::from).unwrap_or_default();
                        if MARKERS.contains(&line.trim()) && chunker.fits(&format!("{line} {first}")) {
                            torn.push(format!(
                                "{} {max_size} {unit:?} {context:?}: {content:?} | {:?}",
                                strategy.name(),
                                after.content()
                            ));
                        }
                    }
                }
            }
        }
    }
    assert!(torn.is_empty(), "{} torn:\n{}", torn.len(), torn[..torn.len().min(12)].join("\n"));
}

#[test]
fn divided_fences_and_tables_are_well_formed() {
    for max_size in [60, 90, 200] {
        let config = ChunkConfig {
            unit: Unit::Chars,
            max_size,
            target_size: max_size * 3 / 4,
            min_size: max_size / 4,
            ..Default::default()
        };
        let chunker = Chunker::new(config, Arc::new(chunkwright::Chars)).unwrap();
        let rows: String = (0..50).map(|n| format!("| row {n} | value {} |\n", n * n)).collect();
        let lines: String = (0..50).map(|n| format!("let x{n} = {n};\n")).collect();
        let source = format!("# T\n\n```rust\n{lines}```\n\n| a | b |\n|---|---|\n{rows}");
        let document = Document::parse("a.md", source, PARSERS[0]);
        let chunks = chunk(&chunker, &document);
        assert!(chunks.len() > 10);
        invariants::well_formed(&chunks);
    }
}

#[test]
fn a_fence_that_fits_only_without_its_title_may_be_divided() {
    let parser = PARSERS.iter().find(|parser| parser.name() == "org").unwrap();
    let source = "******** deep\n# Heading\n#+BEGIN_SRC rust\nfn a() {}\n#+END_SRC\n";
    let document = Document::parse("a.org", source, *parser);
    for chunker in &chunkers() {
        assert!(!chunk(chunker, &document).is_empty());
    }
}

/// Random documents that once left out the title.
#[test]
fn a_section_is_named_beside_a_fence_without_room_and_above_a_heading_of_no_section() {
    let parser = PARSERS.iter().find(|parser| parser.name() == "asciidoc").unwrap();
    let table = "[%header,cols=\"1,2\"]\n|===\n|a |b\n\n|1\n|2\n\n|3 |4\n|===\n";
    for source in [
        format!("export const a = {{\n\n# not\n\n}}\n~~~~ md\n# Heading\n# Heading\n+\n{table}"),
        format!("export const a = {{\n\n# not\n\n}}\n# Heading\n# Heading\nTwo lines\n---------\n{table}"),
        "# Heading\n# Heading\n- item\n\n    para\n[discrete]\n== Not a section\nSetext\n===\n".to_owned(),
    ] {
        let document = Document::parse("a.adoc", source, *parser);
        for chunker in &chunkers() {
            assert!(!chunk(chunker, &document).is_empty());
        }
    }
}

/// Pieces that make trouble when they meet.
pub(crate) fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("# Heading\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("Setext\n===\n".to_owned()),
        Just("- item\n  - nested\n\n    para\n".to_owned()),
        Just("> quote\n> > deeper\n".to_owned()),
        Just("```\n".to_owned()),
        Just("~~~~ md\n".to_owned()),
        Just("| a | b |\n|---|---|\n| 1 | 2 |\n".to_owned()),
        Just("| a |\r\n|---|\r\n| 1 |\r\n".to_owned()),
        Just("# Heading\r\rtext\r- item\r".to_owned()),
        Just("\r".to_owned()),
        Just("<div>\n".to_owned()),
        Just("---\n".to_owned()),
        Just("+++\na = 1\n+++\n".to_owned()),
        Just("[^1]: note\n".to_owned()),
        Just("[a]: /b\n".to_owned()),
        Just("export const a = {\n\n# not\n\n}\n".to_owned()),
        Just("\u{feff}".to_owned()),
        Just("\u{0}\u{200b}\u{2028}".to_owned()),
        Just("👩‍👩‍👧‍👦🇩🇪🇫🇷e\u{301}\u{301}".to_owned()),
        Just("}\n)\n".to_owned()),
        Just("    code\n\tcode\n".to_owned()),
        Just("一段没有空格的中文。第二句！".to_owned()),
        Just("Предложение. Ещё одно, т. е. второе! ".to_owned()),
        "[a-z]{1,9}( [a-z]{1,9}){0,30}[.!?:]? ",
        "\\PC{0,40}",
        "[a-zA-Z0-9+/]{50,200}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_920 / one_in(20) as u32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_document_keeps_the_invariants(
        fragments in prop::collection::vec((fragment(), any::<bool>(), any::<prop::sample::Index>()), 0..30),
        pick in any::<prop::sample::Index>(),
    ) {
        for parser in PARSERS {
            // About half of a document is the format's own syntax, if it has some.
            let own = SYNTAX.iter().find(|(name, _)| *name == parser.name()).map_or(&[][..], |(_, own)| own);
            let source: String = fragments
                .iter()
                .map(|(common, is_own, pick)| if *is_own && !own.is_empty() { *pick.get(own) } else { common })
                .collect();
            let document = Document::parse("generated", source.as_str(), *parser);
            let lf = Document::parse("generated", with_lf(&source).as_ref(), *parser);
            let chunkers = chunkers();
            // One configuration a case for speed; `auto` always.
            for chunker in [&chunkers[0], pick.get(&chunkers)] {
                prop_assert_eq!(said(&chunk(chunker, &document)), said(&chunk(chunker, &lf)));
            }
        }
    }

    #[test]
    fn a_line_at_the_top_keeps_every_id_below_it(fragments in prop::collection::vec(fragment(), 1..20)) {
        let enough = "word ".repeat(80);
        let body = format!("# First\n\n{enough}\n\n# Second\n\n{enough}\n\n{}", fragments.concat());
        let auto = Chunker::new(ChunkConfig::default(), Arc::new(invariants::Quads)).unwrap();
        let parser: &dyn Parser = PARSERS[0];
        let before = Document::parse("a.md", body.as_str(), parser);
        let after = Document::parse("a.md", format!("A new line. {enough}\n\n{body}"), parser);
        let ids = |document: &Document| chunk(&auto, document).iter().map(|c| (c.id, c.content().to_owned())).collect::<Vec<_>>();
        let (before, after) = (ids(&before), ids(&after));
        for pair in &before {
            prop_assert!(after.contains(pair), "{pair:?} is gone");
        }
    }
}
