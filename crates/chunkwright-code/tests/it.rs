//! Outlines of source code: sections, blocks and seams, for every language in the registry.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

// Invariants of every document, and the runner of `tests/spec`.
#[allow(dead_code, reason = "tests of the core use the rest of it")]
#[path = "../../chunkwright/tests/it/invariants.rs"]
mod invariants;
#[path = "../../chunkwright/tests/it/spec.rs"]
mod spec;

#[path = "../../chunkwright/tests/it/stride.rs"]
mod stride;

#[path = "it/bounds.rs"]
mod bounds;
#[path = "it/broken.rs"]
mod broken;
#[path = "it/by_line.rs"]
mod by_line;
#[path = "it/component.rs"]
mod component;
#[path = "it/embedded.rs"]
mod embedded;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::{env, fs};

use chunkwright::preset::PRESETS;
use chunkwright::{ChunkIn, Chunker, Document, PARSERS, Parser, SectionKind, Words, with_lf};
use chunkwright_code::{LANGUAGES, LEFT_OUT, language_for, language_named};
use proptest::prelude::*;
use stride::one_in;

/// Whether the grammar that reads a file is part of this build. With `languages-all` every grammar is, so nothing is
/// skipped unnoticed.
fn is_built_in(name: &str, source: &str) -> bool {
    let Some(parser) = language_for(name, source) else { return false };
    let built_in = !LEFT_OUT.iter().any(|plain| std::ptr::addr_eq(plain, parser));
    assert!(built_in || cfg!(not(feature = "languages-all")), "`{name}` has no grammar");
    built_in
}

/// The samples, by name: a file of each language that is built in, in `tests/samples`.
fn samples() -> &'static [(String, String)] {
    static SAMPLES: OnceLock<Vec<(String, String)>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let samples = files.map(|path| (name(&path), fs::read_to_string(&path).unwrap()));
        let mut samples: Vec<_> = samples.filter(|(name, source)| is_built_in(name, source)).collect();
        samples.sort();
        samples
    })
}

/// The parsers whose formats the specification may name.
fn parsers() -> impl Iterator<Item = &'static dyn Parser> {
    let plain = chunkwright_code::PLAIN.iter().map(|parser| parser as _);
    PARSERS.iter().copied().chain(LANGUAGES.iter().map(|&parser| parser as _)).chain(plain)
}

/// Documents of the specification know the languages of their blocks of code.
fn with_languages(document: Document) -> Document {
    document.with_languages(language_named)
}

fn parse(name: &str, source: &str) -> Document {
    let parser = language_for(name, source).expect("a language");
    let document = Document::parse(name, source, parser);
    assert_tiles(&document);
    document
}

/// Every visible byte is in exactly one block; blocks are in order, and so are sections.
fn assert_tiles(document: &Document) {
    let source = document.source();
    let blank = |c: char| c.is_whitespace() || c == '\u{feff}';
    let mut end = 0;
    for block in document.blocks() {
        assert!(block.span.start as usize >= end, "block {block:?} overlaps the one before in\n{source}");
        let between = &source[end..block.span.start as usize];
        assert!(between.chars().all(blank), "lost {between:?} of\n{source}");
        assert!(!block.span.is_empty());
        end = block.span.end as usize;
    }
    assert!(source[end..].chars().all(blank), "lost {:?} of\n{source}", &source[end..]);
    for section in document.sections() {
        assert!(
            source.get(section.span.range()).is_some() && source.get(section.signature.range()).is_some()
        );
        if let Some(parent) = section.parent {
            let parent = document.section(parent).span;
            assert!(
                parent.start <= section.span.start && section.span.end <= parent.end,
                "{section:?}\n{source}"
            );
        }
    }
    assert!(document.sections().is_sorted_by_key(|section| section.span.start));
}

/// One line a block: its lines, kind, path, and the lines of its seams with their depths.
fn render(document: &Document) -> String {
    let mut out = String::new();
    for block in document.blocks() {
        let (first, last) = document.lines().lines(block.span);
        let _ = write!(out, "{first}-{last} {:?}", block.kind);
        let path = document.titles(block.section).join(" > ");
        if !path.is_empty() {
            let _ = write!(out, " {path}");
        }
        for seam in document.seams(block.span) {
            let _ = write!(out, " {}:{}", document.lines().line(seam.at), seam.depth);
        }
        out.push('\n');
    }
    out
}

