//! Languages without a grammar, read by their layout.

use std::ops::Range;

use chunkwright::{BlockKind, DocumentBuilder, Parser};

use crate::lines;

/// A programming language that is read by its lines: a block begins where a line stands at the margin
/// after a blank line, and is cut, where it is too large, as code is.
///
/// It has no symbols, but its chunks name their file, as those of every source file do.
#[derive(Debug)]
pub struct Plain {
    /// Name, lower case: `java`.
    pub name: &'static str,
    /// File name extensions, lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// The start and end of a line comment.
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

/// Fallbacks for languages whose grammar a program leaves out: the names, extensions and comments of all languages with
/// a grammar.
///
/// Detection comes to these last, so a language that is built in is never read by its lines.
pub static LEFT_OUT: &[Plain] = plain![
    "astro" "<!-- " " -->": "astro";
    "bash" "# ": "sh" "bash" "zsh" "ksh" "bats" "ebuild";
    "c" "// ": "c" "h";
    "cmake" "# ": "cmake";
    "cpp" "// ": "cc" "cpp" "cxx" "c++" "hh" "hpp" "hxx" "h++" "inl" "ipp" "tpp" "cu" "cuh" "ino";
    "csharp" "// ": "cs" "csx";
    "css" "/* " " */": "css" "pcss" "postcss";
    "dart" "// ": "dart";
    "dockerfile" "# ": "dockerfile" "containerfile";
    "elixir" "# ": "ex" "exs";
    "erlang" "% ": "erl" "hrl" "escript" "xrl" "yrl";
    "go" "// ": "go";
    "graphql" "# ": "graphql" "gql" "graphqls";
    "haskell" "-- ": "hs" "hs-boot" "hsc";
    "hcl" "# ": "hcl" "tf" "tfvars" "tofu" "nomad";
    "java" "// ": "java" "jav";
    "javascript" "// ": "js" "jsx" "mjs" "cjs" "es6";
    "julia" "# ": "jl";
    "kotlin" "// ": "kt" "kts";
    "lua" "-- ": "lua" "rockspec";
    "make" "# ": "mk" "mak" "make";
    "nix" "# ": "nix";
    "ocaml" "(* " " *)": "ml" "mll" "mly";
    "ocaml-interface" "(* " " *)": "mli";
    "php" "// ": "php" "php3" "php4" "php5" "php7" "php8" "phtml" "phps";
    "powershell" "# ": "ps1" "psm1" "psd1";
    "protobuf" "// ": "proto";
    "python" "# ": "py" "pyi" "pyw";
    "r" "# ": "r";
    "ruby" "# ": "rb" "rake" "gemspec" "ru" "podspec" "rbw" "jbuilder";
    "rust" "// ": "rs";
    "scala" "// ": "scala" "sc" "sbt";
    "solidity" "// ": "sol";
    "sql" "-- ": "sql" "ddl" "dml" "pgsql";
    "svelte" "<!-- " " -->": "svelte";
    "swift" "// ": "swift";
    "tsx" "// ": "tsx";
    "typescript" "// ": "ts" "mts" "cts";
    "vue" "<!-- " " -->": "vue";
    "zig" "// ": "zig" "zon";
];

/// Reads source code by its lines, if its structure is unknown.
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

/// Whether lines begin at the margin with something other than the end of the item above.
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
    fn a_language_that_is_left_out_keeps_its_name_extensions_and_comments() {
        for parser in crate::LANGUAGES {
            let language = parser.language();
            let plain = LEFT_OUT.iter().find(|plain| plain.name == language.name);
            let plain = plain.map(|plain| (plain.extensions, plain.comment));
            assert_eq!(plain, Some((language.extensions, language.comment)), "{}", language.name);
        }
        for component in crate::COMPONENTS {
            let plain = LEFT_OUT.iter().find(|plain| plain.name == component.name());
            assert_eq!(
                plain.map(|plain| plain.extensions),
                Some(component.extensions()),
                "{}",
                component.name()
            );
        }
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
