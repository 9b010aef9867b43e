//! Nix.

use chunkwright::SymbolKind;

use crate::language::{Language, Role};

/// Nix. The function without a name that a file mostly is, and its sets, are looked into.
pub const LANGUAGE: Language = Language {
    name: "nix",
    extensions: &["nix"],
    interpreters: &["nix-shell"],
    grammar: || tree_sitter_nix::LANGUAGE.into(),
    roles: &[
        ("comment", Role::Comment),
        ("function_expression", Role::Function(SymbolKind::Function)),
        ("binding", Role::Binding),
        ("let_expression", Role::Inline),
        ("with_expression", Role::Inline),
        ("assert_expression", Role::Inline),
        ("binding_set", Role::Inline),
        ("attrset_expression", Role::Inline),
        ("rec_attrset_expression", Role::Inline),
    ],
    titles: &["attrpath"],
    names: &["attrpath"],
    bodies: &["binding_set", "list_expression", "let_expression"],
    comment: ("# ", ""),
    ..Language::BASE
};