/// Asserts the blocks of `source`, one a line as [`render`] writes them.
#[track_caller]
fn check(name: &str, source: &str, expect: &str) {
    if !is_built_in(name, source) {
        return;
    }
    let expect: Vec<&str> = expect.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let actual = render(&parse(name, source));
    assert_eq!(actual.lines().collect::<Vec<_>>(), expect, "blocks of\n{source}");
}

/// Asserts the sections of `source`: kind, path, lines and signature.
#[track_caller]
fn check_sections(name: &str, source: &str, expect: &[&str]) {
    if !is_built_in(name, source) {
        return;
    }
    let document = parse(name, source);
    let mut actual = Vec::new();
    for (id, section) in (0..).zip(document.sections()).skip(1) {
        let (first, last) = document.lines().lines(section.span);
        let SectionKind::Symbol(kind) = section.kind else { panic!("{section:?} is no symbol") };
        let path = document.titles(chunkwright::SectionId(id)).join(" > ");
        actual.push(format!("{kind:?} {path} {first}-{last} `{}`", section.signature.of(source)));
    }
    assert_eq!(actual, expect);
}

#[test]
fn every_language_gives_the_same_chunks_whatever_ends_its_lines() {
    for preset in PRESETS {
        let chunker = Chunker::new((preset.config)(), Arc::new(Words)).unwrap();
        let said = |name: &str, source: &str| -> Vec<_> {
            let document = parse(name, source);
            let lines = |chunk: ChunkIn<'_>| document.lines().lines(chunk.span);
            let chunks = chunker.chunk(&document);
            chunks
                .iter()
                .map(|chunk| (chunk.id, lines(chunk), with_lf(chunk.content()).into_owned()))
                .collect()
        };
        for (name, source) in samples() {
            let expected = said(name, source);
            for ending in ["\r\n", "\r"] {
                assert_eq!(said(name, &source.replace('\n', ending)), expected, "{name} by {}", preset.name);
            }
        }
    }
}

#[test]
fn python_symbols_are_sections() {
    check_sections(
        "a.py",
        "@final\nclass Shape(Base):\n    class Meta:\n        x = 1\n\n    async def area(\n        self,\n    ) -> int:\n        \
         def inner(): ...\n        return 1\n\ndef main(): pass\n",
        &[
            "Class Shape 1-10 `class Shape(Base):`",
            "Class Shape > Meta 3-4 `    class Meta:`",
            "Method Shape > area 6-10 `    async def area(\n        self,\n    ) -> int:`",
            "Function Shape > area > inner 9-9 `        def inner():`",
            "Function main 12-12 `def main():`",
        ],
    );
}

#[test]
fn rust_symbols_are_sections_and_an_implementation_has_the_name_of_its_type() {
    check_sections(
        "a.rs",
        "impl<T> fmt::Display for &Foo<T> {\n    fn fmt(&self) {}\n}\ntrait Draw {\n    fn draw(&self);\n}\n\
         struct P(u32);\nenum E { A }\nmacro_rules! m {\n    () => {};\n}\nmod tests {\n    fn works() {}\n}\n",
        &[
            "Impl Foo 1-3 `impl<T> fmt::Display for &Foo<T> {`",
            "Method Foo > fmt 2-2 `    fn fmt(&self) {`",
            "Trait Draw 4-6 `trait Draw {`",
            "Method Draw > draw 5-5 `    fn draw(&self);`",
            "Struct P 7-7 `struct P(u32);`",
            "Enum E 8-8 `enum E {`",
            "Macro m 9-11 `macro_rules! m {`",
            "Module tests 12-14 `mod tests {`",
            "Function tests > works 13-13 `    fn works() {`",
        ],
    );
}

/// `tests/outlines` holds for each sample its sections with their lines and signatures, then its imports.
/// `UPDATE_SPEC=1` rewrites the files.
#[test]
fn samples_have_the_outlines_that_are_written_down() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outlines");
    let mut wrong = Vec::new();
    for (name, source) in samples() {
        let document = parse(name, source);
        let mut actual = String::new();
        for (id, section) in (0..).zip(document.sections()).skip(1) {
            let (first, last) = document.lines().lines(section.span);
            let SectionKind::Symbol(kind) = section.kind else { panic!("{section:?} is no symbol") };
            let path = document.titles(chunkwright::SectionId(id)).join(" > ");
            let signature =
                section.signature.of(source).lines().map(str::trim).collect::<Vec<_>>().join(" | ");
            let _ = writeln!(actual, "{first}-{last} {} {path}: {signature}", kind.name());
        }
        for import in document.imports() {
            let _ = writeln!(actual, "import {}", import.replace('\n', " | "));
        }
        let path = folder.join(format!("{name}.txt"));
        if env::var_os("UPDATE_SPEC").is_some() {
            fs::write(&path, &actual).unwrap();
        } else if fs::read_to_string(&path).unwrap_or_default() != actual {
            wrong.push(format!("{name}:\n{actual}"));
        }
    }
    assert!(wrong.is_empty(), "outlines are not as written: {}", wrong.join("\n"));
}

