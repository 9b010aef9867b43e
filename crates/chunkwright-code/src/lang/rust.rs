//! Rust.

use chunkwright::SymbolKind;

use crate::language::{Language, Lines, Role};

/// Rust.
pub const LANGUAGE: Language = Language {
    name: "rust",
    extensions: &["rs"],
    interpreters: &["rust-script", "cargo"],
    grammar: || tree_sitter_rust::LANGUAGE.into(),
    roles: &[
        ("declaration_list", Role::Inline),
        ("field_declaration_list", Role::Inline),
        ("enum_variant_list", Role::Inline),
        ("shebang", Role::Comment),
        ("line_comment", Role::Comment),
        ("block_comment", Role::Comment),
        ("attribute_item", Role::Attribute),
        ("use_declaration", Role::Import),
        ("extern_crate_declaration", Role::Import),
        ("mod_item", Role::Type(SymbolKind::Module)),
        ("struct_item", Role::Type(SymbolKind::Struct)),
        ("enum_item", Role::Type(SymbolKind::Enum)),
        ("union_item", Role::Type(SymbolKind::Struct)),
        ("trait_item", Role::Type(SymbolKind::Trait)),
        ("impl_item", Role::Type(SymbolKind::Impl)),
        ("function_item", Role::Function(SymbolKind::Function)),
        ("function_signature_item", Role::Function(SymbolKind::Function)),
        ("macro_definition", Role::Function(SymbolKind::Macro)),
        ("macro_invocation", Role::ItemMacro),
        ("empty_statement", Role::End),
    ],
    titles: &["name", "type"],
    bodies: &[
        "block",
        "match_block",
        "declaration_list",
        "field_declaration_list",
        "enum_variant_list",
        "field_initializer_list",
        "array_expression",
        "arguments",
        "macro_definition",
    ],
    inner_comments: &["//!", "/*!"],
    lines: Lines { has_characters: true, ..Lines::BASE },
    ..Language::BASE
};
