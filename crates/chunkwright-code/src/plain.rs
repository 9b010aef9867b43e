//! Languages without a grammar: what their layout tells.

use std::ops::Range;

use chunkwright::{BlockKind, DocumentBuilder, Parser};

use crate::lines;

/// A programming language that is read by its lines: a block begins where a line stands at the margin
/// after a blank line, and is cut, where it is too large, as code is.
///
/// It has no symbols, but its chunks say which file they are of, as those of every source file do.
#[derive(Debug)]
pub struct Plain {
    /// Name, lower case: `java`.
    pub name: &'static str,
    /// File name extensions, lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// How a line comment begins and ends.
    pub comment: (&'static str, &'static str),
}

/// Declares languages by name, how their line comments begin, and extensions.
macro_rules! plain {
    ($($name:literal $open:literal $($close:literal)?: $($extension:literal)+;)*) => {
        &[$(Plain { name: $name, comment: ($open, concat!($($close)?)), extensions: &[$($extension),+] }),*]
    };
}

/// Languages without a grammar, known by their extension only.
pub static PLAIN: &[Plain] = plain![
    "ada" "-- ": "adb" "ads";
    "assembly" "; ": "asm" "s";
    "clojure" "; ": "clj" "cljs" "cljc" "edn";
    "cobol" "*> ": "cob" "cbl";
    "crystal" "# ": "cr";
    "d" "// ": "d";
    "elm" "-- ": "elm";
    "fish" "# ": "fish";
    "fortran" "! ": "f" "f90" "f95" "f03" "f08";
    "fsharp" "// ": "fs" "fsi" "fsx";
    "gdscript" "# ": "gd";
    "gleam" "// ": "gleam";
    "groovy" "// ": "groovy" "gradle";
    "lisp" "; ": "lisp" "el" "cl" "scm" "rkt";
    "matlab" "% ": "mat";
    "nim" "# ": "nim";
    "objective-c" "// ": "m" "mm";
    "pascal" "// ": "pas" "pp" "dpr";
    "perl" "# ": "pl" "pm" "t";
    "prolog" "% ": "pro";
    "tcl" "# ": "tcl";
    "thrift" "// ": "thrift";
    "verilog" "// ": "v" "sv" "vh";
    "vhdl" "-- ": "vhd" "vhdl";
    "vim" "\" ": "vim";
    "visual-basic" "' ": "vb" "vbs" "bas";
    "wgsl" "// ": "wgsl" "glsl" "hlsl" "vert" "frag";
];

/// Reads source code by its lines: what is done where its structure is not known.
pub(crate) fn read(out: &mut DocumentBuilder) {
    out.set_unparsed();
    let source = out.source();
    let mut block: Option<Range<usize>> = None;
    for paragraph in lines::paragraphs(&source, 0, source.len()) {
        match &mut block {
            Some(block) if !at_margin(&source[paragraph.clone()]) => block.end = paragraph.end,
            block => {
                if let Some(before) = block.replace(paragraph) {
                    out.block(BlockKind::Statement, before.start, before.end);
                }
            }
        }
    }
    if let Some(last) = block {
        out.block(BlockKind::Statement, last.start, last.end);
    }
}

impl Parser for Plain {
    fn name(&self) -> &'static str {
        self.name
    }

    fn extensions(&self) -> &'static [&'static str] {
        self.extensions
    }

    fn parse(&self, out: &mut DocumentBuilder) {
        out.set_language(self.name);
        out.set_comment(self.comment);
        out.set_gap_kind(BlockKind::Statement);
        read(out);
    }
}

/// Whether lines begin at the margin with something other than the end of what stands above.
fn at_margin(lines: &str) -> bool {
    !lines.starts_with(|c: char| c.is_whitespace() || matches!(c, '}' | ')' | ']'))
}

#[cfg(test)]
mod tests {
    use chunkwright::Document;

    use super::*;

    #[test]
    fn a_block_begins_at_the_margin_after_a_blank_line() {
        let source = "package a;\n\n/** Says. */\nclass A {\n\n    int x;\n\n}\n\nclass B {}\n";
        let document = Document::parse("A.x", source, &PLAIN[0]);
        let blocks: Vec<&str> = document.blocks().iter().map(|block| block.span.of(source)).collect();
        assert_eq!(blocks, ["package a;", "/** Says. */\nclass A {\n\n    int x;\n\n}", "class B {}"]);
    }

    #[test]
    fn an_extension_has_one_language() {
        let mut extensions: Vec<_> = PLAIN.iter().flat_map(|plain| plain.extensions).collect();
        let count = extensions.len();
        extensions.sort_unstable();
        extensions.dedup();
        assert_eq!(extensions.len(), count);
    }
}