#[test]
fn a_signature_is_at_most_five_lines() {
    let source = "def f(\n    a,\n    b,\n    c,\n    d,\n    e,\n):\n    pass\n";
    check_sections("a.py", source, &["Function f 1-8 `def f(\n    a,\n    b,\n    c,\n    d,`"]);
}

#[test]
fn decorators_attributes_and_comments_directly_above_travel_with_a_symbol() {
    check(
        "a.py",
        "# free\n\n# above\n@a\n@b(\n    1)\n# between\ndef f():\n    pass\n\nclass C:\n    # above\n\n    # of f\n    \
         @property\n    def f(self): ...\n",
        "1-1 Comment
         3-9 Function f
         11-12 ClassBody C
         14-16 Function C > f",
    );
    check(
        "a.rs",
        "// free\n\n/// Doc.\n#[derive(Debug)]\n\n// between\npub struct S;\n\n/** Doc. */\n#[test] fn f() {}\n",
        "1-1 Comment
         3-7 ClassBody S
         9-10 Function f",
    );
}

#[test]
fn a_comment_behind_a_statement_stays_with_it() {
    check(
        "a.py",
        "x = 1  # of x\ndef f(): pass  # of f\ndef g(): pass\n# last\n",
        "1-1 Statement
         2-2 Function f
         3-3 Function g
         4-4 Comment",
    );
    check(
        "a.rs",
        "mod a {\n    fn f() {}\n} // of a\n// last\n",
        "1-1 Statement a
         2-3 Function a > f
         4-4 Comment",
    );
}

#[test]
fn a_run_of_imports_is_one_block_and_each_import_is_listed() {
    let source = "\"\"\"Doc.\"\"\"\n# about os\nimport os\n\nfrom a import (\n    b,\n)\nX = 1\ndef f():\n    import c\n    import os\n    pass\n";
    check(
        "a.py",
        source,
        "1-1 Comment
         2-7 Import 5:0
         8-8 Statement
         9-12 Function f 11:0 12:0",
    );
    assert_eq!(parse("a.py", source).imports(), ["import os", "from a import (\n    b,\n)", "import c"]);
    let source =
        "//! Doc.\nextern crate a;\nuse b::{\n    c,\n};\n\n#[cfg(test)]\nmod tests;\n#![allow(x)]\n";
    check(
        "a.rs",
        source,
        "1-1 Comment
         2-8 Import 3:0 7:0
         9-9 Statement",
    );
    assert_eq!(parse("a.rs", source).imports(), ["extern crate a;", "use b::{\n    c,\n};", "mod tests;"]);
}

#[test]
fn what_a_class_has_beside_its_methods_is_blocks_of_the_class() {
    check(
        "a.py",
        "@d\nclass C:\n    \"\"\"Doc.\"\"\"\n\n    # of x\n    x = 1\n    y = 2\n    def f(self): ...\n    z = 3\n\n    # last\n",
        "1-7 ClassBody C 5:0 7:0
         8-8 Function C > f
         9-11 ClassBody C 11:0",
    );
    check(
        "a.rs",
        "impl C {\n    const X: u8 = 1;\n    fn f() {}\n    type T = u8;\n}\nstruct D {\n    a: u8,\n    // of b\n    b: u8,\n}\n",
        "1-2 ClassBody C
         3-3 Function C > f
         4-5 ClassBody C
         6-10 ClassBody D 8:0",
    );
}

