//! Makefiles.

use chunkwright::SymbolKind;

use crate::language::{Language, Role};

/// Makefiles. A rule is a function that is called as its targets are.
pub const LANGUAGE: Language = Language {
    name: "make",
    extensions: &["mk", "mak", "make"],
    file_names: &["Makefile", "makefile", "GNUmakefile", "Makefile.*", "Kbuild"],
    interpreters: &["make"],
    aliases: &["makefile"],
    grammar: || tree_sitter_make::LANGUAGE.into(),
    roles: &[
        ("comment", Role::Comment),
        ("include_directive", Role::Import),
        ("rule", Role::Call),
        ("define_directive", Role::Function(SymbolKind::Macro)),
        ("conditional", Role::Group),
        ("else_directive", Role::Inline),
        ("elsif_directive", Role::Inline),
    ],
    calls: &[(".PHONY", Role::Attribute), ("*", Role::Function(SymbolKind::Function))],
    titles: &["name", "targets", "target"],
    names: &["targets"],
    bodies: &["recipe", "raw_text"],
    comment: ("# ", ""),
    ..Language::BASE
};
