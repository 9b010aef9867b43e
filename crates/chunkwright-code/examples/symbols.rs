//! Prints the symbols of source files, one a line: `FILE<tab>LINE<tab>KIND<tab>PATH`, for comparisons with other tools.
//! Files of no language are left out.
//!
//! `cargo run --release -p chunkwright-code --example symbols -- FILE...`

use std::io::{self, Write};
use std::{env, fs};

use chunkwright::{Document, SectionId, SectionKind, Span};

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for path in env::args().skip(1) {
        let source = fs::read(&path)?;
        let source = String::from_utf8_lossy(&source);
        let Some(parser) = chunkwright_code::language_for(&path, &source) else {
            continue;
        };
        let document = Document::parse(path.as_str(), source.as_ref(), parser);
        for (id, section) in (0..).zip(document.sections()) {
            let SectionKind::Symbol(kind) = section.kind else { continue };
            let at = section.signature.start;
            let line = document.lines().lines(Span { start: at, end: at + 1 }).0;
            let titles = document.titles(SectionId(id)).join(" > ");
            writeln!(out, "{path}\t{line}\t{}\t{titles}", kind.name())?;
        }
    }
    Ok(())
}