#[test]
fn seams_are_the_starts_of_statements_and_of_the_comments_above_them() {
    check(
        "a.py",
        "def f():\n    \"\"\"Doc.\"\"\"\n    # of a\n    a = 1; b = 2\n    if a:\n        c = 3\n        # of d\n\n        d = 4\n    \
         else:\n        pass\n    return [\n        1,\n        2,\n    ]\n",
        "1-15 Function f 3:0 5:0 7:1 9:1 10:1 12:0 14:1",
    );
    check(
        "a.rs",
        "fn f() {\n    a();\n    match x {\n        A => 1,\n        // of B\n        B => {\n            b();\n            c();\n        }\n    }\n    fn g() {\n        d();\n        e()\n    }\n}\n",
        "1-15 Function f 3:0 5:1 8:2 11:0 13:1",
    );
}

#[test]
fn a_statement_that_holds_symbols_is_opened_and_one_that_holds_none_is_whole() {
    check(
        "a.py",
        "if A:\n    import a\n    x = 1\n\ntry:\n    import b\nexcept ImportError:\n    # of f\n    def f(): ...\n    b = None\nclass C:\n    \
         if T:\n        @overload\n        def m(self): ...\n    n = 1\n",
        "1-3 Statement 3:0
         5-7 Statement 7:0
         8-9 Function f
         10-10 Statement
         11-12 ClassBody C
         13-14 Function C > m
         15-15 ClassBody C",
    );
}

#[test]
fn offsets_are_bytes_whatever_stands_before_the_code() {
    check(
        "a.py",
        "\u{feff}# 中文 комментарий 🦀👩‍👩‍👧\n\nимя = '日本語'\nclass Ключ:\n    def 方法(self):\n        return '🦀'\n",
        "1-1 Comment
         3-3 Statement
         4-4 ClassBody Ключ
         5-6 Function Ключ > 方法",
    );
    check(
        "a.rs",
        "// 中文 🦀\n\nconst Я: &str = \"日本\";\nstruct 型;\nimpl 型 {\n    /// Док.\n    fn ф(&self) -> &str { \"🦀\" }\n}\n",
        "1-1 Comment
         3-3 Statement
         4-4 ClassBody 型
         5-5 ClassBody 型
         6-8 Function 型 > ф",
    );
}

#[test]
fn what_guards_a_header_is_no_group() {
    check(
        "a.h",
        "/* Doc. */\n#ifndef A_H\n#define A_H\n\n#include <b.h>\n#include <c.h>\n\nint x;\n\n// of f\nAPI_EXPORT\nint \
         f(void) { return 1; }\n\n#endif\n",
        "1-2 Statement
         3-3 Statement
         5-6 Import 6:0
         8-8 Statement
         10-12 Function f
         14-14 Statement",
    );
}

#[test]
fn annotations_in_a_declaration_are_no_part_of_its_signature() {
    check_sections(
        "a.java",
        "@A\n@B(1)\npublic class C {\n    @D void f() {}\n    @E\n    // of g\n    private int g() {}\n}\n",
        &[
            "Class C 1-8 `public class C {`",
            "Method C > f 4-4 `    @D void f() {`",
            "Method C > g 5-7 `    private int g() {`",
        ],
    );
    check_sections("a.php", "<?php\n#[A]\nclass C {}\n", &["Class C 1-3 `class C {`"]);
}

#[test]
fn line_breaks_of_any_kind_give_the_same_outline() {
    for (name, source) in samples() {
        assert_eq!(
            render(&parse(name, &source.replace('\n', "\r\n"))),
            render(&parse(name, source)),
            "{name}"
        );
        parse(name, &source.replace('\n', "\r"));
    }
    check(
        "a.py",
        "def f():\r\n\tif a:\r\n\t    b\r\n\r\n\x0c\r\ndef g():\r\n\tpass\r\n",
        "1-3 Function f\n6-7 Function g",
    );
}

#[test]
fn symbols_beside_broken_syntax_keep_their_names() {
    check(
        "a.py",
        "def a():\n    pass\n\nx = = 1)\n\ndef b():\n    pass\n",
        "1-2 Function a
         4-4 Statement
         6-7 Function b",
    );
    check(
        "a.rs",
        "fn a() {}\n\n= ] 1 2\n\nstruct S;\n\nimpl S {\n    fn b() { let }\n    fn c() {}\n}\n",
        "1-1 Function a
         3-3 Statement
         5-5 ClassBody S
         7-7 ClassBody S
         8-8 Function S > b
         9-10 Function S > c",
    );
}

#[test]
fn source_that_is_no_code_is_cut_at_blank_lines() {
    for (name, _) in samples() {
        check(name, "", "");
        check(name, " \n\t\n", "");
    }
    for name in ["a.py", "a.rs", "a.java"] {
        check(name, "a ((( b [[\n{{ c\n\n(( d [[ e\n[[[ f\n", "1-2 Statement\n4-5 Statement");
    }
}

