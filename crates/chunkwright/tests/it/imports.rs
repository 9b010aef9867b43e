//! The imports that records list.

use std::sync::Arc;

use chunkwright::record::{MAX_IMPORT_LEN, MAX_IMPORTS};
use chunkwright::{BlockKind, ChunkConfig, Chunker, Document, DocumentBuilder, Parser, RecordContext, Words};

use crate::invariants::chunk;

/// Source code of one statement, in a file with these imports.
struct Code<'a>(&'a [String]);

impl Parser for Code<'_> {
    fn name(&self) -> &'static str {
        "code"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &[]
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        out.set_language("code");
        for import in self.0 {
            out.import(import.as_str());
        }
        out.block(BlockKind::Statement, 0, out.source().len());
    }
}

/// The imports in the record of a chunk with this text.
fn used_in(text: &str, imports: &[String]) -> Vec<String> {
    let chunker = Chunker::new(ChunkConfig::default(), Arc::new(Words)).unwrap();
    let document = Document::parse("a", text, &Code(imports));
    let mut records = chunk(&chunker, &document).records(&RecordContext::default());
    assert_eq!(records.len(), 1);
    records.remove(0).imports.unwrap()
}

#[test]
fn an_import_brings_the_last_word_of_each_path() {
    for (import, expect) in [
        ("import os.path", "path"),
        ("import numpy as np", "numpy np"),
        ("from collections.abc import (\n    Iterable,\n    Iterator,\n)", "abc Iterable Iterator"),
        ("use std::fmt;", "fmt"),
        ("use std::collections::{BTreeMap, VecDeque as Deque};", "collections BTreeMap VecDeque Deque"),
        ("#include <vector>", "vector"),
        ("#include \"shapes/base.h\"", "base"),
        ("import React, { useState } from 'react';", "React useState react"),
        ("import \"net/http\"", "http"),
        ("import java.util.concurrent.*;", "concurrent"),
        ("use Library\\{Book, Reader as Person};", "Library Book Reader Person"),
        ("import 'package:path/path.dart' as p show join;", "path p join"),
        ("const events = require('node:events');", "events node"),
    ] {
        let list = [import.to_owned()];
        // The words of the import, each once, that list it where they are the text of a chunk.
        let mut brought: Vec<&str> = Vec::new();
        for word in import.split(|c: char| !c.is_alphanumeric() && c != '_') {
            if !word.is_empty() && !brought.contains(&word) && !used_in(word, &list).is_empty() {
                brought.push(word);
            }
        }
        assert_eq!(brought.join(" "), expect, "{import}");
    }
}

#[test]
fn a_text_uses_the_imports_whose_names_it_holds() {
    let list = ["import os", "import sys", "from a import b"].map(str::to_owned);
    assert_eq!(used_in("print(os.getcwd(), b)", &list), ["import os", "from a import b"]);
    assert!(used_in("positions = 1", &list).is_empty());
}

/// That no name has more imports than a record lists is asserted where they are looked up.
#[test]
fn the_list_of_a_record_is_bounded_and_so_is_the_work() {
    let long = format!("from x import {}", (0..5_000).map(|n| format!("name{n}, ")).collect::<String>());
    let list: Vec<String> =
        std::iter::once(long).chain((0..20_000).map(|n| format!("from m{n} import x"))).collect();
    let used = used_in("x = name7", &list);
    assert_eq!((used.len(), used[0].len()), (MAX_IMPORTS, MAX_IMPORT_LEN));
}
