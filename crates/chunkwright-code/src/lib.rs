//! Source code as [sections and blocks](chunkwright::document), by tree-sitter grammars.
//!
//! This crate answers one question: where do the symbols of a source file begin and end? It is separate from the core
//! because grammars need a C compiler. A [`Language`] is data: a grammar and a table that says what its kinds of syntax
//! mean; one outline reads them all, and strategies never learn which language they cut.
//!
//! * A class, struct, trait, implementation, module, function or method is a **section**, with its
//!   name as title. The section of `impl Display for Foo` is called `Foo`: its signature names the trait.
//! * A function is **one block**, with its decorators, attributes, and the comments directly above it. Members of a
//!   class other than methods are blocks of the class. At the top level, a run of imports, each other statement, and
//!   each free-standing comment is a block.
//! * Functions inside functions are sections without blocks of their own: they have names, and their lines
//!   are places to cut (**seams**).
//!
//! Broken source keeps its symbols wherever the grammar recovers. Source that is mostly errors or would
//! cost too much to parse is read by its lines, as a language without a grammar is ([`PLAIN`]). Either way every visible byte is in one block.
//!
//! ```
//! use chunkwright::Document;
//!
//! let parser = chunkwright_code::language_for("shapes.py", "").expect("Python is known");
//! let source = "class Circle:\n    @property\n    def area(self):\n        return 3\n";
//! let document = Document::parse("shapes.py", source, parser);
//! assert_eq!(document.outline(), "Circle\n  area\n");
//! ```
//!
//! Each grammar is a feature; `languages-common` and `languages-all` (the default) are sets of them. A language whose grammar is
//! left out is read by its lines, under its own name ([`LEFT_OUT`]).
//!
//! **To add a language**, copy a file of `src/lang/`, fill it, name it in [`LANGUAGES`]' list and in [`LEFT_OUT`], and
//! put a file of it into `tests/samples`. The tests run over both: they report a kind that the grammar does not know,
//! and `tests/outlines` shows what the sample becomes.

mod by_line;
mod compiled;
#[cfg(feature = "vue")]
mod component;
mod detect;
mod directives;
mod item_macros;
mod language;
mod lexer;
mod lines;
mod macros;
mod outline;
mod parser;
mod plain;
mod repair;

use chunkwright::Parser;

pub use detect::{Detected, Reason, detect, language_for, language_named, language_names};
pub use language::{Indentation, Language, Lines, Role};
pub use parser::CodeParser;
pub use plain::{LEFT_OUT, PLAIN, Plain};

/// Formats whose files have parts in several languages.
pub static COMPONENTS: &[&dyn Parser] = &[
    #[cfg(feature = "vue")]
    &component::VUE,
    #[cfg(feature = "vue")]
    &component::SVELTE,
    #[cfg(feature = "vue")]
    &component::ASTRO,
];

/// Declares the module of each language, behind its feature, and lists it.
macro_rules! languages {
    ($($feature:literal $file:ident;)*) => {
        /// The languages, one data file each.
        pub mod lang {
            $(#[cfg(feature = $feature)] pub mod $file;)*
        }

        /// A parser of each language, with what it compiles at first use.
        #[allow(non_upper_case_globals, unused_imports, reason = "called as their modules are; there may be none")]
        mod parsers {
            use crate::{CodeParser, lang};
            $(#[cfg(feature = $feature)]
            pub(super) static $file: CodeParser = CodeParser::new(&lang::$file::LANGUAGE);)*
        }

        /// The languages with a grammar that are built in.
        pub static LANGUAGES: &[&CodeParser] = &[$(#[cfg(feature = $feature)] &parsers::$file),*];
    };
}

languages![
    "bash" bash;
    "c" c;
    "cmake" cmake;
    "cpp" cpp;
    "csharp" csharp;
    "css" css;
    "dart" dart;
    "dockerfile" dockerfile;
    "elixir" elixir;
    "erlang" erlang;
    "go" go;
    "graphql" graphql;
    "haskell" haskell;
    "hcl" hcl;
    "java" java;
    "javascript" javascript;
    "julia" julia;
    "kotlin" kotlin;
    "lua" lua;
    "make" make;
    "nix" nix;
    "ocaml" ocaml;
    "ocaml" ocaml_interface;
    "php" php;
    "powershell" powershell;
    "protobuf" protobuf;
    "python" python;
    "r" r;
    "ruby" ruby;
    "rust" rust;
    "scala" scala;
    "solidity" solidity;
    "sql" sql;
    "swift" swift;
    "typescript" tsx;
    "typescript" typescript;
    "zig" zig;
];