#[test]
fn prefixes_of_a_sample_tile() {
    for (name, source) in samples() {
        // So that the ends stand in all parts of lines; all ends of all samples take minutes.
        for (end, _) in source.char_indices().step_by(13 * one_in(3)) {
            parse(name, &source[..end]);
        }
    }
}

#[test]
fn every_sample_without_one_of_its_lines_tiles() {
    for (name, source) in samples() {
        let lines: Vec<&str> = source.split_inclusive('\n').collect();
        for skipped in (0..lines.len()).step_by(one_in(3)) {
            let kept = lines.iter().enumerate().filter(|&(index, _)| index != skipped);
            parse(name, &kept.map(|(_, line)| *line).collect::<String>());
        }
    }
}

/// Sources that nest, repeat or confuse without end.
fn hostile() -> Vec<(&'static str, String)> {
    let n = 20_000 / one_in(2);
    let indented = |line: &str| {
        let lines: Vec<String> = (0..300).map(|depth| " ".repeat(depth) + line + "\n").collect();
        lines.concat()
    };
    vec![
        // Grammars that look for the end of a comment or string from wherever one could begin.
        ("a.lua", "--[==[ x\nlocal a = [[ }(\n".repeat(n)),
        ("a.jl", "#= x\na = \"\"\" }(\n".repeat(n)),
        ("a.dart", "(".repeat(10 * n)),
        ("a.scala", "(".repeat(10 * n)),
        // Looked for errors with a search from the root for each node.
        ("a.php", "<?php if(1): ?>\n".repeat(n)),
        ("a.php", "<?php if(1): ?>a b\n\n".repeat(n)),
        ("a.py", "(".repeat(n)),
        ("a.py", format!("x = {}{}", "[".repeat(n), "]".repeat(n))),
        ("a.py", "[\n".repeat(n)),
        ("a.py", "\"\"\"".repeat(n + 1)),
        ("a.py", "def (\n".repeat(n)),
        ("a.py", "@a\n".repeat(n)),
        ("a.py", "s<s<sq<(qqX<".repeat(n)),
        ("a.py", "if a:\n  pass\n".to_string() + &"elif b:\n  pass\n".repeat(n)),
        ("a.py", indented("class A:")),
        ("a.py", indented("if x:")),
        ("a.py", "x\0".repeat(n)),
        ("a.cpp", "ABCD(".repeat(n)),
        ("a.cpp", "class ABCD ".repeat(n)),
        ("a.cpp", "AB_CD\n".repeat(n)),
        ("a.rs", "mod a {\n".repeat(n)),
        ("a.rs", "mod a {\n".repeat(n) + &"}\n".repeat(n)),
        ("a.rs", "fn a() {\n".repeat(n) + &"}\n".repeat(n)),
        ("a.rs", format!("fn f() {{ {} }}", "a<".repeat(n))),
        ("a.rs", "fn a() {} ".repeat(n)),
        ("a.rs", "impl X { fn }\n".repeat(n)),
        ("a.rs", "fn a() {}".to_string() + &" /*a*/".repeat(n)),
        ("a.rs", "{\n".repeat(n)),
        ("a.rb", format!("x = <<\"{}\"\n", "a\n".repeat(300))),
        ("a.rb", format!("f <<~{}\n", "A".repeat(300))),
        ("a.sh", format!("cat <<{}\n", "A".repeat(300))),
        ("a.tf", format!("a = <<{}\n", "A".repeat(300))),
        ("a.hs", "f x = x\n".repeat(n)),
        ("a.nix", "{ a = ".repeat(n)),
        ("a.jl", "module A\n".repeat(n)),
        ("a.jl", "@a ".repeat(n)),
        ("a.ml", "let f x = ".repeat(n)),
        ("a.mk", "ifdef A\n".repeat(n)),
        ("a.css", "a {\n".repeat(n)),
        ("a.sql", "SELECT (".repeat(n)),
        ("a.r", "f <- function() {\n".repeat(n)),
        ("a.ps1", "function a {\n".repeat(n)),
        ("a.erl", "f() -> [".repeat(n)),
    ]
}

#[test]
fn hostile_source_neither_panics_nor_overflows_a_small_stack() {
    let parsed = std::thread::Builder::new().stack_size(256 << 10).spawn(|| {
        for (name, source) in hostile() {
            parse(name, &source);
        }
    });
    parsed.unwrap().join().unwrap();
}

