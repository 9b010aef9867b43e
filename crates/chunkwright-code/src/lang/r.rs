//! R.

use chunkwright::SymbolKind;

use crate::language::{Language, Role};

/// R.
pub const LANGUAGE: Language = Language {
    name: "r",
    extensions: &["r"],
    file_names: &[".Rprofile"],
    interpreters: &["Rscript", "r"],
    aliases: &["rscript", "splus"],
    grammar: || tree_sitter_r::LANGUAGE.into(),
    roles: &[
        ("comment", Role::Comment),
        ("binary_operator", Role::Binding),
        ("argument", Role::Binding),
        ("function_definition", Role::Function(SymbolKind::Function)),
        ("call", Role::Call),
        ("if_statement", Role::Group),
        ("braced_expression", Role::Inline),
    ],
    calls: &[("library", Role::Import), ("require", Role::Import), ("source", Role::Import)],
    titles: &["name", "lhs"],
    names: &["extract_operator", "namespace_operator", "function_definition"],
    bodies: &["braced_expression", "arguments"],
    comment: ("# ", ""),
    ..Language::BASE
};
