//! Source code as [sections and blocks](chunkwright::document), by tree-sitter grammars.
//!
//! This crate answers one question: where do the symbols of a source file begin and end? It is apart
//! from the core because grammars need a C compiler. A [`Language`] is data: a grammar and a table that
//! says what its kinds of syntax mean; one outline reads them all, and strategies never learn which
//! language they cut.
//!
//! * A class, struct, trait, implementation, module, function or method is a **section**, with its
//!   name as title. The section of `impl Display for Foo` is called `Foo`: its signature names the trait.
//! * A function is **one block**, with its decorators, attributes, and the comments directly above it.
//!   What a class has beside its methods is blocks of the class. At the top level, a run of imports,
//!   each other statement, and each free-standing comment is a block.
//! * Functions inside functions are places to cut (**seams**), not sections.
//!
//! Broken source keeps its symbols wherever the grammar recovers; source that would cost too much to
//! parse is read as paragraphs between blank lines; a language without a grammar is read by its lines
//! ([`PLAIN`]). Either way every visible byte is in one block.
//!
//! ```
//! use chunkwright::Document;
//!
//! let parser = chunkwright_code::language_for("shapes.py", "").expect("Python is built in");
//! let source = "class Circle:\n    @property\n    def area(self):\n        return 3\n";
//! let document = Document::parse("shapes.py", source, parser);
//! assert_eq!(document.outline(), "Circle\n  area\n");
//! ```
//!
//! **To add a language**, copy a file of `src/lang/`, fill it, and name it in [`LANGUAGES`]' list. The
//! tests run over the list: they tell of a kind that the grammar does not know.

mod language;
mod lines;
mod outline;
mod plain;

pub use language::{Language, Role, Table, language_for};
pub use plain::{PLAIN, Plain};

/// Declares the module of each language and lists it.
macro_rules! languages {
    ($($file:ident),* $(,)?) => {
        /// The languages, one data file each.
        pub mod lang {
            $(pub mod $file;)*
        }

        /// The languages built in, as parsers.
        pub static LANGUAGES: &[&dyn chunkwright::Parser] = &[$(&lang::$file::LANGUAGE),*];

        /// The languages built in, as data.
        static TABLES: &[&Language] = &[$(&lang::$file::LANGUAGE),*];
    };
}

languages![python, rust];