#[test]
fn source_that_costs_too_much_to_parse_is_cut_at_blank_lines() {
    let entry = "    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],\n";
    let source = format!("def f():\n    pass\n\nx = [\n{}]\n\ny = 1\n", entry.repeat(300_000));
    let document = parse("a.py", &source);
    assert_eq!(document.language(), Some("python"));
    assert_eq!(document.outline(), "f\n");
    assert_eq!(document.blocks().len(), 3);
}

#[test]
fn a_language_is_known_by_file_name_extension_or_interpreter() {
    let known = |name: &str, line: &str| language_for(name, line).map(Parser::name);
    assert_eq!(known("src/app.py", ""), Some("python"));
    assert_eq!(known("APP.PYI", ""), Some("python"));
    assert_eq!(known("C:\\src\\lib.rs", ""), Some("rust"));
    assert_eq!(known("site/SConstruct", ""), Some("python"));
    assert_eq!(known("tool", "#!/usr/bin/env -S LC_ALL=C /opt/bin/python3.11 -u"), Some("python"));
    assert_eq!(known("tool", "#! /usr/bin/python"), Some("python"));
    assert_eq!(known("tool", "#!/bin/sh"), Some("bash"));
    assert_eq!(known("notes.txt", "#!/usr/bin/python"), None);
    assert_eq!(known("tool", ""), None);
    assert_eq!(known("", "#!"), None);
}

#[test]
fn every_language_is_found_by_its_extensions_and_names_itself() {
    for language in LANGUAGES {
        for extension in language.extensions() {
            let found = language_for(&format!("a.{extension}"), "").expect("an extension finds its language");
            assert_eq!(found.name(), language.name());
            let document = Document::parse("a", "x\n", found);
            assert_eq!(document.language(), Some(language.name()));
        }
        let is_of = |name: &str, head: &str| {
            language_for(name, head).is_some_and(|found| found.name() == language.name())
        };
        let has_sample = samples().iter().any(|(name, source)| is_of(name, source));
        assert!(has_sample, "`{}` has no sample in tests/samples", language.name());
    }
}

#[test]
fn a_sample_has_no_symbol_parted_from_its_attributes() {
    for (name, source) in
        samples().iter().filter(|(name, _)| ["sample.py", "sample.rs"].contains(&name.as_str()))
    {
        let document = parse(name, source);
        for block in document.blocks() {
            let last = block.span.of(source).lines().last().unwrap_or_default().trim_start();
            assert!(!last.starts_with('@') && !last.starts_with("#["), "{name}: a block ends with `{last}`");
        }
    }
}

/// An edit: at a place (in thousandths of the source), delete some characters, then insert some text.
fn edit() -> impl Strategy<Value = (usize, usize, String)> {
    let text = prop_oneof![
        "[(){}\\[\\]:;,.@#'\"\n\t <>=]{0,6}",
        prop::sample::select(vec![
            "def ", "class ", "fn ", "impl ", "\"\"\"", "/*", "//! ", "\n\n", "\r\n", "中🦀", "\u{2028}",
            "\0"
        ])
        .prop_map(str::to_owned),
    ];
    (0..1000_usize, 0..12_usize, text)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(6_000 / one_in(20) as u32) })]

    #[test]
    fn an_edited_sample_tiles(sample in 0..samples().len(), edits in prop::collection::vec(edit(), 1..12)) {
        let (name, source) = &samples()[sample];
        let mut chars: Vec<char> = source.chars().collect();
        for (place, deleted, inserted) in edits {
            let at = chars.len() * place / 1000;
            let end = (at + deleted).min(chars.len());
            chars.splice(at..end, inserted.chars());
        }
        parse(name, &chars.into_iter().collect::<String>());
    }
}

#[test]
fn the_summary_of_a_file_of_one_line_is_of_that_line() {
    let chunker = Chunker::new(chunkwright::ChunkConfig::default(), Arc::new(chunkwright::Chars)).unwrap();
    for source in ["тест = 1", "тест = 1\n", "x = 1\ny = 2\n"] {
        let document = parse("a.py", source);
        let spans: Vec<&str> =
            chunker.summaries(&document).iter().map(|summary| summary.span.of(source).trim_end()).collect();
        assert_eq!(spans, [source.lines().next().unwrap()]);
    }
}
